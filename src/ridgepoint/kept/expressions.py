"""Formulas that a user types, such as ``8*n^2*(p-1)``: arithmetic only."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_LONGEST = 200
_OPERATORS: Mapping[type, Callable[[Array, Array], Array]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_SIGNS: Mapping[type, Callable[[Array], Array]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "sqrt": np.sqrt,
    "log": np.log,
    "log2": np.log2,
    "ceil": np.ceil,
    "floor": np.floor,
    "min": np.minimum,
    "max": np.maximum,
}
_TAKES_TWO = ("min", "max")


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula of some variables.

    Parameters
    ----------
    text : str
        Numbers, variables, ``+ - * / ^`` (or ``**``), brackets, and sqrt, log, log2, ceil, floor,
        and min and max of two.
    variables : tuple of str
        Variables that it may contain.

    Raises
    ------
    ValueError
        If the text is no such formula.

    Examples
    --------
    >>> Expression("8*n^2*(p-1)", ("n", "p")).value(n=10.0, p=[1.0, 3.0])
    array([   0., 1600.])
    """

    text: str
    variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Nothing is computed with plain integers, whose powers have no end.
        _checked(_tree(self.text), self)

    def uses(self, variable: str) -> bool:
        """Return whether a variable occurs in it."""
        return any(
            isinstance(node, ast.Name) and node.id == variable
            for node in ast.walk(_tree(self.text))
        )

    def value(self, **values: npt.ArrayLike) -> Array:
        """Return the value of the formula; arrays broadcast.

        Raises
        ------
        ValueError
            If it is not finite and >= 0.
        """
        given = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        with np.errstate(all="ignore"):
            found = np.asarray(_evaluate(_tree(self.text), given))
        wrong = ~(np.isfinite(found) & (found >= 0))
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            where = ", ".join(
                f"{name} = {np.broadcast_to(value, found.shape)[first]:g}"
                for name, value in given.items()
                if self.uses(name)
            )
            raise ValueError(
                f"{self.text!r} must be finite and >= 0, got {found[first]:g}"
                + (f" for {where}" if where else "")
            )
        return found


def _tree(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ValueError(f"a formula must have at most {_LONGEST} characters, got {len(text)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is legal Python yet odd, such as 1if
            # In Python ^ is another operator, which binds less than +.
            return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text!r} is not a formula") from error


def _checked(node: ast.AST, expression: Expression) -> None:
    """Refuse everything that is not arithmetic."""
    names = (*expression.variables, *_FUNCTIONS)
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name(id=name) if name in expression.variables:
            return
        case ast.BinOp() if type(node.op) in _OPERATORS:
            _checked(node.left, expression)
            _checked(node.right, expression)
        case ast.UnaryOp() if type(node.op) in _SIGNS:
            _checked(node.operand, expression)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and len(
            args
        ) == 1 + (name in _TAKES_TWO):
            for argument in args:
                _checked(argument, expression)
        case _:
            part = ast.unparse(node)
            raise ValueError(
                f"{expression.text!r} contains {part!r}; a formula may contain numbers, + - * "
                f"/ ^, brackets and {', '.join(names)}"
            )


def _evaluate(node: ast.AST, values: Mapping[str, Array]) -> Array:
    match node:
        case ast.Constant(value=int() | float() as number):
            return np.asarray(float(number))
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp():
            left, right = _evaluate(node.left, values), _evaluate(node.right, values)
            return _OPERATORS[type(node.op)](left, right)
        case ast.UnaryOp():
            return _SIGNS[type(node.op)](_evaluate(node.operand, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_evaluate(argument, values) for argument in args))
    raise AssertionError("checked before")
