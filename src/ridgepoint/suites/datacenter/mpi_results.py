"""The results of the datacenter workloads under MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ridgepoint.core.documents import document_kind
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import quoted
from ridgepoint.models.gains import Gain, gain
from ridgepoint.suites.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class MpiResult:
    """A workload on some ranks.

    Parameters
    ----------
    workload, title : str
    size : int
    size_unit : str
    ranks : int
    time_s : Estimate
        Time of the measured part on the first rank, which waits for all others.
    result : str
        What it found: the checksum of the sorted records, the number of matches.
    bops : int or None
        Basic operations of all ranks, from the source; None: they could not be counted.
    failure : str or None
        Why they could not be counted.
    """

    workload: str
    title: str
    size: int
    size_unit: str
    ranks: int
    time_s: Estimate
    result: str
    bops: int | None
    failure: str | None = None

    @property
    def bop_per_s(self) -> float | None:
        """Basic operations per second of all ranks together; None: not counted."""
        return None if self.bops is None else self.bops / self.time_s.median


@dataclass(frozen=True, slots=True, kw_only=True)
class RankGain:
    """What more ranks gain.

    Parameters
    ----------
    workload : str
    ranks : int
    time : Gain or None
        The time of one rank over that of these; None: either is not known.
    """

    workload: str
    ranks: int
    time: Gain | None


@document_kind(
    "datacenter-mpi",
    remedy="give a file written by 'ridgepoint suite datacenter --mpi 2 -o FILE.json'",
    derived=("gains",),
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MpiStudy(Study):
    """Workloads on one rank and on several.

    Parameters
    ----------
    launcher : str
        The launcher, with its version.
    host : str
        Where the ranks were started.
    results : tuple of MpiResult
    failures : mapping of str to str
        Why workloads could not be run, by workload and ranks.
    """

    launcher: str
    host: str
    results: tuple[MpiResult, ...]
    failures: Mapping[str, str]

    @property
    def gains(self) -> tuple[RankGain, ...]:
        """What several ranks gain over one."""
        alone = {result.workload: result for result in self.results if result.ranks == 1}
        return tuple(
            RankGain(
                workload=result.workload,
                ranks=result.ranks,
                time=gain(alone[result.workload].time_s, result.time_s),
            )
            for result in self.results
            if result.ranks > 1 and result.workload in alone
        )

    @property
    def where(self) -> str:
        """The host."""
        return quoted(self.host)

    @property
    def unmeasured(self) -> Mapping[str, str]:
        """Why workloads could not be run."""
        return self.failures

    @property
    def n_cases(self) -> int:
        """Number of cases, measured or not."""
        return len(self.results) + len(self.failures)
