from dataclasses import replace

from core_inputs import MACHINE, ceiling, machine_of

from ridgepoint.cluster.nodes import MOST_KEPT, Roster
from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate


def node(fp64, dram=8e9):
    """Return a machine whose ceilings have eight samples alike."""
    alike = [
        replace(ceiling(resource, rate), rate=Estimate([rate] * 8))
        for resource, rate in (("fp64", fp64), ("dram", dram))
    ]
    return machine_of(*alike)


def roster_of(machines):
    """Return a roster of nodes with one rank each."""
    roster = Roster("test", tuple(machines), [1] * len(machines))
    for host, machine in machines.items():
        roster.add(host, machine)
    return roster


def test_a_slow_node_is_named_with_its_worst_ceiling():
    """Cyd computes at half the others' rate."""
    roster = roster_of({"ada": node(10e9), "bob": node(10e9), "cyd": node(5e9)})

    (caution,) = [c for c in roster.cautions() if c.code == "slow-node"]
    assert "cyd is slower than the other nodes in 1 of its ceilings" in caution.seen
    assert "50% of their median" in caution.seen
    (fp64,) = [s for s in roster.standings() if s.resource == "fp64"]
    assert (fp64.slowest, fp64.median, fp64.fastest) == ("cyd", 10e9, "ada")


def test_nodes_alike_are_not_named():
    """2 % are within what ceilings of one node differ by."""
    roster = roster_of({"ada": node(10e9), "bob": node(9.8e9)})

    assert list(roster.cautions()) == []


def test_doubts_about_machines_are_told_with_their_hosts():
    """Six nodes have one: the first four are named."""
    doubtful = replace(node(1e9), cautions=(Caution("cpu-limit", "half a CPU", "more"),))
    roster = roster_of({f"n{index}": doubtful for index in range(6)})

    (caution,) = roster.cautions()
    assert caution.code == "cpu-limit"
    assert "n0, n1, n2, n3 and 2 more" in caution.seen


def test_what_is_kept_of_many_nodes_is_what_bounds_them():
    """100 nodes: one computes slowest and one reads slowest; these two machines are kept whole."""
    machines = {f"n{index}": node(10e9 + index, 8e9 + index) for index in range(100)}
    machines["n40"] = node(2e9)
    machines["n70"] = node(10e9, 1e9)
    assert len(machines) > MOST_KEPT

    roster = roster_of(machines)

    kept = {one.host for one in roster.nodes() if one.machine is not None}
    assert kept == {"n40", "n70"}
    assert len(roster.nodes()) == 100
    assert roster.slowest().rate("fp64") == 2e9
    assert roster.slowest().rate("dram") == 1e9
    assert all(standing.nodes == 100 for standing in roster.standings())


def test_the_slowest_machine_says_whose_ceilings_it_has():
    """A reader must know that no single node is like this."""
    roster = roster_of({"ada": node(10e9, 1e9), "bob": node(5e9, 8e9)})

    (caution,) = [c for c in roster.slowest().cautions if c.code == "slowest-node"]
    assert "bob, ada" in caution.seen


def test_one_node_is_its_own_slowest():
    """Nothing is compared."""
    roster = roster_of({"ada": MACHINE})

    assert roster.slowest().ceilings == MACHINE.ceilings
    assert list(roster.cautions()) == []
