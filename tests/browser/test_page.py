"""The page in a browser, as its readers use it: pointer, keys, phone, paper."""

import csv
import io
import json

import pytest
from axe import violations
from browsing import CONTROL, DOWN, END, ENTER, ESCAPE, PHONE, RIGHT
from page_inputs import HOSTILE, page_of_changes, page_of_names

from ridgepoint.show.page.assemble import page_html

pytestmark = pytest.mark.slow

NAMES = ("gemm", "gemv 10", "gemv 9", "sort")
"""Their shares of the time are 80, 40, 20 and 10 %; the table does not know the last."""
FIRST = "tbody tr[data-row] :is(th, td):first-child"


def written(folder, document):
    """Return the file of a page."""
    path = folder / "page.html"
    path.write_bytes(page_html(document))
    return path


@pytest.fixture
def page(tmp_path):
    """Give a page of four functions and two views."""
    return written(tmp_path, page_of_names(*NAMES, views=2))


@pytest.fixture
def opened(browser, page):
    """Give the browser with this page open."""
    browser.open(page)
    browser.one("tbody")
    return browser


def names_shown(browser):
    """Return the first cells of the rows of the view that is shown."""
    return browser.texts(FIRST)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", NAMES),
        ("gemv", ("gemv 10", "gemv 9")),
        ("time > 20%", ("gemm", "gemv 10")),
        ("T >= 200 ms", ("gemm", "gemv 10", "gemv 9")),
        ("T = unknown", ("sort",)),
        ("name ~ gem time < 50 %", ("gemv 10", "gemv 9")),
        ("nothing at all", ()),
    ],
)
def test_search_leaves_what_fits(opened, search, expected):
    """Words and values; how many rows are left is said to a screen reader."""
    opened.write(opened.one("input[type=search]"), search)

    assert tuple(names_shown(opened)) == expected
    count = "4 rows" if len(expected) == 4 else f"{len(expected)} of 4 rows"
    assert opened.one("[role=status].count").text == count


def test_search_that_is_none_says_why_and_leaves_the_rows(opened):
    """The message names the columns that there are."""
    field = opened.one("input[type=search]")
    opened.write(field, "tme > 5%")

    assert "There is no column “tme”; there are “name”, “time”, “T”." in opened.one(".problem").text
    assert field.get_attribute("aria-invalid") == "true"
    assert tuple(names_shown(opened)) == NAMES


def test_heads_sort_and_say_so(opened):
    """Numbers from the largest, then the smallest; what is unknown is last both times."""
    head = opened.all("thead th")[2]
    head.find_element("tag name", "button").click()
    assert names_shown(opened) == ["gemm", "gemv 10", "gemv 9", "sort"]
    assert head.get_attribute("aria-sort") == "descending"

    head.find_element("tag name", "button").click()
    assert names_shown(opened) == ["gemv 9", "gemv 10", "gemm", "sort"]
    assert head.get_attribute("aria-sort") == "ascending"


def test_figure_of_a_cell_is_explained(opened):
    """A click on a number opens how it was computed, from what, and from which samples."""
    opened.all("tbody button.ask")[1].click()

    assert opened.one(".panel h3").text == "gemv 10"
    reasons = opened.one(".panel details[open] .reasons")
    assert "median of gemv 10" in reasons.text
    assert "Source: docs/method.md" in reasons.text
    assert len(reasons.find_elements("tag name", "circle")) == 3


def test_panel_tells_what_is_known_of_what_is_selected(opened):
    """Advice, cautions, what was ruled out and source lines; several when Ctrl is held."""
    first, second = opened.all("button.pick")[:2]
    opened.click(first)
    panel = opened.one(".panel")
    opened.one(".ruled-out summary").click()
    for text in ("do gemm", "at most 2x", "doubt gemm", "not gemm", "because", "gemm:3"):
        assert text in panel.text

    opened.click(second, held=CONTROL)
    assert [one.text for one in opened.all(".panel h3")] == ["gemm", "gemv 10"]
    assert [one.get_attribute("aria-pressed") for one in opened.all("button.pick")] == [
        "true", "true", "false", "false",
    ]  # fmt: skip

    opened.press(ESCAPE)
    assert opened.all(".panel .subject") == []


def test_runtime_shown_leaves_the_largest_parts(opened):
    """At 60 % of the time of all parts: gemm has 53 %, gemv 10 goes beyond."""
    slider = opened.one("input[id$=runtime]")
    opened.js("arguments[0].value = 60; arguments[0].dispatchEvent(new Event('input'))", slider)

    assert names_shown(opened) == ["gemm", "gemv 10"]


