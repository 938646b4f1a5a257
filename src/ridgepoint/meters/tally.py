"""Adds up what instructions did: executions times what one execution does, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import Counts, FlopCount
from ridgepoint.meters.decode import Operation

Integers = npt.NDArray[np.int64]

_LARGEST = float(1 << 62)  # half of what int64 holds: room for the rounding of the estimate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Executed:
    """Rows of executions, each of one instruction, or of many that do the same.

    Parameters
    ----------
    operations : sequence of Operation or None
        What the instructions do, each kind once; None: not decoded.
    operation : ndarray of int64, shape (n,)
        Of each row, which of `operations`.
    executions : ndarray of int64, shape (n,)
        How often it was executed.
    iterations : ndarray of int64, shape (n,)
        How often the bytes were moved that it moves at once: `executions`, unless it repeats
        itself (a string instruction with a REP prefix).
    """

    operations: Sequence[Operation | None]
    operation: Integers
    executions: Integers
    iterations: Integers

    def among(self, rows: npt.NDArray[np.bool_]) -> Executed:
        """Return some of the rows."""
        return replace(
            self,
            operation=self.operation[rows],
            executions=self.executions[rows],
            iterations=self.iterations[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Masked:
    """Rows of executions under AVX-512 masks that were looked at, each of one instruction.

    Parameters
    ----------
    operations : sequence of Operation or None
    operation : ndarray of int64, shape (n,)
        Of each row, which of `operations`.
    executions : ndarray of int64, shape (n,)
        How often it was executed.
    lanes : ndarray of int64, shape (n,)
        That it has.
    lanes_on : ndarray of int64, shape (n,)
        The sum, over its executions, of the lanes that its mask left on.
    """

    operations: Sequence[Operation | None]
    operation: Integers
    executions: Integers
    lanes: Integers
    lanes_on: Integers

    def among(self, rows: npt.NDArray[np.bool_]) -> Masked:
        """Return some of the rows."""
        return replace(
            self,
            operation=self.operation[rows],
            executions=self.executions[rows],
            lanes=self.lanes[rows],
            lanes_on=self.lanes_on[rows],
        )


def distinct(
    operations: Iterable[Operation | None],
) -> tuple[list[Operation | None], Integers]:
    """Return the operations without most repetitions, and where among these each of them is.

    Equal ones that are different objects may stay apart: the decoder gives the same object for
    the same operation nearly always, and comparing objects is fast.
    """
    index: dict[int, int] = {}
    kept: list[Operation | None] = []
    places: list[int] = []
    for operation in operations:
        place = index.setdefault(id(operation), len(kept))
        if place == len(kept):
            kept.append(operation)
        places.append(place)
    return kept, np.array(places, dtype=np.int64)


def tally(
    executed: Executed,
    *,
    groups: Integers,
    n_groups: int,
    masked: Masked | None = None,
    masked_groups: Integers | None = None,
) -> list[Counts]:
    """Return what the instructions of each group did together.

    Parameters
    ----------
    executed : Executed
    groups : ndarray of int64, shape (n,)
        Of each row its group, from 0.
    n_groups : int
    masked : Masked or None
        What is known of masks, of the same operations; None: nothing.
    masked_groups : ndarray of int64 or None
        Of each row of `masked` its group.
    """
    once = _Once(executed.operations)

    def sums(column: Integers, amounts: Integers) -> list[int]:
        # Most instructions do nothing of a kind: they are left out before anything is added up.
        rows = np.flatnonzero((column != 0)[executed.operation])
        each = column[executed.operation[rows]]
        return grouped_sums(amounts[rows], groups[rows], n_groups, each=each)

    columns = [
        sums(column, executed.iterations if name.endswith("_bytes") else executed.executions)
        for name, column in once.columns.items()
    ]
    # Basic operations are those of one iteration.
    classes = [sums(column, executed.iterations) for column in once.basic_operations]
    basic = _shared(zip(*classes, strict=True))
    useful = {} if masked is None or masked_groups is None else _useful(masked, once, masked_groups)
    flop = _flop(executed, once, groups=groups, n_groups=n_groups, useful=useful)
    return [
        Counts(
            **dict(zip(once.columns, row, strict=True)),
            flop=tuple(kinds),
            basic_operations=done,
        )
        for row, done, kinds in zip(zip(*columns, strict=True), basic, flop, strict=True)
    ]


def _shared(classes: Iterable[tuple[int, ...]]) -> Iterator[BasicOperations]:
    """Yield the basic operations of each group; equal ones, as of most lines, are one object."""
    known: dict[tuple[int, ...], BasicOperations] = {}
    for one in classes:
        if one not in known:
            known[one] = BasicOperations(**dict(zip(_CLASSES, one, strict=True)))
        yield known[one]


def roughly_done(executed: Executed) -> npt.NDArray[np.float64]:
    """Return of each row the instructions, flop and bytes of its executions, not quite exact."""
    once = np.array([_done_once(operation) for operation in executed.operations], np.float64)
    times = np.stack([executed.executions, executed.executions, executed.iterations])
    return once.reshape(-1, 3).T[:, executed.operation] * times


def _done_once(operation: Operation | None) -> tuple[int, int, int]:
    if operation is None:
        return 1, 0, 0
    return 1, operation.flop or 0, operation.load_bytes + operation.store_bytes


def grouped_sums(
    amounts: Integers, groups: Integers, n_groups: int, *, each: Integers | None = None
) -> list[int]:
    """Return the sum of `amounts`, times `each` if given, over the rows of each group.

    The sums are exact, also beyond 64 bits.
    """
    most = float(np.abs(amounts).sum(dtype=np.float64))
    if each is not None and each.size:
        most *= float(each.max())
    exact: type = np.int64 if most < _LARGEST else object
    rows: npt.NDArray[Any] = amounts.astype(exact)
    if each is not None:
        rows = rows * each.astype(exact)
    sums: npt.NDArray[Any] = np.zeros(n_groups, dtype=exact)
    np.add.at(sums, groups, rows)
    return [int(one) for one in sums.tolist()]


class _Once:
    """What one execution of each operation does, a column per count."""

    def __init__(self, operations: Sequence[Operation | None]) -> None:
        kinds = [_kind(operation) for operation in operations]
        self.kinds = sorted({kind for kind in kinds if kind is not None})
        place = {kind: index for index, kind in enumerate(self.kinds)}
        rows = [_row(operation) for operation in operations]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(_COLUMNS))
        self.columns = dict(zip(_COLUMNS, table.T, strict=True))
        basic = [_classes(operation) for operation in operations]
        self.basic_operations = np.array(basic, np.int64).reshape(len(rows), len(_CLASSES)).T
        self.kind = _integers(-1 if kind is None else place[kind] for kind in kinds)
        self.flop = _integers((o.flop or 0) if o is not None else 0 for o in operations)
        self.masked_flop = self.flop * _integers(o is not None and o.masked for o in operations)


_COLUMNS = (
    *("instructions", "branches", "loads", "stores"),
    *("load_bytes", "store_bytes", "non_temporal_store_bytes", "undecoded"),
)

_CLASSES = tuple(field.name for field in fields(BasicOperations))


def _classes(operation: Operation | None) -> tuple[int, ...]:
    """Return the basic operations of one iteration, in the order of `_CLASSES`."""
    if operation is None:
        return (0,) * len(_CLASSES)
    return tuple(getattr(operation.basic_operations, name) for name in _CLASSES)


def _row(operation: Operation | None) -> tuple[int, ...]:
    """Return the counts of one execution, in the order of `_COLUMNS`."""
    if operation is None:
        return (1, 0, 0, 0, 0, 0, 0, 1)
    return (
        1,
        operation.is_branch,
        operation.is_load,
        operation.is_store,
        operation.load_bytes,
        operation.store_bytes,
        operation.store_bytes if operation.non_temporal else 0,
        operation.flop is None,
    )


def _kind(operation: Operation | None) -> tuple[str, int, bool, str] | None:
    """Return precision, width, fusion and kind of an operation that does flop."""
    if operation is None or not operation.flop or operation.precision is None:
        return None
    return operation.precision, operation.width_bits, operation.fma, operation.arithmetic


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)


def _useful(masked: Masked, once: _Once, groups: Integers) -> dict[int, tuple[int, int]]:
    """Return, by group and kind, the masked flop whose masks were seen, and what of it was on.

    Flop that are not the same in every lane cannot be divided: their masks count as not seen.
    """
    all_flop, lanes = once.masked_flop[masked.operation], np.maximum(masked.lanes, 1)
    rows = np.flatnonzero((all_flop > 0) & (masked.lanes > 0) & (all_flop % lanes == 0))
    kind = once.kind[masked.operation[rows]]
    keys, place = np.unique(groups[rows] * len(once.kinds) + kind, return_inverse=True)
    each, per_lane = all_flop[rows], all_flop[rows] // lanes[rows]
    seen = grouped_sums(masked.executions[rows], place, keys.size, each=each)
    on = grouped_sums(masked.lanes_on[rows], place, keys.size, each=per_lane)
    return dict(zip(keys.tolist(), zip(seen, on, strict=True), strict=True))


def _flop(
    executed: Executed,
    once: _Once,
    *,
    groups: Integers,
    n_groups: int,
    useful: Mapping[int, tuple[int, int]],
) -> list[list[FlopCount]]:
    """Return the flop of each group by kind, in the order of kinds."""
    kind = once.kind[executed.operation]
    rows = np.flatnonzero(kind >= 0)
    operation, executions = executed.operation[rows], executed.executions[rows]
    pairs, place = np.unique(groups[rows] * len(once.kinds) + kind[rows], return_inverse=True)
    sums = [
        grouped_sums(executions, place, pairs.size, each=each)
        for each in (once.flop[operation], once.masked_flop[operation], None)
    ]
    found: list[list[FlopCount]] = [[] for _ in range(n_groups)]
    for pair, all_flop, masked, instructions in zip(pairs.tolist(), *sums, strict=True):
        group, index = divmod(pair, len(once.kinds))
        precision, width_bits, fma, arithmetic = once.kinds[index]
        seen, on = useful.get(pair, (0, 0))
        found[group].append(
            FlopCount(
                precision=precision,
                width_bits=width_bits,
                fma=fma,
                flop=all_flop,
                masked_flop=masked,
                useful_flop=all_flop - masked + on if seen == masked else None,
                instructions=instructions,
                operation=arithmetic,
            )
        )
    return found
