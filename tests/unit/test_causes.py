"""What limits a program and what is ruled out, on the machine of round numbers of `test_advice`.

One core does 100 Gflop/s, starts 8 G instructions per second, and moves 10, 50, 100 and 200 GB/s at
DRAM, L3, L2 and L1. Each program asks for so much of one resource that it needs 90 of its 100 ms.
"""

import re
from dataclasses import replace

import pytest
from core_inputs import ceiling
from hypothesis import given, settings
from hypothesis import strategies as st
from test_advice import BENCH, MEMORY, counts, flop, moved, program

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Asked, Protocol
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.timed import Sampled, Timed, TimedFunction
from ridgepoint.models.analysis import analyse
from ridgepoint.models.causes import STANDINGS, run_again

MACHINE = replace(
    BENCH,
    ceilings=(
        *BENCH.ceilings,
        ceiling("issue", 8e9, name="any instruction"),
        ceiling("fp64", 1e9, name="add chain"),
        ceiling("fp64", 1e9, name="fma chain"),
        ceiling("dram", 8 / 150e-9, name="chase 4 KiB pages"),
    ),
)
LEVELS = dict.fromkeys(MEMORY, (0, 0))
EVERY = {
    *("compute", "l1", "l2", "l3", "dram", "issue", "divide"),
    *("misses", "walks", "chain", "branches", "vectors", "reuse", "part-of-lines"),
    *("write-allocate", "few-cores", "imbalance", "kernel", "waiting", "start"),
    *("other-programs", "clock"),
}


def judged(measured, machine=MACHINE, **asked):
    """Return the causes by code."""
    found = analyse(measured, machine, **asked).causes
    assert len({cause.code for cause in found}) == len(found)
    return {cause.code: cause for cause in found}


def standings(measured, machine=MACHINE):
    """Return where each cause stands."""
    return {code: cause.standing for code, cause in judged(measured, machine).items()}


def asking(name, share=0.9):
    """Return a program that needs this share of its 100 ms for one resource, and next to no other.

    Amounts are seconds times the rate: by hand, not by the bound.
    """
    work, traffic, instructions = 1_000_000, dict(LEVELS), 1_000_000
    if name == "compute":
        work = int(share * 0.1 * 100e9)
    elif name == "issue":
        instructions = int(share * 0.1 * 8e9)
    else:
        traffic[name] = (int(share * 0.1 * MEMORY[name]), 0)
    one = moved(**traffic)
    return program(counts(flop(work, operation="fma"), instructions=instructions), one)


@pytest.mark.parametrize("name", ["compute", "issue", *MEMORY])
def test_what_needs_nine_tenths_of_the_time_limits_it_and_the_others_are_ruled_out(name):
    """Of the resources; and nothing else can gain more than 1.11x, so that is ruled out too."""
    found = judged(asking(name))
    resources = ("compute", *MEMORY, "issue", "divide")
    others = {code: found[code].standing for code in resources if code != name}

    assert found[name].standing == "limits"
    assert "90 %" in found[name].why
    assert set(others.values()) == {"ruled out"}
    for code in ("misses", "walks", "chain", "branches", "clock"):
        assert found[code].standing == "ruled out"
    if name not in {"dram", "l3", "l2"}:  # without L1 traffic, nothing is known of lines
        assert found["reuse"].standing == "ruled out"


def test_every_cause_is_judged_once_and_limits_come_first():
    """Whatever the program does."""
    found = analyse(asking("dram"), MACHINE).causes

    assert {cause.code for cause in found} == EVERY
    order = [STANDINGS.index(cause.standing) for cause in found]
    assert order == sorted(order)
    assert all(cause.what and cause.why for cause in found)


