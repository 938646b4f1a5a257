"""A fleet: ranks with ties, machines out of line, programs on every machine, prices."""

import math
import statistics
from dataclasses import replace

import kept_records
import numpy as np
import pytest
from cluster_inputs import CLUSTER
from core_inputs import MEASUREMENT, ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

import ridgepoint
from ridgepoint.core.counts import Traffic
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.price import Price
from ridgepoint.kept.archive import Archive
from ridgepoint.models.caches.elsewhere import (
    curve_over_simulation,
    traffic_of_curve,
    traffic_there,
)
from ridgepoint.models.fleet import (
    Member,
    best_rate,
    nodes_of,
    ranked_resources,
    require_unique,
    with_prices,
)
from ridgepoint.models.fleet.outliers import FEWEST, LEVEL, critical_score, models
from ridgepoint.models.fleet.programs import program_on
from ridgepoint.models.fleet.ranks import ranking, ranks
from ridgepoint.show.charts.fleet import program_chart, relative_chart
from ridgepoint.show.page.assemble import page_html
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.fleet import fleet_views

ENDS = st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(0, 5))


def estimate(middle, below=0.0, above=0.0):
    """Return an estimate by the distances of its ends."""
    return Estimate([middle], interval=(middle - below, middle + above))


def member(name, dram=10e9, *, fp64=10e9, spread=0.01, cpu="model A", caches=(), price=None):
    """Return a machine with one core and two ceilings."""
    made = machine_of(ceiling("fp64", fp64), ceiling("dram", dram), name=name)
    return Member(
        name=name,
        machine=replace(
            made,
            caches=caches,
            host=replace(made.host, cpu=cpu, cores=1),
            ceilings=tuple(
                replace(
                    one,
                    threads=1,
                    rate=one.rate.map(lambda rate: rate)
                    if spread == 0
                    else estimate(
                        one.rate.median, spread * one.rate.median, spread * one.rate.median
                    ),
                )
                for one in made.ceilings
            ),
        ),
        price=price,
    )


# --- ranks --------------------------------------------------------------------------------------


@given(st.lists(ENDS, min_size=1, max_size=8), st.booleans())
def test_ranks_by_brute_force(numbers, largest_first):
    """Every pair of intervals is compared."""
    values = [estimate(middle, below, above) for middle, below, above in numbers]
    found = ranks(values, largest_first=largest_first)
    for number, own in enumerate(values):
        better = [
            other
            for other in values
            if (other.low > own.high if largest_first else other.high < own.low)
        ]
        worse = [
            other
            for other in values
            if (other.high < own.low if largest_first else other.low > own.high)
        ]
        ties = len(values) - len(better) - len(worse) - 1
        assert found[number] == (1 + len(better), ties)


def test_what_has_no_interval_counts_as_exact():
    """Published figures, for example."""
    assert ranks([Estimate([1.0]), Estimate([2.0]), Estimate([2.0])]) == [(3, 0), (1, 1), (1, 1)]


def test_few_samples_count_from_the_least_to_the_largest():
    """They have no interval, and are not exact."""
    assert ranks([Estimate([1.0, 2.0, 3.0]), Estimate([2.5])]) == [(1, 1), (1, 1)]
    assert ranks([Estimate([1.0, 2.0, 3.0]), Estimate([3.5])]) == [(2, 0), (1, 0)]


def test_a_ranking_by_hand():
    """The fastest first, with the price of a byte; who has no such ceiling is left out."""
    fleet = [
        member("slow", 10e9, price=Price.of("3.6 USD/h")),
        member("fast", 20e9),
        Member(name="none", machine=machine_of(ceiling("fp64", 1e9), name="none")),
    ]
    fast, slow = ranking(fleet, "dram")

    assert (fast.member.name, fast.rank, fast.ties, fast.cost) == ("fast", 1, 0, None)
    assert (slow.member.name, slow.rank, slow.cost) == ("slow", 2, pytest.approx(0.001 / 10e9))
    assert (slow.value.low, slow.value.high) == (9.9e9, 10.1e9)
    assert ranked_resources(fleet) == ("fp64", "dram")


def test_the_rate_is_that_of_the_bound():
    """With the interval of the ceiling that the machine's rate goes by, on one core or all."""
    machine = machine_of(
        ceiling("dram", 8e9, threads=1), ceiling("dram", 10e9, threads=4), name="four"
    )
    machine = replace(machine, host=replace(machine.host, cores=4))

    assert best_rate(machine, "dram") == machine.best("dram", threads=4).rate
    assert best_rate(machine, "dram", cores=1) == machine.best("dram", threads=1).rate
    assert best_rate(machine, "dram", cores=3).median == machine.rate("dram", cores=3)
    assert best_rate(machine, "fp64") is None


