"""Why counts of operators differ from their rules, as far as it was found out."""

from __future__ import annotations

_ALPHA = "a sum `a + α b` is computed by FMA, though α is 1"
_PARTIAL = "partial sums in several vectors, added at the end"
_BLOCKS = "arrays are copied into another layout first"
_REASONS: dict[tuple[str, str], str] = {
    ("aten.add", "transposed"): f"{_ALPHA}; two numbers fill vectors of four",
    ("aten.add", "every second"): f"{_ALPHA}; two numbers fill vectors of four",
    ("aten.add", ""): _ALPHA,
    ("aten.add_", ""): _ALPHA,
    ("aten.sub", ""): _ALPHA,
    ("aten.addcmul", ""): "products are multiplied by a factor, though it is 1",
    ("aten.embedding_dense_backward", ""): _ALPHA,
    ("aten._foreach_add_", ""): _ALPHA,
    ("aten._foreach_sqrt", ""): "an approximation of 1/√x, improved by a step of Newton's method",
    ("aten.sqrt", ""): "an approximation of 1/√x, improved by a step of Newton's method",
    ("aten.sum", ""): _PARTIAL,
    ("aten.mean", ""): _PARTIAL,
    ("aten.mse_loss", ""): _PARTIAL,
    ("aten.mv", ""): _PARTIAL,
    ("aten.var", ""): "Welford's method, in fp64",
    ("aten.native_layer_norm", ""): "Welford's method",
    ("aten.native_group_norm", ""): "Welford's method",
    ("aten.native_layer_norm_backward", ""): "constants of a row are computed in every element",
    ("aten.native_batch_norm_backward", ""): "constants of a channel are computed in every element",
    ("aten._fused_adamw_", ""): "constants of the step are computed in every element",
    ("aten._scaled_dot_product_flash_attention_for_cpu", "causal"): (
        "all pairs are computed, and then masked"
    ),
    ("aten._scaled_dot_product_flash_attention_for_cpu_backward", "causal"): (
        "all pairs are computed, and then masked"
    ),
    ("aten._scaled_dot_product_flash_attention_for_cpu", "one new token"): (
        "products with a single row take additions and scaling of their own"
    ),
    ("aten.convolution", "3-D"): "products with the zeros around the image are computed",
    ("aten.gelu", "tanh"): "tanh takes more than 100 flop here",
    ("aten.mse_loss_backward", ""): "the gradient of the mean is multiplied in every element",
    ("aten.avg_pool2d", ""): "sums begin at 0, and are computed number by number",
    ("aten.upsample_bilinear2d", ""): "three interpolations, each of two products and a sum",
    ("aten.upsample_nearest2d", ""): "scales of coordinates",
    ("aten._fft_c2c", ""): "stated: split radix, the fewest operations; MKL takes another way",
    ("aten._fft_r2c", ""): "stated: split radix, the fewest operations; MKL takes another way",
}
_MOVED: dict[tuple[str, str], str] = {
    ("aten.mm", ""): "blocks are packed",
    ("aten.convolution", ""): _BLOCKS,
    ("aten.convolution_backward", ""): _BLOCKS,
    ("aten.convolution", "fp64"): "windows are copied side by side (im2col)",
    ("aten.convolution", "3-D"): "windows are copied side by side (im2col)",
    ("aten.convolution", "1-D"): _BLOCKS,
    ("aten.mkldnn_rnn_layer", ""): "weights are copied into another layout first",
    ("aten.embedding", ""): "least: all indices are the same one",
    ("aten.index_select", ""): "least: all indices are the same one",
    ("aten.index", ""): "least: all indices are the same one",
    ("aten.gather", ""): "least: all indices are the same one",
    ("aten.embedding_dense_backward", ""): "zeros are written first, and read again",
    ("aten.scatter_add", ""): "the array is copied first, and read again",
    ("aten.native_group_norm_backward", ""): "arrays are read twice",
    ("aten.sort", ""): "several passes, with scratch memory",
    ("aten.logsumexp", ""): "exponentials are stored before they are added",
    ("aten.mse_loss", ""): "squares are stored before they are added",
    ("aten.mse_loss_backward", ""): "a whole array of the gradient is made first",
    ("aten.add", "every second"): "whole lines are read, of which half is used",
    ("aten._scaled_dot_product_flash_attention_for_cpu_backward", ""): (
        "scores are stored, and gradients in pieces"
    ),
}


def reason(name: str, case: str, *, moved: bool = False) -> str:
    """Return why a count differs, in words; empty: not found out."""
    reasons = _MOVED if moved else _REASONS
    fitting = [
        (part, why)
        for (operator, part), why in reasons.items()
        if operator == name and part in case
    ]
    return max(fitting, key=lambda one: len(one[0]))[1] if fitting else ""
