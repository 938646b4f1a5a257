"""Tables and verdicts: what a reader at a terminal is told."""

import io
import re
from dataclasses import replace

import pytest
from figure_inputs import (
    CACHED,
    FUNCTIONS,
    MACHINE,
    MATMUL,
    PROFILED,
    READS_ONLY,
    SORT,
    TRIAD,
    UNTIMED,
    flop,
    measurement,
    stream,
    traffic,
)
from rich.console import Console

from ridgepoint.archive import Record
from ridgepoint.caution import Caution
from ridgepoint.counts import FlopCount
from ridgepoint.doctor import Finding
from ridgepoint.estimate import Estimate
from ridgepoint.figures import tables
from ridgepoint.figures.verdict import verdict
from ridgepoint.figures.words import percent, shown_cores
from ridgepoint.machine import Ceiling
from ridgepoint.models.placement import place


def text(renderable, width=80):
    """Return what a pipe of 80 columns gets."""
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=False).print(renderable)
    return file.getvalue()


def run_text(program, machine=MACHINE):
    """Return the report of a program on a machine, without line breaks inside sentences."""
    return text(tables.run(program, machine, place(program, machine)))


def squeezed(said):
    """Return text with every run of spaces and breaks as one space."""
    return " ".join(said.split())


def row(said, head):
    """Return the line that begins so, squeezed."""
    return next(squeezed(line) for line in said.splitlines() if line.strip().startswith(head))


# A machine.


def test_a_ceiling_shows_median_interval_samples_and_traffic():
    """A store of 26.5 GB/s moves 53: its lines are read first. Ranks 4 and 12 of 15 samples.

    They deviate by -4 and +4 thousandths: 26.394 and 26.606.
    """
    said = text(tables.machine(MACHINE))

    assert "store 1 26.5 GB/s 26.39 to 26.61 G 15 53 GB/s" in squeezed(said)


def test_ceilings_are_grouped_by_resource():
    """Each resource is named once, compute first, then from the core outwards."""
    said = text(tables.machine(MACHINE))

    names = re.findall(r"^(fp64|fp32|L1|L2|L3|DRAM)  .*B?/s", said, re.MULTILINE)
    assert names == ["fp64", "fp32", "L1", "L2", "L3", "DRAM"]


def test_a_machine_says_what_it_is():
    """Host, caches, cautions; what is not known reads unknown."""
    said = squeezed(text(tables.machine(MACHINE)))

    assert "AMD EPYC 9R14 96-Core Processor (znver4)" in said
    assert "2 usable, clock 3.676 GHz, memory unknown, virtual: yes" in said
    assert "L3 unified 32 MiB 64 B unknown 2 CPUs" in said
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
    said = squeezed(text(tables.machine(replace(MACHINE, ceilings=(missing,)))))

    assert "L3 load 1 unknown" in said
    assert "no-memory: L3 load, 1 thread: the buffer does not fit; free some memory" in said


def test_few_samples_have_no_interval():
    """With five there is none at 95 %."""
    few = replace(stream("l1", "load", 1, 1e9, 1, 0), rate=Estimate([1e9] * 5))
    said = squeezed(text(tables.machine(replace(MACHINE, ceilings=(few,)))))

    assert "1 GB/s unknown (n < 6) 5" in said


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
    said = squeezed(text(tables.machine(replace(MACHINE, ceilings=(read,)))))

    assert "DRAM read load 1 16 GB/s published 1 16 GB/s" in said


def test_theory_is_shown_where_it_is_known():
    """58.8 of 60 is 98 %."""
    first = replace(MACHINE.ceilings[6], theoretical=60e9)
    said = text(tables.machine(replace(MACHINE, ceilings=(first,))))

    assert row(said, "fp64").endswith("98 %")


# A program.


def test_a_report_says_runtime_work_and_traffic():
    """10 ms, quartiles 3.5 thousandths away; 20 Mflop; 160 + 80 MB."""
    said = run_text(TRIAD)

    assert row(said, "T ") == (
        "T runtime 10 ms (quartiles 9.965 ms to 10.03 ms, n = 15), 1.00 cores busy"
    )
    assert row(said, "W ") == "W work 20 Mflop fp64: 100 % 256-bit; 100 % by FMA"
    assert row(said, "Q ") == "Q traffic DRAM read 160 MB, written 80 MB, pending 1 MB"
    assert row(said, "instructions") == (
        "instructions 50 M: 25 % load, 12 % store, 10 % branch, 5.0 % floating point"
    )


