"""Data of the workloads in files: a user's own, or made there because they are large."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ridgepoint.core.errors import CannotMeasure, reason_of
from ridgepoint.core.units import format_si
from ridgepoint.host import System
from ridgepoint.host.process import ask
from ridgepoint.suites.datacenter.programs import WORKLOADS, Workload
from ridgepoint.suites.datacenter.results import DatacenterCase
from ridgepoint.suites.datacenter.running import command, generate

_HEAD_BYTES = 1 << 20


def require_room(cases: Sequence[DatacenterCase]) -> None:
    """Check that disk and memory hold what cases need, before anything is made or measured.

    Raises
    ------
    CannotMeasure
        If they do not.
    """
    for workload, size in dict.fromkeys(
        (case.workload, case.size) for case in cases if case.data is None
    ):
        _require(WORKLOADS[workload], size)


def _require(workload: Workload, size: int) -> None:
    folder = tempfile.gettempdir()
    written = workload.written_bytes(size) if _is_in_a_file(workload, size) else 0.0
    # What is made in memory, and what the program holds of it.
    held = workload.held_bytes(size) + (0.0 if written else workload.unit_bytes * size)
    free, available = shutil.disk_usage(folder).free, System().available_bytes
    what = f"cannot measure {workload.title} at a size of {size} {workload.size_unit}"
    if written > free:
        raise CannotMeasure(
            what,
            reason=f"its data take up to {_shown(written)} in {folder!r}, where "
            f"{_shown(free)} are free",
            remedy="give a smaller --size, or name a folder on a larger disk in TMPDIR",
        )
    if available is not None and held > available:
        raise CannotMeasure(
            what,
            reason=f"it holds up to {_shown(held)} in memory, and {_shown(available)} are "
            "available",
            remedy="give a smaller --size",
        )


def require_data(cases: Sequence[DatacenterCase]) -> None:
    """Check that the workloads can read the beginning of a user's data.

    Raises
    ------
    CannotMeasure
        If there is no such file, it is empty, or holds something else.
    """
    for name, data in dict.fromkeys((case.workload, case.data) for case in cases):
        if data is not None:
            _require_readable(WORKLOADS[name], Path(data))


def _require_readable(workload: Workload, path: Path) -> None:
    what = f"cannot measure {workload.title} on {str(path)!r}"
    if path.exists() and not path.is_file():
        raise CannotMeasure(
            what,
            reason="it is a folder, a device or a pipe, and the programs map their data",
            remedy=f"name a file of {workload.data}, as docs/datacenter.md describes it",
        )
    with tempfile.NamedTemporaryFile(prefix="ridgepoint-") as head:
        try:
            with path.open("rb") as file:
                begun = file.read(_HEAD_BYTES)
                head.write(begun + file.readline(_HEAD_BYTES))
        except OSError as error:
            raise CannotMeasure(
                what, reason=reason_of(error), remedy="name a file that can be read"
            ) from error
        if not begun.strip():
            raise CannotMeasure(
                what,
                reason="its beginning is empty",
                remedy=f"name a file of {workload.data}, as docs/datacenter.md describes it",
            )
        head.flush()
        answer = ask(command(workload.name, variant="optimised", input=head.name, check=True))
    if answer.status:
        lines = answer.complaints.strip().splitlines() or [f"status {answer.status}"]
        complaint = lines[-1].removeprefix(f"{workload.name}: ")
        complaint = complaint.removeprefix(f"cannot read '{head.name}': ")
        raise CannotMeasure(
            what,
            reason=complaint.partition("; ")[0],
            remedy=complaint.partition("; ")[2] or "see --help",
        )
    # A program skips lines that are no reviews, and may have nothing left to do.
    if json.loads(answer.output.splitlines()[-1]).get(workload.data) == 0:
        raise CannotMeasure(
            what,
            reason=f"its beginning holds no {workload.data}",
            remedy="give a category, a tab and a text on each line",
        )


@contextmanager
def in_files(
    case: DatacenterCase, report: Callable[[str], None], *, always: bool = False
) -> Iterator[tuple[DatacenterCase, Path]]:
    """Provide a case whose data are in a file if they are large, and a folder for parts of them.

    Both the folder and the data in it are removed afterwards.

    Parameters
    ----------
    case : DatacenterCase
    report : callable
    always : bool
        Whether data of a usual size are made in a file too, and not in memory by each run.

    Raises
    ------
    CannotMeasure
        If the data cannot be made.
    """
    workload = WORKLOADS[case.workload]
    with tempfile.TemporaryDirectory(prefix="ridgepoint-datacenter-") as name:
        folder = Path(name)
        if case.data is None and workload.data and (always or _is_in_a_file(workload, case.size)):
            report(f"making {case.size} {case.size_unit} of {workload.data}")
            made = generate(workload.data, folder / workload.data, size=case.size)
            case = replace(case, data=str(made))
        yield case, folder


def _is_in_a_file(workload: Workload, size: int) -> bool:
    """Return whether data are made in a file: beyond the usual sizes, memory is too small."""
    return workload.data is not None and size > workload.default_size


def _shown(n_bytes: float) -> str:
    return format_si(n_bytes, "B", digits=3)