# --- machines out of line -----------------------------------------------------------------------


def test_the_score_by_hand():
    """Rates of which the logarithms are 0, 1, 2, 3, 4 hundredths of one, and one far off."""
    rates = [1e9 * math.exp(each / 100) for each in (0, 1, 2, 3, 4, 50)]
    fleet = [member(f"m{index}", rate, spread=0.0) for index, rate in enumerate(rates)]
    (model,) = models(fleet)
    (found,) = model.outliers

    # Median 0.025, deviations 2.5, 1.5, 0.5, 0.5, 1.5 and 47.5 hundredths: their median is 1.5.
    assert found.member.name == "m5"
    assert found.resource == "dram"
    assert found.score == pytest.approx(0.6745 * 47.5 / 1.5)
    assert found.deviation == pytest.approx(math.exp(0.475) - 1)
    assert found.median == pytest.approx(1e9 * math.exp(0.025))
    assert found.is_apart


def test_a_small_deviation_is_in_line_however_alike_the_others_are():
    """Four per cent among equal machines."""
    fleet = [member(f"m{index}", 10e9) for index in range(9)]

    assert models([*fleet, member("near", 9.6e9, spread=1e-6)])[0].outliers == ()
    assert models([*fleet, member("far", 9.0e9)])[0].outliers[0].member.name == "far"


def test_two_of_seven_do_not_hide_each_other():
    """A mean and a standard deviation would say that nothing is odd."""
    rates = [10e9, 10.1e9, 9.9e9, 10.05e9, 9.95e9, 5e9, 5e9]
    (model,) = models([member(f"m{index}", rate) for index, rate in enumerate(rates)])

    assert {one.member.name for one in model.outliers} == {"m5", "m6"}


def test_a_rate_that_is_hardly_known_is_not_called_odd():
    """Its own interval is as wide as its deviation."""
    fleet = [member(f"m{index}", rate) for index, rate in enumerate((10e9, 10.01e9) * 3)]
    (model,) = models([*fleet, member("noisy", 7e9, spread=0.5)])

    assert model.outliers == ()


def test_too_few_machines_are_said_to_be_too_few():
    """And machines of other models are not counted with them."""
    fleet = [member(f"m{index}") for index in range(FEWEST - 1)]
    found = models([*fleet, member("other", 1e9, cpu="model B")])

    assert [(one.cpu, one.outliers) for one in found] == [("model A", None), ("model B", None)]


@pytest.mark.parametrize("machines", [5, 6, 7, 9, 12, 25, 60])
def test_false_alarms_are_as_rare_as_they_are_said_to_be(machines):
    """Of fleets of normal numbers, the share with a score beyond the threshold."""
    drawn = np.random.default_rng(5).standard_normal((40_000, machines))
    away = np.abs(drawn - np.median(drawn, axis=1, keepdims=True))
    scores = 0.6745 * away.max(axis=1) / np.median(away, axis=1)

    assert (scores > critical_score(machines)).mean() < 1.25 * LEVEL


# --- traffic on other caches --------------------------------------------------------------------

L1 = Cache(level=1, kind="data", size_bytes=32, line_bytes=8, ways=None)
L2 = Cache(level=2, kind="unified", size_bytes=128, line_bytes=8, ways=None, cores=4)
CURVE = MissCurve(
    line_bytes=8,
    capacities_bytes=(16, 64, 256),
    read_bytes=(1000, 500, 100),
    write_bytes=(40, 30, 20),
    pending_bytes=(1, 2, 3),
)


def traffic(level, read, write, pending=None):
    """Return the bytes moved at a level."""
    return Traffic(level=level, read_bytes=read, write_bytes=write, pending_write_bytes=pending)


def test_what_a_cache_misses_moves_at_the_next_level():
    """Each level by its own size, between two rows by the smaller one."""
    assert traffic_of_curve(CURVE, (L1, L2)) == (
        traffic("l2", 1000, 40, 1),
        traffic("dram", 500, 30, 2),
    )
    assert traffic_of_curve(CURVE, (replace(L1, size_bytes=300),)) == (traffic("dram", 100, 20, 3),)


