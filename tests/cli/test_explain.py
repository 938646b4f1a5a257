"""The diagnosis of a record: every kind, every way to name it, and what is refused."""

import json
from dataclasses import replace

import figure_inputs as inputs
import pytest

from ridgepoint.cli.main import main
from ridgepoint.kept.archive import Archive

SECTIONS = ("# Diagnosis of", "## Evidence", "## What to do next", "## How sure this is")


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Give the path of an archive with a program."""
    path = tmp_path / "a.sqlite3"
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(path))
    with Archive(path) as kept:
        machine_id = kept.keep_machine(inputs.MACHINE)
        kept.keep_measurement(inputs.TRIAD, machine_id, label="triad")
    return path


def explained(capsys, *words):
    """Return what is printed; the command must succeed."""
    assert main(["explain", *words]) == 0
    return capsys.readouterr().out


def test_the_last_record_is_explained_by_default(archive, capsys):
    """As by its name and its number."""
    printed = explained(capsys)

    assert printed == explained(capsys, "triad") == explained(capsys, "2")
    assert [line for line in printed.splitlines() if line.startswith(SECTIONS)]
    assert "- **DRAM bandwidth**: at full rate its traffic needs 5 ms, 50 % of its time" in printed
    assert "## What was ruled out" in printed


def test_it_is_written_to_a_file_in_place_of_standard_output(archive, capsys, tmp_path):
    """Markdown by .md, the document by .json."""
    text, document = tmp_path / "x.md", tmp_path / "x.json"
    printed = explained(capsys, "triad")
    assert explained(capsys, "triad", "-o", str(text), "-o", str(document)) == ""

    assert text.read_text() == printed
    assert document.read_text() == explained(capsys, "triad", "--json")


def test_the_document_has_the_verdict_and_every_cause(archive, capsys):
    """The same as the text says."""
    document = json.loads(explained(capsys, "triad", "--json"))

    assert document["verdict"]["limits"] == ["dram"]
    assert document["verdict"]["efficiency"] == pytest.approx(0.5)
    assert document["verdict"]["efficiency_range"][0] < 0.5
    standings = {cause["standing"] for cause in document["causes"]}
    assert standings <= {"limits", "contributes", "unknown", "ruled out"}


def test_names_cannot_act_as_markup(archive, capsys):
    """A command and a host that hold HTML and Markdown."""
    nasty = "<img src=x> | `a` *b* [c](d)\n\u202e@me"
    measured = replace(
        inputs.TRIAD,
        command=(nasty,),
        context=replace(inputs.TRIAD.context, hostname=nasty),
    )
    with Archive(archive) as kept:
        kept.keep_measurement(measured, 1, label="<b>|x")
    printed = explained(capsys)

    assert printed.startswith("# Diagnosis of \\<b\\>\\|x\n")
    markdown_it = pytest.importorskip("markdown_it")
    read = markdown_it.MarkdownIt("commonmark").enable("table").render(printed)
    assert "<img" not in read
    assert "<em>" not in read
    assert "\u202e" not in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "cannot find 'nothing'"),
        (["triad", "-o", "x.html"], "let its name end in .md, or in .json"),
        (["triad", "-o", "no/such/x.md"], "there is no folder"),
        (["1", "--work", "bops"], "--work does not apply"),
        (["1", "--machine", "e5645"], "--machine does not apply"),
        (["triad", "--machine", "none"], "cannot find 'none'"),
    ],
)
def test_what_cannot_be_explained_is_refused(archive, capsys, words, said):
    """In one line, with status 2."""
    assert main(["explain", *words]) == 2
    assert said in capsys.readouterr().err


def test_an_empty_archive_has_nothing_to_explain(tmp_path, capsys, monkeypatch):
    """It says how to begin."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(tmp_path / "none.sqlite3"))

    assert main(["explain"]) == 2
    assert "measure a program first" in capsys.readouterr().err


def test_a_full_disk_is_said(archive, capsys):
    """And no part is left."""
    assert main(["explain", "triad", "-o", "/dev/full"]) == 2
