"""Profile functions of NumPy's arrays, and of arrays that follow the array API standard."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Operator, OperatorProfile
from ridgepoint.core.timed import Timed
from ridgepoint.profiling.calls.loops import FAILURES
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.operators.arrays import seen_numpy, seen_standard
from ridgepoint.profiling.operators.arrays.calls import Recording
from ridgepoint.profiling.operators.checking import checked
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.repeating import timed_in_turn, warm_up

_UNSEEN = 0.1
"""Share of the time outside of what was recorded from which on it is worth a caution."""

_LONGER = 0.1
"""By how much of the runtime the operators' times may add up to more before that is a caution."""


def profile(
    function: Callable[..., object], inputs: tuple[object, ...], options: Options
) -> OperatorProfile:
    """Profile a function of arrays: each call of its library that the arrays take part in.

    Parameters
    ----------
    function : callable
    inputs : tuple
        Arrays, also within lists, tuples and dictionaries, and other values.
    options : Options

    Raises
    ------
    CannotMeasure
        If no input is an array, or the function raises or takes longer than the time limit.
    """
    recording = Recording(keeps=options.check)
    shown = seen_standard.seen(seen_numpy.seen(inputs, recording), recording)
    library = _library(inputs, shown, options)

    def plainly() -> None:
        function(*inputs)

    def recorded() -> int:
        with _refusing_subclasses(options), recording.run():
            function(*shown)
        return len(recording.run_s)

    options.report("timing plain runs and operators, in turn")
    warm_up(plainly, options)
    timed = timed_in_turn(plainly, recorded, options)
    operators = recording.operators()
    doubts: tuple[Caution, ...] = ()
    if options.check:
        operators, doubts = checked(operators, recording.makers(), options)
    return OperatorProfile(
        program=options.name,
        library=library,
        device="cpu",
        operators=operators,
        timed=timed,
        attached_s=Estimate(recording.run_s),
        threads=_threads(),
        context=context_here(),
        cautions=(
            *recording.cautions(),
            *_unseen(operators, recording, timed, options),
            *_longer(operators, timed),
            *timed.cautions,
            *doubts,
        ),
    )


def _library(inputs: tuple[object, ...], shown: tuple[object, ...], options: Options) -> str:
    """Return the library of the inputs, with its version.

    Raises
    ------
    CannotMeasure
        If no input is an array in the host's memory, or an option does not fit.
    """
    if options.backward is not None or options.optimizer is not None:
        raise CannotMeasure(
            options.what,
            reason="backward= and optimizer= need a library that differentiates",
            remedy="leave them out, or use PyTorch or JAX",
        )
    found = _arrays(shown)
    if not found:
        raise CannotMeasure(
            options.what,
            reason="none of its inputs is an array, so that no call of it would be seen",
            remedy="pass the arrays that it works on as arguments, instead of making them inside",
        )
    if any(isinstance(one, seen_numpy.SeenArray) for one in found):
        return f"NumPy {np.__version__}"
    array = found[0].array
    if getattr(array, "__dlpack_device__", lambda: (1, 0))()[0] != 1:
        raise CannotMeasure(
            options.what,
            reason="its arrays are not in the memory of the host, and calls on other devices "
            "return before they have finished",
            remedy="use arrays on the CPU",
        )
    space = array.__array_namespace__()
    version = getattr(space, "__version__", "")
    return f"{space.__name__.partition('.')[0]} {version}".strip()


@contextlib.contextmanager
def _refusing_subclasses(options: Options) -> Iterator[None]:
    """Refuse a function that fails with arrays whose calls are recorded, and did not without.

    Raises
    ------
    CannotMeasure
    """
    try:
        yield
    except FAILURES as error:
        raise CannotMeasure(
            options.what,
            reason=f"it does not take arrays whose calls are recorded, which are of a class of "
            f"their own ({type(error).__name__}: {str(error).partition(chr(10))[0]})",
            remedy="measure the whole function: ridgepoint.measure(function, *inputs)",
        ) from error


def _arrays(value: object) -> list[Any]:
    if isinstance(value, seen_numpy.SeenArray | seen_standard.StandardArray):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return [array for one in value for array in _arrays(one)]
    return []


def _threads() -> int:
    """Return the threads of the linear algebra library; all else runs on one."""
    from threadpoolctl import threadpool_info

    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)


def _unseen(
    operators: tuple[Operator, ...], recording: Recording, timed: Timed, options: Options
) -> tuple[Caution, ...]:
    """Return a caution about time outside of all calls that were seen.

    Its share in recorded runs contains what recording costs around calls; that of plain runs drifts
    with the machine between both kinds of runs. The smaller one is sure.
    """
    if not operators:
        raise CannotMeasure(
            options.what,
            reason="it calls no function with its arrays that could be seen",
            remedy="let it use its arguments as arrays: numpy.asarray() of one hides it, and so "
            "does compiled code",
        )
    share = min(1 - _inside_s(operators) / timed.runtime_s.median, median(recording.unseen_shares))
    if share < _UNSEEN:
        return ()
    return (
        Caution(
            "time-unseen",
            f"{100 * share:.0f} % of the time is in no call that was seen: in Python itself, on "
            "arrays that the function makes, or in libraries that take plain arrays",
            "pass arrays that it makes as arguments; work on whole arrays instead of elements",
        ),
    )


def _inside_s(operators: tuple[Operator, ...]) -> float:
    return sum(one.time_s.median for one in operators if one.time_s is not None)


def _longer(operators: tuple[Operator, ...], timed: Timed) -> Iterator[Caution]:
    """Yield a caution if the operators' times add up to clearly more than a plain run."""
    longer = _inside_s(operators) / timed.runtime_s.median - 1
    if longer > _LONGER:
        yield Caution(
            "operators-longer",
            f"the operators' times add up to {100 * longer:.0f} % more than a plain run: "
            "runs differed, or results were written over temporary arrays (as NumPy does in "
            "a * b + c * d with large arrays), which cannot be done while calls are recorded",
            "read the times as shares of the whole, whose time is that of plain runs; out= and += "
            "do the same in both kinds of runs",
            effect=longer,
            on="time",
        )
