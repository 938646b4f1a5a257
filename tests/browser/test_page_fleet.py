"""The page of a fleet in a browser: machines chosen in table and chart, one ceiling at a time."""

import kept_records
import pytest

import ridgepoint
from ridgepoint.models.fleet import Member
from ridgepoint.models.fleet.programs import program_on
from ridgepoint.published.machines import load
from ridgepoint.show.page.assemble import page_html
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.fleet import fleet_views

pytestmark = pytest.mark.slow

HOSTILE = '<b onclick="alert(1)">'


@pytest.fixture
def opened(browser, tmp_path):
    """Give the browser with a program on three machines open."""
    vm = kept_records.document("vm")
    fleet = [
        Member(name="vm", machine=vm),
        Member(name="e5645", machine=load("e5645")),
        Member(name=HOSTILE, machine=load("csb")),
    ]
    found = ridgepoint.fleet(*(one.machine for one in fleet))
    ranked = {name: found.ranking(name) for name in ("fp64", "bop")}
    named = {one.machine.name: one for one in fleet}
    assert set(named) == {"vm", "e5645", "csb"}
    program = program_on(kept_records.document("heat"), fleet, own=vm)
    path = tmp_path / "fleet.html"
    path.write_bytes(
        page_html(page_of((), title="Fleet", views=fleet_views(found.members, ranked, (), program)))
    )
    browser.open(path)
    browser.one("tbody")
    return browser


def test_a_row_leads_to_its_machine(opened):
    """Names are text, and the panel tells how the least time came about."""
    rows = opened.all("tbody tr[data-row]")
    assert len(rows) == 3
    assert opened.all("b[onclick]") == []
    (hostile,) = [row for row in rows if HOSTILE in row.text]
    opened.click(hostile)

    opened.until(lambda: "least time" in opened.one("aside").text, "the panel")
    assert HOSTILE in opened.one("aside").text


def test_one_ceiling_is_shown_at_a_time(opened):
    """Table and chart follow the choice; the machine without this ceiling is not in the table."""
    opened.click(opened.button("Machines by ceilings"))
    opened.until(lambda: len(opened.all("tbody tr[data-row]")) == 3, "three machines with fp64")
    (choice,) = [label for label in opened.all(".controls label") if label.text == "BOP"]
    opened.click(choice)

    opened.until(lambda: len(opened.all("tbody tr[data-row]")) == 2, "two machines with BOP")
