"""The report's tables of regions, source lines and other caches, and what it says of a part."""

import io
import re
from dataclasses import replace

import pytest
from chart_reading import notes_of, summary_of
from figure_inputs import (
    CACHES,
    FUNCTIONS,
    INNER,
    MACHINE,
    MARKED,
    MATMUL,
    SETUP,
    SOLVE,
    SORT,
    TRIAD,
    UNTIMED,
    counts,
    flop,
    region,
    timed,
    traffic,
    with_counted,
)
from rich.console import Console

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Alternative
from ridgepoint.core.counts import FunctionCounts, LineCounts
from ridgepoint.core.geometry import parse_geometry
from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.models.analysis import analyse
from ridgepoint.show.charts.roofline import roofline_chart
from ridgepoint.show.symbols import shown_symbol
from ridgepoint.show.tables import run_table


def run_text(program, machine=MACHINE, width=80):
    """Return the report of a program on a machine."""
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=False).print(
        run_table.run(analyse(program, machine))
    )
    return file.getvalue()


def rows(said, head):
    """Return the rows of the table whose first column is called so, squeezed, with the head."""
    lines = said.splitlines()
    first = next(index for index, line in enumerate(lines) if line.split("  ")[0] == head)
    table = lines[first : first + 40]
    end = next((n for n, line in enumerate(table) if not line.strip()), len(table))
    return [" ".join(line.split()) for line in table[:end]]


# Regions of the triad.


def test_regions_show_what_they_did():
    """16 Mflop over 192 MB; half of those in no traffic; nothing to have an intensity of."""
    said = rows(run_text(MARKED), "region")

    assert said == [
        "region work instr. DRAM flop/byte",
        "setup 0 flop 10 % 32 MB -",
        "solve 16 Mflop 80 % 192 MB 0.0833",
        "sweep 8 Mflop 40 % 0 B inf.",
        "a region includes the counts of the regions inside it",
    ]


def test_regions_with_times_show_how_near_their_roofs_are():
    """The reads of 128 MB at 32 GB/s take 4 ms of 8; the peak allows 8 Mflop in 0.136 ms of 4."""
    times = (timed("solve", 0.008), timed("sweep", 0.004), timed("setup", None, 0.001))
    said = rows(run_text(replace(MARKED, timed_regions=times)), "region")

    assert said[0] == "region time interval work instr. DRAM flop/byte of roof"
    assert said[1] == "setup unknown unknown 0 flop 10 % 32 MB - unknown"
    assert said[2] == "solve 8 ms -0 +0 % 16 Mflop 80 % 192 MB 0.0833 50 %"
    assert said[3] == "sweep 4 ms -0 +0 % 8 Mflop 40 % 0 B inf. 3.4 %"


def test_the_roofs_of_a_region_are_those_of_the_cores_that_it_kept_busy():
    """Two cores read 128 MB at 45 GB/s in 2.84 ms of 8."""
    two = replace(MARKED, timed_regions=(timed("solve", 0.008, 0.016),))

    assert rows(run_text(two), "region")[2].endswith("0.0833 36 %")


def test_regions_without_a_machine_have_times_and_no_roof():
    """Nothing to be near to."""
    said = rows(run_text(replace(MARKED, timed_regions=(timed("solve", 0.008),)), None), "region")

    assert said[0] == "region time interval work instr. DRAM flop/byte"


def test_a_high_intensity_is_written_out():
    """8 Mflop over 320 byte."""
    inner = replace(INNER, traffic=(traffic("dram", 320, 0),))

    assert rows(run_text(with_counted(TRIAD, regions=(inner,))), "region")[1].endswith(" 25000")


def depths(*regions):
    """Return the names of regions as the table indents them."""
    lines = run_text(with_counted(TRIAD, regions=regions)).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("region "))
    table = lines[first + 1 : first + 1 + len(regions)]
    return [re.match(r" *\w+", line)[0] for line in table]


def test_a_region_stands_below_the_one_that_it_is_in():
    """Though another was entered before it for the first time."""
    assert depths(region("a"), region("b"), region("c", "a"), region("d", "a", "c")) == [
        "a", "  c", "    d", "b",
    ]  # fmt: skip


