"""Records written to files and read from them: ``export`` and ``import``."""

import json
import os

import pytest

pytestmark = pytest.mark.usefixtures("meter")


@pytest.fixture
def kept(cli, monkeypatch):
    """Return a command line whose archive has a machine (1) and two measurements on it."""
    assert cli.run("--name", "before", "--", "true")[0] == 0
    assert cli.run("--", "true", "again")[0] == 0
    return cli


def refused(result, *words):
    """Assert one line of ours that says what is wrong, and status 2."""
    status, out, err = result

    assert (status, out) == (2, "")
    assert all(word in err for word in words), err


def test_a_file_is_taken_where_a_record_is(kept):
    """By 'show', 'plot' and --machine; without the archive too."""
    file, machine = kept.folder / "a.json", kept.folder / "m.json"
    assert kept("export", "before", "-o", file)[2].endswith(f"to {file}\n")
    kept("export", "1", "-o", machine)
    shown, drawn = kept("show", "before"), kept("plot", "before")

    assert kept("export", "before")[1] == file.read_text()
    assert kept("show", file, "--archive", kept.folder / "none")[:2] == shown[:2]
    assert kept("plot", file)[:2] == drawn[:2]
    assert kept("show", file, "--machine", machine)[:2] == shown[:2]


def test_a_folder_is_imported(kept):
    """Once; numbers and names are printed."""
    folder, other = kept.folder / "files", kept.folder / "other.sqlite3"
    assert kept("export", "--all", "-o", folder)[0] == 0
    out = kept("import", folder, "--archive", other)[1]

    assert sorted(os.listdir(folder)) == ["before.json", "machine-1.json", "measurement-3.json"]
    assert out.count("kept as") == 3
    assert "measurement 2, 'before'" in out
    assert out.endswith("3 new records\n")
    assert kept("import", folder, "--archive", other)[1].endswith("0 new records, 3 already kept\n")
    document = json.loads(kept("import", folder, "--json", "--archive", other)[1])
    assert [one["is_new"] for one in document["records"]] == [False] * 3


def test_without_its_machine_a_file_is_small_and_has_no_bound(kept):
    """What was counted is the same."""
    file = kept.folder / "a.json"
    kept("export", "before", "--no-machine", "-o", file)
    document, full = (json.loads(text) for text in (file.read_text(), kept("export", "before")[1]))

    assert document == {**full, "machine": None}
    assert kept("show", file)[0] == 0


def test_what_cannot_be_exported_is_refused(kept):
    """Before anything is written."""
    refused(kept("export"), "--all")
    refused(kept("export", "before", "--all"), "--all")
    refused(kept("export", "1", "2"), "2 records", "-o")
    refused(kept("export", "1", "2", "-o", kept.folder / "a.json"), "a.json")
    refused(kept("export", "none"), "'none'")
    refused(kept("export", "1", "-o", kept.folder / "no" / "a.json"), "no folder")
    refused(kept("export", "--all", "-o", kept.machine / "in"), "folder")


def test_a_full_disk_leaves_an_older_file(kept):
    """A device is written to, and says that it is full."""
    refused(kept("export", "before", "-o", "/dev/full/a.json"), "no folder")
    full = kept.folder / "full.json"
    full.symlink_to("/dev/full")
    refused(kept("export", "before", "-o", full), "no space left")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "cannot read"),
        (b"SQLite format 3\0", "too short"),
        (b'{"schema":1,"kind":"measurement"}', "ridgepoint export"),
        (b"\xff\xfe", "cannot read"),
    ],
)
def test_what_cannot_be_imported_is_refused(kept, content, words):
    """In one line, and the archive is as it was."""
    file, before = kept.folder / "bad.json", kept.archive.read_bytes()
    if content is not None:
        file.write_bytes(content)

    refused(kept("import", file), words)
    assert kept.archive.read_bytes() == before


def test_a_folder_without_files_is_refused(kept, tmp_path_factory):
    """Nothing is imported silently."""
    refused(kept("import", tmp_path_factory.mktemp("empty")), ".json")
    refused(kept("import"), "FILE")
