"""Jobs on shared nodes: fairness and placements against brute force, and the slides' purpose."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgepoint.core.rates import ideal_machine
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.placements import CannotPlace
from ridgepoint.models.scaling.placing import sharing_study
from ridgepoint.models.scaling.sharing import Job, alone, fair_division

NODE = ideal_machine(core_rate=8e9, memory_bytes_per_s=16e9, link_bytes_per_s=2e9, cores=8)
STEPS = 60


def job(name="", *, operations=8e9, moved=0.0, cores=4, nodes=1, count=1, exchanged=0.0, **options):
    """Return a job: 1 s of one core, and some traffic."""
    problem = Problem(
        name=name,
        operations=operations,
        dram_bytes=moved,
        exchanged_bytes=lambda p: exchanged * (p > 1),
    )
    cores = (cores,) if isinstance(cores, int) else tuple(cores)
    return Job(
        name=name,
        scaling=Scaling(problem=problem, machine=NODE, **options),
        cores=cores,
        nodes=nodes,
        count=count,
    )


# Alone on 4 cores: computes for 3.9 s; 0.1 s of computing and 1.9 s of memory; both 1 s.
SOLVER = {"operations": 32e9 * 3.9, "moved": 16e9 * 0.1}
STREAM = {"operations": 32e9 * 0.1, "moved": 16e9 * 1.9}
MIXED = {"operations": 32e9, "moved": 16e9}


def shares(paces, uses, capacities):
    """Return each job's largest share of what it uses."""
    return [
        max(pace * amount / capacities[name] for name, amount in use.items())
        for pace, use in zip(paces, uses, strict=True)
    ]


def brute_force(uses, capacities):
    """Return the best of all paces on a grid: the smallest share is as large as can be, then on."""
    grid = [step / STEPS for step in range(1, STEPS + 1)]
    feasible = (
        paces
        for paces in itertools.product(grid, repeat=len(uses))
        if all(
            sum(p * use.get(name, 0.0) for p, use in zip(paces, uses, strict=True))
            <= most * (1 + 1e-12)
            for name, most in capacities.items()
        )
    )
    return max(feasible, key=lambda paces: sorted(shares(paces, uses, capacities)))


@pytest.mark.parametrize(
    ("wanted", "paces"),
    [
        ([2, 6, 6], [1, 4 / 6, 4 / 6]),
        ([1, 2, 3], [1, 1, 1]),
        ([10, 10], [0.5, 0.5]),
        ([10, 5, 1], [4.5 / 10, 4.5 / 5, 1]),
        ([0, 10, 10], [1, 0.5, 0.5]),
    ],
)
def test_a_memory_is_divided_by_demand(wanted, paces):
    """Who wants less than an equal part gets it; the rest is divided equally. By hand, of 10."""
    found = fair_division([{"dram": float(w)} if w else {} for w in wanted], {"dram": 10.0})

    assert found.paces == pytest.approx(paces)
    assert [held is None for held in found.held_by] == [pace == 1 for pace in paces]


