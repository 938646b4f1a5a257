"""That a page of stored records opens in a browser: one quick test, with every view."""

from kept_records import fill

from ridgepoint.cli.main import main


def test_page_of_stored_records_opens(browser, tmp_path):
    """Every view is shown when it is asked for; nothing is asked from outside, no error told."""
    page = tmp_path / "page.html"
    fill(tmp_path / "archive.sqlite3")
    archive = ("--archive", str(tmp_path / "archive.sqlite3"))
    assert main(["report", "heat", "matmul", "vm", *archive, "-o", str(page)]) == 0

    browser.open(page)

    assert browser.one("h1").text
    for tab in browser.all("[role=tab]"):
        tab.click()
        assert browser.one("[role=tabpanel]").get_attribute("aria-labelledby") == tab.get_attribute(
            "id"
        )
        assert browser.one("[role=tabpanel] h2").text == tab.text
