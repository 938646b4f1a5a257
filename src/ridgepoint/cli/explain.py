"""Explain a record: what limits it, what was ruled out, what to do next, how sure that is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.view_options import machine_option

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.kept.lookup import Found, Kept
    from ridgepoint.models.work import Metric

_MARKDOWN, _JSON = (".md", ".markdown"), ".json"


@click.command("explain")
@click.argument(
    "target", metavar="[RECORD]", required=False, shell_complete=completing.anything_shown
)
@common.kept_work_option
@machine_option("Bound the program by this machine.  [default: the one that it was kept with]")
@common.files_option("Write to FILE in place of standard output: .md, or .json. May be repeated.")
@common.json_option
@common.archive_option
def command(
    *,
    target: str | None,
    metric: Metric | None,
    machine_name: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    archive_path: Path | None,
) -> None:
    """Print a diagnosis of RECORD, or of the last record, in Markdown.

    RECORD is a number or a name of 'ridgepoint list', a file that 'ridgepoint export' wrote, the
    file of a machine or a cluster, or a published machine. The diagnosis says what limits the
    program, by which numbers, what was ruled out and why, what to do next and with what gain, and
    how sure all of that is.
    """
    from ridgepoint.core.documents import render
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.files import replace_file
    from ridgepoint.kept.lookup import found, machine_of

    _require_endings(outputs)
    with Archive(archive_path) as archive:
        record = found(archive, target)
    machine = None if machine_name is None else machine_of(machine_name, archive_path)
    _refuse_operators(record)
    if not isinstance(record.value, tuple):
        _require_program(record.title, metric, machine)
    value = _bounded(record.value, machine)
    for path in outputs:
        is_json = path.suffix.lower() == _JSON
        text = (
            render(_document(value, metric))
            if is_json
            else _markdown(value, metric, title=_label(record))
        )
        replace_file(path, text.encode("utf-8", "backslashreplace"), what="the diagnosis")
    if as_json:
        common.print_json(_document(value, metric))
    elif not outputs:
        sys.stdout.write(_markdown(value, metric, title=_label(record)))


def _label(record: Found) -> str | None:
    """Return the name that a user gave; None: it has none, and its command says what it is."""
    return None if record.record is None else record.record.label


def _bounded(value: Kept, machine: Machine | None) -> Kept:
    """Return a measurement with the machine that is to bound it."""
    from ridgepoint.models.distributed import machine_for

    if not isinstance(value, tuple) or machine is None:
        return value
    measurement, _ = value
    return measurement, machine_for(measurement, machine)


def _markdown(value: Kept, metric: Metric | None, *, title: str | None) -> str:
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse
    from ridgepoint.models.diagnosis import Diagnosis
    from ridgepoint.show.diagnosis_markdown import diagnosis_markdown, timing_markdown
    from ridgepoint.show.machine_markdown import cluster_markdown, machine_markdown

    if isinstance(value, tuple):
        return diagnosis_markdown(Diagnosis(analysis=analyse(*value, metric=metric)), title=title)
    if isinstance(value, Timing):
        return timing_markdown(value, title=title)
    if isinstance(value, Machine):
        return machine_markdown(value, title=title)
    assert isinstance(value, MeasuredCluster)  # operators were refused
    return cluster_markdown(value, title=title)


def _document(value: Kept, metric: Metric | None) -> dict[str, Any]:
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.analysis import analyse
    from ridgepoint.models.diagnosis import Diagnosis
    from ridgepoint.show import diagnosis_report as reports

    if isinstance(value, tuple):
        return reports.diagnosis_report(Diagnosis(analysis=analyse(*value, metric=metric)))
    if isinstance(value, Timing):
        return reports.timing_diagnosis_report(value)
    if isinstance(value, Machine):
        return reports.machine_diagnosis_report(value)
    assert isinstance(value, MeasuredCluster)  # operators were refused
    return reports.cluster_diagnosis_report(value)


def _refuse_operators(record: Found) -> None:
    """Refuse a profile of operators, of which no instructions were counted.

    Raises
    ------
    RidgepointError
    """
    from ridgepoint.core.errors import RidgepointError
    from ridgepoint.models.operators import OperatorAnalysis

    if isinstance(record.value, OperatorAnalysis):
        raise RidgepointError(
            f"cannot explain {record.title!r}",
            reason="it holds the operators of a program, of which no instruction was counted",
            remedy="'ridgepoint show' says what holds each operator back",
        )


def _require_program(title: str, metric: Metric | None, machine: Machine | None) -> None:
    """Refuse options of counted programs for anything else.

    Raises
    ------
    click.BadParameter
    """
    for option, is_given in (("--work", metric is not None), ("--machine", machine is not None)):
        if is_given:
            raise click.BadParameter(
                f"{option} does not apply: {title!r} is no program that was counted",
                param_hint=f"'{option}'",
            )


def _require_endings(outputs: tuple[Path, ...]) -> None:
    """Refuse a file whose ending does not say what it is to hold.

    Raises
    ------
    click.BadParameter
    """
    for path in outputs:
        if path.suffix.lower() not in {*_MARKDOWN, _JSON}:
            raise click.BadParameter(
                f"cannot write the diagnosis {str(path)!r}: let its name end in .md, or in .json",
                param_hint="'-o'",
            )
        common.require_folder(path)
