"""Several machines, single bandwidths and rates per cycle: ``run``, ``show``, ``plot``."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("meter")


@pytest.fixture
def kept(cli):
    """Return a command line whose archive has a machine (1) and a measurement on it (2)."""
    assert cli.run("--", "true")[0] == 0
    return cli


def test_a_run_is_bounded_by_the_first_machine_and_told_of_the_others(cli):
    """1 Gflop and 1 GB: 13.2 GB/s of the paper's machine allow 13.2 Gflop/s, its core 9.6."""
    status, _, err = cli.run("--machine", "e5645", "--no-plot", "--", "true")

    assert status == 0
    assert "on other machines" in err
    assert "e5645, Xeon E5645" in err
    assert "9.6 Gflop/s" in err


def test_json_has_them_and_show_gives_them_again(kept):
    """The machine that it was kept with, where none is named, bounds it."""
    shown = json.loads(kept("show", "2", "--json")[1])
    elsewhere = json.loads(kept("show", "2", "--machine", "e5645", "--json")[1])
    both = json.loads(kept("show", "2", "--machine", "1", "--machine", "e5645", "--json")[1])

    assert shown["other_machines"] == []
    assert elsewhere["bound"]["machine"] == "e5645"
    assert both["bound"] == shown["bound"]
    assert [one["machine"] for one in both["other_machines"]] == ["e5645"]
    assert both["other_machines"][0]["bound"] == elsewhere["bound"]


def test_each_bandwidth_has_a_row_and_a_plane(kept):
    """As many planes as were asked for, each once."""
    asked = [word for way in ("read", "write", "read") for word in ("--bandwidth", way)]
    said = kept("show", "2", *asked)[1]

    assert said.count("W/Qr, reads only") == said.count("W/Qw, writes only") == 1
    assert "W/Qr" in said.split("bandwidth  of")[1]


def test_rates_per_cycle_need_a_clock(kept):
    """The machine of the tests has none."""
    said = kept("show", "2", "--per-cycle")[1]

    assert "per cycle   unknown: the core clock of" in " ".join(said.split(" " * 3))
    assert "rates are per second" in said


def test_other_machines_are_not_among_what_was_asked_of_a_run(cli):
    """They say what to show, not what to measure."""
    cli.run("--machine", "e5645", "--bandwidth", "read", "--per-cycle", "--", "true")
    records = json.loads(cli("list", "--json")[1])["records"]

    assert records[-1]["summary"]["options"] == ["--repeat 1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plot 2 --machine 1 --machine 1", "given twice"),
        ("plot 2 --machine 1 --machine nope", "nope"),
        ("plot 2 --machine 1 --machine 2", "no such machine"),
        (
            "plot 2 --machine a100 --machine h200 --machine csb --machine xw --machine 1",
            "4 machines",
        ),
        ("plot 2 --bandwidth both", "both"),
        ("plot 2 --bandwidth read --miss-curve", "rooflines"),
        ("plot --machine 1 --machine h200 --latency", "rooflines"),
        ("show 1 --bandwidth read", "does not apply"),
        ("show 1 --machine h200", "does not apply"),
        ("show 1 --per-cycle", "does not apply"),
    ],
)
def test_nonsense_is_refused(kept, words, said):
    """One line that says what is wrong, status 2."""
    status, out, err = kept(*words.split())

    assert (status, out) == (2, "")
    assert said in err


def test_several_counted_runs_are_made_and_said(cli, meter):
    """Three counts of the same program, alike here; the option is kept with the record."""
    said = cli.run("--count-runs", "3", "--no-plot", "--", "true")[2]
    (record,) = json.loads(cli("list", "--json")[1])["records"][1:]

    assert len(meter.commands) == 3
    assert "alike in 3 counted runs" in said
    assert "--count-runs 3" in record["summary"]["options"]
    assert len(json.loads(cli("show", "2", "--json")[1])["counted_runs"]) == 3


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "nan", ""])
def test_a_number_of_counted_runs_that_cannot_be_is_refused(cli, number):
    """One line, status 2."""
    assert cli.run("--count-runs", number, "--", "true")[0] == 2


def test_a_record_that_is_a_machine_is_drawn_beside_the_named_one(kept):
    """Only the named one was drawn before."""
    said = kept("plot", "1", "--machine", "e5645")[1]

    assert said.startswith("e5645, Xeon E5645")
    assert said.count("╌╌ ") == 1  # the key's row of the other machine


def test_nothing_is_shown_before_an_option_is_refused(kept):
    """The measurement comes first, and the option does not fit the machine after it."""
    status, out, err = kept("show", "2", "1", "--bandwidth", "read")

    assert (status, out) == (2, "")
    assert "does not apply" in err
