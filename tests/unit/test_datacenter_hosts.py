"""Results of several hosts side by side, from results made by hand."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from figure_inputs import measurement
from rich.console import Console

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.published.machines import load
from ridgepoint.show.charts.dc_hosts import dc_hosts_page
from ridgepoint.show.tables.datacenter_hosts_table import datacenter_hosts
from ridgepoint.suites.datacenter.hosts import DatacenterHosts, Host, common_cases, hosts_of
from ridgepoint.suites.datacenter.measuring import cases
from ridgepoint.suites.datacenter.points import busy_cores, datacenter_points
from ridgepoint.suites.datacenter.results import DatacenterResult, DatacenterStudy

E5645 = load("e5645")


def result(name="sort", step="ILP", seconds=1.0, size=1000, bop=20_000_000_000):
    """Return a case on six cores that moves 1 GB."""
    (case,) = (case for case in cases([name], threads=6) if case.step == step)
    measured = measurement(dram=(600_000_000, 400_000_000, 0), runtime_s=seconds)
    return DatacenterResult(
        case=replace(case, size=size), measurement=measured, source=BasicOperations(compare=bop)
    )


def study(*results):
    """Return a study on the paper's machine."""
    return DatacenterStudy(machine=E5645, results=results)


def shown(*studies):
    """Return the tables of hosts called a, b, ... as lines, blanks as one."""
    hosts = tuple(Host(name=name, study=own) for name, own in zip("abcd", studies, strict=False))
    console = Console(width=160, file=StringIO())
    console.print(datacenter_hosts(DatacenterHosts(hosts=hosts)))
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def test_table_9_has_a_column_for_each_host_and_their_sum():
    """20 GBOP in 1 s and in 2 s, of 86.4 GBOPS each: 30 of 172.8 together are 17.4 %."""
    lines = shown(study(result()), study(result(seconds=2.0)))

    assert "peak BOP/s 86.4 G 86.4 G 173 G" in lines
    assert "real BOP/s 20 G 10 G 30 G" in lines
    assert "BOP/s efficiency 23 % 12 % 17 %" in lines


def test_bounds_are_those_of_each_host_s_own_machine():
    """20 BOP/byte is beyond the ridge of 6.5, 2 is not."""
    lines = shown(study(result()), study(result(bop=2_000_000_000)))

    assert "Sort, ILP 20, calculation 2, memory access" in lines


def test_a_case_that_one_host_lacks_is_a_dash():
    """And no 0."""
    lines = shown(study(result(), result("grep")), study(result()))

    assert "Grep, ILP 1 s ±0.4 % -" in lines
    assert "Grep, ILP unknown" in lines


def test_hosts_are_compared_on_the_same_data_only():
    """Half the time is x 2, unless it was of half the records."""

    def gains(other):
        hosts = (Host(name="a", study=study(result())), Host(name="b", study=study(other)))
        return common_cases(hosts)[0].gains

    assert gains(result(seconds=0.5))[0].ratio == pytest.approx(2.0, rel=1e-2)
    assert gains(result(seconds=0.5, size=500)) == (None,)


def test_hosts_are_called_by_their_files():
    """By their folders too where files are called alike; a file given twice is refused."""
    one = study(result())

    def names(*paths):
        return [host.name for host in hosts_of([(Path(path), one) for path in paths]).hosts]

    assert names("a.json", "deep/b.json") == ["a", "b"]
    assert names("a/results.json", "b/results.json") == ["a/results", "b/results"]
    with pytest.raises(ValueError, match="'a' again"):
        names("a.json", "a.json")


def test_hosts_are_a_document_with_their_gains():
    """Which is read back, and is not taken for the results of one host."""
    hosts = hosts_of([(Path("a.json"), study(result())), (Path("b.json"), study(result()))])
    document = encode(hosts)

    assert decode(document, DatacenterHosts, origin="a test") == hosts
    assert json.loads(document)["gains"]["Sort, ILP"][0]["ratio"] == pytest.approx(1.0)
    with pytest.raises(InvalidDocument, match="datacenter-hosts"):
        decode(document, DatacenterStudy, origin="a test")


def test_rooflines_of_hosts_share_their_axes_and_colours():
    """Grep has the second colour on the host that lacks Sort too."""
    first, second = study(result(), result("grep", bop=10_000_000)), study(result("grep"))
    page = dc_hosts_page(
        [
            (name, own.machine, busy_cores(own), datacenter_points(own.results))
            for name, own in (("a", first), ("b", second))
        ]
    )
    inks = [{mark.name: mark.ink for mark in chart.marks} for chart in page.charts]

    assert page.charts[0].x.limits == page.charts[1].x.limits
    assert page.charts[0].y.limits == page.charts[1].y.limits
    assert inks[0]["Grep"] == inks[1]["Grep"] == 1
    assert [chart.title for chart in page.charts] == ["a", "b"]
