"""Counts with the engine: a Valgrind tool of our own, built at first use.

It counts every instruction exactly, keeps the bytes of what was executed (so that code made at
run time is decoded too), and simulates the caches of the machine, up to four levels, as many
private and shared ones as there are CPUs. What it cannot do: AVX-512 (refused by name).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from ridgepoint.caution import Caution
from ridgepoint.errors import CannotMeasure, InvalidDocument
from ridgepoint.machine import Cache
from ridgepoint.measurement import Counted
from ridgepoint.meters import Launch, Meter, Run, Selection, Unavailable
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.code_made import from_now_s
from ridgepoint.meters.engine import cautions as doubts
from ridgepoint.meters.engine.build import Engine, engine
from ridgepoint.meters.engine.files import Written, options, writable_by_all
from ridgepoint.meters.engine.geometry import Geometry, simulated
from ridgepoint.meters.object_file import CodeStore, ObjectFile
from ridgepoint.meters.profile.counts import Totals, count
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.profile.selected import is_function, never_ran, selects
from ridgepoint.meters.valgrind import cautions as valgrind_doubts
from ridgepoint.meters.valgrind.host import check_startable, why_unavailable
from ridgepoint.meters.valgrind.log import lost
from ridgepoint.meters.valgrind.refusals import (
    check_main_is_counted,
    check_supported,
    ended_by_signal,
)
from ridgepoint.scratch import scratch_folder

MOST_GEOMETRIES = 8
"""Caches that can be simulated in one run, the machine's own included."""

