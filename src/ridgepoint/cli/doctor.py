"""Say what can be measured here, and what to do about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common
from ridgepoint.cli.tables import beside, tables_option

if TYPE_CHECKING:
    from ridgepoint.cli.progress import Progress
    from ridgepoint.doctor.selftest import Selftest
    from ridgepoint.suites.kernels.time_check import Explained


@click.command("doctor")
@click.option(
    "--selftest", "tests_meters", is_flag=True, help="Count known programs with every meter."
)
@common.json_option
@tables_option("findings", "checks", "times", main="findings; with --selftest: checks")
@common.archive_option
def command(*, tests_meters: bool, as_json: bool, archive_path: Path | None) -> int:
    """Say what can be measured here, why the rest cannot, what to do about it, and what is lost.

    With --selftest, count built-in programs of known work and traffic with every meter, and print
    measured over expected. The exit status is 1 if a result is not as expected. Then time streams
    and stencils with data smaller and larger than each cache, and print how much of their time
    the simulated traffic explains on this machine, which is measured first if none is kept.
    """
    if tests_meters:
        return _selftest(archive_path, as_json=as_json)
    from ridgepoint.core.documents import report
    from ridgepoint.doctor import examine
    from ridgepoint.show.data_tables.others import doctor_tables
    from ridgepoint.show.tables import doctor_table

    findings = examine(archive_path)
    document = report("doctor", {"findings": findings})
    with beside(lambda: doctor_tables(document)) as is_shown:
        if as_json:
            common.print_json(document)
        elif is_shown:
            common.console().print(doctor_table.doctor(findings))
    return 0


def _selftest(archive_path: Path | None, *, as_json: bool) -> int:
    from ridgepoint.doctor.selftest import selftest
    from ridgepoint.show.data_tables.others import selftest_tables
    from ridgepoint.show.tables.selftest_table import selftest_table

    with common.progress() as shown:
        found = selftest(progress=shown.step)
        times = explained_times(archive_path, shown) if found.holds is not None else ()
    document = _document(found, times)
    with beside(lambda: selftest_tables(document)) as is_shown:
        if as_json:
            common.print_json(document)
        elif is_shown:
            common.console().print(selftest_table(found, times))
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
