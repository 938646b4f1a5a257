"""Rules of PyTorch's views, copies, fills and random numbers: bytes, and hardly any work."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.asking import (
    arrays,
    ask,
    given,
    in_place,
    no_bytes,
    read_by,
    written_by,
)
from ridgepoint.demands.operators.rule import Rule


def _view(call: Call) -> Asked:
    return no_bytes(call, "view")


def _nothing(call: Call) -> Asked:
    return no_bytes(call, "allocation")


def _copy(call: Call) -> Asked:
    """Every element of the result is read once and written, or computed from nothing (padding)."""
    return ask(call, "copy", read=_elements_taken(call), rule="no work")


def _elements_taken(call: Call) -> float:
    """Return the bytes read: all inputs, or no more of them than the result has elements."""
    read = distinct_bytes(read_by(call))
    written = sum(one.size for one in written_by(call))
    sizes = [one.nbytes / one.size for one in read_by(call) if one.size]
    return min(read, written * max(sizes, default=0.0))


def _view_or_copy(call: Call) -> Asked:
    # A view where the result shares its memory, else a copy.
    inputs = {one.key for one in call.inputs if one.key}
    shares = bool(call.outputs) and all(one.key in inputs for one in call.outputs)
    return _view(call) if shares else _copy(call)


def _copy_into(call: Call) -> Asked:
    # The first argument is written and not read.
    args = given(call, "self", "source")
    return ask(call, "copy", read=arrays(args.source), rule="no work")


def _copy_lists(call: Call) -> Asked:
    args = given(call, "self", "source")
    return ask(call, "copy", read=arrays(args.source), written=arrays(args.self), rule="no work")


def _fill(call: Call) -> Asked:
    """Nothing is read but a value that is an array."""
    values = [one for one in call.inputs[1:] if one.size == 1]
    return ask(call, "fill", read=values, rule="no work")


def _made(call: Call) -> Asked:
    """Results from numbers alone; an array is given for its shape, if at all."""
    return ask(call, "fill", read=0.0, rule="no work")


def _random(call: Call) -> Asked:
    """Numbers drawn, each of which is a function; what one costs depends on the generator."""
    drawn = sum(one.size for one in written_by(call))
    unread = in_place(call) or "like" in call.name
    read = arrays(call.arguments[1:]) if unread else None
    return ask(call, "random", read=read, functions=drawn, rule="one function for each")


def _dropout(call: Call) -> Asked:
    # A number drawn for each element, which keeps it, scaled, or not.
    args = given(call, "input", p=0.5, train=True)
    if args.train is False or not args.p:
        return _view_or_copy(call)
    drawn = call.outputs[0].size if call.outputs else 0
    return ask(call, "random", flop=drawn, complex_flop=2 * drawn, functions=drawn, rule="n")


def _item(call: Call) -> Asked:
    """One element is given to Python."""
    return ask(call, "copy", written=0.0, rule="no work")


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            "view", "_unsafe_view", "_reshape_alias", "alias", "detach", "t",
            "transpose", "permute", "expand", "expand_as", "select", "slice", "split",
            "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", "chunk",
            "unsafe_chunk", "unbind", "squeeze", "unsqueeze", "as_strided", "diagonal", "unfold",
            "view_as", "view_as_real", "view_as_complex", "real", "imag", "_conj", "_neg_view",
            "conj", "mT", "mH", "adjoint", "numpy_T", "matrix_H", "movedim", "moveaxis",
            "swapaxes", "swapdims", "narrow", "hsplit", "vsplit", "dsplit", "tensor_split",
            "lift_fresh", "lift", "positive", "unflatten",
            "values", "indices", "_values", "_indices", "crow_indices", "col_indices", "set",
            "_fw_primal", "_make_dual", "_unpack_dual", "requires_grad", "retain_grad",
            "_version", "data", "set_data",         ),
        _view,
    ),
    **dict.fromkeys(
        (
            "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided",
            "_efficientzerotensor", "resize", "resize_as", "sym_size", "sym_numel", "sym_stride",
            "sym_storage_offset", "size", "stride", "numel", "dim", "is_same_size",
            "is_contiguous", "is_pinned", "record_stream", "_linalg_check_errors", "result_type",
            "can_cast",
            "_has_compatible_shallow_copy_type", "_assert_async", "_assert_scalar",
            "_assert_tensor_metadata", "_nested_tensor_size", "is_floating_point", "is_complex",
        ),
        _nothing,
    ),
    **dict.fromkeys(
        ("reshape", "reshape_as", "contiguous", "to", "flatten", "ravel", "type_as", "atleast_1d",
         "atleast_2d", "atleast_3d", "expand_copy", "broadcast_to", "_to_cpu"),
        _view_or_copy,
    ),
    **dict.fromkeys(
        (
            "clone", "lift_fresh_copy", "_to_copy", "cat",
            "concat", "concatenate", "stack", "hstack", "vstack",
            "dstack", "column_stack", "repeat", "tile", "repeat_interleave", "roll", "flip",
            "fliplr", "flipud", "rot90", "tril", "triu", "constant_pad_nd", "pad", "_pad_circular",
            "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
            "replication_pad2d", "replication_pad3d", "pixel_shuffle", "pixel_unshuffle",
            "channel_shuffle", "native_channel_shuffle", "im2col", "diag", "diag_embed",
            "meshgrid", "block_diag", "view_copy", "slice_copy", "select_copy",
            "permute_copy", "unfold_copy", "unbind_copy", "split_copy", "split_with_sizes_copy",
            "transpose_copy", "t_copy", "as_strided_copy", "_pin_memory", "pin_memory",
            "to_dense", "_to_dense", "_to_sparse", "_to_sparse_csr", "_to_sparse_csc",
            "_to_sparse_bsr", "_to_sparse_bsc", "cartesian_prod", "select_backward",
            "slice_backward", "diagonal_backward",
            "diagonal_copy", "trace_backward", "lu_unpack",
            "value_selecting_reduction_backward", "masked_scatter",
            "masked_scatter_backward", "upsample_nearest1d", "upsample_nearest2d",
            "upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
            "_upsample_nearest_exact3d",
            "combinations", "_chunk_cat", "to_padded_tensor",
        ),
        _copy,
    ),
    **dict.fromkeys(("copy",), _copy_into),
    "_foreach_copy": _copy_lists,
    **dict.fromkeys(("zero", "fill", "fill_diagonal", "_foreach_zero"), _fill),
    **dict.fromkeys(
        (
            "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros",
            "new_ones", "new_full", "arange", "range", "linspace", "logspace", "eye",
            "scalar_tensor",
            "tril_indices", "triu_indices", "hann_window", "hamming_window", "_shape_as_tensor",
            "blackman_window", "bartlett_window",
        ),
        _made,
    ),
    **dict.fromkeys(
        (
            "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like",
            "normal", "uniform", "random", "bernoulli", "exponential", "cauchy", "geometric",
            "log_normal", "poisson", "binomial", "_standard_gamma", "_sample_dirichlet",
            
        ),
        _random,
    ),
    **dict.fromkeys(
        ("native_dropout", "dropout", "feature_dropout", "alpha_dropout", "_fused_dropout"),
        _dropout,
    ),
    **dict.fromkeys(("_local_scalar_dense", "item"), _item),
}  # fmt: skip
