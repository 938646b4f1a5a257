"""Jobs at their places on shared nodes: how fast each is, and what is used of the nodes."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.errors import RidgepointError
from ridgepoint.models.scaling.sharing import Job


class CannotPlace(RidgepointError):
    """The jobs do not fit on the nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShare:
    """A job at its place beside others.

    Parameters
    ----------
    name : str
    cores : int
        Cores of each of its nodes.
    nodes : tuple of int
        Its nodes, from 1.
    alone_s : float
        Its time with these nodes to itself, and the best of the cores it may have, in seconds.
    shared_s : float
        Its time beside the others, in seconds.
    wanted_bytes_per_s, memory_bytes_per_s : float
        Bandwidth of each of its nodes' memory that it would use with its cores alone, and uses.
    limiter : str
        ``compute``, ``dram`` or ``network``, as alone; ``shared memory`` or ``shared link``, if
        the others hold it up.
    """

    name: str
    cores: int
    nodes: tuple[int, ...]
    alone_s: float
    shared_s: float
    wanted_bytes_per_s: float
    memory_bytes_per_s: float
    limiter: str

    @property
    def slowdown(self) -> float:
        """Time beside the others over the time alone, >= 1."""
        return self.shared_s / self.alone_s


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLoad:
    """What is used of a node.

    Parameters
    ----------
    node : int
        Its number, from 1.
    cores : int
        Busy cores.
    memory_bytes_per_s : float
        Bandwidth of its memory that its jobs use.
    memory_limit : float or None
        Bandwidth that there is for so many cores; None: not known.
    """

    node: int
    cores: int
    memory_bytes_per_s: float
    memory_limit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Jobs on nodes.

    Parameters
    ----------
    shares : tuple of JobShare
        By job.
    loads : tuple of NodeLoad
        The nodes that are used.

    Notes
    -----
    `throughput` and `mean_slowdown` are STP and ANTT of Eyerman and Eeckhout, "System-Level
    Performance Metrics for Multiprogram Workloads", IEEE Micro 28(3), 2008,
    :doi:`10.1109/MM.2008.44`.
    """

    shares: tuple[JobShare, ...]
    loads: tuple[NodeLoad, ...]

    @property
    def throughput(self) -> float:
        """Work done per time, in jobs that run alone: the sum of 1/slowdown."""
        return sum(1 / share.slowdown for share in self.shares)

    @property
    def mean_slowdown(self) -> float:
        """Mean of the jobs' slowdowns."""
        return sum(share.slowdown for share in self.shares) / len(self.shares)

    @property
    def largest_slowdown(self) -> float:
        """Slowdown of the job that suffers most."""
        return max(share.slowdown for share in self.shares)

    @property
    def rank(self) -> tuple[float, float, int]:
        """Sorts placements, the best first: of equal ones, the fairest, then that of fewest cores.

        Rounded, so that equal placements are not told apart by rounding.
        """
        return (
            -round(self.throughput, 9),
            round(self.largest_slowdown, 9),
            sum(load.cores for load in self.loads),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharingStudy:
    """Jobs on nodes in every way that differs.

    Parameters
    ----------
    jobs : tuple of Job
    nodes : int
        Number of nodes.
    placements : tuple of Placement
        The best first: of many, the 40 of the highest throughput, and the worst.
    compared : int
        How many were compared.
    is_complete : bool
        Whether all placements were compared; False: the best of them may be missing.
    """

    jobs: tuple[Job, ...]
    nodes: int
    placements: tuple[Placement, ...]
    compared: int
    is_complete: bool

    @property
    def best(self) -> Placement:
        """The placement of the highest throughput."""
        return self.placements[0]

    @property
    def worst(self) -> Placement:
        """The compared placement of the lowest throughput."""
        return self.placements[-1]
