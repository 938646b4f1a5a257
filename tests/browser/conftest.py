"""A browser for tests; they are skipped where there is none."""

import shutil

import pytest


@pytest.fixture(scope="module")
def chromium():
    """Start Chromium for the tests of a file.

    It ends with them: others that run after them in this process look for what was left behind.
    """
    pytest.importorskip("selenium", reason="selenium is not installed: pip install selenium")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no browser is installed: apt-get install chromium chromium-driver")
    from browsing import Browser

    browser = Browser(program, driver)
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Give a browser with a wide, light window; no page may complain or ask for anything."""
    from browsing import WIDE

    chromium.size(*WIDE)
    chromium.prefer("light")
    chromium.logged()
    chromium.asked_for()
    yield chromium
    assert chromium.logged() == []
    assert {url for url in chromium.asked_for() if not url.startswith(("data:", "blob:"))} == set()
