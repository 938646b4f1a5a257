"""Every view of pages of stored records, in a browser."""

import csv
import io
import json
import re

import pytest
from axe import violations
from kept_records import fill

from ridgepoint.cli.main import main

pytestmark = pytest.mark.slow

PAGES = {
    "programs": ("heat", "matmul", "sort", "triad", "two-cores", "functions"),
    "machines": ("vm", "gpu", "small"),
    "clusters": ("cluster", "three-nodes", "ranks"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write pages of every kind of record."""
    folder = tmp_path_factory.mktemp("pages")
    archive = folder / "archive.sqlite3"
    fill(archive)
    for name, records in PAGES.items():
        path = str(folder / f"{name}.html")
        assert main(["report", *records, "--archive", str(archive), "-o", path]) == 0
    return folder


def document_of(path):
    """Return the document in a page, as it is written there."""
    found = re.search(r'id="ridgepoint-document">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("name", PAGES)
def test_every_view_is_shown_searched_sorted_and_saved(browser, pages, tmp_path, name):
    """No console message, no request; heads, charts and rows are those of the document."""
    path = pages / f"{name}.html"
    views = document_of(path)["views"]
    browser.open(path)

    assert views
    for number, view in enumerate(views):
        if len(views) > 1:
            browser.all("[role=tab]")[number].click()
        assert browser.one(".view h2").text == view["title"]
        assert len(browser.all(".view:not([hidden]) .rp-chart")) == len(view.get("charts", ()))
        assert len(browser.all(".view:not([hidden]) .controls :is(fieldset, .slider)")) >= sum(
            len(control["options"]) > 1 for control in view.get("controls", ())
        )
        if "table" in view:
            table = view["table"]
            check_table(browser, table)
            folder = tmp_path / str(number)
            folder.mkdir()
            save = browser.button("Save the rows that are shown as CSV").click
            text = browser.saved(folder, save).read_bytes().decode()
            rows = list(csv.reader(io.StringIO(text, newline="")))
            assert len(rows[0]) == len(table["columns"])
            assert len(rows) - 1 == shown_count(browser)


def shown_count(browser):
    """Return how many rows the table says that it shows."""
    return int(browser.one(".view:not([hidden]) .count").text.split()[0].replace(",", ""))


def check_table(browser, table):
    """Sort by every column, search for what there is not, and select the first row."""
    heads = browser.all(".view:not([hidden]) thead button")
    assert len(heads) == len(table["columns"])
    count = shown_count(browser)
    for head in heads:
        browser.js("arguments[0].click()", head)
    field = browser.one(".view:not([hidden]) input[type=search]")
    browser.write(field, "no such thing")
    assert shown_count(browser) == 0
    browser.js("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
    assert shown_count(browser) == count
    buttons = browser.all(".view:not([hidden]) button.pick")
    if buttons:
        browser.js("arguments[0].click()", buttons[0])
        assert browser.one(".view:not([hidden]) .panel h3").text


@pytest.mark.parametrize("name", PAGES)
def test_every_view_keeps_the_rules_of_accessibility(browser, pages, name):
    """Those of WCAG 2.2 AA that axe-core checks."""
    path = pages / f"{name}.html"
    browser.open(path)
    found = {}
    for tab in browser.all("[role=tab]") or [None]:
        if tab is not None:
            tab.click()
        browser.all(".view:not([hidden]) h2")
        found |= {(tab and tab.text, *one): None for one in violations(browser)}
    assert list(found) == []
