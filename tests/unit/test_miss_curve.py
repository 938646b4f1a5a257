"""Working sets, and the figure of memory traffic over the size of the cache."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from chart_reading import lines_of, names_of
from figure_inputs import CACHES, MACHINE, TRIAD, with_counted
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.miss_curve import MissCurve
from ridgepoint.models.caches.working_sets import WorkingSet, working_sets
from ridgepoint.show import draw_mpl, draw_text
from ridgepoint.show.charts.miss_curve import curve_sentences, miss_curve_chart

LINE = 64


def sizes(lines):
    """Return eight capacities per octave, in lines, from 16 lines to more than so many."""
    found = [8 << octave | step << octave for octave in range(1, 30) for step in range(8)]
    return [size for size in found if size < 2 * lines]


def lru_misses(trace, capacity):
    """Return misses and dirty evictions of an LRU cache, by playing every access."""
    lines, misses, evictions = {}, 0, 0
    for line, is_store in trace:
        dirty = lines.pop(line, None)
        if dirty is None:
            misses += 1
            if len(lines) == capacity:
                evictions += lines.pop(next(iter(lines)))
        lines[line] = bool(dirty) or is_store
    return misses, evictions, sum(lines.values())


def curve_of(trace, capacities):
    """Return the miss curve of a trace, by brute force."""
    rows = [lru_misses(trace, capacity) for capacity in capacities]
    read, written, pending = zip(*rows, strict=True)
    return MissCurve(
        line_bytes=LINE,
        capacities_bytes=tuple(LINE * c for c in capacities),
        read_bytes=tuple(LINE * n for n in read),
        write_bytes=tuple(LINE * n for n in written),
        pending_bytes=tuple(LINE * n for n in pending),
    )


def curve(rows, *, sampling=1):
    """Return a miss curve that only reads, from pairs of size and traffic."""
    capacities, read = zip(*rows, strict=True)
    none = (0,) * len(rows)
    return MissCurve(
        line_bytes=LINE,
        capacities_bytes=tuple(capacities),
        read_bytes=tuple(read),
        write_bytes=none,
        pending_bytes=none,
        sampling=sampling,
    )


def cyclic(lines, turns, *, store=False):
    """Return a trace that goes over so many lines again and again."""
    return [(line, store) for _ in range(turns) for line in range(lines)]


# Working sets.


def test_a_cyclic_scan_has_one_working_set_its_lines():
    """LRU keeps nothing of 128 lines in 120; from 128 on, nine of ten turns miss nothing."""
    found = working_sets(curve_of(cyclic(128, 10), sizes(128)))

    assert found == (WorkingSet(size_bytes=128 * LINE, saves_bytes=9 * 128 * LINE),)


def test_the_traffic_that_a_working_set_saves_counts_both_directions():
    """Ten turns of stores: 1280 lines read and written, sooner or later, or 128."""
    found = working_sets(curve_of(cyclic(128, 10, store=True), sizes(128)))

    assert found == (WorkingSet(size_bytes=128 * LINE, saves_bytes=2 * (1280 - 128) * LINE),)


def test_between_two_capacities_the_larger_one_holds_a_working_set():
    """100 lines fit in 104, the next capacity after 96."""
    (found,) = working_sets(curve_of(cyclic(100, 10), sizes(100)))

    assert found.size_bytes == 104 * LINE


def test_two_loops_have_two_working_sets():
    """The second begins with other lines, so that the first has no part in it."""
    second = [(1000 + line, store) for line, store in cyclic(256, 8)]
    found = working_sets(curve_of([*cyclic(32, 64), *second], sizes(256)))

    assert found == (
        WorkingSet(size_bytes=32 * LINE, saves_bytes=63 * 32 * LINE),
        WorkingSet(size_bytes=256 * LINE, saves_bytes=7 * 256 * LINE),
    )


@pytest.mark.parametrize("store", [False, True])
def test_a_stream_has_no_working_set(store):
    """No line is touched twice; what stays dirty in a large cache is written all the same."""
    assert working_sets(curve_of(cyclic(256, 1, store=store), sizes(256))) == ()


def test_traffic_that_falls_as_the_root_of_the_size_has_no_working_set():
    """As of a matrix product blocked for every size."""
    rows = [(LINE * c, round(1e9 / math.sqrt(c))) for c in sizes(1 << 20)]

    assert working_sets(curve(rows)) == ()


def test_random_accesses_fit_where_all_of_them_do():
    """Of N lines a cache of c keeps c / N: the fall steepens and ends at N."""
    n = 1 << 12
    rows = [(LINE * c, max(round(1e9 * (1 - c / n)), LINE * n)) for c in sizes(n)]

    (found,) = working_sets(curve(rows))
    assert found.size_bytes == LINE * n


def test_a_fall_of_less_than_a_quarter_is_none():
    """24 % at once is left out, 26 % is not."""
    rows = [(1024, 100_000), (1152, 76_000), (4096, 76_000), (4608, 56_000)]

    assert [found.size_bytes for found in working_sets(curve(rows))] == [4608]


def test_falls_close_together_are_one():
    """1152 and 1408 byte are 0.29 of an octave apart; 1152 and 1664 would be 0.53."""
    near = [(1024, 900), (1152, 600), (1280, 600), (1408, 300)]
    far = [(1024, 900), (1152, 600), (1536, 600), (1664, 300)]

    assert working_sets(curve(near)) == (WorkingSet(size_bytes=1408, saves_bytes=600),)
    assert [found.size_bytes for found in working_sets(curve(far))] == [1152, 1664]


def test_what_registers_hold_is_no_working_set():
    """A fall below 1 KiB is a loop's own lines."""
    assert working_sets(curve([(64, 10_000), (128, 1000), (2048, 1000)])) == ()


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
def test_working_sets_never_save_more_than_the_traffic(amounts):
    """And are sizes of the curve, ascending."""
    falling = sorted(amounts, reverse=True)
    rows = list(zip(sizes(1 << 20), falling, strict=False))
    found = working_sets(curve([(LINE * size, amount) for size, amount in rows]))

    assert sum(one.saves_bytes for one in found) <= falling[0]
    assert [one.size_bytes for one in found] == sorted({one.size_bytes for one in found})
    assert {one.size_bytes for one in found} <= {LINE * size for size, _ in rows}


