"""What this job's ranks reach at best, all at once: in BLAS, from memory, over the network.

Measured in the job itself, since neighbours on a machine or in a network change over hours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ridgepoint.suites.distributed.programs.job import Job

_SIDE = 1024
"""Of the square matrices; large enough that blocking costs nothing, 4 MiB each in fp32."""
_VECTOR_BYTES = 64 * 2**20
"""Of each of two vectors, which no usual last cache of one core's share holds."""
_MESSAGE_BYTES = 4 * 2**20
_REPEATS = 10


class Ceilings:
    """Samples of each rate, taken whenever `sample` is called.

    Parameters
    ----------
    job : Job
    precision : str
        ``fp32`` or ``fp64``.
    """

    def __init__(self, job: Job, precision: str) -> None:
        self._job, self.precision = job, precision
        self._samples: dict[str, list[float]] = {}

    def sample(self) -> None:
        """Take samples of all three, one kind after the other."""
        if not self._job.options.ceilings:
            return
        job, dtype = self._job, {"fp32": np.float32, "fp64": np.float64}[self.precision]
        a = np.ones((_SIDE, _SIDE), dtype)
        b, c = a.copy(), np.empty_like(a)
        flop = 2 * _SIDE**3

        def product() -> None:
            with job.at_its_pace(flop):
                np.matmul(a, b, out=c)

        self._take("flop_per_s", flop, product)
        x = np.ones(_VECTOR_BYTES // 8)
        y = x.copy()
        self._take("memory_bytes_per_s", x.nbytes + y.nbytes, lambda: float(x @ y))
        if job.ranks == 1:
            return
        message, arriving = np.zeros(_MESSAGE_BYTES, np.uint8), np.empty(_MESSAGE_BYTES, np.uint8)

        def exchange() -> None:
            coming = job.comm.Irecv(arriving, source=(job.rank - 1) % job.ranks)
            going = job.comm.Isend(message, dest=(job.rank + 1) % job.ranks)
            job.wait(coming, going)

        self._take("link_bytes_per_s", _MESSAGE_BYTES, exchange)

    def fields(self) -> Mapping[str, Any] | None:
        """Return the samples: each the least rate of any rank, per second; None: not asked for."""
        if not self._job.options.ceilings:
            return None
        return {"precision": self.precision, **self._samples}

    def _take(self, name: str, amount: int, once: Callable[[], object]) -> None:
        once()
        for _ in range(_REPEATS):
            self._job.wait(self._job.comm.Ibarrier())
            begin = time.perf_counter()
            once()
            times_s = self._job.comm.allgather(time.perf_counter() - begin)
            self._samples.setdefault(name, []).append(amount / max(times_s))
