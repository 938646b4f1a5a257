"""Tables and verdicts: what a reader at a terminal is told."""

import io
import re
from dataclasses import replace

import pytest
from figure_inputs import (
    CACHED,
    FEW,
    FUNCTIONS,
    MACHINE,
    MATMUL,
    PROFILED,
    READS_ONLY,
    SORT,
    TRIAD,
    UNTIMED,
    counts,
    flop,
    measurement,
    peak,
    stream,
    traffic,
)
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import FlopCount, FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.doctor.finding import Finding
from ridgepoint.kept.archive import Record
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.conclusion import conclude
from ridgepoint.models.summary import Summary
from ridgepoint.show.tables import doctor_table, machine_table, record_table, run_table
from ridgepoint.show.tables.record_table import verdict_in_short
from ridgepoint.show.verdict import verdict
from ridgepoint.show.words import percent, shown_cores

TITLE = "AMD EPYC 9R14 96-Core Processor (znver4), vm"


def text(renderable, width=80):
    """Return what a pipe of 80 columns gets."""
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=False).print(renderable)
    return file.getvalue()


def run_text(program, machine=MACHINE):
    """Return the report of a program on a machine, without line breaks inside sentences."""
    return text(run_table.run(analyse(program, machine)))


def squeezed(said):
    """Return text with every run of spaces and breaks as one space."""
    return " ".join(said.split())


def row(said, head):
    """Return the first line that begins so, squeezed."""
    return next(squeezed(line) for line in said.splitlines() if line.strip().startswith(head))


# A machine.


def test_a_row_shows_median_interval_and_traffic_of_one_core_and_of_two():
    """A store moves its lines twice. Ranks 4 and 12 of 15: 4 thousandths off the median."""
    said = text(machine_table.machine(MACHINE))

    assert row(said[said.index("DRAM [B/s]") :], "store ") == (
        "store 26.5 G -0.4 +0.4 % 34 G -0.4 +0.4 % x 2"
    )
    assert row(said, "fp64") == "fp64 [flop/s]"
    assert "ceilings medians, 15 samples each" in squeezed(said)


def test_a_machine_of_two_core_counts_fits_80_columns_unfolded():
    """A row per pattern: 4 of either precision and 8 streams; 6 headings."""
    said = text(machine_table.machine(MACHINE))
    rows = [line for line in said.splitlines() if re.search(r"\d G |\[", line)]

    assert max(map(len, said.splitlines())) <= 80
    assert len(rows) == 4 + 4 + 8 + 6


@pytest.mark.parametrize(
    ("shares", "said"),
    [((1, 0), "x 1"), ((1, 0.5), "x 1.5"), ((1, 1 / 3), "x 1.33"), ((None, None), "x 1")],
)
def test_traffic_is_per_byte_counted(shares, said):
    """Load, copy, triad by hand; without a split the rate is the traffic."""
    machine = replace(MACHINE, ceilings=(stream("l2", "any", 1, 1e9, *shares),))

    assert row(text(machine_table.machine(machine)), "any").endswith(f"% {said}")


def test_four_core_counts_stand_two_abreast():
    """One column pair more would not fit."""
    ceilings = tuple(peak("fp64", "fma", count, count * 1e9) for count in (1, 2, 48, 96))
    said = text(machine_table.machine(replace(MACHINE, ceilings=ceilings)))

    heads = [squeezed(line) for line in said.splitlines() if line.startswith("ceiling ")]
    assert heads == ["ceiling 1 core 95 % 2 cores 95 %", "ceiling 48 cores 95 % 96 cores 95 %"]


def test_different_numbers_of_samples_are_a_range():
    """Fifteen and seven."""
    few = replace(peak("fp64", "mul", 1, 1e9), rate=Estimate([1e9] * 7))
    said = squeezed(
        text(machine_table.machine(replace(MACHINE, ceilings=(*MACHINE.ceilings, few))))
    )

    assert "medians, 7 to 15 samples each" in said


def test_ceilings_are_grouped_by_resource():
    """Each resource is named once with its unit, compute first, then from the core outwards."""
    said = text(machine_table.machine(MACHINE))

    names = re.findall(r"^(\w+) \[(.*)\]", said, re.MULTILINE)
    assert names == [
        ("fp64", "flop/s"),
        ("fp32", "flop/s"),
        ("L1", "B/s"),
        ("L2", "B/s"),
        ("L3", "B/s"),
        ("DRAM", "B/s"),
    ]


