"""Programs under the roof of their own mix and the issue rate; every number is worked out by hand.

One core at 1 GHz does 16 Gflop/s of 256-bit FMA and half of that by additions or products, alone or
together, a quarter of each in scalars, and half a scalar division a nanosecond; it starts six
instructions in each cycle and moves 8 GB/s at DRAM. Four cores do four times the work.
"""

from dataclasses import replace

import pytest
from chart_reading import lines_of, names_of
from core_inputs import ceiling, machine_of, measured
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Counts, FlopCount, Traffic
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.conclusion import conclude
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.draw_text import render
from ridgepoint.show.report import report
from ridgepoint.show.tables.run_table import run
from ridgepoint.show.verdict import verdict

RATES = {"fma": 16e9, "add": 8e9, "mul": 8e9, "mul+add": 8e9, "fma+add": 40e9 / 3}
STREAM = (Traffic(level="dram", read_bytes=8_000_000, write_bytes=0),)


def _machine(*more):
    bench = machine_of(
        *(
            ceiling("fp64", rate * share * threads, threads=threads, name=f"{operation} {width}")
            for operation, rate in RATES.items()
            for width, share in (("256-bit", 1), ("scalar", 1 / 4))
            for threads in (1, 4)
        ),
        ceiling("fp64", 0.5e9, name="div scalar"),
        ceiling("dram", 8e9),
        *more,
        cores=4,
    )
    return replace(bench, host=replace(bench.host, frequency_hz=1e9))


ISSUE = tuple(
    ceiling("issue", 6e9 * threads, threads=threads, name="any instruction") for threads in (1, 4)
)
BENCH = _machine(*ISSUE)


def flop(gigaflop, operation, width=256):
    """Return so many Gflop of one kind."""
    return FlopCount(
        precision="fp64",
        width_bits=width,
        fma=operation == "fma",
        flop=round(gigaflop * 1e9),
        instructions=round(gigaflop * 1e9) // 8,
        operation=operation,
    )


def counts(*kinds, instructions=10**9):
    """Return counts of these flop among so many instructions."""
    return Counts(
        instructions=instructions,
        branches=0,
        loads=0,
        stores=0,
        load_bytes=0,
        store_bytes=0,
        flop=kinds,
    )


def program(*kinds, runtime_s=1.0, cpu_s=None, instructions=10**9, traffic=STREAM):
    """Return a program of these flop."""
    done = counts(*kinds, instructions=instructions)
    cpu = None if cpu_s is None else (cpu_s,)
    return measured(counts=done, traffic=traffic, wall_s=(runtime_s,), cpu_s=cpu)


def text(measurement, machine=BENCH):
    """Return the report, in single spaces."""
    console = Console(width=300, force_terminal=False)
    with console.capture() as said:
        console.print(run(analyse(measurement, machine)))
    return " ".join(said.get().split())


def test_a_program_of_additions_has_their_roof_beside_the_machines():
    """7.2 Gflop in a second are 90 % of what additions allow, and 45 % of the machine's roof."""
    done = program(flop(7.2, "add"))
    placement = place(done, BENCH)

    assert placement.attainable_per_s == pytest.approx(16e9)
    assert placement.efficiency == pytest.approx(0.45)
    assert placement.mix.attainable_per_s == pytest.approx(8e9)
    assert placement.mix.efficiency == pytest.approx(0.9)
    assert (placement.mix.limiter, placement.mix.bound.binding) == ("compute", "additions")


def test_the_report_says_both_roofs_and_what_bounds_it():
    """The machine's stays the headline; the verdict is of the mix, which explains the time."""
    done = program(flop(7.2, "add"))
    said = text(done)

    assert "attainable 16 Gflop/s on 1 core of" in said
    assert "efficiency 45 %" in said
    assert "own mix 8 Gflop/s of its own mix: 100 % 256-bit additions; efficiency 90 %" in said
    assert verdict(conclude(place(done, BENCH), done.counted.counts)) == (
        "bound by its own mix (100 % 256-bit additions): 90 % of what that allows",
        "with other instructions, the machine's roof would allow 2.2x its speed",
    )


def test_a_mix_that_reaches_the_machines_roof_is_not_said_twice():
    """All of it is 256-bit FMA, as the machine's roof is."""
    done = program(flop(14.4, "fma"))

    assert "own mix" not in text(done)
    assert verdict(conclude(place(done, BENCH), done.counted.counts))[0].startswith(
        "bound by peak fp64 performance: 90 % of attainable"
    )


def test_the_divider_is_named():
    """0.4 Gflop of divisions take 0.8 s; 4 Gflop of multiply-adds hide behind them."""
    placement = place(program(flop(0.4, "div", 0), flop(4, "fma")), BENCH)

    assert placement.mix.bound.binding == "divider"
    assert verdict(conclude(placement, counts(flop(0.4, "div", 0), flop(4, "fma"))))[0] == (
        "bound by its own mix (100 % scalar divisions): 80 % of what that allows"
    )


