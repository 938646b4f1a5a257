from dataclasses import replace

import pytest
from cluster_inputs import CLUSTER, HOSTS
from core_inputs import MACHINE, ceiling, machine_of

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.links import Link, Links, Reach
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import Exchange, MeasuredCluster, Standing
from ridgepoint.models.derived import slowest_machine
from ridgepoint.published.machines import open_machine


def exchange(pattern, *, ranks, nodes=None, size=1200, time_s=1e-3):
    """Return a pattern that always takes the same time."""
    return Exchange(
        pattern=pattern,
        ranks=ranks,
        nodes=ranks if nodes is None else nodes,
        size_bytes=size,
        time_s=Estimate([time_s]),
    )


@pytest.mark.parametrize(
    ("pattern", "ranks", "bus"),
    [
        # 1200 byte in 1 ms are 1.2 MB/s; nccl-tests, doc/PERFORMANCE.md, by hand:
        ("all-reduce", 2, 1.2e6),  # x 2 * 1 / 2
        ("all-reduce", 4, 1.8e6),  # x 2 * 3 / 4
        ("all-gather", 4, 0.9e6),  # x 3 / 4
        ("all-to-all", 3, 0.8e6),  # x 2 / 3
        ("stream", 2, 1.2e6),
        ("all pairs", 6, 1.2e6),
    ],
)
def test_bus_bandwidth_is_what_nccl_calls_it(pattern, ranks, bus):
    """It can be compared with what a link carries, whatever the number of ranks."""
    measured = exchange(pattern, ranks=ranks)

    assert measured.algorithm_bytes_per_s.median == pytest.approx(1.2e6)
    assert measured.bus_bytes_per_s.median == pytest.approx(bus)


def test_an_interval_of_times_turns_around_for_bandwidth():
    """The longest time is the least bandwidth."""
    times = Estimate([1e-3, 2e-3, 4e-3, 1e-3, 2e-3, 4e-3])
    measured = replace(exchange("stream", ranks=2), time_s=times)

    rate = measured.algorithm_bytes_per_s
    assert (rate.low, rate.median, rate.high) == pytest.approx((0.3e6, 0.6e6, 1.2e6))


def test_messages_without_bytes_have_no_bandwidth():
    """A latency is a time alone: its bandwidth is unknown, and is not 0."""
    assert exchange("ping-pong", ranks=2, size=0).algorithm_bytes_per_s is None
    assert exchange("ping-pong", ranks=2, size=0).bus_bytes_per_s is None


def test_all_ranks_of_a_node_share_its_link():
    """Six ranks on three nodes, 1.2 MB/s each: 2.4 MB/s from each node."""
    assert exchange("all pairs", ranks=6, nodes=3).node_bytes_per_s.median == pytest.approx(2.4e6)
    assert exchange("all-reduce", ranks=6, nodes=3).node_bytes_per_s is None
    assert exchange("stream", ranks=2, nodes=1).node_bytes_per_s is None


@pytest.mark.parametrize(
    "wrong",
    [{"ranks": 1}, {"ranks": 2, "nodes": 3}, {"ranks": 2, "size": -1}, {"ranks": 2, "time_s": 0.0}],
)
def test_impossible_exchanges_are_refused(wrong):
    """One rank has nobody to talk to; more nodes than ranks, and no time, cannot be."""
    with pytest.raises(ValueError, match="must be"):
        exchange("stream", **wrong)


def links_of(rates):
    """Return links from rates by (sender, receiver)."""
    hosts = sorted({host for pair in rates for host in pair})
    ordered = sorted(rates.items(), key=lambda item: item[1])

    def span(index, host):
        of_host = [rate for pair, rate in rates.items() if pair[index] == host]
        return min(of_host), max(of_host)

    return Links(
        measured=len(rates),
        directed=len(hosts) * (len(hosts) - 1),
        slowest=tuple(
            Link(sender=a, receiver=b, rate=Estimate([rate])) for (a, b), rate in ordered
        ),
        reaches=tuple(Reach(host=h, sends=span(0, h), receives=span(1, h)) for h in hosts),
    )


def every_pair(hosts, rate):
    """Return the same rate for every link."""
    return {(a, b): rate for a in hosts for b in hosts if a != b}


def test_alike_links_are_all_well():
    """Nothing is named where nothing is slow."""
    assert links_of(every_pair("abcd", 1e9)).slow() == ()


def test_one_slow_link_is_named_by_both_its_hosts():
    """From b to c at a tenth: no other link of b or c is slow."""
    rates = every_pair("abcd", 1e9) | {("b", "c"): 1e8}

    assert links_of(rates).slow() == (("the link from b to c", 1e8),)


def test_a_node_that_sends_slowly_is_named_once():
    """All that c sends is slow, and what it receives is not."""
    rates = every_pair("abcd", 1e9) | {("c", host): 1e8 for host in "abd"}

    assert links_of(rates).slow() == (("what c sends", 1e8),)