def unstable(name, seen, threads=1):
    """Return a ceiling with a doubt of its own."""
    return replace(
        peak("fp64", name, threads, 1e9), cautions=(Caution("unstable", seen, "measure again"),)
    )


def test_doubts_of_many_ceilings_are_one_line():
    """Three of four; what differs between them is a range, what does not stays."""
    ceilings = (
        unstable("a", "the interval is 9% of the median (n = 15)"),
        unstable("b", "the interval is 41.5% of the median (n = 15)"),
        peak("fp64", "c", 1, 1e9),
        unstable("a", "the interval is 12% of the median (n = 15)", threads=2),
    )
    said = text(
        machine_table.machine(replace(MACHINE, cautions=(), ceilings=ceilings), every_caution=True)
    )

    assert squeezed(said).partition("cautions ")[2] == (
        "unstable: 3 of 4 ceilings (marked ~): the interval is 9 to 41.5% of the median "
        "(n = 15); measure again"
    )
    assert row(said, "a ").startswith("a ~1 G ")
    assert row(said, "c ").startswith("c 1 G ")


def test_doubts_of_two_ceilings_name_them():
    """With what was seen of each."""
    ceilings = (unstable("a", "spread 9%"), unstable("fma", "spread 8%", threads=2))
    said = squeezed(
        text(
            machine_table.machine(
                replace(MACHINE, cautions=(), ceilings=ceilings), every_caution=True
            )
        )
    )

    assert said.partition("cautions ")[2] == (
        "unstable: fp64 a on 1 core: spread 9%; fp64 FMA on 2 cores: spread 8%; measure again"
    )


def test_doubts_that_differ_in_words_give_an_example():
    """No text is made up for what two have in common."""
    ceilings = [unstable(name, f"L2 is {name}") for name in ("odd", "even", "prime")]
    said = squeezed(
        text(machine_table.machine(replace(MACHINE, ceilings=tuple(ceilings)), every_caution=True))
    )

    assert (
        "unstable: 3 of 3 ceilings (marked ~): for example fp64 odd on 1 core: L2 is odd; "
        "measure again" in said
    )


def test_doubts_of_two_kinds_are_two_lines():
    """The mark alone does not say which."""
    slow = (Caution("clock", "it was slow", "cool it"),)
    ceilings = (
        *(unstable(name, "spread 9%") for name in "abc"),
        replace(peak("fp64", "d", 1, 1e9), cautions=slow),
    )
    said = squeezed(
        text(machine_table.machine(replace(MACHINE, ceilings=ceilings), every_caution=True))
    )

    assert "unstable: 3 of 4 ceilings (among those marked ~): spread 9%; measure again" in said
    assert "clock: fp64 d on 1 core: it was slow; cool it" in said


def test_a_machine_says_what_it_is():
    """Host, caches, cautions; what is not known reads unknown."""
    said = squeezed(text(machine_table.machine(MACHINE)))

    assert "AMD EPYC 9R14 96-Core Processor (znver4)" in said
    assert "2 usable, clock 3.676 GHz, memory unknown, virtual: yes" in said
    assert "L3 32 MiB 64 B unknown 2 CPUs" in said
    assert "virtualized: the machine is virtual; neighbours may take part of it" in said


def test_a_ceiling_that_could_not_be_measured_reads_unknown():
    """And says why among the cautions."""
    missing = Ceiling(
        resource="l3",
        name="load",
        threads=1,
        unit="byte/s",
        rate=None,
        cautions=(Caution("no-memory", "the buffer does not fit", "free some memory"),),
    )
    said = squeezed(text(machine_table.machine(replace(MACHINE, ceilings=(missing,)))))

    assert "L3 [B/s] load unknown" in said
    assert "no-memory: L3 load on 1 core: the buffer does not fit; free some memory" in said


def test_few_samples_have_no_interval():
    """With five there is none at 95 %."""
    few = replace(stream("l1", "load", 1, 1e9, 1, 0), rate=Estimate([1e9] * 5))
    said = squeezed(text(machine_table.machine(replace(MACHINE, ceilings=(few,)))))

    assert "load 1 G unknown (n < 6) x 1" in said
    assert "medians, 5 samples each" in said


