"""Rules of PyTorch's look-ups by index: embedding, gather, scatter, and sorting.

How many of the indices are the same is in the data: at least one row is read, at most as many as
there are indices. The least is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.asking import array, arrays, ask, given, in_place
from ridgepoint.demands.operators.rule import Rule

KIND = "indexing"
_ADDING = ("sum", "mean", "prod", "add", "multiply")
"""Ways to join elements that are flop; the others, such as ``amax``, are comparisons."""


def _looked_up(kind: str, *, table: str, indices: str, names: str) -> Rule:
    """Return the rule of results that are rows or elements of a table, chosen by indices."""

    def rule(call: Call) -> Asked:
        args = given(call, *names.split())
        source = array(getattr(args, table), table)
        chosen = arrays(getattr(args, indices))
        results = call.outputs[0] if call.outputs else source
        if any(one.dtype == "bool" for one in chosen):
            return ask(call, kind, read=distinct_bytes(chosen) + results.nbytes, rule="no work")
        rows = _places(chosen)
        row = results.size / max(rows, 1) * source.nbytes / max(source.size, 1)
        least = min(row, source.nbytes) if results.size else 0.0
        most = min(row * rows, source.nbytes)
        return ask(
            call,
            kind,
            read=distinct_bytes(chosen) + least,
            rule=f"reads {least:g} to {most:g} bytes, by how many of its indices are distinct",
        )

    return rule


def _places(indices: Sequence[Tensor]) -> int:
    """Return how many places several arrays of indices choose, broadcast to one shape."""
    sizes: dict[int, int] = {}
    for one in indices:
        for at, size in enumerate(reversed(one.shape)):
            sizes[at] = max(size, sizes.get(at, 1)) if size else 0
    return math.prod(sizes.values())


def _embedding_backward(call: Call) -> Asked:
    # Each row of the gradient is added to one row of the result, which begins as zeros; that of a
    # bag once for each of its indices.
    args = given(call, "grad", "indices")
    grad, indices = array(args.grad, "grad_output"), array(args.indices, "indices")
    added = indices.size * grad.shape[-1] if grad.shape else 0
    return ask(call, "embedding", flop=added, read=[grad, indices], rule="1 for each number added")


def _bags(call: Call) -> Asked:
    """Return what sums, means or maxima of rows of a table ask for, a bag each."""
    args = given(call, "weight", "indices", "offsets", scale=False, mode=0, sparse=False,
                 weights=None)  # fmt: skip
    table, indices = array(args.weight, "weight"), array(args.indices, "indices")
    weights = arrays(args.weights)
    row = table.nbytes / max(table.shape[0], 1)
    width, bags = table.shape[-1], call.outputs[0].shape[0] if call.outputs else 1
    added = width * max(indices.size - bags, 0)
    work = {0: added, 1: added + width * bags}.get(args.mode, 0)
    work += width * indices.size if weights else 0
    return ask(
        call,
        "embedding",
        flop=work,
        read=distinct_bytes([indices, *arrays(args.offsets), *weights])
        + (row if indices.size else 0.0),
        rule=f"reads 1 to {min(indices.size, table.shape[0])} rows of {row:g} bytes",
    )


def _scattered(names: str, *, source: str, indices: str, adds: bool) -> Rule:
    """Return the rule of a result in which elements are replaced or added to by index.

    In place, only elements with an index are written; else all of the array is copied before.
    """

    def rule(call: Call) -> Asked:
        args = given(call, *names.split(), mode=None)
        target, chosen = array(args.self, "self"), arrays(getattr(args, indices))
        values = arrays(getattr(args, source, None))
        mode = args.mode or call.options.get("accumulate") or call.options.get("reduce")
        accumulates = adds or mode is True or mode in _ADDING
        by_element = "scatter" in call.name or not values
        moved = float(max((one.size for one in (chosen if by_element else values)), default=0))
        element = target.nbytes / max(target.size, 1)
        masked = any(one.dtype == "bool" for one in chosen)
        touched = element * (moved if masked and values else min(moved, 1.0))
        if in_place(call):
            read = distinct_bytes([*chosen, *values]) + (touched if accumulates else 0.0)
            written: float = touched
        else:
            read = distinct_bytes([target, *chosen, *values])
            written = distinct_bytes(call.outputs)
        return ask(
            call,
            KIND,
            dtype=target.dtype,
            flop=moved if accumulates else 0.0,
            complex_flop=2 * moved if accumulates else 0.0,
            read=read,
            written=written,
            rule="an addition for each element" if accumulates else "no work",
        )

    return rule


def _compared(kind: str) -> Rule:
    """Return the rule of operators that compare and move, which is no flop."""

    def rule(call: Call) -> Asked:
        return ask(call, kind, workspace_bytes=None, rule="comparisons")

    return rule


def _masked_select(call: Call) -> Asked:
    # The mask is read, and of the array the elements that are chosen.
    args = given(call, "self", "mask")
    chosen: tuple[Tensor, ...] = call.outputs
    return ask(
        call, KIND, read=distinct_bytes(arrays(args.mask)) + distinct_bytes(chosen), rule="no work"
    )


_SORTING = _compared("sorting")

RULES: Mapping[str, Rule] = {
    "embedding": _looked_up(
        "embedding", table="weight", indices="indices", names="weight indices"
    ),
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), _bags),
    **dict.fromkeys(
        ("embedding_dense_backward", "_embedding_bag_backward", "_embedding_bag_dense_backward"),
        _embedding_backward,
    ),
    "index_select": _looked_up(KIND, table="self", indices="index", names="self dim index"),
    **dict.fromkeys(
        ("gather", "take_along_dim"),
        _looked_up(KIND, table="self", indices="index", names="self dim index"),
    ),
    "take": _looked_up(KIND, table="self", indices="index", names="self index"),
    **dict.fromkeys(
        ("index", "_unsafe_index"),
        _looked_up(KIND, table="self", indices="indices", names="self indices"),
    ),
    **dict.fromkeys(
        ("scatter", "scatter_reduce", "index_reduce", "index_copy", "index_fill"),
        _scattered("self dim index source", source="source", indices="index", adds=False),
    ),
    **dict.fromkeys(
        ("scatter_add", "index_add"),
        _scattered("self dim index source", source="source", indices="index", adds=True),
    ),
    **dict.fromkeys(
        ("index_put", "_index_put_impl", "_unsafe_index_put"),
        _scattered("self indices values", source="values", indices="indices", adds=False),
    ),
    "put": _scattered("self index source", source="source", indices="index", adds=False),
    **dict.fromkeys(
        ("bincount", "histc", "histogram", "multinomial", "one_hot"), _compared("sorting")
    ),
    "masked_select": _masked_select,
    **dict.fromkeys(
        ("sort", "argsort", "msort", "topk", "kthvalue", "mode", "_unique", "_unique2",
         "unique_consecutive", "unique_dim", "searchsorted", "bucketize"),
        _SORTING,
    ),
    **dict.fromkeys(("nonzero", "argwhere", "nonzero_static"), _compared(KIND)),
}  # fmt: skip
