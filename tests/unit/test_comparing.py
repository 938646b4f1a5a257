"""Programs before and after: literal measurements, properties, and noise by simulation."""

import itertools
import math
from dataclasses import replace

import figure_inputs as inputs
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import CountedOnce, TrafficEstimate, TrafficInterval
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Timing
from ridgepoint.core.timed import Sampled, Timed, TimedFunction
from ridgepoint.models.comparing import check_gate, compare, history_of
from ridgepoint.models.comparing.changes import DISTURBED, DRIFT, TOO_FEW, count_change, time_change
from ridgepoint.models.independence import is_dependent, range_with_drift, von_neumann_ratio

TRIAD = inputs.TRIAD
LOAD = Caution("other-load", "other processes kept 2 CPUs busy", "end them")


def timed(program, runtime_s, cpu_s=None, *cautions):
    """Return a program with other times."""
    cpu = runtime_s if cpu_s is None else cpu_s
    times = Timed(runtime_s=Estimate(runtime_s), cpu_s=Estimate(cpu), cautions=cautions)
    return replace(program, timed=times)


def around(median_s):
    """Return ten times whose 95 % interval is within 1 % of their median."""
    return [median_s * factor for factor in (1, 0.99, 1.01, 1, 0.995, 1.005, 1, 1.01, 0.99, 1)]


def codes(comparison):
    """Return what is said of both measurements."""
    return [caution.code for caution in comparison.differences]


def verdicts(comparison):
    """Return the verdict on every amount that is known."""
    return {
        quantity: change.verdict
        for quantity, change in comparison.changes.items()
        if change.is_known
    }


def test_a_program_compared_with_itself_shows_no_difference():
    """All counts are equal, and no time is longer or shorter."""
    found = compare(TRIAD, TRIAD)

    assert set(verdicts(found).values()) == {"equal", "no difference seen"}
    assert found.is_same_work
    assert not found.differences[:-1]
    assert codes(found) == ["no-machine"]


def test_known_differences_are_found():
    """Half the time, twice the bytes read at DRAM, and as much work: by hand."""
    before = timed(TRIAD, around(0.2))
    after = timed(
        inputs.measurement(inputs.flop("fp64", 20_000_000), dram=(320_000_000, 80_000_000, 0)),
        around(0.1),
    )
    changes = compare(before, after).changes

    assert changes["runtime"].verdict == "less"
    assert changes["runtime"].ratio == pytest.approx(0.5)
    assert changes["runtime"].low < 0.5 < changes["runtime"].high
    assert changes["work"].verdict == "equal"
    assert (changes["dram read"].verdict, changes["dram read"].ratio) == ("more", 2.0)
    assert changes["dram"].ratio == pytest.approx(400 / 240)
    assert changes["network"].verdict == "unknown"
    assert changes["network"].ratio is None


def test_other_work_is_said_first():
    """Twice the flop are no slower program but another task, or another algorithm."""
    after = inputs.measurement(inputs.flop("fp64", 40_000_000), runtime_s=0.02)
    found = compare(TRIAD, after)

    assert not found.is_same_work
    assert codes(found)[0] == "other-work"
    assert "20 Mflop before, 40 Mflop after" in found.differences[0].seen


def test_instructions_stand_for_the_work_of_what_has_none():
    """A sort has no flop; twice the instructions are other work."""
    after = inputs.measurement(command=("./sort", "-n"), runtime_s=0.6, instructions=100_000_000)

    assert compare(inputs.SORT, inputs.SORT).is_same_work
    assert codes(compare(inputs.SORT, after))[0] == "other-work"


