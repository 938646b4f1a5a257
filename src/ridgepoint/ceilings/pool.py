"""Threads pinned to CPUs, that start a kernel together and time it with one clock."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from ridgepoint.errors import CannotMeasure
from ridgepoint.jit import Compiler, Function
from ridgepoint.kernels.kernel import VECTOR_ALIGNMENT

# Each thread waits for all the others, without the interpreter's lock and within one cache
# line's travel, and only then reads the clocks (1 is CLOCK_MONOTONIC, 3 the thread's CPU time).
_DRIVER_IR = """
declare i32 @clock_gettime(i32, ptr)
define void @drive(ptr %barrier, i64 %threads, ptr %kernel, ptr %data, i64 %size,
                   i64 %repeats, ptr %times) #0 {
entry:
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
  %c0 = call i32 @clock_gettime(i32 3, ptr %times)
  %c1 = call i32 @clock_gettime(i32 1, ptr %t1)
  call void %kernel(ptr %data, i64 %size, i64 %repeats)
  %c2 = call i32 @clock_gettime(i32 1, ptr %t2)
  %c3 = call i32 @clock_gettime(i32 3, ptr %t3)
  ret void
}
"""
_DRIVER_TYPE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p, ctypes.c_int64] * 2, *[ctypes.c_int64] * 2, ctypes.c_void_p
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A kernel and how much of it to run on each thread.

    Parameters
    ----------
    function : Function
    size_bytes : int
        Passed to the kernel: the length of one stream.
    extent_bytes : int
        Bytes of the thread's buffer that the kernel touches.
    repeats : int
    operands : tuple of float
        Placed at the buffer's start, one per `VECTOR_ALIGNMENT`, filling it.
    precision : str
        Of the operands.
    """

    function: Function
    size_bytes: int
    extent_bytes: int
    repeats: int
    operands: tuple[float, ...] = ()
    precision: str = "fp64"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """When one thread ran a job, and for how long it did run."""

    begin_ns: int
    end_ns: int
    cpu_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a job took.

    Parameters
    ----------
    seconds : float
        From the first thread's start to the last one's end.
    waited : float
        Largest share of its own time that a thread did not run.
    """

    seconds: float
    waited: float


class _Worker(threading.Thread):
    """One thread on one CPU, with a buffer that it has touched itself."""

    def __init__(self, cpu: int, drive: ctypes._CFunctionType) -> None:
        super().__init__(name=f"ridgepoint-cpu{cpu}", daemon=True)
        self._cpu, self._drive = cpu, drive
        self._buffer: mmap.mmap | None = None
        self._address = 0
        self._length = 0
        self._times = (ctypes.c_int64 * 8)()
        self.requests: queue.SimpleQueue[tuple[Job, int, int] | None] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[_Span | OSError] = queue.SimpleQueue()

    def run(self) -> None:
        pinned: OSError | None = None
        try:
            os.sched_setaffinity(0, {self._cpu})  # 0 is the calling thread
        except OSError as error:
            pinned = error
        while (request := self.requests.get()) is not None:
            job, barrier, threads = request
            try:
                if pinned is not None:
                    raise pinned
                self._prepare(job)
            except OSError as error:
                self.replies.put(error)
                continue
            if threads == 0:
                self.replies.put(_Span(begin_ns=0, end_ns=0, cpu_ns=0))
                continue
            self._drive(
                barrier, threads, job.function.address, self._address, job.size_bytes,
                job.repeats, ctypes.addressof(self._times),
            )  # fmt: skip
            seconds, nanoseconds = self._times[::2], self._times[1::2]
            cpu_begin, begin, end, cpu_end = (
                10**9 * s + ns for s, ns in zip(seconds, nanoseconds, strict=True)
            )
            self.replies.put(_Span(begin_ns=begin, end_ns=end, cpu_ns=cpu_end - cpu_begin))

    def _prepare(self, job: Job) -> None:
        """Have a buffer of the job's extent, touched by this thread, with the job's operands."""
        if job.extent_bytes > self._length:
            length = -(-job.extent_bytes // (2 << 20)) * (2 << 20)
            self._buffer = buffer = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                # A kernel without huge pages refuses: slower address translation, no more.
                with contextlib.suppress(OSError):
                    buffer.madvise(mmap.MADV_HUGEPAGE)
            # Never zeros: untouched or zero memory is faster than memory.
            np.frombuffer(buffer, dtype=np.float64)[:] = np.random.default_rng(self._cpu).uniform(
                1.0, 2.0, length // 8
            )
            self._address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
            self._length = length
        assert self._buffer is not None
        dtype = np.float32 if job.precision == "fp32" else np.float64
        view = np.frombuffer(self._buffer, dtype=dtype)
        per_operand = VECTOR_ALIGNMENT // view.itemsize
        for slot, operand in enumerate(job.operands):
            view[slot * per_operand : (slot + 1) * per_operand] = operand


class Pool:
    """Pinned threads, one per CPU.

    Parameters
    ----------
    cpus : sequence of int
        CPUs to pin to, one thread each.
    compiler : Compiler
    """

    def __init__(self, cpus: Sequence[int], compiler: Compiler) -> None:
        driver = compiler.compile(_DRIVER_IR, "drive")
        drive = _DRIVER_TYPE(driver.address)
        self._workers = [_Worker(cpu, drive) for cpu in cpus]
        self._barrier = ctypes.c_int64()

    def __enter__(self) -> Self:
        for worker in self._workers:
            worker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.requests.put(None)
        for worker in self._workers:
            worker.join()

    def run(self, job: Job, *, threads: int) -> Timing:
        """Run a job on the first `threads` CPUs at once.

        Returns
        -------
        Timing

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned, or there is no memory for its buffer.
        """
        workers = self._workers[:threads]
        # Buffers first: a thread that fails must not leave the others waiting for it.
        self._request(workers, job, threads=0)
        self._barrier.value = 0
        spans = self._request(workers, job, threads=threads)
        elapsed_ns = max(s.end_ns for s in spans) - min(s.begin_ns for s in spans)
        waited = max(1 - s.cpu_ns / max(s.end_ns - s.begin_ns, 1) for s in spans)
        return Timing(seconds=elapsed_ns / 1e9, waited=max(waited, 0.0))

    def _request(self, workers: list[_Worker], job: Job, *, threads: int) -> list[_Span]:
        for worker in workers:
            worker.requests.put((job, ctypes.addressof(self._barrier), threads))
        replies = [worker.replies.get() for worker in workers]
        for reply in replies:
            if isinstance(reply, OSError):
                raise CannotMeasure(
                    f"cannot run a kernel on {len(workers)} pinned threads",
                    reason=str(reply),
                    remedy="allow more memory (ulimit -v, the container's limit) or CPU affinity",
                ) from reply
        return [reply for reply in replies if not isinstance(reply, OSError)]
