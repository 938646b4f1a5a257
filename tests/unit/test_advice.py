"""Advice on hand-made programs on a machine of round numbers; every gain is worked out by hand.

One core does 100 Gflop/s of 512-bit FMA, half of that at 256 bit, an eighth in scalars, and half of
each without FMA, a sixteenth by divisions; it moves 10 GB/s at DRAM, 50 at L3, 100 at L2, 200 at
L1; a miss takes 100 ns at DRAM, 10 at L3, 4 at L2. Its clock is 2 GHz. Four cores do four times the
work and move 20 GB/s.
"""

from dataclasses import replace

import pytest
from core_inputs import ceiling, machine_of
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import (
    Counts,
    FlopCount,
    FunctionCounts,
    LineCounts,
    RegionCounts,
    Traffic,
)
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measurement import Context, Measurement
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.timed import Sampled, Timed, TimedFunction, TimedRegion
from ridgepoint.models.advice import MOST_ADVICE, TRY_BOPS, Advice
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.conclusion import conclude
from ridgepoint.show.report import report
from ridgepoint.show.tables.time_and_advice import advice_list
from ridgepoint.show.verdict import verdict

OPERATIONS = {"fma": 1, "add": 0.5, "mul": 0.5, "mul+add": 0.5, "div": 1 / 16}
WIDTHS = {"scalar": 12.5e9, "256-bit": 50e9, "512-bit": 100e9}
MEMORY = {"l1": 200e9, "l2": 100e9, "l3": 50e9, "dram": 10e9}
MISS_S = {"l2": 4e-9, "l3": 10e-9, "dram": 100e-9}


def _machine(*more):
    bench = machine_of(
        *(
            ceiling("fp64", rate * share * threads, threads=threads, name=f"{operation} {width}")
            for width, rate in WIDTHS.items()
            for operation, share in OPERATIONS.items()
            for threads in (1, 4)
        ),
        *(ceiling(level, rate, name="load") for level, rate in MEMORY.items()),
        ceiling("dram", 20e9, threads=4, name="load"),
        *(ceiling(level, 8 / seconds, name="chase") for level, seconds in MISS_S.items()),
        *more,
        cores=4,
    )
    line = Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8)
    return replace(bench, host=replace(bench.host, frequency_hz=2e9), caches=(line,))


BENCH = _machine()


