"""Counts kernels of GPUs with Nsight Compute (``ncu``), where it is installed.

It replays each kernel as often as its counters need, and writes a report, which it then turns
into a table. That second step runs in the C locale; the program never notices.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.core.machine import Cache
from ridgepoint.host.process import ask
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters import Launch, Meter, Selection, Unavailable
from ridgepoint.meters.ncu import cautions as doubts
from ridgepoint.meters.ncu.counts import Amounts, amounts_of, functions_of
from ridgepoint.meters.ncu.metrics import QUANTITIES, Choice, asked, first_choice, without
from ridgepoint.meters.ncu.refusals import check, missing_metrics, no_kernels
from ridgepoint.meters.ncu.rows import Launch as KernelLaunch
from ridgepoint.meters.ncu.rows import parse_launches

_OPTIONS = (
    "--target-processes=all",
    "--clock-control=none",  # it takes no time; and a part of a GPU (MIG) lets nobody fix its clock
    "--force-overwrite",
)
_TABLE = ("--csv", "--page=raw", "--print-units=base")
_VERSION = re.compile(r"^Version (\S+)", re.MULTILINE)
_PATIENCE_S = 60.0


class NcuMeter:
    """Counts with Nsight Compute; see the module."""

    name = "ncu"
    slowdown = "10 to 1000"
    selection: Selection | None = None
    stand_in: Meter | None = None
    without_traffic: Meter | None = None

    def why_unavailable(self) -> Unavailable | None:
        """Return why kernels cannot be counted here, or None; what a GPU permits shows later."""
        if shutil.which("ncu") is None:
            return Unavailable(
                reason="there is no ncu in PATH",
                remedy="install Nsight Compute, which comes with CUDA, and add its folder to PATH",
                cost="kernels on GPUs are not counted",
            )
        return None

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count the kernels of one run of a command; `caches` does not matter.

        Raises
        ------
        CannotMeasure
            If Nsight Compute may not or cannot count, or the program runs no kernel.
        """
        what = f"cannot count {command[0]!r} with Nsight Compute"
        version = _version()
        choice, n_runs = first_choice(), 0
        with scratch_folder() as name:
            while True:
                n_runs += 1
                folder = Path(name) / str(n_runs)
                folder.mkdir()
                missing = _run(command, launch, folder, choice)
                if not missing:
                    break
                choice = _replaced(what, choice, missing)
            check(what, _log(folder))
            launches = _launches(what, folder, choice)
        if not launches:
            raise no_kernels(what)
        amounts = [amounts_of(launch, choice) for launch in launches]
        _require_known(what, amounts)
        functions = functions_of(amounts)
        traffic = _everywhere([function.traffic for function in functions])
        return Counted(
            meter=f"ncu (Nsight Compute {version})",
            counts=Counts.total(function.counts for function in functions),
            traffic=traffic,
            functions=functions,
            processes=len({launch.process for launch in launches}),
            cautions=(
                *doubts.kernels_alone(amounts),
                *doubts.cold_caches(),
                *doubts.tensor_cores(amounts),
                *doubts.packed_numbers(amounts),
                *doubts.traffic_unknown(traffic),
                *doubts.several_runs(n_runs),
            ),
        )


def _version() -> str:
    try:
        text = ask(("ncu", "--version"), limit_s=_PATIENCE_S).output
    except OSError:
        text = ""
    match = _VERSION.search(text)
    return "of unknown version" if match is None else match[1]


def _run(command: Sequence[str], launch: Launch, folder: Path, choice: Choice) -> frozenset[str]:
    """Count one run into a report; return the metrics that are not known."""
    launch(
        (
            "ncu",
            *_OPTIONS,
            f"--metrics={asked(choice)}",
            f"--log-file={folder / 'log'}",
            f"--export={folder / 'report'}",
            *command,
        )
    )
    return missing_metrics(_log(folder))


def _log(folder: Path) -> str:
    path = folder / "log"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _replaced(what: str, choice: Choice, missing: frozenset[str]) -> Choice:
    """Return the next metrics to ask for.

    Raises
    ------
    CannotMeasure
        If nothing replaces one of them.
    """
    changed = without(choice, missing)
    if isinstance(changed, str) or changed == choice:
        name = changed if isinstance(changed, str) else min(missing)
        raise CannotMeasure(
            what,
            reason=f"this version knows no metric {name} on this GPU",
            remedy="use Nsight Compute 2020 or later, on a GPU of compute capability 7.0 or later",
        )
    return changed


def _launches(what: str, folder: Path, choice: Choice) -> tuple[KernelLaunch, ...]:
    """Return what is in the report."""
    report = next(iter(sorted(folder.glob("report*"))), None)
    if report is None:
        raise CannotMeasure(
            what,
            reason="Nsight Compute wrote no report",
            remedy="check whether 'ncu' alone can profile this program",
        )
    answer = ask(
        ("ncu", f"--import={report}", *_TABLE),
        environment={**os.environ, "LC_ALL": "C"},  # else numbers are as the user's country's are
    )
    check(what, answer.output + answer.complaints)
    try:
        return parse_launches(
            answer.output.splitlines(keepends=True), metrics=frozenset(chain(*choice.values()))
        )
    except InvalidDocument as error:
        raise CannotMeasure(what, reason=error.reason, remedy=error.remedy) from error


def _require_known(what: str, launches: Sequence[Amounts]) -> None:
    """Refuse counts of which a part without which nothing is known is not there.

    Raises
    ------
    CannotMeasure
    """
    for quantity in QUANTITIES:
        if not quantity.required:
            continue
        for launch in launches:
            if quantity.name not in launch.known:
                raise CannotMeasure(
                    what,
                    reason=f"{quantity.alternatives[0][0]} of {launch.kernel!r} is not available",
                    remedy=(
                        "use a GPU of compute capability 7.0 or later, and a version of Nsight "
                        "Compute for it"
                    ),
                )


def _everywhere(parts: Sequence[Sequence[Traffic]]) -> tuple[Traffic, ...]:
    """Return the traffic of the levels at which that of every kernel is known."""
    known = set.intersection(*({metric.level for metric in part} for part in parts))
    return Traffic.total(one for one in chain.from_iterable(parts) if one.level in known)
