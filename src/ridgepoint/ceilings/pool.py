"""Threads pinned to CPUs, that start a kernel together and time it with one clock."""

from __future__ import annotations

import ctypes
import errno
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from ridgepoint.ceilings.buffer import Buffer
from ridgepoint.errors import CannotMeasure
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.clock import clock
from ridgepoint.kernels.kernel import ENTRY

CLOCK = clock()
"""The kernel that tells the core's frequency, right after the one that is timed."""

_CLOCK_S = 2e-4
_CLOCK_REPEATS = round(_CLOCK_S * 3e9 / CLOCK.work_per_repeat)

# Each thread warms up, waits for all the others, without the interpreter's lock and within one
# cache line's travel, and only then reads the clocks (1 is CLOCK_MONOTONIC, 3 the thread's CPU
# time). The clock kernel follows at once: a core that slowed down for wide vectors still is slow.
_DRIVER_IR = """
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_getcpu()
define void @drive(ptr %barrier, i64 %threads, ptr %kernel, ptr %data, i64 %size, i64 %warm,
                   i64 %repeats, ptr %clock, ptr %clock_data, i64 %clock_repeats,
                   ptr %times) #0 {
entry:
  %cold = icmp eq i64 %warm, 0
  br i1 %cold, label %ready, label %warming
warming:
  call void %kernel(ptr %data, i64 %size, i64 %warm)
  br label %ready
ready:
  %old = atomicrmw add ptr %barrier, i64 1 seq_cst
  br label %wait
wait:
  %here = load atomic i64, ptr %barrier acquire, align 8
  %all = icmp uge i64 %here, %threads
  br i1 %all, label %go, label %wait
go:
  %t1 = getelementptr i8, ptr %times, i64 16
  %t2 = getelementptr i8, ptr %times, i64 32
  %t3 = getelementptr i8, ptr %times, i64 48
  %t4 = getelementptr i8, ptr %times, i64 64
  %t5 = getelementptr i8, ptr %times, i64 80
  %t6 = getelementptr i8, ptr %times, i64 96
  %t7 = getelementptr i8, ptr %times, i64 104
  %cpu0 = call i32 @sched_getcpu()
  %from = sext i32 %cpu0 to i64
  store i64 %from, ptr %t6
  %c0 = call i32 @clock_gettime(i32 3, ptr %times)
  %c1 = call i32 @clock_gettime(i32 1, ptr %t1)
  call void %kernel(ptr %data, i64 %size, i64 %repeats)
  %c2 = call i32 @clock_gettime(i32 1, ptr %t2)
  %c3 = call i32 @clock_gettime(i32 3, ptr %t3)
  %c4 = call i32 @clock_gettime(i32 1, ptr %t4)
  call void %clock(ptr %clock_data, i64 0, i64 %clock_repeats)
  %c5 = call i32 @clock_gettime(i32 1, ptr %t5)
  %cpu1 = call i32 @sched_getcpu()
  %to = sext i32 %cpu1 to i64
  store i64 %to, ptr %t7
  ret void
}
"""
_DRIVER_TYPE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p, ctypes.c_int64] * 2, *[ctypes.c_int64] * 3,
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p,
)  # fmt: skip

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
        Bytes of the thread's buffer that the kernel touches.
    repeats : int
    warm_repeats : int
        Before the time is taken: they bring in data and let the clock settle.
    operands : tuple of float
        Placed at the buffer's start, one per `VECTOR_ALIGNMENT`, filling it.
    precision : str
        Of the operands.
    fill : callable or None
        Arranges a buffer of its own for this job; None: it runs on the numbers of all.
    read_first : bool
        Whether the whole extent is read before: a job that visits part of it at a time would
        find the rest gone from the cache that it is to measure.
    """

    function: Function
    size_bytes: int
    extent_bytes: int
    repeats: int
    warm_repeats: int = 0
    operands: tuple[float, ...] = ()
    precision: str = "fp64"
    fill: Fill | None = None
    read_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """When one thread ran a job, for how long it did run, how fast its core then was."""

    begin_ns: int
    end_ns: int
    cpu_ns: int
    frequency_hz: float
    migrated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a job took.

    Parameters
    ----------
    seconds : float
        From the first thread's start to the last one's end.
    waited : float
        Largest share of its own time that a thread did not run.
    frequency_hz : float
        Core clock right after it, mean over the threads.
    migrated : bool
        Whether a thread changed its CPU meanwhile.
    """

    seconds: float
    waited: float
    frequency_hz: float
    migrated: bool


