from dataclasses import replace

import pytest
from cluster_inputs import CLUSTER
from rich.console import Console

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.show.charts.network import network_page
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.tables import network_table


def shown(cluster, *, width=80):
    """Return what a terminal shows."""
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as capture:
        console.print(network_table.cluster(cluster))
    return capture.get()


def row(text, *beginning):
    """Return the cells of the first row that begins so."""
    return next(
        line.split() for line in text.splitlines() if line.split()[: len(beginning)] == [*beginning]
    )


def test_a_cluster_reads_in_a_terminal_of_80_columns():
    """No line is longer, and no table's row is folded."""
    text = shown(CLUSTER)

    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert text.startswith("ada and 2 more: 3 nodes, 6 ranks\n")
    # 6 ranks, 6000 byte in 1 ms: 6 MB/s, times 2 * 5 / 6.
    assert row(text, "all-reduce")[:4] == ["all-reduce", "6", "1", "ms"]
    assert "10 M" in " ".join(row(text, "all-reduce"))


def test_the_slowest_links_are_listed_by_name():
    """Cyd sends at a tenth."""
    text = shown(CLUSTER)

    assert row(text, "cyd", "to", "ada")[3:5] == ["11", "MB/s"]
    assert "2 more are faster" in text
    assert row(text, "usual")[1:3] == ["119", "MB/s"]


def test_a_slow_node_stands_in_the_comparison():
    """Bob computes at half the median."""
    assert row(shown(CLUSTER), "fp64", "FMA")[-2:] == ["50%", "bob"]


def test_messages_within_a_node_stand_apart():
    """A microsecond within a node, twenty between nodes."""
    text = shown(CLUSTER)
    between, within = text.index("between nodes (pairs: ada and bob)"), text.index("within a node")

    assert between < text.index("20 µs") < within < text.index("1 µs", within)


def test_without_an_interval_it_says_unknown():
    """Fewer than six samples have none."""
    few = replace(CLUSTER.network[0], time_s=Estimate([20e-6] * 5))

    assert "unknown" in row(shown(replace(CLUSTER, network=(few,))), "ping-pong")
    assert "unknown" not in row(shown(CLUSTER), "stream")


def test_the_figure_has_every_pattern_and_place():
    """Bands hold the medians; a latency without bytes is in no curve of sizes."""
    page = network_page(CLUSTER)
    rate, _, of_two, _ = page.charts
    link = ((rate.x.limits[0], 119e6), (rate.x.limits[1], 119e6))

    assert [chart.title for chart in page.charts] == [
        "between nodes: bus bandwidth",
        "between nodes: time",
        "between nodes, 2 ranks each: bus bandwidth",
        "between nodes, 2 ranks each: time",
    ]
    assert [line.name for line in rate.lines] == ["stream", "all pairs", "one link, one way"]
    assert rate.lines[-1].places == link
    (place,) = of_two.lines[0].places
    assert (*of_two.lines[0].low, place[1], *of_two.lines[0].high) == pytest.approx((5e7,) * 3)


def test_a_cluster_of_one_rank_has_no_figure():
    """Nothing was exchanged: that is said, and what to do."""
    with pytest.raises(RidgepointError, match="no messages were exchanged; measure with two ranks"):
        network_page(replace(CLUSTER, network=()))


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_the_figure_is_written_the_same_each_time(tmp_path, ending):
    """Byte for byte."""
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    for path in (first, second):
        save(network_page(CLUSTER), path)

    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000
