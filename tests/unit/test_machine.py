from dataclasses import replace

import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Ceiling, Host

rates = st.floats(1.0, 1e13)
some_threads = st.dictionaries(st.integers(1, 64), rates, min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("cores", "rate"),
    [(1, 5.0), (1.2, 6.0), (1.6, 8.0), (2, 8.0), (4, 8.0), (0.5, 5.0), (None, 8.0)],
)
def test_between_one_core_and_all_the_least_allowed_holds(cores, rate):
    """5 with one core and 8 with four: q cores give min(5 q, 8)."""
    bench = machine_of(ceiling("dram", 5.0), ceiling("dram", 8.0, threads=4), cores=4)

    assert bench.rate("dram", cores=cores) == pytest.approx(rate)


@pytest.mark.parametrize("cores", [0.5, 1, 3, 4])
def test_a_link_does_not_grow_with_the_cores_behind_it(cores):
    """10 GB/s of a link, measured with one thread: 10 GB/s for any number of busy cores."""
    bench = machine_of(ceiling("network", 10e9), ceiling("dram", 5e9), cores=4)

    assert bench.rate("network", cores=cores) == 10e9
    assert bench.rate("network") == 10e9


def test_a_link_is_as_fast_as_its_best_pattern():
    """Four ranks reach 12 GB/s and one 9: the link gives 12, and one core may use it all."""
    bench = machine_of(ceiling("network", 9e9), ceiling("network", 12e9, threads=4), cores=4)

    assert bench.rate("network", cores=[1, 4]).tolist() == [12e9, 12e9]


def test_a_rate_that_was_measured_stands():
    """Two threads that reach more than twice one thread are not cut to twice."""
    bench = machine_of(ceiling("l3", 10.0), ceiling("l3", 25.0, threads=2), cores=2)

    assert bench.rate("l3", cores=[1, 1.5, 2]).tolist() == [10.0, 15.0, 25.0]


def test_more_cores_are_never_slower():
    """15 with four threads but 20 with two: four busy cores can do what two can."""
    bench = machine_of(
        ceiling("dram", 10.0),
        ceiling("dram", 20.0, threads=2),
        ceiling("dram", 15.0, threads=4),
        cores=4,
    )

    assert bench.rate("dram", cores=[1, 1.8, 2, 2.5, 4]).tolist() == [10.0, 18.0, 20.0, 20.0, 20.0]


@given(some_threads, st.lists(st.floats(0.1, 64.0), min_size=2, max_size=20))
def test_capacity_rises_with_cores_and_stays_between_the_limits(measured, cores):
    """Capacity does not fall with cores, nor leave what was measured."""
    ceilings = [ceiling("dram", rate, threads=threads) for threads, rate in measured.items()]
    capacity = machine_of(*ceilings, cores=64).rate("dram", cores=np.sort(cores))

    assert (np.diff(capacity) >= -1e-9 * capacity[:-1]).all()
    assert capacity.min() >= min(measured.values())
    assert capacity.max() <= max(measured.values()) * 64 / min(measured) * (1 + 1e-12)


@given(some_threads)
def test_no_ceiling_exceeds_the_capacity_of_its_threads(measured):
    """Whatever any pattern reached, the bound of so many cores allows."""
    bench = machine_of(*(ceiling("dram", r, threads=t) for t, r in measured.items()), cores=64)

    assert all(bench.rate("dram", cores=t) >= rate for t, rate in measured.items())


@pytest.mark.parametrize(
    ("shares", "moved"),
    # Bytes per byte of the program: total, towards the core, away from it.
    [
        ((1.0, 0.0), (12.0, 12.0, None)),  # load
        ((1.0, 1.0), (24.0, 12.0, 12.0)),  # store: the line is read first
        ((1.0, 0.5), (18.0, 12.0, 6.0)),  # copy
        ((0.0, 1.0), (12.0, None, 12.0)),  # non-temporal store
        ((None, None), (12.0, None, None)),
    ],
)
def test_a_pattern_moves_what_its_shares_say(shares, moved):
    """A rate in the program's bytes becomes traffic of each direction."""
    pattern = ceiling("dram", 12.0, shares=shares)
    bench = machine_of(pattern)
    names = ("dram", "dram_read", "dram_write")

    assert tuple(bench.rate(n) if bench.knows(n) else None for n in names) == moved


