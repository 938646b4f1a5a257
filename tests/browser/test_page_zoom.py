"""Zooming and moving a chart of a page in a browser: by wheel, pointer, fingers and keys."""

import time

import pytest
from browsing import PHONE
from page_inputs import page_of_names

from ridgepoint.show.page.assemble import page_html

pytestmark = pytest.mark.slow

_SHIFT = 8
"""Bit of the key, as the browser's protocol has it."""
_SCROLLED = 0.6
"""Seconds after which the page counts as no longer being scrolled."""


@pytest.fixture
def opened(browser, tmp_path):
    """Give the browser with a page of two functions open."""
    path = tmp_path / "page.html"
    path.write_bytes(page_html(page_of_names("gemm", "sort")))
    browser.open(path)
    browser.one(".rp-plot")
    return browser


def plot(browser):
    """Return left, top, width and height of the plot in the window, once it is in the middle."""
    return browser.js(
        "const plot = document.querySelector('.rp-plot'); plot.scrollIntoView({block: 'center'});"
        "const box = plot.getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]"
    )


def drawing(browser):
    """Return what is drawn, but for what is pointed at."""
    return browser.js("return document.querySelector('.rp-below').innerHTML")


def changed(browser, before):
    """Return what is drawn, once it is something else."""
    return browser.until(lambda: (now := drawing(browser)) != before and now, "a change")


def mouse(browser, kind, x, y, **more):
    """Send the browser an event of a mouse."""
    event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, **more}
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def drag(browser, start, end, modifiers=0):
    """Draw the pointer from one share of the plot to another, with its button down."""
    left, top, width, height = plot(browser)
    (x0, y0), (x1, y1) = ((left + x * width, top + y * height) for x, y in (start, end))
    mouse(browser, "mousePressed", x0, y0, modifiers=modifiers)
    for part in (0.3, 0.6, 1.0):
        x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
        mouse(browser, "mouseMoved", x, y, buttons=1, modifiers=modifiers)
    mouse(browser, "mouseReleased", x1, y1, modifiers=modifiers)


def places(browser):
    """Return where the points are, in shares of the plot, by their names."""
    left, top, width, height = plot(browser)
    found = browser.js(
        "const stops = document.querySelectorAll('.rp-stop[aria-roledescription=point]');"
        "return [...stops].map(stop => {"
        "const box = stop.getBoundingClientRect();"
        "return [stop.getAttribute('aria-label').split(':')[0].split(';')[0],"
        " box.left + box.width / 2, box.top + box.height / 2]})"
    )
    return {name: ((x - left) / width, (y - top) / height) for name, x, y in found}


def test_wheel_zooms_where_the_pointer_is_and_undo_takes_it_back(opened):
    """The point under the pointer stays; all turns of a wheel are one step back."""
    name, (x, y) = next(iter(places(opened).items()))
    left, top, width, height = plot(opened)
    before = drawing(opened)

    # A wheel that turns while the page is being scrolled goes on doing that.
    time.sleep(_SCROLLED)
    for _ in range(2):
        mouse(opened, "mouseWheel", left + x * width, top + y * height, deltaX=0, deltaY=-120)
    changed(opened, before)
    assert places(opened)[name] == pytest.approx((x, y), abs=0.02)

    opened.click(opened.button("Undo (u)"))
    opened.until(lambda: drawing(opened) == before, "the first view")


def test_drag_moves_the_plane_with_the_pointer(opened):
    """A tenth to the right and down."""
    before, (name, (x, y)) = drawing(opened), next(iter(places(opened).items()))
    drag(opened, (0.5, 0.2), (0.6, 0.3))
    changed(opened, before)
    assert places(opened)[name] == pytest.approx((x + 0.1, y + 0.1), abs=0.02)


def test_rectangle_fills_the_plot(opened):
    """A point in its middle is in the middle of the plot then."""
    before, (name, (x, y)) = drawing(opened), next(iter(places(opened).items()))
    room = min(x, 1 - x, y, 1 - y) * 0.8
    drag(opened, (x - room, y - room), (x + room, y + room), modifiers=_SHIFT)
    changed(opened, before)
    assert places(opened)[name] == pytest.approx((0.5, 0.5), abs=0.03)

    opened.click(opened.button("Show all (0)"))
    opened.until(lambda: drawing(opened) == before, "the first view")


def test_points_outside_are_named_and_come_back(opened):
    """By a button that says which."""
    before = drawing(opened)
    drag(opened, (0.9, 0.02), (0.98, 0.1), modifiers=_SHIFT)
    changed(opened, before)
    badge = opened.one(".rp-badge")
    assert badge.text.startswith("outside: ")
    opened.click(badge)
    opened.until(lambda: places(opened), "the points")
    assert all(0 <= share <= 1 for place in places(opened).values() for share in place)


def test_double_click_joins_and_a_click_beside_selects_nothing(opened):
    """The gesture of the same name on the keyboard is Enter."""
    left, top, width, height = plot(opened)
    x, y = next(iter(places(opened).values()))
    at = left + x * width, top + y * height
    for count in (1, 2):
        mouse(opened, "mousePressed", *at, clickCount=count)
        mouse(opened, "mouseReleased", *at, clickCount=count)
    assert "joined" in opened.until(
        lambda: opened.js("return document.querySelector('.rp-chart [role=status]').textContent"),
        "what was done to be said",
    )
    assert opened.all("tbody tr.selected") == []


def test_fingers_spread_zoom_and_a_tap_tells(opened):
    """On a phone, where nothing can be hovered."""
    wide = drawing(opened)
    opened.size(*PHONE)
    changed(opened, wide)
    left, top, width, height = plot(opened)
    x, y = next(iter(places(opened).values()))

    def touch(kind, *points):
        found = [{"x": px, "y": py, "id": number} for number, (px, py) in enumerate(points)]
        event = {"type": kind, "touchPoints": found}
        opened.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    touch("touchStart", (left + x * width, top + y * height))
    touch("touchEnd")
    assert opened.one(".rp-tooltip").text

    before, (cx, cy) = drawing(opened), (left + width / 2, top + height / 2)
    touch("touchStart", (cx - 20, cy), (cx + 20, cy))
    for far in range(30, 90, 10):
        touch("touchMove", (cx - far, cy), (cx + far, cy))
    touch("touchEnd")
    changed(opened, before)