# The figure. The literal machine has L1 32 KiB, L2 1 MiB, L3 32 MiB.

KIB, MIB = 1 << 10, 1 << 20
# 8 GB until 96 KiB fit, 2 GB until 24 MiB fit (1.9 from 16 MiB), then 1 MB read and left dirty.
TWO_SETS = MissCurve(
    line_bytes=LINE,
    capacities_bytes=(64, 88 * KIB, 96 * KIB, 16 * MIB, 22 * MIB, 24 * MIB),
    read_bytes=(6 * 10**9, 6 * 10**9, 15 * 10**8, 14 * 10**8, 14 * 10**8, 10**6),
    write_bytes=(2 * 10**9, 2 * 10**9, 5 * 10**8, 5 * 10**8, 5 * 10**8, 0),
    pending_bytes=(0, 0, 0, 0, 0, 10**6),
)
CURVED = with_counted(TRIAD, caches=CACHES, miss_curve=TWO_SETS)


def curved(miss_curve, **counted):
    """Return the measurement of a program with a miss curve."""
    return with_counted(CURVED, miss_curve=miss_curve, **counted)


def test_the_frame_holds_every_size_and_twice_the_last_cache():
    """From 1 KiB to 64 MiB; 1 MB to 8 GB in whole decades."""
    figure = miss_curve_chart(CURVED, MACHINE)

    assert figure.x.limits == (KIB, 64 * MIB)
    assert figure.y.limits == (1e6, 1e11)
    assert [text for _, text in figure.x.ticks] == [
        "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB",
    ]  # fmt: skip


def test_the_curve_is_a_staircase_that_holds_from_each_size_to_the_next():
    """Read and written together; the last amount holds up to the right edge."""
    figure = miss_curve_chart(CURVED, MACHINE)

    assert lines_of(figure, "curve")[0].places == (
        (KIB, 8e9), (88 * KIB, 8e9), (88 * KIB, 8e9), (96 * KIB, 8e9), (96 * KIB, 2e9),
        (16 * MIB, 2e9), (16 * MIB, 1.9e9), (22 * MIB, 1.9e9), (22 * MIB, 1.9e9),
        (24 * MIB, 1.9e9), (24 * MIB, 2e6), (64 * MIB, 2e6),
    )  # fmt: skip