def test_a_region_entered_in_several_places_stands_below_none():
    """In a, and in b."""
    assert depths(region("a"), region("b"), region("c", "a", "b")) == ["a", "b", "c"]


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_name_is_cut_and_no_row_is_folded(width):
    """Every amount stays, on one row each."""
    long = replace(SOLVE, name="assemble the matrix of the Laplace operator on every level")
    program = with_counted(TRIAD, regions=(long, replace(SETUP, name="\x1b[1m")))
    said = rows(
        run_text(replace(program, timed_regions=(timed(long.name, 0.008),)), width=width), "region"
    )

    assert len(said) == 3
    assert said[1].startswith("assemble the")
    assert said[1].endswith("8 ms -0 +0 % 16 Mflop 80 % 192 MB 0.0833 50 %")
    assert said[2].startswith("?[1m")


# Lines.


def line(number, work, instructions, read, write, source="/src/triad.c"):
    """Return the counts of a line."""
    return LineCounts(
        source=source,
        line=number,
        counts=counts(*([flop("fp64", work)] if work else []), instructions=instructions),
        traffic=(traffic("dram", read, write),),
    )


def lined(program, *lines):
    """Return a program whose first function has these lines."""
    first = replace(FUNCTIONS[0], lines=lines)
    return with_counted(program, functions=(first, *FUNCTIONS[1:]))


COPIES = line(12, 0, 5_000_000, 120_000_000, 60_000_000)
COMPUTES = line(7, 18_000_000, 10_000_000, 30_000_000, 18_000_000)
COUNTS = line(9, 1_000_000, 30_000_000, 0, 0)


def test_lines_of_a_program_bound_by_memory_are_ranked_by_its_traffic():
    """180 and 48 of 240 MB; a line of none is left out."""
    said = rows(run_text(lined(TRIAD, COMPUTES, COUNTS, COPIES)), "line")

    assert said == [
        "line function of DRAM work DRAM",
        "triad.c:12 triad 75 % 0 flop 180 MB",
        "triad.c:7 triad 20 % 18 Mflop 48 MB",
    ]


def test_lines_of_a_program_bound_by_its_peak_are_ranked_by_work():
    """1002 and 501.5 of 2004 Mflop."""
    lines = (line(3, 501_000_000, 1000, 0, 0), line(4, 1_002_000_000, 1000, 0, 0))
    said = rows(run_text(lined(MATMUL, *lines)), "line")

    assert said == [
        "line function of work work DRAM",
        "triad.c:4 triad 50 % 1.002 Gflop 0 B",
        "triad.c:3 triad 25 % 501 Mflop 0 B",
    ]


@pytest.mark.parametrize("program", [SORT, replace(TRIAD, timed=SORT.timed)])
def test_lines_of_a_program_that_no_roof_explains_are_ranked_by_instructions(program):
    """30, 10 and 5 of 50 M."""
    said = rows(run_text(lined(program, COPIES, COMPUTES, COUNTS)), "line")

    assert [row.split()[0] for row in said[1:]] == ["triad.c:9", "triad.c:7", "triad.c:12"]
    assert said[1].split()[2:4] == ["60", "%"]


def test_lines_of_an_untimed_program_are_ranked_by_what_would_bind_it():
    """Reads of memory."""
    assert rows(run_text(lined(UNTIMED, COMPUTES, COPIES)), "line")[1].startswith("triad.c:12")


def test_at_most_ten_lines_are_shown():
    """Of twelve with 5 % each."""
    many = [line(number, 1_000_000, 10, 12_000_000, 0) for number in range(1, 13)]

    assert len(rows(run_text(lined(TRIAD, *many)), "line")) == 1 + 10


def test_without_lines_there_is_no_table_of_them():
    """Nor where none does a hundredth of anything."""
    small = lined(TRIAD, line(3, 1, 1, 1, 0))

    assert "\nline " not in run_text(small)
    assert "\nline " not in run_text(with_counted(TRIAD, functions=FUNCTIONS))


def test_files_of_one_name_are_told_apart_by_their_folders():
    """And a long name keeps its end, and its line."""
    lines = (
        line(1, 0, 1, 90_000_000, 0, "/src/a/main.c"),
        line(2, 0, 1, 80_000_000, 0, "/src/b/main.c"),
        line(3456, 0, 1, 70_000_000, 0, "/src/an_implementation_of_everything.hpp"),
    )
    said = rows(run_text(lined(TRIAD, *lines)), "line")

    assert [row.split()[0] for row in said[1:]] == [
        "a/main.c:1", "b/main.c:2", "…ation_of_everything.hpp:3456",
    ]  # fmt: skip


# Other caches. 240 MB bound the triad by 160 MB of reads at 32 GB/s: 5 ms.


def other(geometry, *parts):
    """Return the traffic on other caches."""
    return Alternative(caches=parse_geometry(geometry), traffic=parts)


