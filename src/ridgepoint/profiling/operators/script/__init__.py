"""Profile the operators of a script of Python, which is run as its user runs it."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from statistics import median

import ridgepoint
from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import decode, legible
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.timed import Timed, TimedRegion
from ridgepoint.host.run import Output, Run, resolve
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.region_times import RegionTime
from ridgepoint.profiling.operators.script import inside
from ridgepoint.profiling.operators.script.runs import joined
from ridgepoint.profiling.repeats import Progress
from ridgepoint.profiling.timing import Native, time_in_turn

_HOOK = """import importlib.util
spec = importlib.util.spec_from_file_location("_ridgepoint_inside", {file!r})
inside = importlib.util.module_from_spec(spec)
spec.loader.exec_module(inside)
inside.install({folder!r}, {root!r})
"""
_IN_PYTHON = (
    "profile the function that does its work, in Python: ridgepoint.operators(function, *inputs); "
    "or time the lines of the whole script: ridgepoint run --lines"
)


def profile_script(
    command: Sequence[str],
    *,
    repeat: int | None = None,
    timeout_s: float | None = None,
    ignore_status: bool = False,
    output: Output = "own",
    progress: Progress | None = None,
) -> OperatorProfile:
    """Profile the operators of PyTorch that a script calls.

    Parameters
    ----------
    command : sequence of str
        The program of Python and its arguments, as its user starts it. It is run several times,
        with the same input, in this directory and environment; its output is shown once.
    repeat : int or None
        Number of plain runs that count, and of runs with operators recorded, which are made in
        turn; None: as many as the interval of the runtime needs.
    timeout_s : float or None
        Time limit of each single run.
    ignore_status : bool
        Whether to also profile a script that exits with a status other than 0.
    output : {"own", "stderr", "discard"}
        Where the script's output goes in the one run that shows it.
    progress : callable or None

    Returns
    -------
    OperatorProfile
        Its runtime is that of whole runs of the script, imports included.

    Raises
    ------
    CannotStart, ProgramFailed, TimedOut
        As of any program that is measured.
    CannotMeasure
        If the program is not one of Python, or calls no operators of PyTorch.
    """
    with own_standard_input() as stdin:
        native = Native(
            command=resolve(command),
            stdin=stdin,
            repeat=repeat,
            timeout_s=timeout_s,
            ignore_status=ignore_status,
            output=output,
            report=progress or (lambda what, output_is_shown: None),
        )
        recorded = _Recorded(**{f.name: getattr(native, f.name) for f in fields(native)})
        timed, attached = (
            _known(times) for times in time_in_turn([native, recorded], needs_all=True)
        )
    # Runs that do not count, such as the first one, are left out here as well.
    runs = recorded.profiles[-attached.runtime_s.n :]
    startups_s = [profile.startup_s for profile in runs if profile.startup_s is not None]
    return replace(
        joined(runs),
        program=legible(shlex.join([Path(command[0]).name, *command[1:]])),
        timed=timed,
        attached_s=attached.runtime_s,
        startup_s=median(startups_s) if startups_s else None,
    )


def _known(times: tuple[Timed, tuple[TimedRegion, ...]] | RidgepointError) -> Timed:
    if isinstance(times, RidgepointError):
        raise times
    return times[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded(Native):
    """Runs of a script in which its operators are recorded, and what was recorded in each."""

    profiles: list[OperatorProfile] = field(default_factory=list)

    def once(
        self, output: Output, variables: Mapping[str, str] | None = None
    ) -> tuple[Run, dict[str, RegionTime]]:
        """Run the script once; its output was shown by a plain run."""
        with scratch_folder() as name:
            folder, root = Path(name), Path(ridgepoint.__file__).parents[1]
            hook = _HOOK.format(file=inside.__file__, folder=str(folder), root=str(root))
            (folder / "sitecustomize.py").write_text(hook, encoding="utf-8")
            paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
            # By its name, since a dataclass with slots is another class than the one written here.
            begun_s = time.monotonic()
            done = Native.once(self, "discard", {**(variables or {}), "PYTHONPATH": paths})
            ended_s = time.monotonic()
            self.profiles.append(_read(folder, self.command, begun_s=begun_s, ended_s=ended_s))
            return done


def _read(
    folder: Path, command: Sequence[str], *, begun_s: float, ended_s: float
) -> OperatorProfile:
    """Return the profile of the process of a run with the most time in operators.

    Raises
    ------
    CannotMeasure
        If there is none; the message says why.
    """
    profiles = []
    for path in sorted(folder.glob("*.clock")):
        first_s, last_s, imports_s = json.loads(path.read_bytes())
        profile = decode(
            path.with_suffix(".profile").read_bytes(),
            OperatorProfile,
            origin="what the script recorded",
        )
        startup_s = imports_s + (first_s - begun_s) + (ended_s - last_s)
        profiles.append(replace(profile, startup_s=startup_s))
    with_operators = sorted((each for each in profiles if each.operators), key=_time_of)
    if not with_operators:
        raise _no_operators(folder, command)
    most, others = with_operators[-1], len(with_operators) - 1
    if not others:
        return most
    more = "1 more process" if others == 1 else f"{others} more processes"
    seen = Caution(
        "other-processes",
        f"{more} of the program called operators too; the figures are of the process whose "
        "operators took the longest",
        "run the script as one process to see all operators",
    )
    return replace(most, cautions=(*most.cautions, seen))


def _time_of(profile: OperatorProfile) -> float:
    return sum(each.time_s.median for each in profile.operators if each.time_s is not None)


def _no_operators(folder: Path, command: Sequence[str]) -> CannotMeasure:
    """Return why a script has no operators, as far as it is known."""
    what = f"cannot profile the operators of {command[0]!r}"
    if failed := [path.read_text(encoding="utf-8") for path in folder.glob("*.failed")]:
        reason = f"Ridgepoint does not work in the Python that runs it: {failed[0]}"
        remedy = "install Ridgepoint there too: python -m pip install ridgepoint"
        return CannotMeasure(what, reason=reason, remedy=remedy)
    if list(folder.glob("*.profile")):
        reason = "it imported PyTorch, but called none of its operators in the thread that did so"
        return CannotMeasure(what, reason=reason, remedy=_IN_PYTHON)
    found = [json.loads(path.read_bytes()) for path in folder.glob("*.imported")]
    if not found:
        return CannotMeasure(
            what,
            reason="no Python ran, or it was ended at once or by a signal (with the options -I, "
            "-E and -S Python cannot be recorded)",
            remedy="give a program of Python: ridgepoint run --operators -- python script.py",
        )
    libraries = [name for name in inside.LIBRARIES if any(name in names for names in found)]
    if libraries:
        reason = (
            f"it imported {' and '.join(libraries)}, but not PyTorch, and of whole scripts only "
            "operators of PyTorch can be seen"
        )
        return CannotMeasure(what, reason=reason, remedy=_IN_PYTHON)
    return CannotMeasure(
        what,
        reason="it imported no library of arrays: neither PyTorch nor JAX nor NumPy",
        remedy="measure it as a program, without --operators",
    )
