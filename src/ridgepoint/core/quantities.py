"""Quantities, amounts and words as users write them in files: types for fields of a Struct."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import ClassVar, Self

from ridgepoint.core.units import parse_si

_LONG_TIMES = {"min": 60.0, "h": 3600.0, "d": 86400.0}


class Quantity(float):
    """A quantity in its base unit, parsed from a number, a prefix and a mandatory unit.

    Examples
    --------
    >>> ByteRate.of("250 GB/s"), Seconds.of("6 h")
    (250000000000.0, 21600.0)
    """

    noun: ClassVar[str]
    units: ClassVar[tuple[str, ...]]
    example: ClassVar[str]
    may_be_zero: ClassVar[bool] = False

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the quantity that a text states: finite, and > 0 unless it may be 0.

        Raises
        ------
        ValueError
            If it is not one; in the message, the text after the semicolon says what to write.
        """
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f'{value!r} is not text; write it like "{cls.example}"')
        if not isinstance(value, str):
            raise ValueError(f'{value!r} has no unit; write it like "{cls.example}"')
        number = cls._parsed(value)
        if number is None:
            raise ValueError(f'{value!r} {cls._instead(value)}; write it like "{cls.example}"')
        if not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{value!r} is not finite and >= 0")
        if number == 0 and not cls.may_be_zero:
            raise ValueError(f"it must be > 0, got {value!r}; correct it")
        return cls(number)

    @classmethod
    def _parsed(cls, text: str) -> float | None:
        for unit in cls.units:
            with suppress(ValueError):
                return parse_si(text, unit)
        return None

    @classmethod
    def _instead(cls, text: str) -> str:
        """Return a description of a text that is not such a quantity."""
        for other in _QUANTITIES:
            if other is cls or other._parsed(text) is None:
                continue
            if {other, cls} in ({Work, WorkRate}, {Bytes, ByteRate}):
                is_total = other in (Work, Bytes)
                return (
                    "is a total, where a rate is needed"
                    if is_total
                    else "is a rate, where a total is needed"
                )
            return f"is a quantity of {other.noun}, not of {cls.noun}"
        if text.strip().lower().lstrip("+-").startswith(("nan", "inf")):
            return "is not finite"
        if text.rstrip().lower().endswith("flops"):
            return "may be a total or a rate: flops is no unit"
        return f"has no unit of {cls.noun}"


class Seconds(Quantity):
    """A time; minutes, hours and days have no prefix."""

    noun, units, example = "time", ("s",), "4 s, 20 ms or 6 h"

    @classmethod
    def _parsed(cls, text: str) -> float | None:
        for unit, seconds in _LONG_TIMES.items():
            head = text.strip().removesuffix(unit)
            if head != text.strip():
                with suppress(ValueError):
                    return float(head) * seconds
        return super()._parsed(text)


class SecondsOrZero(Seconds):
    """A time that may be 0."""

    may_be_zero = True


class Work(Quantity):
    """Operations."""

    noun, units, example = "work", ("flop", "FLOP", "BOP", "op"), "6.4 Tflop"
    may_be_zero = True


class WorkRate(Quantity):
    """Operations per second."""

    noun, units = "work rate", ("flop/s", "FLOP/s", "BOP/s", "op/s")
    example = "415 Tflop/s"


class Bytes(Quantity):
    """An amount of data."""

    noun, units, example = "bytes", ("B", "byte"), "320 GB"
    may_be_zero = True


class ByteRate(Quantity):
    """An amount of data per second."""

    noun, units, example = "byte rate", ("B/s", "byte/s"), "250 GB/s"


class Intensity(Quantity):
    """Operations per byte."""

    noun, example = "intensity", "1.25 flop/B"
    units = ("flop/B", "flop/byte", "FLOP/B", "FLOP/byte", "BOP/B", "BOP/byte")


_QUANTITIES: tuple[type[Quantity], ...] = (Seconds, Work, WorkRate, Bytes, ByteRate, Intensity)


def plain(value: Quantity | None) -> float | None:
    """Return a quantity as a plain float, as it is kept and shown."""
    return None if value is None else float(value)


class Amount(float):
    """An amount: a number, or a text such as ``1.5G``; >= 0."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the amount that a number or a text states.

        Raises
        ------
        ValueError
            If it states none; in the message, the text after the semicolon says what to write.
        """
        number = math.nan
        if not isinstance(value, bool) and isinstance(value, int | float | str):
            try:
                number = float(value)
            except (ValueError, OverflowError):
                with suppress(ValueError):
                    number = parse_si(f"{str(value).strip()}#", "#")
        if not (math.isfinite(number) and number >= 0):
            shown = value.strip() if isinstance(value, str) else value
            raise ValueError(f"{shown!r} is not a number >= 0; write 1.5e9 or 1.5G")
        return cls(number)


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