def test_a_published_ceiling_has_no_interval():
    """One figure from a paper; a read bandwidth is its own traffic."""
    read = Ceiling(
        resource="dram_read",
        name="load",
        threads=1,
        unit="byte/s",
        rate=Estimate([16e9]),
        source="a paper",
    )
    said = squeezed(text(machine_table.machine(replace(MACHINE, ceilings=(read,)))))

    assert "DRAM read [B/s] load 16 G published x 1" in said
    assert "samples" not in said


def test_chains_are_shown_in_cycles():
    """3.5 GHz over 0.25 Gflop/s are 14 cycles of a division; 1.75 Gflop/s in FMA, 2 flop, are 4."""
    chains = tuple(
        replace(peak("fp64", name, 1, rate), frequency_hz=3.5e9)
        for name, rate in (("fma chain", 1.75e9), ("div chain", 0.25e9))
    )
    said = squeezed(text(machine_table.machine(replace(MACHINE, ceilings=chains))))

    assert "previous one: fp64 FMA 4, fp64 div 14" in said


def test_theory_is_shown_where_it_is_known():
    """58.8 of 60 is 98 %."""
    first = replace(MACHINE.ceilings[6], theoretical=60e9)
    said = text(machine_table.machine(replace(MACHINE, ceilings=(first,))))

    assert row(said, "FMA").endswith("98 %")


# A program.


def test_a_report_says_runtime_work_and_traffic():
    """10 ms, quartiles 3.5 thousandths away; 20 Mflop; 160 + 80 MB.

    50 M instructions in 36.76 M cycles of 3.676 GHz are 1.36 in each.
    """
    said = run_text(TRIAD)

    assert row(said, "T ") == (
        "T runtime 10 ms (quartiles 9.965 ms to 10.03 ms, n = 15), 1.00 cores busy"
    )
    assert row(said, "W ") == "W work 20 Mflop fp64: 100 % 256-bit; 100 % by FMA"
    assert row(said, "Q ") == "Q traffic DRAM read 160 MB, written 80 MB, pending 1 MB"
    assert (
        "instructions 50 M, 1.4 per cycle: 25 % load, 12 % store, 10 % branch, 5.0 % floating point"
    ) in squeezed(said)


def test_a_report_says_intensity_performance_and_place():
    """20/240 flop/byte; 2 Gflop/s; reads of 160 MB at 32 GB/s allow 5 ms, so 4 Gflop/s."""
    said = run_text(TRIAD)

    assert row(said, "I ").startswith("I intensity DRAM 0.0833, L3 0.08, L2 0.0769, L1 0.0417")
    assert row(said, "P ").startswith("P performance 2 Gflop/s (quartiles ")
    assert f"attainable 4 Gflop/s on 1 core of {TITLE}" in squeezed(said)
    assert row(said, "efficiency") == "efficiency 50 %"


def test_vector_widths_and_masks_are_shares_of_the_work():
    """60, 30 and 10 of 100 Mflop, 15 of them masked, 90 by FMA."""
    kinds = (
        flop("fp64", 60_000_000, width=512, masked=15_000_000),
        flop("fp64", 30_000_000, width=128),
        flop("fp64", 10_000_000, width=0, fma=False),
    )
    said = squeezed(run_text(measurement(*kinds)))

    assert (
        "100 Mflop fp64: 60 % 512-bit, 30 % 128-bit, 10 % scalar; 90 % by FMA; "
        "15 % under a mask" in said
    )


def test_unknown_writes_read_unknown_never_zero():
    """Neither as bytes, nor as an intensity, nor as 0."""
    said = run_text(READS_ONLY)

    assert row(said, "Q ") == "Q traffic DRAM read 160 MB, written unknown, pending unknown"
    assert row(said, "I ").startswith("I intensity DRAM unknown, L3 0.08")
    assert "written 0" not in said
    assert "DRAM writes are not in the bound" in squeezed(said)


def test_an_untimed_program_has_no_runtime_performance_or_efficiency():
    """All three read unknown."""
    said = run_text(UNTIMED)

    assert row(said, "T ") == "T runtime unknown (counted, not timed)"
    assert row(said, "P ") == "P performance unknown (not timed)"
    assert row(said, "efficiency") == "efficiency unknown"
    assert not re.search(r"(?<![\d.])0 (ms|s|flop/s|%)", said)


