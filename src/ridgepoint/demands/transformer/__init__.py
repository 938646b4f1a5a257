"""Transformers by their dimensions: their weights, and what a layer computes and moves.

Only products of matrices are counted as work: those with weights, and those of attention.
Normalisations, activation functions, softmax and biases are left out; of the models of
`ridgepoint.published.transformers` they are below 1 % of the work.
"""

from __future__ import annotations

from dataclasses import dataclass

BIASES = {
    "none": "no product has a bias, and normalisations have weights alone, as in Llama",
    "qkv": "queries, keys and values have biases, as in Qwen2",
    "all": "all products and normalisations of a layer have biases, as in GPT-2",
}
"""Which parts of a layer have biases, by name."""

ATTENTION = {
    "causal": "a token attends to itself and to those before it",
    "full": "every token attends to all, or the masked half is computed, too",
}
"""Which pairs of tokens attention multiplies, by name."""

_WHOLE = ("layers", "width", "heads", "kv_heads", "head_width", "feed_forward", "vocabulary",
          "experts", "active_experts")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """A transformer by its dimensions.

    Parameters
    ----------
    layers : int
        Blocks of attention and feed-forward network.
    width : int
        Length of a token's vector between layers (the hidden size).
    heads : int
        Query heads of attention.
    feed_forward : int
        Inner width of the feed-forward network; of one expert, where there are several.
    vocabulary : int
        Tokens that there are, as many as the output has columns.
    kv_heads : int or None
        Heads of keys and values; None: as many as query heads. Fewer are shared by query heads
        (grouped-query attention); 1 is multi-query attention.
    head_width : int or None
        Length of a head's vectors; None: ``width / heads``.
    gated : bool
        Whether the feed-forward network has a third matrix that gates the first (SwiGLU).
    experts, active_experts : int
        Feed-forward networks of a layer, and how many of them a token uses.
    biases : str
        One of `BIASES`.
    head_norms : bool
        Whether queries and keys of each head are normalised, as in Qwen3.
    positions : int
        Learned vectors of positions; 0: none, as with rotary positions.
    tied : bool
        Whether the output uses the weights of the embedding.
    window : int or None
        Tokens to which a token attends at most, itself included; None: all.
    attention : str
        One of `ATTENTION`.

    Raises
    ------
    ValueError
        If a number is not whole and > 0, the dimensions do not fit together, or a word is not one
        of its choices.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", :arxiv:`1706.03762`.
    .. [2] J. Ainslie et al., "GQA: training generalized multi-query transformer models from
       multi-head checkpoints", :arxiv:`2305.13245`.

    Examples
    --------
    >>> llama = Transformer(
    ...     layers=32, width=4096, heads=32, feed_forward=11008, vocabulary=32000
    ... )
    >>> llama.weights
    6738415616
    """

    layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int
    kv_heads: int | None = None
    head_width: int | None = None
    gated: bool = True
    experts: int = 1
    active_experts: int = 1
    biases: str = "none"
    head_norms: bool = False
    positions: int = 0
    tied: bool = False
    window: int | None = None
    attention: str = "causal"

    def __post_init__(self) -> None:
        for name in _WHOLE:
            value = getattr(self, name)
            if value is not None:
                _require_whole(name, value, least=1)
        _require_whole("positions", self.positions, least=0)
        if self.window is not None:
            _require_whole("window", self.window, least=1)
        if self.head_width is None and self.width % self.heads:
            raise ValueError(
                f"heads must divide the width {self.width} unless the head's width is given, got "
                f"{self.heads}"
            )
        if self.heads % self.kv_head_count:
            raise ValueError(
                f"kv_heads must divide the {self.heads} heads, got {self.kv_head_count}"
            )
        if self.active_experts > self.experts:
            raise ValueError(
                f"active_experts must be at most the {self.experts} experts, got "
                f"{self.active_experts}"
            )
        for name, known in (("biases", BIASES), ("attention", ATTENTION)):
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")

    @property
    def kv_head_count(self) -> int:
        """Heads of keys and values."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def head_size(self) -> int:
        """Length of a head's vectors."""
        return self.width // self.heads if self.head_width is None else self.head_width

    @property
    def query_width(self) -> int:
        """Numbers of a token's queries, over all heads."""
        return self.heads * self.head_size

    @property
    def kv_width(self) -> int:
        """Numbers of a token's keys and values in one layer, over all heads."""
        return 2 * self.kv_head_count * self.head_size

    @property
    def up_width(self) -> int:
        """Numbers that a token gets from the first products of a feed-forward network."""
        return (2 if self.gated else 1) * self.feed_forward

    @property
    def norm_weights(self) -> int:
        """Weights of one normalisation."""
        return self.width * (2 if self.biases == "all" else 1)

    @property
    def head_norm_weights(self) -> int:
        """Weights that normalise the queries and keys of all heads of a layer."""
        return 2 * self.head_size if self.head_norms else 0

    @property
    def projection_weights(self) -> int:
        """Weights of a layer's products before and after attention, with biases and head norms."""
        joined = self.query_width + self.kv_width
        weights = self.width * joined + self.query_width * self.width + self.head_norm_weights
        if self.biases == "none":
            return weights
        return weights + joined + (self.width if self.biases == "all" else 0)

    @property
    def expert_weights(self) -> int:
        """Weights of one feed-forward network, with biases."""
        weights = self.width * (self.up_width + self.feed_forward)
        return weights + (self.up_width + self.width if self.biases == "all" else 0)

    @property
    def router_weights(self) -> int:
        """Weights that choose a token's experts in one layer."""
        return self.width * self.experts if self.experts > 1 else 0

    @property
    def layer_weights(self) -> int:
        """Weights of a layer, with all its experts."""
        return (
            self.projection_weights
            + self.router_weights
            + self.experts * self.expert_weights
            + 2 * self.norm_weights
        )

    @property
    def table_weights(self) -> int:
        """Weights of the embedding, or of the output: one vector for each token."""
        return self.vocabulary * self.width

    @property
    def weights(self) -> int:
        """All weights: the number of parameters."""
        tables = self.table_weights * (1 if self.tied else 2) + self.positions * self.width
        return self.layers * self.layer_weights + tables + self.norm_weights

    @property
    def active_weights(self) -> int:
        """Weights that one token uses: without the experts that it is not sent to."""
        idle = (self.experts - self.active_experts) * self.expert_weights
        return self.weights - self.layers * idle


def _require_whole(name: str, value: object, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
