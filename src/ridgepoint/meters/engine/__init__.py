"""Counts with the engine: a Valgrind tool of our own, of a package or built at first use.

It counts every instruction exactly, keeps the bytes of what was executed (so that code made at
run time is decoded too), and simulates the caches of the machine, up to four levels, as many
private and shared ones as there are CPUs. What it cannot do: AVX-512 (refused by name).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.counted import Counted
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters import Launch, Meter, Unavailable
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.code_made import from_now_s
from ridgepoint.meters.engine import cautions as doubts
from ridgepoint.meters.engine.build import Engine, engine
from ridgepoint.meters.engine.files import Written, options, writable_by_all
from ridgepoint.meters.object_file import CodeStore, ObjectFile
from ridgepoint.meters.profile.asked import Asked, doubts_of_geometry
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.simulated.cautions import apart
from ridgepoint.meters.simulated.geometry import Geometry
from ridgepoint.meters.valgrind import cautions as valgrind_cautions
from ridgepoint.meters.valgrind.host import check_startable, why_unavailable
from ridgepoint.meters.valgrind.log import lost
from ridgepoint.meters.valgrind.refusals import (
    check_main_is_counted,
    check_supported,
    ended_by_signal,
)

_NO_LOG = "Cannot create log file"
_MOST_LINES_FOLLOWED = 1 << 20  # 64 MiB of lines of 64 byte; beyond, the miss curve is sampled
_OPTIONS = (
    "--command-line-only=yes",  # options of a user's own are meant for other tools
    "--trace-children=yes",
    "--fair-sched=try",  # else a spinning thread may starve the one that it waits for
    "--max-threads=12000",
    "--vgdb=no",  # it leaves pipes in the temporary directory
    "--run-libc-freeres=no",  # both would count work that is not the program's
    "--run-cxx-freeres=no",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMeter(Asked):
    """Counts with the engine; see the module.

    What `ridgepoint.meters.profile.asked.Asked` says is asked of it.

    Parameters
    ----------
    may_be_replaced : bool
        Whether callgrind may count in its place where it cannot be built.
    """

    may_be_replaced: bool = True

    name = "engine"
    slowdown = "2 to 200"

    @property
    def stand_in(self) -> Meter | None:
        """callgrind, unless it was ruled out or cannot do what is asked for."""
        asks_more = self.selection is not None or self.alternatives or self.miss_curve
        return CallgrindMeter() if self.may_be_replaced and not asks_more else None

    @property
    def without_traffic(self) -> EngineMeter:
        """The engine without caches."""
        return self.counting_alone()

    def why_unavailable(self) -> Unavailable | None:
        """Return why the engine cannot count here, or None; builds it if need be."""
        return why_unavailable(
            lambda: engine(report=self.report),
            cost=(
                "work and traffic are counted with callgrind, which is many times slower and "
                "simulates only two caches"
            ),
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
        geometries = self.geometries(caches)
        naming = Naming(since_s=from_now_s())
        with scratch_folder() as name:
            directory = writable_by_all(Path(name).resolve())  # the program may change its own
            run = launch(
                (
                    *("env", f"VALGRIND_LIB={built.library}", built.valgrind),
                    f"--tool={built.tool}",
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
        totals = self.totals(
            what,
            written.profiles,
            entered=(names for profile in written.profiles for names in profile.banks),
            geometries=geometries,
            naming=naming,
        )
        lost_pids = lost(written.logs, written.pids)
        most_threads = max(profile.process.most_threads for profile in written.profiles)
        return self.answer(
            totals,
            geometries,
            meter=f"engine ({built.name})",
            processes=len(written.pids),
            partial=_why_partial(written, run, lost_pids),
            cautions=(
                *built.cautions,
                *doubts_of_geometry(geometries),
                *valgrind_cautions.undecoded(totals.counts),
                *valgrind_cautions.wider_path(totals.functions),
                *apart(len(written.pids)),
                *valgrind_cautions.lost_processes(lost_pids),
                *doubts.threads(most_threads, cpus=self.cpus),
                *self.doubts_of_traffic(totals),
            ),
            most_threads=most_threads,
        )


def _why_partial(written: Written, run: Run, lost_pids: Sequence[int]) -> str | None:
    if (reason := ended_by_signal(written.logs, run)) is not None:
        return reason
    if lost_pids:
        return f"processes {', '.join(map(str, lost_pids))} left no counts"
    if any(_NO_LOG in log.text for log in written.logs):
        return (
            "a process that had changed its user or its root directory forked; Valgrind ended "
            "the child because it could not write its log"
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
