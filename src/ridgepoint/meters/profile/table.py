"""Makes one table of what several processes did, with numbers that hold for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.decode import Operation, decode_each, decode_with_tiles
from ridgepoint.meters.displacements import without_displacements
from ridgepoint.meters.profile import Profile, Rows
from ridgepoint.meters.profile.functions import Function, Line, function_numbers, line_numbers
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.simulated.geometry import MOST_LEVELS
from ridgepoint.meters.tally import Executed, Integers, Masked, distinct

if TYPE_CHECKING:
    from ridgepoint.kernels.tiles import TileConfiguration

BANK, FUNCTION, LINE = range(3)
"""Rows of `Places`."""
Places = Integers
"""Of each row of a table the numbers of its bank, function and line (-1: unknown), shape (3, n)."""

READ_LINES, WRITE_LINES, NT_BYTES = 0, MOST_LEVELS, 2 * MOST_LEVELS
"""Rows of `Table.moved`: of the innermost cache's outer side; the other sides follow each."""

_CODE_BYTES = 16  # the length, and 15 bytes of code
_VEX, _MAP_0F38 = 0xC4, 2
# Opcodes there of TILELOADD and TILESTORED; TDPBF16PS, TDPFP16PS; TDPB..D; TCMM..
_TILE_OPCODES = (0x4B, 0x5C, 0x5E, 0x6C)