def test_the_written_part_ends_where_nothing_is_written():
    """It leaves the frame downwards at 24 MiB, and is not drawn along its edge."""
    none = replace(TWO_SETS, pending_bytes=(0,) * 6)
    figure = miss_curve_chart(curved(none), MACHINE)
    size, amount = lines_of(figure, "second")[0].places[-1]

    assert size == 24 * MIB
    assert amount < figure.y.limits[0]


def test_the_caches_marked_are_those_that_were_simulated():
    """Data only; of a meter that simulates none, the machine's."""
    figure = miss_curve_chart(curved(TWO_SETS, caches=CACHES[:2]), MACHINE)
    unsimulated = miss_curve_chart(curved(TWO_SETS, caches=()), MACHINE)

    assert names_of(figure, "size") == ["L1 32 KiB"]
    assert names_of(unsimulated, "size") == ["L1 32 KiB", "L2 1 MiB", "L3 32 MiB"]


def test_the_title_says_what_was_selected_and_the_subtitle_what_was_followed():
    """One line in four."""
    some = replace(TWO_SETS, sampling=4)
    figure = miss_curve_chart(curved(some, selected="region 'solve'"), MACHINE)

    assert figure.title == "triad 1000000, only region 'solve'"
    assert "64 B lines; one line in 4 followed; lines that are dirty" in figure.subtitle


def test_a_curve_of_a_part_of_the_run_says_so_first():
    """Before its sentences."""
    figure = miss_curve_chart(curved(TWO_SETS, partial="it was ended"), MACHINE)

    assert figure.notes[0] == "counts of a part of the run only: it was ended"
    assert figure.notes[1:] == curve_sentences(CURVED, MACHINE)


# Sentences.


def test_working_sets_are_named_with_what_they_save():
    """8 - 2 GB and 1.9 GB - 2 MB."""
    first, _ = curve_sentences(CURVED, MACHINE)

    assert first == (
        "working sets: 96 KiB (6 GB less memory traffic once it fits), 24 MiB (1.9 GB less)"
    )


@pytest.mark.parametrize(
    ("last_bytes", "said"),
    [
        (
            16 * MIB,
            "a cache twice as large as L3 (16 MiB) would save 100 % of the memory traffic; one "
            "half as large would move 5.3 % more",
        ),
        (
            12 * MIB,
            "a cache twice as large as L3 (12 MiB) would save 100 % of the memory traffic; one "
            "half as large would move as much",
        ),
        (
            8 * MIB,
            "a cache twice as large as L3 (8 MiB) would save 5.0 % of the memory traffic; one "
            "half as large would move as much",
        ),
        (
            128 * KIB,
            "a cache twice as large as L3 (128 KiB) would save nothing; one half as large would "
            "move 4 times as much",
        ),
        (4 * MIB, "a cache half as large as L3 (4 MiB), or twice, would move as many bytes"),
        (64, "nothing is known about caches half as large as L3 (64 B)"),
    ],
)
def test_another_last_cache_is_judged(last_bytes, said):
    """From the rows at half its size, its own and twice that."""
    caches = (replace(CACHES[-1], size_bytes=last_bytes),)

    assert curve_sentences(curved(TWO_SETS, caches=caches), MACHINE)[1] == said


def test_a_curve_without_working_sets_says_so():
    """A stream."""
    flat = curve([(64, 10**9), (64 * MIB, 10**9)])

    assert curve_sentences(curved(flat), MACHINE)[0].startswith("no working set stands out")


def test_without_any_cache_only_the_working_sets_are_told():
    """No machine, none simulated."""
    assert len(curve_sentences(curved(TWO_SETS, caches=()), None)) == 1


# Drawings.

