"""Whether the counted run can have done the same work as the timed runs.

Both are runs of one program, but the meter shows it another CPU and takes many times as long: a
program that chooses its code by the CPU, or works until a time limit, then does other work.
"""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si

MOST_PER_CYCLE = 8.0
"""Instructions that a core completes in a cycle at most: the widest x86-64 cores issue 8 (Zen 5,
Lion Cove), and no program keeps that up. The clock may be a fifth above the measured one."""

LEAST_PER_CYCLE = 0.05
"""Instructions per cycle of the slowest code that does not wait for memory: chains of divisions,
square roots or transcendental functions take up to 20 cycles for each."""

ANSWERED_S = 1e-6
"""By then any cache or memory has answered, page walks included."""

LEAST_SLOWDOWN = 2.0
"""CPU time under a meter that simulates over CPU time natively, of code that does not wait."""

_LEAST_CPU_S = 0.005
_LEAST_USER_S = 0.1  # the kernel tells user from system time by ticks of 10 ms
_LINE_BYTES = 64
_CODE = "other-work"
_FIXED_TIME = (
    "a program that works for a fixed time does less while it is counted, because counting "
    "slows it down: give it a fixed amount of work; until then trust neither its performance "
    "nor its bound"
)
_OTHER_CODE = (
    "libraries choose code by the CPU, and the CPU that the counted run saw lacks instructions "
    "(SHA, AVX-512, AMX): make both runs choose the same code (OPENSSL_ia32cap, "
    "OPENBLAS_CORETYPE, GLIBC_TUNABLES); until then trust neither the program's performance "
    "nor its bound"
)


def by_instructions_per_cycle(measurement: Measurement, machine: Machine) -> Iterator[Caution]:
    """Yield a caution if the counted instructions do not fit the time, by the core's clock.

    Parameters
    ----------
    measurement : Measurement
    machine : Machine
        Machine on which it was timed; if it is another one, or its clock is not known, there is no
        caution.
    """
    timed, clock_hz = measurement.timed, machine.host.frequency_hz
    elsewhere = measurement.context.cpu != machine.host.cpu
    if timed is None or clock_hz is None or elsewhere or is_doubted(measurement):
        return
    instructions = measurement.counted.counts.instructions
    waited_s = _memory_s(measurement.counted)
    calls = measurement.protocol is not None  # each time is the mean over many calls
    cpu_s, in_user_s = timed.cpu_s.median, user_s(timed)
    least_s = instructions / (MOST_PER_CYCLE * clock_hz)
    most_s = instructions / (LEAST_PER_CYCLE * clock_hz) + (waited_s or 0.0)
    if cpu_s < least_s and (calls or cpu_s > _LEAST_CPU_S):
        limit = f"no core retires more than {MOST_PER_CYCLE:g}"
        yield _doubt(instructions, cpu_s, clock_hz, limit, _OTHER_CODE)
    elif waited_s is not None and in_user_s > most_s and (calls or in_user_s > _LEAST_USER_S):
        limit = (
            f"code retires more than {LEAST_PER_CYCLE:g} unless it waits for memory, and "
            f"waiting explains {format_si(waited_s, 's', digits=2)} at most"
        )
        yield _doubt(instructions, in_user_s, clock_hz, limit, _FIXED_TIME)


def _doubt(instructions: int, cpu_s: float, clock_hz: float, limit: str, remedy: str) -> Caution:
    per_cycle = instructions / (clock_hz * cpu_s)
    return Caution(
        _CODE,
        f"{format_si(instructions, '', digits=3).strip()} instructions were counted, and the "
        f"timed runs took {format_si(cpu_s, 's', digits=3)} of CPU time: that is "
        f"{per_cycle:.2g} per cycle at {format_si(clock_hz, 'Hz', digits=3)}, but {limit}: the "
        "counted run did other work",
        remedy,
    )


def by_slowdown(counted: Counted, counted_s: float, timed: Timed) -> Iterator[Caution]:
    """Yield a caution if counting was too fast to have done the same work.

    Parameters
    ----------
    counted : Counted
        Counts with simulated traffic; without it, there is no caution.
    counted_s : float
        CPU time in user mode of the run under the meter.
    timed : Timed
        The native runs.
    """
    native_s, waited_s = user_s(timed), _memory_s(counted)
    if waited_s is None or native_s < _LEAST_USER_S:
        return
    # Memory stalls take no longer under a meter.
    if counted_s < LEAST_SLOWDOWN * (native_s - waited_s):
        yield Caution(
            _CODE,
            f"counting took {format_si(counted_s, 's', digits=3)} of CPU time, and the timed "
            f"runs took {format_si(native_s, 's', digits=3)}: the same work takes at least "
            f"{LEAST_SLOWDOWN:g} times as long while it is counted",
            _FIXED_TIME,
        )


def is_doubted(measurement: Measurement) -> bool:
    """Return whether a caution already says that the counted run did other work."""
    return any(caution.code == _CODE for caution in measurement.all_cautions)


def user_s(timed: Timed) -> float:
    """Return the user-mode CPU time, or all CPU time if system time is unknown [s]."""
    system_s = 0.0 if timed.system_s is None else timed.system_s.median
    return max(timed.cpu_s.median - system_s, 0.0)


def _memory_s(counted: Counted) -> float | None:
    """Return the upper limit of the time of reads beyond L1 [s]; None: not simulated."""
    beyond = [part.read_bytes for part in counted.traffic if part.level != "l1"]
    return max(beyond) / _LINE_BYTES * ANSWERED_S if beyond and counted.caches else None
