"""Start the programs under MPI."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence

from ridgepoint.cluster.launcher import Launcher, clean_environment, find_launcher
from ridgepoint.core.errors import (
    CannotMeasure,
    CannotStart,
    ProgramFailed,
    RidgepointError,
    reason_of,
)
from ridgepoint.host.process import Answer, ask
from ridgepoint.suites.distributed.catalogue import PROGRAMS, find
from ridgepoint.suites.distributed.results import DistributedRun, DistributedStudy, decoded
from ridgepoint.suites.study import attempt

LIMIT_S = 600.0
"""For one run, unless told otherwise."""

_GRACE_S = 5.0
_NOISE = re.compile(r"\[\S+:\d+\] PMIX ERROR")
"""What Open MPI says of its own connections once a rank has ended."""

_SHARING_NAP_S = "1e-4"


def command(
    name: str, *, size: int | None = None, threads: int = 1, options: Sequence[str] = ()
) -> list[str]:
    """Return the command that each rank executes for a program, to follow ``mpirun -n P``.

    Parameters
    ----------
    name : str
        Name in `PROGRAMS`.
    size : int or None
        Size in the program's unit; None: its default.
    threads : int
        Number of BLAS threads on each rank.
    options : sequence of str
        Further options of the program, for example ``("--check",)``.

    Raises
    ------
    ValueError
        If there is no such program.
    """
    program = find(name)
    chosen = program.default_size if size is None else size
    words = [program.size_option, str(chosen), "--threads", str(threads)]
    return [sys.executable, "-m", program.module, *words, *options]


def run_programs(
    names: Sequence[str],
    ranks: int,
    *,
    size: int | None = None,
    threads: int = 1,
    launcher: str | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> DistributedStudy:
    """Run programs under MPI with checks and ceilings; one that fails does not stop the others.

    Parameters
    ----------
    names : sequence of str
        Names in `PROGRAMS`; empty: all.
    ranks : int
    size, threads, launcher
        As for `run_program`.
    report : callable
        Called with a description of each step as it begins.

    Raises
    ------
    ValueError
        If there is no such program, or `ranks` is not > 0.
    CannotStart
        If there is no launcher, or mpi4py is missing.
    """

    def run(name: str) -> DistributedRun:
        report(name)
        return run_program(
            name, ranks, size=size, threads=threads, launcher=launcher,
            options=("--check", "--ceilings", "--until-tight"),
        )  # fmt: skip

    chosen = tuple(dict.fromkeys(names)) or tuple(PROGRAMS)
    outcomes = {name: attempt(run, name, stops=CannotStart) for name in chosen}
    return DistributedStudy(
        results=tuple(run for run in outcomes.values() if isinstance(run, DistributedRun)),
        failures={
            name: str(error)
            for name, error in outcomes.items()
            if isinstance(error, RidgepointError)
        },
    )


def run_program(
    name: str,
    ranks: int,
    *,
    size: int | None = None,
    threads: int = 1,
    options: Sequence[str] = (),
    launcher: str | None = None,
    limit_s: float = LIMIT_S,
) -> DistributedRun:
    """Run a program under MPI and return its result.

    Parameters
    ----------
    name : str
        Name in `PROGRAMS`.
    ranks : int
    size, threads, options
        As for `command`.
    launcher : str or None
        A command in which ``{ranks}`` is replaced; None: mpirun.
    limit_s : float
        Time limit after which all processes are ended, in seconds.

    Raises
    ------
    ValueError
        If there is no such program, or `ranks` is not > 0.
    CannotStart
        If there is no launcher, or mpi4py is missing.
    ProgramFailed
        If a rank fails, or the result is wrong.
    CannotMeasure
        If it exceeds the time limit.

    Notes
    -----
    Ranks that share CPUs wait with pauses, since waiting ranks would slow computing ones.
    """
    _require_mpi4py()
    started = find_launcher(ranks, text=launcher)
    more = [] if ranks <= len(os.sched_getaffinity(0)) else ["--nap", _SHARING_NAP_S]
    words = command(name, size=size, threads=threads, options=[*more, *options])
    answer = _run([*started.command, *words], limit_s, name)
    line = next((text for text in answer.output.splitlines() if text.startswith("{")), None)
    if line is not None:
        run = decoded(line)
        if run.check is not None and not run.check.passed:
            raise ProgramFailed(
                f"cannot take the times of {name!r}",
                reason=f"its result is wrong: {run.check.what}, {run.check.error}",
                remedy="run it again; if the result stays wrong, check BLAS and MPI",
                exit_status=1,
            )
        if answer.status == 0:
            return run
    raise ProgramFailed(
        f"cannot run {name!r} on {ranks} ranks",
        reason=_reason(answer.complaints)
        or f"{started.shown[0]} ended with status {answer.status}",
        remedy=f"check whether it runs by itself: {_shown(started, name)}",
        exit_status=answer.status or 2,
    )


def _run(whole: Sequence[str], limit_s: float, name: str) -> Answer:
    """Run the launcher; when asked to end, it ends its ranks on other hosts, too."""
    try:
        return ask(
            whole, limit_s=limit_s, grace_s=_GRACE_S, environment=clean_environment(os.environ)
        )
    except TimeoutError as error:
        raise CannotMeasure(
            f"cannot measure {name!r}",
            reason=reason_of(error),
            remedy="use a smaller size or fewer ranks",
        ) from error
    except OSError as error:
        raise CannotStart(
            "cannot start ranks",
            reason=f"{whole[0]}: {reason_of(error)}",
            remedy="name a launcher that works: --launcher 'srun -n {ranks}'",
        ) from error


def _reason(errors: str) -> str:
    """Return a program's last output before the launcher began to report its end."""
    lines = [line for line in errors.splitlines() if not _NOISE.match(line)]
    before = [line.strip() for line in _before_rule(lines) if line.strip()]
    complaints = before or [
        line.strip() for line in lines if line.strip() and set(line.strip()) != {"-"}
    ]
    return (
        complaints[-1 if before else 0].rsplit("error: ", 1)[-1].rstrip(".") if complaints else ""
    )


def _before_rule(lines: Sequence[str]) -> list[str]:
    """Return the lines before the first line of dashes: launchers frame their messages so."""
    rules = (at for at, line in enumerate(lines) if line.startswith("-----"))
    return list(lines[: next(rules, len(lines))])


def _shown(launcher: Launcher, name: str) -> str:
    return " ".join([*launcher.shown, "python", "-m", find(name).module])


def _require_mpi4py() -> None:
    from importlib.util import find_spec

    if find_spec("mpi4py") is None:
        raise CannotStart(
            "cannot run distributed programs",
            reason="mpi4py is not installed",
            remedy="pip install 'ridgepoint[mpi]', or build mpi4py with the cluster's MPI",
        )