def test_a_report_says_intensity_performance_and_place():
    """20/240 flop/byte; 2 Gflop/s; reads of 160 MB at 32 GB/s allow 5 ms, so 4 Gflop/s."""
    said = run_text(TRIAD)

    assert row(said, "I ").startswith("I intensity DRAM 0.0833, L3 0.08, L2 0.0769, L1 0.0417")
    assert row(said, "P ").startswith("P performance 2 Gflop/s (quartiles ")
    assert row(said, "attainable") == "attainable 4 Gflop/s on 1 core of AMD EPYC 9R14"
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
    assert row(said, "P ") == "P performance none: no floating-point operation"
    assert row(said, "attainable") == "attainable 5 ms at best, on 1 core of AMD EPYC 9R14"


def test_undecoded_instructions_are_said():
    """500 k of 50 M."""
    said = squeezed(run_text(measurement(flop("fp64", 1_000_000), undecoded=500_000)))

    assert "undecoded 1.0 % of the instructions: their work and bytes are unknown" in said


def test_a_report_without_a_machine_still_says_what_was_seen():
    """No roof is made up."""
    said = text(tables.run(TRIAD, None, None))

    assert "20 Mflop" in said
    assert "unknown: no machine to bound it with" in said


def test_functions_show_their_shares():
    """16 of 20 Mflop, 30 of 50 M instructions, 225 of 240 MB."""
    said = run_text(PROFILED)

    assert row(said, "triad ") == "triad triad 80 % 60 % 94 %"
    assert row(said, "main ") == "main triad 0 % 20 % 0.4 %"


def test_functions_beyond_the_table_are_summed_in_a_row():
    """Two of three: 4 of 20 Mflop, 20 of 50 M instructions, 15 of 240 MB. None is hidden."""
    placement = place(PROFILED, MACHINE)
    said = text(tables.run(PROFILED, MACHINE, placement, most_functions=1))

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
    return verdict(place(program, machine))


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


def test_the_verdict_below_every_roof_blames_none():
    """5 ms of traffic in 600 ms bound nothing."""
    first, _ = said_of(SORT)

    assert first.startswith("below every measured roof: 0.8 % of attainable under the nearest")
    assert "at best 120x faster" in first


def test_the_verdict_above_a_roof_doubts_the_figures():
    """5 ms of reads in 1 ms cannot be."""
    first, _ = said_of(measurement(flop("fp64", 20_000_000), runtime_s=0.001))

    assert first == (
        "5 times as fast as DRAM read bandwidth allows: a count or a ceiling is off, "
        "see the cautions"
    )


def test_the_verdict_at_the_roof_promises_nothing():
    """5 ms of 5."""
    first, _ = said_of(measurement(flop("fp64", 20_000_000), runtime_s=0.005))

    assert first.startswith("bound by DRAM read bandwidth: at its roof (100 % of attainable)")


def test_the_verdict_on_an_untimed_program_gives_the_least_time():
    """Two cores read 160 MB at 45 GB/s in 3.56 ms."""
    (only,) = said_of(UNTIMED)

    assert only.startswith("it needs 3.56 ms or more, which DRAM read bandwidth asks for")


def test_the_verdict_without_a_ceiling_claims_no_bound():
    """A machine of which nothing is known."""
    bare = replace(MACHINE, ceilings=())

    assert said_of(TRIAD, bare) == (
        "no roof applies: the machine has no ceiling for what the program asked for",
    )


def test_the_verdict_on_a_program_that_asks_for_nothing_claims_no_bound():
    """No flop and no byte, but it took time."""
    idle = measurement(dram=(0, 0, 0), levels=False, runtime_s=0.1)

    assert said_of(idle) == (
        "no roof applies: the program moved no byte and did no flop that was counted",
    )


def test_the_verdict_says_when_nothing_is_known_to_come_next():
    """Only one resource was asked for."""
    program = measurement(dram=(160_000_000, 80_000_000), levels=False, runtime_s=0.006)

    assert said_of(program)[1] == "no other roof is known that would bind it next"


# What was kept, and what works.


def test_records_are_listed():
    """Number, kind, date, machine, name, and what came of it."""
    kept = [
        Record(id=3, kind="machine", created="2026-11-21T03:00:00Z", name="zen4", machine_id=None),
        Record(
            id=14,
            kind="measurement",
            created="2026-11-21T03:05:00+00:00",
            name="triad [1000]",
            machine_id=3,
        ),
    ]
    said = text(tables.records(kept, {14: "50 % of DRAM roof"}))

    assert row(said, "3 ") == "3 machine 2026-11-21 03:00:00 zen4"
    assert row(said, "14 ") == (
        "14 measurement 2026-11-21 03:05:00 3 triad [1000] 50 % of DRAM roof"
    )


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
    said = text(tables.doctor(findings))

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
