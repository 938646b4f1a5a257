"""The command that compares records: what it prints, its gates, and what it refuses."""

import json
import re

import figure_inputs as inputs
import pytest

from ridgepoint.core.measurement import Timing
from ridgepoint.kept.archive import Archive

WORSE = inputs.measurement(
    inputs.flop("fp64", 20_000_000), dram=(320_000_000, 80_000_000, 0), runtime_s=0.02
)


@pytest.fixture
def kept(cli):
    """Keep a machine and programs on it: 1 is the machine, 2 is before, 3 is after."""
    with Archive(cli.archive) as archive:
        machine = archive.keep_machine(inputs.MACHINE, label="small")
        archive.keep_measurement(inputs.TRIAD, machine, label="before")
        archive.keep_measurement(WORSE, machine, label="after")
        archive.keep_measurement(inputs.UNTIMED, machine, label="untimed")
        archive.keep_measurement(
            Timing(command=("./triad",), timed=inputs.TRIAD.timed, context=inputs.CONTEXT),
            None,
            label="timed",
        )
        for _ in range(2):
            archive.keep_measurement(inputs.TRIAD, machine, label="nightly")
    return cli


@pytest.mark.parametrize(
    ("gate", "status", "said"),
    [
        ("runtime > 1.05x", 1, "gate failed: runtime > 1.05x: 2x (95 % interval "),
        ("runtime > 3x", 0, ""),
        ("runtime > 15 ms", 1, "gate failed: runtime > 15 ms: 20 ms (95 % interval "),
        ("runtime > 2 s", 0, ""),
        ("runtime < 0.9x", 0, ""),
        ("work > 1x", 0, ""),
        ("work >= 1x", 1, "gate failed: work >= 1x: 1x, from 20 Mflop to 20 Mflop"),
        ("dram > 1.02x", 1, "gate failed: dram > 1.02x: 1.667x, from 240 MB to 400 MB"),
        ("DRAM_read > 300 MB", 1, "gate failed: DRAM_read > 300 MB: 320 MB"),
        ("l1 > 1x", 0, ""),
        ("bops > 1.5x", 0, ""),
        ("network > 1x", 1, "counts as failed, see --allow-unknown): network > 1x: the network"),
        ("work > 1 GBOP", 1, "its work is in flop, not in BOP"),
        ("function main: instructions > 1x", 1, "neither measurement has the function 'main'"),
    ],
)
def test_gates_decide_the_exit_status(kept, gate, status, said):
    """A line for each that fails, on standard error; none for what passes."""
    found, _, err = kept("compare", "before", "after", "--fail-if", gate)

    assert found == status
    assert said in err
    assert len(err.splitlines()) == (1 if status else 0)


def test_unknown_amounts_pass_only_if_allowed(kept):
    """What cannot be judged is said in any case."""
    words = ("compare", "before", "untimed", "--fail-if", "runtime > 1.05x")
    status, _, err = kept(*words)
    allowed, _, said = kept(*words, "--allow-unknown")

    assert (status, allowed) == (1, 0)
    assert "gate not judged" in err
    assert "the runtime after is unknown" in err
    assert "gate not judged (allowed)" in said


@pytest.mark.parametrize(
    "gate",
    [
        "", "runtime", "runtime > ", "runtime > 5", "runtime > 5%", "runtime > -1x", "runtime > 0x",
        "runtime > nanx", "runtime > infx", "runtime > 1.0.5x", "dram > 3 s", "dram > nan B",
        "speed > 1x", "runtime > 1x work", "function : runtime > 1x", "> 1x", "instructions > 3 s",
    ],
)  # fmt: skip
def test_wrong_gates_are_refused_in_a_line(kept, gate):
    """Before anything is compared, with status 2 and what to write."""
    status, out, err = kept("compare", "before", "after", "--fail-if", gate)

    assert (status, out) == (2, "")
    assert "Invalid value for '--fail-if'" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("before",), "it is one record only"),
        (("before", "small"), "the one is a program, the other a machine"),
        (("before", "nothing"), "cannot find 'nothing'"),
        (("before", "99"), "cannot find record 99"),
        (("nothing..", "before"), "cannot find"),
        (("before", "/tmp"), "cannot read"),
        (("before", "after", "--json", "--markdown"), "cannot be combined"),
        (("before", "after", "--tolerance", "nan"), "nan is not a number"),
        (("before", "after", "--tolerance", "-1"), "--tolerance"),
        (("before", "after", "--threshold", "100"), "--threshold"),
        (("before", "after", "-o", "x.txt"), "does not name a format"),
        (("before", "timed", "-o", "x.svg"), "it was timed but not counted"),
        (("small", "small", "--fail-if", "runtime > 1x"), "apply to programs, not to machines"),
    ],
)
def test_what_cannot_be_compared_is_refused(kept, words, said):
    """In a line, with status 2."""
    status, _, err = kept("compare", *words)

    assert status == 2
    assert said in " ".join(err.split())


