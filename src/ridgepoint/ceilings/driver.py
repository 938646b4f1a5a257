"""The machine code around every job: it waits for a quiet core, and reads the clocks.

A job's thread waits until its core is quiet, warms up, waits for all the other threads without
the interpreter's lock and within one cache line's travel, and only then reads the time.

Nobody else: a core may have a second hardware thread, on which a virtual machine's neighbour runs
that no count of this one shows. It takes away issue slots. So a short run of integer additions as
fast as the core can (the probe) is set against a chain of dependent additions of fp64 that leaves
nearly all slots free (the steady clock): their ratio falls by a tenth and more when the core is
shared.
"""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

from ridgepoint.ceilings.buffer import Buffer
from ridgepoint.ceilings.samples import SHARED
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.clock import clock, cycles_of_addition, steady_clock
from ridgepoint.kernels.integer import integer_peak
from ridgepoint.kernels.jit import Compiler, Function
from ridgepoint.kernels.kernel import ENTRY

CLOCK = clock()
STEADY_CLOCK = steady_clock()
PROBE = integer_peak("add", integer="int64", width_bits=0)

# Repeats, for cores of a few GHz: 0.1 ms of the clock after each sample, which tells the core's
# frequency; about 10 and 20 us of clock and probe for each look whether the core is shared.
_CLOCK_REPEATS = 1400
_BRIEF_REPEATS = 140
_PROBE_REPEATS = 2300

_PER_LOOK = (
    1024
    * (PROBE.work_per_repeat * _PROBE_REPEATS)
    / (STEADY_CLOCK.work_per_repeat * _BRIEF_REPEATS)
)
"""Operations of the probe for each addition of the clock in a look, times 1024: `drive` compares
their times in whole numbers."""

_LOOKS = 150
"""Times that a thread looks for a quiet core before it runs its job all the same."""

_FIRST_RUNS = 15
_FIRST_LOOKS = 600
"""With which a core begins to be known: 0.1 s."""

_PLATEAU = 0.1
"""Share of all looks that found as much as an unshared core has: an unshared core's looks are
alike, and slips of the clock, which may be more than one in fifty, are not."""

_GROWN = 1.05

_ALIKE = 0.02
"""Share by which looks at an unshared core differ."""

# What `drive` is told of a core, and what it tells: fields of eight bytes each.
_CORE = (
    "steady",
    "steady_data",
    "long",
    "brief",
    "probe",
    "probe_data",
    "probing",
    "limit",
    "looks",
)
_POINTERS = frozenset(("steady", "steady_data", "probe", "probe_data"))
_TIMES = (
    "begin", "end", "cpu_begin", "cpu_end", "clock_ns", "after_ns", "brief_ns", "before_ns",
    "from", "to",
)  # fmt: skip


def _loads() -> str:
    """Return the code that loads every field of a core by its name."""
    return "\n".join(
        f"  %{name}_at = getelementptr i64, ptr %core, i64 {index}\n"
        f"  %{name} = load {'ptr' if name in _POINTERS else 'i64'}, ptr %{name}_at"
        for index, name in enumerate(_CORE)
    )


def _places() -> str:
    """Return the code that finds the place of every time, ``%t_`` and its name."""
    return "\n".join(
        f"  %t_{name} = getelementptr i64, ptr %times, i64 {index}"
        for index, name in enumerate(_TIMES)
    )


