"""Measure a region of a script in place: time its entries here, count them in a second run."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Measurement, Protocol
from ridgepoint.core.timed import Timed
from ridgepoint.host import Activity, System, of_activity, usable_cpus
from ridgepoint.host.run import Run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters.first_choice import first_choice
from ridgepoint.profiling.calls.average import average_counts, average_functions, average_traffic
from ridgepoint.profiling.calls.cautions import Words, time_cautions
from ridgepoint.profiling.calls.child import is_counted
from ridgepoint.profiling.calls.counted import run_to_count
from ridgepoint.profiling.calls.replay import Replay, replay_here
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.sample_cautions import Remedies
from ridgepoint.regions import is_recorded, region

MOST_SAMPLES = 1000
"""Of more entries the samples are means of several."""

_IDLE_ENTRIES = 1000
_WITH_CPU_TIME = 100  # number of first entries with CPU time; later, one entry in this many
_WORDS = Words(
    one="an entry",
    around="reading clocks takes",
    more=Remedies(
        few="enter it at least 6 times", noisy="stop other programs, or enter it more often"
    ),
)
_now_ns = time.perf_counter_ns
_RUN_ALONE = "run the script by itself"


class Watch:
    """A measured region: a context manager that can be entered any number of times.

    Parameters
    ----------
    name : str
        Name, as for `ridgepoint.region`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._mark = region(name)
        self._is_marked = is_recorded()
        self._clock = _Clock()
        self._replay = replay_here()
        self._is_timing = self._replay is None
        self._before: Activity | None = None
        self._result: Measurement | None = None

    def __enter__(self) -> Watch:
        if self._is_timing:
            if self._before is None:
                self._before = System().activity()
            if self._is_marked:
                self._mark.__enter__()
            self._clock.begin()
            return self
        if self._replay is None:
            raise CannotMeasure(
                self._what,
                reason="it was entered again after its result had been taken",
                remedy=(
                    "call result() after the last entry, or give this part of the program "
                    "another name"
                ),
            )
        self._replay.entries += 1
        self._mark.__enter__()  # what is executed after it is counted
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_timing:
            self._clock.end()
        if self._is_marked:
            self._mark.__exit__(*exception)

    def result(
        self, *, caches: Sequence[Cache] | None = None, timeout_s: float | None = None
    ) -> Measurement:
        """Return the average time and work of one entry; count them at the first call.

        Parameters
        ----------
        caches : sequence of Cache or None
            Caches to simulate; None: this host's.
        timeout_s : float or None
            Time limit of the counting run.

        Raises
        ------
        CannotMeasure
            If the region was never entered, or is still open; if there is no script to run again;
            if its second run does not come here.
        MeterUnavailable
            If the counting engine does not work here.
        """
        if self._replay is not None:
            self._result = self._replay.answer(self.name)
        if self._result is None:
            self._require_entries()
            self._result = self._measured(
                _command(self._what),
                tuple(System().caches if caches is None else caches),
                timeout_s,
            )
            self._is_timing = False
            _RESULTS[self.name] = self._result
        return self._result

    @property
    def _what(self) -> str:
        return f"cannot measure region {self.name!r}"

    def _require_entries(self) -> None:
        if self._clock.inside:
            raise CannotMeasure(
                self._what,
                reason="result() was called inside the region",
                remedy="call result() after the end of the region",
            )
        if not self._clock.wall_ns:
            raise CannotMeasure(
                self._what,
                reason="it was never entered",
                remedy=(
                    f"put the code of the region below 'with ridgepoint.measuring({self.name!r}):'"
                ),
            )

    def _measured(
        self, command: Sequence[str], caches: tuple[Cache, ...], timeout_s: float | None
    ) -> Measurement:
        context = context_here()
        assert self._before is not None  # it was entered
        disturbances = tuple(of_activity(self._before, System().activity()))
        entries, counted = self._counted(command, caches, timeout_s)
        group, timed, overhead_s = self._clock.timed()
        return Measurement(
            command=(self.name,),
            counted=_of_one_entry(counted, entries),
            timed=timed,
            context=context,
            cautions=(*_entries_caution(len(self._clock.wall_ns), entries), *disturbances),
            protocol=Protocol(
                state="in place",
                calls=group,
                replicas=1,
                data_bytes=None,
                overhead_s=overhead_s,
                counted_calls=entries,
            ),
        )

    def _counted(
        self, command: Sequence[str], caches: tuple[Cache, ...], timeout_s: float | None
    ) -> tuple[int, Counted]:
        """Count the region in a second run; return its entries in that run too."""
        meter = first_choice(cpus=len(usable_cpus()), region=self.name, all_threads=True)
        with scratch_folder() as name:
            environment = Replay.prepare(Path(name), self.name, _RESULTS)
            statuses: list[int] = []

            def launch(wrapped: Sequence[str]) -> Run:
                done = run_to_count(wrapped, timeout_s=timeout_s, environment=environment)
                statuses.append(done.exit_status)
                return done

            try:
                counted = meter.count(command, launch=launch, caches=caches)
            except CannotMeasure as error:
                if statuses and type(error) is CannotMeasure:
                    Replay.entries_of(Path(name), self._what, statuses[-1])
                raise
            return Replay.entries_of(Path(name), self._what, statuses[-1]), counted