def test_all_records_of_a_name_are_compared_with_the_first(kept):
    """And the titles say which record is which."""
    status, out, _ = kept("compare", "nightly..", "--json")
    document = json.loads(out)

    assert status == 0
    assert document["baseline"]["title"] == "nightly (record 6)"
    assert [one["record"]["title"] for one in document["comparisons"]] == ["nightly (record 7)"]


def test_json_holds_every_amount_and_gate(kept):
    """Unknown amounts are null, and never 0."""
    status, out, _ = kept("compare", "before", "untimed", "--json", "--fail-if", "dram > 1x")
    document = json.loads(out)
    (comparison,) = document["comparisons"]
    changes = {change["quantity"]: change for change in comparison["changes"]}

    assert status == 0
    assert document["kind"] == "comparison"
    assert changes["runtime"]["after"]["median"] is None
    assert changes["runtime"]["ratio"] is None
    assert changes["dram"]["verdict"] == "equal"
    assert document["gates"][0]["outcome"] == "passed"


def test_markdown_has_a_verdict_a_table_and_folded_details(kept):
    """As GitHub shows it: every row of a table has as many cells."""
    _, out, _ = kept("compare", "before", "after", "--markdown", "--fail-if", "dram > 1.02x")
    lines = out.splitlines()
    rows = [line.count("|") for line in lines if line.startswith("|")]

    assert lines[0] == "### after compared with before"
    assert "**After is slower: 2 times the runtime" in out
    assert "- ❌ `dram > 1.02x` 1.667x" in out
    assert set(rows) == {7}
    assert out.count("<details>") == out.count("</details>") == 1


def test_names_that_mean_something_elsewhere_are_shown_as_they_are(kept):
    """HTML, Markdown, rich's markup and a right-to-left override in a name and a command."""
    hostile = "[/b]<img src=x>|`*\u202e"
    with Archive(kept.archive) as archive:
        program = inputs.measurement(inputs.flop("fp64", 1), command=("./x", hostile, "a\nb"))
        archive.keep_measurement(program, 1, label="<b>[x]|`y`")
    _, text, _ = kept("compare", "before", "<b>[x]|`y`")
    _, markdown, _ = kept("compare", "before", "<b>[x]|`y`", "--markdown")
    table = [line for line in markdown.splitlines() if line.startswith("| ")]

    assert "<b>[x]|`y`" in text
    assert "[/b]<img src=x>" in text
    assert "\u202e" not in text + markdown
    assert "\\<b\\>\\[x\\]\\|\\`y\\`" in table[0]
    assert "<img" not in "".join(line for line in markdown.splitlines() if "`` ./x" not in line)


def test_the_picture_has_arrows(kept, tmp_path):
    """From the place before to the place after; an empty archive stays empty."""
    path = tmp_path / "change.svg"
    status, _, _ = kept("compare", "before", "after", "-o", path)

    assert status == 0
    assert "x 2 time" in path.read_text()


def test_machines_are_compared_by_their_ceilings(kept):
    """As 'machine --check' does, without measuring."""
    status, out, _ = kept("compare", "small", "small")

    assert status == 0
    assert "same within noise and tolerance" in out


def test_an_empty_archive_has_nothing_to_compare(cli):
    """And is not created."""
    status, _, err = cli("compare", "1", "2")

    assert status == 2
    assert "nothing is kept there yet" in err
    assert not cli.archive.exists()