def test_what_a_reader_must_know_is_said():
    """Another machine, other caches, a level missing, part of a run, another region."""
    elsewhere = replace(TRIAD, context=replace(inputs.CONTEXT, hostname="other", cpu="Arm"))
    small = inputs.with_counted(TRIAD, caches=(Cache(level=2, kind="unified", size_bytes=1 << 19,
                                                     line_bytes=64, ways=8),))  # fmt: skip
    fewer = inputs.with_counted(TRIAD, traffic=TRIAD.counted.traffic[:2], partial="too long",
                                selected="region 'sum'")  # fmt: skip

    assert "other-machine" in codes(compare(TRIAD, elsewhere))
    assert "other-caches" in codes(compare(TRIAD, small))
    assert {"missing-levels", "partial-counts", "other-part"} <= set(codes(compare(TRIAD, fewer)))


def test_traffic_of_different_caches_is_not_compared():
    """The bytes between core and L1 are the program's; all others depend on the caches."""
    small = inputs.with_counted(TRIAD, caches=inputs.CACHES)
    changes = compare(TRIAD, small).changes

    assert changes["l1"].verdict == "equal"
    assert changes["dram"].verdict == changes["l2 read"].verdict == "unknown"
    assert changes["dram"].why == "the traffic is of different caches"


def test_unknown_amounts_are_unknown_and_not_zero():
    """A program that was only timed, and one whose writes were not measured."""
    alone = Timing(command=("./triad",), timed=TRIAD.timed, context=inputs.CONTEXT)
    uncounted, reads = compare(TRIAD, alone), compare(TRIAD, inputs.READS_ONLY)

    assert uncounted.changes["runtime"].is_known
    assert uncounted.changes["work"].verdict == "unknown"
    assert uncounted.changes["work"].after is None
    assert codes(uncounted)[0] == "not-counted"
    assert reads.changes["dram"].verdict == "unknown"
    assert reads.changes["dram read"].verdict == "equal"


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0, 0, "equal"), (0, 5, "more"), (5, 0, "less"), (1000, 1001, "same"),
        (1000, 1002, "more"), (1002, 1000, "less"), (7, 7, "equal"),
    ],
)  # fmt: skip
def test_counts_are_compared_by_value(before, after, verdict):
    """The tolerance is a thousandth; what grows from nothing has no ratio."""
    change = count_change("dram", "B", Estimate([before]), Estimate([after]))

    assert change.verdict == verdict
    assert (change.ratio is None) == (before == 0)


def test_estimated_traffic_differs_only_beyond_its_interval():
    """100 (90 to 110) and 115 (105 to 125) overlap; 100 (99 to 101) and 115 (114 to 116) do not."""
    wide = [Estimate([m], interval=(m - 10, m + 10)) for m in (100.0, 115.0)]
    narrow = [Estimate([m], interval=(m - 1, m + 1)) for m in (100.0, 115.0)]

    assert count_change("dram", "B", *wide).verdict == "no difference seen"
    assert count_change("dram", "B", *narrow).verdict == "more"
    assert count_change("dram", "B", *narrow).low == pytest.approx(114 / 101)


def test_intervals_of_estimates_and_of_several_runs_are_used():
    """Of estimated traffic that of its bursts, of several counted runs the least and the most."""
    dram = TRIAD.counted.traffic[-1]
    estimated = inputs.with_counted(
        TRIAD,
        estimate=TrafficEstimate(
            bursts=9,
            share=0.1,
            levels=(
                TrafficInterval(
                    level="dram",
                    read_bytes=(100_000_000, 200_000_000),
                    write_bytes=(50_000_000, 90_000_000),
                ),
            ),
        ),
    )
    run = CountedOnce(flop=19_000_000, bop=None, traffic=(replace(dram, read_bytes=1),))
    several = inputs.with_counted(TRIAD, runs=(CountedOnce.of(TRIAD.counted), run))

    assert compare(estimated, TRIAD).changes["dram"].before.interval == (150e6, 290e6)
    assert compare(estimated, TRIAD).changes["dram"].verdict == "no difference seen"
    assert compare(several, TRIAD).changes["work"].before.interval == (19e6, 20e6)
    assert compare(several, TRIAD).changes["dram read"].before.interval == (1, 160e6)