_Code = tuple[bytes, "TileConfiguration | None"]
"""Length and bytes of an instruction, and how large its tiles are, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """What several processes did.

    Parameters
    ----------
    banks : tuple of tuple of str
        Regions that were active together.
    functions : tuple of Function
    lines : tuple of Line
    executed : Executed
    executed_at : Places
    masked : Masked
    masked_at : Places
    moved : ndarray of int64, shape (9, n)
        Lines read across the outer side of each cache, lines written across it, and bytes that
        were written past all caches.
    moved_at : Places
    """

    banks: tuple[tuple[str, ...], ...]
    functions: tuple[Function, ...]
    lines: tuple[Line, ...]
    executed: Executed
    executed_at: Places
    masked: Masked
    masked_at: Places
    moved: Integers
    moved_at: Places

    def within(self, banks: npt.NDArray[np.bool_]) -> Table:
        """Return the rows of some banks alone."""
        executed, masked, moved = (
            banks[at[BANK]] for at in (self.executed_at, self.masked_at, self.moved_at)
        )
        return replace(
            self,
            executed=self.executed.among(executed),
            executed_at=self.executed_at[:, executed],
            masked=self.masked.among(masked),
            masked_at=self.masked_at[:, masked],
            moved=self.moved[:, moved],
            moved_at=self.moved_at[:, moved],
        )


def table_of(profiles: Sequence[Profile], *, naming: Naming | None = None) -> Table:
    """Return the table of several profiles; `naming` names code without a symbol.

    Notes
    -----
    An instruction with a REP prefix is passed once per iteration, and once more per execution
    unless a flag ended it: its executions are passes - iterations + ends by flag. They are
    made up by two rows, one of passes and one of the rest.
    """
    known = _Known()
    parts = [_part(profile, known, naming) for profile in profiles]
    operations, which = _decoded(list(known.codes))
    operation = which[np.concatenate([part.code for part in parts])]
    masked = np.concatenate([profile.masked for profile in profiles])
    repeats = np.array(
        [operation is not None and operation.repeats for operation in operations], dtype=np.bool_
    )
    is_passes = np.concatenate([part.is_passes for part in parts])
    iterations = np.concatenate([part.iterations for part in parts])
    return Table(
        banks=tuple(known.banks),
        functions=tuple(known.functions),
        lines=tuple(known.lines),
        executed=Executed(
            operations=operations,
            operation=operation,
            executions=np.concatenate([part.executions for part in parts]),
            iterations=np.where(is_passes & repeats[operation], 0, iterations),
        ),
        executed_at=np.concatenate([part.executed_at for part in parts], axis=1),
        masked=Masked(
            operations=operations,
            operation=which[np.concatenate([part.masked_code for part in parts])],
            executions=masked["executions"].astype(np.int64),
            lanes=masked["lanes"].astype(np.int64),
            lanes_on=masked["lanes_on"].astype(np.int64),
        ),
        masked_at=np.concatenate([part.masked_at for part in parts], axis=1),
        moved=np.concatenate([amounts(profile.moved) for profile in profiles], axis=1),
        moved_at=np.concatenate([part.moved_at for part in parts], axis=1),
    )


def amounts(moved: Rows) -> Integers:
    """Return what rows moved in the form of `Table.moved`."""
    columns = (*moved["read_lines"].T, *moved["write_lines"].T, moved["nt_bytes"])
    return np.stack(columns).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was seen so far, each with its number."""

    banks: dict[tuple[str, ...], int] = field(default_factory=dict)
    functions: dict[Function, int] = field(default_factory=dict)
    lines: dict[Line, int] = field(default_factory=dict)
    codes: dict[_Code, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """One profile in numbers that hold for all: rows of passes, and rows of iterations."""

    executed_at: Places
    masked_at: Places
    masked_code: Integers
    code: Integers
    executions: Integers
    iterations: Integers
    is_passes: npt.NDArray[np.bool_]
    moved_at: Places


def _part(profile: Profile, known: _Known, naming: Naming | None) -> _Part:
    executed, repeated = profile.executed, profile.repeated
    used = np.zeros(len(profile.instructions), dtype=np.bool_)
    used[executed["instruction"]] = used[profile.moved["instruction"]] = True
    used[profile.masked["instruction"]] = True
    instructions = profile.instructions[used]
    row = np.cumsum(used) - 1
    functions = function_numbers(profile, instructions, known.functions, naming=naming)
    lines = line_numbers(profile, instructions, functions, known.lines)
    codes = _code_numbers(instructions, known.codes)
    banks = np.array(
        [known.banks.setdefault(names, len(known.banks)) for names in profile.banks], np.int64
    )

    def places(rows: Rows) -> Places:
        at = row[rows["instruction"]]
        return np.stack([banks[rows["bank"]], functions[at], lines[at]])

    passes, iterations, ended = (
        column.astype(np.int64)
        for column in (executed["passes"], repeated["iterations"], repeated["ended_by_flag"])
    )
    at = row[np.concatenate([executed["instruction"], repeated["instruction"]])]
    in_banks = np.concatenate([executed["bank"], repeated["bank"]])
    return _Part(
        executed_at=np.concatenate([places(executed), places(repeated)], axis=1),
        masked_at=places(profile.masked),
        masked_code=codes[row[profile.masked["instruction"]]],
        code=_with_tiles(codes[at], instructions[at], in_banks, profile.tiles, known.codes),
        executions=np.concatenate([passes, ended - iterations]),
        iterations=np.concatenate([passes, iterations]),
        is_passes=np.arange(len(at)) < len(passes),
        moved_at=places(profile.moved),
    )


def _code_numbers(instructions: Rows, known: dict[_Code, int]) -> Integers:
    """Return the number of each instruction's length and bytes, adding new ones to the known.

    Those that do the same at other addresses have one number.
    """
    codes = np.zeros((len(instructions), _CODE_BYTES), np.uint8)
    codes[:, 0] = instructions["length"]
    codes[:, 1:] = without_displacements(instructions["code"], instructions["length"])
    low, high = codes.view("<u8").T
    order = np.lexsort((low, high))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    distinct_codes = codes[order[begins]].view(f"S{_CODE_BYTES}").ravel().tolist()
    numbers = [known.setdefault((code, None), len(known)) for code in distinct_codes]
    found = np.empty(len(order), np.int64)
    found[order] = np.array(numbers, np.int64)[np.cumsum(begins) - 1]
    return found


def _codes(instructions: Rows) -> list[bytes]:
    """Return the length and the bytes of each instruction."""
    raw = np.ascontiguousarray(instructions).view(np.uint8)
    raw = raw.reshape(len(instructions), instructions.dtype.itemsize)[:, -_CODE_BYTES:]
    codes: list[bytes] = np.ascontiguousarray(raw).view(f"S{_CODE_BYTES}").ravel().tolist()
    return codes


def _with_tiles(
    codes: Integers,
    instructions: Rows,
    banks: npt.NDArray[np.uint32],
    tiles: Sequence[TileConfiguration | None],
    known: dict[_Code, int],
) -> Integers:
    """Return the numbers of codes; those that use tiles have one for each configuration.

    Parameters
    ----------
    codes : Integers
        Without it.
    instructions : ndarray of INSTRUCTION
        Of each row.
    banks : ndarray of uint32
        Of each row.
    tiles : sequence of TileConfiguration or None
        Of each bank.
    known : dict
    """
    if not any(tiles):
        return codes
    code = instructions["code"]
    candidates = np.flatnonzero(
        (code[:, 0] == _VEX) & (code[:, 1] & 31 == _MAP_0F38) & np.isin(code[:, 3], _TILE_OPCODES)
    )
    configured = codes.copy()
    for row, content in zip(candidates.tolist(), _codes(instructions[candidates]), strict=True):
        if (own := tiles[banks[row]]) is not None:
            configured[row] = known.setdefault((content, own), len(known))
    return configured


def _decoded(codes: Sequence[_Code]) -> tuple[list[Operation | None], Integers]:
    """Return distinct operations, and where among these that of each code is."""
    padded = b"".join(code.ljust(_CODE_BYTES, b"\0") for code, _ in codes)
    offsets = range(1, len(padded), _CODE_BYTES)
    return distinct(
        _of_length(
            code[0],
            decode_with_tiles(code[1:].ljust(_CODE_BYTES, b"\0"), tiles) if tiles else operation,
        )
        for (code, tiles), operation in zip(codes, decode_each(padded, offsets), strict=True)
    )


def _of_length(length: int, operation: Operation | None) -> Operation | None:
    """Return an operation if it is as long as what was executed, else nothing."""
    return operation if operation is not None and operation.length == length else None
