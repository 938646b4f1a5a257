"""Train a multi-layer perceptron by gradient descent, the batch spread over the ranks.

Each step does three matrix products per layer: forward, the gradient of the activations, and that
of the weights. Then gradients are summed over the ranks by one all-reduce, and every rank updates
its copy of the weights. ReLU between layers, half the squared error at the end, no biases.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.distributed.programs.all_reduce import ALGORITHMS, all_reduce
from ridgepoint.suites.distributed.programs.ceilings import Ceilings
from ridgepoint.suites.distributed.programs.job import Job, Refused, bounds, parser, positive, run

Array = npt.NDArray[np.float32]
_TOLERANCE = 1e-4
"""Of the difference to a serial run over what training changed. A step changes weights by 1e-4 of
themselves or more, and rounds them to 6e-8."""


class Network:
    """Weights and gradients of all layers, each kind in one array.

    Parameters
    ----------
    layers : sequence of int
        Sizes, from the input to the output.
    seed : int
    """

    def __init__(self, layers: Sequence[int], seed: int) -> None:
        self.layers = layers
        # Values between layers are about 1 each: with this no step overshoots, in any size.
        self._rate = np.float32(0.25 / max(layers))
        count = sum(a * b for a, b in pairwise(layers))
        self.weights, self.gradients = np.empty(count, np.float32), np.empty(count, np.float32)
        random = np.random.default_rng([seed, 0])
        for matrix in self.matrices(self.weights):
            scale = np.float32(np.sqrt(2 / matrix.shape[0]))
            matrix[:] = random.standard_normal(matrix.shape, np.float32) * scale

    def matrices(self, flat: Array) -> list[Array]:
        """Return one matrix for each layer, inputs by outputs, as views of a flat array."""
        made, begin = [], 0
        for a, b in pairwise(self.layers):
            made.append(flat[begin : begin + a * b].reshape(a, b))
            begin += a * b
        return made

    def update(self) -> None:
        """Go down along the gradients."""
        self.gradients *= self._rate
        self.weights -= self.gradients


class Worker:
    """One rank's share of the samples, and room for what lies between the layers.

    Parameters
    ----------
    network : Network
    inputs, targets : ndarray of float32, shape (samples, size)
    batch : int
        Samples of all ranks, over which the error is a mean.
    input_gradient : bool
        Whether the gradient of the input is computed, as layers before it would need.
    """

    def __init__(
        self, network: Network, inputs: Array, targets: Array, *, batch: int, input_gradient: bool
    ) -> None:
        self._network, self._targets = network, targets
        self._share = np.float32(1 / batch)
        self._first = 0 if input_gradient else 1
        sizes = network.layers[1:]
        self._values = [inputs, *(np.empty((len(inputs), n), np.float32) for n in sizes)]
        self._errors = [np.empty_like(value) for value in self._values]

    def gradients(self) -> None:
        """Compute this share's part of the gradients, forward and backward."""
        weights = self._network.matrices(self._network.weights)
        into = self._network.matrices(self._network.gradients)
        values, errors, last = self._values, self._errors, len(weights)
        for k, matrix in enumerate(weights):
            np.matmul(values[k], matrix, out=values[k + 1])
            if k + 1 < last:
                np.maximum(values[k + 1], 0, out=values[k + 1])
        np.subtract(values[last], self._targets, out=errors[last])
        errors[last] *= self._share
        for k in reversed(range(last)):
            np.matmul(values[k].T, errors[k + 1], out=into[k])
            if k >= self._first:
                np.matmul(errors[k + 1], weights[k].T, out=errors[k])
            if k > 0:
                errors[k] *= values[k] > 0


