"""Regions and functions that are counted apart; the sums are in tests/programs/parts.cpp."""

import sys

import pytest
from known_work import PARTS_FUNCTIONS, PARTS_N

from ridgepoint.core.errors import CannotMeasure

pytestmark = pytest.mark.valgrind

N = PARTS_N
BOTH = pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])


@pytest.fixture
def parts(compiled, counted, small_caches):
    """Count tests/programs/parts.cpp."""

    def count(mode, n=N, *, simulated=False, options=("-O2",), **others):
        caches = small_caches if simulated else None
        return counted(compiled("parts.cpp", *options), mode, n, caches=caches, **others)

    return count


def flop_of(result):
    """Return the fp64 flop of each region."""
    return {region.name: region.counts.work.get("fp64", 0) for region in result.regions}


@BOTH
@pytest.mark.parametrize(
    ("mode", "flop", "outside"),
    [
        ("nested", {"a": 111 * N, "b": 10 * N}, 0),
        ("crossed", {"a": 10 * N, "b": 5 * N}, 100 * N),
        ("loop", {"a": 10 * N}, 5 * N),
        ("recursive", {"r": 5 * N}, 0),
        ("threads", {"even": 7 * N // 2, "odd": 3 * N // 2}, 0),
    ],
)
def test_regions_hold_what_was_done_in_them(mode, flop, outside, simulated, parts):
    """An outer region holds its inner ones, and threads each have their own."""
    result = parts(mode, simulated=simulated)
    total = flop.get("a", sum(flop.values())) + outside + 2000

    assert flop_of(result) == flop
    assert result.counts.work == {"fp64": total}
    assert result.selected is None


@BOTH
@pytest.mark.parametrize(
    ("mode", "region", "flop"),
    [("nested", "a", 111 * N), ("nested", "b", 10 * N), ("recursive", "r", 5 * N)],
)
def test_a_region_can_be_counted_alone(mode, region, flop, simulated, parts, of_function):
    """Functions, and the whole, are then those of the region."""
    result = parts(mode, simulated=simulated, region=region)

    assert result.counts.work == {"fp64": flop}
    assert of_function(result, "adds").counts.work == {"fp64": flop}
    assert result.selected == f"region {region!r}"


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize(
    ("mode", "region"),
    [("nested", "a"), ("nested", "b"), ("crossed", "b"), ("loop", "a"), ("recursive", "r")],
)
def test_what_is_left_out_changes_nothing_inside(mode, region, cold, parts):
    """Counts are those of a run in which everything is counted, not only what matters."""
    whole = {each.name: each for each in parts(mode, simulated=True).regions}
    alone = parts(mode, simulated=cold, region=region, cold=cold)

    assert alone.counts == whole[region].counts


@pytest.mark.parametrize("cold", [False, True])
def test_code_that_is_left_out_may_fail(cold, compiled, counted, small_caches):
    """Its signals are delivered, and it goes on; what never enters the region is no zero."""
    caches = small_caches if cold else None
    with pytest.raises(CannotMeasure, match="never entered a region 'a'"):
        counted(compiled("faults.c", "-O1"), "load", N, caches=caches, region="a", cold=cold)


@pytest.mark.parametrize(
    ("simulated", "options"),
    [
        pytest.param(False, ("-O2",), id="counts"),
        pytest.param(True, ("-O2",), id="caches", marks=pytest.mark.slow),
        pytest.param(False, ("-O2", "-static"), id="static", marks=pytest.mark.slow),
        pytest.param(True, ("-O2", "-static"), id="static caches"),
    ],
)
@pytest.mark.parametrize(("mode", "function", "flop"), PARTS_FUNCTIONS)
def test_a_function_is_counted_with_what_it_calls(mode, function, flop, options, simulated, parts):
    """However it is entered and left, and from whichever thread."""
    result = parts(mode, function=function, simulated=simulated, options=options)

    assert result.counts.work == {"fp64": flop}
    assert result.selected == f"function {function!r}"
    assert result.regions == ()


@pytest.mark.parametrize("function", ["nowhere", "adds?x", "ad"])
def test_a_function_that_never_ran_is_no_zero(function, parts):
    """A name is matched as a whole."""
    with pytest.raises(CannotMeasure, match="entered no function"):
        parts("both", function=function)


def test_a_region_that_was_never_entered_is_no_zero(parts):
    """The message names those that were."""
    with pytest.raises(CannotMeasure, match="it entered 'a', 'b'"):
        parts("nested", region="c")


PYTHON = """
import ridgepoint
x = 0.0
def add(n):
    global x
    for _ in range(n): x += 1.5
with ridgepoint.region("warm"): add(10)
with ridgepoint.region("outer"):
    add(1000)
    with ridgepoint.region("inner"): add(300)
add(5000)
"""


def test_regions_of_a_python_program_hold_their_work(counted):
    """1 flop per `+=`, beside the little that the interpreter itself does."""
    flop = flop_of(counted(sys.executable, "-c", PYTHON))

    assert list(flop) == ["warm", "outer", "inner"]
    assert flop["outer"] - flop["warm"] == pytest.approx(1300 - 10, abs=5)
    assert flop["inner"] == pytest.approx(300, abs=5)
