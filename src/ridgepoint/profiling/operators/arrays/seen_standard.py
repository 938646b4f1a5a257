"""Arrays that follow the array API standard whose functions are recorded, of any library.

References
----------
.. [1] Consortium for Python Data API Standards, "Python array API standard",
   https://data-apis.org/array-api/2024.12
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ridgepoint.profiling.operators.arrays.calls import Recording
from ridgepoint.profiling.operators.arrays.containers import exchanged
from ridgepoint.profiling.operators.arrays.namespace import Namespace

_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
_COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_ALONE = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
_PLAIN = ("bool", "int", "float", "complex", "index", "len", "dlpack", "dlpack_device")


def _binary(name: str, method: str) -> Callable[..., Any]:
    def function(self: StandardArray, *others: Any) -> Any:
        return self._call(name, lambda one, *rest: getattr(one, method)(*rest), self, *others)

    return function


def _in_place(name: str, method: str) -> Callable[..., Any]:
    def function(self: StandardArray, other: Any) -> Any:
        def change(one: Any, by: Any, out: Any) -> Any:
            return getattr(one, method)(by)

        self.array = bare(self._call(name, change, self, other, out=self))
        return self

    return function


def _plain(method: str) -> Callable[..., Any]:
    def function(self: StandardArray, *arguments: Any, **options: Any) -> Any:
        return getattr(self.array, method)(*arguments, **options)

    return function


class StandardArray:
    """An array of another library whose functions are recorded.

    Parameters
    ----------
    array : object
    recording : Recording
    """

    __hash__ = None  # type: ignore[assignment]  # as arrays of the standard
    __slots__ = ("array", "recording")

    def __init__(self, array: Any, recording: Recording) -> None:
        self.array = array
        self.recording = recording

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.array, name)
        if name in ("T", "mT"):
            return self._call("matrix_transpose", lambda one: getattr(one, name), self)
        if isinstance(value, types.MethodType | types.BuiltinMethodType):
            return lambda *arguments, **options: self._call(
                name, lambda one, *rest, **more: getattr(one, name)(*rest, **more),
                self, *arguments, **options,
            )  # fmt: skip
        return value

    def __repr__(self) -> str:
        return repr(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self._call("getitem", lambda one, at: one[at], self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        def put(one: Any, at: Any, new: Any) -> None:
            one[at] = new

        self._call("setitem", put, self, key, value)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        space = self.array.__array_namespace__(api_version=api_version)
        return Namespace(space, self.recording, seen=seen, bare=bare)

    def _call(
        self, name: str, function: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        named = {key: bare(one) for key, one in options.items()}
        result = self.recording.call(f"numpy.{name}", function, bare(arguments), named)
        return seen(result, self.recording)


for _name, _function in _OPERATORS.items():
    setattr(StandardArray, f"__{_name}__", _binary(_function, f"__{_name}__"))
    setattr(StandardArray, f"__r{_name}__", _binary(_function, f"__r{_name}__"))
    setattr(StandardArray, f"__i{_name}__", _in_place(_function, f"__i{_name}__"))
for _name, _function in {**_COMPARISONS, **_ALONE}.items():
    setattr(StandardArray, f"__{_name}__", _binary(_function, f"__{_name}__"))
for _name in _PLAIN:
    setattr(StandardArray, f"__{_name}__", _plain(f"__{_name}__"))


def seen(value: Any, recording: Recording) -> Any:
    """Return a value with the arrays inside it recorded."""
    return exchanged(value, _is_array, lambda one: StandardArray(one, recording))


def bare(value: Any) -> Any:
    """Return a value with plain arrays for those that are recorded."""
    return exchanged(value, lambda one: isinstance(one, StandardArray), lambda one: one.array)


def _is_array(value: Any) -> bool:
    return (
        hasattr(value, "__array_namespace__")
        and not isinstance(value, type | np.ndarray | StandardArray)
        and hasattr(value, "shape")
    )
