"""What lines of Python did: which counted run tells it, and what is said where none does."""

from dataclasses import replace

import figure_inputs as inputs
import pytest
from line_inputs import LINES

from ridgepoint.core.counts import RegionCounts
from ridgepoint.core.errors import CannotMeasure, TimedOut
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter
from ridgepoint.profiling import line_counting
from ridgepoint.profiling.line_counting import count_lines

BEFORE = replace(
    LINES,
    tracing=None,
    lines=tuple(replace(line, counts=None, traffic=(), executions=None) for line in LINES.lines),
)
WHOLE = replace(inputs.TRIAD.counted, caches=inputs.CACHES)


@pytest.fixture(autouse=True)
def _events(monkeypatch):
    """Let one process have been traced, in which nothing was refused."""

    def read(samples, folder):
        samples.processes = 1

    monkeypatch.setattr(line_counting, "line_sampler", lambda: ("/library.so", ()))
    monkeypatch.setattr(line_counting.LineSamples, "read", read)


def codes(lines):
    """Return what is doubted."""
    return [caution.code for caution in lines.cautions]


def traced(*, work=20_000_000, dram=(160_000_000, 80_000_000)):
    """Return a counted run in which the first line did all."""
    counts = inputs.counts(inputs.flop("fp64", work))
    moved = (inputs.traffic("l1", 9, 9), inputs.traffic("dram", *dram))
    region = RegionCounts(name="\x021", counts=counts, traffic=moved)
    return replace(WHOLE, counts=counts, traffic=moved, regions=(region,))


def test_a_line_gets_the_counts_of_its_number():
    """Its traffic between core and L1 is the interpreter's; others have no counts."""
    lines = count_lines(BEFORE, NativeMeter(simulate=True), WHOLE, lambda meter: traced())

    assert lines.lines[0].counts.work_flop == 20_000_000
    assert [moved.level for moved in lines.lines[0].traffic] == ["dram"]
    assert lines.lines[1].counts is None
    assert lines.tracing.factors["flop"] == 1
    assert codes(lines) == []


def test_lines_without_room_for_traffic_are_counted_without_it():
    """The engine refuses to record a library that is too large."""
    asked = []

    def count(meter):
        asked.append(meter.simulate)
        if meter.simulate:
            raise CannotMeasure("cannot count", reason="there is no room", remedy="use less")
        return traced()

    lines = count_lines(BEFORE, NativeMeter(simulate=True), WHOLE, count)

    assert asked == [True, False]
    assert lines.tracing is not None


@pytest.mark.parametrize("error", [CannotMeasure, TimedOut])
def test_times_remain_if_lines_cannot_be_counted(error):
    """A caution says why."""

    def count(meter):
        raise error("cannot count", reason="it took too long", remedy="wait")

    lines = count_lines(BEFORE, NativeMeter(), WHOLE, count)

    assert lines.lines == BEFORE.lines
    assert codes(lines) == ["lines-not-counted"]
    assert "it took too long" in lines.cautions[0].seen


def test_another_meter_counts_no_lines():
    """Nobody counts then."""
    lines = count_lines(BEFORE, EngineMeter(), WHOLE, lambda meter: pytest.fail("counts"))

    assert codes(lines) == ["lines-not-counted"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"work": 21_000_000}, "lines-differ"),
        ({"dram": (200_000_000, 80_000_000)}, "line-traffic-traced"),
    ],
)
def test_a_traced_run_that_did_something_else_is_doubted(changed, code):
    """More than a hundredth of the flop, or a twentieth of the traffic."""
    lines = count_lines(BEFORE, NativeMeter(simulate=True), WHOLE, lambda meter: traced(**changed))

    assert codes(lines) == [code]
