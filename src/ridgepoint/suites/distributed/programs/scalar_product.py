"""Multiply two vectors, spread over the ranks; the partial sums come together on rank 0.

Elements are small whole numbers, so that the product is exact in any order.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.distributed.programs.ceilings import Ceilings
from ridgepoint.suites.distributed.programs.job import Job, Refused, bounds, parser, positive, run

_PERIODS = (7, 5)
"""Of the elements of the two vectors."""


def main(job: Job) -> int:
    """Multiply; return the exit status."""
    n = job.options.size
    if n < job.ranks:
        raise Refused(f"--size {n} is less than one element for each of {job.ranks} ranks")
    ends = bounds(n, job.ranks)
    x, y = (_elements(ends[job.rank], ends[job.rank + 1], period) for period in _PERIODS)
    product = 0.0

    def step() -> None:
        nonlocal product
        with job.computing(2 * len(x) - 1):
            part = float(x @ y)
        with job.communicating():
            product = job.sum_on_first(part)

    ceilings = Ceilings(job, "fp64")
    ceilings.sample()
    job.repeat(step)
    ceilings.sample()
    return job.report(
        "scalar-product",
        sizes={"size": n},
        work={"fp64": 2 * n - 1},
        dram_bytes=16 * n,
        exchanged_bytes=8 * (job.ranks - 1),
        check=_check(job, product, n) if job.options.check else None,
        ceilings=ceilings.fields(),
    )


def _elements(begin: int, end: int, period: int) -> npt.NDArray[np.float64]:
    """Return a part of a vector whose elements count up to a period, around 0."""
    return (np.arange(begin, end) % period - period // 3).astype(np.float64)


def _check(job: Job, product: float, n: int) -> dict[str, Any]:
    """Compare with the sum in whole numbers: of one common period, as often as it fits."""
    both = _PERIODS[0] * _PERIODS[1]
    periods, rest = divmod(n, both)
    terms = [(i % 7 - 2) * (i % 5 - 1) for i in range(both)]
    expected = periods * sum(terms) + sum(terms[:rest])
    error = abs(job.comm.bcast(product, root=0) - expected)
    return {
        "what": "the product against whole numbers",
        "error": error,
        "tolerance": 0,
        "passed": error == 0,
    }


def _parser() -> argparse.ArgumentParser:
    made = parser(str(__doc__).splitlines()[0], steps=20)
    made.add_argument("--size", type=positive, default=20_000_000, help="length of the vectors")
    return made


if __name__ == "__main__":
    run(_parser, main)
