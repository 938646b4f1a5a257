"""Results in Python and in notebooks: one line, a report, HTML, a figure; kept and found again."""

import base64
import builtins
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from cluster_inputs import CLUSTER
from core_inputs import MACHINE, MEASUREMENT, measured
from figure_inputs import MACHINE as RICH_MACHINE
from figure_inputs import TRIAD, with_counted
from matplotlib.figure import Figure

import ridgepoint
from ridgepoint.core.counts import FunctionCounts
from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.core.measurement import Asked
from ridgepoint.core.presenting import Presentable
from ridgepoint.show.data_tables.results import tables_of
from ridgepoint.suites.kernels.results import KernelStudy

PLACED = ridgepoint.place(MEASUREMENT, MACHINE)
MANY = with_counted(
    MEASUREMENT,
    functions=tuple(
        FunctionCounts(
            name=f"function {i}", object=f"/lib/{i}.so", counts=MEASUREMENT.counted.counts
        )
        for i in range(20_000)
    ),
)
RESULTS = (
    MACHINE,
    MEASUREMENT,
    MANY,
    MANY.counted,
    PLACED,
    ridgepoint.analyse(MEASUREMENT, MACHINE),
    CLUSTER,
    KernelStudy(machine=RICH_MACHINE, results=()),
    ridgepoint.Roofline(MACHINE),
    ridgepoint.compare(MEASUREMENT, MEASUREMENT),
    ridgepoint.compare(MACHINE, MACHINE),
    ridgepoint.place_given(
        ridgepoint.GivenPoint.of("daxpy", {"W": "2 Gflop", "Q": "16 GB", "T": "4 s"}), MACHINE
    ),
)
HOSTILE = "<script>alert(1)</script>&\n\x1b[31m'\""


OF_TABLES = {"details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td"}


class Page(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note an element."""
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        """Note a text."""
        self.text += data


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Let the archive in use be one of its own."""
    path = tmp_path / "archive.sqlite3"
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(path))
    return path


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: type(each).__name__)
def test_every_result_prints_in_a_few_words(result):
    """A program of 20 000 functions too, on one line."""
    assert len(repr(result).splitlines()) == 1
    assert len(repr(result)) < 800


def test_lines_say_what_the_literal_inputs_hold():
    """1 Gflop and 1 GB in 0.25 s; 5 Gflop/s are attainable at 5 GB/s, so 4 are 80 %."""
    assert repr(MACHINE) == (
        "<Machine 'test bench': none, 4 cores, 4 ceilings: fp64 40 Gflop/s, DRAM 8 GB/s>"
    )
    assert repr(MEASUREMENT) == (
        "<Measurement \"./prog 'an argument'\": 1 Gflop, 1 GB at DRAM, 250 ms (n = 1)>"
    )
    assert repr(PLACED) == (
        "<Placement of './prog': limited by DRAM, attainable 5 Gflop/s, reached 4 Gflop/s, "
        "efficiency 80.0%>"
    )


def test_what_is_unknown_is_not_in_the_line_as_a_number():
    """Neither a time nor traffic was measured, and the machine has no ceiling."""
    counted = measured(traffic=(), wall_s=None)
    bare = replace(MACHINE, ceilings=())

    assert repr(counted) == "<Measurement \"./prog 'an argument'\": 1 Gflop, not timed>"
    assert repr(bare) == "<Machine 'test bench': none, 4 cores, 0 ceilings>"
    assert "no ceiling is known" in repr(ridgepoint.place(counted, bare))


@pytest.mark.parametrize("result", [r for r in RESULTS if r is not MANY.counted], ids=repr)
def test_pages_are_small_and_need_nothing_from_outside(result):
    """Less than 100 kB; a picture is within the page."""
    page = Page(result._repr_html_())

    assert len(result._repr_html_()) < 100_000
    assert {tag for tag, _ in page.elements} <= {"div", "img", "pre", "span", *OF_TABLES}
    assert all(given.get("src", "data:").startswith("data:") for _, given in page.elements)


