"""The pages of a comparison and of a history in a browser."""

import figure_inputs as inputs
import pytest

from ridgepoint.models.comparing.history import history
from ridgepoint.models.comparing.programs import compare_programs, program
from ridgepoint.show.page.assemble import page_html
from ridgepoint.show.page.compare import compare_page, history_page

pytestmark = pytest.mark.slow

BEFORE = program("before", (inputs.PROFILED, inputs.MACHINE))
_CHANGED = inputs.measurement(
    inputs.flop("fp64", 20_000_000),
    dram=(320_000_000, 80_000_000, 0),
    runtime_s=0.02,
    functions=inputs.FUNCTIONS,
)
AFTER = program("after <b>", (_CHANGED, inputs.MACHINE))
FIRST = "tbody tr[data-row]"


def opened(browser, folder, document):
    """Open a page of a document."""
    path = folder / "page.html"
    path.write_bytes(page_html(document))
    browser.open(path)
    browser.one("tbody")


def test_a_row_opens_the_figures_behind_it(browser, tmp_path):
    """The panel says how the change was told apart from noise, and shows both amounts."""
    opened(browser, tmp_path, compare_page([compare_programs(BEFORE, AFTER)]))
    row = next(one for one in browser.all(FIRST) if "DRAM" in one.text)
    browser.click(row)
    panel = browser.one("aside").text

    assert "240 MB" in row.text
    assert "400 MB" in row.text
    assert "x 1.67" in panel
    assert "after <b>" in browser.one("h1").text
    assert any("is slower" in one.text for one in browser.all("aside, .notes, li, p"))


def test_search_finds_a_quantity(browser, tmp_path):
    """As in every table of a page."""
    opened(browser, tmp_path, compare_page([compare_programs(BEFORE, AFTER)]))
    browser.write(browser.one("input[type=search]"), "runtime")

    assert len(browser.all(FIRST)) == 1
    assert "slower" in browser.all(FIRST)[0].text


def test_a_history_opens(browser, tmp_path):
    """With a row for each measurement."""
    found = history([BEFORE, BEFORE, AFTER], "dram")
    opened(browser, tmp_path, history_page([found], ["1", "2", "3"], title="heat"))

    assert len(browser.all(FIRST)) == 3
    assert "from here on" in browser.all(FIRST)[2].text
