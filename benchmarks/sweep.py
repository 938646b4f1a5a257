"""Designs per second of a sweep, beside what else one would write.

    python benchmarks/sweep.py [ROUNDS]

The same sweep (machines x nodes x batches x all-reduces of one training step, strong scaling) by
`ridgepoint.models.ridgeline.sweep.sweep`; by one NumPy expression over all designs at once, whose
memory grows with them; and by a loop in Python, on a part of the designs. All must name the same
front. Also the core alone on designs in a flat list: `Demand` and `bound`, and the three divisions
and two maxima of which it consists. Each figure is the best of so many rounds, on one core. The
goal is 2e7 designs/s.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ridgepoint.core.bound import bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.machine import Machine
from ridgepoint.demands.training import TrainingStep
from ridgepoint.models.derived import with_network
from ridgepoint.models.ridgeline.sweep import Front, sweep
from ridgepoint.published.machines import load

ROUNDS = 5
GOAL = 2e7
LAYERS = (4096,) * 9
ALGORITHMS = ("ring", "tree", "recursive-doubling")
NODES = np.arange(1, 1025)
BATCH = np.arange(64, 64 * 257, 64)
LINKS = np.linspace(2e9, 100e9, 16)
FLAT = 1 << 22
PART = 64
"""Of the machines, nodes and batches of the loop in Python: every so many."""


def best(function: Callable[[], object], rounds: int) -> float:
    """Return the shortest time of a call, s."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def fleet() -> list[Machine]:
    """Return Cascade Lake sockets with links of many rates."""
    return [replace(with_network(load("cascade-lake"), rate), name=f"{rate:g}") for rate in LINKS]


def times_sent(nodes: np.ndarray) -> np.ndarray:
    """Return what each all-reduce sends of the gradients, shape (algorithms, nodes)."""
    rounds = np.ceil(np.log2(nodes))
    below = np.floor(np.log2(nodes))
    return np.array(
        [2 * (nodes - 1) / nodes, 2 * rounds, np.where(below == rounds, below, below + 2)]
    )


def by_numpy() -> np.ndarray:
    """Return the least time per sample of each number of nodes, in one expression."""
    weights, ends = 8 * 4096**2, 8 * 2 * 4096
    own = np.ceil(BATCH / NODES[:, None])
    network = times_sent(NODES) * 4 * weights
    seconds = np.maximum(
        np.maximum(6 * own * weights / 4.2e12, 4 * (weights + own * ends) / 105e9)[
            None, :, None, :
        ],
        network[:, :, None, None] / LINKS[:, None],
    )
    return (seconds / BATCH).min(axis=(0, 2, 3))


def by_loop(step: int) -> tuple[dict[int, float], int]:
    """Return the same of every so many nodes, batches and machines, by loops, and how many."""
    weights, ends, count = 8 * 4096**2, 8 * 2 * 4096, 0
    least: dict[int, float] = {}
    sent = times_sent(NODES)
    for index in range(0, len(NODES), step):
        nodes = int(NODES[index])
        for row, link, batch in itertools.product(range(len(ALGORITHMS)), LINKS[::8], BATCH[::4]):
            own = -(-int(batch) // nodes)
            seconds = max(
                6 * own * weights / 4.2e12,
                4 * (weights + own * ends) / 105e9,
                float(sent[row, index]) * 4 * weights / float(link),
            )
            least[nodes] = min(least.get(nodes, np.inf), seconds / int(batch))
            count += 1
    return least, count


def by_sweep(machines: list[Machine], overlap: object = "full") -> Front:
    """Return the front by the package."""
    steps = [TrainingStep(layers=LAYERS, algorithm=name) for name in ALGORITHMS]
    return sweep(machines, steps, nodes=NODES, batch=BATCH, strong=True, overlap=overlap)  # type: ignore[arg-type]


def main(rounds: int) -> int:
    """Measure and print; return 1 if a front differs, or the goal is missed."""
    machines = fleet()
    # Ours first: the other's arrays would count as ours.
    front = by_sweep(machines)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    least = by_numpy()
    at = np.searchsorted(NODES, front.nodes)
    same = np.allclose(front.time_per_sample_s, least[at], rtol=1e-12)
    looped, some = by_loop(PART)
    # Every so many of the other two, so that it may only be slower.
    same &= all(value >= least[nodes - 1] * (1 - 1e-12) for nodes, value in looped.items())
    rows = [
        (
            "ridgepoint.models.ridgeline.sweep",
            front.designs / best(lambda: by_sweep(machines), rounds),
        )
    ]
    for overlap in ("none", 3.0):
        own = front.designs / best(lambda how=overlap: by_sweep(machines, how), rounds)
        rows.append((f"  the same, overlap {overlap}", own))
    rows.append(("NumPy, one expression", front.designs / best(by_numpy, rounds)))
    rows.append(("loop in Python", some / best(lambda: by_loop(PART), rounds)))
    print(f"{front.designs:,} designs, {len(front.nodes)} on the front; resident {peak_mb:.0f} MB")
    print(f"{'':32}{'designs/s':>12}{'over the loop':>16}{'over NumPy':>12}")
    for name, rate in rows:
        print(f"{name:32}{rate:>12.3g}{rate / rows[-1][1]:>16.3g}{rate / rows[3][1]:>12.2f}")

    flat = np.random.default_rng(1).uniform(1e6, 1e12, (3, FLAT))
    node = machines[0]
    core = best(
        lambda: bound(Demand(dict(zip(("fp32", "dram", "network"), flat, strict=True))), node),
        rounds,
    )
    divided = best(
        lambda: np.maximum(np.maximum(flat[0] / 4.2e12, flat[1] / 105e9), flat[2] / 2e9), rounds
    )
    print(f"a flat list of {FLAT:,}: Demand and bound {FLAT / core:.3g} designs/s,")
    print(f"three divisions and two maxima {FLAT / divided:.3g}, ratio {divided / core:.2f}")
    if not same:
        print("the fronts differ")
    return 0 if same and rows[0][1] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
