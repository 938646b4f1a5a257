"""Functions with their times: as points of a roofline, in the report's table, in its JSON.

The triad takes 10 ms on one core; DRAM reads at 32 GB/s on one core.
"""

import io
import json
from dataclasses import replace

import pytest
from chart_reading import marks_of, parts_of
from figure_inputs import FUNCTIONS, MACHINE, PROFILED, SORT, UNTIMED, with_counted
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.parts import function_alone
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.draw_mpl import draw
from ridgepoint.show.draw_text import render
from ridgepoint.show.report import report
from ridgepoint.show.tables import run_table

TRIAD, RESIZE = FUNCTIONS[:2]


def timed(name, time_s, error, *, path="/opt/bin/triad", cores=1.0):
    """Return the time of a function that is known to some share of it."""
    ends = (time_s * (1 - error), time_s * (1 + error))
    return TimedFunction(
        name=name,
        object=path,
        samples=100,
        runtime_s=Estimate([time_s], interval=ends),
        cpu_s=time_s * cores,
    )


def sampled(*functions, cautions=()):
    """Return samples of three runs."""
    return Sampled(
        runs=3,
        period_s=973_001e-9,
        samples=4321,
        user_s=0.0095,
        system_s=0.0005,
        functions=functions,
        cautions=cautions,
    )


TIMES = (
    timed("triad", 0.008, 0.05),
    timed(RESIZE.name, 0.001, 0.3),
    timed("avx512", 0.0005, 0.1, path="/lib/libfast.so"),
    timed(None, 0.0001, 0.5, path="/lib/libstripped.so"),
)
SAMPLED = replace(PROFILED, sampled=sampled(*TIMES))


def figure_of(program):
    """Return the figure of a program on the machine."""
    return roofline_chart(MACHINE, [analyse(program, MACHINE)])


def test_a_function_stands_at_its_own_work_over_traffic_and_time():
    """16 Mflop over 225 MB in 8 ms, known to 5 %: 2 Gflop/s, 1.905 to 2.105."""
    (mark,) = marks_of(figure_of(SAMPLED), "triad")

    assert mark.at == pytest.approx((16 / 225, 2e9))
    assert mark.y_interval == pytest.approx((16e6 / 0.0084, 16e6 / 0.0076))
    assert mark.summary.startswith("80 % of the time")


def test_a_function_whose_time_is_not_known_well_has_no_point_and_a_note():
    """A fifth is the limit, and resize has three tenths; what was not counted has no note."""
    (note,) = [note for note in figure_of(SAMPLED).notes if "function" in note]

    assert note.startswith("no point for function std::vector")
    assert "the time is not known to 20 %" in note


@pytest.mark.parametrize(("error", "drawn"), [(0.2, 1), (0.201, 0)])
def test_the_limit_of_a_point_is_a_fifth(error, drawn):
    """Half the 95 % interval over the time."""
    one = replace(PROFILED, sampled=sampled(timed("triad", 0.008, error)))

    assert len(parts_of(figure_of(one))) == drawn


def test_at_most_six_functions_are_drawn():
    """Of eight that are alike."""
    many = tuple(replace(TRIAD, name=f"stage{n}") for n in range(8))
    times = [timed(f"stage{n}", 0.001, 0.05) for n in range(8)]
    figure = figure_of(replace(with_counted(PROFILED, functions=many), sampled=sampled(*times)))

    assert len(parts_of(figure)) == 6
    assert "2 more functions are not drawn: the 6 that took most time are" in figure.notes


def test_the_cores_of_a_function_are_those_that_were_in_it():
    """Twice as much CPU time as its part of the runtime."""
    alone = function_alone(PROFILED, TRIAD, timed("triad", 0.004, 0.05, cores=2.0))

    assert place(alone, MACHINE).cores == 2.0
    assert alone.counted.selected == "function 'triad'"


def test_the_key_says_what_discs_and_bars_are():
    """In the picture; the text has names."""
    said = " ".join(text.get_text() for text in draw(figure_of(SAMPLED)).texts)

    assert "pale discs: functions, with an area by their share of the time" in said
    assert "of functions: 95 % intervals" in said
    assert "triad: 80 % of the time" in render(figure_of(SAMPLED), width=80, height=24, color=False)


def rows(program, machine=MACHINE):
    """Return the rows of the table of times, squeezed, with the head and the line below."""
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=False)
    console.print(run_table.run(analyse(program, machine)))
    lines = file.getvalue().splitlines()
    head = next(n for n, line in enumerate(lines) if line.split()[:2] == ["function", "time"])
    end = next(n for n, line in enumerate(lines) if n > head and not line.strip())
    return [" ".join(line.split()) for line in lines[head:end]]


def test_the_table_shows_time_intensity_performance_and_limit():
    """150 MB of reads at 32 GB/s take 4.69 ms, of 8: 59 %, at 3.41 Gflop/s."""
    said = rows(SAMPLED)

    assert said[0] == "function time flop/byte flop/s attainable limiter"
    assert said[1] == "triad 80 % ±4.0 0.0711 2 G 3.41 G DRAM read, 59 %"
    assert said[2].startswith("std::vector")
    assert "10 % ±3.0" in said[2]
    assert "unknown" in said[2]
    assert said[3] == "avx512 5.0 % ±0.5 unknown unknown"
    assert said[4] == "in libstripped.so 1.0 % ±0.5 unknown unknown"
    assert said[5] == "kernel, waiting 4.0 %"
    assert " ".join(said[6:]) == (
        "4321 samples of 3 runs, one in 973 µs of CPU time in user mode; ± 95 %; 500 µs of each "
        "run in the kernel"
    )


def test_the_table_without_a_machine_shows_times_and_intensities():
    """There is nothing to bound it with; 16 Mflop over 225 MB need no machine."""
    assert rows(SAMPLED, None)[1] == "triad 80 % ±4.0 0.0711"


def test_functions_that_hardly_take_time_share_a_row():
    """Two of 10 us."""
    short = (timed("a", 1e-5, 0.9), timed("b", 1e-5, 0.9, path=None))
    said = rows(replace(PROFILED, sampled=sampled(TIMES[0], *short)))

    assert said[2] == "2 more 0.2 %"


@pytest.mark.parametrize("program", [UNTIMED, SORT])
def test_without_samples_there_is_no_table_of_times(program):
    """Nor a point."""
    file = io.StringIO()
    Console(file=file, width=80).print(run_table.run(analyse(program, MACHINE)))

    assert "kernel, waiting" not in file.getvalue()
    assert not parts_of(figure_of(program))


def test_samples_are_kept_and_come_back():
    """As everything of a measurement."""
    doubted = replace(SAMPLED, sampled=sampled(*TIMES, cautions=(Caution("a", "b", "c"),)))

    assert decode(encode(doubted), Measurement, origin="a test") == doubted
    assert Caution("a", "b", "c") in doubted.all_cautions


def test_the_report_tells_times_of_functions():
    """Of those that were counted beside their counts, and of all together."""
    told = json.loads(json.dumps(report(analyse(SAMPLED, None))))
    bare = json.loads(json.dumps(report(analyse(PROFILED, None))))

    assert told["functions"][0]["runtime_s"]["interval"] == pytest.approx([0.0076, 0.0084])
    assert told["functions"][-1]["runtime_s"] is None
    assert [one["name"] for one in told["sampled"]["functions"]][2:] == ["avx512", None]
    assert told["sampled"]["samples"] == 4321
    assert bare["sampled"] is None
    assert bare["functions"][0]["runtime_s"] is None
