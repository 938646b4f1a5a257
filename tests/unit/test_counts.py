import json
from dataclasses import replace

import pytest
from core_inputs import COUNTS, MEASUREMENT
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counted import Alternative
from ridgepoint.core.counts import (
    Counts,
    FlopCount,
    FunctionCounts,
    LineCounts,
    RegionCounts,
    Traffic,
)
from ridgepoint.core.documents import decode, encode, plain
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.timed import TimedRegion
from ridgepoint.models.analysis import analyse
from ridgepoint.show.report import report

amounts = st.integers(0, 10**15)
flop_counts = st.builds(
    FlopCount,
    precision=st.sampled_from(["fp64", "fp32", "bf16"]),
    width_bits=st.sampled_from([0, 128, 512]),
    fma=st.booleans(),
    flop=amounts,
    masked_flop=amounts,
    instructions=amounts,
    operation=st.sampled_from([None, "add", "div"]),
)
# Each kind of instruction stands once in a count, as a meter writes it.
counts = st.builds(
    Counts,
    instructions=amounts,
    branches=amounts,
    loads=amounts,
    stores=amounts,
    load_bytes=amounts,
    store_bytes=amounts,
    non_temporal_store_bytes=amounts,
    undecoded=amounts,
    flop=st.lists(flop_counts, max_size=4, unique_by=lambda f: f.kind).map(tuple),
)


def flop(precision, amount, **changes):
    """Flop of scalar instructions."""
    kind = FlopCount(precision=precision, width_bits=0, fma=False, flop=amount, instructions=amount)
    return replace(kind, **changes)


@given(counts, counts)
def test_totals_commute(one, other):
    """The order of processes or functions changes nothing."""
    assert Counts.total([one, other]) == Counts.total([other, one])


@given(counts, counts, counts)
def test_totals_associate(one, two, three):
    """A total of totals is the total of the parts."""
    assert Counts.total([Counts.total([one, two]), three]) == Counts.total([one, two, three])


@given(counts, counts)
def test_work_of_a_total_is_the_total_of_work(one, other):
    """No flop is lost or counted twice when kinds are merged."""
    total = Counts.total([one, other])

    assert total.work_flop == one.work_flop + other.work_flop == sum(total.work.values())
    assert total.masked_flop == one.masked_flop + other.masked_flop
    assert total.undecoded == one.undecoded + other.undecoded


def test_the_total_of_nothing_is_zero():
    """Nothing was executed: that is known, and 0."""
    nothing = Counts.total([])

    assert (nothing.instructions, nothing.work, nothing.work_flop) == (0, {}, 0)


def test_precisions_are_kept_apart():
    """Widths of one precision add up; precisions do not, and those without work are not named."""
    mixed = replace(
        COUNTS,
        flop=(
            flop("fp32", 7),
            flop("fp64", 5),
            flop("fp64", 6, width_bits=256, fma=True),
            flop("bf16", 0),
        ),
    )

    assert list(mixed.work.items()) == [("fp64", 11), ("fp32", 7)]
    assert mixed.work_flop == 18


def test_operations_are_kept_apart():
    """Additions and divisions of one width are two kinds; those of unknown operation are a third.

    What was kept before operations were told apart stays as it is.
    """
    known = replace(
        COUNTS, flop=(flop("fp64", 5, operation="add"), flop("fp64", 7, operation="div"))
    )
    kept = replace(COUNTS, flop=(flop("fp64", 11),))

    total = Counts.total([known, kept, known])

    assert [(kind.operation, kind.flop) for kind in total.flop] == [
        (None, 11),
        ("add", 10),
        ("div", 14),
    ]


def test_unknown_traffic_stays_unknown_in_a_sum():
    """What one process did not measure is not 0 in the total of both."""
    known = Traffic(level="dram", read_bytes=10, write_bytes=5, pending_write_bytes=1)
    unknown = Traffic(level="dram", read_bytes=3, write_bytes=None)
    l1 = Traffic(level="l1", read_bytes=1, write_bytes=1)

    total = Traffic.total([known, l1, unknown, l1])

    assert total == (
        Traffic(level="l1", read_bytes=2, write_bytes=2),
        Traffic(level="dram", read_bytes=13, write_bytes=None),
    )
    assert [part.total_bytes for part in total] == [4, None]


@pytest.mark.parametrize("name", ["instructions", "loads", "store_bytes", "undecoded"])
def test_negative_counts_are_refused(name):
    """A count below zero is a fault of the meter."""
    with pytest.raises(ValueError, match=f"{name} must be >= 0, got -1"):
        replace(COUNTS, **{name: -1})


def test_impossible_flop_and_traffic_are_refused():
    """Precisions and levels are known names, amounts are not negative."""
    with pytest.raises(ValueError, match="precision must be one of"):
        flop("fp8", 1)
    with pytest.raises(ValueError, match="operation must be one of"):
        flop("fp64", 1, operation="tan")
    with pytest.raises(ValueError, match="counts must be >= 0"):
        flop("fp64", -1)
    with pytest.raises(ValueError, match="level must be one of"):
        Traffic(level="l4", read_bytes=0, write_bytes=0)
    with pytest.raises(ValueError, match="traffic must be >= 0"):
        Traffic(level="l2", read_bytes=0, write_bytes=-1)