def test_a_cache_that_cpus_share_is_divided_among_the_ranks():
    """Two ranks have a half each of what four CPUs share, and L1 alone; and so it was simulated."""
    ranks = kept_records.document("ranks")
    own = kept_records.document("cluster").slowest()

    assert len(ranks.distributed.ranks) == 2
    assert traffic_there(ranks, own).source == "simulated"
    with_curve = replace(ranks, counted=replace(ranks.counted, miss_curve=CURVE))
    moved = traffic_there(with_curve, member("other", caches=(L1, L2)).machine)
    assert moved.measurement.traffic_at("l2") == traffic("l2", 1000, 40, 1)
    assert moved.measurement.traffic_at("dram") == traffic("dram", 500, 30, 2)
    assert moved.measurement.counted.caches[1].size_bytes == 64


@given(st.lists(st.integers(0, 30), min_size=1, max_size=120), st.integers(1, 12))
def test_the_traffic_is_that_of_a_simulated_lru_cache(lines, capacity):
    """A curve from a simulation of every size gives what a simulation of one size does."""

    def misses(size):
        kept, missed = [], 0
        for line in lines:
            missed += line not in kept
            kept = [*(each for each in kept if each != line), line][-size:]
        return missed * 8

    sizes = range(1, 13)
    curve = MissCurve(
        line_bytes=8,
        capacities_bytes=tuple(8 * size for size in sizes),
        read_bytes=tuple(map(misses, sizes)),
        write_bytes=(0,) * 12,
        pending_bytes=(0,) * 12,
    )
    (moved,) = traffic_of_curve(curve, (replace(L1, size_bytes=8 * capacity + 3),))

    assert moved.read_bytes == misses(capacity)


def counted(**changes):
    """Return a measurement of which the counts are changed."""
    return replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, most_threads=1, **changes))


def test_where_traffic_comes_from():
    """Simulated with the machine's caches; else the curve; else as it was, with a doubt."""
    machine = member("there", caches=(L1, L2)).machine
    small = member("small", caches=(replace(L1, size_bytes=8), L2)).machine
    measured = counted(caches=(L1, L2), miss_curve=CURVE)

    assert traffic_there(measured, machine).source == "simulated"
    assert traffic_there(measured, machine).measurement is measured
    other = traffic_there(measured, member("other", caches=(L1,)).machine)
    assert other.source == "miss curve"
    assert other.measurement.traffic_at("dram") == traffic("dram", 1000, 40, 1)
    assert [one.code for one in traffic_there(measured, small).cautions] == ["curve-too-short"]
    several = replace(measured, counted=replace(measured.counted, most_threads=3))
    told = traffic_there(several, member("other", caches=(L1,)).machine).cautions
    assert [one.code for one in told] == ["shared-curve"]
    longer = member("long", caches=(replace(L1, line_bytes=16),)).machine
    assert [one.code for one in traffic_there(measured, longer).cautions] == ["other-lines"]
    for unknown, there in ((measured, member("none").machine), (counted(caches=()), machine)):
        moved = traffic_there(unknown, there)
        assert moved.source == "other caches"
        assert [one.code for one in moved.cautions] == ["other-caches"]
        assert moved.measurement is unknown


def test_the_curve_is_compared_with_the_simulation():
    """At the last cache: 532 byte by the curve, 1064 by the simulation."""
    measured = counted(caches=(L1, L2), miss_curve=CURVE, traffic=(traffic("dram", 1000, 60, 4),))

    assert curve_over_simulation(measured) == 0.5
    assert curve_over_simulation(counted(caches=(L1, L2))) is None


# --- programs -----------------------------------------------------------------------------------


def test_a_program_runs_best_where_its_bound_is_shortest():
    """By hand: 1 Gflop and 1 GB at DRAM; the interval is that of the ceiling that binds."""
    fleet = [
        member("computes", dram=1e9, fp64=100e9, price=Price.of("36 USD/h")),
        member("moves", dram=100e9, fp64=2e9, price=Price.of("3600 USD/h")),
    ]
    found = program_on(MEASUREMENT, fleet)
    best, other = found.there

    assert (best.member.name, best.rank, best.limiter) == ("moves", 1, "compute")
    assert (other.member.name, other.rank, other.limiter) == ("computes", 2, "dram")
    assert best.time_s.median == pytest.approx(0.5)
    assert best.time_s.interval == pytest.approx((0.5 / 1.01, 0.5 / 0.99))
    assert other.time_s.median == pytest.approx(1.0)
    assert best.cost.median == pytest.approx(0.5)
    assert other.cost.median == pytest.approx(0.01)
    cheapest = program_on(MEASUREMENT, fleet, by_cost=True).there
    assert [one.member.name for one in cheapest] == ["computes", "moves"]