@dataclass(slots=True)
class _Clock:
    """Times with at least one thread inside, ns; CPU times for some of them."""

    inside: int = 0
    wall_ns: array[int] = field(default_factory=lambda: array("q"))
    cpu_ns: array[int] = field(default_factory=lambda: array("q"))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _began_ns: int = 0
    _cpu_began_ns: int = 0
    _until_cpu: int = 0  # entries

    def begin(self) -> None:
        with self._lock:
            self.inside += 1
            if self.inside == 1:
                # That clock is a system call, so it is read on the outer side, and not always.
                if self._until_cpu == 0:
                    self._cpu_began_ns = time.process_time_ns()
                self._began_ns = _now_ns()

    def end(self) -> None:
        now_ns = _now_ns()
        with self._lock:
            self.inside -= 1
            if self.inside == 0:
                self.wall_ns.append(now_ns - self._began_ns)
                if self._until_cpu:
                    self._until_cpu -= 1
                else:
                    self.cpu_ns.append(time.process_time_ns() - self._cpu_began_ns)
                    if len(self.wall_ns) > _WITH_CPU_TIME:
                        self._until_cpu = _WITH_CPU_TIME - 1

    def timed(self) -> tuple[int, Timed, float]:
        """Return the number of entries per sample, the samples, and the time of an empty entry."""
        group = -(-len(self.wall_ns) // MOST_SAMPLES)
        overhead_s = _empty_entry_s()
        runtime = _means(self.wall_ns, group)
        timed = Timed(
            runtime_s=runtime,
            cpu_s=_means(self.cpu_ns, -(-len(self.cpu_ns) // MOST_SAMPLES)),
            cautions=tuple(time_cautions(runtime, overhead_s=overhead_s, words=_WORDS)),
        )
        return group, timed, overhead_s


def _means(times_ns: Sequence[int], group: int) -> Estimate:
    """Return the estimate from means of consecutive entries; a small rest is left out.

    The time of entries may drift slowly, so neighbouring entries belong together.
    """
    whole = len(times_ns) // group * group
    return Estimate(sum(times_ns[i : i + group]) / group / 1e9 for i in range(0, whole, group))


def _empty_entry_s() -> float:
    clock = _Clock()
    for _ in range(_IDLE_ENTRIES):
        clock.begin()
        clock.end()
    return Estimate(ns / 1e9 for ns in clock.wall_ns).median


def _command(what: str) -> tuple[str, ...]:
    """Return the command that runs this script again.

    Raises
    ------
    CannotMeasure
        If there is no such command, or this process is being counted itself.
    """
    if is_counted() or "vgpreload_core" in os.environ.get("LD_PRELOAD", ""):
        raise CannotMeasure(
            what, reason="this process is already being counted from outside", remedy=_RUN_ALONE
        )
    if multiprocessing.parent_process() is not None:
        raise CannotMeasure(
            what,
            reason="this process was started by multiprocessing, and cannot be run again",
            remedy="enter it in the main process, or measure a function: ridgepoint.measure()",
        )
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if script is None or not Path(script).is_file():  # "<stdin>", say
        raise CannotMeasure(
            what,
            reason="there is no script that can be run again to count the region",
            remedy="write a script, or measure a function: ridgepoint.measure()",
        )
    return (sys.executable, *sys.orig_argv[1:])


def _of_one_entry(counted: Counted, entries: int) -> Counted:
    return replace(
        counted,
        counts=average_counts(counted.counts, entries),
        traffic=average_traffic(counted.traffic, entries),
        functions=average_functions(counted.functions, entries),
        regions=(),
    )


def _entries_caution(native: int, counted: int) -> tuple[Caution, ...]:
    if native == counted:
        return ()
    return (
        Caution(
            "region-entries-differ",
            f"it was entered {native} time(s) in the timed run and {counted} in the counted run",
            "its runs differ: fix random seeds, input and number of threads, and make the "
            "number of entries independent of time",
        ),
    )


_RESULTS: dict[str, Measurement] = {}
"""By the name of the region, as a second run that counts another one needs them."""

_WATCHES: dict[str, Watch] = {}


def measuring(name: str) -> Watch:
    """Return a watch that measures a region of this script: runtime, work and traffic of an entry.

    Parameters
    ----------
    name : str
        Name, as for `ridgepoint.region`: all regions with one name are the same region.

    Returns
    -------
    Watch
        To be used with ``with``, any number of times; then `Watch.result` returns the measurement.

    Raises
    ------
    ValueError, TypeError
        If the name is invalid.

    Notes
    -----
    Every entry is timed in this process. For counting, `Watch.result` runs the script again from
    its beginning, with the same arguments and without input, and ends it there: it should do
    the same again. Regions may be nested. The work of threads that run while another one is
    inside counts, too.

    Examples
    --------
    In a script::

        watch = ridgepoint.measuring("solve")
        for step in range(20):
            with watch:
                solve()
        measurement = watch.result()
    """
    if name not in _WATCHES:
        _WATCHES[name] = Watch(name)
    return _WATCHES[name]
