"""Counts with the copying engine: programs run at native speed, in copies that count.

Every module of a program is copied with one counter per basic block, once, and the copy is kept.
The program then runs in the copies, on the real CPU: AVX-512, AMX and all. What could not be
copied runs as it is, uncounted; samples say how much of the time that was. Where caches are to be
simulated the copies note all addresses, and the program runs as much slower as that takes.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ridgepoint.caution import Caution
from ridgepoint.errors import CannotMeasure, InvalidDocument, MeterUnavailable
from ridgepoint.machine import Cache
from ridgepoint.measurement import Counted, Coverage
from ridgepoint.meters import Launch, Meter, Run, Selection, Unavailable
from ridgepoint.meters.building import cache_folder
from ridgepoint.meters.code_made import from_now_s
from ridgepoint.meters.engine import cautions as engine_doubts
from ridgepoint.meters.engine.geometry import Geometry, simulated
from ridgepoint.meters.native import cautions as doubts
from ridgepoint.meters.native.arena import (
    OPTION_JIT,
    OPTION_SAMPLES,
    OPTION_TRAFFIC,
    Arena,
    Contents,
)
from ridgepoint.meters.native.build import WHAT, NativeEngine, native_engine
from ridgepoint.meters.native.collector import collecting
from ridgepoint.meters.native.coverage import coverage_of, surely_less, uncounted_in_words
from ridgepoint.meters.native.history import History, Program, history_of
from ridgepoint.meters.native.profiles import profiles_of
from ridgepoint.meters.native.refusals import check_countable, env_program, preload
from ridgepoint.meters.native.traffic import MOST_GEOMETRIES, Wanted
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.profile.counts import Totals, count
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.profile.selected import is_function, never_ran, selects
from ridgepoint.meters.valgrind import cautions as valgrind_doubts
from ridgepoint.regions import ARENA_VARIABLE
from ridgepoint.scratch import scratch_folder

_COPIES = "copies"
_MADE = "made-"  # what the preloaded library calls the files of code made at run time
_UNUSED_S = 30 * 24 * 3600.0
_MADE_UNUSED_S = 24 * 3600.0  # most of it holds addresses, which are others in each run
_SLOWEST_TICK_S, _LEAST_UNSEEN_S = 0.01, 0.5
_MOST_LINES_FOLLOWED = 1 << 20  # beyond, the miss curve is sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeMeter:
    """Counts with the copying engine; see the module.

    Parameters
    ----------
    region : str or None
        Count only in regions of this name; None: everywhere.
    function : str or None
        Count only in functions whose symbol is this or matches it as a regular expression, and in
        what they call; None: everywhere.
    simulate : bool
        Whether caches are simulated.
    cpus : int
        Simulated CPUs, over which threads are spread.
    cold : bool
        Empty the caches whenever the region or function begins, and when it ends.
    alternatives : tuple of tuple of Cache
        Other caches to simulate in the same run.
    ends : tuple of tuple of Cache
        The least and the most that a program may get of the caches, if they vary: they are
        simulated too, as far as there is room for them beside the alternatives.
    miss_curve : bool
        Whether to find the traffic over the size of the cache.
    options : int
        Of the arena.
    report : callable or None
        Is told when the engine has to be built first.
    """

    region: str | None = None
    function: str | None = None
    simulate: bool = False
    cpus: int = 1
    cold: bool = False
    alternatives: tuple[tuple[Cache, ...], ...] = ()
    ends: tuple[tuple[Cache, ...], ...] = ()
    miss_curve: bool = False
    options: int = OPTION_SAMPLES | OPTION_JIT
    report: Callable[[str], None] | None = None

    name = "native"

    def __post_init__(self) -> None:
        if self.region is not None and self.function is not None:
            raise ValueError("region and function cannot both be given")
        if self.cold and self.selection is None:
            raise ValueError("cold needs a region or a function")
        if len(self.alternatives) >= MOST_GEOMETRIES:
            raise ValueError(f"alternatives can be {MOST_GEOMETRIES - 1} at most")

    @property
    def slowdown(self) -> str:
        """How many times as long as natively a run takes: simulating caches is most of it."""
        return "2 to 100" if self.simulate else "1 to 3"

    @property
    def selection(self) -> Selection | None:
        """What is counted alone; None: everything."""
        if self.region is not None:
            return Selection(kind="region", name=self.region)
        if self.function is not None:
            return Selection(kind="function", name=self.function)
        return None

    @property
    def stand_in(self) -> Meter | None:
        """None: whoever asks for this one wants the path that a program really takes."""
        return None

    @property
    def without_traffic(self) -> NativeMeter | None:
        """The same without caches; None: it simulates none."""
        if not self.simulate:
            return None
        return replace(self, simulate=False, cold=False, alternatives=(), ends=(), miss_curve=False)

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
        preloaded = preload(built.library)
        with scratch_folder() as scratch:
            copies, own = _folder_of_copies(built, Path(scratch))
            naming = Naming(since_s=from_now_s())
            began_ns = time.time_ns()
            geometries = self._geometries(caches)
            with self._arena(what, built, copies, geometries) as arena:
                variables = (f"LD_PRELOAD={preloaded}", f"{ARENA_VARIABLE}={arena.path}")
                with collecting(arena) as collector:
                    run = launch((env_program(), *variables, *command))
                contents = arena.read(collector.banks())
            history = history_of(contents.events)
            _check_begun(what, contents, history, run)
            totals = self._totals(
                what, contents, history, naming=naming, began_ns=began_ns, geometries=geometries
            )
            covered = coverage_of(contents, history, selects=selects(self.selection))
        _check_covered(what, covered)
        return self._counted(
            contents,
            history,
            run,
            totals=totals,
            covered=covered,
            unseen_s=0.0 if _was_copied(contents, began_ns) else _unseen_s(contents, run),
            geometries=geometries,
            built=replace(built, cautions=(*built.cautions, *own)),
        )

    def _geometries(self, caches: Sequence[Cache]) -> tuple[Geometry, ...]:
        if not self.simulate:
            return ()
        others = (*self.alternatives, *self.ends)[: MOST_GEOMETRIES - 1]
        return tuple(simulated(each, cpus=self.cpus) for each in (caches, *others))

    def _arena(
        self, what: str, built: NativeEngine, copies: Path, geometries: tuple[Geometry, ...]
    ) -> Arena:
        wanted = Wanted(
            geometries=geometries,
            reuse_lines=_MOST_LINES_FOLLOWED if self.miss_curve else 0,
            region=self.region or "",
            function=self.function is not None,
            cold=self.cold,
        )
        try:
            return Arena(
                copies=copies,
                copier=built.copier,
                library=built.library,
                options=self.options | OPTION_TRAFFIC * self.simulate,
                traffic=wanted if self.simulate else None,
                function=self.function,
            )
        except OSError as error:
            raise CannotMeasure(
                what,
                reason=f"there is no memory to share with it: {error.strerror}",
                remedy="look for the limits of this session (ulimit -a), and free some memory",
            ) from error

    def _totals(
        self,
        what: str,
        contents: Contents,
        history: History,
        *,
        naming: Naming,
        began_ns: int,
        geometries: Sequence[Geometry],
    ) -> Totals:
        selection = self.selection
        belongs = selects(selection)
        try:
            totals = count(
                profiles_of(contents, history.programs, files=_files(contents, began_ns)),
                alternatives=[geometry.caches for geometry in geometries[1:]],
                selects=belongs,
                naming=naming,
            )
        except InvalidDocument as error:
            raise CannotMeasure(what, reason=error.reason, remedy=error.remedy) from error
        if selection and belongs and not any(belongs(one.name) for one in totals.regions):
            raise never_ran(what, selection, (n for bank in contents.banks for n in bank.regions))
        return totals

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
        built: NativeEngine,
    ) -> Counted:
        programs = history.programs
        n_processes = len({program.pid for program in programs})
        most_threads = max(program.most_threads for program in programs)
        return Counted(
            meter=f"native ({built.version})",
            counts=totals.counts,
            traffic=totals.traffic,
            functions=totals.functions,
            caches=geometries[0].caches if geometries else (),
            alternatives=totals.alternatives[: len(self.alternatives)],
            ends=totals.alternatives[len(self.alternatives) :],
            miss_curve=totals.miss_curve,
            processes=n_processes,
            regions=tuple(one for one in totals.regions if not is_function(one.name)),
            partial=_why_partial(history, run),
            selected=None if self.selection is None else str(self.selection),
            cautions=(
                *built.cautions,
                *dict.fromkeys(doubt for geometry in geometries for doubt in geometry.cautions),
                *doubts.coverage(covered, unseen_s=unseen_s),
                *doubts.left_alone(history.left_alone, covered),
                *doubts.without_bank(contents.threads_without_bank),
                *doubts.undecoded(totals.counts),
                *doubts.lost_events(contents.lost_events),
                *(self._of_traffic(contents, totals, history) if self.simulate else ()),
            ),
            most_threads=most_threads,
            coverage=covered,
        )

    def _of_traffic(
        self, contents: Contents, totals: Totals, history: History
    ) -> Iterator[Caution]:
        """Yield what to doubt in the traffic of simulated caches."""
        programs = history.programs
        yield from valgrind_doubts.processes(len({one.pid for one in programs}), lost=())
        yield from doubts.threads(max(one.most_threads for one in programs), cpus=self.cpus)
        yield from doubts.lost_traffic(
            words=sum(bank.not_simulated for bank in contents.banks),
            is_whole=contents.moved is None or contents.moved.is_whole,
        )
        yield from engine_doubts.pending_writes(totals.traffic)
        if self.selection is not None and not self.cold:
            yield from engine_doubts.selected(self.selection)


def _files(contents: Contents, began_ns: int) -> CodeStore:
    """Return object files; those of code made at run time are new, but were never changed."""
    made = [one.path for one in contents.modules if Path(one.path).name.startswith(_MADE)]
    return CodeStore(limit_ns=began_ns, changed_before_ns=dict.fromkeys(made, 1 << 63))


def _folder_of_copies(built: NativeEngine, scratch: Path) -> tuple[Path, tuple[Caution, ...]]:
    """Return where copies are kept, or for this run only, and the doubt that says so."""
    try:
        folder = cache_folder(_COPIES) / built.copies
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # it is in use
        _clear_unused(folder.parent)
        _clear_made(folder)
        probe = folder / f".writable-{scratch.name}"
        probe.touch()
        probe.unlink()
        return folder, ()
    except OSError as error:
        folder = scratch / _COPIES
        folder.mkdir()
        doubt = Caution(
            "copies-not-kept",
            f"the copies of its modules were made for this time only: {error.strerror}",
            "name a folder in RIDGEPOINT_CACHE that has room",
            effect=0.0,
        )
        return folder, (doubt,)


def _clear_unused(copies: Path) -> None:
    """Remove the copies of engines that have not been used for long."""
    for folder in copies.iterdir():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(folder, ignore_errors=True)


def _clear_made(copies: Path) -> None:
    """Remove code made at run time, and its copies, which are older than any run."""
    for file in copies.glob(f"{_MADE}*"):
        with suppress(OSError):
            if time.time() - file.stat().st_ctime > _MADE_UNUSED_S:
                file.unlink()


def _check_begun(what: str, contents: Contents, history: History, run: Run) -> None:
    """Refuse a run of which nothing was counted.

    Raises
    ------
    CannotMeasure
    """
    if history.programs and any(bank.counters.size for bank in contents.banks):
        return
    reason = "it did not load what was to be preloaded"
    if any(program.uses_gs for program in history.programs):
        reason = "it uses the register %gs, which the counters need"
    elif history.left_alone:
        one = history.left_alone[0]
        reason = f"nothing of it was counted: {one.path}: {one.reason}"
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
            reason=f"W would cover {covered.share:.0%} of its time only ({covered.samples} "
            "samples); most of the rest was in "
            f"{uncounted_in_words(covered.uncounted)}",
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
