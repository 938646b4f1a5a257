"""Demand of a training step of a transformer on each device.

Devices of data parallelism hold all weights and a share of the batch, and sum the gradients by one
all-reduce per step; each may be several devices of tensor parallelism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from ridgepoint.core.demand import Demand
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.demands.training import all_reduce_bytes, most_samples
from ridgepoint.demands.transformer import Transformer
from ridgepoint.demands.transformer.passes import Inference
from ridgepoint.demands.transformer.shares import Stage

OPTIMIZERS = {
    "none": (0, "left out, as in other training steps here"),
    "sgd": (4, "a copy of the weights in fp32"),
    "adam": (12, "a copy of the weights and two averages of the gradients in fp32"),
}
"""Bytes of fp32 that an optimizer keeps for each weight, and what they are, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerStep:
    """One step of training a transformer: forward, backward, sum of the gradients, optimizer.

    Parameters
    ----------
    model : Transformer
    sequence : int
        Tokens of each sequence.
    precision, algorithm : str
        As for `ridgepoint.demands.training.TrainingStep`.
    tensor : int
        Devices over which each matrix is divided.
    activations : str
        One of `ridgepoint.demands.transformer.passes.ACTIVATIONS`.
    recompute : bool
        Whether the backward pass computes each layer's forward pass again, and nothing but the
        layers' inputs is kept for it.
    optimizer : str
        One of `OPTIMIZERS`.

    Raises
    ------
    ValueError
        If `sequence` is not a whole number > 0, or another parameter is not one of its choices.

    Notes
    -----
    Backward needs twice the products of forward: for the gradients of the inputs, and of the
    weights. Weights are read in both passes, gradients written once. With ``resident``
    activations, only each layer's input crosses memory, to be kept and to be read again: no
    program moves less. With ``operators``, every operator's inputs and outputs cross memory in
    forward, and twice as many bytes in backward. An optimizer reads and writes what it keeps, and
    reads the gradients and writes the weights; its work is left out.

    References
    ----------
    .. [1] J. Kaplan et al., "Scaling laws for neural language models", :arxiv:`2001.08361`: 6 flop
       for each weight and token.
    .. [2] S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
       models", :arxiv:`1910.02054`: 16 bytes for each weight with Adam.

    Examples
    --------
    >>> step = TransformerStep(
    ...     model=Transformer(layers=1, width=8, heads=2, feed_forward=16, vocabulary=10),
    ...     sequence=4,
    ... )
    >>> step.demand(batch=1, nodes=1).amounts["bf16"]
    18240.0
    """

    model: Transformer
    sequence: int
    precision: str = "bf16"
    algorithm: str = "ring"
    tensor: int = 1
    activations: str = "resident"
    recompute: bool = False
    optimizer: str = "none"

    def __post_init__(self) -> None:
        require_whole(sequence=self.sequence)
        if self.optimizer not in OPTIMIZERS:
            known = ", ".join(OPTIMIZERS)
            raise ValueError(f"optimizer must be one of {known}, got {self.optimizer!r}")
        _ = self.forward

    @property
    def forward(self) -> Inference:
        """The forward pass."""
        return Inference(
            model=self.model,
            precision=self.precision,
            tensor=self.tensor,
            algorithm=self.algorithm,
            activations=self.activations,
        )

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that a step asks for."""
        return (self.precision, "dram", "network")

    @property
    def gradient_bytes(self) -> float:
        """Size of the gradients of a device, byte."""
        return self.forward.held_weights(Stage(layers=self.model.layers))

    def demand(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Demand:
        """Return the demand of one step on the device with the largest share.

        Parameters
        ----------
        batch : array_like
            Sequences of each copy of the model (weak scaling), or of all together (strong
            scaling); whole numbers > 0.
        nodes : array_like or None
            Copies of the model, each on `tensor` devices; None: the limit of many.
        strong : bool
            Whether the batch is divided over the copies.

        Raises
        ------
        ValueError
            If a number is not whole and > 0, or `strong` is given without `nodes`.
        """
        parts = self.parts(batch=batch, nodes=nodes, strong=strong)
        return reduce(Demand.__add__, parts.values())

    def parts(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Mapping[str, Demand]:
        """Return the demand of each part of one step; see `demand`.

        Returns
        -------
        mapping of str to Demand
            The parts of `Inference.parts`, forward and backward, then ``gradients`` (their
            all-reduce) and, if it is counted, ``optimizer``.
        """
        samples = most_samples(batch, nodes, strong=strong)
        whole = Stage(layers=self.model.layers)
        passes = {
            way: replace(self.forward, activations=way).parts(
                whole, tokens=self.sequence, batch=samples, every_output=True
            )
            for way in ("resident", "operators")
        }
        found = {
            name: self._both_ways(name, part, passes["operators"][name])
            for name, part in passes["resident"].items()
        }
        kept = self.model.layers * self.model.width * self.forward.element_bytes
        held = kept * self.sequence * samples
        found["layers' inputs"] = Demand({"dram_read": held, "dram_write": held})
        size = self.gradient_bytes
        found["gradients"] = Demand(
            {
                "dram_write": size + 0 * samples,
                "network": all_reduce_bytes(size, nodes=nodes, algorithm=self.algorithm),
            }
        )
        if OPTIMIZERS[self.optimizer][0]:
            found["optimizer"] = self._optimizer(samples)
        return found

    def _both_ways(self, name: str, resident: Demand, operators: Demand) -> Demand:
        """Return forward and backward of a part, from its forward pass counted in two ways."""
        again = 1 if self.recompute and name not in ("embedding", "output") else 0
        moved = 3 if self.activations == "operators" else 0
        # Keys and values are activations here: there is no cache.
        weights = 2.0 * np.asarray(resident.amounts["dram_read"])
        crossing = {
            way: np.subtract(operators.amounts[way], resident.amounts[way])
            for way in ("dram_read", "dram_write")
        }
        return Demand(
            {
                self.precision: np.multiply(resident.amounts[self.precision], 3 + again),
                "dram_read": weights + moved * crossing["dram_read"],
                "dram_write": moved * crossing["dram_write"],
                "network": np.multiply(resident.amounts.get("network", 0.0), 2 + again),
            }
        )

    def _optimizer(self, samples: npt.ArrayLike) -> Demand:
        state, _ = OPTIMIZERS[self.optimizer]
        weights = self.gradient_bytes / self.forward.element_bytes
        moved = weights * (state + self.forward.element_bytes) + np.zeros_like(samples)
        return Demand({"dram_read": moved, "dram_write": moved})
