"""What explains a program's time, on the machine of round numbers of `test_advice`.

One core moves 10 GB/s at DRAM, a miss there takes 100 ns and 50 more on small pages, a scalar
addition that waits 1 ns; the
divider does 0.78 Gflop/s of scalars. The clock is 2 GHz.
"""

from dataclasses import replace

import pytest
from core_inputs import ceiling
from hypothesis import given
from hypothesis import strategies as st
from test_advice import BENCH, counts, flop, moved, program

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.models.advice.language import how_to, language_of
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.conclusion import conclude
from ridgepoint.models.work import yardstick
from ridgepoint.show.verdict import verdict

MACHINE = replace(
    BENCH,
    ceilings=(
        *BENCH.ceilings,
        ceiling("fp64", 1e9, name="add chain"),
        ceiling("dram", 8 / 150e-9, name="chase 4 KiB pages"),
    ),
)
FEW = counts(instructions=100_000_000)


def kernel(measured, system_s):
    """Return a program whose kernel took some of its time."""
    return replace(measured, timed=replace(measured.timed, system_s=Estimate([system_s])))


def explained(measured):
    """Return what explains a program's time on the machine."""
    return analyse(measured, MACHINE).explained


def said(measured):
    """Return the verdict on it."""
    return verdict(
        conclude(place(measured, MACHINE), measured.counted.counts, explained=explained(measured))
    )


def cause(measured):
    """Return the code of what holds it back."""
    found = explained(measured).cause
    return None if found is None else found.code


READS = program(FEW, moved(dram=(400_000_000, 0)))  # 40 of 100 ms


def test_time_in_the_kernel_and_time_spent_waiting_are_no_roofs():
    """40 ms of reads are less than half of 100, but more than half of the 70 that are left."""
    in_kernel = kernel(READS, 0.030)
    waits = program(FEW, moved(dram=(400_000_000, 0)), cores=0.7)

    assert cause(READS) is None
    assert (cause(in_kernel), cause(waits)) == ("dram", "dram")
    assert explained(in_kernel).inside_s == pytest.approx(0.070)
    assert explained(waits).outside_s == pytest.approx(0.030)


def test_the_verdict_says_what_it_is_of_and_what_it_is_not():
    """57 % of the 70 % that the program itself takes."""
    first, second = said(kernel(READS, 0.030))[1:3]

    assert first == (
        "bound by DRAM bandwidth: at full rate its traffic takes 57 % of the 70 % of its time in "
        "which it computes and moves data"
    )
    assert second == "it spends 30 % of its time in the kernel, which no roof describes"


def test_every_part_has_its_seconds():
    """What was seen, what is needed, and what is possible; largest first."""
    lines = program(counts(instructions=100_000_000), moved(dram=(64_000_000, 0)), runtime_s=0.2)
    parts = [
        (one.code, one.sense, round(one.seconds, 4)) for one in explained(kernel(lines, 0.02)).parts
    ]

    assert parts == [("misses", "most", 0.1), ("walks", "most", 0.05), ("kernel", "took", 0.02)]


def test_page_walks_are_of_one_core_whatever_all_cores_reach():
    """Four cores at once wait longer for memory, at pages of any size."""
    crowded = replace(
        MACHINE,
        ceilings=(*MACHINE.ceilings, ceiling("dram", 4 * 8 / 160e-9, threads=4, name="chase")),
    )
    walking = program(counts(instructions=100_000_000), moved(dram=(64_000_000, 0)), runtime_s=0.2)
    walks = [one for one in analyse(walking, crowded).explained.parts if one.code == "walks"]

    assert [one.seconds for one in walks] == pytest.approx([0.05])


def additions(instructions):
    """Return 50 million scalar additions in 60 ms: a chain takes 50 ms of it."""
    done = counts(flop(50_000_000, width=0, fma=False, operation="add"), instructions=instructions)
    return program(done, moved(dram=(64, 0)), runtime_s=0.060)


def test_additions_that_take_as_long_as_their_chain_wait_for_each_other():
    """1.7 instructions in a cycle fit to that, 3.3 do not: a core that waits cannot do as many."""
    assert cause(additions(200_000_000)) == "chain"
    assert cause(additions(400_000_000)) is None


def test_misses_that_take_as_long_as_one_by_one_wait_for_each_other():
    """A million lines at 100 ns are 100 ms; with many instructions meanwhile something else is."""
    few, many = (
        program(counts(instructions=n), moved(dram=(64_000_000, 0)), runtime_s=0.110)
        for n in (100_000_000, 400_000_000)
    )

    assert cause(few) == "misses"
    assert cause(many) is None
    assert said(few)[1].startswith("bound by the latency of cache misses, it seems")


def test_divisions_are_a_cause_of_their_own():
    """50 million at 0.78 Gflop/s are 64 ms, of the 100 that are left beside the kernel's 20."""
    done = counts(flop(50_000_000, width=0, fma=False, operation="div"), instructions=200_000_000)
    divides = kernel(program(done, moved(dram=(64, 0)), runtime_s=0.140), 0.040)

    assert cause(divides) == "divide"
    assert said(divides)[0].startswith("bound by divisions and square roots: at full rate they")


