"""Names that Valgrind does not know: of code made at run time, and of stripped files."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ridgepoint.meters.code_made import read_code_made
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.profile import Profile, Rows
from ridgepoint.meters.symbols import Symbols, read_packed_symbols
from ridgepoint.meters.tally import Integers


@dataclass(slots=True)
class Naming:
    """What names code without a symbol, each file read once and when it is needed.

    Parameters
    ----------
    since_s : float
        When the counted run began, seconds since 1970: what a compiler at run time wrote before
        is of another process that had the same number.
    """

    since_s: float
    _made: dict[int, Symbols] = field(default_factory=dict)
    _packed: dict[str, Symbols] = field(default_factory=dict)

    def code_made(self, pid: int) -> Symbols:
        """Return the functions that a process made."""
        if pid not in self._made:
            self._made |= {pid: Symbols()} | read_code_made([pid], since_s=self.since_s)
        return self._made[pid]

    def packed(self, path: str) -> Symbols:
        """Return the functions of an object file that it holds compressed."""
        if path not in self._packed:
            self._packed[path] = read_packed_symbols(path)
        return self._packed[path]


def names_of(
    profile: Profile, instructions: Rows, nameless: npt.NDArray[np.bool_], naming: Naming | None
) -> tuple[Integers, list[str]]:
    """Return for each instruction the place of its function's name among the names; -1: none.

    Parameters
    ----------
    profile : Profile
    instructions : ndarray of INSTRUCTION
    nameless : ndarray of bool
        Those without a symbol: of others nothing is asked.
    naming : Naming or None
        None: nothing else is known.
    """
    places = np.full(len(instructions), -1, dtype=np.int64)
    names: dict[tuple[int, str], int] = {}
    if naming is None:
        return places, []
    for file in np.unique(instructions["object"][nameless]).tolist():
        rows = np.flatnonzero(nameless & (instructions["object"] == file))
        path = profile.strings[file]
        symbols = naming.packed(path) if path else naming.code_made(profile.process.pid)
        if not symbols.names:
            continue
        addresses = instructions["file_address" if path else "address"][rows]
        found = symbols.places_of(addresses)
        for place in np.unique(found[found >= 0]).tolist():
            name = demangled(symbols.names[place][0])
            places[rows[found == place]] = names.setdefault((file, name), len(names))
    return places, [name for _, name in names]
