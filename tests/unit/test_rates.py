"""A machine with changes: more nodes, faster paths, another link, certain cores."""

import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.bound import bound
from ridgepoint.core.demand import Demand
from ridgepoint.core.rates import Rates

NODE = machine_of(
    ceiling("fp64", 1e9),
    ceiling("fp64", 8e9, threads=8),
    ceiling("dram", 4e9),
    ceiling("dram", 6e9, threads=8),
    ceiling("network", 1e9),
    cores=8,
)
RESOURCES = ("fp64", "dram", "network")
demands = st.fixed_dictionaries({name: st.floats(1.0, 1e12) for name in RESOURCES}).map(Demand)
factors = st.floats(0.1, 10.0)


@given(demands, st.floats(1, 8))
def test_a_machine_without_changes_bounds_as_it_is(demand, cores):
    """Nothing that is not asked for changes."""
    assert bound(demand, Rates(machine=NODE)).times_s == bound(demand, NODE).times_s
    assert (
        bound(demand, Rates(machine=NODE, cores=cores)).times_s
        == bound(demand, NODE, cores=cores).times_s
    )


@given(demands, factors)
def test_a_machine_that_is_faster_needs_the_time_of_less_demand(demand, factor):
    """Rates scale times, and scale them back."""
    faster = dict.fromkeys(("compute", "dram", "network"), factor)

    assert bound(demand, Rates(machine=NODE, faster=faster)).time_s == pytest.approx(
        bound(demand * (1 / factor), NODE).time_s, rel=1e-12
    )


@given(demands, st.integers(1, 64), st.integers(1, 64))
def test_more_nodes_are_never_slower(demand, few, more):
    """With a link each, n nodes take an n-th; sharing one, at least as long."""
    own, shared = (
        [bound(demand, Rates(machine=NODE, nodes=n, network=how)).time_s for n in (few, few + more)]
        for how in ("parallel", "shared")
    )

    assert own[0] == pytest.approx(bound(demand, NODE).time_s / few, rel=1e-12)
    assert own[1] <= own[0]
    assert shared[1] <= shared[0]
    assert shared[0] >= own[0] * (1 - 1e-12)


@given(demands, st.floats(1, 8), st.floats(1, 8))
def test_more_cores_are_never_slower(demand, few, more):
    """Capacity does not fall with cores."""
    few, more = sorted((few, more))

    assert (
        bound(demand, Rates(machine=NODE, cores=more)).time_s
        <= bound(demand, Rates(machine=NODE, cores=few)).time_s
    )


@given(demands, factors)
def test_a_link_that_is_given_is_the_network(demand, factor):
    """And changes nothing else."""
    times = bound(demand, Rates(machine=NODE, link_bytes_per_s=1e9 * factor)).times_s
    own = bound(demand, NODE).times_s

    assert times["network"] == pytest.approx(own["network"] / factor, rel=1e-12)
    assert (times["compute"], times["dram"]) == (own["compute"], own["dram"])