def test_a_node_that_receives_slowly_is_named_once():
    """All that c receives is slow."""
    rates = every_pair("abcd", 1e9) | {(host, "c"): 1e8 for host in "abd"}

    assert links_of(rates).slow() == (("what c receives", 1e8),)


def test_a_slow_node_among_three_is_named_though_most_links_are_slow():
    """Four of the six links are those of c."""
    rates = every_pair("abc", 1e8) | {("a", "b"): 1e9, ("b", "a"): 1e9}

    assert links_of(rates).slow() == (("the link of c", 1e8),)


def test_of_two_nodes_the_slow_direction_is_named():
    """Nobody can tell whether a sends slowly or b receives slowly."""
    assert links_of({("a", "b"): 1e8, ("b", "a"): 1e9}).slow() == (("the link from a to b", 1e8),)


def test_a_link_whose_interval_reaches_the_usual_is_not_named():
    """Samples from a twentieth to all of it say nothing."""
    links = links_of({("a", "b"): 5e8, ("b", "a"): 1e9})
    unsure = Link(sender="a", receiver="b", rate=Estimate([5e7, 5e7, 5e8, 5e8, 1e9, 1e9]))

    assert replace(links, slowest=(unsure, *links.slowest[1:])).slow() == ()


def standing(slow, *, nodes=4):
    """Return a ceiling whose slowest node has these samples, where the median is 100."""
    return Standing(
        resource="fp64",
        name="fma",
        unit="flop/s",
        threads=1,
        nodes=nodes,
        median=100.0,
        slowest="bob",
        slowest_rate=Estimate(slow),
        fastest="ada",
        fastest_rate=Estimate([101.0]),
    )


def test_a_node_stands_out_beyond_its_interval():
    """90 is below 95 % of 100; 90 with samples up to 99 is not; one node has no rivals."""
    assert standing([90.0] * 6).stands_out
    assert not standing([90, 90, 90, 90, 99, 99]).stands_out
    assert not standing([90.0] * 6, nodes=1).stands_out


def test_the_slowest_machine_takes_each_resource_from_its_slowest_node():
    """Ada computes slower and bob reads slower: in step, they compute as ada and read as bob."""
    ada = machine_of(ceiling("fp64", 5e9), ceiling("dram", 9e9))
    bob = machine_of(ceiling("fp64", 8e9), ceiling("dram", 4e9), ceiling("l3", 7e9))

    slowest, hosts = slowest_machine({"ada": ada, "bob": bob}, "both")

    assert (slowest.rate("fp64"), slowest.rate("dram"), slowest.rate("l3")) == (5e9, 4e9, 7e9)
    assert set(hosts) == {"ada", "bob"}
    assert slowest.fingerprint is None


def test_patterns_of_one_resource_are_not_mixed():
    """Each node's best pattern is 10, so nodes in step reach 10, though no pattern does on both."""
    ada = machine_of(replace(ceiling("dram", 10e9), name="copy"), ceiling("dram", 9e9))
    bob = machine_of(replace(ceiling("dram", 9e9), name="copy"), ceiling("dram", 10e9))

    assert slowest_machine({"ada": ada, "bob": bob}, "both")[0].rate("dram") == 10e9


def test_the_network_is_the_slowest_link_or_what_all_reach_at_once():
    """The slowest link carries 11 MB/s; all at once every node sends 100 MB/s: that is its best."""
    machine = CLUSTER.slowest()

    rates = {
        c.name: (c.threads, c.rate.median) for c in machine.ceilings if c.resource == "network"
    }
    assert rates["slowest link"] == (1, 11e6)
    assert machine.rate("fp64") == MACHINE.rate("fp64")
    assert machine.rate("network", cores=1) == machine.rate("network")


def test_a_cluster_is_read_back_as_it_was_written():
    """Nothing of it is lost in a file."""
    assert decode(encode(CLUSTER), MeasuredCluster, origin="a test") == CLUSTER


def test_a_file_of_a_cluster_is_its_slowest_node_where_a_machine_is_meant(tmp_path):
    """A user gives either."""
    path = tmp_path / "cluster.json"
    path.write_bytes(encode(CLUSTER))

    machine = open_machine(str(path))
    assert isinstance(machine, Machine)
    assert machine == CLUSTER.slowest()


def test_a_file_that_holds_neither_is_refused(tmp_path):
    """Its kind is named."""
    path = tmp_path / "odd.json"
    path.write_text('{"schema": 1, "kind": "recipe"}')

    with pytest.raises(InvalidDocument, match="kind 'recipe'"):
        open_machine(str(path))


def test_nodes_need_names_of_their_own():
    """Two nodes of one name could not be told apart."""
    with pytest.raises(ValueError, match="names of their own"):
        replace(CLUSTER, nodes=(CLUSTER.nodes[0],) * 2)


def test_ranks_are_those_of_all_nodes():
    """Two on each of three."""
    assert CLUSTER.ranks == 6
    assert tuple(node.host for node in CLUSTER.nodes) == HOSTS