def test_memory_bounds_a_mix_as_it_bounds_the_machine():
    """7.2 GB at 8 GB/s take 0.9 s, whatever the additions are: one roof, said once."""
    moved = (Traffic(level="dram", read_bytes=7_200_000_000, write_bytes=0),)
    done = program(flop(0.8, "add"), traffic=moved)
    placement = place(done, BENCH)

    assert placement.mix.limiter == "dram"
    assert placement.mix.efficiency == pytest.approx(placement.efficiency)
    assert "own mix" not in text(done)


def test_instructions_per_cycle_stand_beside_their_number():
    """1.5e9 instructions in half a second of CPU time at 1 GHz are 3 per cycle, of 6."""
    done = program(flop(0.1, "add"), cpu_s=0.5, instructions=1_500_000_000)
    placement = place(done, BENCH)

    assert placement.issue.per_cycle == pytest.approx(3.0)
    assert placement.issue.most_per_cycle == pytest.approx(6.0)
    assert placement.issue.time_s == pytest.approx(0.25)
    assert "instructions 1.5 G, 3 per cycle of 6 at most" in text(done)


def test_the_issue_rate_explains_a_program_that_does_nothing_else():
    """5.4e9 instructions in a second are 90 % of 6e9."""
    done = program(flop(0.1, "add"), instructions=5_400_000_000)

    assert verdict(conclude(place(done, BENCH), done.counted.counts)) == (
        "bound by the issue rate: 90 % of the instructions that 1 core can start in its time",
        "only fewer instructions for the same work make it faster, such as wider vectors",
    )


def test_a_program_that_nothing_explains_says_how_far_the_issue_rate_is():
    """One instruction per cycle."""
    done = program(flop(0.1, "add"))

    assert "it executes 1 of the 6 instructions per cycle that a core can start" in verdict(
        conclude(place(done, BENCH), done.counted.counts)
    )


def test_without_its_ceiling_or_its_clock_the_issue_rate_is_unknown():
    """Older records have no such ceiling; the clock of another machine says nothing."""
    done = program(flop(1, "add"))
    older = place(done, _machine())
    elsewhere = place(replace(done, context=replace(done.context, cpu="other")), BENCH)

    assert (older.issue.per_cycle, older.issue.most_per_cycle) == (pytest.approx(1.0), None)
    assert (older.issue.time_s, older.issue.efficiency) == (None, None)
    assert elsewhere.issue.per_cycle is None


def test_what_a_native_run_may_do_otherwise_gives_no_roof():
    """Libraries that choose narrower vectors when counted are faster than these in a native run."""
    done = program(flop(7.2, "add"))
    doubt = Caution("avx2-path", "seen", "remedy")
    doubted = replace(done, counted=replace(done.counted, cautions=(doubt,)))
    placement = place(doubted, BENCH)

    assert placement.mix.bound is None
    assert placement.mix.efficiency is None
    assert "own mix unknown: " in text(doubted)


def test_a_program_above_the_roof_of_its_mix_gets_a_caution():
    """8.8 Gflop/s of additions where 8 are the most that was measured: a ceiling is too low."""
    done = program(flop(8.8, "add"))
    placement = place(done, BENCH)

    assert [c.code for c in placement.cautions if c.code.startswith("above")] == ["above-mix"]
    assert verdict(conclude(placement, done.counted.counts))[0].startswith(
        "1.1 times as fast as its own mix (100 % 256-bit additions) allows"
    )


def test_the_document_holds_the_mix_beside_the_machines_roof():
    """Keys that were there keep their meaning."""
    done = program(flop(7.2, "add"), flop(0.072, "fma"))
    document = report(analyse(done, BENCH))
    own = document["bound"]["mix"]

    assert document["bound"]["attainable_flop_per_s"] == pytest.approx(16e9)
    assert own["attainable_flop_per_s"] == pytest.approx(7.272e9 / 0.9045)
    assert own["binding"] == "pipes"
    assert own["constraints_s"]["additions"] == pytest.approx(0.9)
    assert own["kinds"][0] == {
        "precision": "fp64",
        "width_bits": 256,
        "operation": "add",
        "flop": 7.2e9,
        "share_of_binding": pytest.approx(0.9 / 0.9045),
    }
    assert not own["unknown"]
    assert document["issue"]["per_cycle"] == pytest.approx(1.0)


def test_the_roof_of_the_mix_is_drawn_with_its_name():
    """At 8 Gflop/s, from where DRAM allows as much: 1 flop/byte."""
    figure = roofline_chart(BENCH, [analyse(program(flop(7.2, "add")), BENCH)])
    (own,) = lines_of(figure, "own")

    assert own.name == "own mix 8 Gflop/s"
    assert own.places[0] == (pytest.approx(1.0), pytest.approx(8e9))
    assert "own mix 8 Gflop/s" in render(figure, color=False)


def test_several_programs_have_a_roof_each_with_their_letters():
    """The second is of multiply-adds alone, whose roof is the machine's."""
    programs = [program(flop(7.2, "add")), program(flop(9, "fma")), program(flop(3, "mul", 0))]
    figure = roofline_chart(BENCH, [analyse(one, BENCH) for one in programs])

    assert names_of(figure, "own") == ["own mix of A 8 Gflop/s", "own mix of C 2 Gflop/s"]
