"""Makes profiles of what an arena holds: counters of blocks become executions of instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ridgepoint.kernels.tiles import TileConfiguration
from ridgepoint.meters.native.code import UNKNOWN_CODE, Integers, ModuleCode, Strings, module_code
from ridgepoint.meters.native.contents import Bank, Contents, Module
from ridgepoint.meters.native.copy_file import BLOCK, ITERATIONS, MASK, read_copy
from ridgepoint.meters.native.history import Program
from ridgepoint.meters.native.profile_traffic import ProfileTraffic, no_traffic, traffic_of
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.profile import (
    EXECUTED,
    INSTRUCTION,
    MASKED,
    REPEATED,
    Process,
    Profile,
    Rows,
)

_Key = tuple[tuple[str, ...], bytes]
"""Regions and tiles of a bank."""


def profiles_of(
    contents: Contents, programs: Sequence[Program], *, files: CodeStore
) -> list[Profile]:
    """Return the profile of each program that ran, in the order in which they began.

    Parameters
    ----------
    contents : Contents
        Of the arena.
    programs : sequence of Program
        Those that ran.
    files : CodeStore
        Where the bytes of object files are.

    Raises
    ------
    InvalidDocument
        If the copy of a module that ran cannot be read.
    """
    strings = Strings()
    code = _Code(contents, strings, files)
    banks: dict[int, dict[_Key, list[Bank]]] = {}
    for bank in contents.banks:
        own = banks.setdefault(bank.process, {})
        own.setdefault((bank.regions, bank.tiles), []).append(bank)
    parts = [(program, _part(banks.get(program.number, {}), code)) for program in programs]
    traffic = [_traffic(contents, program, part.banks, code) for program, part in parts]
    names = tuple(strings.numbers)
    return [
        Profile(
            process=_process(program),
            levels=moved.levels,
            line_bytes=moved.line_bytes,
            strings=names,
            instructions=code.instructions,
            banks=part.banks,
            executed=part.executed,
            repeated=part.repeated,
            masked=part.masked,
            tiles=part.tiles,
            moved=moved.moved,
            pending_lines=moved.pending_lines,
            moved_elsewhere=moved.moved_elsewhere,
            pending_elsewhere=moved.pending_elsewhere,
            miss_curve=moved.miss_curve,
        )
        for (program, part), moved in zip(parts, traffic, strict=True)
    ]


def _traffic(
    contents: Contents, program: Program, banks: Sequence[tuple[str, ...]], code: _Code
) -> ProfileTraffic:
    if contents.moved is None:
        return no_traffic()
    return traffic_of(
        contents.moved,
        process=program.number,
        banks=banks,
        regions=contents.regions,
        instruction_of=code.holding,
        unknown=len(code.instructions) - 1,
    )


def _process(program: Program) -> Process:
    return Process(
        pid=program.pid,
        parent_pid=program.parent_pid,
        cause="exec" if program.became_another else "ended",
        status=program.status or 0,
        most_threads=program.most_threads,
        threads=program.threads,
        continues=False,
    )


class _Code:
    """All code of a run: what each counter counts."""

    def __init__(self, contents: Contents, strings: Strings, files: CodeStore) -> None:
        ran = [module for module in contents.modules if module.n_counters]
        ran.sort(key=lambda module: module.first_counter)
        self._firsts = np.array([module.first_counter for module in ran], np.int64)
        self._ends = self._firsts + np.array([module.n_counters for module in ran], np.int64)
        # Two processes that load a module at the same moment make two rows of it.
        units: dict[tuple[object, ...], int] = {}
        self._unit = np.array(
            [units.setdefault(_identity(module), len(units)) for module in ran], np.int64
        )
        first_of_unit = {int(unit): module for module, unit in zip(ran, self._unit, strict=True)}
        self.modules: list[ModuleCode | None] = []
        for unit, rows in enumerate(self._executed(contents.banks, len(units))):
            if not len(rows):
                self.modules.append(None)
                continue
            path, copy = first_of_unit[unit].path, read_copy(Path(first_of_unit[unit].copy))
            ran_too, _ = copy.with_sharers(rows, np.ones_like(rows))
            self.modules.append(
                module_code(path, copy, np.sort(ran_too), number=unit, strings=strings, files=files)
            )
        sizes = [0 if module is None else len(module.instructions) for module in self.modules]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        parts = [module.instructions for module in self.modules if module is not None]
        self.instructions: Rows = np.concatenate([*parts, _unknown_instruction()])
        self._unit_of = {
            module.number: int(unit) for module, unit in zip(ran, self._unit, strict=True)
        }

    def located(self, counters: Integers) -> tuple[Integers, Integers]:
        """Return of counters the unit (-1: of none) and the row."""
        if not len(self._firsts):
            return np.full(len(counters), -1, np.int64), np.zeros(len(counters), np.int64)
        module = np.searchsorted(self._firsts, counters, side="right").astype(np.int64) - 1
        inside = (module >= 0) & (counters < self._ends[module])
        return np.where(inside, self._unit[module], -1), counters - self._firsts[module]

    def holding(self, modules: Integers, addresses: npt.NDArray[np.uint64]) -> Integers:
        """Return the instructions that hold bytes at addresses of modules; -1: none that ran."""
        found = np.full(len(modules), -1, np.int64)
        for number in np.unique(modules).tolist():
            unit = self._unit_of.get(number, -1)
            module = self.modules[unit] if unit >= 0 else None
            if module is not None:
                of_module = modules == number
                at = module.holding(addresses[of_module])
                found[of_module] = np.where(at < 0, -1, at + self.offsets[unit])
        return found

    def _executed(self, banks: Iterable[Bank], n_units: int) -> list[Integers]:
        """Return the rows of each unit that anybody executed."""
        counters = [bank.counters.astype(np.int64) for bank in banks]
        used = np.unique(np.concatenate([np.empty(0, np.int64), *counters]))
        units, rows = self.located(used)
        return [np.unique(rows[units == unit]) for unit in range(n_units)]


def _unknown_instruction() -> Rows:
    """Return what stands for code that is not known."""
    unknown = np.zeros(1, INSTRUCTION)
    unknown["length"], unknown["code"][:, 0] = 1, UNKNOWN_CODE
    return unknown


def _identity(module: Module) -> tuple[object, ...]:
    return (module.path, module.copy, module.identity, module.process)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """What one process did, in rows of a profile."""

    banks: tuple[tuple[str, ...], ...]
    tiles: tuple[TileConfiguration | None, ...]
    executed: Rows
    repeated: Rows
    masked: Rows


def _part(banks: Mapping[_Key, Sequence[Bank]], code: _Code) -> _Part:
    keys: list[_Key] = [((), b""), *(key for key in banks if key != ((), b""))]
    parts: tuple[list[Rows], ...] = ([], [], [])
    for number, key in enumerate(keys):
        counters, counts = _sum(banks.get(key, ()))
        units, rows = code.located(counters)
        for unit in np.unique(units[units >= 0]).tolist():
            module = code.modules[unit]
            if module is None:
                continue
            of_unit = units == unit
            ran, totals = module.copy.with_sharers(rows[of_unit], counts[of_unit])
            profile = _of_module(module, ran[totals > 0], totals[totals > 0])
            for kept, part in zip(parts, profile, strict=True):
                part["bank"] = number
                part["instruction"] += np.uint32(code.offsets[unit])
                kept.append(part)
    return _Part(
        banks=tuple(regions for regions, _ in keys),
        tiles=tuple(TileConfiguration.decoded(t) if t else None for _, t in keys),
        executed=np.concatenate([np.empty(0, EXECUTED), *parts[0]]),
        repeated=np.concatenate([np.empty(0, REPEATED), *parts[1]]),
        masked=np.concatenate([np.empty(0, MASKED), *parts[2]]),
    )


def _sum(banks: Sequence[Bank]) -> tuple[Integers, Integers]:
    """Return what the counters of several banks hold together, those that are not 0."""
    counters = np.concatenate([np.empty(0, np.uint64), *(bank.counters for bank in banks)])
    counts = np.concatenate([np.empty(0, np.uint64), *(bank.counts for bank in banks)])
    used, place = np.unique(counters.astype(np.int64), return_inverse=True)
    sums = np.zeros(len(used), np.int64)
    np.add.at(sums, place, counts.astype(np.int64))
    return used, sums


def _of_module(module: ModuleCode, rows: Integers, counts: Integers) -> tuple[Rows, Rows, Rows]:
    """Return what a bank executed of a module: rows of EXECUTED, REPEATED and MASKED.

    Notes
    -----
    The counter of a block says how often its instructions were executed, that of an instruction
    with a REP prefix how often it iterated. It is passed once for each iteration and once for
    each execution, none of which a flag ends: as the one who executes it counts them, who sees
    only what the count was before and after. What is made of that (executions and iterations)
    is the same.
    """
    kinds = module.copy.rows["kind"][rows]
    passes = module.passes(rows[kinds == BLOCK], counts[kinds == BLOCK])
    repeated = np.zeros(int((kinds == ITERATIONS).sum()), REPEATED)
    at = module.places(module.copy.rows["address"][rows[kinds == ITERATIONS]])
    repeated["instruction"], repeated["iterations"] = at, counts[kinds == ITERATIONS]
    repeated = repeated[at >= 0]
    masked = _masked(module, passes, rows[kinds == MASK], counts[kinds == MASK])
    np.add.at(passes, repeated["instruction"].astype(np.int64), repeated["iterations"].astype(int))
    ran = np.flatnonzero(passes)
    executed = np.zeros(len(ran), EXECUTED)
    executed["instruction"], executed["passes"] = ran, passes[ran]
    return executed, repeated, masked


def _masked(module: ModuleCode, passes: Integers, rows: Integers, counts: Integers) -> Rows:
    """Return what masks left on: also of instructions of which they left nothing on."""
    all_rows = module.copy.masks
    of_masks = module.copy.rows[all_rows]
    at = module.places(of_masks["address"])
    on = np.zeros(len(all_rows), np.int64)
    np.add.at(on, np.searchsorted(all_rows, rows), counts)
    ran = (at >= 0) & (passes[at] > 0) if len(passes) else np.zeros(len(at), np.bool_)
    masked = np.zeros(int(ran.sum()), MASKED)
    masked["instruction"], masked["executions"] = at[ran], passes[at[ran]]
    masked["lanes"], masked["lanes_on"] = of_masks["bytes"][ran], on[ran]
    return masked