class _Worker(threading.Thread):
    """One thread on one CPU, with buffers that it has touched itself."""

    def __init__(self, cpu: int, drive: ctypes._CFunctionType, clock_address: int) -> None:
        super().__init__(name=f"ridgepoint-cpu{cpu}", daemon=True)
        self._cpu, self._drive, self._clock_address = cpu, drive, clock_address
        self._times = (ctypes.c_int64 * 14)()
        self._buffers: dict[tuple[Fill, int] | None, Buffer] = {}
        self._last: Job | None = None
        self._pinned: OSError | None = None
        self.requests: queue.SimpleQueue[tuple[Job, int, int] | None] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[_Span | OSError | None] = queue.SimpleQueue()

    @property
    def is_pinned(self) -> bool:
        """Whether it runs on its CPU alone."""
        return self._pinned is None

    def buffer(self, job: Job) -> Buffer | None:
        """Return the buffer that a job runs on, if it has been made."""
        found = self._buffers.get(_key(job))
        return found if found is not None and found.length >= job.extent_bytes else None

    def run(self) -> None:
        try:
            os.sched_setaffinity(0, {self._cpu})  # 0 is the calling thread
        except OSError as error:
            self._pinned = error
        clock_buffer: Buffer | None = None
        while (request := self.requests.get()) is not None:
            job, barrier, threads = request
            try:
                if self._pinned is not None and self._pinned.errno not in _MAY_NOT_CHOOSE:
                    raise self._pinned
                if clock_buffer is None:
                    clock_buffer = Buffer(WORKING_BYTES, self._cpu)
                    clock_buffer.place(CLOCK.operands, "fp64")
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
                buffer.place(job.operands, job.precision)
                self._last = job
            if job.read_first:
                buffer.read(job.extent_bytes)
            self._drive(
                barrier, threads, job.function.address, buffer.address, job.size_bytes,
                job.warm_repeats, job.repeats, self._clock_address, clock_buffer.address,
                _CLOCK_REPEATS, ctypes.addressof(self._times),
            )  # fmt: skip
            self.replies.put(self._span())

    def _make(self, job: Job) -> Buffer:
        buffer = Buffer(job.extent_bytes, self._cpu)
        if job.fill is not None:
            job.fill(buffer.view(job.extent_bytes), np.random.default_rng(self._cpu))
        self._buffers[_key(job)] = buffer
        self._last = None
        return buffer

    def _span(self) -> _Span:
        *pairs, before, after = self._times
        cpu_begin, begin, end, cpu_end, clock_begin, clock_end = (
            10**9 * s + ns for s, ns in zip(pairs[::2], pairs[1::2], strict=True)
        )
        cycles = CLOCK.work_per_repeat * _CLOCK_REPEATS
        return _Span(
            begin_ns=begin,
            end_ns=end,
            cpu_ns=cpu_end - cpu_begin,
            frequency_hz=1e9 * cycles / max(clock_end - clock_begin, 1),
            migrated=before != after,
        )


def _key(job: Job) -> tuple[Fill, int] | None:
    return None if job.fill is None else (job.fill, job.extent_bytes)


class Pool:
    """Pinned threads, one per CPU.

    Parameters
    ----------
    cpus : sequence of int
        CPUs to pin to, one thread each.
    compiler : Compiler
    """

    def __init__(self, cpus: Sequence[int], compiler: Compiler) -> None:
        # Kept here: the code must live as long as the threads.
        self._driver = compiler.compile(_DRIVER_IR, "drive")
        self._clock = compiler.compile(CLOCK.ir, ENTRY)
        drive = _DRIVER_TYPE(self._driver.address)
        self._workers = {cpu: _Worker(cpu, drive, self._clock.address) for cpu in cpus}
        self._barrier = ctypes.c_int64()

    def __enter__(self) -> Self:
        for worker in self._workers.values():
            worker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for worker in self._workers.values():
            worker.requests.put(None)
        for worker in self._workers.values():
            worker.join()

    @property
    def is_pinned(self) -> bool:
        """Whether every thread runs on its CPU alone; known once a job has run."""
        return all(worker.is_pinned for worker in self._workers.values())

    def prepare(self, job: Job, *, cpus: Sequence[int]) -> None:
        """Have the buffers of a job, touched by the threads that will use them.

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned, or there is no memory for its buffer.
        """
        missing = [w for cpu in cpus if (w := self._workers[cpu]).buffer(job) is None]
        replies = self._request(missing, job, threads=0)
        for reply in replies:
            if isinstance(reply, OSError):
                raise CannotMeasure(
                    f"cannot run a kernel on {len(cpus)} pinned threads",
                    reason=str(reply),
                    remedy="allow more memory (ulimit -v, the container's limit) or CPU affinity",
                ) from reply

    def huge_share(self, job: Job, *, cpus: Sequence[int]) -> float | None:
        """Return the least share of a job's buffers that lies on huge pages; None: unknown."""
        buffers = [self._workers[cpu].buffer(job) for cpu in cpus]
        shares = [None if buffer is None else buffer.huge_share() for buffer in buffers]
        known = [share for share in shares if share is not None]
        return min(known) if len(known) == len(shares) and known else None

    def run(self, job: Job, *, cpus: Sequence[int]) -> Timing:
        """Run a job on these CPUs at once.

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned, or there is no memory for its buffer.
        """
        # Buffers first: a thread that fails must not leave the others waiting for it.
        self.prepare(job, cpus=cpus)
        self._barrier.value = 0
        replies = self._request([self._workers[cpu] for cpu in cpus], job, threads=len(cpus))
        spans = [reply for reply in replies if isinstance(reply, _Span)]
        elapsed_ns = max(s.end_ns for s in spans) - min(s.begin_ns for s in spans)
        waited = max(1 - s.cpu_ns / max(s.end_ns - s.begin_ns, 1) for s in spans)
        return Timing(
            seconds=elapsed_ns / 1e9,
            waited=max(waited, 0.0),
            frequency_hz=sum(s.frequency_hz for s in spans) / len(spans),
            migrated=any(s.migrated for s in spans),
        )

    def _request(
        self, workers: Sequence[_Worker], job: Job, *, threads: int
    ) -> list[_Span | OSError | None]:
        for worker in workers:
            worker.requests.put((job, ctypes.addressof(self._barrier), threads))
        return [worker.replies.get() for worker in workers]
