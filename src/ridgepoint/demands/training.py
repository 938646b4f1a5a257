"""Demand of a data-parallel training step of a multi-layer perceptron on each node.

Every node holds all weights and a share of the batch; gradients are summed over the nodes by one
all-reduce per step. Biases, activation functions and the optimizer are left out, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, Array, plain
from ridgepoint.core.demand import Demand

ELEMENT_BYTES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2}
"""Precisions of training, and the size of one number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How the work and the memory traffic of one layer are counted.

    Parameters
    ----------
    flop_per_weight : int
        Per sample: 2 forward, 2 for gradients of the activations, 2 for those of the weights.
    weights, activations : int
        How often the weights, and a layer's inputs and outputs, pass between caches and memory.
    first_gradient : bool
        Whether the first layer computes the gradient of its input, which nothing uses.
    summary : str
    """

    flop_per_weight: int
    weights: int
    activations: int
    first_gradient: bool = True
    summary: str

    @property
    def has_forward(self) -> bool:
        """Whether the forward pass is counted."""
        return self.flop_per_weight != 4

    @property
    def has_backward(self) -> bool:
        """Whether the gradients are counted."""
        return self.flop_per_weight != 2


CONVENTIONS = {
    "footprint": Convention(
        flop_per_weight=6, weights=1, activations=1,
        summary="as in the paper: three products; weights, inputs and outputs cross memory once",
    ),
    "no-input-gradient": Convention(
        flop_per_weight=6, weights=1, activations=1, first_gradient=False,
        summary="as footprint, without the gradient of the first layer's input",
    ),
    "weights-and-gradients": Convention(
        flop_per_weight=6, weights=2, activations=1,
        summary="as footprint, and the gradients of the weights cross memory once, too",
    ),
    "three-gemms": Convention(
        flop_per_weight=6, weights=3, activations=3,
        summary="three products, each with all its inputs and outputs in memory",
    ),
    "forward": Convention(
        flop_per_weight=2, weights=1, activations=1, summary="the forward product alone",
    ),
    "backward": Convention(
        flop_per_weight=4, weights=1, activations=1, summary="the two products of gradients",
    ),
}  # fmt: skip
"""Ways to count a step, by name. The paper prints none; only the first reproduces its claims."""

ALL_REDUCES = {
    "ring": "reduce-scatter and all-gather around a ring: 2 (p-1)/p of the gradients",
    "tree": "reduction to one node and broadcast along a binomial tree: 2 ceil(log2 p) times",
    "recursive-doubling": "log2 p exchanges of all gradients; 2 more if p is no power of two",
    "payload": "the gradients once, as if the network itself added them up",
}
"""Algorithms of the all-reduce, by name."""


def all_reduce_bytes(
    size_bytes: npt.ArrayLike, *, nodes: npt.ArrayLike | None, algorithm: str = "ring"
) -> Amount:
    """Return the bytes that a node's busiest link carries in one all-reduce, steps in sequence.

    Parameters
    ----------
    size_bytes : array_like
        Size of the buffer that is summed, on every node; >= 0.
    nodes : array_like or None
        p, whole numbers > 0; None: the limit of many nodes (p to infinity).
    algorithm : str
        One of `ALL_REDUCES`.

    Returns
    -------
    float or ndarray
        Bytes; divided by a link's bandwidth each way, this is the all-reduce's time without
        latencies. 0 with one node.

    Raises
    ------
    ValueError
        If the algorithm is unknown, `nodes` is not a whole number > 0, or the bytes have no limit.

    Notes
    -----
    Links carry both directions at once; messages are not cut into pieces that overlap (a tree
    with such pieces, as in NCCL, moves as much as a ring). The bytes of a ring are the *bus
    bandwidth* factor of nccl-tests [1]_.

    References
    ----------
    .. [1] https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md

    Examples
    --------
    >>> all_reduce_bytes(100.0, nodes=[1, 2, 8]).tolist()
    [0.0, 100.0, 175.0]
    >>> all_reduce_bytes(100.0, nodes=8, algorithm="recursive-doubling")
    300.0
    """
    if algorithm not in ALL_REDUCES:
        known = ", ".join(ALL_REDUCES)
        raise ValueError(f"algorithm must be one of {known}, got {algorithm!r}")
    size = np.asarray(size_bytes, dtype=np.float64)
    if nodes is None:
        if algorithm not in ("ring", "payload"):
            raise ValueError(
                f"nodes must be given for {algorithm!r}: its bytes grow without limit with the "
                "number of nodes"
            )
        return plain(size * (2.0 if algorithm == "ring" else 1.0))
    return plain(size * _times_sent(_whole("nodes", nodes), algorithm))


class Step(Protocol):
    """What models ask of a training step of any kind."""

    @property
    def precision(self) -> str:
        """Precision of its work."""

    @property
    def algorithm(self) -> str:
        """Algorithm of the all-reduce."""

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that it asks for."""

    def demand(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Demand:
        """Return the demand of one step on the node with the largest share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """One step of data-parallel training of a multi-layer perceptron.

    Parameters
    ----------
    layers : tuple of int
        Layer sizes from the input to the output: two or more, > 0.
    precision : str
        Precision of weights, activations and gradients: one of `ELEMENT_BYTES`.
    algorithm : str
        Algorithm of the all-reduce: one of `ALL_REDUCES`.
    convention : str
        One of `CONVENTIONS`.

    Raises
    ------
    ValueError
        If `layers` is invalid, or another parameter is not one of its choices.

    Notes
    -----
    The paper prints no formulas. For its layer of 4096 x 4096 in FP32, the convention
    ``footprint`` and a ring of many nodes agree with its statements: compute-bound from batch 32
    on by the roofline, on the ridge at 512. It also states that gradients are summed once an
    epoch; its numbers hold for once a step.

    References
    ----------
    .. [1] F. Checconi, J. J. Tithi, F. Petrini, "Ridgeline: a 2D roofline model for distributed
       systems", :arxiv:`2209.01368`, Section III.

    Examples
    --------
    >>> step = TrainingStep(layers=(4096, 4096))
    >>> dict(step.demand(batch=512).amounts)
    {'fp32': 51539607552.0, 'dram': 83886080.0, 'network': 134217728.0}
    """

    layers: tuple[int, ...]
    precision: str = "fp32"
    algorithm: str = "ring"
    convention: str = "footprint"

    def __post_init__(self) -> None:
        if len(self.layers) < 2 or any(size < 1 or int(size) != size for size in self.layers):
            raise ValueError(
                f"layers must be two or more whole numbers > 0, input first, got {self.layers!r}"
            )
        for name, known in (
            ("precision", ELEMENT_BYTES), ("algorithm", ALL_REDUCES), ("convention", CONVENTIONS),
        ):  # fmt: skip
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that a step asks for."""
        return (self.precision, "dram", "network")

    @property
    def weights(self) -> int:
        """Weights of all layers, without biases."""
        return sum(a * b for a, b in zip(self.layers, self.layers[1:], strict=False))

    @property
    def gradient_bytes(self) -> int:
        """Size of the gradients that the all-reduce sums, byte."""
        return self.weights * ELEMENT_BYTES[self.precision]

    def demand(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Demand:
        """Return the demand of one step on the node with the largest share.

        Parameters
        ----------
        batch : array_like
            Samples of each node (weak scaling), or of all nodes together (strong scaling); whole
            numbers > 0.
        nodes : array_like or None
            Number of nodes; None: the limit of many nodes. Broadcasts with `batch`.
        strong : bool
            Whether the batch is divided over the nodes (strong scaling). The fullest node has
            ``ceil(batch / nodes)`` samples.

        Returns
        -------
        Demand
            flop of the precision, ``dram`` and ``network`` bytes; shapes broadcast.

        Raises
        ------
        ValueError
            If a number is not whole and > 0, or `strong` is given without `nodes`.
        """
        samples = most_samples(batch, nodes, strong=strong)
        how, element = CONVENTIONS[self.convention], ELEMENT_BYTES[self.precision]
        flop = how.flop_per_weight * self.weights
        if not how.first_gradient:
            flop -= 2 * self.layers[0] * self.layers[1]
        ends = sum(a + b for a, b in zip(self.layers, self.layers[1:], strict=False))
        fixed = element * how.weights * self.weights
        return Demand(
            {
                self.precision: flop * samples,
                "dram": fixed + element * how.activations * ends * samples,
                "network": all_reduce_bytes(
                    self.gradient_bytes, nodes=nodes, algorithm=self.algorithm
                ),
            }
        )


def most_samples(batch: npt.ArrayLike, nodes: npt.ArrayLike | None, *, strong: bool) -> Array:
    """Return the samples of the fullest node, of each batch or of all of them together.

    Raises
    ------
    ValueError
        If a number is not whole and > 0, or the batch is divided over an unknown number of nodes.
    """
    samples = _whole("batch", batch)
    if not strong:
        return samples
    if nodes is None:
        raise ValueError("nodes must be given where the batch is divided over them")
    return np.ceil(samples / _whole("nodes", nodes))


def _times_sent(nodes: Array, algorithm: str) -> Array:
    """Return how often the busiest link carries the whole buffer."""
    # Exact for whole numbers: p = m 2^e with 0.5 <= m < 1.
    fraction, exponent = np.frexp(nodes)
    is_power = fraction == 0.5
    below = exponent - 1.0  # floor(log2 p)
    if algorithm == "ring":
        return 2.0 * (nodes - 1.0) / nodes
    if algorithm == "tree":
        return 2.0 * np.where(is_power, below, below + 1.0)
    if algorithm == "recursive-doubling":
        # Nodes beyond a power of two first hand their data to another node, and get the sum last.
        return np.where(is_power, below, below + 2.0)
    return np.where(nodes > 1, 1.0, 0.0)


def _whole(name: str, value: npt.ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if not (np.isfinite(array) & (array >= 1) & (array == np.floor(array))).all():
        raise ValueError(f"{name} must be whole numbers > 0, got {value!r}")
    return array
