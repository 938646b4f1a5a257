"""Charts: what they are is drawn, labels find room of their own, and bytes stay the same."""

import io
from dataclasses import replace

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.image import imread

from ridgepoint.show.axes import (
    decade_ticks,
    decades,
    decimal_ticks,
    linear_ticks,
    log_ticks,
    plain_number,
    power_ticks,
    widened,
)
from ridgepoint.show.chart import Area, Axis, Bar, Chart, Entry, Label, Line, Mark, Page
from ridgepoint.show.draw_mpl import draw, drawn, save
from ridgepoint.show.labels import Box, crosses
from ridgepoint.show.naming import Naming
from ridgepoint.show.sheet import Sheet
from ridgepoint.show.text_size import text_width, wrapped

LIMITS = (0.01, 100.0)
AXIS = Axis(label="x [unit]", limits=LIMITS, ticks=decade_ticks(LIMITS, plain_number))
EMPTY = Chart(title="A title", subtitle="", x=AXIS, y=AXIS)
ROOF = Line(
    kind="roof",
    places=((0.01, 0.1), (1.0, 10.0), (100.0, 10.0)),
    label=Label(text="DRAM 10 GB/s"),
)

places = st.tuples(*[st.floats(-1.9, 1.9).map(lambda power: 10.0**power)] * 2)
marks = st.lists(
    st.builds(
        lambda at, text, size, is_bold: Mark(
            at=at, size=size, label=Label(text=text, is_bold=is_bold)
        ),
        places,
        st.text("abcdefgh_ ", min_size=1, max_size=24).filter(str.strip),
        st.floats(0.5, 4.0),
        st.booleans(),
    ),
    max_size=14,
)


def sheet_of(chart, *, width_in=5.0):
    """Return empty axes of a chart, with nothing around them."""
    figure = Figure(figsize=(width_in, width_in * chart.height))
    return Sheet.of(figure.add_axes((0.0, 0.0, 1.0, 1.0)))


def named(chart):
    """Return a chart whose labels have found their places."""
    naming = Naming(chart=chart, sheet=sheet_of(chart))
    naming.place_all()
    return naming


@settings(max_examples=60, deadline=None)
@given(marks=marks)
def test_no_label_lies_on_another_or_on_a_mark_or_leaves_the_frame(marks):
    """Whatever points there are, each label has a place of its own or is said to have none."""
    chart = replace(EMPTY, marks=tuple(marks), lines=(ROOF,))

    naming = named(chart)

    sheet, boxes = naming.sheet, [label.box for label in naming.placed]
    for index, box in enumerate(boxes):
        assert box.within(sheet.frame)
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])
        for mark in marks:
            # The largest square within the drawn disc.
            side = sheet.marker * mark.size * 0.7
            assert not box.overlaps(Box(centre=sheet.at(mark.at, chart), width=side, height=side))
    # Each label has a place or is said to have none.
    assert len(boxes) + len(naming.left_out) == len(marks) + 1


@settings(max_examples=60, deadline=None)
@given(marks=marks)
def test_no_label_of_a_mark_hides_a_roof(marks):
    """What bounds a program is seen whole."""
    chart = replace(EMPTY, marks=tuple(marks), lines=(replace(ROOF, label=None),))

    naming = named(chart)

    slope, flat = (
        (naming.sheet.at(begin, chart), naming.sheet.at(end, chart))
        for begin, end in (ROOF.places[:2], ROOF.places[1:])
    )
    for label in naming.placed:
        assert not label.box.meets(slope)
        assert not label.box.meets(flat)


