"""What is learnt once of a program of PyTorch, in a run that is not timed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry

from ridgepoint.core.operators import Call
from ridgepoint.demands.operators import asked_of
from ridgepoint.profiling.operators.pytorch.arrays import Described, memory_of
from ridgepoint.profiling.operators.pytorch.examples import Example, Given, given

_OVERWRITES = frozenset({"aten::copy_", "aten::fill_", "aten::zero_"})
"""Operators that write their first argument without reading it."""


class Survey:
    """Bytes that a run reads of arrays that were there before, and an example of each call.

    Parameters
    ----------
    keeps_examples : bool
        Whether arguments are kept: large arrays of numbers are not.
    """

    def __init__(self, *, keeps_examples: bool = False) -> None:
        self._keeps = keeps_examples
        self._given: dict[Described, Given] = {}
        self._made: set[int] = set()
        self._read: dict[int, float | None] = {}
        self._flop = 0.0

    @property
    def outer_bytes(self) -> float | None:
        """Least bytes of arrays from before the run that it reads; None: unknown for one of them.

        Notes
        -----
        Of each array, the most that any one call must read of it. A rule states the bytes of all
        arrays together: from these the sizes of those that were made meanwhile are taken, and what
        is left is that of the smaller ones first (of a large table only some rows are read).
        """
        if None in self._read.values():
            return None
        return float(sum(read for read in self._read.values() if read is not None))

    @property
    def library_says(self) -> dict[str, float]:
        """What `torch.utils.flop_counter` states of the run: it knows products and attention."""
        return {"flop": self._flop}

    def before(
        self, described: Described, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> None:
        """Keep the arguments of a call that is about to be made, the first time.

        Views do no work, so that there is nothing to make again.
        """
        function = described[0]
        if self._keeps and not function.is_view and described not in self._given:
            self._given[described] = given(arguments, options)

    def example(self, described: Described, call: Call) -> Example | None:
        """Return the example of a call; None: none was kept."""
        kept = self._given.get(described)
        return None if kept is None else kept.example(call)

    def after(
        self,
        function: Any,
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        returned: Any,
        call: Call,
    ) -> None:
        """Note which memory a call read, which it made, and what the library says of its work."""
        formula = flop_registry.get(getattr(function, "overloadpacket", None))
        if formula is not None:
            self._flop += formula(*arguments, **options, out_val=returned)
        inputs = tensors_in((*arguments, *options.values()))
        places = [memory_of(one) for one in inputs]
        if not function.is_view:
            self._note_read(function, places, call)
        self._made.update(
            place
            for one in pytree.tree_leaves(returned)
            if isinstance(one, torch.Tensor) and (place := memory_of(one)) not in places
        )

    def _note_read(self, function: Any, places: list[int], call: Call) -> None:
        outer = {place for place in places if place and place not in self._made}
        if not outer:
            return
        read_bytes = asked_of(call).read_bytes
        sizes: dict[int, float] = {}
        for place, array in zip(places, call.inputs, strict=True):
            sizes[place] = max(sizes.get(place, 0), array.nbytes)
        for place in _only_written(function, places):
            sizes[place] = 0
        left = (read_bytes or 0) - sum(size for place, size in sizes.items() if place not in outer)
        for place in sorted(outer, key=sizes.__getitem__):
            if read_bytes is None:
                self._read.setdefault(place, None)
                continue
            own = min(sizes[place], max(left, 0.0))
            left -= own
            self._read[place] = max(self._read.get(place) or 0.0, own)


def _only_written(function: Any, places: list[int]) -> Iterator[int]:
    """Yield memory that a call writes without reading it."""
    schema = function._schema
    if schema.name in _OVERWRITES and places:
        yield places[0]
    elif any(argument.is_out for argument in schema.arguments):
        yield places[-1]


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yield every array among arguments, in the order of `Call.inputs`."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)
