"""Counts with the copying engine: programs run at native speed, in copies that count.

Every module of a program is copied with one counter per basic block, once, and the copy is kept.
The program then runs in the copies, on the real CPU: AVX-512, AMX and all. What could not be
copied runs as it is, uncounted; samples say how much of the time that was. Where caches are to be
simulated the copies note all addresses, and the program runs as much slower as that takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted, Coverage, TrafficEstimate
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable, reason_of
from ridgepoint.core.machine import Cache
from ridgepoint.core.units import format_si
from ridgepoint.host.run import Run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters import Launch, Meter, Unavailable
from ridgepoint.meters.code_made import from_now_s
from ridgepoint.meters.native import cautions as doubts
from ridgepoint.meters.native.arena import (
    OPTION_ALL_THREADS,
    OPTION_BURSTS,
    OPTION_JIT,
    OPTION_SAMPLES,
    OPTION_TRAFFIC,
    Arena,
    Contents,
)
from ridgepoint.meters.native.build import WHAT, NativeEngine, native_engine
from ridgepoint.meters.native.bursts import estimated
from ridgepoint.meters.native.collector import collecting
from ridgepoint.meters.native.copies import folder_of_copies, was_made
from ridgepoint.meters.native.coverage import coverage_of, surely_less, uncounted_in_words
from ridgepoint.meters.native.history import History, Program, history_of
from ridgepoint.meters.native.profiles import profiles_of
from ridgepoint.meters.native.refusals import check_countable, env_program, preload
from ridgepoint.meters.native.traffic import Wanted
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.profile.asked import Asked, doubts_of_geometry
from ridgepoint.meters.profile.counts import Totals
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.profile.selected import selects
from ridgepoint.meters.simulated.cautions import apart
from ridgepoint.meters.simulated.geometry import Geometry
from ridgepoint.regions import ARENA_VARIABLE

_SLOWEST_TICK_S, _LEAST_UNSEEN_S = 0.01, 0.5
_MOST_LINES_FOLLOWED = 1 << 20  # beyond, the miss curve is sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeMeter(Asked):
    """Counts with the copying engine; see the module.

    What `ridgepoint.meters.profile.asked.Asked` says is asked of it; caches are not simulated
    unless that is.

    Parameters
    ----------
    estimates : bool
        Whether only bursts of the program are simulated, and its traffic is estimated by them: it
        runs at about its own speed. There are no alternatives, ends and miss curve then.
    options : int
        Of the arena.
    beside : tuple of Path
        Other libraries that are preloaded.
    variables : tuple of str
        More variables of the program's environment: ``NAME=value``.
    """

    simulate: bool = False
    estimates: bool = False
    beside: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()
    options: int = OPTION_SAMPLES | OPTION_JIT

    name = "native"

    def __post_init__(self) -> None:
        Asked.__post_init__(self)
        if self.estimates and (
            self.cold or self.all_threads or self.alternatives or self.miss_curve
        ):
            raise ValueError(
                "bursts say nothing about cold or other caches, and give no miss curve"
            )

    @property
    def slowdown(self) -> str:
        """How many times as long as natively a run takes: simulating caches is most of it."""
        return "2 to 100" if self.simulate and not self.estimates else "1 to 3"

    @property
    def stand_in(self) -> Meter | None:
        """None: whoever asks for this one wants the path that a program really takes."""
        return None

    @property
    def without_traffic(self) -> NativeMeter | None:
        """The same without caches; None: it simulates none."""
        return self.counting_alone() if self.simulate else None

    def why_unavailable(self) -> Unavailable | None:
        """Return why the engine cannot count here, or None; builds it if need be."""
        try:
            native_engine(report=self.report)
        except MeterUnavailable as error:
            return Unavailable(
                reason=error.reason,
                remedy=error.remedy,
                cost="AVX-512 and AMX are not counted, and counting takes much longer",
            )
        return None

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count one run of a command; see `ridgepoint.meters.Meter`.

        Raises
        ------
        MeterUnavailable
            If the engine cannot be built here.
        CannotStart
            If the program is not there or not for x86-64.
        CannotMeasure
            If nothing can be preloaded into it, nothing of it was counted, too little of its time
            was, or what was to be counted alone never ran.
        """
        built = native_engine(report=self.report)
        check_countable(command)
        what = f"cannot count {command[0]!r} with the copying engine"
        preloaded = preload(built.library, *self.beside)
        with scratch_folder() as scratch:
            copies, own = folder_of_copies(built.copies, Path(scratch))
            naming = Naming(since_s=from_now_s())
            began_ns = time.time_ns()
            geometries = self.geometries(caches)[: 1 if self.estimates else None]
            with self._arena(what, built, copies, geometries) as arena:
                variables = (
                    f"LD_PRELOAD={preloaded}",
                    f"{ARENA_VARIABLE}={arena.path}",
                    *self.variables,
                )
                with collecting(arena) as collector:
                    run = launch((env_program(), *variables, *command))
                contents = arena.read(collector.banks())
            contents, estimate = self._whole(contents, geometries)
            history = history_of(contents.events)
            _check_begun(what, contents, history, run)
            totals = self.totals(
                what,
                profiles_of(contents, history.programs, files=_files(contents, began_ns)),
                entered=(bank.regions for bank in contents.banks),
                geometries=geometries,
                naming=naming,
            )
            covered = coverage_of(contents, history, selects=selects(self.selection))
        _check_covered(what, covered)
        if self.all_threads:
            _check_together(what, contents)
        return self._counted(
            contents,
            history,
            run,
            totals=totals,
            covered=covered,
            unseen_s=0.0 if _was_copied(contents, began_ns) else _unseen_s(contents, run),
            geometries=geometries,
            estimate=estimate,
            built=replace(built, cautions=(*built.cautions, *own)),
        )

    def _whole(
        self, contents: Contents, geometries: Sequence[Geometry]
    ) -> tuple[Contents, TrafficEstimate | None]:
        """Return what was moved in all, where only bursts were seen."""
        if not (self.simulate and self.estimates):
            return contents, None
        caches = [cache.size_bytes // cache.line_bytes for cache in geometries[0].data]
        found = estimated(contents, cache_lines=caches)
        if found.estimate is None or self.selection is None:
            return found.contents, found.estimate
        return found.contents, replace(found.estimate, levels=())

    def _arena(
        self, what: str, built: NativeEngine, copies: Path, geometries: tuple[Geometry, ...]
    ) -> Arena:
        wanted = Wanted(
            geometries=geometries,
            reuse_lines=_MOST_LINES_FOLLOWED if self.miss_curve else 0,
            region=self.region or "",
            function=self.function is not None,
            cold=self.cold,
            all_threads=self.all_threads,
        )
        try:
            return Arena(
                copies=copies,
                copier=built.copier,
                library=built.library,
                options=self.options
                | OPTION_TRAFFIC * self.simulate
                | OPTION_ALL_THREADS * self.all_threads
                | OPTION_BURSTS * (self.simulate and self.estimates),
                traffic=wanted if self.simulate else None,
                region=self.region,
                function=self.function,
            )
        except OSError as error:
            raise CannotMeasure(
                what,
                reason=f"there is no memory to share with it: {reason_of(error)}",
                remedy="check the limits of this session (ulimit -a), and free some memory",
            ) from error

    def _counted(
        self,
        contents: Contents,
        history: History,
        run: Run,
        *,
        totals: Totals,
        covered: Coverage | None,
        unseen_s: float,
        geometries: Sequence[Geometry],
        estimate: TrafficEstimate | None,
        built: NativeEngine,
    ) -> Counted:
        return self.answer(
            totals,
            geometries,
            meter=f"native ({built.version})",
            processes=history.n_processes,
            partial=_why_partial(history, run),
            cautions=(
                *built.cautions,
                *doubts_of_geometry(geometries),
                *doubts.coverage(covered, unseen_s=unseen_s),
                *doubts.left_alone(history.left_alone, covered),
                *doubts.without_bank(contents.threads_without_bank),
                *doubts.undecoded(totals.counts),
                *doubts.lost_events(contents.lost_events),
                *doubts.late(contents.late_ns, contents.inside_ns),
                *(self._of_traffic(contents, totals, history) if self.simulate else ()),
                *doubts.estimated(estimate, totals.traffic, selection=self.selection),
            ),
            most_threads=history.most_threads,
            coverage=covered,
            estimate=estimate,
        )

    def _of_traffic(
        self, contents: Contents, totals: Totals, history: History
    ) -> Iterator[Caution]:
        """Yield what to doubt in the traffic of simulated caches."""
        yield from apart(history.n_processes)
        yield from doubts.threads(history.most_threads, cpus=self.cpus)
        yield from doubts.lost_traffic(
            words=sum(bank.not_simulated for bank in contents.banks),
            is_whole=contents.moved is None or contents.moved.is_whole,
        )
        yield from self.doubts_of_traffic(totals)


def _files(contents: Contents, began_ns: int) -> CodeStore:
    """Return object files; those of code made at run time are new, but were never changed."""
    made = [one.path for one in contents.modules if was_made(one.path)]
    return CodeStore(limit_ns=began_ns, changed_before_ns=dict.fromkeys(made, 1 << 63))


def _check_begun(what: str, contents: Contents, history: History, run: Run) -> None:
    """Refuse a run of which nothing was counted.

    Raises
    ------
    CannotMeasure
    """
    if history.programs and any(bank.counters.size for bank in contents.banks):
        return
    reason = "it did not load the library that was to be preloaded"
    if any(program.uses_gs for program in history.programs):
        reason = "it uses the register %gs, which the counters need"
    elif history.left_alone:
        one = history.left_alone[0]
        reason = f"nothing was counted in {one.path}: {one.reason}"
    raise CannotMeasure(
        what,
        reason=f"{reason} (exit status {run.exit_status})",
        remedy="count it with --meter engine",
    )


def _check_covered(what: str, covered: Coverage | None) -> None:
    """Refuse a run of which too little was counted.

    Raises
    ------
    CannotMeasure
    """
    if covered is not None and surely_less(covered, doubts.LEAST_COVERAGE):
        raise CannotMeasure(
            what,
            reason=(
                f"W would cover only {covered.share:.0%} of its time ({covered.samples} "
                f"samples); most of the rest was in {uncounted_in_words(covered.uncounted)}"
            ),
            remedy="count it with --meter engine",
        )


def _check_together(what: str, contents: Contents) -> None:
    """Refuse a run of which it is not known what threads did while another one was inside.

    Raises
    ------
    CannotMeasure
    """
    if contents.late_ns > doubts.MOST_LATE * contents.inside_ns:
        raise CannotMeasure(
            what,
            reason=(
                "some threads made no system call when another thread entered or left the "
                f"counted part: for {format_si(contents.late_ns / 1e9, 's', digits=2)} of "
                f"{format_si(contents.inside_ns / 1e9, 's', digits=2)} of CPU time it is not "
                "known whether their work belongs to it"
            ),
            remedy="count it with --meter engine",
        )


def _unseen_s(contents: Contents, run: Run) -> float:
    """Return how much CPU time in user mode there is no trace of: threads that have no timer.

    A timer of CPU time ticks when the kernel does, every 10 ms at worst. Less than half of a run
    says nothing.
    """
    samples = sum(
        bank.in_copy + bank.in_original + bank.in_loader + bank.in_kernel + bank.elsewhere
        for bank in contents.banks
    )
    user_s = run.cpu_s - run.system_s
    unseen_s = user_s - _SLOWEST_TICK_S * samples
    return unseen_s if unseen_s > max(user_s / 2, _LEAST_UNSEEN_S) else 0.0


def _was_copied(contents: Contents, began_ns: int) -> bool:
    """Return whether a module was copied meanwhile: who did that took CPU time of the run."""
    for module in contents.modules:
        with suppress(OSError):
            if os.stat(module.copy).st_mtime_ns >= began_ns:
                return True
    return False


def _why_partial(history: History, run: Run) -> str | None:
    first: Program = history.programs[0]
    if run.exit_status > 128 and not first.ended:
        return f"a signal ended it (status {run.exit_status})"
    changed = [program for program in history.programs if program.uses_gs]
    if changed:
        return (
            f"{changed[0].name} set the register %gs itself, and nothing was counted from then on"
        )
    return doubts.not_counted(history.not_counted)


__all__ = ["WHAT", "NativeMeter"]
