"""Record what PyTorch calls, and time each call: whatever runs inside of a `with`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Call, Operator, Phase, Tensor
from ridgepoint.core.units import format_si
from ridgepoint.demands.operators import asked_of
from ridgepoint.profiling.operators.pytorch.arrays import Arrays, Described, call_of
from ridgepoint.profiling.operators.pytorch.clock import Clock, finish
from ridgepoint.profiling.operators.pytorch.compiled import Kernels
from ridgepoint.profiling.operators.pytorch.examples import Example
from ridgepoint.profiling.operators.pytorch.matching import Expected
from ridgepoint.profiling.operators.pytorch.modules import Place
from ridgepoint.profiling.operators.pytorch.survey import Survey

_IDLE_CALLS = 100
_CALLING_SHARE = 0.02
_NO_OPERATORS = ("profiler::", "prim::")
"""Namespaces of what PyTorch dispatches without being an operator on arrays."""


class _Seen:
    """Calls that are alike, in one module and phase."""

    __slots__ = ("call", "calls", "is_view", "module", "phase", "times_s")

    def __init__(self, call: Call, module: str, phase: Phase, *, is_view: bool) -> None:
        self.call, self.module, self.phase, self.is_view = call, module, phase, is_view
        self.calls: dict[int, int] = {}  # by run
        self.times_s: dict[int, float] = {}

    def add(self, run: int, elapsed_s: float) -> None:
        self.times_s[run] = self.times_s.get(run, 0.0) + elapsed_s


class Recording:
    """Operators that PyTorch calls inside of a ``with``, counted and timed as they come.

    Entered several times, each time is a run of the same program.

    Parameters
    ----------
    model : torch.nn.Module or None
        Module whose path is empty; None: each outermost module begins with its class's name.
    survey : Survey or None
        Learns of the calls what need not be learnt in every run; None: nothing.

    Attributes
    ----------
    run_s : list of float
        Wall-clock time of each run, seconds.
    survey : Survey or None
        May be taken away between runs.
    device : torch.device or None
        Device of the arrays, the host only where no array was anywhere else; None: no arrays yet.

    Notes
    -----
    A dispatch mode sees every operator below autograd and autocast, in the order in which they are
    called: composite functions as their parts, views and in-place operators too. The time of a call
    is taken around it, so no call is taken for another; it includes calling it from Python, some
    microseconds, for which there is a caution where they matter. Describing a call takes longer,
    but outside of its time. Memory is needed for each different call, not for each call.

    Only calls of the thread that entered are seen, and of the threads of its backward passes.
    """

    def __init__(
        self, model: torch.nn.Module | None = None, *, survey: Survey | None = None
    ) -> None:
        self.run_s: list[float] = []
        self.device: torch.device | None = None
        self.survey = survey
        self._sequence: list[_Seen] = []  # of the surveyed run
        self._place = Place(model)
        self._clock = Clock()
        self._mode = _mode_of(self)
        self._kernels = Kernels(
            lambda kernel, reads, run: self._noted(
                kernel, reads, {"instruction": kernel.overload, **kernel.options}, run
            )
        )
        self._seen: dict[Described, _Seen] = {}
        self._begun = 0.0
        self._is_timed_here = False

    def __enter__(self) -> Recording:
        self._place.begin()
        self._kernels.begin()
        self._mode.__enter__()
        self._begun = perf_counter()
        return self

    def __exit__(self, *raised: Any) -> None:
        finish(self.device)
        self.run_s.append(perf_counter() - self._begun)
        self._mode.__exit__(*raised)
        self._kernels.end()
        self._place.end()
        self._clock.collect()

    def forget(self) -> None:
        """Forget the times of all runs."""
        self.run_s.clear()
        for seen in self._seen.values():
            seen.calls.clear()
            seen.times_s.clear()
        self._is_timed_here = False

    @property
    def expected(self) -> tuple[Expected, ...]:
        """Every call of the surveyed run, in their order."""
        known = {id(seen): _expected(seen.call, seen.is_view) for seen in self._seen.values()}
        return tuple(known[id(seen)] for seen in self._sequence)

    def add_run(self, times_s: Iterable[float | None], run_s: float) -> None:
        """Add a run with the calls of the surveyed one, whose times were taken in another way.

        Parameters
        ----------
        times_s : iterable of float or None
            Of every call of the surveyed run; None: this run did without it, as it does without
            some views that only recording makes.
        run_s : float
            Of the whole run.
        """
        run = len(self.run_s)
        for seen, elapsed_s in zip(self._sequence, times_s, strict=True):
            if elapsed_s is not None:
                seen.calls[run] = seen.calls.get(run, 0) + 1
                seen.add(run, elapsed_s)
        self.run_s.append(run_s)

    def operators(self) -> tuple[Operator, ...]:
        """Return what was called, in the order of the first calls.

        Notes
        -----
        Where runs differ in their calls, an operator has the number of its calls in the first run
        that called it, and its time is unknown unless every run called it as often.
        """
        called = (seen for seen in self._seen.values() if seen.calls)
        return tuple(_operator(seen, len(self.run_s)) for seen in called)

    def examples(self, survey: Survey) -> tuple[Example | None, ...]:
        """Return an example of each operator, in their order; None: the survey kept none."""
        return tuple(
            survey.example(given, seen.call)
            for (_, _, given, _), seen in self._seen.items()
            if seen.calls
        )

    def cautions(self) -> tuple[Caution, ...]:
        """Return what is to be doubted about the operators."""
        return (*self._varying(), *self._calling())

    def called(self, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call an operator, and note it."""
        if function._schema.name.startswith(_NO_OPERATORS):
            return function(*arguments, **options)
        if _is_composite(function):  # without autograd it comes whole
            with self._mode:
                return function.decompose(*arguments, **options)
        return self._noted(function, arguments, options, lambda: function(*arguments, **options))

    def _noted(
        self,
        function: Any,
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        call: Callable[[], Any],
    ) -> Any:
        arrays = Arrays()
        given = arrays.given(function, arguments, options)
        device = arrays.device or _named_device(options)
        module, phase = self._place.now()
        survey = self.survey
        if survey is not None:
            survey.before(given, arguments, options)
        begun = self._clock.now(device)
        returned = call()
        ended = self._clock.now(device)
        outputs = arrays.returned(returned)
        key = (module, phase, given, outputs)
        seen = self._seen.get(key)
        if seen is None:
            seen = _Seen(call_of(given, outputs), module, phase, is_view=function.is_view)
            self._seen[key] = seen
        run = len(self.run_s)
        seen.calls[run] = seen.calls.get(run, 0) + 1
        if not arrays.is_imagined:
            self._clock.add(begun, ended, seen, run)
            self._is_timed_here = True
        if survey is not None:
            survey.after(function, arguments, options, returned, seen.call)
            self._sequence.append(seen)
        if arrays.device is not None and (self.device is None or self.device.type == "cpu"):
            self.device = arrays.device
        return returned

    def _calling(self) -> Iterable[Caution]:
        """Doubt times that were taken around calls from Python, where many of them are short."""
        if not self._is_timed_here:
            return
        called = [seen for seen in self._seen.values() if seen.times_s]
        total_s = sum(sum(seen.times_s.values()) for seen in called)
        calls = sum(sum(seen.calls.values()) for seen in called)
        one_s = calling_s()
        share = min(calls * one_s / total_s, 1.0) if total_s else 0.0
        if share > _CALLING_SHARE:
            yield Caution(
                "timed-from-python",
                f"operators were timed around calls from Python, of which one that does nothing "
                f"takes {format_si(one_s, 's')}: about {100 * share:.0f} % of all operators' time",
                "trust the times of long calls only; 'ridgepoint.operators' of a model or function "
                "with the same data every time does not have this",
                effect=share,
                on="time",
            )

    def _varying(self) -> Iterable[Caution]:
        runs = len(self.run_s)
        called = [seen for seen in self._seen.values() if seen.calls]
        varying = sum(not _is_steady(seen, runs) for seen in called)
        if varying:
            yield Caution(
                "work-varies",
                f"{varying} of {len(called)} operators were not called equally often in all "
                f"{runs} runs: the program changes its work, or its shapes, from run to run",
                "give it the same data and state every time; the calls are those of the first run "
                "that made them",
            )