def test_where_a_ceiling_is_missing_a_program_has_no_rank():
    """Its bound would look short because it leaves the memory out."""
    lacks = Member(name="lacks", machine=machine_of(ceiling("fp64", 1e15), name="lacks"))
    nothing = Member(name="nothing", machine=machine_of(ceiling("int8", 1e9), name="nothing"))
    found = program_on(MEASUREMENT, [lacks, nothing, member("whole")])

    assert [one.member.name for one in found.there] == ["whole", "lacks", "nothing"]
    assert [one.rank for one in found.there] == [1, None, None]
    assert found.there[2].time_s is None
    assert "no-ceiling" in [one.code for one in found.there[1].cautions]


def test_wider_vectors_than_a_machine_has_are_a_doubt():
    """The program does 256 bit; what is published does not say what it has."""

    def codes(name):
        made = machine_of(ceiling("fp64", 1e9, name=name), ceiling("dram", 1e9), name="m")
        (one,) = program_on(MEASUREMENT, [Member(name="m", machine=made)]).there
        return [caution.code for caution in one.cautions]

    assert "other-instructions" in codes("fma 128-bit")
    assert "other-instructions" not in codes("fma 256-bit")
    assert "other-instructions" not in codes("fma 512-bit")
    assert "other-instructions" not in codes("peak")


def test_machines_without_a_price_come_last_by_price():
    """Nothing is known of them, and nothing is not 0."""
    fleet = [member("unknown", dram=1e12), member("known", price=Price.of("1/h"))]
    found = program_on(MEASUREMENT, fleet, by_cost=True).there

    assert [(one.member.name, one.rank) for one in found] == [("known", 1), ("unknown", None)]
    assert found[1].cost is None


def test_the_ends_of_a_time_hold_those_of_any_ceilings_within():
    """Rates drawn within their intervals never give a time outside."""
    machine = member("m", dram=3e9, fp64=4e9, spread=0.2)
    (there,) = program_on(MEASUREMENT, [machine]).there
    drawn = np.random.default_rng(3)
    for _ in range(30):
        ceilings = tuple(
            replace(one, rate=Estimate([one.rate.median * drawn.uniform(0.8, 1.2)]))
            for one in machine.machine.ceilings
        )
        other = replace(machine, machine=replace(machine.machine, ceilings=ceilings))
        (inside,) = program_on(MEASUREMENT, [other]).there
        low, high = there.time_s.interval
        assert low <= inside.time_s.median * (1 + 1e-12) <= high * (1 + 2e-12)


# --- prices and members -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "per_h", "currency"),
    [
        ("1.2 USD/h", 1.2, "USD"),
        ("1.2USD/hour", 1.2, "USD"),
        ("$0.50/h", 0.5, "$"),
        ("24 €/day", 1.0, "€"),
        ("1e-3 EUR/s", 3.6, "EUR"),
        (".5/min", 30.0, ""),
        ("0 USD/h", 0.0, "USD"),
    ],
)
def test_prices_as_they_are_written(text, per_h, currency):
    """With a currency before or after, or none."""
    price = Price.of(text)

    assert price.per_h == pytest.approx(per_h)
    assert price.currency == currency


@pytest.mark.parametrize(
    "text",
    [
        "", "1.2", "1.2 USD", "USD/h", "-1 USD/h", "nan USD/h", "inf/h", "1e999/h", "1 USD/week",
        "1 USD/ h h", "$1 USD/h", "1,2 USD/h", 1.2, None, True, "1 [/red]/h",
    ],
)  # fmt: skip
def test_what_is_no_price_is_refused(text):
    """With what to write."""
    with pytest.raises(ValueError, match="write it like"):
        Price.of(text)


def test_a_price_of_a_cluster_is_that_of_each_node():
    """A node's own price goes before."""
    nodes = nodes_of(CLUSTER, "three")
    own = nodes[0].name
    priced = with_prices(nodes, {"three": Price.of("1/h"), own: Price.of("2/h")})

    assert [round(one.price.per_h) for one in priced] == [2, *[1] * (len(nodes) - 1)]
    assert all(one.machine.knows("network") for one in nodes)
    with pytest.raises(RidgepointError, match="no machine of this fleet"):
        with_prices(nodes, {"four": Price.of("1/h")})
    with pytest.raises(RidgepointError, match="EUR and USD"):
        with_prices(nodes, {"three": Price.of("1 USD/h"), own: Price.of("2 EUR/h")})


def test_machines_of_one_name_are_refused():
    """Nobody could say which is meant."""
    with pytest.raises(RidgepointError, match="two are called 'm'"):
        require_unique([member("m"), member("m")])