def test_other_caches_are_compared_with_those_that_were_simulated():
    """Reads of 80 MB take 2.5 ms at memory; the 480 MB of L1 take 2.07; 320 at 32 GB/s 10."""
    program = with_counted(
        TRIAD,
        caches=CACHES,
        alternatives=(
            other("l1=32k:8,l2=1.25m:10", traffic("l1", 32, 16), traffic("dram", 80_000_000, 0)),
            other("l1=48k:12", traffic("dram", 320_000_000, 160_000_000)),
            other("l1=48k:12,l2=2m:16", traffic("dram", 320, None)),
        ),
    )
    said = rows(run_text(program), "caches (size:ways)")

    assert said == [
        "caches (size:ways) DRAM read written flop/byte at best traffic",
        "32k:8 1m:8 32m:? 160 MB 80 MB 0.0833 5 ms own",
        "32k:8 1.25m:10 80 MB 0 B 0.25 2.5 ms x 0.333",
        "48k:12 320 MB 160 MB 0.0417 10 ms x 2",
        "48k:12 2m:16 320 B unknown unknown 340 µs unknown",
    ]


def test_other_caches_of_a_program_without_work_have_no_intensity():
    """Nor a time without a machine."""
    program = with_counted(
        SORT, caches=CACHES, alternatives=(other("l1=48k:12", traffic("dram", 0, 0)),)
    )
    said = rows(run_text(program, None), "caches (size:ways)")

    assert said[0] == "caches (size:ways) DRAM read written traffic"
    assert said[2] == "48k:12 0 B 0 B x 0"


# What is said of a part.


def test_counts_of_a_part_of_the_run_are_the_first_thing_said():
    """Before the command."""
    said = run_text(with_counted(TRIAD, partial="it was ended after 60 s"))

    assert said.splitlines()[0].rstrip() == (
        "WARNING: counts of a part of the run only: it was ended after 60 s"
    )


def test_figures_say_what_they_are_of_and_that_it_is_a_part():
    """A picture travels without its report."""
    part = with_counted(TRIAD, partial="it was ended", selected="region 'solve'")
    figure = roofline_chart(MACHINE, [analyse(part, MACHINE)])

    assert summary_of(figure, "triad 1000000, only region 'solve': ")
    assert notes_of(figure) == ["counts of a part of the run only: it was ended"]


def test_what_was_counted_alone_is_said_below_the_command():
    """And nothing of the kind where all was counted."""
    said = run_text(with_counted(TRIAD, selected="region 'solve'"))

    assert (
        said.splitlines()[1].rstrip() == "only region 'solve': the rest of the program is left out"
    )
    assert "left out" not in run_text(TRIAD)


def test_working_sets_are_told_in_the_report():
    """Half of 240 MB saved from 2 MiB on."""
    curve = MissCurve(
        line_bytes=64,
        capacities_bytes=(64, 1 << 20, 1 << 21),
        read_bytes=(240_000_000, 240_000_000, 120_000_000),
        write_bytes=(0, 0, 0),
        pending_bytes=(0, 0, 0),
    )
    said = run_text(with_counted(TRIAD, caches=CACHES[:3], miss_curve=curve))

    assert "Working set: 2 MiB (120 MB less memory traffic once it fits)." in said


def test_a_doubt_that_is_had_twice_is_said_once():
    """As of two geometries."""
    doubt = Caution("cache-geometry", "no ways are known", "give them")
    said = run_text(with_counted(TRIAD, cautions=(doubt, doubt)))

    assert said.count("cache-geometry: ") == 1


@pytest.mark.parametrize("width", [80, 120])
def test_every_table_fits_the_terminal(width):
    """All of them at once, with long names."""
    long = "void kernels::scale<std::vector<double, std::allocator<double> > >(double)"
    functions = (
        FunctionCounts(
            name=long,
            object="/opt/lib/libeverything-that-there-is.so.6.0.25",
            counts=counts(flop("fp64", 19_000_000), instructions=50_000_000),
            traffic=(traffic("dram", 120_000_000, 60_000_000),),
            lines=(replace(COPIES, source=f"/src/{'x' * 40}.c"),),
        ),
    )
    program = with_counted(
        TRIAD,
        functions=functions,
        caches=CACHES,
        alternatives=(other("l1=100k:25,l2=1000k:25,l3=100m:25", *TRIAD.counted.traffic),),
        regions=(replace(SOLVE, name="r" * 60),),
    )
    said = run_text(replace(program, timed_regions=(timed("r" * 60, 0.008),)), width=width)

    assert max(len(row.rstrip()) for row in said.splitlines()) <= width
    assert len(rows(said, "caches (size:ways)")) == 3
    assert [len(rows(said, head)) for head in ("region", "line", "function")] == [2, 2, 2]
    assert rows(said, "function")[1].startswith("void kernels::scale<…>(…) libevery")


