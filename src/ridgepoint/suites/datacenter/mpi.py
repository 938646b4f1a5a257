"""The workloads that run under MPI: built with MPI's compiler, timed and counted on all ranks."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ridgepoint.cluster.launcher import Launcher, clean_environment, find_launcher
from ridgepoint.core.errors import CannotMeasure, CannotStart, RidgepointError, reason_of
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.presenting import amount
from ridgepoint.host.process import Answer, ask
from ridgepoint.host.run import Run, run
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters.source import built, count
from ridgepoint.suites.datacenter.build import build, compile_flags
from ridgepoint.suites.datacenter.mpi_results import MpiResult, MpiStudy
from ridgepoint.suites.datacenter.programs import MPI_PROGRAMS, WORKLOADS, program_folder
from ridgepoint.suites.study import attempt

_REPEATS = 15
_LIMIT_S = 600.0
_GRACE_S = 5.0
_VARIANT = "optimised"
# Ranks that wait must not keep cores from those that work, where they share them.
_YIELDING = MappingProxyType({"OMPI_MCA_mpi_yield_when_idle": "1"})


def run_mpi(
    names: Sequence[str],
    ranks: int,
    *,
    full: bool = False,
    launcher: str | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> MpiStudy:
    """Run workloads under MPI, on one rank and on several; one that fails does not stop the others.

    Parameters
    ----------
    names : sequence of str
        Names in `MPI_PROGRAMS`; empty: all.
    ranks : int
    full : bool
        Whether to use the default sizes instead of the quick ones.
    launcher : str or None
        A command in which ``{ranks}`` is replaced; None: mpirun.
    report : callable
        Called with a description of each step as it begins.

    Raises
    ------
    ValueError
        If a workload has no MPI program, or `ranks` is not > 0.
    CannotStart
        If there is no launcher.
    CannotMeasure
        If there is no MPI compiler of C++.

    Notes
    -----
    Every run checks its result, and the results of one rank and of several must be the same. Basic
    operations are counted in the source, without those of the MPI library, as the difference
    between running the measured part twice and once, on ranks of this host.
    """
    chosen = tuple(dict.fromkeys(names)) or tuple(MPI_PROGRAMS)
    for name in chosen:
        if name not in MPI_PROGRAMS:
            raise ValueError(f"names must be among {', '.join(MPI_PROGRAMS)}, got {name!r}")
    launchers = {n: find_launcher(n, text=launcher) for n in dict.fromkeys((1, ranks))}
    compiler = mpi_compiler(Path(launchers[ranks].folder))
    results: list[MpiResult] = []
    failures: dict[str, str] = {}
    for name in chosen:
        title, size = WORKLOADS[name].title, WORKLOADS[name].quick_size
        words = ("--generate", "--size", str(WORKLOADS[name].default_size if full else size))
        report(f"counting {title} from its source")
        counted = attempt(partial(_from_source, name, launchers, compiler), words)
        for n, started in launchers.items():
            report(f"timing {title} on {amount(n, 'rank')}")
            outcome = attempt(partial(_measured, name, started, compiler, counted=counted), words)
            if isinstance(outcome, RidgepointError):
                failures[f"{title} on {amount(n, 'rank')}"] = str(outcome)
            else:
                results.append(outcome)
    _require_same(results)
    return MpiStudy(
        launcher=launchers[ranks].name,
        host=os.uname().nodename,
        results=tuple(results),
        failures=failures,
    )


def mpi_compiler(beside: Path | None = None) -> str:
    """Return MPI's compiler of C++: the one beside the launcher, or in ``PATH``.

    Raises
    ------
    CannotMeasure
        If there is none.
    """
    if beside is not None and os.access(beside / "mpicxx", os.X_OK):
        return str(beside / "mpicxx")
    path = shutil.which("mpicxx")
    if path is None:
        raise CannotMeasure(
            "cannot build the workloads for MPI",
            reason="there is no mpicxx beside the launcher or in PATH",
            remedy="pip install 'ridgepoint[mpi]', or load the cluster's MPI",
        )
    return path


def _measured(
    name: str,
    launcher: Launcher,
    compiler: str,
    words: Sequence[str],
    *,
    counted: Mapping[int, int] | RidgepointError,
) -> MpiResult:
    workload, ranks = WORKLOADS[name], launcher.ranks
    program = build(MPI_PROGRAMS[name], variant=_VARIANT, compiler=shlex.quote(compiler))
    asked = [*launcher.command, str(program), *words, "--check", "--repeat", str(_REPEATS)]
    rows = _rows(_asked(asked, name), name, ranks)
    outcomes = {str(row[workload.result]) for row in rows}
    if len(outcomes) != 1:
        raise CannotMeasure(
            f"cannot trust {name!r} on {amount(ranks, 'rank')}",
            reason=f"its runs have different results: {', '.join(sorted(outcomes))}",
            remedy="run it by hand, and report it",
        )
    return MpiResult(
        workload=name,
        title=workload.title,
        size=int(words[-1]),
        size_unit=workload.size_unit,
        ranks=ranks,
        # The first one finds cold caches and makes connections.
        time_s=Estimate([row["seconds"] for row in rows[1:]]),
        result=outcomes.pop(),
        bops=None if isinstance(counted, RidgepointError) else counted[ranks],
        failure=str(counted) if isinstance(counted, RidgepointError) else None,
    )


def _require_same(results: Sequence[MpiResult]) -> None:
    """Refuse a workload whose result depends on the number of ranks."""
    first: dict[str, MpiResult] = {}
    for result in results:
        other = first.setdefault(result.workload, result)
        if other.result != result.result:
            raise CannotMeasure(
                f"cannot trust {result.workload!r}",
                reason=f"{other.ranks} ranks find {other.result}, and {result.ranks} "
                f"{result.result}",
                remedy="run it by hand, and report it",
            )


def _asked(asked: Sequence[str], name: str) -> Answer:
    environment = {**_YIELDING, **clean_environment(os.environ)}
    try:
        return ask(asked, limit_s=_LIMIT_S, grace_s=_GRACE_S, environment=environment)
    except TimeoutError as error:
        raise CannotMeasure(
            f"cannot measure {name!r}",
            reason=reason_of(error),
            remedy="use fewer ranks, or leave out --full",
        ) from error
    except OSError as error:
        raise CannotStart(
            "cannot start ranks",
            reason=f"{asked[0]}: {reason_of(error)}",
            remedy="name a launcher that works: --launcher 'srun -n {ranks}'",
        ) from error


def _rows(answer: Answer, name: str, ranks: int) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in answer.output.splitlines() if line.startswith("{")]
    if answer.status or len(rows) != _REPEATS or any(r["ranks"] != ranks for r in rows):
        complaints = [line for line in answer.complaints.splitlines() if line.startswith("mpi_")]
        raise CannotMeasure(
            f"cannot run {name!r} on {amount(ranks, 'rank')}",
            reason=complaints[0].partition(": ")[2]
            if complaints
            else f"it ended with status {answer.status} after {len(rows)} of {_REPEATS} results",
            remedy="check that mpirun and mpicxx are of the same MPI",
        )
    return rows


def _from_source(
    name: str, launchers: Mapping[int, Launcher], compiler: str, words: Sequence[str]
) -> dict[int, int]:
    """Return the basic operations of the measured part on all ranks, by their number."""
    program = MPI_PROGRAMS[name]
    flags = compile_flags(program, variant=_VARIANT, marked=False)
    source = str(program_folder() / f"{program}.cpp")
    building = built(
        [source], [*flags, "-O2", *_mpi_flags(compiler)], say=lambda what: None, with_plain=False
    )
    with building as (counting, _):
        return {
            ranks: _total([str(counting), *words, "--repeat", "2"], launcher)
            - _total([str(counting), *words, "--repeat", "1"], launcher)
            for ranks, launcher in launchers.items()
        }


def _total(command: Sequence[str], launcher: Launcher) -> int:
    done = count(command, launch=partial(_launched, launcher))
    if done.exit_status or not done.complete or done.processes != launcher.ranks:
        raise CannotMeasure(
            f"cannot count {Path(command[0]).name!r} on {amount(launcher.ranks, 'rank')}",
            reason=f"{amount(done.processes, 'rank')} wrote counts here, and it ended with status "
            f"{done.exit_status}",
            remedy="count ranks of this host alone: leave out --launcher",
        )
    return done.operations.total


def _launched(launcher: Launcher, command: Sequence[str], environment: dict[str, str]) -> Run:
    return run(
        [*launcher.command, *command],
        stdin=no_standard_input(),
        output="discard",
        environment={**_YIELDING, **environment},
    )


def _mpi_flags(compiler: str) -> list[str]:
    """Return what MPI's compiler adds for another one, as it says itself."""
    answer = ask([compiler, "-show"], limit_s=_LIMIT_S)
    if answer.status:
        raise CannotMeasure(
            "cannot count the workloads under MPI from their source",
            reason=f"{compiler} -show ended with status {answer.status}",
            remedy="name an MPI whose mpicxx knows -show",
        )
    return shlex.split(answer.output)[1:]