def test_labels_farther_away_are_joined_to_their_marks_past_other_labels_and_roofs():
    """Six points close together below a roof: the labels, from the top, fan out below it."""
    marks = tuple(
        Mark(at=(0.5, 0.2 * 1.06**index), label=Label(f"function {index}", rank=-index))
        for index in range(6)
    )
    chart = replace(EMPTY, marks=marks, lines=(replace(ROOF, label=None),))

    naming = named(chart)

    slope = (naming.sheet.at((0.01, 0.1), chart), naming.sheet.at((1.0, 10.0), chart))
    points = [naming.sheet.at(mark.at, chart) for mark in marks]
    joined = [label for label in naming.placed if label.lead is not None]
    assert len(naming.placed) == 6
    assert joined
    for label in joined:
        assert label.lead[0] in points
        assert not crosses(label.lead, slope)
        earlier = naming.placed[: naming.placed.index(label)]
        assert not any(other.box.meets(label.lead) for other in earlier)


def test_what_chooses_first_gets_the_better_place():
    """The rank decides, not the order in the chart."""

    # Both want to stand above the one point: there is room for one of them.
    def chart(first, second):
        ranks = {"first": first, "second": second}
        marks = tuple(
            Mark(at=(1.0, 1.0), label=Label(text=text, rank=rank)) for text, rank in ranks.items()
        )
        return replace(EMPTY, marks=marks)

    assert [label.text for label in named(chart(0, 1)).placed] == ["first", "second"]
    assert [label.text for label in named(chart(1, 0)).placed] == ["second", "first"]


def test_a_label_without_room_is_reported_unless_it_is_optional():
    """Its short form stands in its place, if it has one."""
    long = "a label that is wider than the whole plane can be " * 4
    marks = (
        Mark(at=(1.0, 1.0), label=Label(text=long)),
        Mark(at=(1.0, 1.0), label=Label(text=f"{long} too", is_optional=True)),
        Mark(at=(1.0, 1.0), label=Label(text=f"{long}, shortened", short="short")),
    )

    naming = named(replace(EMPTY, marks=marks))

    assert naming.left_out == [long, f"{long}, shortened"]
    assert [label.text for label in naming.placed] == ["short"]


def test_a_label_stands_along_its_line_and_not_on_another():
    """Another roof runs where the label would stand first."""
    other = Line(kind="own", places=((0.01, 0.12), (1.0, 12.0)))

    naming = named(replace(EMPTY, lines=(ROOF, other)))

    label = naming.placed[0]
    sheet, chart = naming.sheet, naming.chart
    assert not label.box.meets((sheet.at((0.01, 0.12), chart), sheet.at((1.0, 12.0), chart)))


def test_a_text_is_as_wide_as_the_font_says():
    """Matplotlib's outline of a text is the oracle."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    text = "fp64 fma 100 Gflop/s"
    for weight in ("normal", "bold"):
        outline = TextPath((0, 0), text, size=9, prop=FontProperties(weight=weight))
        width = text_width(text, 9, is_bold=weight == "bold")
        # The outline lacks the blank before the first and after the last letter.
        assert width == pytest.approx(outline.get_extents().width, abs=2)
    assert text_width(f"{text}\nx", 9) == text_width(text, 9)


def test_a_text_is_measured_by_the_font_of_the_settings():
    """A notebook may have its own; its letters i are as wide as its letters m."""
    with mpl.rc_context({"font.family": "monospace"}):
        assert text_width("iiii", 9) == text_width("mmmm", 9)
    assert text_width("iiii", 9) < text_width("mmmm", 9)


def test_fonts_that_are_not_installed_are_passed_over_in_silence(caplog):
    """Matplotlib's settings name fonts of every system, and it warns of each missing one."""
    assert text_width("a text that no other test measures", 9) > 0
    assert caplog.records == []


def test_rows_hold_every_word_and_fit():
    """No word is lost between rows."""
    text = "what a reader must know and the chart cannot show"

    rows = wrapped(text, 100, 9)

    assert " ".join(rows) == text
    assert all(text_width(row, 9) <= 100 for row in rows)
    assert len(rows) > 2


def test_no_row_begins_with_per_cent():
    """A number stays with it."""
    assert wrapped("it reaches 23 % of it", text_width("it reaches 23", 9), 9) == [
        "it reaches", "23 % of it"
    ]  # fmt: skip


