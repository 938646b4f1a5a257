"""Profile the operators of an array program, whatever its library: PyTorch, JAX, NumPy."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Machine, caches_of
from ridgepoint.core.notebook import shows_progress
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.profiling.only import only_measurement
from ridgepoint.profiling.operators.options import Options

__all__ = ["operators"]


@shows_progress("step", keyword="report")
def operators(
    function: Callable[..., Any],
    *inputs: object,
    machine: Machine | None = None,
    repetitions: int | None = None,
    limit_s: float = 60.0,
    backward: Callable[[Any], Any] | str | None = None,
    optimizer: Any = None,
    check: bool = False,
    name: str | None = None,
    report: Callable[[str], None] | None = None,
) -> OperatorProfile:
    """Profile the operators of ``function(*inputs)``: what each asks for, and its time.

    Parameters
    ----------
    function : callable
        A module or function of PyTorch, a function of JAX (also jitted), or a function of NumPy or
        of arrays that follow the array API standard. It is called many times, so it must do the
        same work every time; its result is discarded.
    *inputs : object
        Its arguments.
    machine : Machine or None
        Machine whose caches are simulated if `check` is asked for; None: this host's.
    repetitions : int or None
        Number of samples of each time; None: as many as the interval of the runtime needs.
    limit_s : float
        Time limit of all runs together, seconds: fewer are made if necessary.
    backward : callable or "sum" or None
        Loss of the result, from which a backward pass starts; ``"sum"``: the sum of all results.
        None: no backward pass; a module of PyTorch then computes no gradients.
    optimizer : torch.optim.Optimizer or type or None
        Optimizer whose step follows the backward pass, or its class. None: none.
    check : bool
        Whether one call of each operator is counted too, in a process of its own: its
        instructions, and its traffic in simulated caches, warm and cold. This takes minutes;
        cautions tell where counts and rules differ by more than 5 % (work) or 10 % (bytes).
    name : str or None
        Name in tables and figures; None: the function's own.
    report : callable or None
        Called with a description of each step as it begins. None: nothing, except in a notebook.

    Returns
    -------
    OperatorProfile
        With `summary`, `plot`, `table` and `frame`; a notebook shows report and figure.

    Raises
    ------
    CannotMeasure
        If the function raises or exits, or takes longer than `limit_s`; if an option does not fit
        it; if another measurement is under way in this process; if no library of arrays is at work.
    ValueError
        If an option is impossible.

    Notes
    -----
    Runs with nothing attached, which give the program's time (`timed`), take turns with runs whose
    operators are timed (`attached_s`), which take longer: a machine that becomes faster or slower
    meanwhile changes both alike. Parameters, buffers and gradients are left as they were.
    """
    _require_possible(function, repetitions=repetitions, limit_s=limit_s, backward=backward)
    options = Options(
        name=name or _name_of(function),
        repetitions=repetitions,
        limit_s=limit_s,
        backward=backward,
        optimizer=optimizer,
        report=report or (lambda what: None),
        check=check,
        caches=caches_of(machine),
    )
    library = importlib.import_module(f"{__name__}.{_library(function, inputs)}.profile")
    with only_measurement():
        found: OperatorProfile = library.profile(function, inputs, options)
    return found


def _library(function: object, inputs: Iterable[object]) -> str:
    """Return the folder of a program's library: that of the function, or else of its inputs.

    No library is imported for that: an array of one can only be there if its library is.
    """
    given = [function, getattr(function, "__self__", None), *_leaves(inputs)]
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and any(
        isinstance(one, (torch.nn.Module, torch.Tensor, torch.jit.ScriptFunction)) for one in given
    ):
        return "pytorch"
    if jax is not None and (
        hasattr(function, "lower")
        or isinstance(function, jax.stages.Compiled)
        or any(isinstance(one, jax.Array) for one in given)
    ):
        return "xla"
    if any(hasattr(one, "__array_namespace__") for one in given):
        return "arrays"
    module = (getattr(function, "__globals__", None) or {}).values()
    for library, name in (("torch", "pytorch"), ("jax", "xla")):
        if sys.modules.get(library) is not None and any(
            getattr(one, "__name__", "").partition(".")[0] == library for one in module
        ):
            return name
    return "arrays"


def _leaves(values: Iterable[object]) -> Iterable[object]:
    for value in values:
        if isinstance(value, list | tuple | set):
            yield from _leaves(value)
        elif isinstance(value, dict):
            yield from _leaves(value.values())
        else:
            yield value


def _name_of(function: object) -> str:
    function = getattr(function, "_orig_mod", function)  # what torch.compile was given
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if owner is None else f"{type(owner).__name__}.{name}"


def _require_possible(
    function: object, *, repetitions: int | None, limit_s: float, backward: object
) -> None:
    """Refuse options that no library can follow.

    Raises
    ------
    CannotMeasure, ValueError
    """
    for what, value in (("repetitions", repetitions), ("limit_s", limit_s)):
        if value is not None and not value > 0:
            raise ValueError(f"{what} must be > 0, got {value!r}")
    if not (backward is None or backward == "sum" or callable(backward)):
        raise ValueError(f"backward must be a loss function, 'sum' or None, got {backward!r}")
    if not callable(function):
        raise CannotMeasure(
            "cannot profile operators",
            reason=f"{type(function).__name__} is no model and no function",
            remedy="give a module or a function, and its inputs after it",
        )