def test_history_shows_the_records_of_a_name(kept, tmp_path):
    """As a table and a plot, as JSON, CSV and a picture; what was not timed is unknown."""
    path = tmp_path / "history.svg"
    status, out, _ = kept("history", "nightly", "-o", path)
    _, document, _ = kept("history", "before", "untimed", "after", "--of", "dram", "--json")
    _, table, _ = kept("history", "nightly", "--csv", "-", "--last", "1")
    (found,) = json.loads(document)["histories"]

    assert status == 0
    assert "no change of runtime told apart from noise and tolerance" in out
    assert "Runtime of nightly" in path.read_text()
    assert [moment["event"] for moment in found["moments"]] == ["", "", "change"]
    assert table.splitlines()[1].startswith("7,2026-11-21T03:00:00Z,node,runtime,s,0.01,")
    assert len(table.splitlines()) == 2


def test_a_record_is_not_named_like_all_records_of_a_name(kept):
    """Of earlier versions, such names remain."""
    status, _, err = kept("name", "2", "before..")

    assert status == 2
    assert "all records of a name" in err
    with Archive(kept.archive) as archive:
        archive.set_label(2, "old..")
    assert kept("show", "old..")[0] == 0


def test_a_command_that_is_a_file_too_has_a_history(kept, tmp_path, monkeypatch):
    """A program is there when its history is asked for in its folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "triad").write_bytes(b"\x7fELF")
    status, document, _ = kept("history", "./triad", "--json")

    assert status == 0
    assert len(json.loads(document)["histories"][0]["moments"]) >= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "no record has this name"),
        (("small",), "it is a machine, not a program"),
        (("nightly", "--of", "speed"), "is not a quantity"),
        (("nightly", "--last", "0"), "--last"),
        (("nightly", "-o", "x.txt"), "does not name a format"),
        ((), "Missing argument"),
    ],
)
def test_what_has_no_history_is_refused(kept, words, said):
    """In a line, with status 2."""
    status, _, err = kept("history", *words)

    assert status == 2
    assert said in " ".join(err.split())


def page_of(path):
    """Return the document that a page holds."""
    found = re.search(
        r'<script type="application/json"[^>]*>(.*?)</script>', path.read_text(), re.DOTALL
    )
    return json.loads(found[1])


def test_the_page_shows_the_change_first(kept, tmp_path):
    """Every amount is a row; arrows, rows and facts speak of the same program."""
    path = tmp_path / "change.html"
    status, _, _ = kept("compare", "before", "after", "-o", path)
    view = page_of(path)["views"][0]
    arrows = [line for line in view["charts"][0]["lines"] if line["kind"] == "change"]
    texts = [[cell["text"] for cell in row["cells"]] for row in view["table"]["rows"]]
    (program,) = view["subjects"]
    facts = {fact["key"]: fact for fact in program["facts"]}

    assert status == 0
    assert (view["kind"], view["title"]) == ("compare", "after compared with before")
    assert [arrow["subject"] for arrow in arrows] == [program["key"]]
    assert next(row for row in texts if row[2] == "DRAM")[3:6] == ["240 MB", "400 MB", "x 1.67"]
    assert facts["dram"]["text"] == "x 1.67, more"
    assert len(facts["runtime"]["samples"]) == 15
    assert page_of(path)["records"][1]["label"] == "after"


def test_a_page_needs_no_roofs(kept, tmp_path):
    """What was timed alone has no place on a roofline, but its times are compared."""
    path = tmp_path / "timed.html"
    status, _, _ = kept("compare", "before", "timed", "-o", path)
    view = page_of(path)["views"][0]

    assert status == 0
    assert not view.get("charts")
    assert any("unknown: not measured" in str(row) for row in view["table"]["rows"])


def test_a_history_is_a_page_too(kept, tmp_path):
    """A view for each amount."""
    path = tmp_path / "history.html"
    status, _, _ = kept("history", "nightly", "--of", "runtime", "--of", "dram", "-o", path)
    views = page_of(path)["views"]

    assert status == 0
    assert [view["title"] for view in views] == ["Runtime of nightly", "DRAM of nightly"]
    assert [len(view["table"]["rows"]) for view in views] == [2, 2]