@cache
def _is_composite(function: Any) -> bool:
    """Return whether a function only calls other operators, which are to be seen instead."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), key))


def calling_s() -> float:
    """Return what calling an operator that does nothing takes as it is timed from Python."""
    nothing = torch.empty(0)
    times_ns = []
    for _ in range(_IDLE_CALLS):
        begun = perf_counter_ns()
        torch.ops.aten.detach.default(nothing)
        times_ns.append(perf_counter_ns() - begun)
    return median(times_ns) / 1e9


def _expected(call: Call, is_view: bool) -> Expected:
    given = (*call.arguments, *call.options.values())
    return Expected(
        name=call.name.replace(".", "::", 1),
        shapes=tuple(one.shape for one in given if isinstance(one, Tensor) and one.shape),
        is_view=is_view,
    )


def _named_device(options: dict[str, Any]) -> torch.device | None:
    device = options.get("device")
    return None if device is None else torch.device(device)


def _is_steady(seen: _Seen, runs: int) -> bool:
    return len(seen.calls) == runs and len(set(seen.calls.values())) == 1


def _operator(seen: _Seen, runs: int) -> Operator:
    steady = _is_steady(seen, runs) and len(seen.times_s) == runs
    return Operator(
        call=seen.call,
        module=seen.module,
        phase=seen.phase,
        asked=asked_of(seen.call),
        calls=next(iter(seen.calls.values())),
        time_s=Estimate(seen.times_s[run] for run in range(runs)) if steady else None,
    )


def _mode_of(recording: Recording) -> TorchDispatchMode:
    class Mode(TorchDispatchMode):  # type: ignore[misc]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Do without what keeps the compiler off: it takes seconds to import."""
            return False

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            """Let compiled functions run compiled."""
            return True

        def __torch_dispatch__(
            self,
            function: Any,
            _types: object,
            arguments: tuple[Any, ...] = (),
            options: dict[str, Any] | None = None,
        ) -> Any:
            return recording.called(function, arguments, options or {})

    return Mode()
