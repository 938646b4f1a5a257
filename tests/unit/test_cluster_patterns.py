import numpy as np
import pytest
from virtual_ranks import Fabric

from ridgepoint.cluster import patterns
from ridgepoint.cluster.channel import Pair
from ridgepoint.cluster.patterns import Memory, Turn, sizes
from ridgepoint.cluster.sampling import Effort, Samples, parted, sweep

# 10 us of latency and 100 MB/s: 1000 byte need 10 us to leave.
EFFORT = Effort(sample_s=1e-3, fewest=7, most=9, budget_s=1.0)


def times_of(pattern, *, ranks=2, wanted=(1000,), fabric=None, effort=EFFORT, **options):
    """Sweep a pattern over virtual ranks; return the samples, on which all must agree."""

    def work(rank):
        memory = Memory(1 << 16)
        return sweep(rank, lambda size: pattern(rank, memory, size, **options), wanted, effort)

    results = (fabric or Fabric(ranks)).run(work)
    assert all(result == results[0] for result in results)
    return {size: samples.times_s for size, samples in results[0].items()}


def test_a_ping_pong_takes_two_ways():
    """Each way 10 us to leave and 10 us on the way: 40 us there and back, at any count."""
    times = times_of(patterns.ping_pong)[1000]

    assert times == pytest.approx([40e-6] * 9)


def test_a_ping_pong_of_nothing_is_the_latency():
    """0 byte: 10 us each way."""
    assert times_of(patterns.ping_pong, wanted=(0,))[0] == pytest.approx([20e-6] * 9)


def test_a_stream_is_as_fast_as_the_link():
    """120 messages of 10 us, and for the answer two latencies: 20 us of 1.2 ms."""
    times = times_of(patterns.stream)[1000]

    # So many that they take 1 ms at least: all leave one after the other, whatever the window.
    assert times == pytest.approx([10e-6] * 9, rel=0.03)
    assert min(times) > 10e-6


def test_both_directions_do_not_hinder_each_other():
    """As long as one way, as full-duplex links are."""
    times = times_of(patterns.both_directions)[1000]

    assert times == pytest.approx([10e-6] * 9, rel=0.05)


def test_all_pairs_are_as_slow_as_the_slowest_link():
    """Rank 2 sends to rank 0 at a tenth: the samples whose turn it is take ten times as long."""
    fabric = Fabric(4, slow={(2, 0): 1e7})

    times = times_of(patterns.all_pairs, fabric=fabric, turn=Turn())[1000]

    # Sample number n has the shift 1 + n mod 3; from 2 to 0 is a shift of 2.
    assert times[1::3] == pytest.approx([100e-6] * 3, rel=0.05)
    assert times[0::3] + times[2::3] == pytest.approx([10e-6] * 6, rel=0.15)


