"""A real notebook, executed in a kernel: what its cells show."""

import html.parser

import pytest
from core_inputs import MACHINE
from kept_records import fill

from ridgepoint.core.documents import encode

pytestmark = pytest.mark.slow
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

HOSTILE = "<script>alert(1)</script>&[/red]\u202e"
CELLS = (
    "import ridgepoint\nplaced = ridgepoint.load('heat')",
    "placed",
    "placed.table('levels')",
    "ridgepoint.load('vm')",
    "ridgepoint.load('three-nodes')",
    "ridgepoint.Archive().frame()",
    "ridgepoint.Archive().table()",
    "placed.plot()",
    "shown = ridgepoint.measure_program(['true'], machine=placed.machine, repeat=2)",
)


class Tags(html.parser.HTMLParser):
    """Which elements and addresses a piece of HTML has."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in {"src", "href"}]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Return the notebook after all of its cells, and what was shown below each meanwhile."""
    folder = tmp_path_factory.mktemp("notebook")
    archive = folder / "archive.sqlite3"
    fill(archive)
    from ridgepoint.kept.archive import Archive

    with Archive(archive) as opened:
        opened.set_note(1, HOSTILE)
    (folder / "machine.json").write_bytes(encode(MACHINE))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    shown = []

    class Client(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in {"display_data", "update_display_data"}:
                shown.append((cell_index, msg["content"]["data"]))
            return super().process_message(msg, cell, cell_index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIDGEPOINT_ARCHIVE", str(archive))
        Client(notebook, timeout=120, kernel_name="python3").execute()
    return notebook, shown


def data_of(executed, source):
    """Return the value that a cell shows."""
    cell = next(cell for cell in executed[0].cells if cell.source == source)
    return cell.outputs[-1]["data"]


@pytest.mark.parametrize("source", ["placed", "ridgepoint.load('vm')"])
def test_a_result_shows_figure_report_and_table(executed, source):
    """In this order, with nothing that is executed or fetched."""
    found = Tags(data_of(executed, source)["text/html"])

    assert found.tags.index("img") < found.tags.index("pre") < found.tags.index("table")
    assert "script" not in found.tags
    assert all(address.startswith("data:image/svg+xml;base64,") for address in found.addresses)


@pytest.mark.parametrize(
    "source", ["placed.table('levels')", "ridgepoint.load('three-nodes')", CELLS[6]]
)
def test_tables_are_elements_of_html(executed, source):
    """With a head and a body; texts from outside are texts."""
    data = data_of(executed, source)
    found = Tags(data["text/html"])

    assert {"table", "thead", "tbody", "th", "td"} <= set(found.tags)
    assert "script" not in found.tags
    assert data["text/plain"].startswith("<")


def test_a_hostile_note_is_shown_as_text(executed):
    """Escaped, and without the sign that turns what follows around."""
    text = data_of(executed, CELLS[6])["text/html"]

    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;[/red]?" in text


def test_a_frame_and_a_figure_show_themselves(executed):
    """By pandas and by matplotlib."""
    assert "<table" in data_of(executed, "ridgepoint.Archive().frame()")["text/html"]
    assert "image/png" in data_of(executed, "placed.plot()")


def test_progress_is_shown_while_a_program_is_measured_and_then_gone(executed):
    """Only below the cell that measures."""
    _, shown = executed
    steps = [(index, data["text/plain"]) for index, data in shown if index != 7]

    assert {index for index, _ in steps} == {8}
    assert steps[0][1] == "running the program"
    assert "<progress>" in shown[-2][1]["text/html"]
    assert steps[-1][1] == ""
