import gc
import time
from dataclasses import replace
from itertools import cycle, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.collecting import not_collecting
from ridgepoint.core.counts import Counts, FlopCount, Traffic
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.host import Activity
from ridgepoint.meters import Unavailable
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter
from ridgepoint.profiling.calls import measure_all, native, subject
from ridgepoint.profiling.calls.average import (
    average_counts,
    average_traffic,
    difference_of_counts,
    difference_of_traffic,
)
from ridgepoint.profiling.calls.counted import Conditions, calls_to_count
from ridgepoint.profiling.calls.loops import (
    empty_loop,
    loop_over,
    time_calls,
    time_loop,
)

CACHE = Cache(level=3, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=16, cores=1)


class Clock:
    """A clock that rounds advance, and what they were."""

    def __init__(self, monkeypatch, *, round_ns, cpus=1):
        self.now_ns = 0
        self.round_ns = round_ns
        self.rounds = []
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.now_ns)
        monkeypatch.setattr(time, "process_time_ns", lambda: cpus * self.now_ns)

    def loop(self, rounds):
        """Take the time of so many rounds."""
        self.rounds.append(rounds)
        self.now_ns += rounds * self.round_ns


def test_rounds_grow_until_a_sample_takes_the_threshold(monkeypatch):
    """1 us a round, 10 ms wanted: 1, 100 (growth is limited), 10000, of which 11000 with margin."""
    clock = Clock(monkeypatch, round_ns=1000, cpus=2)
    times = time_loop(clock.loop, replicas=1, repetitions=3, threshold_s=0.01, limit_s=60)

    assert clock.rounds == [1, 100, 10000, 10000, 10000, 10000]
    assert times.calls == 10000
    assert times.wall_s == pytest.approx([1e-6] * 3, rel=1e-12)
    assert times.cpu_s == pytest.approx([2e-6] * 3, rel=1e-12)


def test_next_attempt_has_a_margin(monkeypatch):
    """3 ms a round, 10 ms wanted: 1.1 * 10 / 3 = 3.67, rounded up."""
    clock = Clock(monkeypatch, round_ns=3_000_000)
    time_loop(clock.loop, replicas=1, repetitions=1, threshold_s=0.01, limit_s=60)

    assert clock.rounds == [1, 4, 4]


def test_long_calls_are_not_repeated_within_a_sample(monkeypatch):
    """One round over seven replicas takes long enough: a call is a seventh of it."""
    clock = Clock(monkeypatch, round_ns=70_000_000)
    times = time_loop(clock.loop, replicas=7, repetitions=4, threshold_s=0.03, limit_s=60)

    assert clock.rounds == [1] * 5
    assert times.calls == 7
    assert times.wall_s == pytest.approx([0.01] * 4, rel=1e-12)


@pytest.mark.parametrize(("limit_s", "samples"), [(60, 20), (10, 10), (1, 3)])
def test_limit_takes_samples_away_but_three(monkeypatch, limit_s, samples):
    """1 s each, 20 wanted."""
    clock = Clock(monkeypatch, round_ns=1_000_000_000)
    times = time_loop(clock.loop, replicas=1, repetitions=20, threshold_s=0.03, limit_s=limit_s)

    assert len(times.wall_s) == samples


@pytest.mark.parametrize(
    ("rounds_ms", "limit_s", "samples"),
    [
        ([100], 60, 10),  # all alike: ten show that
        ([100, 120], 60, 30),  # they stay 20 % apart
        ([100, 120], 1.95, 17),  # another may end too late
        ([100, 120], 0.1, 3),
        ([120] * 3 + [100] * 40, 60, 12),  # the third largest of twelve is the end
    ],
)
def test_samples_are_taken_until_the_interval_is_tight(monkeypatch, rounds_ms, limit_s, samples):
    """Where no number is asked for."""
    clock = Clock(monkeypatch, round_ns=0)
    turn = cycle(rounds_ms)

    def loop(rounds):
        clock.now_ns += next(turn) * 1_000_000

    times = time_loop(loop, replicas=1, repetitions=None, threshold_s=0.03, limit_s=limit_s)

    assert len(times.wall_s) == samples