def test_no_row_ends_at_a_no_break_space():
    """An equation stays in one row."""
    assert wrapped("where x\u00a0=\u00a03.65", text_width("where x = ", 9), 9) == [
        "where", "x\u00a0=\u00a03.65"
    ]  # fmt: skip


def test_rows_end_within_a_picture_in_a_notebook():
    """Of few dots per inch; here hinted letters would be 4 % wider than measured."""
    note = " ".join(f"fp64 0.{digits}" for digits in range(11, 99))
    figure = drawn(replace(EMPTY, notes=(note,)), width_in=5.25)
    image = imread(io.BytesIO(figure._repr_png_()))

    assert (image[:, -3:, :3] == 1).all()


def everything():
    """Return a page with one of each thing that can be drawn."""
    lines = (
        ROOF,
        Line(kind="change", ink=1, places=((0.1, 0.1), (1.0, 1.0))),
        Line(kind="curve", ink=2, places=((0.01, 1), (100, 2)), low=(0.5, 1), high=(2, 3)),
        Line(kind="points", ink=3, shape="cross", places=((0.2, 0.02), (2.0, 0.02))),
    )
    marks = (
        Mark(at=(1.0, 1.0), x_interval=(0.5, 2.0), y_interval=(0.9, 1.5), face="hatched", size=2),
        Mark(at=(100.0, 1.0), edge="right", label=Label(text="beyond")),
        Mark(at=(3.0, 3.0), shape="cap", is_alarming=True, label=Label(text="x", where="upright")),
    )
    area = Area(
        corners=((0.01, 0.01), (0.1, 0.01), (0.1, 100.0), (0.01, 100.0)),
        ink="memory",
        label=Label(text="memory\nbound"),
    )
    key = (
        Entry(text="a curve", line="curve", ink=2, has_band=True, is_abreast=True),
        Entry(text="a program", shape="circle", ink=0, lead="A"),
        Entry(text="its part", shape="circle", face="pale", ink=0, is_part=True),
    )
    plane = replace(EMPTY, areas=(area,), lines=lines, marks=marks, key=key, notes=("A note.",))
    seconds = Axis(
        label="Time [s]", limits=(0, 3), ticks=linear_ticks((0, 3), plain_number), scale="linear"
    )
    rows = Axis(label="", limits=(-1.5, 0.5), ticks=((0, "one"), (-1, "two")), scale="rows")
    bars = (
        Bar(row=0, begin=0, end=2, ink=0, label=Label(text="2")),
        Bar(row=-1, begin=0, end=1, ink=1, face="hatched", label=Label(text="1")),
    )
    time = Chart(title="Time", subtitle="", x=seconds, y=rows, bars=bars, height=0.3)
    return Page(charts=(plane, time), columns=2, title="All", subtitle="of it", notes=("Both.",))


