"""Arguments and results of PyTorch's operators, described without their data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ridgepoint.core.operators import Call, Tensor

Described = tuple[Any, ...]
"""What tells calls of an operator apart: hashable, and quick to make."""

_NAMES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.complex32: "complex32",
    torch.complex64: "complex64",
    torch.complex128: "complex128",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}
_ARRAY = object()  # marks what describes an array
_NUMBERS = ("number", "float", "Tensor")  # an operator of arrays takes numbers in their place
_INTEGERS = ("int", "SymInt")


def type_name(dtype: torch.dtype) -> str:
    """Return the name of a type: ``fp32``, ``int64``, ``float8_e4m3fn``."""
    return _NAMES.get(dtype) or str(dtype).removeprefix("torch.")


def type_named(name: str) -> torch.dtype:
    """Return the type of this name, as `type_name` gives it."""
    found: torch.dtype = _TYPES.get(name) or getattr(torch, name)
    return found


class Free:
    """A number whose value changes no work, unless it is 0 or 1: equal to any other then.

    A sum with a factor of 1 has no product, and with 0 nothing to add.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Free) and self._telling == other._telling

    def __hash__(self) -> int:
        return hash(self._telling)

    @property
    def _telling(self) -> Any:
        return self.value if self.value in (0, 1) else None


class Arrays:
    """Describes what one call is given and returns, and which of it shares memory."""

    __slots__ = ("_memories", "device", "is_imagined")

    def __init__(self) -> None:
        self.device: torch.device | None = None
        self.is_imagined = False  # no data: nothing is computed
        self._memories: dict[int, tuple[int, int]] = {}

    def given(
        self, function: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> Described:
        """Return what is to be known of a call's arguments, by position and by name."""
        free = free_arguments(function)
        return (
            function,
            tuple(self._described(value, is_free=at in free) for at, value in enumerate(arguments)),
            tuple(
                (name, self._described(value, is_free=name in free))
                for name, value in options.items()
            ),
        )

    def returned(self, value: Any) -> Described:
        """Return what is to be known of the arrays that a call returned."""
        if isinstance(value, torch.Tensor):
            return (self._tensor(value),)
        if isinstance(value, list | tuple):
            return tuple(one for part in value for one in self.returned(part))
        return ()

    def _described(self, value: Any, *, is_free: bool) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, list | tuple):
            return tuple(self._described(one, is_free=is_free) for one in value)
        return Free(value) if is_free and isinstance(value, int | float) else _plain(value)

    def _tensor(self, tensor: torch.Tensor) -> Described:
        if self.device is None or self.device.type == "cpu":
            self.device = tensor.device
        if tensor.is_meta or isinstance(tensor, FakeTensor):
            self.is_imagined = True
        if tensor.is_nested:
            return self._nested(tensor)
        shape, layout = tuple(tensor.shape), tensor.layout
        if layout is not torch.strided:
            nbytes = _bytes_of_parts(tensor)
            return (_ARRAY, shape, None, type_name(tensor.dtype), _plain(layout), 0, 0, nbytes)
        strides = tensor.stride()
        key, start = self._memory(tensor)
        nbytes = _spanned(shape, strides) * tensor.element_size()
        return (_ARRAY, shape, strides, type_name(tensor.dtype), "strided", key, start, nbytes)

    def _nested(self, tensor: torch.Tensor) -> Described:
        """Return what is known of arrays of several lengths in one: their elements in a row."""
        ragged = tensor.layout is torch.jagged
        size = int(tensor._values.numel() if ragged else tensor.numel())
        kind = type_name(tensor.dtype)
        return (_ARRAY, (size,), None, kind, "nested", 0, 0, size * tensor.element_size())

    def _memory(self, tensor: torch.Tensor) -> tuple[int, int]:
        """Return the number of a tensor's memory in this call, and where in it it begins."""
        place = memory_of(tensor)
        if not place:
            return 0, 0
        start = tensor.storage_offset() * tensor.element_size()
        key, first = self._memories.setdefault(place, (len(self._memories) + 1, start))
        return key, start - first


def memory_of(tensor: torch.Tensor) -> int:
    """Return what tells a tensor's memory from that of all others now; 0: not known."""
    try:
        place: int = tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # sparse, or a wrapper around other tensors
        return 0
    return place


def _spanned(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return the number of different elements in memory: repeated ones are one.

    Where dimensions overlap (windows of a signal), it is what they span together.
    """
    count, span = 1, 1
    for size, stride in zip(shape, strides, strict=True):
        if size == 0:
            return 0
        if stride:
            count *= size
            span += (size - 1) * abs(stride)
    return min(count, span)


def _bytes_of_parts(tensor: torch.Tensor) -> int:
    """Return the bytes of a sparse tensor: of its values and its indices."""
    parts: Iterable[Any]
    if tensor.layout is torch.sparse_coo:
        parts = (tensor._indices(), tensor._values())
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        parts = (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        parts = (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    else:
        return int(tensor.numel() * tensor.element_size())
    return sum(int(part.numel() * part.element_size()) for part in parts)


def _plain(value: Any) -> Any:
    """Return an argument that is no array as a value without PyTorch's types."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value  # not equal to itself
    if isinstance(value, torch.dtype):
        return type_name(value)
    if isinstance(value, torch.Generator):
        return "generator"
    return str(value).removeprefix("torch.")


@cache
def free_arguments(function: Any) -> frozenset[int | str]:
    """Return the positions and names of arguments whose numbers change no work.

    Numbers that elements are computed with (the rate of an optimizer's step) change from call to
    call. Of a view, nothing but the arrays matters. The exponent of a power or a norm does.
    """
    name = function._schema.name
    if any(part in name for part in ("pow", "norm", "cdist")):
        return frozenset()
    free: set[int | str] = set()
    for at, argument in enumerate(function._schema.arguments):
        kind = str(argument.type).removeprefix("Optional[").removeprefix("List[").rstrip("]")
        if kind in _NUMBERS or (function.is_view and kind in _INTEGERS):
            free |= {at, argument.name}
    return frozenset(free)


def call_of(given: Described, returned: Described) -> Call:
    """Return a call as a value, from what was described of it."""
    function, arguments, options = given
    namespace, _, name = function._schema.name.partition("::")
    return Call(
        name=f"{namespace}.{name}",
        overload=function._overloadname,
        arguments=tuple(map(_value, arguments)),
        options={name: _value(one) for name, one in options},
        outputs=tuple(map(_value, returned)),
    )


def _value(described: Any) -> Any:
    if isinstance(described, Free):
        return _plain(described.value)
    if isinstance(described, tuple):
        if described and described[0] is _ARRAY:
            _, shape, strides, dtype, layout, key, start, nbytes = described
            return Tensor(
                shape=shape,
                dtype=dtype,
                nbytes=nbytes,
                layout=layout,
                key=key,
                strides=strides,
                start=start,
            )
        return tuple(map(_value, described))
    return described
