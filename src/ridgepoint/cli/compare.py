"""Compare kept programs or machines: what changed, and whether it is more than noise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.cli.view_options import machine_option
from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.kept.lookup import Found
    from ridgepoint.models.comparing.gates import Gate, Judgement
    from ridgepoint.models.comparing.programs import ProgramComparison, Tolerances
    from ridgepoint.models.work import Metric

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _percent_option(name: str, what: str, default: str) -> Callable[[_Command], _Command]:
    """Return an option for a share, which the command gets in per cent."""
    return click.option(
        f"--{name}",
        type=NumberRange(0, 100, max_open=True),
        metavar="PERCENT",
        help=f"{what}  [default: {default}]",
    )


time_tolerance_option = _percent_option(
    "tolerance", "Largest difference of times that counts as none.", "2"
)
count_tolerance_option = _percent_option(
    "count-tolerance", "Largest difference of counts that counts as none.", "0.1"
)


def _gates(
    context: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[Gate, ...]:
    from ridgepoint.models.comparing.gates import read_gate

    try:
        return tuple(read_gate(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("compare")
@click.argument(
    "records",
    metavar="RECORD RECORD...",
    nargs=-1,
    required=True,
    shell_complete=completing.anything_shown,
)
@click.option(
    "--fail-if",
    "gates",
    multiple=True,
    metavar="GATE",
    callback=_gates,
    help="Exit with status 1 if GATE holds, such as 'runtime > 1.05x', 'work > 1x', 'dram > 2 GB' "
    "or 'function NAME: instructions > 1.01x'. May be repeated.",
)
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="Let gates pass that cannot be judged, since an amount is unknown.",
)
@_percent_option(
    "tolerance",
    "Largest difference of times that counts as none.",
    "2; for ceilings of machines, 5",
)
@count_tolerance_option
@_percent_option(
    "threshold", "List functions that differ by at least this part of the program.", "1"
)
@common.kept_work_option
@machine_option("Bound all programs by this machine.  [default: the one that each was kept with]")
@common.json_option
@tables_option("changes", "parts")
@click.option("--markdown", is_flag=True, help="Print Markdown, to paste into a pull request.")
@common.output_option("the change")
@common.archive_option
def command(
    *,
    records: tuple[str, ...],
    gates: tuple[Gate, ...],
    allow_unknown: bool,
    tolerance: float | None,
    count_tolerance: float | None,
    threshold: float | None,
    metric: Metric | None,
    machine_name: str | None,
    as_json: bool,
    markdown: bool,
    outputs: tuple[Path, ...],
    archive_path: Path | None,
) -> int:
    """Compare each RECORD with the first: programs, with their functions and regions, or machines.

    RECORD is a number or a name of 'ridgepoint list', or a file. NAME.. means all records of this
    name, the oldest first; NUMBER.. means this record and all later ones of its name or command.

    A time differs if the 95 % interval of the ratio of the medians does not include 1, and the
    ratio differs from 1 by more than the tolerance; a count, if its ratio does. An unknown amount
    is shown as unknown, and a gate on it fails.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.kept.selecting import selected

    if as_json and markdown:
        raise click.UsageError("--json and --markdown cannot be combined")
    common.require_figure_endings(outputs)
    with Archive(archive_path) as archive:
        chosen = selected(archive, records)
        machine = None if machine_name is None else machine_of(machine_name, archive_path)
    _require_several(chosen, records)
    if _require_one_kind(chosen) == "machine":
        if gates or outputs or markdown or metric or machine is not None:
            raise click.UsageError(
                "--fail-if, --markdown, --work, --machine and -o apply to programs, not to machines"
            )
        _compare_machines(chosen, tolerance, as_json=as_json)
        return 0
    comparisons = _compared(
        chosen,
        metric=metric,
        machine=machine,
        within=tolerances(tolerance, count_tolerance),
    )
    judged = _judged(gates, comparisons)
    _show(
        comparisons,
        judged,
        threshold=None if threshold is None else threshold / 100,
        as_json=as_json,
        markdown=markdown,
    )
    _write(comparisons, outputs)
    return _status(judged, allow_unknown=allow_unknown)


def _require_several(chosen: Sequence[Found], records: Sequence[str]) -> None:
    if len(chosen) < 2:
        raise RidgepointError(
            f"cannot compare {records[0]!r}",
            reason="it is one record only",
            remedy="name another record too, or all records of one name with NAME..",
        )


def _require_one_kind(chosen: Sequence[Found]) -> str:
    """Return whether all are machines, or all programs.

    Raises
    ------
    RidgepointError
        If they are not alike.
    """
    from ridgepoint.core.measurement import Timing
    from ridgepoint.models.operators import OperatorAnalysis

    for one in chosen:
        if isinstance(one.value, OperatorAnalysis):
            raise RidgepointError(
                f"cannot compare {one.title!r}",
                reason="it holds the operators of a program",
                remedy="show both, or export their tables with 'ridgepoint show --csv'",
            )
    kinds = {
        one.title: "program" if isinstance(one.value, Timing | tuple) else "machine"
        for one in chosen
    }
    first = kinds[chosen[0].title]
    for title, kind in kinds.items():
        if kind != first:
            raise RidgepointError(
                f"cannot compare {chosen[0].title!r} with {title!r}",
                reason=f"the one is a {first}, the other a {kind}",
                remedy="compare programs with programs, and machines with machines",
            )
    return first


