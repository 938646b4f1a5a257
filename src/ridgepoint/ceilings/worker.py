"""One thread on one CPU, that runs jobs on memory it has touched itself."""

from __future__ import annotations

import ctypes
import errno
import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.ceilings.buffer import Buffer
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.clock import clock, cycles_of_addition, steady_clock
from ridgepoint.kernels.kernel import ENTRY, Kernel

CLOCK = clock()
STEADY_CLOCK = steady_clock()
"""The kernel that tells the core's frequency, right after the one that is timed."""

_CLOCK_S = 2e-4
_CLOCK_REPEATS = round(_CLOCK_S * 1.5e9 / STEADY_CLOCK.work_per_repeat)
_CALIBRATIONS = 9

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
class Span:
    """When one thread ran a job, for how long it did run, how fast its core then was."""

    begin_ns: int
    end_ns: int
    cpu_ns: int
    frequency_hz: float | None
    migrated: bool


class Driver:
    """The machine code that every worker runs: what times a job, and the clocks.

    Parameters
    ----------
    compiler : Compiler
    """

    def __init__(self, compiler: Compiler) -> None:
        # Kept here: the code must live as long as the threads.
        self._function = compiler.compile(_DRIVER_IR, "drive")
        self.drive = _DRIVER_TYPE(self._function.address)
        self.clock = compiler.compile(CLOCK.ir, ENTRY)
        self.steady_clock = compiler.compile(STEADY_CLOCK.ir, ENTRY)


class Worker(threading.Thread):
    """One thread on one CPU, with buffers that it has touched itself."""

    def __init__(self, cpu: int, driver: Driver) -> None:
        super().__init__(name=f"ridgepoint-cpu{cpu}", daemon=True)
        self._cpu, self._driver = cpu, driver
        self._times = (ctypes.c_int64 * 14)()
        self._buffers: dict[tuple[Fill, int] | None, Buffer] = {}
        self._last: Job | None = None
        self._pinned: OSError | None = None
        self._clock: Buffer | None = None
        self._addition_cycles: int | None = None
        self.requests: queue.SimpleQueue[tuple[Job, int, int] | None] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[Span | OSError | None] = queue.SimpleQueue()

    @property
    def is_pinned(self) -> bool:
        """Whether it runs on its CPU alone."""
        return self._pinned is None

    def buffer(self, job: Job) -> Buffer | None:
        """Return the buffer that a job runs on, if it has been made."""
        found = self._buffers.get(_key(job))
        return found if found is not None and found.length >= job.extent_bytes else None

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
                if self._clock is None:
                    self._clock = Buffer(WORKING_BYTES, self._cpu)
                    self._addition_cycles = self._calibrated(self._clock)
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
            self.replies.put(self._drive(job, buffer, self._clock, barrier, threads))

    def _drive(self, job: Job, buffer: Buffer, clock: Buffer, barrier: int, threads: int) -> Span:
        self._driver.drive(
            barrier, threads, job.function.address, buffer.address, job.size_bytes,
            job.warm_repeats, job.repeats, self._driver.steady_clock.address, clock.address,
            _CLOCK_REPEATS, ctypes.addressof(self._times),
        )  # fmt: skip
        *pairs, before, after = self._times
        cpu_begin, begin, end, cpu_end, clock_begin, clock_end = (
            10**9 * s + ns for s, ns in zip(pairs[::2], pairs[1::2], strict=True)
        )
        frequency_hz = None
        if self._addition_cycles is not None:
            cycles = self._addition_cycles * STEADY_CLOCK.work_per_repeat * _CLOCK_REPEATS
            frequency_hz = 1e9 * cycles / max(clock_end - clock_begin, 1)
        return Span(
            begin_ns=begin,
            end_ns=end,
            cpu_ns=cpu_end - cpu_begin,
            frequency_hz=frequency_hz,
            migrated=before != after,
        )

    def _calibrated(self, buffer: Buffer) -> int | None:
        """Return how many cycles an addition takes on this core, if that is clear."""
        alone = ctypes.c_int64()
        least = {}
        jobs = (
            (CLOCK, self._driver.clock),
            (STEADY_CLOCK, self._driver.steady_clock),
        )
        for kernel, function in jobs:
            job = _clock_job(kernel, function)
            # The steady clock that follows every job starts from these numbers, too.
            buffer.place(job.operands, job.precision)
            spans = []
            for _ in range(_CALIBRATIONS):
                alone.value = 0
                spans.append(self._drive(job, buffer, buffer, ctypes.addressof(alone), 1))
            seconds = min(span.end_ns - span.begin_ns for span in spans) / 1e9
            least[kernel] = seconds / (kernel.work_per_repeat * job.repeats)
        return cycles_of_addition(least[CLOCK], least[STEADY_CLOCK])

    def _make(self, job: Job) -> Buffer:
        buffer = Buffer(job.extent_bytes, self._cpu)
        if job.fill is not None:
            job.fill(buffer.view(job.extent_bytes), np.random.default_rng(self._cpu))
        self._buffers[_key(job)] = buffer
        self._last = None
        return buffer


def _key(job: Job) -> tuple[Fill, int] | None:
    return None if job.fill is None else (job.fill, job.extent_bytes)


def _clock_job(kernel: Kernel, function: Function) -> Job:
    return Job(
        function=function,
        size_bytes=0,
        extent_bytes=WORKING_BYTES,
        repeats=_CLOCK_REPEATS,
        warm_repeats=_CLOCK_REPEATS,
        operands=kernel.operands,
        precision=kernel.claim.precision,
    )