def test_two_that_cannot_be_told_apart_are_not_ruled_out():
    """DRAM needs 90 ms; L3 89 ms, by a ceiling known to 5 %."""
    doubtful = replace(
        MACHINE,
        ceilings=(
            *(one for one in MACHINE.ceilings if one.key != ("l3", "load", 1, None)),
            replace(
                ceiling("l3", 50e9, name="load"), rate=Estimate([50e9], interval=(47.5e9, 52.5e9))
            ),
        ),
    )
    both = dict(LEVELS, dram=(900_000_000, 0), l3=(4_300_000_000, 0))
    measured = program(counts(flop(1_000_000)), moved(**both))

    assert standings(measured, doubtful)["l3"] == "unknown"
    assert "cannot be told apart" in judged(measured, doubtful)["l3"].why
    # 86 ms are less than 90 ms where both rates are exact: it does not limit, but takes 86 %.
    assert standings(measured)["l3"] == "contributes"
    assert "dram bandwidth needs more: 90 ms" in judged(measured)["l3"].why.lower()


def test_without_a_limiter_nothing_large_is_ruled_out():
    """40 % at DRAM explains nothing, and may be part of it; 10 % at L3 is not what is short."""
    some = dict(LEVELS, dram=(400_000_000, 0), l3=(500_000_000, 0))
    found = standings(program(counts(flop(1_000_000), instructions=190_000_000), moved(**some)))

    assert found["dram"] == "contributes"
    assert found["l3"] == "ruled out"


def test_a_noisy_runtime_rules_out_less():
    """10 of 100 ms are 10 %, but of 25 ms 40 %."""
    some = dict(LEVELS, dram=(400_000_000, 0), l3=(500_000_000, 0))
    measured = program(counts(flop(1_000_000), instructions=190_000_000), moved(**some))
    noisy = Estimate([0.1], interval=(0.025, 0.12))
    measured = replace(measured, timed=Timed(runtime_s=noisy, cpu_s=Estimate([0.1])))

    assert standings(measured)["l3"] == "contributes"
    assert judged(measured)["l3"].share.interval == pytest.approx((0.01 / 0.12, 0.4))


def test_misses_one_by_one_limit_a_list():
    """900 000 misses of 100 ns take 90 ms, and hardly any instruction retires meanwhile."""
    chased = dict(LEVELS, dram=(57_600_000, 0), l3=(57_600_000, 0), l2=(57_600_000, 0))
    found = judged(program(counts(instructions=9_000_000), moved(**chased)))

    assert found["misses"].standing == "limits"
    assert "90 % of its time if each waited" in found["misses"].why
    # 5.76 of 100 ms at full bandwidth.
    assert found["dram"].standing == "ruled out"
    assert "5.8 % of its time" in found["dram"].why


def test_few_misses_are_ruled_out_by_their_number():
    """100 000 of 100 ns: 10 % of the time, even one by one."""
    few = dict(LEVELS, dram=(6_400_000, 0))
    found = judged(program(counts(instructions=9_000_000), moved(**few)))

    assert found["misses"].standing == "ruled out"
    assert "10 % of its time if each waited" in found["misses"].why


def test_many_overlapping_misses_are_unknown_unless_the_core_is_busy():
    """Four times the runtime: they overlap, and how far is not counted."""
    many = dict(LEVELS, dram=(256_000_000, 0))
    slow = program(counts(instructions=190_000_000), moved(**many))
    busy = program(counts(instructions=610_000_000), moved(**many))

    assert standings(slow)["misses"] == "unknown"
    assert "4 times its time if each waited" in judged(slow)["misses"].why
    # 3.05 instructions in each of 200 million cycles.
    assert standings(busy)["misses"] == "ruled out"


def test_a_chain_of_additions_limits_a_sum():
    """90 million scalar additions of 1 ns."""
    done = counts(flop(90_000_000, width=0, fma=False, operation="add"), instructions=180_000_000)
    found = judged(program(done, moved(**LEVELS)))

    assert found["chain"].standing == "limits"
    assert "90 %" in found["chain"].why


def test_scalar_work_contributes_where_arithmetic_limits():
    """1.1 Gflop at 12.5 Gflop/s need 88 ms, and 11 ms in the widest vectors."""
    done = counts(flop(1_100_000_000, width=0, operation="fma"), instructions=560_000_000)
    found = judged(program(done, moved(**LEVELS)))

    assert found["compute"].standing == "limits"
    assert found["vectors"].standing == "contributes"
    assert "need 88 ms, and all in these would need 11 ms" in found["vectors"].why