def test_what_follows_each_sample_is_in_no_time(monkeypatch):
    """One of the calls between two samples takes a second."""
    clock = Clock(monkeypatch, round_ns=1_000_000)
    samples_before = []

    def after_each():
        samples_before.append(len(clock.rounds))
        clock.now_ns += 1_000_000_000

    times = time_loop(
        clock.loop,
        replicas=1,
        repetitions=3,
        threshold_s=1e-3,
        limit_s=60,
        after_each=after_each,
    )

    assert samples_before == [2, 3, 4]  # the first finds the number of rounds
    assert times.wall_s == (1e-3, 1e-3, 1e-3)


def test_time_that_no_clock_resolves_ends_the_search(monkeypatch):
    """Rounds of 0 ns grow until the loop is long enough all the same."""
    clock = Clock(monkeypatch, round_ns=0)

    def loop(rounds):
        clock.rounds.append(rounds)
        clock.now_ns += rounds // 1000

    times = time_loop(loop, replicas=1, repetitions=1, threshold_s=1e-3, limit_s=60)

    assert clock.rounds[:4] == [1, 100, 10000, 1000000]
    assert times.calls >= 1_000_000_000


@pytest.mark.parametrize(
    ("call_ms", "calls", "made"),
    [
        pytest.param(10, 3, [*range(10), *range(6)], id="parts of 3, 3 and 4"),
        pytest.param(50, 1, [0, 1, 2, 3, 4], id="a call takes longer than a sample"),
    ],
)
def test_long_calls_make_samples_of_parts_of_the_replicas(monkeypatch, call_ms, calls, made):
    """Ten replicas, 30 ms wanted, four samples, of which one more is a trial."""
    clock = Clock(monkeypatch, round_ns=call_ms * 1_000_000)
    seen = []

    def call(replica):
        seen.append(replica)
        clock.loop(1)

    times = time_calls(
        call,
        [(i,) for i in range(10)],
        call_s=call_ms / 1000,
        repetitions=4,
        threshold_s=0.03,
        limit_s=60,
    )

    assert seen == made
    assert times.calls == calls
    assert times.wall_s == pytest.approx([call_ms / 1000] * 4, rel=1e-12)


