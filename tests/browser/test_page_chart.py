"""The chart of a page in a browser, and how it is linked with the table and the panel."""

from xml.etree import ElementTree

import pytest
from browsing import CONTROL, ENTER, ESCAPE, RIGHT, SPACE
from page_inputs import HOSTILE, page_of_names

from ridgepoint.show.page.assemble import page_html

pytestmark = pytest.mark.slow

NAMES = ("gemm", "gemv 10", "gemv 9", "sort")


@pytest.fixture
def opened(browser, tmp_path):
    """Give the browser with a page of four functions open."""
    path = tmp_path / "page.html"
    path.write_bytes(page_html(page_of_names(*NAMES)))
    browser.open(path)
    browser.one("tbody")
    return browser


def points(browser):
    """Return the points of the chart, as a screen reader has them."""
    return browser.all(".rp-stop[aria-roledescription=point]")


def named(browser, name):
    """Return the only point of a name."""
    found = [one for one in points(browser) if name in one.get_attribute("aria-label")]
    assert len(found) == 1
    return found[0]


def hovered(browser):
    """Return the names in the rows that are shown as pointed at."""
    return [row.text for row in browser.all("tbody tr.hovered th")]


def test_pointer_on_a_point_shows_its_row_and_its_numbers(opened):
    """And a click selects it."""
    opened.point(named(opened, "gemv 10"))
    assert hovered(opened) == ["gemv 10"]
    assert "gemv 10" in opened.one(".rp-tooltip").text

    opened.click(named(opened, "gemv 10"))
    assert opened.one(".panel h3").text == "gemv 10"
    assert opened.one("tbody tr.selected th").text == "gemv 10"


def test_pointer_on_a_row_shows_its_point(opened):
    """A ring is drawn around it, and taken away."""
    rings = "return document.querySelectorAll('.rp-pointing path').length"
    opened.point(opened.one("h1"))
    before = opened.js(rings)
    opened.point(opened.all("button.pick")[1])
    assert opened.js(rings) == before + 1
    opened.point(opened.one("h1"))
    assert opened.js(rings) == before


def test_points_are_reached_and_selected_by_keys(opened):
    """Arrows go from point to point; the space bar selects, Escape deselects."""
    opened.press("c")
    seen = []
    for _ in range(len(opened.all(".rp-stop"))):
        opened.press(RIGHT)
        seen += hovered(opened)
    assert set(seen) == set(NAMES)

    while "gemv 9" not in opened.focus.get_attribute("aria-label"):
        opened.press(RIGHT)
    opened.press(SPACE)
    assert opened.one(".panel h3").text == "gemv 9"
    opened.press(ESCAPE)
    assert opened.all(".panel .subject") == []


def test_levels_are_switched_and_joined(opened):
    """A box shows the points over other bytes; Enter joins those of one function."""
    assert len(points(opened)) == 4
    opened.one("fieldset input[value=L1]").click()
    opened.until(lambda: len(points(opened)) == 8, "eight points")
    opened.one("fieldset input[value=L1]").click()
    opened.until(lambda: len(points(opened)) == 4, "four points")

    opened.js("arguments[0].focus()", named(opened, "gemm"))
    opened.press(ENTER)
    opened.until(lambda: len(points(opened)) == 5, "the other level of one function")


def test_search_and_runtime_leave_points_too(opened):
    """What the table does not show, the chart does not either."""
    opened.write(opened.one("input[type=search]"), "gemv")
    opened.until(lambda: len(points(opened)) == 2, "two points")
    assert {"gemv 10", "gemv 9"} == {
        name for name in NAMES for one in points(opened) if name in one.get_attribute("aria-label")
    }


def test_view_is_saved_as_svg_and_png(opened, tmp_path):
    """The SVG stands alone; hostile names are text in it."""
    first, second = tmp_path / "svg", tmp_path / "png"
    first.mkdir()
    second.mkdir()
    svg, png = (
        next(one for one in opened.all(".rp-tools button") if one.text == ending)
        for ending in ("SVG", "PNG")
    )

    root = ElementTree.parse(opened.saved(first, svg.click)).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "gemm" in "".join(root.itertext())
    assert opened.saved(second, png.click).read_bytes().startswith(b"\x89PNG\r\n")


def test_hostile_names_are_text_in_the_saved_picture(browser, tmp_path):
    """The file is well-formed and has no elements but those of pictures."""
    path, folder = tmp_path / "page.html", tmp_path / "saved"
    path.write_bytes(page_html(page_of_names(*HOSTILE)))
    folder.mkdir()
    browser.open(path)
    svg = next(one for one in browser.all(".rp-tools button") if one.text == "SVG")

    root = ElementTree.parse(browser.saved(folder, svg.click)).getroot()

    assert HOSTILE[0] in "".join(root.itertext())
    assert not [one for one in root.iter() if one.tag.endswith(("}script", "}img", "}a"))]


def test_several_are_selected_with_control(opened):
    """On the chart as in the table."""
    opened.click(named(opened, "gemm"))
    opened.click(named(opened, "sort"), held=CONTROL)
    assert [one.text for one in opened.all(".panel h3")] == ["gemm", "sort"]


PAINTED = """
return [...document.querySelectorAll('.rp-canvas')].map((canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  return [data.some((value) => value > 0), Number(getComputedStyle(canvas).opacity)];
});
"""


def test_selected_point_of_many_stands_out(browser, tmp_path):
    """All points stay where they are, weaker; what is selected lies over them."""
    path = tmp_path / "page.html"
    path.write_bytes(page_html(page_of_names(*(f"function {number}" for number in range(600)))))
    browser.open(path)
    assert browser.js(PAINTED) == [[True, 1], [False, 1]]

    browser.click(browser.all("button.pick")[0])

    (are_dimmed, strength), bright = browser.until(
        lambda: (painted := browser.js(PAINTED))[1][0] and painted, "the selected point"
    )
    assert are_dimmed
    assert 0 < strength < 0.5
    assert bright == [True, 1]
    browser.press(ESCAPE)
    browser.until(lambda: browser.js(PAINTED) == [[True, 1], [False, 1]], "all points")