def test_small_changes_are_hidden_on_request(browser, tmp_path):
    """A row is shown if one of its changes is large enough, in either direction, or unknown."""
    nothing = (0.0,) * 4
    path = written(
        tmp_path,
        page_of_changes(
            (0.04, *nothing), (-0.05, *nothing), (None, *nothing), (0.0, *nothing), (2.0, *nothing)
        ),
    )
    browser.open(path)
    slider = browser.one("input[id^=change]")
    opened = [names_shown(browser)]
    for step in (3, 7):
        browser.js(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
            slider, step,
        )  # fmt: skip
        opened.append(names_shown(browser))

    assert opened == [
        [f"row {number}" for number in range(5)],
        ["row 1", "row 2", "row 4"],  # 5 %
        ["row 2", "row 4"],  # 100 %
    ]


def test_columns_are_hidden_and_shown(browser, tmp_path):
    """Heads and cells; the names stay."""
    browser.open(written(tmp_path, page_of_changes((0.1, 0.2, 0.3, 0.4, 0.5))))
    browser.one(".columns summary").click()
    boxes = browser.all(".columns input")
    assert len(boxes) == 5
    boxes[1].click()
    browser.one(".columns summary").click()
    assert [one.text for one in browser.all("thead th")] == ["name", "T", "Q", "I", "P"]
    assert [one.text for one in browser.all("tbody tr > *")] == [
        "row 0", "+10.0%", "+30.0%", "+40.0%", "+50.0%",
    ]  # fmt: skip


def test_page_is_used_by_keys_alone(opened):
    """Views, search, table, panel, help and theme."""
    opened.press("2")
    assert opened.one("[role=tab][aria-selected=true]").text == "gemm 1"

    opened.press("/")
    opened.focus.send_keys("gemv")
    assert names_shown(opened) == ["gemv 10", "gemv 9"]

    opened.js("document.activeElement.blur()")
    opened.press("t")
    opened.press(DOWN, ENTER)
    assert opened.one(".panel h3").text == "gemv 9"
    assert opened.focus.text == "gemv 9"
    opened.press(RIGHT, ENTER)
    assert "median of gemv 9" in opened.one(".panel details[open] .reasons").text

    opened.press("?")
    assert opened.one("dialog h2").text == "How to use this page"
    opened.press(ESCAPE)
    assert opened.all("dialog") == []
    assert opened.one(".panel h3").text == "gemv 9"

    light = opened.js("return getComputedStyle(document.documentElement).backgroundColor")
    opened.press("d", "d")
    assert opened.js("return getComputedStyle(document.documentElement).backgroundColor") != light
    opened.press("d")


def test_tabs_are_moved_by_arrows(opened):
    """As any tabs; Tab reaches the one that is shown alone."""
    opened.one("[role=tab][aria-selected=true]").send_keys(RIGHT)

    assert opened.focus.text == "gemm 1"
    assert opened.one("[role=tabpanel] h2").text == "gemm 1"
    assert [tab.get_attribute("tabindex") for tab in opened.all("[role=tab]")] == ["-1", "0"]


def test_address_opens_the_same_again(opened, page):
    """View, search, selection and controls are in the address."""
    opened.press("2")
    opened.write(opened.one("input[type=search]"), "time > 20%")
    opened.all("button.pick")[1].click()
    opened.all("fieldset input")[0].click()
    address = opened.until(
        lambda: (now := opened.js("return location.hash")) and "tag.level" in now and now,
        "the address to follow",
    )

    opened.open(page, address)

    assert opened.one("[role=tab][aria-selected=true]").text == "gemm 1"
    assert opened.one("input[type=search]").get_attribute("value") == "time > 20%"
    assert names_shown(opened) == ["gemm", "gemv 10"]
    assert opened.one(".panel h3").text == "gemv 10"
    assert [one.is_selected() for one in opened.all("fieldset input")] == [True, True]


def test_data_are_saved_as_json(opened, tmp_path):
    """The record's own report, as `--json` prints it."""
    folder = tmp_path / "saved"
    folder.mkdir()
    path = opened.saved(folder, opened.button("Save the data of this page as JSON").click)

    assert path.name == "gemm.json"
    assert json.loads(path.read_text()) == {"names": list(NAMES)}