@given(
    call_ns=st.integers(1_000, 50_000_000),
    guess=st.floats(0.01, 100),
    replicas=st.integers(2, 60),
    samples=st.integers(1, 20),
)
def test_replica_comes_up_after_all_the_others(call_ns, guess, replicas, samples):
    """Whatever a call takes, and was thought to take; samples take the threshold."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock(monkeypatch, round_ns=call_ns)
        seen = []

        def call(replica):
            seen.append(replica)
            clock.loop(1)

        times = time_calls(
            call,
            [(i,) for i in range(replicas)],
            call_s=guess * call_ns / 1e9,
            repetitions=samples,
            threshold_s=0.01,
            limit_s=60,
        )

    timed = seen[-samples * times.calls :]
    assert all(b == (a + 1) % replicas for a, b in pairwise(timed))
    assert times.calls * call_ns >= 0.01e9
    assert times.wall_s == pytest.approx([call_ns / 1e9] * samples, rel=1e-12)


def test_loop_goes_round_the_replicas():
    """Each in turn, and all again."""
    seen = []
    loop_over(lambda *arguments: seen.append(arguments), [(1, 2), (3, 4)])(3)

    assert seen == [(1, 2), (3, 4)] * 3


def test_function_may_bring_its_own_loop():
    """A compiled one, say, which is then compared with its calling nothing."""
    rounds = []
    function = SimpleNamespace(loop=lambda replicas: rounds.append)
    loop = loop_over(function, [()])
    loop(5)
    empty_loop(function, [()])(7)

    assert rounds == [5, 0]


def test_garbage_is_left_alone_only_meanwhile():
    """Also where the function raises."""

    def fails():
        with not_collecting():
            seen.append(gc.isenabled())
            raise ZeroDivisionError

    seen = []
    with pytest.raises(ZeroDivisionError):
        fails()

    assert (seen, gc.isenabled()) == ([False], True)


def counts(n):
    """Return counts of which each is a multiple of n, but for two."""
    kind = FlopCount(
        precision="fp64", width_bits=256, fma=True, flop=8 * n, masked_flop=None, instructions=n
    )
    return Counts(
        instructions=10 * n + 1,
        branches=2 * n,
        loads=3 * n,
        stores=None,
        load_bytes=24 * n,
        store_bytes=0,
        flop=(kind,),
    )


def test_average_divides_every_count_and_keeps_the_unknown():
    """Of 4 calls; 41 / 4 is rounded to 10."""
    average = average_counts(counts(4), 4)

    assert average.work == {"fp64": 8}
    assert (average.instructions, average.branches, average.load_bytes) == (10, 2, 24)
    assert (average.stores, average.store_bytes) == (None, 0)
    assert (average.flop[0].masked_flop, average.flop[0].instructions) == (None, 1)


@given(st.integers(0, 10**12), st.integers(1, 1000))
def test_average_is_the_nearest_whole_number(amount, n):
    """It differs by half at most."""
    (average,) = average_traffic((Traffic(level="l1", read_bytes=amount, write_bytes=None),), n)

    assert abs(average.read_bytes * n - amount) * 2 <= n
    assert average.write_bytes is None


def test_what_many_calls_did_more_than_few_is_theirs():
    """6400 - 400 read; 100 - 300 written: less than nothing is nothing; the unknown stays."""
    many = Traffic(level="dram", read_bytes=6400, write_bytes=100)
    few = Traffic(level="dram", read_bytes=400, write_bytes=300)
    unknown = Traffic(level="l2", read_bytes=7, write_bytes=None)
    traffic = difference_of_traffic((unknown, many), (few, unknown))

    assert [(part.level, part.read_bytes, part.write_bytes) for part in traffic] == [
        ("l2", 0, None),
        ("dram", 6000, 0),
    ]


def test_a_difference_of_counts_is_one_by_kind_of_instruction():
    """11 calls of 8 flop and one; other flop that only the many did stay, and none are no kind."""
    other = replace(counts(1).flop[0], precision="fp32")
    many = replace(counts(11), flop=(*counts(11).flop, other))
    difference = difference_of_counts(many, counts(1))

    assert difference.work == {"fp64": 80, "fp32": 8}
    assert (difference.branches, difference.load_bytes, difference.stores) == (20, 240, None)
    assert difference_of_counts(counts(3), counts(3)).flop == ()


@pytest.mark.parametrize(
    ("cold", "call_s", "data_bytes", "replicas", "calls"),
    [
        (False, 1e-3, 8000, 1, 16),  # enough for what differs around them to vanish
        (False, 2e-5, 8000, 1, 50),  # a millisecond in all
        (False, 1e-9, 8000, 1, 1000),
        (True, 1e-3, 10**6, 100, 16),
        (True, 0.01, 10**6, 100, 10),  # 0.1 s in all
        (True, 5.0, 10**6, 100, 1),
        (True, 1e-6, 1024, 10**6, 256),  # 256 KiB: a quarter of the cache
        (True, 1e-6, 16, 10**6, 1000),  # as many as are ever counted
        (True, 1e-6, 10**8, 8, 8),  # memory for eight replicas
        (True, 1e-6, 1024, 7, 7),
    ],
)
def test_calls_to_count_are_many_where_they_are_cold_and_short(
    cold, call_s, data_bytes, replicas, calls
):
    """At most 0.1 s natively."""
    conditions = Conditions(caches=(CACHE,), threads=None, timeout_s=None)
    found = calls_to_count(
        call_s,
        data_bytes=data_bytes,
        replicas=replicas,
        cold=cold,
        counted_s=0.1,
        conditions=conditions,
    )

    assert found == calls


def timed(wall_s, *, overhead_s=0.0):
    """Return the codes of the cautions of these times."""
    times = native.Times(wall_s=wall_s, cpu_s=wall_s, calls=1)
    found = native.Native(times=times, overhead_s=overhead_s, replicas=1, cautions=()).timed
    assert found.runtime_s == Estimate(wall_s)
    return [caution.code for caution in found.cautions]


@pytest.mark.parametrize(
    ("wall_s", "overhead_s", "codes"),
    [
        ((1.0,) * 20, 0.009, []),
        ((1.0,) * 20, 0.011, ["overhead"]),
        ((1.0,) * 5, 0.0, ["few-samples"]),
        ((1.0, 2.0) * 10, 0.0, ["noisy"]),
    ],
)
def test_times_come_with_their_doubts(wall_s, overhead_s, codes):
    """More than a hundredth of overhead, no interval, or one of more than a tenth."""
    assert timed(wall_s, overhead_s=overhead_s) == codes


def natively(function, *arguments, **options):
    """Time a function with few samples."""
    options = {"repetitions": 3, "limit_s": 5.0, "memory_bytes": None} | options
    return native.time_natively(subject(function, *arguments), **options)


class FailsAt:
    """Fails at its n-th call."""

    def __init__(self, n, error=ValueError):
        self.n, self.error, self.calls = n, error, 0

    def __call__(self):
        """Be called."""
        self.calls += 1
        if self.calls == self.n:
            raise self.error("enough")


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_function_that_fails_at_any_call_is_refused(n, error):
    """Also one that exits: that would end its user's script in silence."""
    with pytest.raises(CannotMeasure, match=f"it raised {error.__name__}.*: enough"):
        natively(FailsAt(n, error))