@pytest.mark.parametrize("per_node", [1, 2, 3])
def test_all_pairs_meet_every_other_node_and_never_their_own(per_node):
    """Who sends and who receives fit together, and one round of shifts reaches all other nodes."""
    nodes = 4
    size, turn = nodes * per_node, Turn(ranks_per_node=per_node)
    met = {rank: set() for rank in range(size)}
    for number in range(nodes - 1):
        for rank in range(size):
            to, source = turn.partners(rank, size, number)
            assert turn.partners(to, size, number)[1] == rank
            assert turn.partners(source, size, number)[0] == rank
            met[rank].add(to // per_node)

    assert all(met[rank] == set(range(nodes)) - {rank // per_node} for rank in met)


def test_an_all_reduce_adds_up_and_takes_its_time():
    """Three ranks with the same numbers: three times as much; 1 us per byte as the fabric says."""
    fabric = Fabric(3, collective_s=lambda size: size * 1e-6)
    memory = {}

    def work(rank):
        memory[rank.rank] = Memory(1 << 12)
        return sweep(
            rank,
            lambda size: patterns.all_reduce(rank, memory[rank.rank], size),
            (80, 800),
            EFFORT,
        )

    times = fabric.run(work)[0]

    assert times[80].times_s == pytest.approx([80e-6] * 9)
    assert times[800].times_s == pytest.approx([800e-6] * 9)
    assert memory[0].sums[:100] == pytest.approx(3 * memory[1].numbers[:100])


@pytest.mark.parametrize("pattern", [patterns.all_gather, patterns.all_to_all])
def test_what_is_gathered_and_handed_out_is_the_whole_size(pattern):
    """NCCL's size of an all-gather is what each rank has in the end, 900 byte of three parts."""
    seen = []
    fabric = Fabric(3, collective_s=lambda size: seen.append(size) or size * 1e-6)

    assert times_of(pattern, fabric=fabric, wanted=(900,))[900] == pytest.approx([900e-6] * 9)
    assert set(seen) == {900}


def test_messages_are_never_zeros():
    """Some memory and some links are faster with zeros."""
    memory = Memory(4096)

    assert np.all(memory.numbers >= 1.0)
    assert np.all(memory.sums < 2.0)


def test_messages_under_way_arrive_in_places_of_their_own():
    """MPI forbids two receives into one place."""
    memory = Memory(4096)
    _, into = memory.window(1024)

    assert len(into) == 4
    for index, part in enumerate(into):
        part[:] = index
    assert [int(part[0]) for part in into] == [0, 1, 2, 3]


def test_a_pair_of_many_is_a_channel_of_two():
    """Ranks 3 and 1 measure while 0 and 2 do nothing; 3 is the pair's first end."""

    def work(rank):
        if rank.rank % 2 == 0:
            return None
        pair = Pair(rank, 3, 1)
        assert pair.most(np.array([float(rank.rank), -rank.rank])).tolist() == [3.0, -1.0]
        memory = Memory(4096)
        operate = patterns.ping_pong(pair, memory, 1000)
        begin_s = rank.now()
        operate(2, 0)
        return pair.rank, rank.now() - begin_s

    zero, one, two, three = Fabric(4).run(work)
    assert (zero, two) == (None, None)
    assert one[0] == 1
    assert three == (0, pytest.approx(80e-6, rel=1e-2))


def test_sizes_are_powers_that_parts_can_share():
    """Each of 3 ranks needs a whole number of bytes, each of fp64 8 of them."""
    assert sizes(8192, step=16) == (8, 128, 2048)
    assert sizes(300, step=4, parts=3) == (9, 33, 129)
    assert sizes(4096, step=8, word=8) == (8, 64, 512, 4096)
    assert sizes(100, step=2, parts=64) == (64,)


# --- how often, how long --------------------------------------------------------------------------


def test_a_slow_link_gets_smaller_messages_not_minutes():
    """At 1 MB/s 8 KiB need 16 ms there and back, and seven samples of 64 KiB would need 0.9 s."""
    effort = Effort(sample_s=1e-3, fewest=7, most=9, budget_s=0.2)

    times = times_of(
        patterns.ping_pong,
        fabric=Fabric(2, bytes_per_s=1e6),
        wanted=(8, 1024, 8192, 65536),
        effort=effort,
    )
    assert list(times) == [8, 1024, 8192]


def test_a_long_way_gets_large_messages_too():
    """Of 5 ms there and back hardly any is for the size; five sizes take 25 ms."""
    effort = Effort(sample_s=1e-3, fewest=7, most=9, budget_s=0.2)
    wanted = (8, 64, 512, 4096, 32768)

    times = times_of(
        patterns.ping_pong, fabric=Fabric(2, latency_s=2.5e-3), wanted=wanted, effort=effort
    )
    assert tuple(times) == wanted


def test_the_smallest_message_is_always_measured():
    """However slow the link is."""
    effort = Effort(sample_s=1e-3, fewest=7, most=9, budget_s=0.2)

    times = times_of(
        patterns.ping_pong, fabric=Fabric(2, latency_s=1.0), wanted=(8, 64), effort=effort
    )
    assert len(times[8]) >= 3
    assert times[8] == pytest.approx([2.0] * len(times[8]), rel=1e-3)


def test_samples_during_which_a_core_was_taken_are_left_out():
    """Two of eight were; six are left, as many as an interval needs."""
    samples = [(1.0, False)] * 6 + [(9.0, True)] * 2

    assert parted(samples) == Samples(times_s=(1.0,) * 6, disturbed_s=(9.0, 9.0))


def test_where_cores_are_always_taken_all_samples_count():
    """That is what this host is like."""
    samples = [(1.0, False)] * 5 + [(9.0, True)] * 3

    assert parted(samples) == Samples(times_s=(1.0,) * 5 + (9.0,) * 3)