# CLOCK_MONOTONIC is 1, the thread's CPU time 3. The steady clock follows the kernel at once: a
# core that slowed down for wide vectors still is slow.
_IR = f"""
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_getcpu()

define i64 @now(i32 %clock) #0 {{
  %pair = alloca [2 x i64]
  %r = call i32 @clock_gettime(i32 %clock, ptr %pair)
  %at = getelementptr i8, ptr %pair, i64 8
  %s = load i64, ptr %pair
  %ns = load i64, ptr %at
  %scaled = mul i64 %s, 1000000000
  %sum = add i64 %scaled, %ns
  ret i64 %sum
}}

define void @meet(ptr %barrier, i64 %number) #0 {{
entry:
  %old = atomicrmw add ptr %barrier, i64 1 seq_cst
  br label %wait
wait:
  %here = load atomic i64, ptr %barrier acquire, align 8
  %all = icmp uge i64 %here, %number
  br i1 %all, label %done, label %wait
done:
  ret void
}}

define void @drive(ptr %barrier, i64 %threads, ptr %warmer, i64 %warm, ptr %kernel, ptr %data,
                   i64 %size, i64 %repeats, ptr %core, ptr %times) #0 {{
entry:
{_loads()}
{_places()}
  br label %look
look:
  %left = phi i64 [%looks, %entry], [%left_next, %look]
  %l0 = call i64 @now(i32 1)
  call void %steady(ptr %steady_data, i64 0, i64 %brief)
  %l1 = call i64 @now(i32 1)
  call void %probe(ptr %probe_data, i64 0, i64 %probing)
  %l2 = call i64 @now(i32 1)
  %brief_ns = sub i64 %l1, %l0
  %probe_ns = sub i64 %l2, %l1
  store i64 %brief_ns, ptr %t_brief_ns
  store i64 %probe_ns, ptr %t_before_ns
  %scaled = mul i64 %probe_ns, 1024
  %allowed = mul i64 %brief_ns, %limit
  %quiet = icmp sle i64 %scaled, %allowed
  %left_next = sub i64 %left, 1
  %tired = icmp sle i64 %left_next, 0
  %enough = or i1 %quiet, %tired
  br i1 %enough, label %found, label %look
found:
  call void @meet(ptr %barrier, i64 %threads)
  %cold = icmp eq i64 %warm, 0
  br i1 %cold, label %ready, label %warming
warming:
  call void %warmer(ptr %data, i64 %size, i64 %warm)
  br label %ready
ready:
  %twice = add i64 %threads, %threads
  call void @meet(ptr %barrier, i64 %twice)
  %cpu0 = call i32 @sched_getcpu()
  %c0 = call i64 @now(i32 3)
  %t0 = call i64 @now(i32 1)
  call void %kernel(ptr %data, i64 %size, i64 %repeats)
  %t1 = call i64 @now(i32 1)
  %c1 = call i64 @now(i32 3)
  %t2 = call i64 @now(i32 1)
  call void %steady(ptr %steady_data, i64 0, i64 %long)
  %t3 = call i64 @now(i32 1)
  call void %probe(ptr %probe_data, i64 0, i64 %probing)
  %t4 = call i64 @now(i32 1)
  %cpu1 = call i32 @sched_getcpu()
  %clock_ns = sub i64 %t3, %t2
  %after_ns = sub i64 %t4, %t3
  %from = sext i32 %cpu0 to i64
  %to = sext i32 %cpu1 to i64
  store i64 %t0, ptr %t_begin
  store i64 %t1, ptr %t_end
  store i64 %c0, ptr %t_cpu_begin
  store i64 %c1, ptr %t_cpu_end
  store i64 %clock_ns, ptr %t_clock_ns
  store i64 %after_ns, ptr %t_after_ns
  store i64 %from, ptr %t_from
  store i64 %to, ptr %t_to
  ret void
}}
"""
_TYPE = ctypes.CFUNCTYPE(
    None, *[ctypes.c_void_p, ctypes.c_int64] * 2, ctypes.c_void_p, ctypes.c_void_p,
    *[ctypes.c_int64] * 2, ctypes.c_void_p, ctypes.c_void_p,
)  # fmt: skip