def test_interrupt_of_the_user_is_no_failure_of_the_function():
    """It passes through."""
    with pytest.raises(KeyboardInterrupt):
        natively(FailsAt(100, KeyboardInterrupt))


def test_call_longer_than_the_limit_is_refused():
    """Of 10 us."""
    with pytest.raises(
        CannotMeasure, match=r"one call takes 0\.0\d* s, and all calls together may take 1e-05"
    ):
        natively(time.sleep, 0.01, limit_s=1e-5)


def test_data_beyond_the_memory_are_refused(monkeypatch):
    """Three copies of 8000 byte, and 23999 byte are there."""
    monkeypatch.setattr(native.System, "available_bytes", 23_999)
    with pytest.raises(CannotMeasure, match=r"need 24 kB of memory, and 24 kB are available"):
        natively(np.sum, np.ones(1000))


def test_zeros_are_doubted():
    """Memory and arithmetic may treat them as less than other numbers."""
    cautions = natively(np.sum, np.zeros(10)).cautions

    assert "zeros" in [caution.code for caution in cautions]


def test_overhead_is_that_of_an_empty_function():
    """It is a part of the time of a function that does nothing, and of the same size."""
    found = natively(len, ())

    assert 0 < found.overhead_s < 100 * min(found.times.wall_s)


@pytest.mark.parametrize(
    "options", [{"repetitions": 0}, {"limit_s": 0}, {"timeout_s": -1.0}, {"memory_bytes": 0}]
)
def test_impossible_options_are_refused(options):
    """By their name."""
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be > 0"):
        measure_all([], **options)


def test_missing_engine_is_told_before_anything_is_timed(monkeypatch):
    """The function is not called at all."""
    lack = Unavailable(reason="there is no valgrind", remedy="install it", cost="")
    for meter in (EngineMeter, NativeMeter):
        monkeypatch.setattr(meter, "why_unavailable", lambda self: lack)
    called = FailsAt(0)
    with pytest.raises(MeterUnavailable, match="there is no valgrind; install it"):
        measure_all([subject(called)])

    assert called.calls == 0


def test_load_of_others_is_doubted(monkeypatch):
    """A busy CPU beside this process's own, for as long as it was timed."""
    moments = iter([0.0, 2.0])

    def activity(system):
        at_s = next(moments)
        return Activity(at_s=at_s, busy_s=2 * at_s, steal_s=0.0, own_s=at_s, processes={})

    monkeypatch.setattr("ridgepoint.host.System.activity", activity)
    (caution,) = natively(np.sum, np.ones(10)).cautions

    assert caution.code == "other-load"
    assert "1 CPUs busy" in caution.seen