# Cautions.


def cautions(said):
    """Return the lines of the list of cautions."""
    lines = [line.rstrip() for line in said.splitlines()]
    return lines[lines.index("cautions") + 1 :]


def held_by(*paths):
    """Return functions whose code is in these files."""
    return tuple(
        FunctionCounts(name=f"f{n}", object=path, counts=counts()) for n, path in enumerate(paths)
    )


LIBRARIES = [f"/opt/env/lib/python3.13/site-packages/{name}/lib{name}.so" for name in "abcde"]


def test_files_in_cautions_stand_without_their_folders():
    """Where they were seen; a file that the program has not, and what to do, stay as they are."""
    doubt = Caution("wide", f"{', '.join(LIBRARIES[:2])} and /etc/x", f"look at {LIBRARIES[0]}")
    program = with_counted(TRIAD, functions=held_by(*LIBRARIES), cautions=(doubt,))

    assert cautions(run_text(program, width=120)) == [
        f"  wide: liba.so, libb.so and /etc/x; look at {LIBRARIES[0]}"
    ]


def test_of_many_files_in_a_caution_three_are_named():
    """And a name of 30 characters is cut to 28."""
    long = f"/opt/{'x' * 27}.so"
    doubt = Caution("wide", f"{', '.join([long, *LIBRARIES])} can", "wait")
    program = with_counted(TRIAD, functions=held_by(long, *LIBRARIES), cautions=(doubt,))

    assert cautions(run_text(program, width=120)) == [
        f"  wide: {'x' * 27}…, liba.so, libb.so and 3 more can; wait"
    ]


def test_a_file_whose_path_begins_another_is_not_taken_for_it():
    """As of python3 and python3.11."""
    paths = ("/usr/bin/python3", "/usr/bin/python3.11")
    doubt = Caution("wide", "/usr/bin/python3.11 can", "wait")
    program = with_counted(TRIAD, functions=held_by(*paths), cautions=(doubt,))

    assert cautions(run_text(program))[0] == "  wide: python3.11 can; wait"


def test_codes_of_cautions_stand_out():
    """What follows on other lines is indented deeper; no line passes the edge."""
    doubts = (Caution("one", "seen " * 30, "wait"), Caution("two", "seen", "wait"))
    lines = cautions(run_text(with_counted(TRIAD, cautions=doubts), width=60))

    assert [line[:5] for line in lines] == ["  one", "    s", "    s", "  two"]
    assert max(map(len, lines)) <= 60


def test_code_without_a_file_was_made_at_run_time_if_it_could_be_read():
    """Else nothing is known of it."""
    functions = (
        FunctionCounts(name="compiled", object=None, counts=counts(flop("fp64", 20_000_000))),
        FunctionCounts(name="hidden", object=None, counts=counts(undecoded=50_000_000)),
    )
    said = rows(run_text(with_counted(TRIAD, functions=functions)), "function")

    assert said[1].startswith("compiled made at run time 100 %")
    assert said[2].startswith("hidden unknown 0 %")


# Symbols, as binutils' c++filt writes them.


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("0x0000000000009ad0'2", "0x9ad0'2"),
        ("std::vector<double>::resize(int)", "std::vector<double>::resize(int)"),
        (
            "std::vector<double, std::allocator<double> >::resize(unsigned long)",
            "std::vector<…>::resize(…)",
        ),
        (
            "init_ufunc(_object*, int (*)(PyArrayMethod_Context_tag*, char* const*), void*)"
            " [clone .constprop.0]",
            "init_ufunc(…) [clone .constprop.0]",
        ),
        (
            "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
            "std::ostream& std::operator<< <…>(…)",
        ),
        (
            "(anonymous namespace)::functor_of_a_long_name<double>::operator()(int) const",
            "(anonymous namespace)::functor_of_a_long_name<…>::operator()(…) const",
        ),
        (
            "pointer_like_thing_of_a_library<int, double>::operator->() const",
            "pointer_like_thing_of_a_library<…>::operator->() const",
        ),
        ("a_c_name_that_is_longer_than_forty_characters", None),
        ("something_damaged<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<", None),
    ],
)
def test_long_symbols_keep_what_tells_them_apart(symbol, shown):
    """The name, without the types of arguments and templates; None: as it is."""
    assert shown_symbol(symbol) == (symbol if shown is None else shown)
