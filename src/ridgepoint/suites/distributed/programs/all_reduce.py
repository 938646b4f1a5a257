"""The sum of an array over all ranks, by the MPI library or around a ring of our own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.distributed.programs.job import Job, bounds

ALGORITHMS = ("ring", "mpi")
"""``ring``: reduce-scatter and all-gather around a ring, whose bytes are known; ``mpi``:
MPI_Iallreduce, by whatever algorithm the library takes."""


def all_reduce(job: Job, data: npt.NDArray[Any], scratch: npt.NDArray[Any], how: str) -> None:
    """Replace an array by its sum over all ranks.

    Parameters
    ----------
    job : Job
    data : ndarray, shape (n,)
    scratch : ndarray, shape (n,)
        Of which a part is overwritten.
    how : str
        One of `ALGORITHMS`.
    """
    if how == "mpi":
        job.sum_array(data)
    else:
        ring(job, data, scratch)


def ring(job: Job, data: npt.NDArray[Any], scratch: npt.NDArray[Any]) -> None:
    """Sum around a ring: each rank sends 2 (p-1)/p of the array to the next one, in all.

    First the sums of the p parts come together, each on one rank, then they go round.
    """
    p, rank = job.ranks, job.rank
    if p == 1:
        return
    ends = bounds(data.size, p)
    parts = [data[a:b] for a, b in pairwise(ends)]
    before, after = (rank - 1) % p, (rank + 1) % p
    for step in range(p - 1):
        into = parts[(rank - step - 1) % p]
        arriving = scratch[: into.size]
        coming = job.comm.Irecv(arriving, source=before)
        job.wait(coming, job.send(parts[(rank - step) % p], after))
        np.add(into, arriving, out=into)
    for step in range(p - 1):
        coming = job.comm.Irecv(parts[(rank - step) % p], source=before)
        job.wait(coming, job.send(parts[(rank + 1 - step) % p], after))