def test_unmeasured_memory_traffic_reads_unknown():
    """The levels that were seen are still shown."""
    said = run_text(measurement(flop("fp64", 20_000_000), dram=None))

    assert row(said, "Q ") == "Q traffic DRAM unknown"
    assert row(said, "L3") == "L3 read 165 MB, written 85 MB"


def test_measured_zeros_are_shown_as_zeros():
    """A program that lives in the cache moved nothing: that is known."""
    said = run_text(CACHED)

    assert row(said, "Q ") == "Q traffic DRAM read 0 B, written 0 B, pending 0 B"
    assert "DRAM infinite (no byte moved)" in said


def test_a_program_without_work_has_no_intensity_or_performance():
    """But a roof, in seconds."""
    said = run_text(SORT)

    assert row(said, "W ") == "W work no floating-point operation"
    assert not re.search(r"^(I|P)  ", said, re.MULTILINE)
    assert "attainable 5 ms at best, on 1 core of AMD EPYC 9R14" in squeezed(said)


def test_hardly_any_work_is_counted_exactly_and_has_no_rates():
    """4 flop in 50 M instructions; 5 ms of traffic in 600 are 0.8 %."""
    said = run_text(FEW)

    assert row(said, "W ") == "W work hardly any: 4 flop fp64"
    assert not re.search(r"^(I|P)  ", said, re.MULTILINE)
    assert "flop/s" not in said
    assert row(said, "efficiency") == "efficiency 0.8 %"


def test_undecoded_instructions_are_said():
    """500 k of 50 M."""
    said = squeezed(run_text(measurement(flop("fp64", 1_000_000), undecoded=500_000)))

    assert (
        "undecoded 1.0 % of the instructions could not be decoded: their work and bytes are unknown"
        in said
    )


def test_a_report_without_a_machine_still_says_what_was_seen():
    """No roof is made up."""
    said = text(run_table.run(analyse(TRIAD, None)))

    assert "20 Mflop" in said
    assert "unknown: there is no machine to bound it by" in said


def test_functions_show_their_shares():
    """16 of 20 Mflop, 30 of 50 M instructions, 225 of 240 MB."""
    said = run_text(PROFILED)

    assert row(said, "triad ") == "triad triad 80 % 60 % 94 %"
    assert row(said, "main ") == "main triad 0 % 20 % 0.4 %"


def profile(*shares):
    """Return functions that did so many percent of work, instructions and DRAM reads."""
    return tuple(
        FunctionCounts(
            name=name,
            object=None,
            counts=counts(*([flop("fp64", work)] if work else []), instructions=instructions),
            traffic=(traffic("dram", read, 0),),
        )
        for name, work, instructions, read in (
            (name, int(work * 200_000), int(instr * 500_000), int(read * 1000))
            for name, work, instr, read in shares
        )
    )


def listed(said):
    """Return the names in the function table."""
    table = re.search(r"^function .*\n((?:\S.*\n)+)", said, re.MULTILINE)
    return [line.split()[0] for line in table[1].splitlines()]


SPREAD_OUT = profile(
    ("dgemm", 100, 25, 0),
    ("0x0000000000009ad0'2", 0, 0.05, 0),
    ("memset", 0, 1, 60),
    ("0x00000000000037d0", 0, 70, 5),
    ("start", 0, 3.95, 35),
)


def test_functions_are_ranked_by_their_largest_share():
    """100 % of work, 70 % of instructions, 60 and 35 % of traffic; 0.05 % goes to the rest."""
    said = run_text(measurement(flop("fp64", 20_000_000), functions=SPREAD_OUT))

    assert listed(said) == ["dgemm", "0x37d0", "memset", "start", "1"]
    assert row(said, "1 more") == "1 more 0 % < 0.1 % 0 %"


def test_where_there_is_hardly_any_work_it_ranks_no_function():
    """All 4 flop in a function of no instructions to speak of."""
    tiny = replace(SPREAD_OUT[1], counts=replace(FEW.counted.counts, instructions=25_000))
    functions = (tiny, *SPREAD_OUT[2:])
    few = replace(FEW, counted=replace(FEW.counted, functions=functions))
    said = run_text(few)

    assert listed(said) == ["0x37d0", "memset", "start", "1"]
    assert row(said, "function") == "function object instr. DRAM"


