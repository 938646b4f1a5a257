"""A table of a pipeline's file: what stands there, checked, and where."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.kept.quantities import Dimension, quantity
from ridgepoint.kept.toml_lines import Path, line_of

_ENDS = ("low", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table.

    Parameters
    ----------
    file : str
    path : tuple of str
        Keys that lead to it; empty: the whole file.
    values : mapping
    lines : mapping
        As of `ridgepoint.kept.toml_lines.lines_of`.
    """

    file: str
    path: Path
    values: Mapping[str, Any]
    lines: Mapping[Path, int]

    def wrong(self, key: str | None, reason: str, remedy: str) -> InvalidDocument:
        """Return the error that something here is not as it should be, with file, line and key."""
        path = self.path if key is None else (*self.path, key)
        line = line_of(self.lines, path)
        place = self.file if line is None else f"{self.file}:{line}"
        where = f"{place}, {'.'.join(path)}" if path else place
        return InvalidDocument(f"cannot take the pipeline of {where}", reason=reason, remedy=remedy)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def require_known(self, known: Iterable[str]) -> None:
        """Refuse keys that mean nothing."""
        names = list(known)
        for key in self.values:
            if key not in names:
                near = difflib.get_close_matches(key, names, n=1)
                remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
                raise self.wrong(key, "there is no such key", remedy)

    def table(self, key: str) -> Section:
        """Return a table within."""
        found = self.values[key]
        if not isinstance(found, dict):
            raise self.wrong(key, "it is no table", f"write it as [{'.'.join((*self.path, key))}]")
        return Section(file=self.file, path=(*self.path, key), values=found, lines=self.lines)

    def tables(self, key: str) -> list[tuple[str, Section]]:
        """Return every table within a table, by name."""
        within = self.table(key)
        return [(name, within.table(name)) for name in within.values]

    def text(self, key: str) -> str | None:
        """Return a text; None: there is none."""
        found = self.values.get(key)
        if found is not None and (not isinstance(found, str) or not found.strip()):
            raise self.wrong(key, f"{found!r} is no text", "write it in quotes")
        return found

    def choice(self, key: str, choices: Iterable[str]) -> str | None:
        """Return one of several words; None: there is none."""
        found, allowed = self.text(key), list(choices)
        if found is not None and found not in allowed:
            raise self.wrong(key, f"{found!r} is none of its values", f"use {', '.join(allowed)}")
        return found

    def number(self, key: str) -> float | None:
        """Return a number > 0; None: there is none."""
        found = self.values.get(key)
        return None if found is None else self._positive(key, found)

    def _positive(self, key: str, found: object) -> float:
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self.wrong(key, f"{found!r} is no number", "write a number such as 0.4")
        if not (math.isfinite(found) and found > 0):
            raise self.wrong(key, f"it must be finite and > 0, got {found!r}", "correct it")
        return float(found)

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """Return a list of numbers > 0, or a single one; None: there is none."""
        found = self.values.get(key)
        if found is None:
            return None
        every = found if isinstance(found, list) else [found]
        if not every:
            raise self.wrong(key, "it is empty", "give at least one number")
        return tuple(self._positive(key, one) for one in every)

    def amount(self, key: str, dimension: Dimension, *, least: float = 0.0) -> float | None:
        """Return a quantity in its base unit, more than `least`; None: there is none."""
        found = self.values.get(key)
        return None if found is None else self._quantity(key, found, dimension, above=least)

    def _quantity(
        self, key: str, found: object, dimension: Dimension, *, above: float = -1.0
    ) -> float:
        try:
            value = quantity(found, dimension)
        except ValueError as error:
            reason, _, remedy = str(error).partition("; ")
            raise self.wrong(key, reason, remedy or "correct it") from error
        if not value > above:
            raise self.wrong(key, f"it must be > {above:g}, got {found!r}", "correct it")
        return value

    def share(self, key: str) -> Estimate | None:
        """Return a share in (0, 1], with an interval where it has one; None: there is none."""
        found = self.values.get(key)
        if found is None:
            return None
        estimate = self._estimate(key, found, lambda one: self._positive(key, one))
        highest = max(estimate.samples) if estimate.interval is None else estimate.interval[1]
        if highest > 1:
            raise self.wrong(key, f"a share must be at most 1, got {highest:g}", "correct it")
        return estimate

    def time(self, key: str, *, may_be_zero: bool = False) -> Estimate | None:
        """Return a time > 0, with repeats or an interval where it has them; None: there is none."""
        found = self.values.get(key)
        if found is None:
            return None
        above = -1.0 if may_be_zero else 0.0
        return self._estimate(key, found, lambda one: self._quantity(key, one, "time", above=above))

    def _estimate(self, key: str, found: Any, read: Any) -> Estimate:
        if isinstance(found, list):
            if not found:
                raise self.wrong(key, "it is empty", "give at least one value")
            return Estimate([read(one) for one in found])
        if not isinstance(found, dict):
            return Estimate([read(found)])
        if set(found) != {"median", *_ENDS}:
            raise self.wrong(key, "it is not exactly median, low and high", "give these three")
        low, high = (read(found[end]) for end in _ENDS)
        try:
            return Estimate([read(found["median"])], interval=(low, high))
        except ValueError as error:
            raise self.wrong(key, str(error), "let low <= median <= high") from error
