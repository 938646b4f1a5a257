import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.demand import Demand
from ridgepoint.core.resources import LEVELS, RESOURCES, resource_named

# Whole numbers, so that sums are exact and equality is meant as it is written.
demands = st.dictionaries(
    st.sampled_from(sorted(RESOURCES)), st.integers(0, 10**12), min_size=1, max_size=5
).map(Demand)


@given(demands, demands)
def test_sums_of_demands_commute(one, other):
    """The order of two pieces of work changes nothing of what they ask for together."""
    assert dict((one + other).amounts) == dict((other + one).amounts)


@given(demands, demands, demands)
def test_sums_of_demands_associate(one, two, three):
    """Three pieces of work may be summed in any grouping."""
    assert dict(((one + two) + three).amounts) == dict((one + (two + three)).amounts)


@given(demands, st.integers(0, 1000))
def test_a_multiple_of_a_demand_is_its_repeated_sum(demand, factor):
    """Three times a demand is the demand thrice, and multiples add up."""
    assert dict((demand * 3).amounts) == dict((demand + demand + demand).amounts)
    assert dict((demand * (factor + 1)).amounts) == dict((demand * factor + demand).amounts)


def test_a_sum_holds_what_either_asks_for():
    """A resource that only one names is asked for in its amount."""
    total = Demand({"fp64": 2.0, "dram": 8.0}) + Demand({"dram": 1.0, "network": 4.0})

    assert dict(total.amounts) == {"fp64": 2.0, "dram": 9.0, "network": 4.0}


def test_arrays_stand_for_many_designs():
    """Amounts broadcast against each other in sums and products."""
    sweep = Demand({"fp64": [1.0, 2.0]}) + Demand({"fp64": 10.0, "dram": 1.0})

    assert sweep.amounts["fp64"].tolist() == [11.0, 12.0]
    assert (sweep * [2, 3]).amounts["dram"].tolist() == [2.0, 3.0]


def test_a_demand_does_not_change():
    """Neither its mapping nor its arrays can be written, nor does the caller's array reach in."""
    mine = np.array([1.0, 2.0])
    demand = Demand({"fp64": mine})
    mine[0] = 99.0

    assert demand.amounts["fp64"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        demand.amounts["fp64"][0] = 5.0
    with pytest.raises(TypeError):
        demand.amounts["dram"] = 5.0
    with pytest.raises(AttributeError):
        demand.amounts = {}


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf"), None, [1.0, -2.0]])
def test_impossible_amounts_are_refused(amount):
    """An amount is finite and not negative; unknown is no amount."""
    with pytest.raises(ValueError, match=r"fp64 must be finite and >= 0"):
        Demand({"fp64": amount})


def test_an_unknown_resource_is_refused_with_the_known_ones():
    """A slip of the pen names nothing, and the message lists what can be named."""
    with pytest.raises(ValueError, match=r"'flops' is not a resource; .*fp64, .*network"):
        Demand({"flops": 1.0})


def test_every_level_has_both_directions_on_its_own_path():
    """Reads and writes of a level share its path, so that they share its limit."""
    for level in LEVELS:
        names = (level, f"{level}_read", f"{level}_write")

        assert [resource_named(name).path for name in names] == [level] * 3
        assert [resource_named(name).direction for name in names] == [None, "read", "write"]
        assert {resource_named(name).unit for name in names} == {"byte"}


def test_work_shares_the_compute_path_in_three_metrics():
    """Flop of every precision and BOPs run on the same units; they differ in what they count."""
    compute = {name: r.unit for name, r in RESOURCES.items() if r.path == "compute"}

    assert compute == {
        "fp64": "flop",
        "fp32": "flop",
        "fp16": "flop",
        "bf16": "flop",
        "fp80": "flop",
        "int8": "op",
        "int32": "op",
        "int64": "op",
        "bop": "BOP",
    }
