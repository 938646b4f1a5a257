"""Where ceilings are measured, on hosts worked out by hand."""

from ridgepoint.ceilings.places import places
from ridgepoint.host import Topology

FLAT = Topology(cores=((0,), (1,)), nodes={"node 0": (0, 1)}, kinds={"core": (0, 1)})
SMT = Topology(
    cores=((0, 4), (1, 5), (2, 6), (3, 7)),
    nodes={"node 0": (0, 1, 4, 5), "node 1": (2, 3, 6, 7)},
    kinds={"core": tuple(range(8))},
)
HYBRID = Topology(
    cores=((0, 1), (2, 3), (4,), (5,)),
    nodes={"node 0": tuple(range(6))},
    kinds={"P-core": (0, 1, 2, 3), "E-core": (4, 5)},
)


def found(topology, limit=None):
    """Return part, CPUs, cores and siblings of each place."""
    return [(p.part, p.cpus, p.cores, p.siblings) for p in places(topology, limit=limit)]


def test_two_cores_are_measured_one_by_one_and_together():
    """The last CPU first: interrupts prefer the first."""
    assert found(FLAT) == [(None, (1,), 1, 1), (None, (1, 0), 2, 2)]


def test_one_cpu_is_measured_once():
    """It is one core and all cores."""
    one = Topology(cores=((0,),), nodes={"node 0": (0,)}, kinds={"core": (0,)})

    assert found(one) == [(None, (0,), 1, 1)]


def test_half_a_cpu_of_two_runs_one_thread():
    """More would wait for each other."""
    assert found(FLAT, limit=0.5) == [(None, (1,), 1, 1)]
    assert found(FLAT, limit=1.9) == [(None, (1,), 1, 1)]


def test_siblings_are_left_idle_first_and_then_all_are_used():
    """Eight hardware threads of four cores; each node by itself besides."""
    assert found(SMT) == [
        (None, (3,), 1, 2),
        (None, (3, 2, 1, 0), 4, 8),
        (None, (7, 6, 5, 4, 3, 2, 1, 0), 4, 8),
        ("node 0", (1, 0), 2, 4),
        ("node 1", (3, 2), 2, 4),
    ]
    assert [p.memory_only for p in places(SMT, limit=None)] == [False, False, False, True, True]
    assert [p.shares_cores for p in places(SMT, limit=None)] == [False, False, True, False, False]


def test_one_core_may_be_any_of_the_fastest_kind():
    """Whichever is quietest when it is measured; all cores are all cores."""
    one, every = places(FLAT, limit=None)

    assert (one.cpus, one.instead) == ((1,), (0,))
    assert every.instead == ()
    assert places(HYBRID, limit=None)[0].instead == (0,)


def test_fastest_kind_is_the_one_core_and_each_kind_is_measured():
    """Two P-cores with two threads each, two E-cores with one."""
    assert found(HYBRID) == [
        (None, (2,), 1, 2),
        (None, (5, 4, 2, 0), 4, 6),
        (None, (5, 4, 3, 2, 1, 0), 4, 6),
        ("P-core", (2, 0), 2, 4),
        ("E-core", (5,), 1, 1),
        ("E-core", (5, 4), 2, 2),
    ]