@given(st.floats(0.001, 1), st.floats(0, 2), st.floats(0.05, 1), st.integers(0, 10**10))
def test_what_is_outside_is_never_more_than_the_time(runtime_s, system_share, cores, read):
    """However the kernel's account and the clock differ; parts come in order."""
    measured = program(FEW, moved(dram=(read, 0)), runtime_s=runtime_s, cores=cores)
    found = explained(kernel(measured, system_share * runtime_s))
    if found is None:
        return
    seconds = [part.seconds for part in found.parts]

    assert 0 <= found.outside_s < runtime_s
    assert found.inside_s > 0
    assert seconds == sorted(seconds, reverse=True)
    assert found.cause is None or found.cause.seconds >= 0.5 * found.inside_s


def test_time_before_the_main_part_is_told_by_samples():
    """The solver is first found after 40 of 100 ms; what took 2 ms before says nothing of it."""

    def sampled(name, first_s, seconds):
        return TimedFunction(
            name=name,
            object="/bin/p",
            samples=9,
            runtime_s=Estimate([seconds]),
            cpu_s=seconds,
            first_s=first_s,
        )

    functions = (sampled("solve", 0.040, 0.058), sampled("import", 0.001, 0.002))
    found = explained(
        replace(
            READS,
            sampled=Sampled(
                runs=1, period_s=1e-3, samples=18, user_s=0.06, system_s=0, functions=functions
            ),
        )
    )

    assert found.outside_s == pytest.approx(0.040)
    assert found.cause is not None
    assert found.cause.code == "dram"


def function(name, *, file="/home/me/prog", instructions=60):
    """Return a function of which little is known."""
    return FunctionCounts(
        name=name, object=file, counts=counts(instructions=instructions), traffic=()
    )


def test_the_function_worth_a_place_of_its_own_has_a_name_and_half_of_the_instructions():
    """Neither an address nor one of many."""

    def found(*functions):
        measured = program(FEW, moved(dram=(64, 0)))
        measured = replace(measured, counted=replace(measured.counted, functions=functions))
        return analyse(measured, MACHINE).hot_function

    rest = function("rest", instructions=40)

    assert found(function("step"), rest) == ("step", 0.6)
    assert found(function("0x0000000000001234"), rest) is None
    assert found(function("step", instructions=10), rest, function("more", instructions=40)) is None


@pytest.mark.parametrize(
    ("flops", "others", "knows_bop", "metric"),
    [
        (0, 100, True, "bop"),
        (4, 96, True, "bop"),  # as x264: integers of a picture
        (6, 94, True, "flop"),
        (4, 96, False, "flop"),
    ],
)
def test_the_yardstick_is_what_a_program_does(flops, others, knows_bop, metric):
    """Flop, unless they are less than a twentieth of what it does, and the other is known."""
    kinds = (flop(flops, width=0, fma=False),) if flops else ()
    done = replace(
        counts(*kinds),
        basic_operations=BasicOperations(fp_arithmetic=flops, arithmetic=others),
    )

    assert yardstick(done, knows_bop=knows_bop) == metric


def test_basic_operations_that_are_not_known_leave_flop():
    """Eq. (3) is negative for code that mostly calls."""
    calls = replace(counts(instructions=10), branches=20)

    assert yardstick(calls, knows_bop=True) == "flop"


@pytest.mark.parametrize(
    ("names", "file", "language"),
    [
        (["main.main", "runtime.main", "runtime.mallocgc"], "/home/me/prog", "go"),
        (["prog::step", "std::rt::lang_start"], "/home/me/prog", "rust"),
        (["step", "main"], "/home/me/prog", "c"),
        (["f(int)", "std::vector<double>::size() const"], "/home/me/prog", "c"),
        (["MAIN__", "runtime.c"], "/home/me/prog", "c"),
        (["_PyEval_EvalFrameDefault"], "/usr/bin/python3.11", "interpreter"),
        (["Unsafe_PutInt"], "/usr/lib/jvm/java/lib/server/libjvm.so", "interpreter"),
        (["dgemm_kernel_HASWELL"], "/x/site-packages/numpy.libs/libopenblas.so", "library"),
        (["0x7f00"], None, "made at run time"),
    ],
)
def test_the_language_is_told_by_the_file_and_the_names_in_it(names, file, language):
    """Of the first of them."""
    functions = [function(name, file=file) for name in names]

    assert language_of(functions[0], functions) == language
    assert language_of(None, functions) == language


@pytest.mark.parametrize("goal", ["vectors", "wide vectors", "fused", "optimised"])
@pytest.mark.parametrize("language", ["go", "rust", "made at run time", "interpreter", "library"])
def test_nobody_is_told_options_of_another_compiler(goal, language):
    """Flags of GCC are for what GCC compiles."""
    assert "-march=" not in how_to(goal, language, widest=512)
    assert "-O3" not in how_to(goal, language, widest=512)


@pytest.mark.parametrize("widest", [256, 512])
@pytest.mark.parametrize("goal", ["vectors", "wide vectors", "fused"])
def test_c_is_to_be_compiled_for_this_cpu(goal, widest):
    """Whatever its vectors are: what the compiler makes of it is counted."""
    assert "-march=native" in how_to(goal, "c", widest=widest)