@pytest.mark.parametrize(
    ("uses", "capacities"),
    [
        ([{"a": 3.0}, {"a": 6.0}, {"a": 6.0}], {"a": 10.0}),
        ([{"a": 8.0, "b": 1.0}, {"a": 8.0}, {"b": 9.0}], {"a": 10.0, "b": 10.0}),
        ([{"a": 5.0, "link": 5.0}, {"b": 9.0, "link": 5.0}, {"b": 9.0}],
         {"a": 10.0, "b": 10.0, "link": 6.0}),
        ([{"a": 9.0}, {"b": 9.0}], {"a": 10.0, "b": 5.0}),
    ],
)  # fmt: skip
def test_the_division_is_the_fairest_of_all(uses, capacities):
    """Of every combination of 60 paces, that whose smallest share is largest, then the next."""
    found = fair_division(uses, capacities)
    best = brute_force(uses, capacities)

    assert found.paces == pytest.approx(best, abs=1.5 / STEPS)
    assert sorted(shares(found.paces, uses, capacities)) >= [
        share - 1e-9 for share in sorted(shares(best, uses, capacities))
    ]


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.floats(0.01, 10), min_size=1), min_size=1,
        max_size=5,
    )
)  # fmt: skip
def test_nothing_is_overbooked_and_whoever_is_held_up_waits_for_something_used_up(uses):
    """And there, no job that rose further than it could give way."""
    capacities = dict.fromkeys("abc", 10.0)
    found = fair_division(uses, capacities)
    used = {
        name: sum(p * use.get(name, 0.0) for p, use in zip(found.paces, uses, strict=True))
        for name in capacities
    }
    part = shares(found.paces, uses, capacities)

    assert all(amount <= 10 * (1 + 1e-9) for amount in used.values())
    for number, held in enumerate(found.held_by):
        if held is None:
            assert found.paces[number] == 1
        else:
            assert used[held] == pytest.approx(10)
            assert part[number] == pytest.approx(
                max(share for share, use in zip(part, uses, strict=True) if held in use)
            )


def test_a_job_alone_is_that_of_the_slides():
    """Eq. (1) on 4 of 8 cores: 1 + 1 s, and half of the bandwidth on average."""
    found = alone(job(**MIXED), 4)

    assert found.time_s == pytest.approx(2)
    assert found.memory_bytes_per_s == pytest.approx(8e9)


def test_who_computes_should_meet_who_moves():
    """Two of each on two nodes: 4 jobs mixed, as fast as alone; apart two need 30.4 of 16 GB/s."""
    study = sharing_study(
        [job("solver", count=2, **SOLVER), job("stream", count=2, **STREAM)], nodes=2
    )
    apart = study.worst

    assert study.is_complete
    assert len(study.placements) == 2
    assert {
        tuple(sorted(s.name for s in study.best.shares if node in s.nodes)) for node in (1, 2)
    } == {("solver", "stream")}
    assert study.best.throughput == pytest.approx(4)
    assert apart.throughput == pytest.approx(2 + 16 / 15.2)
    assert apart.largest_slowdown == pytest.approx(15.2 * 2 / 16)


def by_hand(kinds, nodes):
    """Return the highest throughput of all ways to put jobs of one node each on nodes."""
    singles = [each for each in kinds for _ in range(each.count)]
    best = 0.0
    for places in itertools.product(range(nodes), repeat=len(singles)):
        on = [
            [each for each, at in zip(singles, places, strict=True) if at == n]
            for n in range(nodes)
        ]
        if any(sum(each.cores[0] for each in there) > 8 for there in on):
            continue
        total = 0.0
        for there in on:
            wanted = [alone(each, each.cores[0]).memory_bytes_per_s for each in there]
            level = max(wanted, default=0.0)
            if sum(wanted) > 16e9:
                low = 0.0
                for _ in range(100):  # half each time: the level at which all of 16 GB/s is used
                    middle = (low + level) / 2
                    if sum(min(w, middle) for w in wanted) > 16e9:
                        level = middle
                    else:
                        low = middle
            total += sum(min(1.0, level / w) if w else 1.0 for w in wanted)
        best = max(best, total)
    return best


AMOUNTS = st.tuples(st.floats(1e8, 1e11), st.floats(0, 1e11), st.integers(1, 5), st.integers(1, 2))


@settings(max_examples=25, deadline=None)
@given(st.lists(AMOUNTS, min_size=1, max_size=3), st.integers(1, 3))
def test_the_best_placement_is_that_of_trying_them_all(kinds, nodes):
    """Every job on every node, with the fair level found by lowering it."""
    jobs = [
        job(str(n), operations=work, moved=moved, cores=cores, count=count)
        for n, (work, moved, cores, count) in enumerate(kinds)
    ]
    best = by_hand(jobs, nodes)
    if best == 0:
        with pytest.raises(CannotPlace):
            sharing_study(jobs, nodes=nodes)
    else:
        found = sharing_study(jobs, nodes=nodes)

        assert found.best.throughput == pytest.approx(best, rel=1e-6)
        assert sum(each.count for each in jobs) == len(found.best.shares)
        assert all(load.cores <= 8 for load in found.best.loads)


