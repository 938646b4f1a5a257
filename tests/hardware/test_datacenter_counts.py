"""The region that the workloads mark holds their work, to the flop, and nothing else."""

import subprocess

import pytest

from ridgepoint.suites.datacenter import REGION, WORKLOADS, command
from ridgepoint.suites.datacenter.measuring import cases, run_datacenter

pytestmark = pytest.mark.valgrind

N = 50


def lu_flop(n):
    """Return the flop of LU and two substitutions, counted by hand: a division is one."""
    divisions = n * (n - 1) // 2
    updates = sum(2 * k * k for k in range(n))
    return divisions + updates + n * (n - 1) + n * (n - 1) + n


def kmeans_flop(n, *, each, clusters, iterations, dimensions=9):
    """Return the flop of distances, sums, means, and of each iteration's test."""
    distances = each * n * clusters * dimensions
    sums = n * dimensions
    means = clusters * dimensions * (1 + 1)  # one thread's sum, added to zero, and a division
    return iterations * (distances + sums + means) + (iterations + 1)


@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 2])
def test_flop_of_lu_are_those_counted_by_hand(counted, variant, threads):
    """Neither those of its residual nor those of its random numbers."""
    result = counted(
        *command("lu", variant=variant, size=N, threads=threads, check=True), region=REGION
    )

    assert result.counts.work["fp64"] == lu_flop(N)


@pytest.mark.slow
def test_the_suite_counts_the_flop_of_lu_as_by_hand():
    """Its quick size, as it was and optimised by the compiler, whichever engine counts."""
    results = run_datacenter(cases(["lu"]))

    assert [result.case.step for result in results] == ["original", "ILP"]
    for result in results:
        assert result.measurement is not None, result.failures
        assert result.measurement.counted.counts.work_flop == lu_flop(result.case.size)


@pytest.mark.parametrize("variant", ["baseline", "native"])
def test_flop_of_stream_are_four_for_each_element_and_round(counted, variant):
    """Scale and add have one, triad two, in ten rounds; their times are not of every element."""
    small, large = (
        counted(*command("stream", variant=variant, size=size), region=REGION).counts.work["fp64"]
        for size in (1000, 3000)
    )

    assert large - small == 40 * 2000


@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize(("variant", "each"), [("baseline", 4), ("optimised", 3)])
def test_flop_of_kmeans_are_those_counted_by_hand(counted, form, variant, each):
    """300 points, 4 clusters, none of them empty; the difference is written down twice."""
    options = ("--clusters", "4", "--threshold", "0")
    asked = command("kmeans", variant=variant, form=form, size=300, options=options)
    report = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    iterations = int(report.split('"iterations": ')[1].split(",")[0])

    work = counted(*asked, region=REGION).counts.work
    flop = sum(work.values())
    assert flop == kmeans_flop(300, each=each, clusters=4, iterations=iterations)


@pytest.mark.parametrize("form", ["original", "prefetch", "simd"])
def test_sort_does_no_flop(counted, form):
    """Which is why a roofline of flop has nothing to say about it."""
    result = counted(*command("sort", variant="native", form=form, size=1000), region=REGION)

    assert not result.counts.work.get("fp64", 0)
    assert result.counts.instructions > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_runs_under_the_engine(counted, name):
    """Compiled for this CPU's vectors, since it has none that Valgrind does not decode."""
    size = 40 if name == "lu" else 500
    asked = command(name, variant="native", size=size, threads=2, check=True)

    result = counted(*asked, region=REGION, all_threads=True)
    assert result.counts.instructions > 0
