"""Say what can be measured here, and what to do about the rest."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from rich.table import Table

    from ridgepoint.cli.progress import Progress
    from ridgepoint.doctor.selftest import Check, Selftest, Trial
    from ridgepoint.suites.kernels.time_check import Explained

_WORDS = {
    "flop": "flop",
    "non_temporal_store_bytes": "stored past caches, B",
    "dram_read_bytes": "DRAM read, B",
    "dram_write_bytes": "DRAM write, B",
    "dram_dirtied_bytes": "same + left dirty, B",
}

_KEY = "measured / expected; 'of' another number: all that this meter is known to see"


@click.command("doctor")
@click.option(
    "--selftest", "tests_meters", is_flag=True, help="Count known programs with every meter."
)
@common.json_option
@common.archive_option
def command(*, tests_meters: bool, as_json: bool, archive_path: Path | None) -> int:
    """Say what can be measured here, why the rest cannot, what to do, and what that costs.

    With --selftest: count built-in programs whose work and traffic are known with every meter, and
    print measured over expected. Exit status 1 if one is not as expected. Then time streams and
    stencils of sizes on either side of each cache's capacity, and print how much of their time
    their simulated traffic explains on this machine, which is measured first if none is kept.
    """
    if tests_meters:
        return _selftest(archive_path, as_json=as_json)
    from ridgepoint.core.documents import render, report
    from ridgepoint.doctor import examine
    from ridgepoint.show.tables import for_terminal as tables

    findings = examine(archive_path)
    if as_json:
        sys.stdout.write(render(report("doctor", {"findings": findings})))
    else:
        common.console().print(tables.doctor(findings))
    return 0


def _selftest(archive_path: Path | None, *, as_json: bool) -> int:
    from ridgepoint.core.documents import render
    from ridgepoint.doctor.selftest import selftest

    with common.progress() as shown:
        found = selftest(progress=shown.step)
        times = explained_times(archive_path, shown) if found.holds is not None else ()
    if as_json:
        sys.stdout.write(render(_document(found, times)))
    else:
        out = common.console()
        if found.trials:
            out.print(_table(found.trials))
            out.print(_KEY, markup=False)
        for line in _conclusion(found):
            out.print(line, markup=False)
        if times:
            out.print()
            out.print(_time_table(times))
            out.print(_of_times(times), markup=False)
    if found.holds is None:
        return 2
    return 0 if found.holds else 1


def explained_times(archive_path: Path | None, shown: Progress) -> tuple[Explained, ...]:
    """Return how much of the time of known loops their traffic explains; nothing without engine."""
    from ridgepoint.core.errors import MeterUnavailable
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.kernels.time_check import FEW_AROUND, explain_times

    with Archive(archive_path) as archive:
        _, machine = common.machine_of_this_host(archive, shown)
    try:
        return explain_times(machine, around=FEW_AROUND, report=shown.step)
    except MeterUnavailable:
        return ()  # the trials have said so


def _time_table(times: Sequence[Explained]) -> Table:
    """Return predicted and measured time of each loop."""
    from ridgepoint.core.units import format_si, format_size_roughly
    from ridgepoint.show.tables.layout import plain_table

    heads = ("data", "measured", "by its traffic", "with what varies", "ratio")
    table = plain_table("loop", *heads, "by", right=heads)
    for row in times:
        measured, predicted, low, high = (
            format_si(value, "s", digits=3)
            for value in (row.runtime_s.median, row.predicted_s, row.low_s, row.high_s)
        )
        table.add_row(
            row.kernel,
            format_size_roughly(row.size_bytes),
            measured,
            predicted,
            "" if low == high else f"{low} to {high}",
            f"{row.ratio:.2f}",
            row.limiter,
        )
    return table


def _of_times(times: Sequence[Explained]) -> str:
    """Return what the ratios amount to."""
    import statistics

    ratios = sorted(row.ratio for row in times)
    return (
        f"simulated traffic over measured bandwidth explains {statistics.median(ratios):.0%} of "
        f"the time of these loops (median; {ratios[0]:.0%} to {ratios[-1]:.0%}): more than 100 % "
        "means that the simulated caches are too small or a ceiling is too low, far less that they "
        "are too large or that something else holds the loop up"
    )


def _document(found: Selftest, times: Sequence[Explained]) -> dict[str, Any]:
    from ridgepoint.core.documents import fields_of, plain, report

    trials = [
        {
            **plain(trial),
            "holds": trial.holds,
            "checks": [
                {**plain(check), **fields_of(check, "ratio", "holds")} for check in trial.checks
            ],
        }
        for trial in found.trials
    ]
    explained = [{**plain(loop), "ratio": loop.ratio} for loop in times]
    fields = {**plain(found), "holds": found.holds, "trials": trials, "times": explained}
    return report("selftest", fields)


def _table(trials: Sequence[Trial]) -> Table:
    """Return measured over expected: a row per quantity, a column per meter."""
    from rich.text import Text

    from ridgepoint.show.tables.layout import plain_table

    meters = list(dict.fromkeys(trial.meter for trial in trials))
    table = plain_table("program", "quantity", "expected", *meters, right=("expected",))
    for program, group in itertools.groupby(trials, key=lambda trial: trial.program):
        of_program = {trial.meter: trial for trial in group}
        checks = [
            {check.quantity: check for check in trial.checks} for trial in of_program.values()
        ]
        quantities = dict.fromkeys(name for each in checks for name in each)
        shown = [
            name
            for name in quantities
            if name.endswith("flop")
            or any(each[name].expected or each[name].measured for each in checks if name in each)
        ]
        for row, name in enumerate(shown or [""]):
            expected = next((each[name].expected for each in checks if name in each), None)
            cells = [_cell(of_program.get(meter), name, expected) for meter in meters]
            table.add_row(
                Text("" if row else program),
                Text(_words(name)),
                Text("" if expected is None else f"{expected:,}"),
                *(Text(cell, style="bold" if "FAILED" in cell else "") for cell in cells),
            )
    return table


def _words(quantity: str) -> str:
    return _WORDS.get(quantity, quantity.replace("_flop", " flop"))


def _cell(trial: Trial | None, quantity: str, expected: int | None) -> str:
    """Return one ratio, with what it is of where that is not what the row says."""
    if trial is None:
        return ""
    check = next((each for each in trial.checks if each.quantity == quantity), None)
    if check is None:
        return "FAILED" if trial.failure else ""
    if check.measured is None:
        return "unknown"
    ratio = _ratio(check)
    if check.expected != expected:
        ratio += f" of {check.expected:,}"
    return f"{ratio} FAILED" if check.holds is False else ratio


def _ratio(check: Check) -> str:
    if check.measured == check.expected:
        return "1" if check.expected else "0 = 0"
    if check.ratio is None:
        return f"{check.measured:,} / 0"
    # Not exact must not read as exact.
    rounded = f"{check.ratio:.4f}"
    return f"{check.ratio:.7f}" if rounded == "1.0000" else rounded


def _conclusion(found: Selftest) -> Iterator[str]:
    """Yield in words what failed, what was left out, and what all that means."""
    for trial in found.trials:
        where = f"FAILED: {trial.program} with {trial.meter}"
        if trial.failure is not None:
            yield f"{where}: {trial.failure}"
        for check in trial.failed_checks:
            allowed = f"{check.tolerance:.0%}" if check.tolerance else "no"
            yield (
                f"{where}: {_words(check.quantity)}: {check.measured:,} instead of "
                f"{check.expected:,} ({allowed} deviation is allowed)"
            )
    for lacking in found.not_tested:
        yield f"not tested: {lacking.meter}: {lacking.lack.reason}; {lacking.lack.remedy}"
    for left_out in found.not_run:
        yield f"not run: {left_out.program}: {left_out.reason}"
    if found.holds is None:
        yield "nothing was counted: no meter works here"
        return
    failed = sum(not trial.holds for trial in found.trials)
    total = len(found.trials)
    if failed:
        yield f"{failed} of {total} trials FAILED: do not trust what failed until it is mended"
    else:
        yield f"all {total} trials passed: whatever is known is as expected"