def flop(count, *, width=512, fma=True, operation=None):
    """Return fp64 flop of one kind; by default multiply-adds, or single ones of unknown kind."""
    lanes = max(width // 64, 1) * (2 if fma else 1)
    return FlopCount(
        precision="fp64",
        width_bits=width,
        fma=fma,
        flop=count,
        instructions=count // lanes,
        operation=operation,
    )


def counts(*kinds, instructions=400_000_000, loads=0, stores=0, load_bytes=0, store_bytes=0):
    """Return counts with the given flop."""
    return Counts(
        instructions=instructions,
        branches=0,
        loads=loads,
        stores=stores,
        load_bytes=load_bytes,
        store_bytes=store_bytes,
        flop=kinds,
    )


def moved(**levels):
    """Return traffic by level, each (read, written)."""
    return tuple(
        Traffic(level=level, read_bytes=read, write_bytes=write, pending_write_bytes=0)
        for level, (read, write) in levels.items()
    )


def program(done, traffic, *, runtime_s=0.1, cores=1.0, name="kernel", lines=(), **counted):
    """Return a program that spends everything in one function."""
    function = FunctionCounts(name=name, object="/bin/p", counts=done, traffic=traffic, lines=lines)
    return Measurement(
        command=("/bin/p", "1"),
        counted=Counted(
            meter="by hand",
            **{"counts": done, "traffic": traffic, "functions": (function,), **counted},
        ),
        timed=(
            None
            if runtime_s is None
            else Timed(runtime_s=Estimate([runtime_s]), cpu_s=Estimate([cores * runtime_s]))
        ),
        context=Context(
            started="2024-01-01T00:00:00+00:00",
            hostname="h",
            cpu="none",
            kernel="k",
            affinity=(0, 1, 2, 3),
            directory="/",
        ),
    )


def advised(measured, machine=BENCH):
    """Return the advice on what a program could do better."""
    found = analyse(measured, machine).advice
    return tuple(one for one in found if one.code != TRY_BOPS)


def gains(measured, machine=BENCH):
    """Return the gains by code."""
    return {one.code: one.gain for one in advised(measured, machine)}


def curve(read, write):
    """Return a miss curve that ends at these amounts."""
    return MissCurve(
        line_bytes=64,
        capacities_bytes=(1024, 1 << 30),
        read_bytes=(read * 4, read),
        write_bytes=(write * 4, write),
        pending_bytes=(0, 0),
    )


SCALAR = counts(flop(1_000_000_000, width=0))  # 0.08 s; in vectors 0.01 s
STREAM = moved(l3=(600_000_000, 200_000_000), dram=(600_000_000, 200_000_000))  # 0.016 s, 0.08 s


@pytest.mark.parametrize(
    ("dram_bytes", "gain"),
    [
        pytest.param(100_000_000, 8.0, id="eight lanes in place of one, memory takes 0.01 s"),
        pytest.param(400_000_000, 2.5, id="memory takes 0.04 of the 0.1 s"),
    ],
)
def test_scalar_code_gains_the_lanes_or_what_memory_leaves(dram_bytes, gain):
    """512-bit vectors hold eight doubles."""
    (one,) = advised(program(SCALAR, moved(dram=(dram_bytes, 0))))

    assert (one.code, one.about, one.gain) == ("scalar", "kernel", pytest.approx(gain))
    assert "100 % of the flop are scalar, which allows 12.5 Gflop/s" in one.seen
    assert "512-bit vectors would allow 100 Gflop/s" in one.seen


def test_scalar_code_under_a_memory_roof_is_left_alone():
    """0.1 s of DRAM hide 0.08 s of scalar arithmetic: vectors would change nothing."""
    assert "scalar" not in gains(program(SCALAR, moved(dram=(1_000_000_000, 0)), runtime_s=0.11))


def test_scalar_code_that_hardly_computes_is_left_alone():
    """Of 20 G instructions one in forty computes."""
    few = counts(flop(1_000_000_000, width=0), instructions=20_000_000_000)

    assert gains(program(few, moved(dram=(10_000_000, 0)), runtime_s=2.0)) == {}


def test_narrow_vectors_gain_what_wide_ones_hold_more():
    """4 Gflop at 50 Gflop/s are 0.08 s, at 100 Gflop/s 0.04 s."""
    done = program(counts(flop(4_000_000_000, width=256)), moved(dram=(10_000_000, 0)))

    assert gains(done) == {"narrow-vectors": pytest.approx(2.0)}


def test_narrow_vectors_are_left_alone_where_arithmetic_is_not_short():
    """The same 0.08 s within 0.2 s, of which nothing else is known."""
    done = program(
        counts(flop(4_000_000_000, width=256)), moved(dram=(10_000_000, 0)), runtime_s=0.2
    )

    assert gains(done) == {}


@pytest.mark.parametrize("code", ["avx2-path", "undecoded"])
def test_widths_that_may_not_be_those_of_a_native_run_are_not_judged(code):
    """Valgrind hides AVX-512 from libraries that choose; undecoded code may hold any."""
    doubt = Caution(code, "seen", "remedy")
    done = program(
        counts(flop(4_000_000_000, width=256)), moved(dram=(10_000_000, 0)), cautions=(doubt,)
    )

    assert gains(done) == {}


def test_single_operations_gain_up_to_the_multiply_adds():
    """4 Gflop of 512-bit additions and products at 50 Gflop/s, fused at 100 Gflop/s."""
    done = program(counts(flop(4_000_000_000, fma=False)), moved(dram=(10_000_000, 0)))

    assert gains(done) == {"no-fma": pytest.approx(2.0)}


def single(additions, products):
    """Return counts of so many Gflop of 512-bit additions and products."""
    return counts(
        flop(additions * 10**9, fma=False, operation="add"),
        flop(products * 10**9, fma=False, operation="mul"),
    )


def test_only_what_pairs_is_fused():
    """3 Gflop of additions and one of products take 0.08 s; two of FMA and two additions 0.06 s."""
    done = program(single(3, 1), moved(dram=(10_000_000, 0)))
    (said,) = advised(done)

    assert gains(done) == {"no-fma": pytest.approx(4 / 3)}
    assert "allow 50 Gflop/s; fused where" in said.seen
    assert "they would allow 66.7 Gflop/s" in said.seen
    assert gains(program(single(4, 0), moved(dram=(10_000_000, 0)))) == {}


def test_pipes_beside_the_multiply_adds_leave_less_to_fuse():
    """Where additions have pipes of their own, as many products as additions gain nothing.

    Six of additions at 50 Gflop/s take 0.12 s beside two of products; fused, four take 0.08 s.
    """
    zen = replace(
        BENCH,
        ceilings=(
            *(one for one in BENCH.ceilings if one.name != "mul+add 512-bit"),
            ceiling("fp64", 100e9, name="mul+add 512-bit"),
            ceiling("fp64", 150e9, name="fma+add 512-bit"),
        ),
    )
    even = program(single(4, 4), moved(dram=(10_000_000, 0)), runtime_s=0.1)
    uneven = program(single(6, 2), moved(dram=(10_000_000, 0)), runtime_s=0.12)

    assert gains(even, zen) == {}
    assert gains(uneven, zen) == {"no-fma": pytest.approx(1.5)}


def test_divisions_that_take_the_time_are_said():
    """1 Gflop at 100 / 16 Gflop/s takes 0.16 s; 3 Gflop of FMA 0.03 s, with products 0.05 s."""
    done = counts(
        flop(1_000_000_000, fma=False, operation="div"), flop(3_000_000_000, operation="fma")
    )
    (said,) = advised(program(done, moved(dram=(10_000_000, 0)), runtime_s=0.2))

    assert said.code == "divisions"
    assert said.gain == pytest.approx(0.16 / 0.05)
    for fact in ("25 % of the flop are divisions", "160 ms", "80 % of the time"):
        assert fact in said.seen


def test_a_program_at_the_peak_is_told_nothing():
    """9 Gflop in 0.1 s of 100 Gflop/s."""
    assert gains(program(counts(flop(9_000_000_000)), moved(dram=(10_000_000, 0)))) == {}


def test_fewer_bytes_gain_what_the_next_roof_leaves():
    """DRAM takes 0.08 of 0.1 s, L3 0.016 s; the line that moves most is named."""
    line = LineCounts(source="/src/p.c", line=7, counts=counts(), traffic=STREAM)
    (one,) = advised(program(counts(flop(1_000_000)), STREAM, lines=(line,)))

    assert (one.code, one.about) == ("fewer-bytes", "kernel (p.c:7)")
    assert one.gain == pytest.approx(0.1 / 0.016)
    assert "800 MB at DRAM" in one.seen
    assert "80 % of the time" in one.seen


def test_memory_that_explains_little_of_the_time_is_not_blamed():
    """0.08 s of DRAM in a second in which the core retires one instruction per cycle."""
    busy = counts(flop(1_000_000), instructions=2_000_000_000)

    assert gains(program(busy, STREAM, runtime_s=1.0)) == {}


def test_a_miss_curve_says_what_blocks_would_gain():
    """A large cache moves 200 MB, 0.02 of the 0.1 s, where this one moves 800 MB."""
    blocks = program(counts(flop(1_000_000)), STREAM, miss_curve=curve(150_000_000, 50_000_000))
    (one,) = advised(blocks)

    assert one.gain == pytest.approx(5.0)
    for fact in ("cache of 1024 MiB", "200 MB", "800 MB"):
        assert fact in one.seen
    assert "block by block" in one.what


def test_a_miss_curve_that_stays_flat_rules_blocks_out():
    """Each byte is moved once: only fewer data help, whose gain is up to the next roof's."""
    once = program(counts(flop(1_000_000)), STREAM, miss_curve=curve(600_000_000, 200_000_000))
    (one,) = advised(once)

    assert one.gain == pytest.approx(0.1 / 0.016)
    assert "block by block" not in one.what


def test_lines_of_which_a_part_is_used_gain_the_rest():
    """100 MB are loaded and 800 MB fetched for it: without that L1 to DRAM take 0.01 s."""
    jumps = moved(
        l1=(100_000_000, 0), l2=(800_000_000, 0), l3=(800_000_000, 0), dram=(800_000_000, 0)
    )
    (one,) = advised(program(counts(load_bytes=100_000_000), jumps))

    assert (one.code, one.gain) == ("part-of-lines", pytest.approx(10.0))
    assert "8 bytes fetched for each byte used" in one.seen


WRITES = moved(dram=(800_000_000, 400_000_000))  # 0.12 s


@pytest.mark.parametrize(
    ("load_bytes", "said"),
    [
        pytest.param(400_000_000, "at least 400 MB of the 800 MB", id="copy"),
        pytest.param(1_600_000_000, "up to 400 MB of the 800 MB", id="stencil"),
        pytest.param(800_000_000, None, id="update in place"),
    ],
)
def test_lines_read_only_to_be_overwritten(load_bytes, said):
    """Without 400 MB of the 1.2 GB DRAM takes 0.08 s in place of 0.12 s."""
    done = counts(load_bytes=load_bytes, store_bytes=400_000_000)
    found = {one.code: one for one in advised(program(done, WRITES, runtime_s=0.15))}
    one = found.get("write-allocate")

    assert (one is not None and said in one.seen) == (said is not None)
    assert one is None or one.gain == pytest.approx(1.5)


def test_non_temporal_stores_are_not_recommended_to_those_who_use_them():
    """Some stores are: how much the others could save is not known."""
    done = counts(load_bytes=400_000_000, store_bytes=400_000_000)
    done = replace(done, non_temporal_store_bytes=64)

    assert "write-allocate" not in gains(program(done, WRITES, runtime_s=0.15))


def test_written_data_that_stays_in_the_caches_needs_no_other_stores():
    """Half of what was written is still there at the end."""
    (dram,) = WRITES
    kept = (replace(dram, pending_write_bytes=400_000_000),)
    done = counts(load_bytes=400_000_000, store_bytes=400_000_000)

    assert "write-allocate" not in gains(program(done, kept, runtime_s=0.15))


CHASE = moved(dram=(128_000_000, 0))  # 2 M lines: 0.2 s one by one, 0.0128 s as a stream


def test_misses_that_wait_for_each_other_are_told_by_their_latency():
    """2 M misses of 100 ns are 0.2 of 0.25 s, and a core that retires 0.04 a cycle waits."""
    (one,) = advised(program(counts(instructions=20_000_000), CHASE, runtime_s=0.25))

    assert (one.code, one.about) == ("latency", "kernel")
    assert one.gain == pytest.approx(0.25 / 0.0128)
    assert "0.04 instructions per cycle" in one.seen


@pytest.mark.parametrize(
    ("runtime_s", "instructions"),
    [
        pytest.param(0.05, 20_000_000, id="misses overlap, or they would take four times as long"),
        pytest.param(0.25, 500_000_000, id="a core that retires one a cycle does not wait"),
    ],
)
def test_latency_is_not_blamed_without_reason(runtime_s, instructions):
    """The traffic alone says nothing of waiting."""
    done = program(counts(instructions=instructions), CHASE, runtime_s=runtime_s)

    assert "latency" not in gains(done)


def test_arithmetic_that_waits_for_arithmetic():
    """Half of the instructions are scalar FMAs, 0.008 s of 0.1 s, and nothing misses a cache."""
    done = counts(flop(100_000_000, width=0), instructions=100_000_000)
    found = gains(program(done, moved(l2=(0, 0), l3=(0, 0), dram=(64, 0))))

    assert found == {"dependent": pytest.approx(12.5), "scalar": pytest.approx(8.0)}


def test_code_that_keeps_everything_in_memory():
    """Ten loads and stores for each FMA; without L1 the flop would take 0.008 of 0.4 s."""
    done = counts(
        flop(100_000_000, width=0),
        instructions=1_000_000_000,
        loads=450_000_000,
        stores=50_000_000,
    )
    (one,) = advised(program(done, moved(l1=(4_000_000_000, 0), dram=(64, 0)), runtime_s=0.4))

    assert (one.code, one.gain) == ("overhead", pytest.approx(50.0))
    assert "5 % of its instructions" in one.seen
    assert "10 loads and stores" in one.seen


@pytest.mark.parametrize(
    ("dram_bytes", "gain"),
    [
        pytest.param(10_000_000, 2.5, id="four cores in place of 1.6"),
        pytest.param(1_000_000_000, 2.0, id="DRAM takes 0.05 of 0.1 s with four"),
    ],
)
def test_threads_that_idle_gain_the_cores_or_what_memory_leaves(dram_bytes, gain):
    """Four threads keep 1.6 of four cores busy."""
    idle = program(counts(), moved(dram=(dram_bytes, 0)), cores=1.6, most_threads=4)
    found = {one.code: one for one in advised(idle)}

    assert found["imbalance"].gain == pytest.approx(gain)
    assert found["imbalance"].seen.startswith("1.60 of 4 cores were busy")


def test_threads_of_which_one_works_are_not_told_to_share_evenly():
    """A pool that a library starts and nothing uses."""
    (one,) = advised(program(counts(), moved(dram=(10_000_000, 0)), cores=0.98, most_threads=4))

    assert "equal time" not in one.what


@pytest.mark.parametrize(
    ("threads", "processes", "cores"),
    [(1, 1, 1.0), (4, 1, 3.9), (4, 2, 1.6), (None, 1, 1.6)],
)
def test_threads_are_not_blamed_without_reason(threads, processes, cores):
    """One thread, busy ones, processes that may follow each other, and a meter that cannot tell."""
    done = program(
        counts(),
        moved(dram=(10_000_000, 0)),
        cores=cores,
        most_threads=threads,
        processes=processes,
    )

    assert gains(done) == {}


def test_nothing_is_said_of_what_the_numbers_do_not_support():
    """A program that waits, one above its roof, one counted in part, one without any roof."""
    scalar = program(SCALAR, moved(dram=(100_000_000, 0)))
    part = replace(scalar, counted=replace(scalar.counted, partial="a time limit"))

    assert gains(program(SCALAR, moved(dram=(100_000_000, 0)), cores=0.4)) == {}
    assert gains(program(SCALAR, moved(dram=(100_000_000, 0)), runtime_s=0.005)) == {}
    assert gains(part) == {}
    assert gains(scalar, Machine(name="bare", host=BENCH.host, caches=(), ceilings=())) == {}


def test_scalar_code_is_not_judged_without_its_traffic():
    """Memory may bound it as well."""
    assert gains(program(SCALAR, ())) == {}


def test_of_an_untimed_program_bounds_are_compared():
    """0.08 s by scalars, 0.01 s by vectors, 0.02 s of DRAM: from 0.08 to 0.02 s on one core."""
    done = program(SCALAR, moved(dram=(200_000_000, 0)), runtime_s=None, most_threads=1)

    assert gains(done) == {"scalar": pytest.approx(4.0)}


def test_a_gain_without_another_roof_is_not_known():
    """Nothing but DRAM is asked for: what would bound it next cannot be said."""
    (one,) = advised(program(counts(), moved(dram=(800_000_000, 0))))

    assert (one.code, one.gain) == ("fewer-bytes", None)


def with_region(share, *, cautions=()):
    """Return a scalar program of a second whose region of all its work takes a share of that."""
    traffic = moved(dram=(100_000_000, 0))
    whole = program(SCALAR, traffic, runtime_s=1.0)
    return replace(
        whole,
        counted=replace(
            whole.counted,
            regions=(RegionCounts(name="solve", counts=SCALAR, traffic=traffic),),
        ),
        timed_regions=(
            TimedRegion(
                name="solve",
                entries=1,
                runtime_s=Estimate([share]),
                busy_s=Estimate([share]),
                cautions=cautions,
            ),
        ),
    )


def test_what_holds_in_a_region_is_said_of_the_region():
    """Scalar work in a fifth of the time: the region gains eight times, and is named."""
    found = [one for one in advised(with_region(0.2)) if one.code == "scalar"]

    assert [(one.about, one.gain) for one in found] == [("region solve", pytest.approx(8.0))]


@pytest.mark.parametrize(
    ("share", "codes"), [(0.05, ()), (0.2, ("region-other-threads",))], ids=["short", "threads"]
)
def test_a_region_that_is_short_or_works_elsewhere_is_left_alone(share, codes):
    """A twentieth of the time is not worth it; time of other threads is not that of its counts."""
    doubts = tuple(Caution(code, "seen", "remedy") for code in codes)

    assert {one.about for one in advised(with_region(share, cautions=doubts))} == {"kernel"}


def test_what_holds_in_a_function_that_was_timed_is_said_of_its_time():
    """0.08 s of scalars and 0.03 s of DRAM in 0.09 s of 0.3 s: three times, not eight."""
    whole = program(SCALAR, moved(dram=(300_000_000, 0)), runtime_s=0.3)
    alone = TimedFunction(
        name="kernel",
        object="/bin/p",
        samples=1000,
        runtime_s=Estimate([0.09] * 9),
        cpu_s=0.09,
    )
    sampled = Sampled(
        runs=1, period_s=1e-4, samples=3000, user_s=0.3, system_s=0.0, functions=(alone,)
    )

    assert gains(whole)["scalar"] == pytest.approx(8.0)
    assert gains(replace(whole, sampled=sampled))["scalar"] == pytest.approx(3.0)


def test_a_function_that_does_well_in_its_own_time_is_left_alone():
    """0.008 s of FMAs: of the whole 0.1 s hardly any, of the function's 0.012 s two thirds."""
    done = counts(flop(100_000_000, width=0), instructions=100_000_000)
    whole = program(done, moved(l2=(0, 0), l3=(0, 0), dram=(64, 0)))
    alone = TimedFunction(
        name="kernel", object="/bin/p", samples=900, runtime_s=Estimate([0.012] * 9), cpu_s=0.012
    )
    sampled = Sampled(
        runs=9, period_s=1e-4, samples=1000, user_s=0.1, system_s=0.0, functions=(alone,)
    )

    assert "dependent" in gains(whole)
    assert gains(replace(whole, sampled=sampled)) == {"scalar": pytest.approx(8.0)}


def test_the_largest_gain_of_the_whole_program_comes_first():
    """Eight times in a fifth of the time are 1.2 times of the whole; two more cores are twice."""
    part = with_region(0.2)
    idle = replace(
        part,
        counted=replace(part.counted, most_threads=4),
        timed=Timed(runtime_s=Estimate([1.0]), cpu_s=Estimate([2.0])),
    )
    found = gains(idle)

    assert list(found).index("imbalance") < list(found).index("scalar")
    assert (found["imbalance"], found["scalar"]) == (pytest.approx(2.0), pytest.approx(8.0))
    assert len(found) <= MOST_ADVICE


def test_a_report_holds_the_advice_with_its_evidence():
    """The same in JSON as in Python; without a machine there is none."""
    measured = program(SCALAR, moved(dram=(100_000_000, 0)))
    (one,) = report(analyse(measured, BENCH))["advice"]

    assert set(one) == {"code", "about", "seen", "what", "gain"}
    assert (one["code"], one["gain"]) == ("scalar", pytest.approx(8.0))
    assert report(analyse(measured, None))["advice"] == []


@pytest.mark.parametrize(
    ("gain", "text"),
    [(2.54, "at most 2.5x"), (312.4, "at most 312x"), (None, "unknown gain")],
)
def test_advice_is_shown_with_its_largest_gain(gain, text):
    """And with what is about, seen and to be done, safe for a terminal."""
    console = Console(width=200, record=True, file=None)
    with console.capture() as captured:
        console.print(
            advice_list([Advice(code="c", about="f\x1b", seen="saw", what="do", gain=gain)])
        )

    assert captured.get().splitlines()[1].split("  ")[1:3][0] == text
    assert "f?: saw; do" in captured.get()


def test_a_verdict_that_advice_follows_does_not_say_where_to_look():
    """What is said well below is not said vaguely above."""
    placement = place(program(SCALAR, moved(dram=(100_000_000, 0)), runtime_s=1.0), BENCH)
    alone, followed = (verdict(conclude(placement, SCALAR), advised=said) for said in (False, True))

    assert set(alone) - set(followed) == {alone[1]}
    assert alone[1].startswith("check latency")
