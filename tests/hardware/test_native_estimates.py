"""Traffic estimated from bursts, against sums by hand and against all accesses simulated."""

import subprocess
import time

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.native import NativeMeter

LINE = 64
N = 131_072  # doubles in each array of a stream: four times the larger of the small caches
TIMES = 24_000
SUMS, PASSES = 24_000, 12_800  # of MIXED: enough time for bursts on fast processors
STREAM = """
#include <stdlib.h>
static double x[131072], y[131072];
__attribute__((noinline)) static void daxpy(double a) {
    for (long i = 0; i < 131072; i++) y[i] += a * x[i];
}
int main(int argc, char **argv) {
    for (long i = 0; i < 131072; i++) x[i] = argc;
    for (long r = 0; r < atol(argv[1]); r++) daxpy(1e-3 * r);
    return y[7] < 0;
}
"""
MIXED = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static double small[2048], large[131072];
static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static void *sum(void *array) {
    double s = 0;
    for (int r = 0; r < 24000; r++) {
        for (long i = 0; i < 131072; i++) s += ((double *)array)[i];
        __asm__ volatile("" ::: "memory");
    }
    large[0] = s;
    return NULL;
}
int main(void) {
    pthread_t thread;
    unsigned seed = 1;
    for (int r = 0; r < 4800; r++) {
        for (int i = 0; i < 2048; i++) small[i] = (double)(seed = seed * 1664525u + 1013904223u);
        qsort(small, 2048, sizeof *small, compare);
    }
    pthread_create(&thread, NULL, sum, large);
    pthread_join(thread, NULL);
    for (int r = 0; r < 12800; r++) {
        for (long i = 0; i < 131072; i += 8) large[i] += 1;
        __asm__ volatile("" ::: "memory");
    }
    printf("%.0f\\n", small[100]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return a function that compiles a source."""
    folder = tmp_path_factory.mktemp("estimated")

    def make(name, source):
        (folder / f"{name}.c").write_text(source)
        options = ["-O3", "-mavx2", "-ffast-math", "-pthread", "-o", folder / name]
        subprocess.run(["cc", *options, folder / f"{name}.c"], check=True)
        return folder / name

    return make


@pytest.fixture(scope="module")
def estimate(small_caches):
    """Return a function that counts a command and estimates its traffic, or simulates all of it."""
    if (lack := NativeMeter().why_unavailable()) is not None:
        pytest.skip(f"{lack.reason}; {lack.remedy}")

    def count(*command, estimates=True, **options):
        def launch(wrapped):
            began = time.perf_counter()
            done = subprocess.run(wrapped, check=False, stdout=subprocess.DEVNULL)
            took = time.perf_counter() - began
            return Run(exit_status=done.returncode, wall_s=took, cpu_s=took)

        meter = NativeMeter(**{"simulate": True, "estimates": estimates, **options})
        return meter.count([str(part) for part in command], launch=launch, caches=small_caches)

    return count


def ends(counted, level):
    """Return the least and the most that a level moved."""
    found = counted.estimate.at(level)
    return tuple(r + w for r, w in zip(found.read_bytes, found.write_bytes, strict=True))


def test_a_stream_moves_what_it_must(program, estimate):
    """Each pass reads two arrays and writes one, at each level: they fit into none."""
    counted = estimate(program("stream", STREAM), TIMES)
    read, written = 2 * 8 * N * TIMES, 8 * N * TIMES

    assert counted.estimate.bursts > 5
    assert counted.estimate.share < 0.5
    for part in counted.traffic[1:]:
        assert part.read_bytes == pytest.approx(read, rel=0.02)
        assert part.write_bytes == pytest.approx(written, rel=0.02)
        low, high = ends(counted, part.level)
        assert low <= part.total_bytes <= high
        assert high - low < 0.1 * part.total_bytes
    assert counted.counts.work_flop == 2 * N * TIMES + TIMES


def test_a_short_program_is_simulated_completely(program, estimate):
    """It ends in the first burst, so its traffic is what it is when all is simulated."""
    path = program("stream", STREAM)
    counted, exact = estimate(path, 3), estimate(path, 3, estimates=False)

    assert counted.estimate is None
    for part, same in zip(counted.traffic[1:], exact.traffic[1:], strict=True):
        assert part.total_bytes == pytest.approx(same.total_bytes, rel=1e-3)
    assert counted.traffic[-1].pending_write_bytes == pytest.approx(
        exact.traffic[-1].pending_write_bytes, rel=0.05
    )


def test_too_few_bursts_are_no_traffic(program, estimate):
    """Unknown, not 0; and why is said."""
    counted = estimate(program("stream", STREAM), 60)

    assert [part.level for part in counted.traffic] == ["l1"]
    assert counted.estimate.levels == ()
    assert "traffic-too-short" in {caution.code for caution in counted.cautions}


def test_counts_are_as_without_bursts(program, estimate):
    """Threads that change over between two kinds of code count every block once."""
    path = program("mixed", MIXED)
    counted, exact = estimate(path), estimate(path, simulate=False, estimates=False)
    functions = [
        {one.name: one.counts for one in run.functions if one.name in {"sum", "main", "compare"}}
        for run in (counted, exact)
    ]

    assert len(functions[0]) == 3
    assert functions[0] == functions[1]


def test_phases_are_weighed_by_what_they_do(program, estimate):
    """A sort within L1, a sum on another thread, and a pass over every eighth number."""
    counted = estimate(program("mixed", MIXED))
    lines = SUMS * N * 8 // LINE + 2 * PASSES * N * 8 // LINE

    low, high = ends(counted, "dram")
    assert low <= lines * LINE <= high
    assert counted.traffic[-1].total_bytes == pytest.approx(lines * LINE, rel=0.25)


def test_functions_get_their_shares(program, estimate):
    """What moved in bursts is charged to who moved it, and scaled."""
    counted = estimate(program("stream", STREAM), TIMES)
    (daxpy,) = (one for one in counted.functions if one.name == "daxpy")

    for whole, part in zip(counted.traffic[1:], daxpy.traffic[1:], strict=True):
        assert part.total_bytes == pytest.approx(whole.total_bytes, rel=0.01)


def test_bursts_do_without_other_caches():
    """They tell nothing of caches that are emptied, of others, and give no curve."""
    with pytest.raises(ValueError, match="bursts"):
        NativeMeter(simulate=True, estimates=True, miss_curve=True)
