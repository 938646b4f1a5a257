"""What one device of tensor parallelism computes, moves and sends for parts of a transformer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgepoint.core.amounts import Amount, Array
from ridgepoint.core.demand import Demand
from ridgepoint.demands.training import ELEMENT_BYTES, all_reduce_bytes
from ridgepoint.demands.transformer import Transformer


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The part of a transformer that one device of a pipeline has.

    Parameters
    ----------
    layers : int
    is_first, is_last : bool
        Whether it has the embedding, and the output.
    """

    layers: int
    is_first: bool = True
    is_last: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A device's share of every layer, where the device with most counts.

    Parameters
    ----------
    model : Transformer
    precision : str
        Precision of the work and of activations: one of `ELEMENT_BYTES`.
    weight_bytes, cached_bytes : float
        Size of one weight, and of one number of keys and values, as they are stored.
    tensor : int
        Devices over which each matrix is divided.
    algorithm : str
        Algorithm of the all-reduce.
    moves_activations : bool
        Whether each operator's inputs and outputs cross memory.
    routes_evenly : bool
        Whether tokens choose their experts independently; False: all choose the same.
    """

    model: Transformer
    precision: str
    weight_bytes: float
    cached_bytes: float
    tensor: int
    algorithm: str
    moves_activations: bool
    routes_evenly: bool

    @property
    def query(self) -> int:
        """Numbers of a token's queries."""
        return _over(self.model.heads, self.tensor) * self.model.head_size

    @property
    def kv(self) -> int:
        """Numbers of a token's keys and values in one layer."""
        return 2 * _over(self.model.kv_head_count, self.tensor) * self.model.head_size

    @property
    def inner(self) -> int:
        """Columns of a feed-forward network."""
        return _over(self.model.feed_forward, self.tensor)

    @property
    def up(self) -> int:
        """Numbers that a token gets from the first products of a feed-forward network."""
        return self.inner * (2 if self.model.gated else 1)

    @property
    def columns(self) -> int:
        """Tokens of the vocabulary."""
        return _over(self.model.vocabulary, self.tensor)

    @property
    def element_bytes(self) -> int:
        """Size of one number of the activations."""
        return ELEMENT_BYTES[self.precision]

    def embedding(self, tokens: Array) -> Demand:
        """Return the demand of looking up tokens, of each of which one vector is read."""
        rows = self.model.width * (2 if self.model.positions else 1)
        return self._demand(
            0 * tokens, read=tokens * rows * self.weight_bytes,
            moved=(0, self.model.width, tokens),
        )  # fmt: skip

    def projections(self, tokens: Array) -> Demand:
        """Return the demand of one layer's products before and after attention."""
        model, width, joined = self.model, self.model.width, self.query + self.kv
        return self._demand(
            2 * width * (joined + self.query) * tokens,
            read=self._projection_weights() * self.weight_bytes,
            # Normalisation, product, product, sum with what came in.
            moved=(4 * width + self.query, 3 * width + joined, tokens),
            summed=tokens * model.width,
        )

    def attention(self, new: Array, before: Array, sequences: Array) -> Demand:
        """Return the demand of one layer's attention."""
        cached = before if self.model.window is None else np.minimum(before, self.model.window - 1)
        of_cache = self.kv * self.cached_bytes * sequences
        kept = new if self.model.window is None else np.minimum(new, self.model.window)
        return self._demand(
            4 * self.query * self._pairs(new, before) * sequences,
            read=of_cache * cached,
            written=of_cache * kept,
            moved=(self.query + self.kv, self.query, new * sequences),
        )

    def feed_forward(self, tokens: Array) -> Demand:
        """Return the demand of one layer's feed-forward network."""
        model, used = self.model, self.model.active_experts
        width, inner = self.model.width, used * self.inner
        work = 2 * width * (self.up + self.inner) * used + 2 * model.router_weights
        weights = (
            self._experts_read(tokens) * self._expert_weights()
            + model.router_weights
            + model.norm_weights
        )
        return self._demand(
            work * tokens,
            read=weights * self.weight_bytes,
            # Normalisation, products, activation function, product, sum with what came in.
            moved=((3 + used) * width + used * self.up + inner,
                   (2 + used) * width + used * self.up + inner, tokens),
            summed=tokens * width,
        )  # fmt: skip

    def output(self, tokens: Array) -> Demand:
        """Return the demand of the output for one token of each sequence."""
        width = self.model.width
        weights = self.columns * width + self.model.norm_weights
        return self._demand(
            2 * width * self.columns * tokens,
            read=weights * self.weight_bytes + 0 * tokens,
            moved=(2 * width, width + self.columns, tokens),
        )

    def held(self, stage: Stage) -> int:
        """Return how many weights the device holds."""
        model = self.model
        layer = (
            self._projection_weights()
            + model.experts * self._expert_weights()
            + model.router_weights
            + model.norm_weights
        )
        table, positions = self.columns * model.width, model.positions * model.width
        ends = (table + positions) * stage.is_first + model.norm_weights * stage.is_last
        if stage.is_last and not (model.tied and stage.is_first):
            ends += table
        return stage.layers * layer + ends

    def _projection_weights(self) -> int:
        """Return the weights of the device's part of the products, and of the normalisation."""
        model, joined = self.model, self.query + self.kv
        biases = {"none": 0, "qkv": joined, "all": joined + model.width}[model.biases]
        norms = model.norm_weights + model.head_norm_weights
        return model.width * (joined + self.query) + biases + norms

    def _expert_weights(self) -> int:
        """Return the weights of the device's part of one feed-forward network."""
        biases = self.up + self.model.width if self.model.biases == "all" else 0
        return self.model.width * (self.up + self.inner) + biases

    def _experts_read(self, tokens: Array) -> Array:
        """Return how many experts a pass reads, on average."""
        model = self.model
        if not self.routes_evenly or model.experts == 1:
            return np.full(np.shape(tokens), float(model.active_experts))
        missed = (1 - model.active_experts / model.experts) ** tokens
        return np.asarray(model.experts * (1 - missed))

    def _pairs(self, new: Array, before: Array) -> Array:
        """Return the pairs of tokens that attention multiplies in one sequence."""
        window = self.model.window
        if self.model.attention == "full":
            seen = before + new
            return new * (seen if window is None else np.minimum(seen, window))
        if window is None:
            return new * before + new * (new + 1) / 2
        growing = np.clip(window - before, 0, new)  # tokens that see less than a whole window
        return growing * before + growing * (growing + 1) / 2 + (new - growing) * window

    def _demand(
        self,
        work: Amount,
        *,
        read: Amount,
        moved: tuple[int, int, Array],
        written: Amount = 0.0,
        summed: Array | None = None,
    ) -> Demand:
        """Return a demand; `moved` are numbers read and written of each of some tokens."""
        taken, given, tokens = moved
        crossing = self.element_bytes * tokens if self.moves_activations else 0.0
        amounts = {
            self.precision: work,
            "dram_read": read + taken * crossing,
            "dram_write": written + given * crossing,
        }
        if summed is not None and self.tensor > 1:
            amounts["network"] = all_reduce_bytes(
                summed * self.element_bytes,
                nodes=self.tensor,
                algorithm=self.algorithm,
            )
        return Demand(amounts)


def _over(whole: int, devices: int) -> int:
    """Return the share of the device that has most."""
    return -(-whole // devices)