def test_page_holds_the_report_and_the_figure():
    """The text is the report's; the picture is SVG, and has the machine's name in it."""
    page = Page(PLACED._repr_html_())
    (image,) = [given for tag, given in page.elements if tag == "img"]
    picture = ElementTree.fromstring(base64.b64decode(image["src"].partition(",")[2]))

    report = page.text.partition("table 'parts': 2 rows")[0]
    assert [line.rstrip() for line in report.splitlines()] == PLACED.summary().splitlines()
    assert "test bench" in "".join(picture.itertext())


def test_texts_from_outside_stay_texts():
    """A command, a function and a machine's name with markup and escape sequences."""
    function = FunctionCounts(name=HOSTILE, object=HOSTILE, counts=MEASUREMENT.counted.counts)
    program = replace(with_counted(MEASUREMENT, functions=(function,)), command=(HOSTILE,))
    placed = ridgepoint.place(program, replace(MACHINE, name=HOSTILE))
    page = Page(placed._repr_html_())

    assert {tag for tag, _ in page.elements} == {"div", "img", "pre", "span", *OF_TABLES}
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in placed._repr_html_() + placed.summary() + repr(placed)


def test_a_notebook_shows_a_page_once(monkeypatch):
    """Within one, rich would display what it prints besides."""
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr(builtins, "get_ipython", shell, raising=False)
    shown = []
    display = SimpleNamespace(display=shown.append, HTML=str)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)

    assert MEASUREMENT._repr_html_()
    assert shown == []


def test_drawing_needs_no_window_and_leaves_the_users_settings():
    """The picture displays itself in a notebook, and pyplot knows nothing of it."""
    before = dict(mpl.rcParams)
    picture = PLACED.plot()

    assert isinstance(picture, Figure)
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not mpl.pyplot.get_fignums()


def texts(picture):
    """Return every text of a picture."""
    return " ".join(text.get_text() for axes in picture.axes for text in axes.texts)


def test_results_are_drawn_together_under_one_machines_roofs():
    """Two programs, one as it was placed and one as it was measured."""
    other = replace(MEASUREMENT, command=("./other",))
    picture = ridgepoint.plot(PLACED, other)

    assert "test bench" in texts(picture)
    assert "prog" in texts(picture)
    assert "other" in texts(picture)


def test_axes_of_ones_own_are_drawn_on():
    """As of a figure with several of them."""
    mine = Figure(figsize=(10, 5))
    left, right = mine.subplots(1, 2)

    assert ridgepoint.plot(MACHINE, ax=right) is mine
    assert right.lines
    assert not left.lines


def test_every_other_result_is_drawn_too():
    """A machine, the roofline in basic operations, the network of a cluster."""
    bops = ridgepoint.open_machine("e5645")

    assert "GB/s" in texts(RICH_MACHINE.plot())
    assert "BOP" in texts(ridgepoint.Roofline(bops, work="bop").plot())
    assert CLUSTER.plot().axes


@pytest.mark.parametrize(
    ("results", "options", "error"),
    [
        ((), {}, TypeError),
        ((3,), {}, TypeError),
        ((MACHINE, RICH_MACHINE), {}, ValueError),
        ((MACHINE,), {"machine": RICH_MACHINE}, ValueError),
        ((CLUSTER, MACHINE), {}, ValueError),
    ],
)
def test_what_cannot_be_drawn_is_refused(results, options, error):
    """Nothing, no result, two machines."""
    with pytest.raises(error, match=r"give|draw|cannot"):
        ridgepoint.plot(*results, **options)


@pytest.mark.usefixtures("archive")
def test_a_measurement_alone_needs_a_machine_to_be_drawn_on():
    """None of this host is kept; the message says what to do."""
    with pytest.raises(ArchiveRefused, match=r"machine_here\(\)"):
        MEASUREMENT.plot()


def test_a_roofline_takes_its_machine_first():
    """40 Gflop/s over 8 GB/s is 5 flop/byte."""
    assert ridgepoint.Roofline(MACHINE).ridge("dram") == 5.0
    assert ridgepoint.Roofline(MACHINE) == ridgepoint.Roofline(machine=MACHINE, work="fp64")