def test_the_median_of_a_model_is_that_of_its_rates():
    """By the median of their logarithms, which for an odd number is the same."""
    rates = [3e9, 1e9, 2e9, 9e9, 2.2e9]
    (model,) = models([member(f"m{i}", rate, spread=0.0) for i, rate in enumerate(rates)])

    for one in model.outliers:
        assert one.median == pytest.approx(statistics.median(rates))


# --- pictures, pages and Python -----------------------------------------------------------------


def fleet_of(*names):
    """Return machines with rates that differ, under these names."""
    return [member(name, (index + 1) * 10e9) for index, name in enumerate(names)]


def test_the_picture_of_a_program_has_a_bar_for_each_machine():
    """From 0 to the least time, with its interval, the best one on top."""
    chart = program_chart(program_on(MEASUREMENT, fleet_of("slow", "fast")))

    assert [(bar.name, bar.begin, bar.end) for bar in chart.bars] == [
        ("fast", 0.0, pytest.approx(0.1)),
        ("slow", 0.0, pytest.approx(0.1)),
    ]
    assert [text for _, text in chart.y.ticks] == ["fast", "slow"]
    assert chart.marks[0].x_interval == pytest.approx((0.1 / 1.01, 0.1 / 0.99))


def test_the_picture_of_a_ceiling_by_shares():
    """Of the fastest machine's rate, in the order of the names; each bar with its ceiling's tag."""
    fleet = fleet_of("a", "b")
    chart = relative_chart({"dram": ranking(fleet, "dram")}, ["a", "b"])
    shares = {bar.name: (bar.row, bar.end, dict(bar.tags)) for bar in chart.bars}

    assert shares == {
        "a": (0.0, pytest.approx(0.5), {"resource": "dram"}),
        "b": (-1.0, pytest.approx(1.0), {"resource": "dram"}),
    }


def test_the_page_has_every_machine_in_table_and_panel():
    """Hostile names are text, unknown values are empty, and rows lead to their machines."""
    hostile = "<img src=x onerror=alert(1)> \u202e"
    lacks = Member(name="lacks", machine=machine_of(ceiling("int8", 1e9), name="lacks"))
    fleet = [*fleet_of("a", hostile), lacks]
    found = program_on(MEASUREMENT, fleet)
    ranked = {name: ranking(fleet, name) for name in ranked_resources(fleet)}
    views = fleet_views(fleet, ranked, models(fleet), found)
    html = page_html(page_of((), title="Fleet", views=views)).decode()

    assert [view.key for view in views] == ["program", "ceilings"]
    for view in views:
        keys = {subject.key for subject in view.subjects}
        assert {row.subject for row in view.table.rows} <= keys == {one.name for one in fleet}
        assert all("\u202e" not in subject.name for subject in view.subjects)
    assert "<img src=x" not in html
    least = {one.key: one.facts[0] for one in views[0].subjects}
    assert [given.text for given in least["a"].inputs][1:] == ["1 GB / 10 GB/s = 100 ms"]
    time = [column.key for column in views[0].table.columns].index("time_s")
    last = views[0].table.rows[-1]
    assert (last.subject, last.cells[time].value, last.cells[time].text) == ("lacks", None, "–")


def test_a_model_with_enough_machines_has_a_view_of_its_own():
    """What is out of line is listed."""
    fleet = [*fleet_of(), *(member(f"m{index}") for index in range(9)), member("odd", 5e9)]
    views = fleet_views(fleet, {}, models(fleet), None)

    assert views[-1].key == "outliers"
    assert [row.subject for row in views[-1].table.rows] == ["odd"]
    assert "odd: DRAM on all cores 50 % below the median" in " ".join(views[-1].notes)


def test_python_compares_machines(tmp_path):
    """Published ones, those of an archive, and machines in hand."""
    path = tmp_path / "archive.sqlite3"
    with Archive(path) as archive:
        id = archive.keep_machine(member("own").machine, label="mine")
        archive.keep_measurement(MEASUREMENT, id, label="program")
    given = replace(member("given").machine, name="given")
    found = ridgepoint.fleet("mine", "e5645", given, archive=path, prices={"mine": "3.6/h"})

    assert [one.name for one in found.members] == ["mine", "e5645", "given"]
    assert found.ranking("dram")[0].member.name == "e5645"
    assert [one.outliers for one in found.models()] == [None, None]
    there = {one.member.name: one for one in found.program("program").there}
    assert there["mine"].cost.median == pytest.approx(0.001 * there["mine"].time_s.median)
    assert [one.name for one in ridgepoint.fleet(archive=path).members] == ["mine"]
    with pytest.raises(RidgepointError, match="it is a machine"):
        found.program("mine")