def test_the_best_pattern_bounds():
    """Of two patterns the faster one is the roof, each direction for itself."""
    load = ceiling("dram", 10.0, name="load", shares=(1.0, 0.0))
    copy = ceiling("dram", 8.0, name="copy", shares=(1.0, 0.5))
    bench = machine_of(load, copy)

    assert [bench.rate(n) for n in ("dram", "dram_read", "dram_write")] == [12.0, 10.0, 4.0]
    assert bench.best("dram", threads=1) is copy
    assert bench.best("dram_read", threads=1) is load
    assert bench.best("dram", threads=2) is None


def test_an_unknown_ceiling_is_named_with_the_known_ones():
    """The message says what the machine has and what to do."""
    with pytest.raises(UnknownCeiling, match=r"by 'network' on test bench: .*known: fp64, dram\)"):
        machine_of(ceiling("fp64", 1.0), ceiling("dram", 1.0)).rate("network")


def test_a_ceiling_that_could_not_be_measured_bounds_nothing():
    """It stands there with its caution; its rate is unknown, not 0."""
    missing = Ceiling(
        resource="fp16",
        name="fma",
        threads=1,
        unit="flop/s",
        rate=None,
        cautions=(Caution("no-fp16", "this CPU has none", "use fp32"),),
    )

    assert not machine_of(missing).knows("fp16")
    with pytest.raises(ValueError, match="needs a caution"):
        replace(missing, cautions=())


@pytest.mark.parametrize("cores", [0, -1, 4.5, float("nan"), [1, 5]])
def test_cores_beyond_the_machine_are_refused(machine, cores):
    """A bound for cores that are not there is no bound."""
    with pytest.raises(ValueError, match="cores must be > 0 and at most 4"):
        machine.rate("fp64", cores=cores)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resource": "flops"}, "is not a resource"),
        ({"unit": "GB/s"}, "unit of dram must be 'byte/s'"),
        ({"threads": 0}, "threads must be > 0"),
        ({"rate": Estimate([1.0, 0.0])}, "rate must be > 0, got 0.0"),
        ({"rate": Estimate([-2.0])}, "rate must be > 0, got -2.0"),
        ({"read_share": 257.0, "write_share": 0.0}, "must be in"),
        ({"read_share": 1.0}, "known together"),
        ({"theoretical": -1.0}, "theoretical must be > 0"),
        (
            {"resource": "dram_read", "read_share": 1.0, "write_share": 0.0},
            "no meaning for dram_read",
        ),
    ],
)
def test_an_impossible_ceiling_is_refused(change, message):
    """Every field is checked when a ceiling is made, so a hand-written file is too."""
    with pytest.raises(ValueError, match=message):
        replace(ceiling("dram", 1.0), **change)


def test_an_impossible_cache_or_host_is_refused():
    """Sizes, ways and cores are positive; kinds are known."""
    cache = Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8)
    host = Host(cpu="c", microarchitecture=None, cores=1, frequency_hz=None, virtualized=None)

    with pytest.raises(ValueError, match="size_bytes must be > 0, got 0"):
        replace(cache, size_bytes=0)
    with pytest.raises(ValueError, match="ways must be > 0, got -1"):
        replace(cache, ways=-1)
    with pytest.raises(ValueError, match="kind must be"):
        replace(cache, kind="trace")
    with pytest.raises(ValueError, match="cores must be > 0, got 0"):
        replace(host, cores=0)
    with pytest.raises(ValueError, match=r"frequency_hz must be > 0, got -1\.0"):
        replace(host, frequency_hz=-1.0)


def test_two_ceilings_of_one_name_are_refused():
    """Which of the two was meant cannot be known."""
    with pytest.raises(ValueError, match="two ceilings have the name"):
        machine_of(ceiling("dram", 1.0), ceiling("dram", 2.0))


def test_latency_is_the_time_of_a_load_that_the_next_waits_for():
    """0.8 GB/s are 100 million loads a second in all, 50 million on each of two cores."""
    chase = ceiling("dram", 0.8e9, threads=2, name="chase", shares=(8.0, 0.0))

    assert chase.latency_s == pytest.approx(20e-9)
    assert ceiling("dram", 0.8e9, name="load").latency_s is None


def test_chain_tells_the_time_of_one_operation():
    """Of 1.75 Gflop/s in multiply-adds, 2 flop each, one takes 1.14 ns; a division is 1 flop."""
    fma = ceiling("fp64", 1.75e9, name="fma chain")

    assert fma.operation_s == pytest.approx(1.142857e-9)
    assert ceiling("fp64", 0.25e9, name="div chain").operation_s == pytest.approx(4e-9)
    assert ceiling("fp64", 1.75e9, name="fma scalar").operation_s is None
