"""What kinds of instructions and of operations the datacenter workloads consist of (Fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts, add_known
from ridgepoint.published.tables import printed, publication
from ridgepoint.suites.datacenter.work import MeasuredCase

INSTRUCTIONS = ("loads", "stores", "branches", "floating point", "integer and other")
CLASSES = ("addressing", "comparing", "arithmetic and logic")
_PREFERRED = ("ILP", "original", "prefetch", "SIMD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The mix of one case, or the mean mix of several.

    Parameters
    ----------
    name : str
    instructions : dict of str to float, or None
        Shares of all instructions, by the names in `INSTRUCTIONS`. An instruction that does
        several of these is in each of their classes, and the last class is what Eq. (3) leaves
        without the floating-point instructions; so it is less than the integer instructions that
        there are, and may be below 0. None: the meter cannot tell.
    classes : dict of str to float, or None
        Shares of the integer operations that the source defines, by the names in `CLASSES`.
        None: they were not counted from the source, or there are none.
    integer_share : float or None
        Share of integer operations in those that the source defines, from 0 to 1.

    References
    ----------
    .. [1] L. Wang et al., "BOPS, Not FLOPS!", ACS/SSL-2018-2, section 3.2.3 and Fig. 3.
    """

    name: str
    instructions: dict[str, float] | None
    classes: dict[str, float] | None
    integer_share: float | None

    @property
    def integers_per_fp(self) -> float | None:
        """Integer operations for each on floating-point numbers; infinite without any of these."""
        if self.integer_share is None:
            return None
        rest = 1.0 - self.integer_share
        return self.integer_share / rest if rest > 0 else float("inf")


def shown_mixes(cases: Sequence[MeasuredCase]) -> tuple[Mix, ...]:
    """Return the datacenter workloads with their mean, those for comparison, and the paper's."""
    own = mixes([measured for measured in cases if not measured.case.is_traditional])
    others = mixes([measured for measured in cases if measured.case.is_traditional])
    mean = (mean_mix("mean", own),) if len(own) > 1 else ()
    return (*own, *mean, *others, published_mix()) if own or others else ()


def mixes(cases: Sequence[MeasuredCase]) -> tuple[Mix, ...]:
    """Return the mix of each workload: as optimised by the compiler, where it was measured so."""
    chosen: dict[str, MeasuredCase] = {}
    for step in _PREFERRED:
        for measured in cases:
            if measured.case.step == step:
                chosen.setdefault(measured.case.title, measured)
    titles = dict.fromkeys(measured.case.title for measured in cases)
    return tuple(_mix(chosen[title]) for title in titles)


def published_mix() -> Mix:
    """Return what the paper says of datacenter workloads in section 3.2.3."""
    table = publication().table["Fig. 3"]
    ratio = printed(table.cell("DC workloads", table.columns[0])).value
    return Mix(
        name="the paper",
        instructions=None,
        classes={name: printed(table.claims[name]).value for name in CLASSES},
        integer_share=ratio / (1.0 + ratio),
    )


def mean_mix(name: str, parts: Sequence[Mix]) -> Mix:
    """Return the means of the shares of several workloads, each of which weighs the same."""
    shares = [part.integer_share for part in parts if part.integer_share is not None]
    return Mix(
        name=name,
        instructions=_means([part.instructions for part in parts]),
        classes=_means([part.classes for part in parts]),
        integer_share=sum(shares) / len(shares) if len(shares) == len(parts) else None,
    )


def _mix(measured: MeasuredCase) -> Mix:
    source = measured.source
    return Mix(
        name=measured.case.title,
        instructions=_instructions(measured.measurement.counted.counts),
        classes=None if source is None else _classes(source),
        integer_share=(source.total - source.fp) / source.total
        if source is not None and source.total
        else None,
    )


def _instructions(counts: Counts) -> dict[str, float] | None:
    fp = add_known(kind.instructions for kind in counts.flop)
    rest = counts.eq3_bop
    if fp is None or rest is None or not counts.instructions:
        return None
    assert counts.loads is not None  # else Eq. (3) were unknown
    assert counts.stores is not None
    assert counts.branches is not None
    numbers = (counts.loads, counts.stores, counts.branches, fp, rest - fp)
    return {
        name: number / counts.instructions
        for name, number in zip(INSTRUCTIONS, numbers, strict=True)
    }


def _classes(source: BasicOperations) -> dict[str, float] | None:
    numbers = (source.addressing, source.compare, source.arithmetic + source.logic)
    total = sum(numbers)
    if not total:
        return None
    return {name: number / total for name, number in zip(CLASSES, numbers, strict=True)}


def _means(parts: Sequence[dict[str, float] | None]) -> dict[str, float] | None:
    """Return the mean of each share; None: one part is unknown, or there is none."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return {name: sum(part[name] for part in known) / len(known) for name in known[0]}
