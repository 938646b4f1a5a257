"""Records in files and between archives: what is written is read back, and nothing comes twice."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest
from cluster_inputs import CLUSTER
from core_inputs import MACHINE, MEASUREMENT
from full_disk import run_where_little_fits
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.documents import encode
from ridgepoint.core.errors import ArchiveRefused, InvalidDocument, RidgepointError
from ridgepoint.core.measurement import Timing
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.keeping import load
from ridgepoint.kept.lookup import found, kept, machine_of, measurement_of_file
from ridgepoint.kept.portable import digest_of, read_record, text_of
from ridgepoint.kept.transfer import (
    export_record,
    exported,
    file_names,
    import_all,
    import_records,
)

TIMING = Timing(command=("./slow",), timed=MEASUREMENT.timed, context=MEASUREMENT.context)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=20,
)


@pytest.fixture
def archive(tmp_path):
    """Return an archive with a machine, measurements on it and on none, times and a cluster."""
    with Archive(tmp_path / "archive.sqlite3") as opened:
        opened.keep_machine(MACHINE, label="bench", note="quiet")
        opened.keep_measurement(MEASUREMENT, 1, label="before", note="two\nlines")
        opened.keep_measurement(replace(MEASUREMENT, command=("ls", "a b")), None)
        opened.keep_measurement(TIMING, 1)
        opened.keep_cluster(CLUSTER, label="three")
        yield opened


def files(archive, folder, *ids):
    """Write records to a folder, and return the paths."""
    folder.mkdir(exist_ok=True)
    records = [archive.record(id) for id in ids] if ids else archive.records()
    paths = [folder / name for name in file_names(records)]
    for path, record in zip(paths, exported(archive, records), strict=True):
        path.write_text(text_of(record), encoding="utf-8")
    return paths


def described(archive):
    """Return all that is said of the records of an archive, but for their numbers."""
    return [
        (one.kind, one.created, one.name, one.label, one.note, one.summary)
        for one in archive.records()
    ]


def test_a_file_holds_all_that_the_archive_does(archive, tmp_path):
    """Imported elsewhere, every record is equal in content and in what is said of it."""
    paths = files(archive, tmp_path / "files")
    with Archive(tmp_path / "other.sqlite3") as other:
        merged = import_all(other, paths)

        assert [one.is_new for one in merged] == [True] * 5
        assert described(other) == described(archive)
        assert (other.machine(1), other.cluster(5)) == (MACHINE, CLUSTER)
        assert other.measurement(2) == MEASUREMENT
        assert other.measured(4) == TIMING
        assert [one.machine_id for one in other.records()] == [None, 1, None, 1, None]
        assert other.latest_machine(MACHINE.fingerprint) == archive.latest_machine(
            MACHINE.fingerprint
        )


def test_the_same_record_gives_the_same_file(archive, tmp_path):
    """Byte by byte, also from the archive that it was imported into."""
    paths = files(archive, tmp_path / "files")
    with Archive(tmp_path / "other.sqlite3") as other:
        import_all(other, [tmp_path / "files"])
        again = {one.name: one.read_bytes() for one in files(other, tmp_path / "again")}

    numbered = {"measurement-3.json", "measurement-4.json"}  # whose numbers are new
    for path in paths:
        assert path.name in numbered or again[path.name] == path.read_bytes()
    assert len(again) == 5


def test_a_whole_archive_is_imported_with_machines_mapped(archive, tmp_path):
    """Into one that has other records: numbers are new, and every bound is the same."""
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"))
        merged = import_all(other, [archive.path])

        assert [one.id for one in merged] == [2, 3, 4, 5, 6]
        assert other.record(3).machine_id == 2
        assert described(other)[1:] == described(archive)
        assert kept(other, "before") == kept(archive, "before")


def test_nothing_is_kept_twice(archive, tmp_path):
    """Neither from files, nor from an archive, nor without its machine, nor laid out anew."""
    paths = files(archive, tmp_path / "files")
    (record,) = exported(archive, [archive.record(2)], with_machines=False)
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(json.loads(text_of(record)), sort_keys=True), encoding="utf-8")
    plain = tmp_path / "machine.json"
    plain.write_bytes(encode(MACHINE))
    with Archive(tmp_path / "other.sqlite3") as other:
        import_all(other, [archive.path])
        merged = import_all(other, [*paths, archive.path, bare, plain])

        assert not any(one.is_new for one in merged)
        assert len(other.records()) == 5


def test_a_name_that_another_record_has_gets_a_number(archive, tmp_path):
    """The name keeps meaning what it meant; records of one source that share a name still do."""
    archive.keep_measurement(replace(MEASUREMENT, command=("./newer",)), 1, label="before")
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"), label="before")
        other.keep_machine(replace(MACHINE, name="there"), label="before-2")
        merged = import_all(other, [archive.path])

        assert [one.label for one in merged] == [
            "bench", "before-3", None, None, "three", "before-3",
        ]  # fmt: skip
        assert [one.is_renamed for one in merged] == [False, True, False, False, False, True]
        assert other.find("before").name == "here"
        assert other.find("before-3").name == "./newer"


def test_a_long_name_gets_its_number_within_the_limit(archive, tmp_path):
    """Eighty characters are the most that a name has."""
    archive.set_label(2, "x" * 80)
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"), label="x" * 80)

        assert import_all(other, [archive.path])[1].label == "x" * 78 + "-2"


def test_one_bad_file_keeps_all_from_being_imported(archive, tmp_path):
    """The archive has the same bytes afterwards."""
    paths = files(archive, tmp_path / "files")
    fields = json.loads(paths[1].read_text())
    fields["document"]["command"] = ["./forged"]
    paths[1].write_text(json.dumps(fields))
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"))
        before = other.path.read_bytes()
        with pytest.raises(InvalidDocument, match="digest"):
            import_all(other, paths)

        assert other.path.read_bytes() == before


def test_a_damaged_record_of_an_archive_keeps_all_from_being_imported(archive, tmp_path):
    """What was put in before it is taken back."""
    archive.close()
    with closing(sqlite3.connect(archive.path)) as connection, connection:
        connection.execute("UPDATE record SET name = 'forged' WHERE id = 4")
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"))
        before = other.path.read_bytes()
        with pytest.raises(InvalidDocument, match="bytes have changed"):
            import_all(other, [archive.path])

        assert other.path.read_bytes() == before


def test_an_interrupt_in_the_middle_keeps_all_from_being_imported(archive, tmp_path):
    """As Ctrl-C does, between two records."""

    def interrupted():
        yield from exported(archive, archive.records()[:3])
        raise KeyboardInterrupt

    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"))
        before = other.path.read_bytes()
        with pytest.raises(KeyboardInterrupt):
            other.merge(interrupted())

        assert other.path.read_bytes() == before


def test_an_archive_is_not_imported_into_itself(archive):
    """That would be a slip of the user's."""
    with pytest.raises(RidgepointError, match="it is the archive into which"):
        import_all(archive, [archive.path])


