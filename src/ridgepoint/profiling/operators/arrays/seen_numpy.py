"""Arrays of NumPy whose functions are recorded: a subclass that hands calls to a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ridgepoint.demands.operators.numpy.rules import RULES
from ridgepoint.demands.operators.rule import names
from ridgepoint.profiling.operators.arrays.calls import Recording
from ridgepoint.profiling.operators.arrays.containers import exchanged
from ridgepoint.profiling.operators.arrays.namespace import Namespace
from ridgepoint.profiling.operators.arrays.selected import selected

_METHODS = names(
    "all any argmax argmin argpartition argsort astype choose clip compress copy cumprod cumsum "
    "diagonal dot fill flatten max mean min nonzero partition prod put ravel repeat reshape "
    "round searchsorted sort std sum swapaxes take trace transpose var"
)
"""Methods that NumPy does not hand to subclasses as functions."""


def seen(value: Any, recording: Recording) -> Any:
    """Return a value with the arrays inside it recorded, in the same memory."""

    def view(array: np.ndarray[Any, Any]) -> SeenArray:
        shown = array.view(SeenArray)
        shown.recording = recording
        return shown

    return exchanged(value, lambda one: type(one) is np.ndarray, view)


class SeenArray(np.ndarray):
    """An array of NumPy whose functions are recorded."""

    recording: Recording | None = None

    def __array_finalize__(self, source: Any) -> None:
        """Record what is derived from an array that is recorded."""
        self.recording = getattr(source, "recording", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Call a universal function, and note it."""
        recording = _recording(inputs, options)
        plain, named = bare(inputs), {key: bare(one) for key, one in options.items()}
        out = named.pop("out", None)
        if out is not None:
            named["out"] = out[0] if len(out) == 1 else out
        called = ufunc if method == "__call__" else getattr(ufunc, method)
        if recording is None:
            return called(*plain, **named)
        name = f"numpy.{ufunc.__name__}{'' if method == '__call__' else f'.{method}'}"
        elements = _named(plain[0], plain[1]) if method == "at" else None
        result = recording.call(name, called, plain, named, elements=elements)
        return _same_or_seen(result, options.get("out"), recording)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[Any],
        args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Call a function of NumPy, and note it, or what it calls if no rule knows it."""
        arguments = tuple(args)
        recording = _recording(arguments, kwargs)
        plain, named = bare(arguments), {key: bare(one) for key, one in kwargs.items()}
        if recording is None:
            return func(*plain, **named)
        name = _name(func)
        if name not in RULES:
            before = recording.calls
            with recording.inside(name.removeprefix("numpy.")):
                result = super().__array_function__(func, types, arguments, dict(kwargs))
            if recording.calls > before:
                return result
        elements = selected(name, plain, named)
        result = recording.call(name, func, plain, named, elements=elements)
        return _same_or_seen(result, kwargs.get("out"), recording)

    def __getitem__(self, key: Any) -> Any:
        """Take elements, and note it."""
        return self._method("getitem", np.ndarray.__getitem__, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set elements, and note it."""
        if self.recording is None:
            np.ndarray.__setitem__(self, key, value)
            return
        plain = bare((self, key, value))
        self.recording.call(
            "numpy.setitem", np.ndarray.__setitem__, plain, {}, elements=_named(plain[0], plain[1])
        )

    @property
    def T(self) -> Any:  # noqa: N802
        """The transposed array."""
        return self.transpose()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return NumPy with its functions recorded, as the array API standard has it."""
        if self.recording is None:
            return np
        return Namespace(np, self.recording, seen=seen, bare=bare)

    def _method(
        self, name: str, function: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        plain = bare((self, *arguments))
        named = {key: bare(one) for key, one in options.items()}
        if self.recording is None:
            return function(*plain, **named)
        result = self.recording.call(f"numpy.{name}", function, plain, named)
        return _same_or_seen(result, options.get("out"), self.recording)


def _overridden(name: str) -> Callable[..., Any]:
    function = getattr(np.ndarray, name)

    def method(self: SeenArray, *arguments: Any, **options: Any) -> Any:
        return self._method(name, function, *arguments, **options)

    method.__name__ = name
    method.__doc__ = f"Call ``numpy.ndarray.{name}``, and note it."
    return method


for _one in _METHODS:
    setattr(SeenArray, _one, _overridden(_one))


def _name(function: Callable[..., Any]) -> str:
    """Return a function's public name: ``numpy.linalg.cholesky``."""
    module = getattr(function, "__module__", None) or "numpy"
    parts = [part for part in module.split(".") if not part.startswith("_") and part != "core"]
    if parts[:2] in (["numpy", "lib"], ["numpy", "matrixlib"]):
        parts = parts[:1]
    return ".".join((*parts, function.__name__))


def bare(value: Any) -> Any:
    """Return a value with plain arrays for those that are recorded."""
    return exchanged(
        value, lambda one: isinstance(one, SeenArray), lambda one: one.view(np.ndarray)
    )


def _same_or_seen(result: Any, out: Any, recording: Recording) -> Any:
    """Return the array that a caller gave for the result, or the result with its calls recorded."""
    given = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(given, SeenArray | tuple) and given is not None:
        return given
    return seen(result, recording)


def _named(array: np.ndarray[Any, Any], key: Any) -> int:
    """Return how many elements a key names, each as often as it does."""
    return int(np.size(np.broadcast_to(np.int8(0), array.shape)[key]))


def _recording(arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Recording | None:
    found: list[Recording] = []

    def note(one: SeenArray) -> SeenArray:
        if one.recording is not None:
            found.append(one.recording)
        return one

    exchanged((*arguments, *options.values()), lambda one: isinstance(one, SeenArray), note)
    return found[0] if found else None
