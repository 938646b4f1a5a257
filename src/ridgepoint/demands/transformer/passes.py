"""Demand of one pass of a transformer on each device: a prompt read, or one token generated.

A pass takes some new tokens of each sequence; the keys and values of those before them are in a
cache. Tensor parallelism cuts every matrix of a layer over devices, which sum their results by an
all-reduce after attention and after the feed-forward network. Pipeline parallelism gives each
device whole layers, one stage after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, Array
from ridgepoint.core.demand import Demand
from ridgepoint.demands.training import ALL_REDUCES, ELEMENT_BYTES
from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.shares import Share, Stage

STORED_BYTES = {**ELEMENT_BYTES, "fp8": 1.0, "int8": 1.0, "int4": 0.5}
"""Types in which weights and keys and values are stored, and the size of one number. Scales of
groups of numbers are left out."""

ACTIVATIONS = {
    "resident": "activations stay in caches: no program moves less",
    "operators": "each operator reads its inputs from memory and writes its outputs there",
}
"""Which activations cross memory, by name."""

ROUTINGS = {
    "even": "tokens choose experts independently and all alike: the expected number is read",
    "least": "all tokens of a pass choose the same experts: no pass reads fewer",
}
"""How many experts a pass with several tokens reads, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A transformer that generates tokens: types of its numbers, and how devices divide it.

    Parameters
    ----------
    model : Transformer
    precision : str
        Precision of the work and of activations: one of `ELEMENT_BYTES`.
    weights, cache : str or None
        Types in which the weights, and the keys and values, are stored: one of `STORED_BYTES`.
        None: `precision`.
    tensor, pipeline : int
        Devices over which each matrix, and the layers, are divided.
    activations : str
        One of `ACTIVATIONS`.
    routing : str
        One of `ROUTINGS`.
    algorithm : str
        Algorithm of the all-reduce: one of `ALL_REDUCES`.

    Raises
    ------
    ValueError
        If there are more devices than heads or layers, or a word is not one of its choices.

    Notes
    -----
    With n new tokens of each of B sequences, c tokens in the cache before them, width d, q
    numbers of queries, k of keys and values, f of the feed-forward network and g = 2 with a gate,
    else 1, one layer asks for

    - projections: ``2 d (2 q + k) n B`` flop, and their weights once;
    - attention: ``4 q P B`` flop for P pairs of tokens, ``P = n c + n (n+1) / 2`` if causal; the
      c k numbers of each sequence's cache read, n k written;
    - feed-forward network: ``2 d f (g + 1) n B`` flop, and its weights once; with E experts of
      which a token uses a, a times that work, and on average ``E (1 - (1 - a/E)^(n B))`` experts.

    The output multiplies one token of each sequence: the one that a new token follows from.

    References
    ----------
    .. [1] R. Pope et al., "Efficiently scaling transformer inference", :arxiv:`2211.05102`.
    .. [2] M. Shoeybi et al., "Megatron-LM: training multi-billion parameter language models using
       model parallelism", :arxiv:`1909.08053`: two all-reduces a layer.

    Examples
    --------
    >>> small = Transformer(
    ...     layers=1, width=8, heads=2, feed_forward=16, vocabulary=10, gated=False
    ... )
    >>> step = Inference(model=small, precision="fp32").decode(context=5)
    >>> dict(step.amounts)
    {'fp32': 1376.0, 'dram_read': 2816.0, 'dram_write': 64.0}
    """

    model: Transformer
    precision: str = "bf16"
    weights: str | None = None
    cache: str | None = None
    tensor: int = 1
    pipeline: int = 1
    activations: str = "resident"
    routing: str = "even"
    algorithm: str = "ring"

    def __post_init__(self) -> None:
        for name, known in (
            ("precision", ELEMENT_BYTES), ("weights", STORED_BYTES), ("cache", STORED_BYTES),
            ("activations", ACTIVATIONS), ("routing", ROUTINGS), ("algorithm", ALL_REDUCES),
        ):  # fmt: skip
            given = getattr(self, name)
            if given not in known and not (given is None and name in ("weights", "cache")):
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")
        for name, what, most in (
            ("tensor", "heads", self.model.heads), ("pipeline", "layers", self.model.layers),
        ):  # fmt: skip
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
                raise ValueError(
                    f"{name} must be a whole number from 1 to the {most} {what}, got {given!r}"
                )

    @property
    def devices(self) -> int:
        """Devices that hold one copy of the model."""
        return self.tensor * self.pipeline

    @property
    def weight_bytes(self) -> float:
        """Size of one weight as it is stored, byte."""
        return STORED_BYTES[self.weights or self.precision]

    @property
    def cached_bytes(self) -> float:
        """Size of one number of keys and values as it is stored, byte."""
        return STORED_BYTES[self.cache or self.precision]

    @property
    def element_bytes(self) -> int:
        """Size of one number of the activations, byte."""
        return ELEMENT_BYTES[self.precision]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in their order; the first have one layer more where they cannot be equal."""
        each, more = divmod(self.model.layers, self.pipeline)
        last = self.pipeline - 1
        return tuple(
            Stage(layers=each + (at < more), is_first=at == 0, is_last=at == last)
            for at in range(self.pipeline)
        )

    @property
    def _share(self) -> Share:
        return Share(
            model=self.model,
            precision=self.precision,
            weight_bytes=self.weight_bytes,
            cached_bytes=self.cached_bytes,
            tensor=self.tensor,
            algorithm=self.algorithm,
            moves_activations=self.activations == "operators",
            routes_evenly=self.routing == "even",
        )

    def prefill(self, *, prompt: npt.ArrayLike, batch: npt.ArrayLike = 1) -> Demand:
        """Return what reading prompts asks of all devices' stages together, of one device each.

        Parameters
        ----------
        prompt : array_like
            Tokens of each sequence, >= 1.
        batch : array_like
            Sequences; broadcasts with `prompt`.
        """
        return self._whole(tokens=prompt, context=0, batch=batch)

    def decode(self, *, context: npt.ArrayLike, batch: npt.ArrayLike = 1) -> Demand:
        """Return what one more token of each sequence asks of all stages, of one device each.

        Parameters
        ----------
        context : array_like
            Tokens of each sequence that are in the cache, >= 0.
        batch : array_like
            Sequences; broadcasts with `context`.
        """
        return self._whole(tokens=1, context=context, batch=batch)

    def _whole(
        self, *, tokens: npt.ArrayLike, context: npt.ArrayLike, batch: npt.ArrayLike
    ) -> Demand:
        parts = (
            part
            for stage in self.stages
            for part in self.parts(stage, tokens=tokens, context=context, batch=batch).values()
        )
        return reduce(Demand.__add__, parts)

    def parts(
        self,
        stage: Stage,
        *,
        tokens: npt.ArrayLike,
        context: npt.ArrayLike = 0,
        batch: npt.ArrayLike = 1,
        every_output: bool = False,
    ) -> Mapping[str, Demand]:
        """Return the demand of each part of a pass on the device with the largest share of it.

        Parameters
        ----------
        stage : Stage
        tokens : array_like
            New tokens of each sequence, >= 1.
        context : array_like
            Tokens of each sequence before them, whose keys and values are in the cache; >= 0.
        batch : array_like
            Sequences, >= 1; shapes broadcast.
        every_output : bool
            Whether the output multiplies every new token, as in training, instead of the last of
            each sequence.

        Returns
        -------
        mapping of str to Demand
            ``embedding``, ``projections``, ``attention``, ``feed-forward`` and ``output``, those
            that the stage has: flop of the precision, ``dram_read``, ``dram_write`` and, with
            several devices, ``network`` bytes. A stage that is not the last has ``handing on``,
            the vectors that it sends to the next.

        Raises
        ------
        ValueError
            If a number is not finite and large enough.

        Notes
        -----
        Where a number of heads or columns cannot be divided evenly, the device with most counts.
        With fewer heads of keys and values than devices, several devices hold the same.
        """
        new, before, sequences = (
            _at_least(name, value, least)
            for name, value, least in (
                ("tokens", tokens, 1), ("context", context, 0), ("batch", batch, 1),
            )
        )  # fmt: skip
        share = self._share
        found = {}
        if stage.is_first:
            found["embedding"] = share.embedding(new * sequences)
        found["projections"] = share.projections(new * sequences) * stage.layers
        found["attention"] = share.attention(new, before, sequences) * stage.layers
        found["feed-forward"] = share.feed_forward(new * sequences) * stage.layers
        if stage.is_last:
            found["output"] = share.output(new * sequences if every_output else sequences)
        else:
            sent = new * sequences * self.model.width * self.element_bytes
            found["handing on"] = Demand({"network": sent})
        return found

    def held_weights(self, stage: Stage) -> float:
        """Return the weights that a device of a stage holds, in bytes."""
        return self._share.held(stage) * self.weight_bytes

    def held_cache(self, stage: Stage, *, tokens: npt.ArrayLike) -> Amount:
        """Return the keys and values that a device of a stage holds of one sequence, in bytes.

        Parameters
        ----------
        stage : Stage
        tokens : array_like
            Tokens of the sequence; of a window only those within it are held.
        """
        kept = np.asarray(tokens, dtype=np.float64)
        if self.model.window is not None:
            kept = np.minimum(kept, self.model.window)
        return stage.layers * self._share.kv * kept * self.cached_bytes

    def held_activations(self, *, tokens: npt.ArrayLike) -> Amount:
        """Return the activations that a device holds at once while it computes a layer, in bytes.

        Parameters
        ----------
        tokens : array_like
            Tokens of the pass, over all sequences.

        Notes
        -----
        A token's vector, and the widest that a layer makes of it: of the feed-forward network or
        of attention. A program that keeps more needs more.
        """
        share = self._share
        widest = max(share.query + share.kv, share.up * self.model.active_experts)
        each = 2 * self.model.width + widest
        return np.asarray(tokens, dtype=np.float64) * each * self.element_bytes


def _at_least(name: str, value: npt.ArrayLike, least: int) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if not (np.isfinite(array) & (array >= least)).all():
        raise ValueError(f"{name} must be finite and >= {least}, got {value!r}")
    return array