def test_scalar_work_is_ruled_out_where_nothing_waits_for_it():
    """1 Mflop takes 0.08 ms of 100."""
    done = counts(flop(1_000_000, width=0, operation="fma"), instructions=20_000_000)
    found = judged(program(done, moved(**LEVELS)))

    assert found["vectors"].standing == "ruled out"
    assert found["vectors"].why.startswith("none of its flop are in the widest vectors")


def test_wide_work_is_ruled_out_as_narrow():
    """All of it is in 512 bit."""
    found = judged(asking("compute"))["vectors"]

    assert (found.standing, "100 % of its flop" in found.why) == ("ruled out", True)


def test_the_miss_curve_says_whether_blocks_would_help():
    """1 GB now; with the largest cache a tenth of it, or nearly all."""
    measured = asking("dram")

    def with_curve(least):
        curve = MissCurve(
            line_bytes=64,
            capacities_bytes=(32768, 1 << 24),
            read_bytes=(900_000_000, least),
            write_bytes=(0, 0),
            pending_bytes=(0, 0),
        )
        return judged(replace(measured, counted=replace(measured.counted, miss_curve=curve)))

    assert with_curve(90_000_000)["reuse"].standing == "contributes"
    assert with_curve(890_000_000)["reuse"].standing == "ruled out"
    unknown = judged(measured)["reuse"]
    assert unknown.standing == "unknown"
    assert unknown.settle == "ridgepoint run --miss-curve -- /bin/p 1"


def test_what_would_settle_it_keeps_the_options_of_the_run():
    """And names none twice."""
    asked = Asked(options=("--cores 2", "--repeat 3"))
    settle = judged(replace(asking("dram"), asked=asked))["start"].settle

    assert settle == ""  # ruled out: DRAM leaves nothing
    slow = replace(asking("dram", 0.4), asked=asked)
    assert judged(slow)["start"].settle == (
        "ridgepoint run --cores 2 --repeat 3 --functions -- /bin/p 1"
    )
    called = Protocol(
        state="warm", calls=1, replicas=1, data_bytes=None, overhead_s=0.0, counted_calls=1
    )
    assert "in Python" in judged(replace(slow, protocol=called))["start"].settle


def test_time_in_the_kernel_waiting_and_starting_is_judged_by_its_share():
    """30 % in the kernel, 55 % waiting, 5 % before the main part."""
    measured = asking("dram", 0.1)
    timed = Timed(runtime_s=Estimate([0.1]), cpu_s=Estimate([0.045]), system_s=Estimate([0.03]))
    main = TimedFunction(
        name="kernel", object="/bin/p", samples=90, runtime_s=Estimate([0.01]), cpu_s=0.01,
        first_s=0.005,
    )  # fmt: skip
    sampled = Sampled(
        runs=3, period_s=0.001, samples=90, user_s=0.015, system_s=0.03, functions=(main,)
    )
    found = judged(replace(measured, timed=timed, sampled=sampled))

    assert found["kernel"].standing == "contributes"
    assert "30 %" in found["kernel"].why
    assert found["waiting"].standing == "limits"
    assert "55 %" in found["waiting"].why
    assert found["start"].standing == "ruled out"
    assert "5 %" in found["start"].why
    # 70 ms are outside, so 10 ms at DRAM are no small part of what is left.
    assert "time at work" in found["dram"].why


def test_the_start_is_known_to_one_period_and_by_many_samples():
    """A main part seen in the first sample began within 1 ms of it, which is 1 % of 100 ms."""
    main = TimedFunction(
        name="kernel", object="/bin/p", samples=30, runtime_s=Estimate([0.09]), cpu_s=0.09,
        first_s=0.0,
    )  # fmt: skip
    sampled = Sampled(
        runs=1, period_s=0.001, samples=30, user_s=0.09, system_s=0.0, functions=(main,)
    )
    measured = replace(asking("dram", 0.4), sampled=sampled)
    found = judged(measured)["start"]

    assert found.standing == "ruled out"
    assert found.share.interval == pytest.approx((0.0, 0.01))
    assert "0 % (0 to 1 %)" in found.why
    few = judged(replace(measured, sampled=replace(sampled, samples=2)))["start"]
    assert few.standing == "unknown"
    assert "2" in few.why


