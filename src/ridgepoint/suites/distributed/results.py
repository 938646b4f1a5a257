"""The output of a distributed program, and values derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ridgepoint.core.documents import document_kind
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import quoted
from ridgepoint.suites.study import Study


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """The check of a result.

    Parameters
    ----------
    what : str
        The values that were compared.
    error : float or None
        Error of the result; None: not a number.
    tolerance : float
    passed : bool
    """

    what: str
    error: float | None
    tolerance: float
    passed: bool


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The best rates of ranks that all work at once; each sample is that of the slowest rank.

    Parameters
    ----------
    precision : str
        Precision of the matrix product.
    flop_per_s : tuple of float
        Rate of one rank in a large BLAS product.
    memory_bytes_per_s : tuple of float
        Rate at which one rank reads memory.
    link_bytes_per_s : tuple of float
        Rate at which one rank sends to the next while as much arrives; empty with one rank.
    """

    precision: str
    flop_per_s: tuple[float, ...]
    memory_bytes_per_s: tuple[float, ...]
    link_bytes_per_s: tuple[float, ...] = ()


class DistributedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a program.

    Parameters
    ----------
    program : str
    ranks : int
    hosts : tuple of str
        Host of each rank.
    threads : int
        Number of BLAS threads on each rank.
    sizes : mapping
        Sizes, by the names of the program's options.
    steps_s : tuple of float
        Seconds of each step, on the slowest rank.
    parts_s : mapping of str to tuple of float
        Seconds of each step in each part: ``compute``, ``network``, ...
    work : mapping of str to int
        Operations of one step by precision, over all ranks.
    dram_bytes : int
        Lower limit of the bytes between memory and caches in one step, over all ranks.
    exchanged_bytes : int or None
        Bytes exchanged in one step, over all ranks; None: the MPI library decides.
    check : Check or None
        None: not asked for.
    ceilings : Ceilings or None
        None: not asked for.
    """

    program: str
    ranks: int
    hosts: tuple[str, ...]
    threads: int
    sizes: Mapping[str, Any]
    steps_s: tuple[float, ...]
    parts_s: Mapping[str, tuple[float, ...]]
    work: Mapping[str, int]
    dram_bytes: int
    exchanged_bytes: int | None
    check: Check | None
    ceilings: Ceilings | None

    @property
    def step_s(self) -> Estimate:
        """Time of one step, in seconds."""
        return Estimate(self.steps_s)

    def part_s(self, name: str) -> Estimate:
        """Return the time that a part of one step takes, in seconds."""
        return Estimate(self.parts_s[name])


@document_kind(
    "distributed",
    remedy="give a file written by 'ridgepoint suite distributed -o FILE.json'",
    derived=("times_s",),
)
class DistributedStudy(Study, msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Runs of programs on the same number of ranks.

    Parameters
    ----------
    results : tuple of DistributedRun
    failures : mapping of str to str
        Why programs could not be run, by name.
    """

    results: tuple[DistributedRun, ...]
    failures: Mapping[str, str] = {}

    @property
    def times_s(self) -> dict[str, dict[str, Estimate]]:
        """Times of a step and of its parts, by program."""
        return {
            run.program: {"step": run.step_s, **{name: run.part_s(name) for name in run.parts_s}}
            for run in self.results
        }

    @property
    def where(self) -> str:
        """The hosts."""
        hosts = dict.fromkeys(host for run in self.results for host in run.hosts)
        return ", ".join(map(quoted, hosts)) or "no host"

    @property
    def unmeasured(self) -> Mapping[str, str]:
        """Why programs could not be run, by name."""
        return self.failures

    @property
    def n_cases(self) -> int:
        """Number of programs."""
        return len(self.results) + len(self.failures)


def decoded(line: bytes | str) -> DistributedRun:
    """Return the run described by the line that its program printed.

    Raises
    ------
    InvalidDocument
        If the line does not describe a run.
    """
    try:
        return msgspec.json.decode(line, type=DistributedRun)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidDocument(
            "cannot read what the program printed",
            reason=str(error).lower(),
            remedy="check whether it runs by itself",
        ) from error
