"""Quantities, amounts and words as users write them: types for options and for files.

There is one grammar, that of `ridgepoint.core.units.read_quantity`. A class here says which units
a quantity may have, and whether a number without a unit is taken to be in the base unit.
"""

from __future__ import annotations

import math
from typing import ClassVar, Self

from ridgepoint.core.units import AmbiguousUnit, read_quantity

_NOUNS = {
    "flop": "work", "BOP": "work", "op": "work", "B": "bytes", "s": "time", "cycle": "cycles",
    "Hz": "frequency",
}  # fmt: skip
_RATES = {"work": "work rate", "bytes": "byte rate"}


class Quantity(float):
    """A quantity in its base unit, parsed from a number, a prefix and a unit.

    Examples
    --------
    >>> ByteRate.of("250 GB/s"), Seconds.of("6 h"), WorkAmount.of(2e9)
    (250000000000.0, 21600.0, 2000000000.0)
    """

    noun: ClassVar[str]
    units: ClassVar[tuple[str, ...]]
    example: ClassVar[str]
    may_be_zero: ClassVar[bool] = False
    may_be_bare: ClassVar[bool] = False

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the quantity that a text states: finite, and > 0 unless it may be 0.

        Raises
        ------
        ValueError
            If it is not one; in the message, the text after the semicolon says what to write.
        """
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            kind = "a number" if cls.may_be_bare else "text"
            raise ValueError(f"{value!r} is not {kind}; write it like {cls._written()}")
        if isinstance(value, str):
            return cls.read(value)[0]
        if not cls.may_be_bare:
            raise ValueError(f"{value!r} has no unit; write it like {cls._written()}")
        return cls._checked(_float(value), value)

    @classmethod
    def read(cls, text: str) -> tuple[Self, str]:
        """Return the quantity that a text states, and its base unit; empty: it has none.

        Raises
        ------
        ValueError
            As for `of`.
        """
        try:
            number, unit = read_quantity(text)
        except AmbiguousUnit:
            raise
        except ValueError as error:
            missing = "is not a quantity" if cls.may_be_bare else "has no unit"
            raise ValueError(
                f"{text!r} {missing} of {cls.noun}; write it like {cls._written()}"
            ) from error
        if not cls.accepts(unit):
            raise ValueError(f"{text!r} {cls._instead(unit)}; write it like {cls._written()}")
        return cls._checked(number, text), unit

    @classmethod
    def _checked(cls, number: float, value: object) -> Self:
        """Return a number as such a quantity; `value` is what was written."""
        if not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{value!r} is not finite and >= 0; write it like {cls._written()}")
        if number == 0 and not cls.may_be_zero:
            raise ValueError(f"it must be > 0, got {value!r}; write it like {cls._written()}")
        return cls(number)

    @classmethod
    def accepts(cls, unit: str) -> bool:
        """Return whether such a quantity may have a base unit, or none (an empty one)."""
        return unit in cls.units or (cls.may_be_bare and not unit)

    @classmethod
    def _instead(cls, unit: str) -> str:
        """Return a description of a text in another unit."""
        if not unit:
            return f"has no unit of {cls.noun}"
        own = cls.units[0]
        if f"{unit}/s" in cls.units:
            return "is a total, where a rate is needed"
        if any(unit == f"{total}/s" for total in cls.units):
            return "is a rate, where a total is needed"
        if unit.endswith("/cycle") and own.endswith("/s"):
            return "is per cycle, and no frequency is known here"
        if noun_of(unit) == noun_of(own):
            return f"is in {unit}, not in {own}"
        return f"is a quantity of {noun_of(unit)}, not of {cls.noun}"

    @classmethod
    def _written(cls) -> str:
        return f'"{cls.example}"'


def noun_of(unit: str) -> str:
    """Return what a base unit measures: ``work rate`` for ``flop/s``."""
    above, _, below = unit.partition("/")
    noun = _NOUNS.get(above, "number")
    if below == "B":
        return "intensity"
    return _RATES[noun] if below == "s" else f"{noun} per {below}" if below else noun


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


class Seconds(Quantity):
    """A time; minutes, hours and days have no prefix."""

    noun, example = "time", "4 s, 20 ms or 6 h"
    units: ClassVar[tuple[str, ...]] = ("s",)


class SecondsOrZero(Seconds):
    """A time that may be 0."""

    may_be_zero = True


class Duration(Seconds):
    """A time whose unit may be left out."""

    may_be_bare = True
    example = "4, 20 ms or 6 h"


class Work(Quantity):
    """Operations."""

    noun, example = "work", "6.4 Tflop"
    units: ClassVar[tuple[str, ...]] = ("flop", "BOP", "op")
    may_be_zero = True


class WorkAmount(Work):
    """Operations whose unit may be left out."""

    may_be_bare = True
    example = "2e9, 2G or 2 Gflop"


class WorkRate(Quantity):
    """Operations per second."""

    noun, example = "work rate", "415 Tflop/s"
    units: ClassVar[tuple[str, ...]] = ("flop/s", "BOP/s", "op/s")


class Bytes(Quantity):
    """An amount of data."""

    noun, units, example = "bytes", ("B",), "320 GB"
    may_be_zero = True


class ByteAmount(Bytes):
    """An amount of data whose unit may be left out."""

    may_be_bare = True
    example = "16e9, 16G or 16 GB"


class ByteRate(Quantity):
    """An amount of data per second."""

    noun, example = "byte rate", "250 GB/s"
    units: ClassVar[tuple[str, ...]] = ("B/s",)


class LinkRate(ByteRate):
    """The bandwidth of a network."""

    example = "12GB/s or 100Gbit/s"


class Intensity(Quantity):
    """Operations per byte."""

    noun, example = "intensity", "1.25 flop/B"
    units = ("flop/B", "BOP/B", "op/B")


class Flop(WorkAmount):
    """Floating-point operations; the unit may be left out."""

    units, example = ("flop",), "2e9, 2G or 2 Gflop"


class BasicOperations(WorkAmount):
    """Basic operations; the unit may be left out."""

    units, example = ("BOP",), "3e9, 3G or 3 GBOP"


class Runtime(Duration):
    """A time in seconds or in cycles; a number alone is in seconds."""

    units, example = ("s", "cycle"), "1.2, 1.2 s or 5 Mcycle"


class Performance(WorkRate):
    """Work per second or per cycle."""

    units = ("flop/s", "BOP/s", "op/s", "flop/cycle", "BOP/cycle", "op/cycle")
    example = "3.1 Gflop/s or 0.5 flop/cycle"


class Bandwidth(ByteRate):
    """Data per second or per cycle."""

    units, example = ("B/s", "B/cycle"), "12 GB/s or 4 B/cycle"


class Frequency(Quantity):
    """A clock."""

    noun, units, example = "frequency", ("Hz",), "3.2 GHz"


class BareIntensity(Intensity):
    """Operations per byte; the unit may be left out."""

    may_be_bare = True


def plain(value: Quantity | None) -> float | None:
    """Return a quantity as a plain float, as it is kept and shown."""
    return None if value is None else float(value)


class Word(str):
    """A word from a fixed set."""

    __slots__ = ()
    known: ClassVar[tuple[str, ...]]

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the word.

        Raises
        ------
        ValueError
            If it is not in the set; in the message, the words after the semicolon are the set.
        """
        if value not in cls.known:
            raise ValueError(f"{value!r} is not one of its values; use {', '.join(cls.known)}")
        return cls(value)