def changed(fields, path, value):
    """Return fields with one of them changed; ``...`` removes it."""
    inner = fields
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return fields


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("schema",), 2, "newer Ridgepoint"),
        (("document", "schema"), 99, "newer Ridgepoint"),
        (("machine", "document", "schema"), 99, "newer Ridgepoint"),
        (("digest",), "sha256:0", "digest"),
        (("digest",), ..., "digest"),
        (("machine", "digest"), "", "digest"),
        (("created",), "yesterday", "date"),
        (("label",), "a/b", "looks like a file"),
        (("label",), "7", "number"),
        (("label",), 7, "label"),
        (("document",), {}, "kind"),
        (("document",), [], "document"),
        (("document", "kind"), "report", "kind"),
        (("document", "kind"), "machine", "machine"),
        (("document", "command"), ..., "command"),
        (("machine", "document", "name"), None, "name"),
    ],
)
def test_a_damaged_file_is_refused(archive, tmp_path, path, value, words):
    """In one line that names the file and the field."""
    (file,) = files(archive, tmp_path / "files", 2)
    fields = changed(json.loads(file.read_text()), path, value)
    file.write_text(json.dumps(fields))

    with pytest.raises(InvalidDocument) as refusal:
        read_record(file.read_bytes(), origin=str(file))

    assert words in str(refusal.value)
    assert str(file) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_measurement_is_no_machine(archive, tmp_path):
    """Neither beside a measurement nor where a machine is meant."""
    (file,) = files(archive, tmp_path / "files", 2)
    fields = json.loads(file.read_text())
    fields["machine"] = {**fields, "schema": 1}
    for key in ("kind", "schema", "machine"):
        fields["machine"].pop(key)
    with pytest.raises(InvalidDocument, match="it is a program"):
        read_record(json.dumps(fields).encode(), origin="x")
    with pytest.raises(RidgepointError, match="measured program"):
        machine_of(str(file), archive.path)


@pytest.mark.parametrize("name", ["bench", "three"])
def test_a_file_of_a_machine_is_a_machine(archive, tmp_path, name):
    """Of a cluster it is the slowest node, as everywhere."""
    record = archive.find(name)
    (file,) = files(archive, tmp_path / "files", record.id)

    assert machine_of(str(file), archive.path) == archive.machine(record.id)