@pytest.mark.usefixtures("archive")
def test_what_is_kept_comes_back():
    """A machine by itself, a cluster, a measurement on its machine, and one without any."""
    numbers = [
        ridgepoint.keep(MACHINE),
        ridgepoint.keep(CLUSTER),
        ridgepoint.keep(PLACED),
        ridgepoint.keep(TRIAD, machine=RICH_MACHINE),
        ridgepoint.keep(MEASUREMENT),
    ]
    back = [ridgepoint.load(number) for number in numbers]

    assert [back[0], back[1], back[4]] == [MACHINE, CLUSTER, MEASUREMENT]
    assert (back[2].measurement, back[2].machine) == (MEASUREMENT, MACHINE)
    assert (back[3].measurement, back[3].machine) == (TRIAD, RICH_MACHINE)
    assert repr(back[2]) == repr(PLACED)
    assert ridgepoint.load() == MEASUREMENT
    # The machine of the placement was there already.
    kinds = [record.kind for record in ridgepoint.kept_records()]
    assert kinds == ["machine", "cluster", "measurement", "machine", "measurement", "measurement"]


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize(
    ("result", "options", "error"),
    [
        ("a text", {}, TypeError),
        (MACHINE, {"machine": MACHINE}, ValueError),
        (PLACED, {"machine": RICH_MACHINE}, ValueError),
    ],
)
def test_what_cannot_be_kept_is_refused(result, options, error):
    """And nothing is kept."""
    with pytest.raises(error):
        ridgepoint.keep(result, **options)
    assert ridgepoint.kept_records() == []


def test_the_machine_here_is_measured_once(archive, monkeypatch):
    """Then it is found, until it is asked for again; quick or not makes no difference."""
    asked = []

    def characterize(*, progress, quick):
        asked.append(quick)
        return replace(MACHINE, fingerprint="here", name=f"machine {len(asked)}")

    monkeypatch.setattr("ridgepoint.ceilings.characterize", characterize)
    monkeypatch.setattr("ridgepoint.ceilings.this_host.fingerprint", lambda *_, quick: "here")
    names = [
        ridgepoint.machine_here(quick=True).name,
        ridgepoint.machine_here(archive=archive).name,
        ridgepoint.machine_here(again=True).name,
        ridgepoint.machine_here().name,
    ]

    assert names == ["machine 1", "machine 1", "machine 2", "machine 2"]
    assert asked == [True, False]


def test_measuring_loads_nothing_that_shows():
    """Neither rich nor matplotlib, until something is shown."""
    script = (
        "import sys, ridgepoint, ridgepoint.models.placement, ridgepoint.core.machine\n"
        "ridgepoint.open_machine('cascade-lake').headline\n"
        "print([name for name in ('rich', 'matplotlib', 'IPython') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stdout == "[]\n", done.stderr


def test_what_was_asked_for_in_basic_operations_is_drawn_in_them():
    """As the command line does; it was drawn, and placed, in flop."""
    asked = replace(MEASUREMENT, asked=Asked(metric="bop"))
    labels = [
        ridgepoint.plot(one, machine=MACHINE).axes[0].get_ylabel() for one in (asked, MEASUREMENT)
    ]

    assert labels == ["Performance [BOP/s]", "Performance [flop/s]"]
    assert ridgepoint.place(asked, MACHINE).metric == "bop"
    assert ridgepoint.place(asked, MACHINE, metric="flop").metric == "flop"


def every_kind(kind=Presentable):
    """Yield every class of results, and those derived from it."""
    for derived in kind.__subclasses__():
        yield derived
        yield from every_kind(derived)


def test_every_kind_of_result_has_a_table():
    """A notebook shows it, so that a kind without one could not be shown."""
    without = tables_of.dispatch(object)
    # A dataclass with slots leaves behind the class that it was made from.
    kinds = [
        kind
        for kind in every_kind()
        if getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    ]

    assert len(kinds) > 12
    assert [kind for kind in kinds if tables_of.dispatch(kind) is without] == []
    for result in RESULTS:
        if isinstance(result, Presentable):
            assert result.table().name