def test_functions_beyond_the_table_are_summed_in_a_row():
    """Two of three: 4 of 20 Mflop, 20 of 50 M instructions, 15 of 240 MB. None is hidden."""
    said = text(run_table.run(analyse(PROFILED, MACHINE), most_functions=1))

    assert row(said, "2 more") == "2 more 20 % 40 % 6.2 %"


def test_functions_with_unknown_writes_are_compared_by_their_reads():
    """The column says so."""
    reads = tuple(
        replace(function, traffic=(traffic("dram", amount, None),))
        for function, amount in zip(FUNCTIONS, (75, 25, 0), strict=True)
    )
    said = run_text(measurement(flop("fp64", 20_000_000), functions=reads))

    assert "DRAM reads" in squeezed(said)
    assert row(said, "triad ").endswith("75 %")


def test_functions_without_traffic_read_unknown():
    """A meter that counts no traffic per function."""
    blind = tuple(replace(function, traffic=()) for function in FUNCTIONS)
    said = run_text(measurement(flop("fp64", 20_000_000), functions=blind))

    assert row(said, "triad ") == "triad triad 80 % 60 % unknown"


def test_cautions_of_the_placement_are_listed():
    """A point above its roof must not pass in silence."""
    said = squeezed(run_text(measurement(flop("fp64", 20_000_000), runtime_s=0.001)))

    assert "cautions above-roof: the program is 5.00 times as fast" in said


def test_texts_from_outside_are_no_markup():
    """A command in brackets, a symbol with an escape sequence."""
    odd = replace(FUNCTIONS[0], name="operator[][bold]\x1b[2J")
    program = measurement(flop("fp64", 20_000_000), command=("./[red]x[/]",), functions=(odd,))
    said = run_text(program)

    assert "./[red]x[/]" in said
    assert "operator[][bold]?[2J" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("program", [PROFILED, SORT, READS_ONLY, UNTIMED, CACHED, MATMUL])
def test_a_report_fits_80_columns(program):
    """Without colour where it is no terminal."""
    said = run_text(program)

    assert max(map(len, said.splitlines())) <= 80
    assert "\x1b" not in said


# What bounds it.


def said_of(program, machine=MACHINE):
    """Return the verdict on a program."""
    return verdict(conclude(place(program, machine), program.counted.counts))


def test_the_verdict_names_the_limit_the_gain_and_the_next_limit():
    """Reads of 160 MB at 32 GB/s take 5 ms of 10; L3 needs 250 MB / 70 GB/s = 3.57 ms."""
    assert said_of(TRIAD) == (
        "bound by DRAM read bandwidth: 50 % of attainable; at best 2x faster "
        "unless it reads fewer bytes from DRAM",
        "without that limit, L3 bandwidth is next: at best 2.8x faster than now",
    )


def test_the_verdict_on_a_program_at_its_peak_asks_for_less_work():
    """2.004 Gflop at 58.8 Gflop/s take 34.1 ms of 41: 83 %."""
    first, _ = said_of(MATMUL)

    assert first == (
        "bound by peak fp64 performance: 83 % of attainable; at best 1.2x faster "
        "unless it does less floating-point work"
    )


LOOK_AT = "check latency, dependent operations, integer work, start-up and system calls"


def test_the_verdict_far_below_the_roofs_blames_none():
    """5 ms of reads in 50 allow 10x; 3.57 ms of L3 traffic allow 14x. No claim that work binds."""
    assert said_of(measurement(flop("fp64", 20_000_000), runtime_s=0.050)) == (
        "no measured roof explains its time: the nearest, DRAM read bandwidth, would allow 10x "
        "its speed",
        LOOK_AT,
        "the next roof, L3 bandwidth, would allow 14x",
    )


def test_the_verdict_does_not_repeat_the_caution():
    """A reader who sees both learns something from each."""
    program = measurement(flop("fp64", 20_000_000), runtime_s=0.100)
    (caution,) = [c for c in place(program, MACHINE).cautions if c.code == "far-below"]

    assert not [said for said in said_of(program) if said in str(caution)]