EDGE_CASES = {
    "one row": curve([(64, 10**6)]),
    "nothing moved": curve([(64, 0), (2048, 0)]),
    "ends at nothing": curve([(64, 10**6), (2048, 0)]),
    "large sizes only": curve([(4 * MIB, 10**9), (8 * MIB, 10**6)]),
    "a power of ten": curve([(64, 10**6), (2048, 10**6)]),
}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("rows", [TWO_SETS, *EDGE_CASES.values()], ids=["two sets", *EDGE_CASES])
def test_text_fits_the_width(width, ascii, rows):
    """No line is longer than asked."""
    figure = miss_curve_chart(curved(rows), MACHINE)
    text = draw_text.render(figure, width=width, color=False, ascii=ascii)

    assert max(map(len, text.splitlines())) <= width
    assert text.isascii() or not ascii


def plane_of(text, *, rows, columns):
    """Return the rows of the plane alone, right of its axis."""
    lines = text.splitlines()
    first = lines.index("Memory traffic [B]") + 1
    return [line[9:].ljust(columns) for line in lines[first : first + rows]]


def test_text_marks_caches_and_working_sets_where_they_are():
    """Of 16 octaves from 1 KiB: L2 is at 10, 96 KiB at log2(96) = 6.585, its 2 GB at 0.660."""
    figure = miss_curve_chart(CURVED, MACHINE)
    text = draw_text.render(figure, width=169, height=53, color=False, ascii=True)
    plane = plane_of(text, rows=50, columns=160)
    (first, second) = [
        (column / 160, 1 - row / 50)
        for row, line in enumerate(plane)
        for column, mark in enumerate(line)
        if mark == "*"
    ]

    assert plane[0].index("L2") == pytest.approx(100, abs=2)
    assert first == pytest.approx((6.585 / 16, (math.log10(2e9) - 6) / 5), abs=0.03)
    assert second == pytest.approx((math.log2(24 * 1024) / 16, math.log10(2) / 5), abs=0.03)
    assert all(f"{name}" in plane[0] for name in ("L1 32 KiB", "L2 1 MiB", "L3 32 MiB"))


def test_the_upright_lines_are_drawn_in_text():
    """Dashes of a line that rises follow the rows, not its one column."""
    figure = miss_curve_chart(CURVED, MACHINE)
    text = draw_text.render(figure, width=80, height=43, color=False, ascii=True)
    plane = plane_of(text, rows=40, columns=80)
    column = plane[0].index("L2") - 1

    assert [line[column] for line in plane].count(":") >= 20 - 2


def test_colour_only_where_asked():
    """Escapes spoil a pipe."""
    figure = miss_curve_chart(CURVED, MACHINE)
    coloured = draw_text.render(figure, color=True)

    plain = draw_text.render(figure, color=False)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


@pytest.mark.parametrize("rows", [TWO_SETS, *EDGE_CASES.values()], ids=["two sets", *EDGE_CASES])
@pytest.mark.parametrize("width_in", [3.5, 7.0])
def test_every_miss_curve_is_drawn(rows, width_in, tmp_path):
    """Text stays text; names of caches and working sets are in it."""
    figure = miss_curve_chart(curved(rows), MACHINE)
    draw_mpl.save(figure, tmp_path / "a.svg", width_in=width_in)
    said = " ".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())

    wanted = [*names_of(figure, "size"), *(mark.label.text for mark in figure.marks)]
    assert [label for label in wanted if label not in said] == []


def test_no_label_of_a_miss_curve_lies_on_another(tmp_path):
    """As drawn, upright ones and those of working sets, L3 and 24 MiB side by side."""
    axes = draw_mpl.draw(miss_curve_chart(CURVED, MACHINE))
    axes.figure.savefig(tmp_path / "any.png", dpi=100)
    boxes = [text.get_window_extent() for text in axes.texts if text.get_bbox_patch() is not None]

    assert len(boxes) == 3 + 2
    assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]


def test_drawing_on_given_axes_returns_them():
    """One panel of several, limits and labels as computed."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 4)).add_axes((0.1, 0.4, 0.8, 0.5))

    assert draw_mpl.draw(miss_curve_chart(CURVED, MACHINE), axes) is axes
    assert axes.get_xlim() == (KIB, 64 * MIB)
    assert axes.get_ylabel() == "Memory traffic [B]"


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_the_same_curve_makes_the_same_bytes(ending, tmp_path):
    """No date, no random name."""
    for name in ("first", "second"):
        draw_mpl.save(miss_curve_chart(CURVED, MACHINE), tmp_path / f"{name}{ending}")

    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("first", "second"))
    assert first == second