def test_a_file_is_found_like_a_record(archive, tmp_path):
    """Content, machine, name, note and date are those of the record."""
    before, untold, times = files(archive, tmp_path / "files", 2, 3, 4)
    there, here = found(archive, str(before)), found(archive, "before")

    assert there.value == here.value
    assert there.record == replace(here.record, id=0, machine_id=None)
    assert there.title == here.title == "before"
    assert found(archive, "e5645").record is None
    assert kept(archive, str(untold)) == kept(archive, "3")
    assert measurement_of_file(str(before)) == there.value
    for file in (untold, times):
        with pytest.raises(ArchiveRefused):
            measurement_of_file(str(file))


def test_file_names_differ():
    """By name, else by kind and number; of one name the last has it alone; whatever the case."""

    def record(id, label, kind="measurement"):
        from ridgepoint.kept.archive import Record

        return Record(id=id, kind=kind, created="", name="x", machine_id=None, label=label)

    assert file_names([record(1, None, "machine"), record(2, "a"), record(3, "A")]) == [
        "machine-1.json",
        "a-2.json",
        "A.json",
    ]
    names = file_names([record(1, "a"), record(2, "a-1"), record(3, "a")])
    assert len(set(names)) == 3


@given(VALUES)
def test_a_digest_ignores_layout_only(value):
    """The same for the same content, however written; another for another."""
    as_one = json.dumps(value).encode()
    laid_out = json.dumps(value, indent=3, sort_keys=True, ensure_ascii=False).encode()

    assert digest_of(as_one) == digest_of(laid_out)
    assert digest_of(as_one) != digest_of(json.dumps([value, 0]).encode())


def test_a_text_has_numbers_in_rows(archive):
    """Samples stand on one line, so that a change of one of them is one line of a diff."""
    (record,) = exported(archive, [archive.record(2)])
    text = text_of(record)

    assert json.loads(text)["document"] == json.loads(encode(MEASUREMENT))
    assert text.endswith("}\n")
    assert sum('"samples": [' in line and "]" in line for line in text.splitlines()) > 1


def test_a_killed_import_leaves_the_archive_as_it_was(archive, tmp_path):
    """SIGKILL after two records were written: the next reader finds none of them."""
    script = """
import os, signal, sys
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.transfer import exported

def killed(source):
    yield from exported(source, source.records()[:2])
    os.kill(os.getpid(), signal.SIGKILL)

with Archive(sys.argv[1]) as source, Archive(sys.argv[2]) as other:
    other.merge(killed(source))
"""
    with Archive(tmp_path / "other.sqlite3") as other:
        other.keep_machine(replace(MACHINE, name="here"))
    done = subprocess.run(
        [sys.executable, "-c", script, str(archive.path), str(other.path)], check=False
    )

    assert done.returncode == -signal.SIGKILL
    with Archive(other.path) as other:
        assert [one.name for one in other.records()] == ["here"]


def test_an_import_that_fills_the_disk_leaves_the_archive_as_it_was(tmp_path):
    """A file system of 256 KiB: none of the many records stays, and those before are read."""
    program = f"""
from dataclasses import replace
from pathlib import Path
from core_inputs import MACHINE
from ridgepoint.core.documents import encode
from ridgepoint.core.errors import ArchiveRefused
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.portable import read_record

def many():
    for number in range(10_000):
        one = replace(MACHINE, name=f"machine {{number}}")
        yield read_record(encode(one), origin="here")

with Archive("{tmp_path}/archive.sqlite3") as archive:
    archive.keep_machine(MACHINE)
    try:
        archive.merge(many())
    except ArchiveRefused as refusal:
        print(refusal)
    assert [one.id for one in archive.records()] == [1]
    assert archive.machine(1) == MACHINE
"""
    printed = run_where_little_fits(program, tmp_path)

    assert "the disk is full; make room" in printed


def test_python_exports_loads_and_imports(archive, tmp_path):
    """What is loaded from a file is what is loaded from the archive."""
    file, bare = tmp_path / "a.json", tmp_path / "b.json"
    export_record("before", file, archive=archive.path)
    export_record(2, bare, archive=archive.path, with_machine=False)
    merged = import_records(file, archive=tmp_path / "other.sqlite3")

    here, there = load("before", archive=archive.path), load(str(file))
    assert (there.measurement, there.machine) == (here.measurement, here.machine)
    assert load(str(bare)) == MEASUREMENT
    assert [one.id for one in merged] == [1, 2]