def test_no_time_in_the_kernel_is_not_believed_of_a_short_program():
    """Kernels count CPU time in ticks of up to 10 ms: of ten, each may have missed it."""
    short = Timed(runtime_s=Estimate([0.1]), cpu_s=Estimate([0.1]), system_s=Estimate([0.0]))
    long = replace(short, cpu_s=Estimate([0.1] * 6), runtime_s=Estimate([0.1] * 6))
    measured = asking("dram", 0.4)

    assert standings(replace(measured, timed=short))["kernel"] == "unknown"
    assert standings(replace(measured, timed=long))["kernel"] == "ruled out"


def test_without_ceilings_of_vectors_nothing_is_said_of_their_widths():
    """A published machine has a peak, of which no width is known."""
    bare = replace(MACHINE, ceilings=(ceiling("fp64", 100e9, name="peak"),))
    measured = program(counts(flop(10_000_000, width=0)), moved(**LEVELS))
    found = judged(measured, bare)["vectors"]

    assert found.standing == "unknown"
    assert "no ceilings of vectors" in found.why


def test_a_miss_curve_is_not_asked_for_together_with_no_traffic():
    """Which 'ridgepoint run' refuses."""
    asked = Asked(options=("--no-traffic", "--repeat 3"))
    measured = replace(asking("dram", 0.4), asked=asked)

    assert run_again(measured, "--miss-curve") == (
        "ridgepoint run --repeat 3 --miss-curve -- /bin/p 1"
    )
    assert "--no-traffic" in run_again(measured, "--functions")


def test_a_share_that_only_noise_makes_large_is_unknown():
    """2 % in the kernel, in some runs 20 %: it is not shown to take part, nor ruled out."""
    system = Estimate([0.002], interval=(0.0, 0.02))
    timed = Timed(runtime_s=Estimate([0.1]), cpu_s=Estimate([0.1]), system_s=system)

    assert standings(replace(asking("dram", 0.4), timed=timed))["kernel"] == "unknown"


def test_idle_threads_are_imbalance_unless_others_took_the_cores():
    """1.2 of 4 cores busy with four threads."""
    idle = program(counts(flop(1_000_000)), moved(**LEVELS), cores=1.2, most_threads=4)
    others = replace(
        idle, cautions=(Caution("other-load", "other processes kept 2 CPUs busy", "end them"),)
    )
    one = program(counts(flop(1_000_000)), moved(**LEVELS), most_threads=1)

    assert standings(idle)["imbalance"] == "contributes"
    assert standings(others)["imbalance"] == "unknown"
    assert standings(others)["other-programs"] == "contributes"
    assert standings(idle)["other-programs"] == "ruled out"
    assert standings(one)["imbalance"] == standings(one)["waiting"] == "ruled out"


def test_more_cores_are_worth_what_their_roof_is():
    """Four cores move 20 GB/s, one 10: twice; and on all of them there are no more."""
    assert "is 2 times as high" in judged(asking("dram"))["few-cores"].why
    whole = judged(asking("dram"), cores=4)["few-cores"]
    assert (whole.standing, whole.why) == ("ruled out", "it used all 4 cores")


def test_a_program_above_its_roof_rules_no_resource_out():
    """A count or a ceiling is wrong: which one, nobody knows."""
    found = standings(asking("dram", 1.5))

    assert "limits" not in found.values()
    assert {found[name] for name in ("compute", *MEMORY, "issue")} == {"unknown"}


def test_without_a_time_only_resources_are_told_apart():
    """What needs least is ruled out; nothing is said about lost time."""
    untimed = replace(asking("dram"), timed=None)
    found = standings(untimed)

    assert found["dram"] == "limits"
    assert found["l3"] == found["compute"] == "ruled out"
    assert {found[name] for name in ("kernel", "waiting", "start", "clock")} == {"unknown"}