@pytest.mark.parametrize(
    ("program", "first"),
    [(SORT, "no floating-point work"), (FEW, "hardly any floating-point work (4 flop)")],
)
def test_the_verdict_without_work_speaks_of_the_traffic(program, first):
    """5 ms of reads in 600 ms."""
    assert said_of(program) == (
        f"{first}: a flop roofline says nothing about this program",
        "its memory traffic alone would need 5 ms of the 600 ms that it took, at DRAM read "
        "bandwidth",
        LOOK_AT,
    )


def test_the_verdict_on_a_program_that_only_copies_names_its_roof():
    """5 ms of reads in 6 ms: no work, but a bandwidth explains its time."""
    first, second, _ = said_of(measurement(runtime_s=0.006))

    assert first == "no floating-point work: a flop roofline says nothing about this program"
    assert second.startswith("bound by DRAM read bandwidth: 83 % of attainable")


def test_the_verdict_without_work_or_traffic_promises_nothing():
    """4 flop and no byte: the time of 4 flop is no bound worth a name."""
    still = measurement(flop("fp64", 4), dram=(0, 0, 0), levels=False, runtime_s=0.1)

    assert said_of(still)[1] == (
        "no measured roof explains its time: its memory traffic needs almost none of it"
    )


def test_a_trace_of_another_precision_is_not_in_the_name_of_the_peak():
    """1000 flop of start-up beside 2 Gflop."""
    program = measurement(
        flop("fp64", 2_000_000_000), flop("fp32", 1000), dram=(1000, 0), runtime_s=0.041
    )

    assert said_of(program)[0].startswith("bound by peak fp64 performance: 83 %")


def test_the_verdict_above_a_roof_doubts_the_figures():
    """5 ms of reads in 1 ms cannot be."""
    first, _ = said_of(measurement(flop("fp64", 20_000_000), runtime_s=0.001))

    assert first == (
        "5 times as fast as DRAM read bandwidth allows: a count or a ceiling is wrong, "
        "see the cautions"
    )


def test_the_verdict_at_the_roof_promises_nothing():
    """5 ms of 5."""
    first, _ = said_of(measurement(flop("fp64", 20_000_000), runtime_s=0.005))

    assert first.startswith("bound by DRAM read bandwidth: at its roof (100 % of attainable)")


def test_the_verdict_names_every_limit_that_needs_as_long():
    """5 ms of reads, and work that takes 4.95 ms at the peak of one core; L3 needs 3.57 ms."""
    work = round(4.95e-3 * float(MACHINE.rate("fp64", cores=1)))
    first, following = said_of(measurement(flop("fp64", work), runtime_s=0.010))

    assert first == (
        "bound by DRAM read bandwidth and peak fp64 performance alike: 50 % of attainable; at best "
        "2x faster unless it reads fewer bytes from DRAM and does less floating-point work"
    )
    assert following == "without these limits, L3 bandwidth is next: at best 2.8x faster than now"


def test_the_verdict_on_an_untimed_program_says_what_would_bound_it():
    """Two cores read 160 MB at 45 GB/s in 3.56 ms, in which 20 Mflop are 5.625 Gflop/s."""
    assert said_of(UNTIMED) == (
        "what would bound it is DRAM read bandwidth: 5.62 Gflop/s and 3.56 ms at best, on 2 cores",
        "its time was not measured, so its performance and how close it comes to that are unknown",
    )


def test_the_verdict_on_an_untimed_program_without_work_has_no_rate():
    """The reads take 3.56 ms all the same."""
    assert said_of(replace(SORT, timed=None)) == (
        "no floating-point work: a flop roofline says nothing about this program",
        "what would bound it is DRAM read bandwidth: 3.56 ms at best, on 2 cores",
        "its time was not measured, so how close it comes to that is unknown",
    )


def test_the_verdict_on_an_untimed_program_says_what_is_not_in_it():
    """As on a timed one."""
    assert said_of(replace(READS_ONLY, timed=None))[-1].startswith("DRAM writes are not in the")


def test_the_verdict_without_a_ceiling_claims_no_bound():
    """A machine of which nothing is known."""
    bare = replace(MACHINE, ceilings=())

    assert said_of(TRIAD, bare) == (
        "no roof applies: the machine has no ceiling for any resource that the program uses",
    )