def test_cores_are_divided_where_they_gain_most():
    """One computes on up to 7 cores, one moves: a core is enough for it with full overlap."""
    solver = job("solver", operations=56e9, cores=range(1, 8), overlap="full")
    stream = job("stream", operations=1e6, moved=16e9, cores=range(1, 8), overlap="full")
    best = sharing_study([solver, stream], nodes=1).best

    assert [(share.name, share.cores) for share in best.shares] == [("solver", 7), ("stream", 1)]
    assert best.throughput == pytest.approx(2)


def test_a_job_of_several_nodes_waits_for_the_memory_of_the_fullest():
    """A stream over both nodes beside a stream on one: half each there, half everywhere."""
    wide = job("wide", operations=1, moved=32e9, nodes=2, overlap="full")
    one = job("one", operations=1, moved=16e9, overlap="full")
    best = sharing_study([wide, one], nodes=2).best
    found = {share.name: share for share in best.shares}

    assert found["wide"].nodes == (1, 2)
    assert found["wide"].slowdown == pytest.approx(2)
    assert found["wide"].limiter == "shared memory"
    assert found["one"].slowdown == pytest.approx(2)
    assert [load.memory_bytes_per_s for load in best.loads] in ([16e9, 8e9], [8e9, 16e9])


@pytest.mark.parametrize(("network", "slowdown"), [("shared", 2), ("parallel", 1)])
def test_jobs_share_the_link_if_there_is_one_for_all(network, slowdown):
    """Two jobs of two nodes each, which only exchange; on nodes of their own."""
    wide = job(
        "wide", operations=1, exchanged=2e9, nodes=2, count=2, network=network, cores=8,
        overlap="full",
    )  # fmt: skip
    best = sharing_study([wide], nodes=4).best

    assert [share.slowdown for share in best.shares] == pytest.approx([slowdown] * 2)
    assert best.shares[0].limiter == ("shared link" if slowdown > 1 else "network")


def test_many_jobs_are_placed_well_without_trying_all():
    """12 solvers, 12 streams and 2 others on 13 nodes: nearly all as fast as alone."""
    study = sharing_study(
        [job("solver", count=12, cores=(4,), **SOLVER),
         job("mixed", count=2, cores=(1, 2), **MIXED),
         job("stream", count=12, cores=(3,), **STREAM)], nodes=13,
    )  # fmt: skip

    assert len(study.best.shares) == 26
    assert study.best.throughput > 0.9 * 26


def test_jobs_that_do_not_fit_are_refused():
    """9 cores on a node of 8; two nodes of one."""
    with pytest.raises(CannotPlace, match="10 cores are asked for in all, and no placement"):
        sharing_study([job("a", cores=5, count=2)], nodes=1)
    with pytest.raises(CannotPlace, match="as many nodes at once as it needs"):
        sharing_study([job("a", cores=1, nodes=2)], nodes=1)
    with pytest.raises(CannotPlace, match="there are 201 jobs"):
        sharing_study([job("a", cores=1, count=201)], nodes=100)


def test_impossible_jobs_are_refused():
    """No cores, no nodes, none of them, nowhere."""
    for wrong in ({"cores": ()}, {"cores": 0}, {"nodes": 0}, {"count": 0}):
        with pytest.raises(ValueError, match="must be"):
            job("a", **wrong)
    with pytest.raises(ValueError, match="there must be jobs"):
        sharing_study([], nodes=1)
    with pytest.raises(ValueError, match="nodes > 0"):
        sharing_study([job("a")], nodes=0)