_NO_LOG = "Cannot create log file"
_MOST_LINES_FOLLOWED = 1 << 20  # 64 MiB of lines of 64 byte; beyond, the miss curve is sampled
_OPTIONS = (
    "--tool=ridgepoint",
    "--command-line-only=yes",  # options of a user's own are meant for other tools
    "--trace-children=yes",
    "--fair-sched=try",  # else a spinning thread may starve the one that it waits for
    "--max-threads=12000",
    "--vgdb=no",  # it leaves pipes in the temporary directory
    "--run-libc-freeres=no",  # both would count work that is not the program's
    "--run-cxx-freeres=no",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMeter:
    """Counts with the engine; see the module.

    Parameters
    ----------
    cpus : int
        Simulated CPUs, over which threads are spread.
    simulate : bool
        Whether caches are simulated; counts alone take half the time or less.
    region : str or None
        Count only in regions of this name; None: everywhere.
    function : str or None
        Count only in functions whose symbol is this or matches it as a regular expression, and in
        what they call; None: everywhere.
    all_threads : bool
        Count what all threads of a process do while one of them is in the region or function.
    cold : bool
        Empty the caches whenever the region or function begins, and when it ends: what it leaves
        dirty is written back by then, and its own.
    alternatives : tuple of tuple of Cache
        Other caches to simulate in the same run.
    ends : tuple of tuple of Cache
        The least and the most that a program may get of the caches, if they vary: they are
        simulated too, as far as the engine has room for them beside the alternatives.
    miss_curve : bool
        Whether to find the traffic over the size of the cache.
    may_be_replaced : bool
        Whether callgrind may count in its place where it cannot be built.
    report : callable or None
        Is told when the engine has to be built first.
    """

    cpus: int = 1
    simulate: bool = True
    region: str | None = None
    function: str | None = None
    all_threads: bool = False
    cold: bool = False
    alternatives: tuple[tuple[Cache, ...], ...] = ()
    ends: tuple[tuple[Cache, ...], ...] = ()
    miss_curve: bool = False
    may_be_replaced: bool = True
    report: Callable[[str], None] | None = None

    name = "engine"
    slowdown = "2 to 200"

    def __post_init__(self) -> None:
        if self.region is not None and self.function is not None:
            raise ValueError("region and function cannot both be given")
        if self.selection is None:
            for name in ("cold", "all_threads"):
                if getattr(self, name):
                    raise ValueError(f"{name} needs a region or a function")
        if len(self.alternatives) >= MOST_GEOMETRIES:
            raise ValueError(f"alternatives can be {MOST_GEOMETRIES - 1} at most")

    @property
    def selection(self) -> Selection | None:
        """What is counted alone; None: everything."""
        if self.region is not None:
            return Selection(kind="region", name=self.region, all_threads=self.all_threads)
        if self.function is not None:
            return Selection(kind="function", name=self.function, all_threads=self.all_threads)
        return None

    @property
    def stand_in(self) -> Meter | None:
        """callgrind, unless it was ruled out or cannot do what is asked for."""
        asks_more = self.selection is not None or self.alternatives or self.miss_curve
        return CallgrindMeter() if self.may_be_replaced and not asks_more else None

    @property
    def without_traffic(self) -> EngineMeter:
        """The engine without caches."""
        return replace(self, simulate=False, cold=False, alternatives=(), ends=(), miss_curve=False)

    def why_unavailable(self) -> Unavailable | None:
        """Return why the engine cannot count here, or None; builds it if need be."""
        return why_unavailable(
            lambda: engine(report=self.report),
            cost="work and traffic are counted with callgrind, many times slower, and with two "
            "caches",
        )

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count one run of a command; see `ridgepoint.meters.Meter`.

        Raises
        ------
        MeterUnavailable
            If the engine cannot be built here.
        CannotStart
            If the program is not there or not for x86-64.
        UnsupportedInstruction
            If it executed an instruction that Valgrind cannot, even if it survived that.
        CannotMeasure
            If it was killed, the counts are damaged or missing, or what was to be counted alone
            never ran.
        """
        built = engine(report=self.report)
        check_startable(command)
        geometries = self._geometries(caches)
        naming = Naming(since_s=from_now_s())
        with scratch_folder() as name:
            directory = writable_by_all(Path(name).resolve())  # the program may change its own
            run = launch(
                (
                    *("env", f"VALGRIND_LIB={built.library}", built.valgrind),
                    *_OPTIONS,
                    *self._own_options(geometries),
                    *options(directory),
                    *("--", *command),
                )
            )
            written = Written.read(directory)
        what = f"cannot count {command[0]!r} with the engine"
        check_supported(what, written.logs, executed=_executed(written), version=built.version)
        check_main_is_counted(what, written.logs, written.pids, run)
        return self._counted(what, written, run, geometries=geometries, built=built, naming=naming)

    def _geometries(self, caches: Sequence[Cache]) -> tuple[Geometry, ...]:
        if not self.simulate:
            return ()
        others = (*self.alternatives, *self.ends)[: MOST_GEOMETRIES - 1]
        return tuple(simulated(each, cpus=self.cpus) for each in (caches, *others))

    def _own_options(self, geometries: Sequence[Geometry]) -> tuple[str, ...]:
        chosen = [geometry.option for geometry in geometries]
        if self.miss_curve:
            chosen.append(f"--miss-curve={_MOST_LINES_FOLLOWED}")
        if self.region is not None:
            chosen.append(f"--region={self.region}")
        if self.function is not None:
            chosen.append(f"--function={self.function}")
        if self.cold:
            chosen.append("--cold=yes")
        if self.all_threads:
            chosen.append("--all-threads=yes")
        return tuple(chosen)

    def _counted(
        self,
        what: str,
        written: Written,
        run: Run,
        *,
        geometries: Sequence[Geometry],
        built: Engine,
        naming: Naming,
    ) -> Counted:
        belongs = selects(self.selection)
        try:
            totals = count(
                written.profiles,
                alternatives=[geometry.caches for geometry in geometries[1:]],
                selects=belongs,
                naming=naming,
            )
        except InvalidDocument as error:
            raise CannotMeasure(what, reason=error.reason, remedy=error.remedy) from error
        selection = self.selection
        if selection and belongs and not any(belongs(one.name) for one in totals.regions):
            entered = chain.from_iterable(n for p in written.profiles for n in p.banks)
            raise never_ran(what, selection, entered)
        lost_pids = lost(written.logs, written.pids)
        most_threads = max(profile.process.most_threads for profile in written.profiles)
        return Counted(
            meter=f"engine (Valgrind {built.version})",
            counts=totals.counts,
            traffic=totals.traffic,
            functions=totals.functions,
            caches=geometries[0].caches if geometries else (),
            processes=len(written.pids),
            regions=tuple(r for r in totals.regions if not is_function(r.name)),
            alternatives=totals.alternatives[: len(self.alternatives)],
            ends=totals.alternatives[len(self.alternatives) :],
            miss_curve=totals.miss_curve,
            partial=_why_partial(written, run, lost_pids),
            selected=None if self.selection is None else str(self.selection),
            cautions=(
                *built.cautions,
                *dict.fromkeys(chain.from_iterable(each.cautions for each in geometries)),
                *self._cautions(written, totals, lost_pids, most_threads),
            ),
            most_threads=most_threads,
        )

    def _cautions(
        self, written: Written, totals: Totals, lost_pids: Sequence[int], most_threads: int
    ) -> tuple[Caution, ...]:
        return (
            *valgrind_doubts.undecoded(totals.counts),
            *valgrind_doubts.wider_path(totals.functions),
            *valgrind_doubts.processes(len(written.pids), lost=lost_pids),
            *doubts.threads(most_threads, cpus=self.cpus),
            *doubts.pending_writes(totals.traffic),
            *(() if self.selection is None or self.cold else doubts.selected(self.selection)),
        )


def _why_partial(written: Written, run: Run, lost_pids: Sequence[int]) -> str | None:
    if (reason := ended_by_signal(written.logs, run)) is not None:
        return reason
    if lost_pids:
        return f"processes {', '.join(map(str, lost_pids))} left no counts"
    if any(_NO_LOG in log.text for log in written.logs):
        return (
            "a process that had changed its user or its root directory forked, and Valgrind ended "
            "its child, which could not write its log"
        )
    return None


def _executed(written: Written) -> Iterator[ObjectFile]:
    """Yield the object files whose code ran, each read when it is its turn."""
    code = CodeStore()
    paths = {
        profile.strings[index]
        for profile in written.profiles
        for index in set(profile.instructions["object"].tolist())
    }
    for path in sorted(paths):
        if path and (file := code.get(path)) is not None:
            yield file
