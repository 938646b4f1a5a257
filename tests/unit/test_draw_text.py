"""Charts as text: what stands where, by hand, and that it always fits."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgepoint.show.axes import decade_ticks, linear_ticks, plain_number
from ridgepoint.show.chart import Area, Axis, Bar, Chart, Entry, Label, Line, Mark, Page
from ridgepoint.show.draw_text import render

LOG = Axis(label="x [u]", limits=(0.01, 100.0), ticks=decade_ticks((0.01, 100.0), plain_number))
SHARE = Axis(
    label="share",
    limits=(0.0, 1.0),
    ticks=linear_ticks((0.0, 1.0), plain_number),
    scale="linear",
)
EMPTY = Chart(title="A title", subtitle="and more", x=LOG, y=SHARE)

texts = st.text("abcdef 12/µ…", max_size=30)
labels = st.none() | st.builds(
    Label, text=texts.filter(str.strip), short=texts, rank=st.integers(0, 3)
)
shares = st.floats(-0.5, 1.5)
places = st.tuples(shares.map(lambda share: 10.0 ** (4 * share - 2)), shares)
kinds = st.sampled_from(["roof", "lower", "curve", "stem", "points", "size", "iso"])
lines = st.builds(
    Line,
    kind=kinds,
    places=st.lists(places, min_size=2, max_size=5).map(tuple),
    shape=st.sampled_from([None, "square"]),
    label=labels,
)
bars = st.builds(Bar, row=shares, begin=places.map(min), end=places.map(max), ink=st.just(0))
charts = st.builds(
    Chart,
    title=texts,
    subtitle=texts,
    x=st.just(LOG),
    y=st.just(SHARE),
    right=st.sampled_from([None, SHARE]),
    areas=st.lists(
        st.builds(
            Area,
            corners=st.lists(places, min_size=3, max_size=5).map(tuple),
            ink=st.none(),
            label=labels,
        ),
        max_size=2,
    ).map(tuple),
    lines=st.lists(lines, max_size=4).map(tuple),
    bars=st.lists(bars, max_size=2).map(tuple),
    marks=st.lists(
        st.builds(Mark, at=places, label=labels, name=texts, glyph=st.sampled_from(["", "A?"])),
        max_size=4,
    ).map(tuple),
    key=st.lists(
        st.builds(
            Entry,
            text=texts,
            ink=st.sampled_from([None, 0, "alarm"]),
            line=st.none() | kinds,
            shape=st.sampled_from([None, "circle", "cap"]),
            is_part=st.booleans(),
            is_abreast=st.booleans(),
            glyph=st.sampled_from(["", "A"]),
        ),
        max_size=5,
    ).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
)  # fmt: skip


def plane_of(chart, *, columns=100, rows=100, **options):
    """Return the rows of a plane of so many cells, and what stands below it."""
    text = render(chart, width=columns + 9, height=rows + 3, color=False, **options)
    lines = text.splitlines()
    first = lines.index(chart.y.label) + 1
    plane = [line[9:].ljust(columns) for line in lines[first : first + rows]]
    return plane, lines[first + rows + 3 :]


def found(plane, text):
    """Return the row and the column at which a text begins."""
    ((row, column),) = [(n, line.index(text)) for n, line in enumerate(plane) if text in line]
    return row, column


@settings(deadline=None)
@given(charts, st.sampled_from([40, 61, 100]), st.booleans())
def test_every_line_fits_and_colours_change_no_letter(chart, width, ascii):
    """Whatever the chart has, on the plane and beyond it."""
    plain = render(chart, width=width, color=False, ascii=ascii)
    coloured = render(chart, width=width, color=True, ascii=ascii)

    assert max(map(len, plain.splitlines())) <= width
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert plain.isascii() or not ascii


def test_a_mark_stands_at_its_share_of_both_axes():
    """1 is in the middle of four decades, 0.25 a quarter from below."""
    plane, _ = plane_of(replace(EMPTY, marks=(Mark(at=(1.0, 0.25)),)))

    assert found(plane, "●") == (pytest.approx(75, abs=1), pytest.approx(50, abs=1))


@pytest.mark.parametrize(
    ("mark", "glyph"),
    [
        (Mark(at=(1, 0.5), face="hollow"), "○"),
        (Mark(at=(1, 0.5), shape="triangle"), "▲"),
        (Mark(at=(1, 0.5), shape="cap"), "┬"),
        (Mark(at=(1, 0.5), is_alarming=True), "!"),
        (Mark(at=(1, 0.5), glyph="A?"), "A?"),
    ],
)
def test_a_mark_is_what_its_shape_says(mark, glyph):
    """Or the letter that it has."""
    plane, _ = plane_of(replace(EMPTY, marks=(mark,)))

    assert found(plane, glyph)


def test_a_mark_smaller_than_a_letter_is_left_out_with_its_label():
    """A ridge point."""
    small = Mark(at=(1, 0.5), size=0.4, label=Label(text="0.25"))
    plane, below = plane_of(replace(EMPTY, marks=(small,)))

    assert not "".join(plane).strip()
    assert below == []


def test_the_later_of_two_marks_is_seen_and_the_other_is_told():
    """If the key explains it."""
    marks = tuple(Mark(at=(1, 0.5), glyph=name, name=name) for name in "AB")
    key = (Entry(text="one", glyph="A"),)
    plane, below = plane_of(replace(EMPTY, marks=marks, key=key))
    _, untold = plane_of(replace(EMPTY, marks=marks))

    assert found(plane, "B")
    assert below == ["A  one", "A: its point lies under B"]
    assert untold == []


def test_the_label_of_a_level_line_stands_on_it_at_its_right_end():
    """With a gap to the line."""
    roof = Line(kind="roof", places=((0.01, 0.5), (100.0, 0.5)), label=Label(text="peak"))
    plane, below = plane_of(replace(EMPTY, lines=(roof,)), ascii=True)

    assert plane[50] == "-" * 95 + " peak"
    assert below == []


def test_two_level_lines_in_one_row_have_both_their_labels():
    """Side by side."""
    lines = tuple(
        Line(kind="lower", places=((0.01, y), (100.0, y)), label=Label(text=name))
        for name, y in (("first", 0.501), ("second", 0.502))
    )
    plane, _ = plane_of(replace(EMPTY, lines=lines))

    assert "second  first" in plane[49]


def test_a_sloping_line_has_its_short_label_on_it_and_the_long_one_below():
    """No text can be turned."""
    label = Label(text="L1 load 232 GB/s", short="L1")
    slope = Line(kind="roof", places=((0.01, 0.0), (100.0, 1.0)), label=label)
    plane, below = plane_of(replace(EMPTY, lines=(slope,)))
    row, column = found(plane, "L1")

    assert column == pytest.approx(100 - row, abs=2)
    assert below == ["L1 load 232 GB/s"]


def test_labels_without_room_are_told_with_the_kind_of_their_line():
    """Broken ones are dashed; optional labels are told nowhere."""
    short = ((0.01, 0.0), (0.012, 0.01))
    line = Line(kind="lower", places=short, label=Label(text="a ceiling"))
    optional = replace(line, label=Label(text="nothing", is_optional=True))
    _, below = plane_of(replace(EMPTY, lines=(line, optional)))

    assert below == ["dashed: a ceiling"]


def test_an_upright_line_has_its_label_beside_its_top():
    """At 1: in the middle."""
    cache = Line(kind="size", places=((1.0, 0.0), (1.0, 1.0)), label=Label(text="L1 32 KiB"))
    plane, _ = plane_of(replace(EMPTY, lines=(cache,)))

    assert found(plane, "L1 32 KiB") == (0, 51)


def test_a_broken_line_has_gaps():
    """In ASCII: two dots, two blanks."""
    line = Line(kind="iso", places=((0.01, 0.5), (100.0, 0.5)))
    plane, _ = plane_of(replace(EMPTY, lines=(line,)), ascii=True)

    assert plane[50].startswith("..  ..  ")


def test_bars_are_as_long_as_they_say_and_named_by_their_rows():
    """Of 0 to 1 on 71 columns: 0 to 0.5, and 0.5 to 1."""
    rows = Axis(label="", limits=(-1.5, 0.5), ticks=((0, "first"), (-1, "second")), scale="rows")
    bars = (
        Bar(row=0, begin=0.0, end=0.5, ink=0, label=Label(text="half")),
        Bar(row=-1, begin=0.5, end=1.0, ink=1, face="pale"),
    )
    chart = replace(EMPTY, x=SHARE, y=rows, bars=bars)
    lines = render(chart, width=80, color=False).splitlines()
    (first,) = [line for line in lines if line.startswith("  first ┤")]
    (second,) = [line for line in lines if line.startswith(" second ┤")]

    assert first[9:].rstrip("█") != first[9:]
    assert len(first[9:]) == pytest.approx(35, abs=1)
    assert " half " in first
    assert second.count("░") == pytest.approx(35, abs=1)
    assert second.endswith("░")


def test_the_axis_at_the_right_has_its_texts_there():
    """In other units."""
    right = Axis(label="percent", limits=(0.0, 100.0), ticks=((0, "0 %"), (100, "100 %")))
    lines = render(replace(EMPTY, right=right), width=80, color=False).splitlines()

    assert lines[2].startswith("share")
    assert lines[2].endswith("percent")
    assert lines[3].endswith(" 100 %")


def test_an_area_is_named_in_its_middle():
    """Row by row."""
    corners = ((0.01, 0.0), (100.0, 0.0), (100.0, 1.0), (0.01, 1.0))
    area = Area(corners=corners, ink="memory", label=Label(text="memory\nbound"))
    plane, _ = plane_of(replace(EMPTY, areas=(area,)))

    assert found(plane, "memory") == (pytest.approx(49, abs=1), pytest.approx(47, abs=1))
    assert found(plane, "bound")[0] == found(plane, "memory")[0] + 1


def test_the_key_has_samples_and_entries_abreast_share_a_row():
    """What ends in a colon leads the next."""
    key = (
        Entry(text="over:", is_abreast=True),
        Entry(text="DRAM", shape="circle", is_abreast=True),
        Entry(text="measured", line="curve", is_abreast=True),
        Entry(text="fitted", line="fit", is_abreast=True),
        Entry(text="a program", glyph="A"),
        Entry(text="its part", shape="circle", face="pale", is_part=True),
    )
    _, below = plane_of(replace(EMPTY, key=key))

    assert below == ["over: ● DRAM; ── measured; ╌╌ fitted", "A  a program", "   ● its part"]


def test_a_page_is_one_chart_below_the_other_with_what_they_share():
    """Title first, notes last."""
    page = Page(charts=(EMPTY, replace(EMPTY, title="Another")), title="Both", notes=("a note",))
    lines = render(page, color=False).splitlines()

    assert [line for line in lines if line in ("Both", "A title", "Another", "a note")] == [
        "Both", "A title", "Another", "a note",
    ]  # fmt: skip


def test_a_mark_lies_on_bars_and_on_shapes_of_lines():
    """They have no name that could be told."""
    bar = Bar(row=0.5, begin=0.01, end=100.0, ink=0)
    line = Line(kind="points", places=((1.0, 0.25),), shape="square")
    marks = (Mark(at=(1.0, 0.5), glyph="A"), Mark(at=(1.0, 0.25), glyph="B"))
    plane, below = plane_of(replace(EMPTY, bars=(bar,), lines=(line,), marks=marks))

    assert found(plane, "A") == (50, 50)
    assert found(plane, "B") == (75, 50)
    assert below == []