def test_rows_that_are_shown_are_saved_as_csv(browser, tmp_path):
    """In their order, with values and not texts; no cell is a formula."""
    names = ('a "b", c', "=1+1", "last")
    folder = tmp_path / "saved"
    folder.mkdir()
    browser.open(written(tmp_path, page_of_names(*names)))
    browser.all("thead button")[1].click()
    browser.all("thead button")[1].click()

    path = browser.saved(folder, browser.button("Save the rows that are shown as CSV").click)

    assert list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))) == [
        ["name", "time", "T [s]"],
        ["'=1+1", "0.4", "0.4"],
        ['a "b", c', "0.8", "0.8"],
        ["last", "", ""],
    ]


def test_hostile_names_are_only_names(browser, tmp_path):
    """No text of a user becomes a part of the page, and none can turn its letters around."""
    browser.open(written(tmp_path, page_of_names(*HOSTILE)))

    shown = [name.translate({0x202E: "?", 0x202C: "?"}) for name in HOSTILE]
    assert browser.texts("tbody th bdi") == shown
    assert browser.js("return document.querySelector('h1').textContent") == HOSTILE[0]
    for button in browser.all("button.pick"):
        browser.click(button)
        browser.click(button)
    for button in browser.all("button.ask"):
        button.click()
        assert browser.all(".panel details[open]")
    assert "broken" not in browser.driver.title.replace(HOSTILE[0], "")
    assert browser.js("return document.images.length + document.scripts.length") == 2


def test_ten_thousand_rows_are_quick_to_draw(browser, tmp_path):
    """Only rows in sight are drawn; a screen reader hears how many there are."""
    names = [f"function {number}" for number in range(10_000)]
    browser.open(written(tmp_path, page_of_names(*names)))

    assert len(browser.texts("tbody tr")) < 200
    assert browser.one(".frame table").get_attribute("aria-rowcount") == "10001"
    browser.press("t")
    browser.press(END, held=CONTROL)
    assert browser.focus.text == names[-1]
    assert (
        browser.js("return document.activeElement.closest('tr').getAttribute('aria-rowindex')")
        == "10001"
    )
    browser.write(browser.one("input[type=search]"), 'name ~ "function 77"')
    assert browser.one(".count").text == "111 of 10,000 rows"


def test_page_that_was_cut_says_so(chromium, tmp_path):
    """Instead of staying empty; the console has the error."""
    path = written(tmp_path, page_of_names(*NAMES))
    path.write_text(path.read_text().replace('{"schema"', '{"schema', 1))
    chromium.open(path)

    assert "This page cannot be shown" in chromium.one("#ridgepoint").text
    assert len(chromium.logged()) == 1


def test_browser_that_keeps_nothing_shows_the_page(browser, page):
    """Where storage is forbidden, as in private windows, the theme can be changed all the same."""
    code = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no') }})"
    added = browser.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": code}
    )
    try:
        browser.open(page)
        browser.press("d", "d")
        assert browser.js("return document.documentElement.dataset.theme") == "dark"
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_dark_system_has_a_dark_page(browser, page):
    """Without a choice of the reader's."""
    luminance = (
        "return getComputedStyle(document.documentElement).backgroundColor"
        ".match(/\\d+/g).map(Number).reduce((a, b) => a + b)"
    )
    browser.open(page)
    light = browser.js(luminance)
    browser.prefer("dark")
    assert browser.js(luminance) < 200 < light


def test_phone_needs_no_scrolling_sideways(browser, tmp_path):
    """At 390 pixels, even where names are long."""
    browser.size(*PHONE)
    browser.open(written(tmp_path, page_of_names("a" * 200, "b " * 200, views=9)))
    browser.all("button.pick")[0].click()

    assert browser.js("return document.scrollingElement.scrollWidth") <= PHONE[0]


def test_paper_has_every_view_and_no_controls(opened):
    """All views at once, each with its table; afterwards all is as before."""
    opened.js("dispatchEvent(new Event('beforeprint'))")
    assert len(opened.all("[role=tabpanel]")) == 2
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert opened.all("details.columns") == []
    assert opened.all("button:not(.pick, .ask, thead button), input, select, nav") == []
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    opened.js("dispatchEvent(new Event('afterprint'))")
    assert len(opened.all("[role=tabpanel]")) == 1


def test_accessibility_rules_hold(opened):
    """Those of axe-core for WCAG 2.2 AA, in both colours, with a subject selected."""
    opened.all("button.ask")[0].click()
    for scheme in ("light", "dark"):
        opened.prefer(scheme)
        assert violations(opened) == []