def test_the_same_page_makes_the_same_bytes(tmp_path):
    """A picture under version control changes only with what it shows."""
    for name in ("a.svg", "b.svg"):
        save(everything(), tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("width_in", [3.5, 8.0])
def test_all_that_is_written_is_within_the_picture(width_in):
    """Margins, titles, keys and notes are measured, not guessed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = drawn(everything(), width_in=width_in)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()

    shown = [axes for axes in figure.axes if axes.axison]
    texts = [text for axes in figure.axes for text in axes.texts]
    texts += [text for axes in shown for text in (*axes.get_xticklabels(), axes.xaxis.label)]
    texts += [text for axes in shown for text in (*axes.get_yticklabels(), axes.yaxis.label)]
    for text in (text for text in texts if text.get_text()):
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0
        assert box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= box.y0
        assert box.y1 <= figure.bbox.y1 + 1


def test_key_and_notes_of_a_page_begin_where_its_first_axes_do():
    """As those of a chart alone do, however wide the texts of its upright axis are."""
    figure = drawn(everything(), width_in=8.0)
    first = figure.axes[0].get_position().x0
    strips = [axes for axes in figure.axes if not axes.axison]

    assert len(strips) == 2
    assert [axes.get_position().x0 for axes in strips] == pytest.approx([first] * 2)


def test_a_bar_has_its_label_only_where_it_fits():
    """Nothing is said of one that does not: its row and the key name it."""
    page = everything()
    bars = (*page.charts[1].bars, Bar(row=0, begin=2, end=2.01, ink=2, label=Label("3")))

    naming = named(replace(page.charts[1], bars=bars))

    assert [label.text for label in naming.placed] == ["2", "1"]
    assert naming.left_out == []


def test_charts_stand_below_each_other_where_the_picture_is_narrow():
    """A column of a paper has room for one beside none."""
    wide, narrow = (drawn(everything(), width_in=width) for width in (8.0, 3.5))

    assert wide.axes[0].get_position().y0 < wide.axes[1].get_position().y1
    assert narrow.axes[0].get_position().y0 > narrow.axes[1].get_position().y1


def test_a_chart_is_drawn_on_axes_that_are_there():
    """As a notebook does, which lays out its own figure."""
    figure = Figure(figsize=(5, 4))
    axes = figure.add_axes((0.1, 0.3, 0.8, 0.6))

    assert draw(everything().charts[0], axes) is axes
    assert "DRAM 10 GB/s" in [text.get_text() for text in axes.texts]


def test_decades_hold_what_they_are_asked_to():
    """1e-3 is 10 ** -3 in two ways."""
    assert decades([0.02, 30.0]) == (0.01, 100.0)
    assert decades([1.0]) == (1.0, 10.0)
    assert decades([0.9], room=2) == (0.1, 10.0)
    assert decades([1e-3, 1e3]) == (1e-3, 1e3)
    assert widened((1.0, 10.0), [0.5, 200.0]) == (0.1, 1000.0)


def test_ticks_are_at_round_values_within_the_limits():
    """And there are never more than can be read."""
    assert [value for value, _ in decade_ticks((0.01, 10.0), str)] == [0.01, 0.1, 1.0, 10.0]
    assert len(decade_ticks((1e-20, 1e20), str)) <= 9
    assert [value for value, _ in log_ticks((3.0, 60.0), str)] == [5.0, 10.0, 20.0, 50.0]
    assert [value for value, _ in log_ticks((1.0, 1e4), str)] == [1.0, 10.0, 100.0, 1e3, 1e4]
    assert [value for value, _ in power_ticks((1.0, 8.0), str)] == [1.0, 2.0, 4.0, 8.0]
    assert [value for value, _ in power_ticks((3.0, 5000.0), str)] == [4.0, 16.0, 64.0, 256.0,
                                                                       1024.0, 4096.0]  # fmt: skip
    assert [value for value, _ in linear_ticks((0.0, 1.0), str)] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert [value for value, _ in linear_ticks((3.1, 4.4), str)] == [3.5, 4.0]
    assert linear_ticks((0.0, 0.3), plain_number)[-1] == (0.3, "0.3")
    assert all(log_ticks((x / 1.6, x * 1.6), str) for x in (1.0, 3.2, 3.9, 7.0, 8.9))
    assert decimal_ticks((1.0, 1.2), most=3) == ((1.0, "1.0"), (1.1, "1.1"), (1.2, "1.2"))
    assert [text for _, text in decimal_ticks((0.0, 6e6), most=4)][-1] == "6000000"


def test_a_label_is_not_parted_from_its_line_by_another():
    """Of two lines close together the upper has its label above, the lower below it."""
    upper = Line(kind="beside", places=((0.01, 1.1), (100.0, 1.1)), label=Label(text="upper"))
    lower = Line(kind="roof", places=((0.01, 1.0), (100.0, 1.0)), label=Label(text="lower"))
    heights = {
        label.text: label.box.centre[1]
        for label in named(replace(EMPTY, lines=(upper, lower))).placed
    }
    sheet = sheet_of(EMPTY)

    assert heights["upper"] > sheet.at((1.0, 1.1), EMPTY)[1]
    assert heights["lower"] < sheet.at((1.0, 1.0), EMPTY)[1]