CURVE = MissCurve(
    line_bytes=64,
    capacities_bytes=(64, 4096, 65536),
    read_bytes=(9000, 500, 100),
    write_bytes=(4000, 200, 0),
    pending_bytes=(64, 128, 320),
    sampling=16,
)
DRAM = Traffic(level="dram", read_bytes=10, write_bytes=5)
# A measurement that knows all there is to know of regions, lines and other caches.
DETAILED = replace(
    MEASUREMENT,
    counted=replace(
        MEASUREMENT.counted,
        functions=(
            FunctionCounts(
                name="f",
                object="/opt/prog",
                counts=COUNTS,
                traffic=(DRAM,),
                lines=(LineCounts(source="/src/f.c", line=7, counts=COUNTS, traffic=(DRAM,)),),
            ),
        ),
        regions=(
            RegionCounts(name="solve", counts=COUNTS, traffic=(DRAM,)),
            RegionCounts(name="spmv", inside=("solve",), counts=COUNTS),
        ),
        alternatives=(
            Alternative(
                caches=(Cache(level=1, kind="data", size_bytes=1024, line_bytes=64, ways=2),),
                traffic=(DRAM,),
            ),
        ),
        miss_curve=CURVE,
        partial="it was stopped after 10 s",
        selected="solve",
    ),
    timed_regions=(
        TimedRegion(name="solve", entries=3, runtime_s=Estimate([0.5]), busy_s=Estimate([0.5])),
    ),
)


@pytest.mark.parametrize(
    ("size_bytes", "read", "written", "pending"),
    [(64, 9000, 4000, 64), (4095, 9000, 4000, 64), (4096, 500, 200, 128), (1 << 40, 100, 0, 320)],
)
def test_a_curve_says_the_traffic_of_a_size(size_bytes, read, written, pending):
    """Between two capacities the smaller one counts; beyond the last nothing changes."""
    assert CURVE.traffic_at(size_bytes) == Traffic(
        level="dram", read_bytes=read, write_bytes=written, pending_write_bytes=pending
    )


def test_a_curve_says_nothing_below_its_smallest_cache():
    """An unknown is no number."""
    with pytest.raises(ValueError, match="size_bytes must be >= 64, got 63"):
        CURVE.traffic_at(63)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacities_bytes": (64, 64, 128)}, "ascend"),
        ({"capacities_bytes": (64, 128)}, "amount of each kind"),
        ({"write_bytes": (1, 2, -1)}, "must be >= 0"),
        ({"sampling": 0}, "sampling must be >= 1"),
    ],
)
def test_an_impossible_curve_is_refused(changes, message):
    """Capacities ascend, each has its amounts, and none is negative."""
    with pytest.raises(ValueError, match=message):
        replace(CURVE, **changes)


def test_lines_begin_at_one():
    """Line 0 is how debug information says that it does not know."""
    with pytest.raises(ValueError, match="line must be >= 1, got 0"):
        LineCounts(source="f.c", line=0, counts=COUNTS)


def test_every_detail_is_kept_in_a_document():
    """Lines, regions, other caches and the curve come back equal."""
    assert decode(encode(DETAILED), Measurement, origin="a test") == DETAILED


def test_a_record_from_before_these_details_is_read():
    """What an earlier version kept has none of the new fields; they have their defaults."""
    record = plain(MEASUREMENT)
    for name in ("regions", "alternatives", "miss_curve", "partial", "selected", "most_threads"):
        del record["counted"][name]
    del record["counted"]["functions"][0]["lines"]
    del record["timed_regions"]
    document = json.dumps({"schema": 1, "kind": "measurement", **record})

    assert decode(document, Measurement, origin="a test") == MEASUREMENT


def test_the_report_tells_every_detail():
    """Regions, lines, levels and other caches stand in the JSON under these keys."""
    told = json.loads(json.dumps(report(analyse(DETAILED, None))))
    (function,) = told["functions"]
    dram = {"level": "dram", "read_bytes": 10, "write_bytes": 5, "pending_write_bytes": None}

    assert (function["traffic"], function["levels"]) == (dram, [dram])
    assert [(one["source"], one["line"]) for one in function["lines"]] == [("/src/f.c", 7)]
    assert function["lines"][0]["work"] == {"fp64": 1_000_000_000}
    assert [(one["name"], one["inside"]) for one in told["regions"]] == [
        ("solve", []),
        ("spmv", ["solve"]),
    ]
    assert [(one["entries"], one["runtime_s"]) for one in told["regions"]] == [
        (3, plain(Estimate([0.5]))),
        (None, None),
    ]
    assert told["alternatives"][0]["traffic"] == [dram]
    assert told["miss_curve"]["capacities_bytes"] == [64, 4096, 65536]
    assert (told["selected"], told["partial"]) == ("solve", "it was stopped after 10 s")
    assert told["processes"] == 1


def test_the_report_of_a_plain_measurement_has_the_same_keys():
    """What is not known is null or empty; lines are only where they are known."""
    told = json.loads(json.dumps(report(analyse(MEASUREMENT, None))))

    assert set(told) == set(report(analyse(DETAILED, None)))
    assert (told["regions"], told["alternatives"], told["miss_curve"]) == ([], [], None)
    assert (told["selected"], told["partial"]) == (None, None)
    assert "lines" not in told["functions"][0]