def test_few_runs_say_nothing():
    """Of five runs there is no interval, however far apart they are."""
    change = time_change("runtime", Estimate([1.0] * 5), Estimate([9.0] * 5))

    assert (change.verdict, change.why, change.ratio) == ("unknown", TOO_FEW, 9.0)


def test_a_certain_difference_within_the_tolerance_is_none():
    """One per cent, certain to a thousandth: the next measurement may show the opposite."""
    before, after = Estimate([1.0, 1.001] * 10), Estimate([1.01] * 20)

    assert time_change("runtime", before, after).verdict == "same"
    assert time_change("runtime", before, after, tolerance=0.005).verdict == "more"


def test_a_difference_must_be_larger_than_the_drift():
    """Runs that became 10 % slower one by one: what is 9 % slower may only have come later."""
    before = Estimate(np.linspace(1, 1.1, 20))
    later, slower = Estimate([1.14, 1.15] * 10), Estimate([1.4, 1.41] * 10)

    assert time_change("runtime", before, later).verdict == "no difference seen"
    assert time_change("runtime", before, later).why == DRIFT
    assert time_change("runtime", before, slower).verdict == "more"


@pytest.mark.parametrize(("cpu_s", "verdict"), [(around(0.2), "more"), (around(0.1), "unknown")])
def test_other_programs_must_not_look_like_a_slower_one(cpu_s, verdict):
    """Where they used the CPUs, only a CPU time that is longer too confirms a longer runtime."""
    before = timed(TRIAD, around(0.1))
    after = timed(TRIAD, around(0.2), cpu_s, LOAD)
    change = compare(before, after).changes["runtime"]

    assert change.verdict == verdict
    assert change.why == (DISTURBED if verdict == "unknown" else "")


def with_functions(program, *functions, path="/opt/bin/triad"):
    """Return a program with functions of these names, objects and instructions."""
    template = inputs.FUNCTIONS[0]
    made = tuple(
        replace(
            template,
            name=name,
            object=object or path,
            counts=inputs.counts(instructions=instructions),
        )
        for name, object, instructions in functions
    )
    return replace(
        inputs.with_counted(program, functions=made), command=(path, *program.command[1:])
    )


def test_functions_are_matched_by_name_and_object_and_nothing_else():
    """The program's own file may have another name; a renamed function is matched by nothing."""
    before = with_functions(
        TRIAD,
        ("main", None, 10_000_000), ("old", None, 5_000_000), ("memcpy", "/lib/libc.so.6", 100),
        ("twice", None, 1), ("twice", None, 2),
    )  # fmt: skip
    after = with_functions(
        TRIAD,
        ("main", None, 20_000_000), ("new", None, 5_000_000), ("memcpy", "/lib/libm.so.6", 100),
        ("twice", None, 1),
        path="/tmp/build/triad2",
    )  # fmt: skip
    found = compare(before, after).functions

    assert [change.part.name for change in found.matched] == ["main"]
    assert found.matched[0].changes["instructions"].ratio == 2
    assert found.matched[0].weight == pytest.approx(10_000_000 / 50_000_000)
    assert [part.name for part in found.only_before] == ["old", "memcpy"]
    assert [part.name for part in found.only_after] == ["new", "memcpy"]
    assert found.ambiguous == ("twice",)


def test_times_of_functions_are_compared_by_their_intervals():
    """Samples give a function's time with an interval: 10 ms ± 1 and 20 ms ± 1 differ."""

    def sampled(middle_s):
        function = TimedFunction(
            name="triad", object="/opt/bin/triad", samples=400, cpu_s=middle_s,
            runtime_s=Estimate([middle_s], interval=(middle_s - 0.001, middle_s + 0.001)),
        )  # fmt: skip
        return replace(
            inputs.PROFILED,
            sampled=Sampled(
                runs=3, period_s=0.001, samples=500, user_s=1.0, system_s=0.0, functions=(function,)
            ),
        )

    (change,) = compare(sampled(0.01), sampled(0.02)).functions.named("triad")
    assert change.changes["runtime"].verdict == "more"
    assert change.changes["runtime"].ratio == pytest.approx(2)
    (same,) = compare(sampled(0.01), sampled(0.0101)).functions.named("triad")
    assert same.changes["runtime"].verdict == "no difference seen"


times = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20)


@given(times, times)
def test_swapping_both_swaps_the_verdict(before, after):
    """The ratio is the inverse, and so are the ends of its interval."""
    there = time_change("runtime", Estimate(before), Estimate(after))
    back = time_change("runtime", Estimate(after), Estimate(before))
    swapped = {"more": "less", "less": "more"}

    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.verdict == swapped.get(there.verdict, there.verdict)
    if there.low is not None:
        assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))


@given(st.floats(0, 1e18), st.floats(0, 1e18), st.floats(0, 0.5))
def test_swapping_counts_swaps_the_verdict(before, after, tolerance):
    """As for times; what is 0 on one side has a ratio on the other only."""
    there, back = (
        count_change("dram", "B", Estimate([a]), Estimate([b]), tolerance=tolerance)
        for a, b in ((before, after), (after, before))
    )
    swapped = {"more": "less", "less": "more"}

    assert back.verdict == swapped.get(there.verdict, there.verdict)


@given(times)
def test_a_time_is_never_longer_than_itself(samples):
    """Whatever its samples are."""
    change = time_change("runtime", Estimate(samples), Estimate(samples))

    assert not change.is_change
    assert change.ratio == 1


@pytest.mark.parametrize("n", [4, 5, 6])
def test_von_neumanns_ratio_is_2_on_average_over_all_orders(n):
    """Exactly so: n - 1 steps of n (n + 1) / 6 on average, over n (n^2 - 1) / 12."""
    ratios = [von_neumann_ratio(order) for order in itertools.permutations(range(n))]

    assert np.mean(ratios) == pytest.approx(2)


def test_a_tenth_of_independent_series_is_taken_for_dependent():
    """By brute force over orders of eight values."""
    orders = itertools.islice(itertools.permutations(range(8)), 0, None, 7)
    found = [is_dependent(order) for order in orders]

    assert np.mean(found) == pytest.approx(0.1, abs=0.01)


def test_the_ratio_is_that_of_the_definition():
    """Ranks 1, 3, 2.5.. by scipy; steps and spread by numpy; with equal samples among them."""
    samples = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    ranks = scipy.stats.rankdata(samples)
    expected = np.sum(np.diff(ranks) ** 2) / np.sum((ranks - ranks.mean()) ** 2)

    assert von_neumann_ratio(samples) == pytest.approx(expected)
    assert von_neumann_ratio([1.0, 1.0]) is None


def test_a_disturbed_run_does_not_hide_what_drifts():
    """Of 15 runs the least and the largest do not count: by hand, 1.0 to 1.2, and half beyond."""
    samples = [0.5, *np.linspace(1.0, 1.2, 13), 9.0]
    low, high = range_with_drift(Estimate(samples))

    assert low == pytest.approx(1.0 / 1.2**0.5)
    assert high == pytest.approx(1.2 * 1.2**0.5)


def drifting(rng, n, walk):
    """Return times of a machine whose speed walks at random, with noise of 1 % on top."""
    steps = np.cumsum(rng.normal(0, walk, 2 * n))
    return np.exp(steps + rng.normal(0, 0.01, 2 * n)).reshape(2, n)


@pytest.mark.parametrize("walk", [0.0, 0.002, 0.005, 0.01, 0.03])
@pytest.mark.parametrize(("n", "most"), [(10, 36), (15, 25), (30, 25)])
def test_drift_raises_few_false_alarms(n, most, walk):
    """Two measurements of one program, one after the other on a machine that drifts."""
    rng = np.random.default_rng(7)
    pairs = [drifting(rng, n, walk) for _ in range(300)]
    alarms = [
        time_change("runtime", Estimate(before), Estimate(after)).is_change
        for before, after in pairs
    ]

    # Of 300 pairs each of which is one with 8 % (5 %), more than these are one once in 100 tests.
    assert sum(alarms) <= most