def test_the_verdict_on_a_program_that_asks_for_nothing_claims_no_bound():
    """No flop and no byte, but it took time."""
    idle = measurement(dram=(0, 0, 0), levels=False, runtime_s=0.1)

    assert said_of(idle)[1:] == (
        "no roof applies: no bytes and no flop of the program were counted",
    )


def test_the_verdict_says_when_nothing_is_known_to_come_next():
    """Only one resource was asked for."""
    program = measurement(dram=(160_000_000, 80_000_000), levels=False, runtime_s=0.006)

    assert said_of(program)[2] == "no further roof is known"


# What was kept, and what works.


def test_records_are_listed():
    """Number, kind, date, machine, runtime, verdict; name, command, options and note below."""
    kept = [
        Record(id=3, kind="machine", created="2026-11-21T03:00:00Z", name="zen4", machine_id=None),
        Record(
            id=14,
            kind="measurement",
            created="2026-11-21T03:05:00+00:00",
            name="triad [1000]",
            machine_id=3,
            label="before",
            note="without blocking",
            summary=Summary(
                runtime_s=0.318,
                work_by_resource={"fp64": 1e9},
                binding="dram_read",
                efficiency=0.67,
                options=("--cores 2", "--region sum"),
            ),
        ),
    ]
    said = text(record_table.records(kept), width=100)

    assert row(said, "3 ") == "3 machine 2026-11-21 03:00 zen4"
    assert row(said, "14 ") == ("14 measurement 2026-11-21 03:05 3 318 ms DRAM read 67 % before")
    below = [line.strip() for line in said.splitlines()[3:]]
    assert below == ["triad [1000]", "--cores 2 --region sum", "without blocking"]


@pytest.mark.parametrize(
    ("binding", "efficiency", "said"),
    [
        ("compute", 0.5, "fp64 peak 50 %"),
        ("dram_read", None, "DRAM read, not timed"),
        (None, None, ""),
    ],
)
def test_a_verdict_in_short(binding, efficiency, said):
    """What bounds it and how near it is, as far as they are known."""
    summary = Summary(
        runtime_s=None, work_by_resource={"fp64": 1e9}, binding=binding, efficiency=efficiency
    )

    assert verdict_in_short(summary) == said


def test_the_command_of_a_record_is_one_line():
    """A script with line breaks."""
    kept = Record(
        id=1,
        kind="measurement",
        created="2026-11-21T03:00:00Z",
        name="python -c 'import os\n\n  os.sync()'",
        machine_id=3,
    )

    said = text(record_table.records([kept]), width=100)

    assert row(said, "1 ").endswith("3 python -c 'import os os.sync()'")


def test_the_doctor_says_what_to_do_and_what_it_costs():
    """And fits 80 columns."""
    findings = [
        Finding(what="clock", works=True, detail="CPU 0 and 1"),
        Finding(
            what="callgrind",
            works=False,
            detail="valgrind is not in PATH",
            remedy="install it, for example with 'apt install valgrind'",
            cost="no work and no traffic of any program, only its runtime",
        ),
    ]
    said = text(doctor_table.doctor(findings))

    assert row(said, "clock") == "clock yes CPU 0 and 1"
    assert row(said, "callgrind") == "callgrind no valgrind is not in PATH"
    assert "what to do: install it, for example with 'apt install valgrind'" in squeezed(said)
    assert "without it: no work and no traffic of any program" in squeezed(said)
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (1e-9, "< 0.1 %"), (0.0123, "1.2 %"), (0.0996, "10 %"), (12.5, "1250 %")],
)
def test_a_small_share_never_reads_as_zero(share, said):
    """Only nothing is 0 %."""
    assert percent(share) == said


def test_cores_are_counted_in_words():
    """One is singular."""
    assert [shown_cores(count) for count in (1.0, 1.5, 2.0)] == ["1 core", "1.5 cores", "2 cores"]


def test_an_unmeasured_kind_of_flop_still_adds_up():
    """The work of x87 code has its own row."""
    x87 = FlopCount(precision="fp80", width_bits=0, fma=False, flop=1000, instructions=1000)
    said = squeezed(run_text(measurement(flop("fp64", 20_000_000), x87)))

    assert "1 kflop fp80: 100 % scalar; 0 % by FMA" in said
