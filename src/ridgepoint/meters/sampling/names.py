"""Finds for each place the function of the counted run that it is in, or its name at least."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ridgepoint.core.counts import FunctionCounts
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.sampling.address_space import Place
from ridgepoint.meters.symbols import Symbols, read_symbols

Function = tuple[str | None, str | None]
"""Object (None: made at run time) and name (None: unknown)."""

_HEXADECIMAL = "0x"


@dataclass(slots=True)
class Names:
    """Names of functions as the counted run has them, so that time and counts belong together.

    Code without a symbol is called by the address where the counted run saw it begin. So what is
    at or behind that address, and before the next such one, is the same function.

    Parameters
    ----------
    functions : sequence of FunctionCounts
        Of the counted run.
    code_made : dict of int to Symbols
        What processes wrote of code that they made, by process.
    """

    functions: Sequence[FunctionCounts]
    code_made: dict[int, Symbols] = field(default_factory=dict)
    _counted: dict[str, set[str]] = field(default_factory=dict)
    _unnamed: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _symbols: dict[str, Symbols] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for function in self.functions:
            if function.object is None:
                continue
            self._counted.setdefault(function.object, set()).add(function.name)
            if (begin := _address(function.name)) is not None:
                self._unnamed.setdefault(function.object, []).append((begin, function.name))
        for begins in self._unnamed.values():
            begins.sort()

    def of(self, place: Place) -> Function:
        """Return the function that a place is in."""
        if place.path is None:
            made = self.code_made.get(place.pid or 0, Symbols())
            return None, next(iter(made.names_at(place.at)), None)
        if place.path not in self._symbols:
            self._symbols[place.path] = read_symbols(place.path)
        symbols = self._symbols[place.path]
        address = symbols.address_of(place.at)
        if address is None:
            return place.path, None
        names = symbols.names_at(address)
        if not names:
            return place.path, self._nameless(place.path, address)
        counted = self._counted.get(place.path, set())
        each = [demangled(name.partition("@")[0] or name) for name in names]
        return place.path, next((name for name in each if name in counted), each[0])

    def _nameless(self, path: str, address: int) -> str | None:
        """Return the counted function without a symbol that an address belongs to."""
        begins = self._unnamed.get(path, [])
        index = bisect_right(begins, address, key=lambda entry: entry[0]) - 1
        return begins[index][1] if index >= 0 else None


def _address(name: str) -> int | None:
    if not name.startswith(_HEXADECIMAL):
        return None
    try:
        return int(name, 16)
    except ValueError:
        return None