def test_what_was_not_counted_is_unknown():
    """Without traffic, and without a ceiling for instructions."""
    found = judged(program(counts(flop(1_000_000)), ()), BENCH)

    assert found["dram"].standing == found["issue"].standing == "unknown"
    assert found["dram"].why == "its traffic at DRAM was not counted"
    assert found["dram"].settle == "ridgepoint run --meter engine -- /bin/p 1"


def test_without_any_roof_nothing_is_judged():
    """There is nothing to judge by."""
    bare = replace(MACHINE, ceilings=())

    assert analyse(asking("dram"), bare).causes == ()
    assert analyse(asking("dram"), None).causes == ()


@settings(max_examples=60, deadline=None)
@given(
    work=st.integers(0, 10**10),
    bytes_moved=st.lists(st.integers(0, 10**10), min_size=4, max_size=4),
    instructions=st.integers(1, 10**9),
    runtime_s=st.floats(0.01, 10),
    busy=st.floats(0.05, 4),
    width=st.sampled_from((0, 256, 512)),
)
def test_what_is_ruled_out_never_limits(work, bytes_moved, instructions, runtime_s, busy, width):
    """And without what is ruled out the bound is the same, or it is far from the time anyway."""
    levels = {name: (amount, 0) for name, amount in zip(MEMORY, bytes_moved, strict=True)}
    kinds = (flop(work, width=width, operation="fma"),) if work else ()
    done = counts(*kinds, instructions=max(instructions, work // 4))
    measured = program(done, moved(**levels), runtime_s=runtime_s, cores=busy)
    analysis = analyse(measured, MACHINE)
    found = {cause.code: cause for cause in analysis.causes}

    assert set(found) == EVERY
    placement, explained = analysis.placement, analysis.explained
    limits = {code for code, cause in found.items() if cause.standing == "limits"}
    if analysis.conclusion.kind in {"at-roof", "roof"}:
        assert {RESOURCES[n].path if n in RESOURCES else n for n in placement.bindings} <= limits
    if analysis.conclusion.kind == "cause":
        assert explained.cause.code in limits
    # By hand: each path alone, at its rate, scalar work at an eighth of the peak.
    flop_per_s = {0: 12.5e9, 256: 50e9, 512: 100e9}[width]
    least_s = {
        "compute": work / flop_per_s / placement.cores,
        "issue": done.instructions / 8e9 / placement.cores,
        **{
            level: amount / float(MACHINE.rate(level, cores=placement.cores))
            for level, (amount, _) in levels.items()
        },
    }
    inside_s = runtime_s if explained is None else explained.inside_s
    for path, seconds in least_s.items():
        if found[path].standing == "ruled out":
            assert seconds < max(least_s.values()) or seconds < 0.3 * inside_s


def test_every_ruling_out_has_a_reason_with_a_number_or_a_known_absence():
    """No reason is a mere claim."""
    absent = ("hardly any", "no ", "nothing", "not known", "there are none", "it has no", "it had")
    for name in ("compute", "issue", *MEMORY):
        ruled_out = [one for one in judged(asking(name)).values() if one.standing == "ruled out"]
        assert len(ruled_out) > 3
        for cause in ruled_out:
            assert re.search(r"\d", cause.why) or cause.why.startswith(absent), cause


def test_unknown_counts_are_unknown():
    """A meter that cannot tell branches, loads or operations rules out nothing by them."""
    vague = Counts(
        instructions=100_000_000, branches=None, loads=None, stores=None, load_bytes=None,
        store_bytes=None, flop=(replace(flop(10_000_000, width=0), width_bits=None),),
    )  # fmt: skip
    found = standings(program(vague, moved(dram=(400_000_000, 0))))

    assert found["vectors"] == found["divide"] == found["branches"] == "unknown"
    assert "ruled out" not in {found["l1"], found["l2"], found["part-of-lines"]}
