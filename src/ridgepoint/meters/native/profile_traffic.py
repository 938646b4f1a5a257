"""Puts what was moved through simulated caches into the rows of profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.meters.native.code import Integers
from ridgepoint.meters.native.traffic import End, Moved
from ridgepoint.meters.profile import MOVED, MOVED_ELSEWHERE, Rows

InstructionOf = Callable[[Integers, npt.NDArray[np.uint64]], Integers]
"""Returns the instructions that hold the bytes at addresses of modules; -1: none that ran."""

_AMOUNTS = ("read_lines", "write_lines", "nt_bytes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileTraffic:
    """The part of a profile that is about caches; see `ridgepoint.meters.profile.Profile`."""

    levels: int
    line_bytes: int
    moved: Rows
    pending_lines: int | None
    moved_elsewhere: Rows
    pending_elsewhere: tuple[int, ...]
    miss_curve: MissCurve | None


def no_traffic() -> ProfileTraffic:
    """Return that no caches were simulated."""
    return ProfileTraffic(
        levels=0,
        line_bytes=0,
        moved=np.empty(0, MOVED),
        pending_lines=None,
        moved_elsewhere=np.empty(0, MOVED_ELSEWHERE),
        pending_elsewhere=(),
        miss_curve=None,
    )


def traffic_of(
    moved: Moved,
    *,
    process: int,
    banks: Sequence[tuple[str, ...]],
    regions: Mapping[int, tuple[str, ...]],
    instruction_of: InstructionOf,
    unknown: int,
) -> ProfileTraffic:
    """Return what a process moved.

    Parameters
    ----------
    moved : Moved
        By all processes.
    process : int
    banks : sequence of tuple of str
        Of the profile. The first of the same regions gets what was moved in them: the
        configuration of tiles does not matter.
    regions : mapping of int to tuple of str
        Names of regions by their place in the arena.
    instruction_of : callable
    unknown : int
        The instruction that stands for all that are not known.
    """
    end = moved.ends.get(process)
    rows, anywhere, elsewhere = (
        part[part["process"] == process] for part in (moved.rows, moved.anywhere, moved.elsewhere)
    )
    at = instruction_of(rows["module"].astype(np.int64), rows["address"])
    at = np.concatenate([np.where(at < 0, unknown, at), np.full(len(anywhere), unknown)])
    both = np.concatenate([rows, anywhere])
    bank_of = _BankOf(banks, regions)
    return ProfileTraffic(
        levels=moved.levels,
        line_bytes=moved.line_bytes,
        moved=_sums(both, bank_of(both), at, of="instruction", kind=MOVED),
        pending_lines=_pending(end, 0) if moved.levels else None,
        moved_elsewhere=_sums(
            elsewhere,
            bank_of(elsewhere),
            elsewhere["module"].astype(np.int64),
            of="geometry",
            kind=MOVED_ELSEWHERE,
        ),
        pending_elsewhere=tuple(_pending(end, 1 + n) or 0 for n in range(moved.n_others)),
        miss_curve=None if end is None else end.miss_curve,
    )


class _BankOf:
    """Finds the banks of a profile that rows of the arena belong to, by their regions."""

    def __init__(
        self, banks: Sequence[tuple[str, ...]], regions: Mapping[int, tuple[str, ...]]
    ) -> None:
        numbers: dict[tuple[str, ...], int] = {}
        for number, names in enumerate(banks):
            numbers.setdefault(names, number)
        self._numbers = {place: numbers.get(names, 0) for place, names in regions.items()}

    def __call__(self, rows: npt.NDArray[np.void]) -> Integers:
        places, which = np.unique(rows["regions"], return_inverse=True)
        return np.array([self._numbers[place] for place in places.tolist()], np.int64)[which]


def _pending(end: End | None, geometry: int) -> int | None:
    return None if end is None else end.pending_lines[geometry]


def _sums(
    rows: npt.NDArray[np.void],
    banks: Integers,
    numbers: Integers,
    *,
    of: str,
    kind: np.dtype[np.void],
) -> Rows:
    """Return rows of a profile: those of the same bank and number are added up."""
    distinct, which = np.unique(np.stack([banks, numbers]), axis=1, return_inverse=True)
    which = which.reshape(-1)
    sums = np.zeros(distinct.shape[1], kind)
    sums["bank"], sums[of] = distinct
    for name in _AMOUNTS:
        np.add.at(sums[name], which, rows[name])
    return sums
