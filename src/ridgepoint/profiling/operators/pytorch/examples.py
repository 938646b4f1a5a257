"""Arguments with which a call of an operator of PyTorch can be made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ridgepoint.core.operators import Call, Tensor
from ridgepoint.profiling.operators.pytorch.arrays import type_named

_KEPT_BYTES = 1 << 20
_LEAST = 0.05  # elements are larger than 0, for logarithms, and at most 1, for probabilities


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array was, among all arrays of a call."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """One call that a program made, to be made again on other data of the same kind.

    Parameters
    ----------
    call : Call
    arguments : tuple
        With marks in the places of arrays.
    options : mapping of str to object
        The same of arguments by name.
    kept : mapping of int to torch.Tensor
        Arrays whose values matter, or that are small, by their number: copies, made before the
        call.
    """

    call: Call
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    kept: Mapping[int, torch.Tensor]

    def build(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments and options with arrays of their own, in the memory of the host.

        Notes
        -----
        Arrays have the shapes, types and strides of the call's, and share memory as they did. Those
        of integers and small ones have its values, others random ones between 0.05 and 1.
        """
        arrays = list(_built(self.call.inputs, self.kept))
        arguments = tuple(_filled(one, arrays) for one in self.arguments)
        return arguments, {name: _filled(one, arrays) for name, one in self.options.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Arguments of a call before it is made, without its large arrays.

    Parameters
    ----------
    arguments, options, kept
        See `Example`.
    """

    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    kept: Mapping[int, torch.Tensor]

    def example(self, call: Call) -> Example:
        """Return the example of this call."""
        return Example(call=call, arguments=self.arguments, options=self.options, kept=self.kept)


def given(arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Given:
    """Return arguments as they are to be kept for an example."""
    found: list[torch.Tensor] = []
    placed = tuple(_placed(one, found) for one in arguments)
    named = {name: _placed(one, found) for name, one in options.items()}
    return Given(
        arguments=placed,
        options=named,
        kept={at: _copy(one) for at, one in enumerate(found) if _is_kept(one)},
    )


def _is_kept(tensor: torch.Tensor) -> bool:
    if tensor.is_meta:
        return False
    is_number = tensor.is_floating_point() or tensor.is_complex()
    small = tensor.numel() * tensor.element_size() <= _KEPT_BYTES
    return not is_number or small or tensor.layout is not torch.strided or tensor.is_quantized


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy of the elements, or of the memory from the first to the last of them."""
    own = tensor.detach()
    if own.layout is torch.strided and not own.is_quantized:
        own = own.as_strided((_span(tuple(own.shape), own.stride()),), (1,), own.storage_offset())
    return own.to("cpu", copy=True)


def _placed(value: Any, found: list[torch.Tensor]) -> Any:
    """Return a value with marks in the places of arrays, which are added to those found."""
    if isinstance(value, torch.Tensor):
        found.append(value)
        return _Place(len(found) - 1)
    if isinstance(value, list | tuple):
        return [_placed(one, found) for one in value]
    return None if isinstance(value, torch.Generator) else value


def _filled(value: Any, arrays: list[torch.Tensor]) -> Any:
    if isinstance(value, _Place):
        return arrays[value.number]
    if isinstance(value, list):
        return [_filled(one, arrays) for one in value]
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _built(inputs: tuple[Tensor, ...], kept: Mapping[int, torch.Tensor]) -> Iterator[torch.Tensor]:
    memories: dict[int, tuple[torch.UntypedStorage, int]] = {}
    for at, wanted in enumerate(inputs):
        own = kept.get(at)
        if own is not None and (wanted.strides is None or own.is_quantized):
            yield own.clone()
            continue
        if wanted.key not in memories or not wanted.key:
            sharing = [one for one in inputs if wanted.key and one.key == wanted.key]
            memories[wanted.key] = _memory(sharing or [wanted])
        storage, first = memories[wanted.key]
        array = _in_memory(storage, wanted, wanted.start - first)
        if own is not None:
            array.as_strided((own.numel(),), (1,)).copy_(own)
        yield array


def _memory(arrays: Sequence[Tensor]) -> tuple[torch.UntypedStorage, int]:
    """Return random memory that holds these arrays, and the byte at which it begins."""
    first = min(one.start for one in arrays)
    last = max(one.start + _span_bytes(one) for one in arrays)
    dtype = type_named(arrays[0].dtype)
    size = -(-(last - first) // dtype.itemsize)
    return _random(size, dtype).untyped_storage(), first


def _random(size: int, dtype: torch.dtype) -> torch.Tensor:
    numbers = torch.empty(size * (2 if dtype.is_complex else 1)).uniform_(_LEAST, 1.0)
    if dtype.is_complex:
        numbers = torch.view_as_complex(numbers.view(-1, 2))
    return numbers.to(dtype)


def _in_memory(storage: torch.UntypedStorage, wanted: Tensor, start: int) -> torch.Tensor:
    dtype = type_named(wanted.dtype)
    assert wanted.strides is not None
    empty = torch.empty(0, dtype=dtype)
    return empty.set_(storage, start // dtype.itemsize, wanted.shape, wanted.strides)


def _span_bytes(wanted: Tensor) -> int:
    assert wanted.strides is not None
    itemsize: int = type_named(wanted.dtype).itemsize
    return _span(wanted.shape, wanted.strides) * itemsize


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return the number of elements from the first to the last one in memory."""
    if 0 in shape:
        return 0
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return 1 + sum(steps)
