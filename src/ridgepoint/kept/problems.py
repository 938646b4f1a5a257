"""Problems as users write them: formulas of their size and of the number of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ridgepoint.core.quantities import ByteAmount, Quantity, WorkAmount
from ridgepoint.core.units import AmbiguousUnit, read_quantity
from ridgepoint.kept.expressions import Expression
from ridgepoint.models.scaling import OverNodes, Problem, nothing

MakesProblem = Callable[[npt.ArrayLike], Problem]
"""From a size to the problem of that size."""
Refused = Callable[[str], Exception]
"""From what is wrong to the error that names the option or the key."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that a user gave.

    Parameters
    ----------
    expression : Expression
    refused : callable
    """

    expression: Expression
    refused: Refused

    @classmethod
    def of(
        cls, text: str, refused: Refused, *variables: str, kind: type[Quantity] | None = None
    ) -> Formula:
        """Return a formula, or a quantity of a kind such as ``20 Gflop``; refuse other texts."""
        try:
            if kind is not None and _is_quantity(text):
                text = repr(float(kind.of(text)))
            return cls(Expression(text, variables), refused)
        except ValueError as error:
            raise refused(str(error)) from error

    def value(self, **values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the value; refuse one that is negative or not finite."""
        try:
            return self.expression.value(**values)
        except ValueError as error:
            raise self.refused(str(error)) from error


def own_problem(
    formulas: Mapping[str, str],
    refused: Callable[[str, str], Exception],
    *,
    name: str = "own problem",
    work: str = "fp64",
) -> tuple[MakesProblem, bool]:
    """Return what makes a problem for a size, and whether it needs a size.

    Parameters
    ----------
    formulas : mapping of str to str
        ``op``, work; ``bytes``, memory traffic; ``exchanged``, bytes that all nodes exchange;
        ``messages``, messages that follow one another. All but ``op`` may be missing: none.
    refused : callable
        From one of these names, and what is wrong with its formula, to an error.
    name : str
    work : str
        The resource that ``op`` counts.
    """

    def formula(key: str, *variables: str, kind: type[Quantity] | None = None) -> Formula:
        return Formula.of(formulas.get(key, "0"), partial(refused, key), *variables, kind=kind)

    operations = formula("op", "n", kind=WorkAmount)
    moved = formula("bytes", "n", kind=ByteAmount)
    exchanged = formula("exchanged", "n", "p", kind=ByteAmount)
    messages = formula("messages", "n", "p")

    def make(n: npt.ArrayLike) -> Problem:
        size = np.asarray(n, dtype=np.float64)
        amount = operations.value(n=size)
        if not (amount > 0).all():
            raise refused("op", "must be > 0")
        return Problem(
            name=name,
            # A formula without n is the same for every size.
            operations=amount + 0 * size,
            dram_bytes=moved.value(n=size) + 0 * size,
            exchanged_bytes=_between_nodes(exchanged, size),
            messages=_between_nodes(messages, size),
            work=work,
        )

    used = (operations, moved, exchanged, messages)
    return make, any(formula.expression.uses("n") for formula in used)


def size_of(text: str, refused: Refused) -> float:
    """Return the size of a problem: a number, or a formula such as 2^28; at least 1."""
    value = float(Formula.of(text, refused).value())
    if value < 1:
        raise refused(f"must be at least 1, got {text!r}")
    return value


def _between_nodes(formula: Formula, size: npt.NDArray[np.float64]) -> OverNodes:
    """Return a formula over the nodes; on one node there is nobody to exchange with."""
    if not formula.expression.text.strip("0. "):
        return nothing
    return lambda p: np.where(p > 1, formula.value(n=size, p=p), 0.0)


def _is_quantity(text: str) -> bool:
    """Return whether a text is a number with a unit, and so no formula."""
    try:
        return bool(read_quantity(text))
    except AmbiguousUnit:
        return True
    except ValueError:
        return False
