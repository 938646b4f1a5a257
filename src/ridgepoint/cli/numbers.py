"""Numbers as users write them: lists with an ellipsis, ranges, quantities with units."""

from __future__ import annotations

import math
from typing import Any

import click

from ridgepoint.core.quantities import Quantity

_MOST = 2_000_000


class NumberRange(click.FloatRange):
    """A range of numbers, none of which is nan: click takes that for a number within."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number that a user wrote."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("nan is not a number", param, ctx)
        return number


class WholeNumber(click.types.IntParamType):
    """A whole number of at most 15 digits.

    Parameters
    ----------
    least : int
    """

    def __init__(self, least: int = 1) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that a user wrote."""
        if isinstance(value, int):
            return value
        stripped = value.strip()
        if not _is_whole(stripped) or int(stripped) < self.least:
            self.fail(
                f"{stripped!r} is not a whole number >= {self.least} of at most 15 digits",
                param,
                ctx,
            )
        return int(stripped)


class QuantityType(click.types.FloatParamType):
    """A quantity in its base unit, written as everywhere: ``12GB/s``, ``0.5 Gflop/s``.

    Parameters
    ----------
    kind : type of Quantity
        What it measures, and whether its unit may be left out.
    """

    def __init__(self, kind: type[Quantity]) -> None:
        self.kind = kind
        self.name = kind.noun

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the quantity that a user wrote, in its base unit."""
        try:
            return float(self.kind.of(value) if isinstance(value, str) else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Return the whole numbers > 0 that a text lists, each once, in its order.

    Parameters
    ----------
    text : str
        ``8``, ``1,2,5``, ``1,2,4,...,4096`` (three numbers say how it goes on, by factor or by
        step; two go on by steps) or ``1:1024`` (every number).
    option : str
        For messages.

    Raises
    ------
    click.BadParameter
        If it lists none.
    """
    try:
        numbers = _parsed(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; write 8, 1,2,4,...,4096 or 1:1024", param_hint=f"'{option}'"
        ) from error
    return tuple(dict.fromkeys(numbers))


def sizes(text: str, option: str) -> tuple[int, ...]:
    """Return two or more whole numbers > 0 that commas separate, such as ``479,1024,1``.

    Raises
    ------
    click.BadParameter
    """
    try:
        found = tuple(_whole(part) for part in text.split(","))
    except ValueError as error:
        raise click.BadParameter(f"{error}; write 479,1024,1", param_hint=f"'{option}'") from error
    if len(found) < 2:
        raise click.BadParameter(
            f"{text!r} is only one size: give the sizes of the input and of each layer after it",
            param_hint=f"'{option}'",
        )
    return found


def _parsed(text: str) -> list[int]:
    if ":" in text:
        first, last = (_whole(part) for part in _two(text.split(":"), text))
        if last < first:
            raise ValueError(f"{text!r} ends before it begins")
        _require_few(last - first + 1, text)
        return list(range(first, last + 1))
    parts = [part.strip() for part in text.split(",")]
    if "..." not in parts and "…" not in parts:
        return [_whole(part) for part in parts]
    at = parts.index("..." if "..." in parts else "…")
    begun, end = [_whole(part) for part in parts[:at]], [_whole(part) for part in parts[at + 1 :]]
    if len(begun) < 2 or len(end) != 1:
        raise ValueError(f"{text!r} needs two or more numbers before the dots, and one after")
    return [*begun, *_continued(begun, end[0], text)]


def _continued(begun: list[int], end: int, text: str) -> list[int]:
    """Return how a list goes on up to its end, which it must meet."""
    before, last = begun[-2], begun[-1]
    if last <= before:
        raise ValueError(f"{text!r} does not grow")
    is_geometric = len(begun) > 2 and last * begun[-3] == before * before
    if is_geometric and last % before:
        raise ValueError(f"{text!r} does not grow by a whole factor")
    numbers, value = [], last
    while value < end:
        value = value * (last // before) if is_geometric else value + last - before
        numbers.append(value)
        _require_few(len(numbers), text)
    if value != end:
        raise ValueError(f"{text!r} does not reach its last number: it has {value}")
    return numbers


def _two(parts: list[str], text: str) -> list[str]:
    if len(parts) != 2:
        raise ValueError(f"{text!r} is not a range FIRST:LAST")
    return parts


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15


def _whole(text: str) -> int:
    stripped = text.strip()
    if not _is_whole(stripped):
        raise ValueError(f"{stripped!r} is not a whole number > 0 of at most 15 digits")
    if int(stripped) == 0:
        raise ValueError("0 is not > 0")
    return int(stripped)


def _require_few(count: int, text: str) -> None:
    if count > _MOST:
        raise ValueError(f"{text!r} has more than {_MOST} numbers")