class Driver:
    """The machine code that all threads run.

    Parameters
    ----------
    compiler : Compiler
    """

    def __init__(self, compiler: Compiler) -> None:
        # Kept here: the code must live as long as the threads.
        self._function = compiler.compile(_IR, "drive")
        self.drive = _TYPE(self._function.address)
        self.clock = compiler.compile(CLOCK.ir, ENTRY)
        self.steady_clock = compiler.compile(STEADY_CLOCK.ir, ENTRY)
        self.probe = compiler.compile(PROBE.ir, ENTRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """When one thread ran a job, for how long it did run, and how its core then was.

    Parameters
    ----------
    begin_ns, end_ns : int
        Of a monotonic clock.
    cpu_ns : int
    frequency_hz : float or None
        Right after the job; None: not clear.
    issue : float
        Share of an unshared core's issue slots that were free right before and after the job,
        whichever was less.
    migrated : bool
    """

    begin_ns: int
    end_ns: int
    cpu_ns: int
    frequency_hz: float | None
    issue: float
    migrated: bool


def plateau(ascending: Sequence[float]) -> float:
    """Return the highest value that a tenth of all are alike to; 0 if there is none.

    Parameters
    ----------
    ascending : sequence of float

    Examples
    --------
    Two slips of the clock in twenty looks, which are not alike:

    >>> plateau(sorted([7.0] * 8 + [9.8, 9.9] * 5) + [12.0, 13.0])
    9.9
    """
    needed = max(1, round(_PLATEAU * len(ascending)))
    index = len(ascending)
    while index > 0:
        highest = ascending[index - 1]
        alike = index - bisect.bisect_left(ascending, (1 - _ALIKE) * highest, 0, index)
        if alike >= needed:
            return highest
        index = bisect.bisect_left(ascending, highest, 0, index)
    return ascending[-1] if ascending else 0.0


class Issues:
    """Issue slots that all looks found free on cores of one kind."""

    def __init__(self) -> None:
        self._seen: list[float] = []
        self._plateau, self._of = 0.0, 0

    def add(self, issue: float) -> None:
        """Take note of a look. Threads may do so at the same time."""
        bisect.insort(self._seen, issue)

    def unshared(self) -> float:
        """Return the issue of a core that nobody else uses; 0 before the first look.

        It is the highest that a tenth of all looks come up to, within 2 % below it: a plateau.
        """
        # A few looks more among many do not move it.
        if len(self._seen) >= _GROWN * self._of:
            self._plateau, self._of = plateau(self._seen), len(self._seen)
        return self._plateau


class Core:
    """What a thread knows of the core that it runs on. Make it on that thread.

    Parameters
    ----------
    driver : Driver
    issues : Issues
        Of all cores of its kind: one of them may always be shared.
    seed : int

    Raises
    ------
    OSError
        If there is no memory.
    """

    def __init__(self, driver: Driver, issues: Issues, seed: int) -> None:
        self._driver, self._issues = driver, issues
        self._steady_data = Buffer(WORKING_BYTES, seed)
        self._probe_data = Buffer(WORKING_BYTES, seed)
        self._steady_data.place(STEADY_CLOCK.operands, STEADY_CLOCK.claim.precision)
        self._probe_data.place(PROBE.operands, PROBE.claim.precision)
        self._fields = (
            driver.steady_clock.address, self._steady_data.address, _CLOCK_REPEATS,
            _BRIEF_REPEATS, driver.probe.address, self._probe_data.address, _PROBE_REPEATS,
        )  # fmt: skip
        self._times = (ctypes.c_int64 * len(_TIMES))()
        self._addition_cycles: int | None = None
        self._calibrate()

    def run(
        self,
        kernel: Function,
        data: int,
        *,
        size_bytes: int,
        repeats: int,
        warm_repeats: int,
        warmer: Function | None = None,
        barrier: int,
        threads: int,
        patient: bool,
    ) -> Span:
        """Run a kernel and time it.

        Parameters
        ----------
        kernel : Function
        data : int
            Address.
        size_bytes, repeats, warm_repeats : int
        warmer : Function or None
            What runs before, over the same data; None: the kernel itself.
        barrier : int
            Address of the count of threads that are ready.
        threads : int
            That wait for each other.
        patient : bool
            Whether to wait for a while until nobody shares the core.
        """
        unshared = self._issues.unshared()
        limit = round(_PER_LOOK / (SHARED * unshared)) if unshared else 0
        core = (ctypes.c_int64 * len(_CORE))(*self._fields, limit, _LOOKS if patient else 1)
        self._driver.drive(
            barrier, threads, (warmer or kernel).address, warm_repeats, kernel.address,
            data, size_bytes, repeats, ctypes.addressof(core),
            ctypes.addressof(self._times),
        )  # fmt: skip
        begin, end, cpu_begin, cpu_end, clock_ns, after_ns, brief_ns, before_ns, *cpus = self._times
        issues = (
            _issue(before_ns, brief_ns, _BRIEF_REPEATS),
            _issue(after_ns, clock_ns, _CLOCK_REPEATS),
        )
        for issue in issues:
            self._issues.add(issue)
        cycles = self._addition_cycles
        additions = STEADY_CLOCK.work_per_repeat * _CLOCK_REPEATS
        return Span(
            begin_ns=begin,
            end_ns=end,
            cpu_ns=cpu_end - cpu_begin,
            frequency_hz=None if cycles is None else 1e9 * cycles * additions / max(clock_ns, 1),
            issue=min(issues) / self._issues.unshared(),
            migrated=cpus[0] != cpus[1],
        )

    def _calibrate(self) -> None:
        """Find how many cycles an addition takes, and what an unshared core issues."""
        data = Buffer(WORKING_BYTES, 0)
        data.place(CLOCK.operands, CLOCK.claim.precision)
        one_cycle_s, addition_s = (
            min(self._seconds(function, where.address, _CLOCK_REPEATS) for _ in range(_FIRST_RUNS))
            / (kernel.work_per_repeat * _CLOCK_REPEATS)
            for kernel, function, where in (
                (CLOCK, self._driver.clock, data),
                (STEADY_CLOCK, self._driver.steady_clock, self._steady_data),
            )
        )
        self._addition_cycles = cycles_of_addition(one_cycle_s, addition_s)
        for _ in range(_FIRST_LOOKS):
            self._seconds(self._driver.clock, data.address, 1)

    def _seconds(self, function: Function, data: int, repeats: int) -> float:
        alone = ctypes.c_int64()
        span = self.run(
            function, data, size_bytes=0, warm_repeats=repeats, repeats=repeats,
            barrier=ctypes.addressof(alone), threads=1, patient=False,
        )  # fmt: skip
        return (span.end_ns - span.begin_ns) / 1e9


def _issue(probe_ns: int, clock_ns: int, clock_repeats: int) -> float:
    """Return operations of the probe in the time of one addition of the steady clock."""
    per_ns = PROBE.work_per_repeat * _PROBE_REPEATS / max(probe_ns, 1)
    return per_ns * max(clock_ns, 1) / (STEADY_CLOCK.work_per_repeat * clock_repeats)
