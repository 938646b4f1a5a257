"""`ridgepoint report`: what it writes, and what it refuses."""

import json
import os
from dataclasses import replace

import kept_records
import pytest
from core_inputs import MACHINE, MEASUREMENT
from page_as_text import PageParser

from ridgepoint.cli.main import main
from ridgepoint.cli.output import write_machine, write_run
from ridgepoint.cli.view_options import Viewing
from ridgepoint.core.counts import FunctionCounts, LineCounts
from ridgepoint.kept.source_files import unchanged_lines
from ridgepoint.models.analysis import analyse
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.records import ShownRecord


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return an archive of every kind of record."""
    path = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    kept_records.fill(path)
    return path


@pytest.fixture
def report(kept, tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder of its own, and what it complains of."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(kept))
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = main(["report", *words])
        return status, capsys.readouterr().err

    return run


def document(path):
    """Return the document of a page, by the parser of HTML."""
    return json.loads(PageParser(path.read_text()).scripts["application/json"])


def test_page_and_its_data_are_the_same(report, tmp_path):
    """Of the last record, without a name."""
    assert report("-o", "page.html", "-o", "page.json") == (0, "")

    data = json.loads((tmp_path / "page.json").read_text())
    assert document(tmp_path / "page.html") == data
    assert [record["label"] for record in data["records"]] == ["three-ranks"]


def test_title_and_order_of_records(report, tmp_path):
    """As they are named."""
    assert report("triad", "small", "-o", "page.html", "--title", "<b>mine</b>")[0] == 0

    parser = PageParser((tmp_path / "page.html").read_text())
    assert "b" not in {tag for tag, _ in parser.elements}
    found = document(tmp_path / "page.html")
    assert found["title"] == "<b>mine</b>"
    assert [record["label"] for record in found["records"]] == ["triad", "small"]


def test_work_chooses_the_first_view(report, tmp_path):
    """Basic operations of a program that was measured in flop."""
    report("heat", "-o", "flop.json")
    report("heat", "--work", "bops", "-o", "bops.json")

    first = {
        name: json.loads((tmp_path / f"{name}.json").read_text())["views"][0]["kind"]
        for name in ("flop", "bops")
    }
    assert first == {"flop": "roofline", "bops": "dc-roofline"}


def test_pipeline_of_a_file(report, tmp_path, capsys):
    """The example's six stages, beside no record."""
    main(["pipeline", "--example"])
    (tmp_path / "imaging.toml").write_text(capsys.readouterr().out)

    assert report("--pipeline", "imaging.toml", "-o", "page.html") == (0, "")
    found = document(tmp_path / "page.html")
    assert found["records"] == []
    assert [view["kind"] for view in found["views"]] == ["pipeline"]
    assert len(found["views"][0]["table"]["rows"]) == 6


def test_other_commands_write_pages(tmp_path, monkeypatch, kept):
    """`plot` the picture, `scale` all its charts."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(kept))
    monkeypatch.chdir(tmp_path)
    node = ["--core-rate", "8Gflop/s", "--cores", "8", "--memory", "16GB/s", "--link", "2GB/s"]
    assert main(["plot", "triad", "-o", "plot.html"]) == 0
    assert main(["scale", "fft", "--size", "1e6", *node, "-o", "scale.html"]) == 0

    assert [view["kind"] for view in document(tmp_path / "plot.html")["views"]] == ["picture"]
    (scaling,) = document(tmp_path / "scale.html")["views"]
    assert len(scaling["charts"]) == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "-o", "page.html"), "cannot find 'nothing'"),
        (("heat", "heat", "-o", "page.html"), "'heat' is given twice"),
        (("heat",), "Missing option '-o'"),
        (("heat", "-o", "page.svg"), "let its name end in .html"),
        (("heat", "-o", "page"), "let its name end in .html"),
        (("heat", "-o", "nowhere/page.html"), "there is no folder 'nowhere'"),
        (("heat", "-o", "page.html", "--title", ""), "the value is empty"),
        (("pi=2 flop/cycle, beta=1 B/cycle", "-o", "page.html"), "add the frequency"),
        (("--pipeline", "none.toml", "-o", "page.html"), "does not exist"),
        (("--archive", "empty.sqlite3", "-o", "page.html"), "no record is kept there yet"),
    ],
)
def test_refusals(report, tmp_path, words, said):
    """Each says what is wrong, with status 2, and writes nothing."""
    status, complaint = report(*words)

    assert status == 2
    assert said in " ".join(complaint.split())
    assert not list(tmp_path.glob("page*"))


def test_a_page_that_cannot_be_written_leaves_the_old_one(report, tmp_path, monkeypatch):
    """On a full disk."""
    old = tmp_path / "page.html"
    old.write_text("old")

    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pathlib.Path.replace", full)
    status, complaint = report("triad", "-o", "page.html")

    assert status == 2
    assert "cannot write the page 'page.html'" in complaint
    assert old.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_text_of_source_lines_that_were_not_changed(report, tmp_path):
    """On request, of a file that is older than the measurement."""
    old, new, missing, secret, link = (
        tmp_path / name for name in ("old.c", "new.c", "missing.c", "secret", "link.c")
    )
    for path in (old, new, secret):
        path.write_text("first;\n\tsecond; // </script>\n")
        os.utime(path, None if path == new else (0, 0))
    link.symlink_to(secret)  # what somebody else's record names may be no source code
    lines = unchanged_lines(
        [*map(str, (old, new, missing, secret, link)), "old.c", "/", "/dev/zero"],
        since="2026-11-21T04:05:06+00:00",
    )

    assert lines == {str(old): ("first;", "\tsecond; // </script>")}
    counts = MEASUREMENT.counted.counts
    line = LineCounts(source=str(old), line=2, counts=counts, traffic=())
    beyond = LineCounts(source=str(old), line=3, counts=counts, traffic=())
    function = FunctionCounts(name="f", object=None, counts=counts, lines=(line, beyond))
    measured = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, functions=(function,)))
    shown = ShownRecord(key="1", value=analyse(measured, MACHINE), sources=lines)
    (subject,) = [each for each in page_of([shown]).views[0].subjects if each.kind == "function"]

    assert [line.text for line in subject.lines] == ["    second; // </script>", None]
    assert report("triad", "--sources", "-o", "page.html") == (0, "")


def test_a_program_and_a_machine_that_were_just_measured_get_all_views(tmp_path):
    """What `run -o` and `machine -o` write, without measuring here."""
    write_run(analyse(MEASUREMENT, MACHINE), [tmp_path / "run.html"], Viewing())
    write_machine(MACHINE, [tmp_path / "machine.html"])

    kinds = {
        name: [view["kind"] for view in document(tmp_path / f"{name}.html")["views"]]
        for name in ("run", "machine")
    }
    assert kinds == {"run": ["roofline", "samples", "samples"], "machine": ["roofline", "samples"]}