def _compare_machines(chosen: Sequence[Found], tolerance: float | None, *, as_json: bool) -> None:
    """Print how machines differ from the first; of clusters, their slowest nodes."""
    from ridgepoint.cli.output import check_fields, show_comparison
    from ridgepoint.core.documents import report
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.models.comparing.machines import TOLERANCE, compare

    machines: list[Machine] = [
        one.value.slowest() if isinstance(one.value, MeasuredCluster) else one.value  # type: ignore[misc]
        for one in chosen
    ]
    share = TOLERANCE if tolerance is None else tolerance / 100
    compared = [compare(machines[0], machine, tolerance=share) for machine in machines[1:]]
    if as_json and len(compared) > 1:
        checks = [
            check_fields(comparison, machines[0], machine)
            for comparison, machine in zip(compared, machines[1:], strict=True)
        ]
        common.print_json(report("checks", {"checks": checks}))
        return
    for comparison, machine, one in zip(compared, machines[1:], chosen[1:], strict=True):
        if len(compared) > 1:
            common.console().rule(one.title, style="")
        show_comparison(comparison, machines[0], machine, as_json=as_json)


def tolerances(time_percent: float | None, count_percent: float | None) -> Tolerances:
    """Return the tolerances that a user gives in per cent, or the usual ones."""
    from ridgepoint.models.comparing.programs import Tolerances

    time, count = (None if each is None else each / 100 for each in (time_percent, count_percent))
    return Tolerances.of(time, count)


def _compared(
    chosen: Sequence[Found],
    *,
    metric: Metric | None,
    machine: Machine | None,
    within: Tolerances,
) -> list[ProgramComparison]:
    """Return how programs differ from the first."""
    from ridgepoint.models.comparing.programs import compare_programs, program

    programs = [
        program(one.title, one.value, metric=metric, machine=machine)  # type: ignore[arg-type]
        for one in chosen
    ]
    return [compare_programs(programs[0], other, tolerances=within) for other in programs[1:]]


def _judged(
    gates: Sequence[Gate], comparisons: Sequence[ProgramComparison]
) -> list[tuple[ProgramComparison, Judgement]]:
    from ridgepoint.models.comparing.gates import judge

    return [(comparison, judge(gate, comparison)) for comparison in comparisons for gate in gates]


def _show(
    comparisons: Sequence[ProgramComparison],
    judged: Sequence[tuple[ProgramComparison, Judgement]],
    *,
    threshold: float | None,
    as_json: bool,
    markdown: bool,
) -> None:
    from ridgepoint.show.compare_markdown import comparison_markdown
    from ridgepoint.show.compare_report import comparison_report
    from ridgepoint.show.data_tables.compare import comparison_tables
    from ridgepoint.show.tables import compare_table

    least = compare_table.THRESHOLD if threshold is None else threshold
    with beside(lambda: comparison_tables(comparisons)) as is_shown:
        if as_json:
            common.print_json(comparison_report(comparisons, judged))
        elif markdown:
            sys.stdout.write(comparison_markdown(comparisons, judged, threshold=least))
        elif is_shown and len(comparisons) == 1:
            common.console().print(compare_table.pair(comparisons[0], threshold=least))
        elif is_shown:
            common.console().print(compare_table.several(comparisons))


def _write(comparisons: Sequence[ProgramComparison], outputs: Sequence[Path]) -> None:
    """Write comparisons to each file: as a page, which needs no roofs, or as a picture."""
    from ridgepoint.cli.pictures import is_page, save_picture

    for path in outputs:
        if is_page(path):
            from ridgepoint.show.page.assemble import write_page
            from ridgepoint.show.page.compare import compare_page

            write_page(compare_page(comparisons), path)
        else:
            from ridgepoint.show.charts.compare import comparison_chart

            save_picture(comparison_chart(comparisons), [path])


def _status(judged: Sequence[tuple[ProgramComparison, Judgement]], *, allow_unknown: bool) -> int:
    """Say which gates failed, a line for each, and return the exit status."""
    from ridgepoint.show.words import printable

    several = len({id(comparison) for comparison, _ in judged}) > 1
    status = 0
    for comparison, judgement in judged:
        if judgement.outcome == "passed":
            continue
        of = f"{printable(comparison.after.title)}: " if several else ""
        if judgement.outcome == "failed":
            common.say(f"{of}gate failed: {judgement.gate.text}: {judgement.reason}")
            status = 1
        else:
            allowed = "allowed" if allow_unknown else "counts as failed, see --allow-unknown"
            common.say(
                f"{of}gate not judged ({allowed}): {judgement.gate.text}: {judgement.reason}"
            )
            status = status if allow_unknown else 1
    return status