def main(job: Job) -> int:
    """Train; return the exit status."""
    options = job.options
    batch = options.batch if options.total else options.batch * job.ranks
    if batch < job.ranks:
        raise Refused(f"--batch {batch} is less than one sample for each of {job.ranks} ranks")
    network = Network(options.layers, options.seed)
    own = _worker(network, options, batch=batch, first=job.rank, beyond=job.rank + 1, job=job)
    scratch = np.empty_like(network.gradients)
    flop = 6 * network.weights.size - 2 * options.layers[0] * options.layers[1] * (
        not options.input_gradient
    )
    parts = bounds(batch, job.ranks)
    own_flop = flop * (parts[job.rank + 1] - parts[job.rank])

    def step() -> None:
        with job.computing(own_flop):
            own.gradients()
        with job.communicating():
            all_reduce(job, network.gradients, scratch, options.all_reduce)
        with job.clock.part("update"):
            network.update()

    ceilings = Ceilings(job, "fp32")
    ceilings.sample()
    job.repeat(step)
    sent = job.comm.allreduce(job.sent_bytes) // job.steps
    ceilings.sample()
    ends = sum(a + b for a, b in pairwise(options.layers))
    return job.report(
        "mlp",
        sizes={
            "layers": options.layers,
            "batch": batch,
            "all_reduce": options.all_reduce,
            "input_gradient": options.input_gradient,
        },
        work={"fp32": flop * batch},
        # As the model's convention "footprint": weights, inputs and outputs once.
        dram_bytes=4 * (network.weights.size * job.ranks + ends * batch),
        exchanged_bytes=sent if options.all_reduce == "ring" else None,
        check=_check(job, network, batch) if options.check else None,
        ceilings=ceilings.fields(),
    )


def _worker(
    network: Network,
    options: argparse.Namespace,
    *,
    batch: int,
    first: int,
    beyond: int,
    job: Job,
) -> Worker:
    """Return the worker with the samples of some ranks: those of each rank have a seed."""
    ends = bounds(batch, job.ranks)
    inputs, targets = [], []
    for rank in range(first, beyond):
        random, count = np.random.default_rng([options.seed, 1, rank]), ends[rank + 1] - ends[rank]
        inputs.append(random.standard_normal((count, options.layers[0]), np.float32))
        targets.append(random.standard_normal((count, options.layers[-1]), np.float32))
    return Worker(
        network, np.concatenate(inputs), np.concatenate(targets),
        batch=batch, input_gradient=options.input_gradient,
    )  # fmt: skip


def _check(job: Job, network: Network, batch: int) -> dict[str, Any]:
    """Train again on rank 0 alone, with all samples; compare its weights, and all ranks'."""
    digest = hashlib.sha256(network.weights.tobytes()).digest()
    same = len(set(job.comm.allgather(digest))) == 1
    found: dict[str, Any] = {}
    if job.rank == 0:
        serial = Network(job.options.layers, job.options.seed)
        begun = serial.weights.copy()
        alone = _worker(serial, job.options, batch=batch, first=0, beyond=job.ranks, job=job)
        for _ in range(job.steps + job.options.warm_up):
            alone.gradients()
            serial.update()
        changed = float(np.linalg.norm(serial.weights - begun))
        error = float(np.linalg.norm(serial.weights - network.weights)) / changed
        found = {
            "what": "weights after all steps against a serial run, over what training changed",
            "error": error,
            "tolerance": _TOLERANCE,
            "passed": bool(same and error <= _TOLERANCE),
        }
    agreed: dict[str, Any] = job.comm.bcast(found, root=0)
    return agreed


def _layers(text: str) -> list[int]:
    sizes = [positive(value) for value in text.split(",")]
    if len(sizes) < 2:
        raise argparse.ArgumentTypeError("give two sizes or more, as 1024,1024,16")
    return sizes


def _parser() -> argparse.ArgumentParser:
    made = parser(str(__doc__).splitlines()[0], steps=5)
    made.add_argument(
        "--layers", type=_layers, default=[512, 512, 512], metavar="N,N,...",
        help="sizes from the input to the output; default: 512,512,512",
    )  # fmt: skip
    made.add_argument("--batch", type=positive, default=128, help="samples of each rank")
    made.add_argument("--total", action="store_true", help="--batch is the sum over all ranks")
    made.add_argument("--all-reduce", choices=ALGORITHMS, default="ring", help="default: ring")
    made.add_argument(
        "--no-input-gradient", dest="input_gradient", action="store_false",
        help="do not compute the gradient of the input, which only earlier layers would need",
    )  # fmt: skip
    return made


if __name__ == "__main__":
    run(_parser, main)
