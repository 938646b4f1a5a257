"""Threads pinned to CPUs that start a kernel together and time it with one clock."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ridgepoint.ceilings.driver import CLOCK, Driver, Issues, Span
from ridgepoint.ceilings.worker import Job, Worker
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.jit import Compiler

_LOOKS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Duration and circumstances of a job.

    Parameters
    ----------
    seconds : float
        From the first thread's start to the last one's end.
    waited : float
        Largest share of its own time for which a thread did not run.
    frequency_hz : float or None
        Core clock right after it, mean over the threads; None: not clear.
    issue : float
        Least share of an unshared core's issue slots that a thread found free, right before and
        after.
    migrated : bool
        Whether a thread changed its CPU during the job.
    """

    seconds: float
    waited: float
    frequency_hz: float | None
    issue: float
    migrated: bool


class Pool:
    """Pinned threads, one per CPU.

    Parameters
    ----------
    cpus : sequence of int
        CPUs to pin to, one thread each.
    compiler : Compiler
    kinds : sequence of sequence of int
        CPUs of each kind of core; CPUs in none of them form one kind.
    """

    def __init__(
        self, cpus: Sequence[int], compiler: Compiler, *, kinds: Sequence[Sequence[int]] = ()
    ) -> None:
        driver = self._driver = Driver(compiler)
        issues = {cpu: Issues() for kind in kinds for cpu in kind[:1]}
        shared = {cpu: issues[kind[0]] for kind in kinds for cpu in kind}
        others = Issues()
        self._workers = {cpu: Worker(cpu, driver, shared.get(cpu, others)) for cpu in cpus}
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

    def quietest(self, cpus: Sequence[int]) -> int:
        """Return the CPU whose core is shared least at present; the first of several.

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned.
        """
        look = Job(
            function=self._driver.clock,
            size_bytes=0,
            extent_bytes=WORKING_BYTES,
            repeats=1,
            operands=CLOCK.operands,
        )
        seen: dict[int, list[float]] = {cpu: [] for cpu in cpus}
        # In turn, and not as long as one of them has its quiet moment.
        for _ in range(_LOOKS):
            for cpu in cpus:
                seen[cpu].append(self.run(look, cpus=[cpu]).issue)
        return max(cpus, key=lambda cpu: round(statistics.mean(seen[cpu]), 2))

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
        shares = [None if buffer is None else buffer.huge_share for buffer in buffers]
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
        spans = [reply for reply in replies if isinstance(reply, Span)]
        elapsed_ns = max(s.end_ns for s in spans) - min(s.begin_ns for s in spans)
        waited = max(1 - s.cpu_ns / max(s.end_ns - s.begin_ns, 1) for s in spans)
        known = [s.frequency_hz for s in spans if s.frequency_hz is not None]
        return Timing(
            seconds=elapsed_ns / 1e9,
            waited=max(waited, 0.0),
            frequency_hz=sum(known) / len(spans) if len(known) == len(spans) else None,
            issue=min(s.issue for s in spans),
            migrated=any(s.migrated for s in spans),
        )

    def _request(
        self, workers: Sequence[Worker], job: Job, *, threads: int
    ) -> list[Span | OSError | None]:
        for worker in workers:
            worker.requests.put((job, ctypes.addressof(self._barrier), threads))
        return [worker.replies.get() for worker in workers]
