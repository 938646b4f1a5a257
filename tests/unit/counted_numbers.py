"""Numbers that count what is done with them, for rules that state work by formula."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

DONE: Counter[str] = Counter()
"""What was done with all numbers since `counting` began."""


class Number(float):
    """A number whose additions, subtractions, products, quotients and roots are counted."""

    def _done(self, value: float, what: str = "flop") -> Number:
        DONE[what] += 1
        return Number(value)

    def __add__(self, other: float) -> Number:
        return self._done(float(self) + float(other))

    def __sub__(self, other: float) -> Number:
        return self._done(float(self) - float(other))

    def __mul__(self, other: float) -> Number:
        return self._done(float(self) * float(other))

    def __truediv__(self, other: float) -> Number:
        return self._done(float(self) / float(other))

    def __rsub__(self, other: float) -> Number:
        return Number(other) - self

    def __rtruediv__(self, other: float) -> Number:
        return Number(other) / self

    def __neg__(self) -> Number:
        return Number(-float(self))

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self) -> Number:
        """Return its root."""
        return self._done(math.sqrt(abs(self)))

    def function(self, function: Callable[[float], float]) -> Number:
        """Return a function of it, such as exp."""
        return self._done(function(float(self)), "functions")


def exp(number: Number) -> Number:
    """Return e to a number, which is a function."""
    return number.function(math.exp)


def total(numbers: Iterable[Number]) -> Number:
    """Return a sum, which of n numbers is n - 1 additions."""
    first, *others = numbers
    for other in others:
        first = first + other
    return first


def numbers(count: int, start: int = 1) -> list[Number]:
    """Return several distinct numbers."""
    return [Number((start + 7 * at) % 11 / 11 + 0.1) for at in range(count)]


def counting(function: Callable[[], object]) -> tuple[int, int]:
    """Return the flop and the evaluations of functions that a computation does."""
    DONE.clear()
    function()
    return DONE["flop"], DONE["functions"]
