import pytest
from virtual_ranks import Fabric

from ridgepoint.cluster.links import Ledger, both_ways, rounds, undisturbed
from ridgepoint.cluster.patterns import Memory
from ridgepoint.cluster.sampling import Effort

EFFORT = Effort(sample_s=0.01, fewest=3, most=7, budget_s=0.1)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 13])
def test_everyone_meets_everyone_once_and_one_at_a_time(count):
    """As in a tournament: by counting all pairs of all rounds."""
    schedule = rounds(count, most=1000)

    pairs = sorted(pair for met in schedule for pair in met)
    assert pairs == [(a, b) for a in range(count) for b in range(a + 1, count)]
    for met in schedule:
        busy = [node for pair in met for node in pair]
        assert len(busy) == len(set(busy)) == count - count % 2


def test_of_many_nodes_some_rounds_reach_every_node():
    """1000 nodes and 64 rounds: each node has 64 partners, and no round comes twice."""
    schedule = rounds(1000, most=64)

    assert len(schedule) == 64
    assert len({pair for met in schedule for pair in met}) == 64 * 500
    assert all(len({node for pair in met for node in pair}) == 1000 for met in schedule)


def surveyed(fabric):
    """Measure every link of a fabric, round by round."""
    hosts = [f"node{rank}" for rank in range(fabric.size)]
    schedule = rounds(fabric.size, most=64)

    def work(rank):
        memory, told = Memory(1 << 20), []
        for met in schedule:
            for a, b in met:
                if rank.rank in (a, b):
                    there, back = both_ways(rank, a, b, memory, EFFORT)
                    if rank.rank == a:
                        told += [(a, b, there), (b, a, back)]
        return told

    ledger = Ledger(hosts)
    for told in fabric.run(work):
        for link in told:
            ledger.add(*link)
    return ledger.links()


def test_links_carry_what_they_can():
    """100 MB/s, less what the answer costs: 20 us of 10 ms and more."""
    links = surveyed(Fabric(4))

    assert links.measured == links.directed == 12
    assert [link.rate.median for link in links.slowest] == pytest.approx([1e8] * 12, rel=5e-3)
    assert links.slow() == ()


def test_one_link_at_a_tenth_is_found_and_named():
    """Only from node 2 to node 1."""
    links = surveyed(Fabric(5, slow={(2, 1): 1e7}))

    ((what, rate),) = links.slow()
    assert what == "the link from node2 to node1"
    assert rate == pytest.approx(1e7, rel=5e-3)


def test_a_node_whose_link_is_a_tenth_is_found_and_named():
    """What node 0 sends, to whomever."""
    links = surveyed(Fabric(4, slow={(0, other): 1e7 for other in (1, 2, 3)}))

    ((what, rate),) = links.slow()
    assert what == "what node0 sends"
    assert rate == pytest.approx(1e7, rel=5e-3)


def test_what_is_kept_of_links_grows_with_nodes_only():
    """300 nodes have 89 700 links: the slowest 4096 are kept, and the extremes of each node."""
    count = 300
    ledger = Ledger([f"n{index}" for index in range(count)])
    for a in range(count):
        for b in range(count):
            if a != b:
                ledger.add(a, b, [1e9 + a * count + b])
    ledger.add(7, 9, [1e3])  # slower than all

    links = ledger.links()
    assert len(links.slowest) == 4096
    assert (links.slowest[0].sender, links.slowest[0].receiver) == ("n7", "n9")
    rates = [link.rate.median for link in links.slowest]
    assert rates == sorted(rates)
    assert links.reaches[299].sends == (1e9 + 299 * 300, 1e9 + 299 * 300 + 298)


def test_what_held_a_link_up_is_left_out():
    """One at half, and one far above what was reached again and again."""
    assert undisturbed([100, 101, 50, 99, 300, 100, 98, 102]) == [100, 101, 99, 100, 98, 102]


def test_a_link_that_was_always_disturbed_keeps_all_samples():
    """Nobody can tell what it could carry."""
    wild = [10, 20, 40, 80, 160, 320]

    assert undisturbed(wild) == wild