@pytest.mark.parametrize(("noise", "slow_down"), [(0.01, 1.05), (0.02, 1.1)])
def test_slow_downs_of_steady_machines_are_found(noise, slow_down):
    """In 9 of 10 pairs of 10 runs each, with noise of 1 % and of 2 %."""
    rng = np.random.default_rng(5)
    pairs = rng.lognormal(0, noise, (300, 2, 10))
    verdicts = [
        time_change("runtime", Estimate(before), Estimate(slow_down * after)).verdict
        for before, after in pairs
    ]

    assert verdicts.count("more") >= 0.9 * len(verdicts)


def test_drift_that_is_not_seen_would_raise_many():
    """The simulation has teeth: by the intervals alone it fails."""
    from ridgepoint.models.gains import gain

    rng = np.random.default_rng(7)
    pairs = [drifting(rng, 30, 0.01) for _ in range(300)]
    verdicts = [gain(Estimate(after), Estimate(before)).verdict for before, after in pairs]

    assert np.mean([verdict in {"gain", "loss"} for verdict in verdicts]) > 0.3


def test_machines_are_compared_too_and_not_with_programs():
    """One name in Python for both."""
    assert compare(inputs.MACHINE, inputs.MACHINE).count("fell") == 0
    with pytest.raises(TypeError, match="two machines or two programs"):
        compare(inputs.MACHINE, TRIAD)


@pytest.mark.parametrize("tolerance", [2, 1, -0.01, math.nan, math.inf])
def test_a_tolerance_in_percent_is_refused(tolerance):
    """A share is meant: 2 would be 200 %, of which nothing differs."""
    with pytest.raises(ValueError, match=r"share in \[0, 1\)"):
        compare(inputs.TRIAD, inputs.TRIAD, tolerance=tolerance)


@pytest.mark.parametrize("other", ["before", None, 3, inputs.MACHINE])
def test_what_is_no_measurement_is_not_compared(other):
    """Names are for 'load'."""
    with pytest.raises(TypeError, match="two machines or two programs"):
        compare(inputs.TRIAD, other)


def test_results_in_python_show_themselves():
    """In one line, as the command prints them, as tables; gates and histories too."""
    after = timed(TRIAD, around(0.02))
    found = compare(TRIAD, after)

    assert repr(found) == (
        "<ProgramComparison of 'before' and 'after': runtime more (2x), the same work>"
    )
    assert "after is slower: 2 times the runtime" in found.summary()
    assert check_gate(found, "runtime > 1.5x").outcome == "failed"
    assert check_gate(found, "network > 1x").outcome == "unknown"
    assert "slower" in found._repr_html_()
    assert "in the last record" in history_of([TRIAD, TRIAD, after]).summary()
    assert repr(history_of([TRIAD])) == "<History of the runtime: 1 measurement, 0 changes>"
    assert "same" in repr(compare(inputs.MACHINE, inputs.MACHINE))
    with pytest.raises(ValueError, match="is not a quantity"):
        history_of([TRIAD], "speed")
    with pytest.raises(ValueError, match="at least one"):
        history_of([])


@pytest.mark.parametrize("shift", [1.0, 1.05, 1.2])
def test_an_exact_permutation_test_agrees(shift):
    """Whatever is called a change would be one of fewer than 5 % of all orders of the runs."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        before, after = np.exp(rng.normal(0, 0.05, (2, 7))) * np.array([[1.0], [shift]])
        change = time_change("runtime", Estimate(before), Estimate(after))
        exact = scipy.stats.permutation_test(
            (before, after),
            lambda x, y, axis: np.median(x, axis=axis) - np.median(y, axis=axis),
            n_resamples=np.inf,
            vectorized=True,
        )

        assert not change.is_change or exact.pvalue < 0.05
