"""How a rule states what a call asks for: its arguments by name, its precisions and its bytes."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.core.resources import INTEGERS
from ridgepoint.demands.operators.arrays import COMPLEX, REAL, distinct_bytes, is_integer
from ridgepoint.demands.operators.rule import NoRule

COMPLEX_PRODUCT = 4
"""A complex multiply-add is 4 multiplications and 4 additions, a real one is 1 and 1."""


def given(call: Call, *names: str, **defaults: object) -> Any:
    """Return a call's arguments by name, in the order of the operator's schema.

    Parameters
    ----------
    call : Call
    *names : str
        Arguments without which there is no call.
    **defaults : object
        The arguments after them, and what they are where the call does not say.

    Raises
    ------
    NoRule
        If one that must be there is missing.
    """
    found = dict(zip((*names, *defaults), call.arguments, strict=False))
    found |= {name: value for name, value in call.options.items() if name not in found}
    missing = [name for name in names if name not in found]
    if missing:
        raise NoRule(f"{call.name} was called without {missing[0]!r}")
    return SimpleNamespace(**{**defaults, **found})


def array(value: object, what: str) -> Tensor:
    """Return an argument that must be an array.

    Raises
    ------
    NoRule
        If it is none.
    """
    if not isinstance(value, Tensor):
        raise NoRule(f"its argument {what!r} is not an array")
    return value


def arrays(values: object) -> list[Tensor]:
    """Return all arrays in an argument, which may be a list or one array or None."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, list | tuple):
        return [one for value in values for one in arrays(value)]
    return []


def in_place(call: Call) -> bool:
    """Return whether a call writes into its first argument: its name ends in an underscore."""
    return call.name.endswith("_") and not call.name.endswith("__")


def written_by(call: Call) -> tuple[Tensor, ...]:
    """Return the arrays that a call writes: its results, or what it changes in place."""
    if not call.outputs and in_place(call) and call.arguments:
        return tuple(arrays(call.arguments[0]))
    return call.outputs


def read_by(call: Call) -> tuple[Tensor, ...]:
    """Return the arrays that a call reads: all inputs but those given for its results."""
    if "out" not in call.overload:
        return call.inputs
    options = [
        value
        for name, value in call.options.items()
        if not (name.startswith("out") or (isinstance(value, Tensor) and value in call.outputs))
    ]
    return (*arrays(call.arguments), *arrays(options))


def ask(
    call: Call,
    kind: str,
    *,
    dtype: str = "",
    products: float = 0.0,
    flop: float = 0.0,
    complex_flop: float | None = None,
    functions: float = 0.0,
    read: Iterable[Tensor] | float | None = None,
    written: Iterable[Tensor] | float | None = None,
    workspace_bytes: float | None = 0.0,
    rule: str = "",
    unknown: str = "",
) -> Asked:
    """Return what a call asks for, its work in the right precisions.

    Parameters
    ----------
    call : Call
    kind : str
    dtype : str
        Type of the elements that are worked on; empty: that of the first result.
    products : float
        Flop of products that are summed (two for each multiply-add), as if of real numbers.
    flop : float
        All other flop, as if of real numbers.
    complex_flop : float or None
        All other flop, where the elements are complex; None: unknown, unless `flop` is 0.
    functions : float
    read, written : iterable of Tensor, float or None
        Arrays or bytes; None: all arrays that the call reads, or writes.
    workspace_bytes : float or None
    rule : str

    Notes
    -----
    Products are in the precision of their factors, in which units for matrices are fed, whatever
    they are summed in. All else on fp16 and bf16 is done in fp32: neither CPUs nor GPUs that run
    PyTorch do it in less. Work on integers other than products is computation of addresses, and
    is none.
    """
    read = read_by(call) if read is None else read
    written = written_by(call) if written is None else written
    dtype = dtype or _first_type(written, call)
    for one in (*call.inputs, *call.outputs):
        if one.layout not in ("strided", "_mkldnn", "mkldnn"):
            raise NoRule(f"how much an array of layout {one.layout} holds is in its data")
    known, why = _work(dtype, products, flop, complex_flop)
    return Asked(
        kind=kind,
        work=None if unknown else known,
        read_bytes=_bytes(read),
        write_bytes=_bytes(written),
        workspace_bytes=workspace_bytes,
        functions=float(functions),
        rule=rule,
        unknown=unknown or why,
    )


def _work(
    dtype: str, products: float, flop: float, complex_flop: float | None
) -> tuple[dict[str, float] | None, str]:
    """Return the work by resource, and why it is unknown."""
    work: dict[str, float] = {}
    try:
        for name, amount in (*_products(dtype, products), *_other(dtype, flop, complex_flop)):
            # Formulas such as n - m hold for arrays that are not empty.
            work[name] = work.get(name, 0.0) + max(float(amount), 0.0)
    except NoRule as error:
        return None, str(error)
    return work, ""


def no_bytes(call: Call, kind: str) -> Asked:
    """Return that a call asks for nothing: a view, or a question about an array."""
    return Asked(kind=kind, work={}, read_bytes=0.0, write_bytes=0.0)


def _bytes(given_as: Iterable[Tensor] | float) -> float:
    return float(given_as) if isinstance(given_as, int | float) else distinct_bytes(given_as)


def _first_type(written: Iterable[Tensor] | float, call: Call) -> str:
    results = call.outputs or (() if isinstance(written, int | float) else tuple(written))
    results = results or call.inputs
    return results[0].dtype if results else "fp32"


def _products(dtype: str, flop: float) -> list[tuple[str, float]]:
    if not flop:
        return []
    if dtype in REAL:
        return [(dtype, flop)]
    if dtype in COMPLEX:
        return [(COMPLEX[dtype], COMPLEX_PRODUCT * flop)]
    integer = dtype.replace("uint", "int").replace("qint", "int")
    if integer in INTEGERS:
        return [(integer, flop)]
    raise NoRule(f"no ceiling is measured for products of {dtype}")


def _other(dtype: str, flop: float, complex_flop: float | None) -> list[tuple[str, float]]:
    if dtype in COMPLEX and (flop or complex_flop):
        if complex_flop is None:
            raise NoRule("the rule says nothing of complex numbers")
        return [(_worked_in(COMPLEX[dtype]), complex_flop)] if complex_flop else []
    if not flop or is_integer(dtype):
        return []
    if dtype in REAL:
        return [(_worked_in(dtype), flop)]
    raise NoRule(f"no ceiling is measured for work on {dtype}")


def _worked_in(dtype: str) -> str:
    return "fp64" if dtype == "fp64" else "fp32"
