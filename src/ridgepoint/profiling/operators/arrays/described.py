"""Arguments and results of one call, described without their data, quickly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from ridgepoint.core.operators import Tensor
from ridgepoint.demands.operators.numpy.elementwise import COSTS, POWERS

_NAMES = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_ITEM_BYTES = {"bool": 1, "complex64": 8, "complex128": 16, "fp64": 8, "fp32": 4, "fp16": 2}
_DEPTH = 2  # of lists in arguments; what is deeper is named by its type alone
_HOST = 1  # the host's memory in DLPack

Values = Literal["none", "whole", "all"]
_KEPT: Mapping[Values, tuple[type, ...]] = {
    "none": (bool, str, type(None)),
    "whole": (bool, str, type(None), int),
    "all": (bool, str, type(None), int, float),
}


class Array(NamedTuple):
    """An array: what `Tensor` says of it, in a form that is quick to make and to compare."""

    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    key: int = 0
    strides: tuple[int, ...] | None = None
    start: int = 0

    @property
    def tensor(self) -> Tensor:
        """The same as a value that profiles have."""
        return Tensor(**self._asdict())


def tensors(value: Any) -> Any:
    """Return what was described with each array as a `Tensor`."""
    if isinstance(value, Array):
        return value.tensor
    return tuple(map(tensors, value)) if isinstance(value, tuple) else value


@cache
def values_of(name: str) -> Values:
    """Return which numbers of an operator's arguments matter."""
    short = name.removeprefix("numpy.")
    if short in POWERS:
        return "all"
    return "none" if short in COSTS else "whole"


class Described:
    """Describes the arrays of one call, and which of them share memory.

    Parameters
    ----------
    values : {"none", "whole", "all"}
        Which numbers are kept: none, those of whole numbers, or all.
    """

    def __init__(self, *, values: Values) -> None:
        self._memories: dict[int, tuple[int, int, int]] = {}
        self._kept = _KEPT[values]

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return an argument, described."""
        if isinstance(value, np.generic):
            return _number(value)
        if isinstance(value, self._kept):
            return value
        if isinstance(value, int | float | complex):
            return _number(value)
        if _is_array(value):
            return self._array(value)
        if isinstance(value, list | tuple) and depth < _DEPTH:
            return tuple([self.value(one, depth + 1) for one in value])
        return _named(value)

    def arrays(self, result: Any) -> Iterator[Array]:
        """Yield the arrays of a result."""
        if isinstance(result, float | complex | np.generic):
            yield _number(result)
        elif _is_array(result):
            yield self._array(result)
        elif isinstance(result, list | tuple):
            for one in result:
                yield from self.arrays(one)

    def _array(self, array: Any) -> Array:
        plain = array if isinstance(array, np.ndarray) else _as_numpy(array)
        if plain is None:
            dtype = type_name(array.dtype)
            shape = tuple(int(size) for size in array.shape)
            return Array(shape, dtype, math.prod(shape) * _item_bytes(dtype))
        key, start = self._memory(plain)
        dtype = type_name(plain.dtype)
        if plain.flags.c_contiguous:
            return Array(plain.shape, dtype, plain.nbytes, key, None, start)
        size, strides = max(plain.itemsize, 1), plain.strides
        stored = math.prod(n for n, stride in zip(plain.shape, strides, strict=True) if stride)
        nbytes = stored * plain.itemsize if plain.size else 0
        steps = tuple(stride // size for stride in strides)
        return Array(plain.shape, dtype, nbytes, key, steps, start)

    def _memory(self, array: np.ndarray[Any, Any]) -> tuple[int, int]:
        """Return the number of an array's memory in this call, and where in it it begins."""
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        place = array.__array_interface__["data"][0]
        if owner.flags.c_contiguous:
            low = place if owner is array else owner.__array_interface__["data"][0]
            high = low + owner.nbytes
        else:
            low, high = np.lib.array_utils.byte_bounds(owner)
        for key, (begin, end, first) in self._memories.items():
            if low < end and begin < high:
                self._memories[key] = min(low, begin), max(high, end), first
                return key, place - first
        key = len(self._memories) + 1
        self._memories[key] = low, high, place
        return key, 0


def _number(value: object) -> Array:
    """Return a number as an array of one element whose value does not matter.

    A number of Python is in no memory that an operator reads.
    """
    if isinstance(value, np.generic):
        return Array((), type_name(value.dtype), value.nbytes)
    dtype = "int64" if isinstance(value, int) else "fp64"
    return Array((), "complex128" if isinstance(value, complex) else dtype, 0)


def _named(value: Any) -> str:
    """Return a name for what is neither array nor number."""
    if isinstance(value, slice):
        return "slice"
    if isinstance(value, np.dtype | type):
        return type_name(value)
    return str(getattr(value, "__name__", None) or type(value).__name__)


@cache
def type_name(dtype: Any) -> str:
    """Return our name of a type of NumPy or of the array API standard.

    Examples
    --------
    >>> type_name(np.dtype("f4"))
    'fp32'
    """
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = str(name).rpartition(".")[2]
    return _NAMES.get(name, name)


def _item_bytes(dtype: str) -> int:
    digits = "".join(one for one in dtype if one.isdigit())
    return _ITEM_BYTES.get(dtype) or max(int(digits or 64) // 8, 1)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (
        hasattr(value, "__array_namespace__") and not isinstance(value, type)
    )


def _as_numpy(array: Any) -> np.ndarray[Any, Any] | None:
    """Return an array of another library in the host's memory, without copying; None: cannot."""
    try:
        if array.__dlpack_device__()[0] != _HOST:
            return None
        return np.from_dlpack(array)
    except Exception:  # whatever a library raises where it cannot hand its data over
        return None
