"""Tells to which function and source line instructions belong, also where there is no symbol."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.profile import Profile, Rows
from ridgepoint.meters.profile.naming import Naming, names_of
from ridgepoint.meters.tally import Integers

Function = tuple[str | None, str]
"""Object (None: made at run time) and name."""
Line = tuple[int, str, int]
"""Number of the function, source file, line."""

_CALL_BYTES = 5  # E8 and a displacement of 32 bits
_CALL = 0xE8
_ENDBR64 = (0xF3, 0x0F, 0x1E, 0xFA)
_PAGE_BYTES = 4096
_UNNAMED = np.uint64(1 << 63)
_GIVEN = np.uint64(1 << 62)


def function_numbers(
    profile: Profile,
    instructions: Rows,
    known: dict[Function, int],
    *,
    naming: Naming | None = None,
) -> Integers:
    """Return the number of each instruction's function, adding new functions to the known.

    Parameters
    ----------
    profile : Profile
    instructions : ndarray of INSTRUCTION
    known : dict of Function to int
    naming : Naming or None
        What names code without a symbol; None: nothing does.

    Notes
    -----
    Code without a symbol is divided where functions certainly begin: at the targets of direct
    calls, at ENDBR64, behind code that has a symbol, and after a gap of a page. A function that
    is only reached otherwise is taken for a part of the one before it. Its name is the address
    of its first instruction that was executed, as the object file states it.
    """
    named = instructions["function"] > 0
    keys = instructions["object"].astype(np.uint64) << np.uint64(32) | instructions["function"]
    entries = np.arange(len(instructions))
    given, names = np.full(len(instructions), -1), list[str]()
    if not named.all():
        given, names = names_of(profile, instructions, ~named, naming)
        keys = np.where(given >= 0, _GIVEN | given.astype(np.uint64), keys)
        named |= given >= 0
        entries = _entries(instructions, named)
        keys = np.where(named, keys, _UNNAMED | entries.astype(np.uint64))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    displaced = _Displacements(instructions)
    numbers = []
    for row in first.tolist():
        begin = instructions[row if named[row] else entries[row]]
        name = names[given[row]] if given[row] >= 0 else profile.strings[begin["function"]]
        name = name or f"{displaced.file_address(begin):#018x}"
        function = (profile.strings[begin["object"]] or None, name)
        numbers.append(known.setdefault(function, len(known)))
    return np.array(numbers, dtype=np.int64)[place]


def line_numbers(
    profile: Profile, instructions: Rows, functions: Integers, known: dict[Line, int]
) -> Integers:
    """Return the number of each instruction's line, adding new lines to the known; -1: unknown."""
    numbers = np.full(len(instructions), -1, dtype=np.int64)
    rows = np.flatnonzero((instructions["line"] > 0) & (instructions["source"] > 0))
    told = instructions[rows]
    _, places = np.unique(
        told["source"].astype(np.uint64) << np.uint64(32) | told["line"], return_inverse=True
    )
    # Both numbers are smaller than 2**31: there are not as many rows.
    _, first, place = np.unique(
        functions[rows] << 32 | places, return_index=True, return_inverse=True
    )
    own = [
        known.setdefault((function, profile.strings[source], line), len(known))
        for function, source, line in zip(
            functions[rows][first].tolist(),
            told["source"][first].tolist(),
            told["line"][first].tolist(),
            strict=True,
        )
    ]
    numbers[rows] = np.array(own, dtype=np.int64)[place]
    return numbers


def _entries(instructions: Rows, named: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Return for each instruction the row of the first of its function, if it has no symbol."""
    order = np.argsort(instructions["address"], kind="stable")
    rows = instructions[order]
    address, code = rows["address"], rows["code"]
    begins = np.isin(address, _call_targets(rows))
    begins |= (code[:, : len(_ENDBR64)] == _ENDBR64).all(axis=1)
    begins[:1] = True
    begins[1:] |= named[order][:-1]
    begins[1:] |= rows["object"][1:] != rows["object"][:-1]
    begins[1:] |= np.diff(address) >= _PAGE_BYTES
    latest = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
    entries = np.empty(len(rows), dtype=np.intp)
    entries[order] = order[latest]
    return entries


def _call_targets(instructions: Rows) -> npt.NDArray[np.uint64]:
    calls = instructions[
        (instructions["length"] == _CALL_BYTES) & (instructions["code"][:, 0] == _CALL)
    ]
    displacement = np.ascontiguousarray(calls["code"][:, 1:_CALL_BYTES]).view("<i4").ravel()
    # Addresses wrap around, and so does the arithmetic of NumPy's unsigned integers.
    targets: npt.NDArray[np.uint64] = calls["address"] + np.uint64(_CALL_BYTES)
    return targets + displacement.astype(np.uint64)


class _Displacements:
    """How far from its stated addresses each object was loaded.

    Valgrind tells the stated address of an object's ``.text`` alone. Elsewhere (the stubs through
    which libraries are called) the engine writes the run-time address in its place.
    """

    def __init__(self, instructions: Rows) -> None:
        self._object = instructions["object"]
        self._displacement = instructions["address"] - instructions["file_address"]
        self._known: dict[int, int] = {}

    def file_address(self, instruction: np.void) -> int:
        """Return the address of an instruction as its object states it, if that is known."""
        address = int(instruction["address"])
        stated, path = int(instruction["file_address"]), int(instruction["object"])
        return address - self._of(path) if path and stated == address else stated

    def _of(self, path: int) -> int:
        if path not in self._known:
            found = np.unique(self._displacement[self._object == path])
            found = found[found > 0]
            # Contradictory where an object was loaded twice.
            self._known[path] = int(found[0]) if found.size == 1 else 0
        return self._known[path]
