"""One thread on one CPU, that runs jobs on memory it has touched itself."""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.ceilings.buffer import Buffer
from ridgepoint.ceilings.driver import Core, Driver, Issues, Span
from ridgepoint.kernels.jit import Function

# The kernel, or a sandbox, may keep a thread from choosing its CPU: it then runs where it may.
_MAY_NOT_CHOOSE = (errno.EPERM, errno.EACCES, errno.ENOSYS)

Fill = Callable[[npt.NDArray[np.uint8], np.random.Generator], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A kernel and how much of it to run on each thread.

    Parameters
    ----------
    function : Function
    size_bytes : int
        Passed to the kernel.
    extent_bytes : int
        Bytes that the thread's buffer must have.
    offset_bytes : int
        Where in the buffer the kernel's data begins, a multiple of `VECTOR_ALIGNMENT`.
    repeats : int
    warm_repeats : int
        Before the time is taken: they bring in data and let the clock settle.
    warmer : Function or None
        What is repeated then; None: `function`.
    operands : tuple of float
        Placed where the data begins, one per `VECTOR_ALIGNMENT`, filling it.
    precision : str
        Of the operands.
    fill : callable or None
        Arranges a buffer of its own for this job; None: it runs on the numbers of all.
    small_pages : bool
        Whether that buffer lies on the smallest pages.
    patient : bool
        Whether each thread waits for a while until nobody shares its core.
    """

    function: Function
    size_bytes: int
    extent_bytes: int
    offset_bytes: int = 0
    repeats: int
    warm_repeats: int = 0
    warmer: Function | None = None
    operands: tuple[float, ...] = ()
    precision: str = "fp64"
    fill: Fill | None = None
    small_pages: bool = False
    patient: bool = False


class Worker(threading.Thread):
    """One thread on one CPU, with buffers that it has touched itself."""

    def __init__(self, cpu: int, driver: Driver, issues: Issues) -> None:
        super().__init__(name=f"ridgepoint-cpu{cpu}", daemon=True)
        self._cpu, self._driver, self._issues = cpu, driver, issues
        self._buffers: dict[tuple[Fill, bool, int] | None, Buffer] = {}
        self._last: Job | None = None
        self._pinned: OSError | None = None
        self._core: Core | None = None
        self.requests: queue.SimpleQueue[tuple[Job, int, int] | None] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[Span | OSError | None] = queue.SimpleQueue()

    @property
    def is_pinned(self) -> bool:
        """Whether it runs on its CPU alone."""
        return self._pinned is None

    def buffer(self, job: Job) -> Buffer | None:
        """Return the buffer that a job runs on, if it has been made."""
        buffers = self._buffers.get(_key(job))
        return buffers if buffers is not None and buffers.length >= job.extent_bytes else None

    def run(self) -> None:
        """Answer requests, one after the other, until there is none."""
        try:
            os.sched_setaffinity(0, {self._cpu})  # 0 is the calling thread
        except OSError as error:
            self._pinned = error
        while (request := self.requests.get()) is not None:
            job, barrier, threads = request
            try:
                if self._pinned is not None and self._pinned.errno not in _MAY_NOT_CHOOSE:
                    raise self._pinned
                if self._core is None:
                    self._core = Core(self._driver, self._issues, self._cpu)
                buffer = self.buffer(job) or self._make(job)
            except OSError as error:
                self.replies.put(error)
                continue
            except MemoryError:
                self.replies.put(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))
                continue
            if threads == 0:
                self.replies.put(None)
                continue
            if job is not self._last:
                buffer.place(job.operands, job.precision, offset_bytes=job.offset_bytes)
                self._last = job
            span = self._core.run(
                job.function,
                buffer.address + job.offset_bytes,
                size_bytes=job.size_bytes,
                repeats=job.repeats,
                warm_repeats=job.warm_repeats,
                warmer=job.warmer,
                barrier=barrier,
                threads=threads,
                patient=job.patient,
            )
            self.replies.put(span)

    def _make(self, job: Job) -> Buffer:
        buffer = Buffer(job.extent_bytes, self._cpu, small_pages=job.small_pages)
        if job.fill is not None:
            job.fill(buffer.view(job.extent_bytes), np.random.default_rng(self._cpu))
        self._buffers[_key(job)] = buffer
        self._last = None
        return buffer


def _key(job: Job) -> tuple[Fill, bool, int] | None:
    return None if job.fill is None else (job.fill, job.small_pages, job.extent_bytes)
