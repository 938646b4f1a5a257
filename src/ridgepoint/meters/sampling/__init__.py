"""Time per function: a clock of CPU time samples where native runs of a program are.

The clock is the kernel's, so that it works without counters of the processor. It tells nothing of
the time in the kernel, nor of waiting; the runtime comes from runs that nobody samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Sampled, Timed, TimedFunction
from ridgepoint.host.run import Run
from ridgepoint.meters.code_made import from_now_s, read_code_made
from ridgepoint.meters.sampling.address_space import places
from ridgepoint.meters.sampling.names import Function, Names
from ridgepoint.meters.sampling.recorder import recording, why_unavailable
from ridgepoint.meters.sampling.records import Lost, Record
from ridgepoint.meters.sampling.shares import Share, Shares, interval
from ridgepoint.meters.symbols import Symbols

__all__ = ["Sampler", "why_unavailable"]

_SHORTEST_PERIOD_NS = 973_001
"""Not a millisecond: programs do things every millisecond."""

_MOST_SAMPLES = 60_000
_LOST = 0.01
_ACCOUNTED = 0.10
_LEAST_CPU_S = 0.05
_UNCOUNTED = 0.05
_MOST_NAMED = 3


@dataclass(slots=True)
class Sampler:
    """Samples native runs of one program.

    Parameters
    ----------
    cpu_s : float
        CPU time that one run takes: long ones are sampled less often.
    """

    cpu_s: float
    runs: list[Run] = field(default_factory=list)
    lost: int = 0
    _shares: Shares = field(init=False)
    _code_made: dict[int, Symbols] = field(default_factory=dict)

    def __post_init__(self) -> None:
        period_ns = max(_SHORTEST_PERIOD_NS, round(self.cpu_s / _MOST_SAMPLES * 1e9))
        self._shares = Shares(period_s=period_ns * 1e-9)

    @property
    def samples(self) -> int:
        """Taken so far."""
        return self._shares.samples

    def sample(self, run: Callable[[], Run]) -> None:
        """Run the program once more, and sample it.

        Parameters
        ----------
        run : callable
            Starts the program from this thread and waits for it.

        Raises
        ------
        MeterUnavailable
            If the kernel allows no sampling.
        CannotMeasure
            If what it wrote is damaged.
        """
        since_s = from_now_s()
        with recording(period_ns=round(self._shares.period_s * 1e9)) as seen:
            self.runs.append(run())
        each = list(seen.records())
        self.lost += sum(record.n for record in each if isinstance(record, Lost))
        self._add(each, since_s=since_s)

    def _add(self, each: Sequence[Record], *, since_s: float) -> None:
        placed = list(places(each))
        self._shares.add(placed)
        pids = {place.pid for _, place in placed if place.pid is not None}
        self._code_made |= read_code_made(pids, since_s=since_s)

    def sampled(self, functions: Sequence[FunctionCounts], timed: Timed) -> Sampled:
        """Return where the time went.

        Parameters
        ----------
        functions : sequence of FunctionCounts
            Of the counted run, whose names are taken where they fit.
        timed : Timed
            Runs that nobody sampled: their CPU time is what is divided, so that neither sampling
            nor a neighbour on the same core counts.
        """
        names = Names(functions, self._code_made)
        found: dict[Function, Share] = {}
        for place, share in self._shares.of.items():
            found.setdefault(names.of(place), Share()).add(share)
        cpu_s = sum(run.cpu_s for run in self.runs)
        user_s = sum(run.cpu_s - run.system_s for run in self.runs)
        # The kernel accounts nothing to what is over before its first tick.
        scale = timed.cpu_s.median / cpu_s if cpu_s and timed.cpu_s.median else 1 / len(self.runs)
        seen_s = self.samples * self._shares.period_s
        clock_error = abs(seen_s - user_s) / max(seen_s, user_s) if seen_s and user_s else 0.0
        error = math.hypot((timed.cpu_s.relative_spread or 0.0) / 2, clock_error)
        each = [
            self._timed(function, share, scale=scale, error=error)
            for function, share in found.items()
        ]
        each.sort(
            key=lambda function: (
                -function.runtime_s.median,
                function.name or "",
                function.object or "",
            )
        )
        return Sampled(
            runs=len(self.runs),
            period_s=self._shares.period_s,
            samples=self.samples,
            user_s=user_s / len(self.runs),
            system_s=sum(run.system_s for run in self.runs) / len(self.runs),
            functions=tuple(each),
            cautions=(*self._doubts(user_s), *_uncounted(each, functions)),
        )

    def _timed(
        self, function: Function, share: Share, *, scale: float, error: float
    ) -> TimedFunction:
        """Return the time of one function; its share has an error of its own."""
        low, high = interval(share.samples, self.samples)
        middle = share.samples / self.samples
        time_s = share.wall_s * scale
        ends = (
            time_s * max(1 - math.hypot(1 - low / middle, error), 0.0),
            time_s * (1 + math.hypot(high / middle - 1, error)),
        )
        object_, name = function
        return TimedFunction(
            name=name,
            object=object_,
            samples=share.samples,
            runtime_s=Estimate([time_s], interval=ends),
            cpu_s=share.samples * self._shares.period_s * scale,
            first_s=share.first_s,
        )

    def _doubts(self, user_s: float) -> list[Caution]:
        """Return what speaks against the samples: some are missing."""
        doubts = []
        if self.lost > _LOST * max(self.samples, 1):
            doubts.append(
                Caution(
                    "samples-lost",
                    f"{self.lost} records of samples were lost ({self.samples} were kept)",
                    "leave a core to Ridgepoint while the program runs: taskset",
                )
            )
        seen_s = self.samples * self._shares.period_s
        if user_s > _LEAST_CPU_S and abs(seen_s - user_s) > _ACCOUNTED * user_s:
            doubts.append(
                Caution(
                    "samples-missing",
                    f"the samples stand for {seen_s:.3g} s of CPU time in user mode, and the "
                    f"kernel accounted {user_s:.3g} s",
                    "threads that live for less than a millisecond are not sampled: trust the "
                    "shares of the others no more than the samples cover",
                )
            )
        return doubts


def _uncounted(
    timed: Sequence[TimedFunction], functions: Sequence[FunctionCounts]
) -> tuple[Caution, ...]:
    """Doubt that both runs did the same, where one was long in code that the other never saw."""
    counted = {(function.object, function.name) for function in functions}
    # Code made at run time has a name in one run and none in the other.
    others = [
        function
        for function in timed
        if function.object is not None and (function.object, function.name) not in counted
    ]
    total_s = sum(function.runtime_s.median for function in timed)
    share = sum(function.runtime_s.median for function in others) / total_s if total_s else 0.0
    if share < _UNCOUNTED or not functions:
        return ()
    named = ", ".join(
        function.name or f"code of {function.object}" for function in others[:_MOST_NAMED]
    )
    return (
        Caution(
            "other-code",
            f"functions that the counted run never entered took {share:.0%} of the sampled "
            f"time ({named}): their work and traffic are not known",
            "libraries choose code by the CPU, and Valgrind's CPU has no AVX-512: make them "
            "choose the same code in both runs (OPENBLAS_CORETYPE, GLIBC_TUNABLES, "
            "NPY_DISABLE_CPU_FEATURES)",
        ),
    )
