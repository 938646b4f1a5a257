"""Run the datacenter workloads, and print the DC-Roofline paper's tables for this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common, results

if TYPE_CHECKING:
    from ridgepoint.core.reference import DatacenterCase, DatacenterRun

NAME = "datacenter"


def command(
    names: Sequence[str],
    *,
    only_list: bool,
    published: bool,
    threads: Sequence[int],
    full: bool,
    folder: Path | None,
    source: Path | None,
    output: Path | None,
    as_json: bool,
    archive_path: Path | None,
) -> int:
    """Do what ``ridgepoint suite datacenter`` was asked for; return the exit status."""
    from ridgepoint.core.reference import DatacenterRun

    if published:
        from ridgepoint.show.tables.dc_tables import published as shown_tables
        from ridgepoint.show.tables.dc_tables import published_tables

        common.console().print(shown_tables(published_tables()))
        return 0
    cases = _cases(names, threads=threads, full=full)
    if only_list:
        _list(cases)
        return 0
    # What can be refused is refused before anything long begins.
    if output is not None:
        common.require_folder(output)
    if folder is not None:
        results.folder(folder)
    run = _measured(cases, archive_path) if source is None else results.read(source, DatacenterRun)
    # Neither a full disk nor a closed pipe shall cost the user both the tables and the files.
    try:
        _show(run, as_json=as_json)
    finally:
        if output is not None:
            results.write(run, output)
        if folder is not None:
            _draw(run, folder)
    unmeasured = any(one.measurement is None for one in run.results)
    return 2 if source is None and unmeasured else 0


def _show(run: DatacenterRun, *, as_json: bool) -> None:
    if as_json:
        from ridgepoint.core.documents import render, to_fields

        sys.stdout.write(render(to_fields(run)))
    else:
        from ridgepoint.show.tables.datacenter_tables import datacenter

        common.console().print(datacenter(run))


def _cases(
    names: Sequence[str], *, threads: Sequence[int], full: bool
) -> tuple[DatacenterCase, ...]:
    from ridgepoint.host import usable_cpus
    from ridgepoint.suites.datacenter import WORKLOADS
    from ridgepoint.suites.datacenter.measuring import cases

    unknown = [name for name in names if name not in WORKLOADS]
    if unknown:
        raise click.BadParameter(
            f"there is no {unknown[0]!r}; there are {', '.join(WORKLOADS)}",
            param_hint=f"'{NAME}'",
        )
    if len(threads) > 1:
        raise click.BadParameter(
            f"the {NAME} workloads take one number of threads", param_hint="'--threads'"
        )
    if threads and threads[0] > (every := len(usable_cpus())):
        raise click.BadParameter(f"{every} CPUs may be used", param_hint="'--threads'")
    return cases(names, threads=threads[0] if threads else 1, full=full)


def _list(cases: Sequence[DatacenterCase]) -> None:
    from ridgepoint.show.tables.layout import plain_table
    from ridgepoint.suites.datacenter import WORKLOADS

    table = plain_table("workload", "does", "steps", "size", right=("size",))
    for name in dict.fromkeys(case.workload for case in cases):
        own = [case for case in cases if case.workload == name]
        size = f"{own[0].size} {own[0].size_unit}"
        table.add_row(name, WORKLOADS[name].summary, ", ".join(case.step for case in own), size)
    common.console().print(table)


def _measured(cases: Sequence[DatacenterCase], archive_path: Path | None) -> DatacenterRun:
    from ridgepoint.core.reference import DatacenterRun
    from ridgepoint.kept.archive import Archive
    from ridgepoint.suites.datacenter import require_buildable
    from ridgepoint.suites.datacenter.measuring import run_datacenter

    require_buildable()
    with Archive(archive_path) as archive, common.progress() as shown:
        _, machine = common.machine_of_this_host(archive, shown, knowing="bop")
        return DatacenterRun(machine=machine, results=run_datacenter(cases, report=shown.step))


def _draw(run: DatacenterRun, folder: Path) -> None:
    """Write the DC-Roofline and the roofline in flop, and the results themselves."""
    from ridgepoint.show.charts.datacenter_points import datacenter_points
    from ridgepoint.show.charts.dc_roofline import dc_figure
    from ridgepoint.show.charts.dc_roofline_mpl import save

    results.write(run, folder / results.FILE)
    points = datacenter_points(run.results)
    if points:
        cores = min(max(one.case.threads for one in run.results), run.machine.cores)
        save(dc_figure(run.machine, points, cores=float(cores)), folder / "dc_roofline.svg")
