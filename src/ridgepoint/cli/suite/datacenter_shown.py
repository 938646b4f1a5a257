"""What ``suite datacenter`` shows without measuring: kept results, several hosts', the paper's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common
from ridgepoint.cli.suite import results

if TYPE_CHECKING:
    from ridgepoint.suites.datacenter.hosts import DatacenterHosts
    from ridgepoint.suites.datacenter.results import DatacenterStudy


def kept(sources: Sequence[Path], names: Collection[str]) -> DatacenterStudy | DatacenterHosts:
    """Return the results that files hold: one host's, or those of several side by side.

    Parameters
    ----------
    sources : sequence of Path
        One or more.
    names : collection of str
        Workloads that are wanted; empty: all.

    Raises
    ------
    click.BadParameter
        If a file is there twice, or holds none of the workloads.
    RidgepointError
        If a file cannot be read.
    """
    from ridgepoint.suites.datacenter.hosts import hosts_of

    studies = [(path, _of(path, names)) for path in sources]
    if len(studies) == 1:
        return studies[0][1]
    try:
        return hosts_of(studies)
    except ValueError as error:
        raise click.BadParameter(f"{error}; give each file once", param_hint="'--from'") from error


def _of(path: Path, names: Collection[str]) -> DatacenterStudy:
    from ridgepoint.suites.datacenter.results import DatacenterStudy

    study = results.read(path, DatacenterStudy)
    wanted = tuple(result for result in study.results if not names or result.case.workload in names)
    if names and not wanted:
        raise click.BadParameter(
            f"{str(path)!r} holds no results of {', '.join(names)}", param_hint="'WORKLOAD'"
        )
    return replace(study, results=wanted)


def draw(study: DatacenterStudy, folder: Path) -> None:
    """Write the DC-Roofline beside the roofline in flop, and the mix of instructions."""
    from ridgepoint.show.charts.dc_roofline import dc_page
    from ridgepoint.show.charts.instruction_mix import mix_page
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.show.words import machine_title
    from ridgepoint.suites.datacenter.mix import shown_mixes
    from ridgepoint.suites.datacenter.points import busy_cores, datacenter_points
    from ridgepoint.suites.datacenter.work import measured_cases

    points = datacenter_points(study.results)
    if points:
        page = dc_page(study.machine, points, cores=busy_cores(study))
        save(page, folder / "dc_roofline.svg")
    mix = mix_page(shown_mixes(measured_cases(study.results)), where=machine_title(study.machine))
    if mix is not None:
        save(mix, folder / "instruction_mix.svg")


def draw_hosts(hosts: DatacenterHosts, folder: Path) -> None:
    """Write the DC-Rooflines of several hosts as one picture."""
    from ridgepoint.show.charts.dc_hosts import dc_hosts_page
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.suites.datacenter.points import busy_cores, datacenter_points

    drawn = [
        (host.name, host.study.machine, busy_cores(host.study), points)
        for host in hosts.hosts
        if (points := datacenter_points(host.study.results))
    ]
    if drawn:
        save(dc_hosts_page(drawn), folder / "dc_rooflines.svg")


def show_published(
    titles: Collection[str], *, as_json: bool, output: Path | None, folder: Path | None
) -> None:
    """Print the paper's tables, or their document; write and draw them where that is asked for.

    Parameters
    ----------
    titles : collection of str
        Workloads as the paper calls them; empty: all.
    as_json : bool
    output : Path or None
    folder : Path or None
        Folder of figures.
    """
    from ridgepoint.suites.datacenter.published import published_paper

    if folder is not None:
        common.made_folder(folder)
    results.show_and_keep(
        published_paper(titles),
        as_json=as_json,
        output=output,
        folder=folder,
        draw=lambda folder: _draw_published(titles, folder),
    )


def _draw_published(titles: Collection[str], folder: Path) -> None:
    from ridgepoint.published.machines import load
    from ridgepoint.show.charts.dc_roofline import dc_page
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.suites.datacenter.points import published_points

    in_bop, in_flop = published_points(titles)
    if in_bop:
        page = dc_page(load("e5645-prefetch"), in_bop, flop_points=in_flop)
        save(page, folder / "dc_roofline.svg")
    else:
        common.say("no figure is drawn: the paper's Table 3 has none of these workloads")
