import hashlib
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cluster_inputs import CLUSTER
from core_inputs import MACHINE, MEASUREMENT
from full_disk import run_where_little_fits
from operator_inputs import MLP

from ridgepoint.core.documents import encode
from ridgepoint.core.errors import ArchiveRefused, InvalidDocument, RidgepointError
from ridgepoint.kept.archive import Archive, default_path
from ridgepoint.kept.keeping import keep, load
from ridgepoint.kept.transfer import import_all
from ridgepoint.models.analysis import place

WRITER = """
import sys
from dataclasses import replace
from core_inputs import MACHINE, MEASUREMENT
from ridgepoint.kept.archive import Archive

with Archive(sys.argv[1]) as archive:
    for number in range(int(sys.argv[2])):
        one = archive.keep_machine(replace(MACHINE, name=f"{sys.argv[3]} {number}"))
        print(one, f"{sys.argv[3]} {number}", sep=":", flush=True)
"""


# The tables of version 0.1.0, literally.
SCHEMA_1 = """
PRAGMA application_id = 1382638695;
PRAGMA user_version = 1;
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('machine', 'measurement')),
    created TEXT NOT NULL CHECK (typeof(created) = 'text'),
    name TEXT NOT NULL CHECK (typeof(name) = 'text'),
    fingerprint TEXT CHECK (typeof(fingerprint) IN ('text', 'null')),
    machine_id INTEGER REFERENCES record (id) CHECK (typeof(machine_id) IN ('integer', 'null')),
    document BLOB NOT NULL CHECK (typeof(document) = 'blob'),
    digest BLOB NOT NULL CHECK (typeof(digest) = 'blob')
);
CREATE INDEX record_by_fingerprint ON record (fingerprint, id);
"""
SCHEMA_2 = SCHEMA_1.replace("user_version = 1", "user_version = 2").replace(
    "'measurement')", "'measurement', 'cluster')"
)
SCHEMAS = {
    1: SCHEMA_1,
    2: SCHEMA_2,
    3: f"""{SCHEMA_2.replace("user_version = 2", "user_version = 3")}
CREATE TABLE about (
    id INTEGER PRIMARY KEY,
    label TEXT CHECK (typeof(label) IN ('text', 'null')),
    note TEXT CHECK (typeof(note) IN ('text', 'null')),
    summary TEXT CHECK (typeof(summary) IN ('text', 'null'))
);
""",
}


def start_writer(path, *, count, name):
    """Start a process that keeps machines and prints the id of each once it is kept."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(count), name],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def path(tmp_path):
    """Return where an archive may be; there is none yet."""
    return tmp_path / "archive.sqlite3"


@pytest.fixture
def kept(path):
    """Return an archive with a machine (1), a measurement on it (2) and one on none (3)."""
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)
        archive.keep_measurement(MEASUREMENT, 1)
        archive.keep_measurement(replace(MEASUREMENT, command=("ls",)), None)
    return path


@contextmanager
def ordinary_user():
    """Act as a user whom permissions bind: root is above them."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public():
    """Return a folder of the ordinary user; pytest's own is closed to others than root."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            os.chown(folder, 65534, -1)
        yield Path(folder)
        os.chmod(folder, 0o700)


def refusal_of(path, *, patience_s=10.0):
    """Return the message with which an archive is refused; the file must not change by it."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ArchiveRefused) as refusal, Archive(path, patience_s=patience_s) as archive:
        archive.keep_machine(MACHINE)
    after = path.read_bytes() if path.is_file() else None

    assert after == before
    assert "\n" not in str(refusal.value)
    assert str(path) in str(refusal.value)
    return str(refusal.value)


# --- what it keeps ------------------------------------------------------------------------------


def test_what_was_kept_is_read_back_as_it_was(kept):
    """Machines and measurements come back equal, in another connection."""
    with Archive(kept) as archive:
        assert archive.machine(1) == MACHINE
        assert archive.measurement(2) == MEASUREMENT
        assert archive.measurement(3).command == ("ls",)


def test_records_say_what_is_kept_oldest_first(kept):
    """Name, kind and machine, without reading the documents; a command as a shell takes it."""
    with Archive(kept) as archive:
        records = archive.records()

        assert [(r.id, r.kind, r.name, r.machine_id) for r in records] == [
            (1, "machine", "test bench", None),
            (2, "measurement", "./prog 'an argument'", 1),
            (3, "measurement", "ls", None),
        ]
        assert all(r.created.endswith("+00:00") for r in records)
        assert [r.id for r in archive.records("measurement")] == [2, 3]
        assert archive.record(2) == records[1]


def test_records_are_chosen(kept):
    """The last ones, those of a kind, and those that contain a text in their names or commands."""
    with Archive(kept) as archive:
        archive.keep_machine(replace(MACHINE, name="ÉTUVE"), label="Spare")

        def ids(**wanted):
            return [record.id for record in archive.records(**wanted)]

        assert archive.count() == 4
        assert ids(last=2) == [3, 4]
        assert ids(last=9) == ids() == [1, 2, 3, 4]
        assert ids(kind="machine") == [1, 4]
        assert ids(kind="measurement", last=1) == [3]
        assert ids(containing="SPARE") == ids(containing="étuve") == [4]
        assert ids(containing="r") == [2, 4]
        assert ids(containing="r", last=1) == [4]
        assert ids(containing="%") == []
    with Archive(kept.with_name("none")) as archive:
        assert (archive.count(), archive.records(last=1)) == (0, [])


def test_the_latest_machine_of_a_fingerprint_is_found(path):
    """A machine that was measured again replaces the older one, and others are not taken."""
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)
        again = archive.keep_machine(replace(MACHINE, name="again"))
        archive.keep_machine(replace(MACHINE, fingerprint="beef"))
        archive.keep_machine(replace(MACHINE, fingerprint=None))
        found = archive.latest_machine("f00d")

        assert found == (again, replace(MACHINE, name="again"))
        assert archive.latest_machine("0000") is None


def test_reading_makes_no_file(path):
    """An archive that is not there reads as empty and stays away."""
    with Archive(path) as archive:
        assert archive.records() == []
        assert archive.latest_machine("f00d") is None
        with pytest.raises(ArchiveRefused, match="nothing is kept there yet"):
            archive.measurement(1)

    assert list(path.parent.iterdir()) == []


def test_a_command_that_is_not_utf_8_is_kept(path):
    """A file name may hold any byte: it is shown escaped, and no measurement is lost by it."""
    with Archive(path) as archive:
        number = archive.keep_measurement(
            replace(MEASUREMENT, command=("cat", "M\udcfcnchen")), None
        )

        assert archive.measurement(number).command == ("cat", r"M\udcfcnchen")
        assert archive.record(number).name == r"cat 'M\udcfcnchen'"


@pytest.mark.parametrize("number", [0, -1, 4, 10**30])
def test_a_record_that_is_not_there_is_refused(kept, number):
    """The message says how many there are and where to look."""
    with Archive(kept) as archive, pytest.raises(ArchiveRefused, match=r"keeps 3 records.*list"):
        archive.machine(number)


def test_a_record_of_the_other_kind_is_refused(kept):
    """A measurement is no machine, neither to read nor to bound by."""
    with Archive(kept) as archive:
        with pytest.raises(ArchiveRefused, match="cannot find machine 2"):
            archive.machine(2)
        with pytest.raises(ArchiveRefused, match="cannot find measurement 1"):
            archive.measurement(1)
        with pytest.raises(ArchiveRefused, match="cannot find machine 2"):
            archive.keep_measurement(MEASUREMENT, 2)
        assert len(archive.records()) == 3


def test_a_new_archive_makes_its_folders_and_leaves_nothing_beside_it(tmp_path):
    """Whatever the names: a URI's special characters are plain ones in a path."""
    path = tmp_path / "a b" / "50% ?#&" / "x.db"
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)

    assert [entry.name for entry in path.parent.iterdir()] == ["x.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # commands and environments are private
    with Archive(path) as archive:
        assert archive.machine(1) == MACHINE


def test_a_closed_archive_opens_again(kept):
    """Closing twice, or before a call, does no harm."""
    archive = Archive(kept)
    archive.close()
    archive.close()

    assert len(archive.records()) == 3
    archive.close()


def test_the_default_path_follows_the_environment(monkeypatch, tmp_path):
    """RIDGEPOINT_ARCHIVE decides; else the user's data directory."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(tmp_path / "here.db"))
    assert default_path() == tmp_path / "here.db"

    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "ridgepoint" / "archive.sqlite3"


# --- several processes, and their sudden end ----------------------------------------------------


def test_two_writers_that_race_to_make_the_archive_both_keep_everything(path):
    """Two processes begin on no file; every id that either reports is there, none twice."""
    writers = [start_writer(path, count=20, name=name) for name in ("one", "two")]
    lines = [line for writer in writers for line in writer.communicate(timeout=60)[0].split("\n")]
    reported = dict(line.split(":") for line in lines if line)

    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(reported) == 40
    with Archive(path) as archive:
        assert {str(record.id): record.name for record in archive.records()} == reported
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_was_reported_as_kept_survives_a_kill(path):
    """SIGKILL at random moments: every id that was printed can be read, and writing goes on."""
    moments = random.Random(20240518)
    reported = {}
    for life in range(5):
        writer = start_writer(path, count=100_000, name=f"life {life}")
        reported |= [writer.stdout.readline().strip().split(":")]
        time.sleep(moments.uniform(0.0, 0.15))
        writer.send_signal(signal.SIGKILL)
        reported |= [line.split(":") for line in writer.stdout.read().splitlines()]
        writer.stdout.close()
        writer.wait(timeout=60)

    with Archive(path) as archive:
        for number, name in reported.items():
            assert archive.machine(int(number)).name == name
        assert archive.keep_machine(MACHINE) > max(map(int, reported))


def test_an_archive_that_stays_locked_is_refused(kept):
    """Another process that does not end its transaction is waited for, but not for ever."""
    with closing(sqlite3.connect(kept, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Archive(kept, patience_s=0.05) as archive:
            assert len(archive.records()) == 3  # reading goes on
            with pytest.raises(ArchiveRefused, match="another process keeps it locked"):
                archive.keep_machine(MACHINE)
        other.execute("COMMIT")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ArchiveRefused, match="another process keeps it locked"):
            Archive(kept, patience_s=0.05)
        other.execute("ROLLBACK")

    with Archive(kept) as archive:
        assert archive.keep_machine(MACHINE) == 4


def test_a_record_that_could_not_be_kept_leaves_no_trace(kept):
    """Each record is one transaction: what fails within it is undone, and the next one works."""
    with Archive(kept) as archive:
        with pytest.raises(ArchiveRefused):
            archive.keep_measurement(MEASUREMENT, 99)

        assert archive.keep_machine(MACHINE) == 4
        assert len(archive.records()) == 4


def old_archive(path, schema):
    """Make an archive as an earlier version did, with a machine and a measurement on it.

    Documents were plain JSON, and nothing was said about records.
    """
    rows = []
    for id, (facts, value) in enumerate(
        (
            (("machine", "test bench", "f00d", None), MACHINE),
            (("measurement", "./prog 'an argument'", None, 1), MEASUREMENT),
        ),
        start=1,
    ):
        kind, name, fingerprint, machine_id = facts
        document = encode(value)
        told = (kind, "2026-11-01T00:00:00+00:00", name, fingerprint, machine_id)
        digest = hashlib.sha256(repr(told).encode() + document).digest()
        rows.append((id, *told, document, digest))
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(SCHEMAS[schema])
        old.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def schema_of(path):
    """Return the schema of an archive's tables."""
    with closing(sqlite3.connect(path)) as other:
        return other.execute("PRAGMA user_version").fetchone()[0]


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_old_archive_is_read_as_it_is(path, schema):
    """Reading changes nothing in it; what an earlier version did not keep is unknown."""
    old_archive(path, schema)
    before = path.read_bytes()
    with Archive(path) as archive:
        assert archive.machine(1) == MACHINE
        assert archive.measurement(2) == MEASUREMENT
        assert archive.latest_machine("f00d") == (1, MACHINE)
        assert [(r.label, r.note, r.summary) for r in archive.records()] == [(None, None, None)] * 2

    assert path.read_bytes() == before


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_old_archive_is_imported(path, schema):
    """And stays as it was; once imported, its records are not imported again."""
    old_archive(path, schema)
    before = path.read_bytes()
    with Archive(path.with_name("new.sqlite3")) as new:
        merged = [import_all(new, [path]) for _ in range(2)]

        assert [[one.is_new for one in each] for each in merged] == [[True] * 2, [False] * 2]
        assert (new.machine(1), new.measurement(2)) == (MACHINE, MEASUREMENT)
        assert new.record(2).machine_id == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_old_archive_is_brought_up_to_date_when_it_is_written(path, schema):
    """It takes clusters, operators, names and notes then, with all its records, and is sound."""
    old_archive(path, schema)
    with Archive(path) as archive:
        assert archive.keep_cluster(CLUSTER) == 3
        assert archive.keep_operators(MLP, 1) == 4
        archive.set_label(2, "before")

    assert schema_of(path) == 4
    with Archive(path) as archive:
        assert [record.kind for record in archive.records()] == [
            "machine",
            "measurement",
            "cluster",
            "operators",
        ]
        assert archive.operators(4).operators == MLP.operators
        assert archive.machine(1) == MACHINE
        assert archive.measurement(archive.require("before").id) == MEASUREMENT
        assert archive.cluster(3) == CLUSTER
        assert archive.latest_machine("f00d") == (1, MACHINE)


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_archive_that_was_being_brought_up_to_date_at_a_kill_is_as_it_was(path, schema):
    """The tables are made anew, pages are on the disk already, and then comes SIGKILL."""
    old_archive(path, schema)
    script = """
import os, signal, sys
from ridgepoint.kept.archive import Archive

with Archive(sys.argv[1]) as archive:
    archive._file._opened().execute("PRAGMA cache_size = 1")
    with archive._file.writing() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
        for id in range(1000):
            connection.execute("INSERT INTO about (id, note) VALUES (?, ?)", (id, "x" * 1000))
        os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script, path], check=False)

    assert done.returncode == -signal.SIGKILL
    with Archive(path) as archive:
        assert archive.machine(1) == MACHINE
        assert archive.measurement(2) == MEASUREMENT
        assert schema_of(path) == schema
        assert archive.keep_machine(MACHINE) == 3
    assert schema_of(path) == 4


def test_a_cluster_where_a_machine_is_meant_is_its_slowest_node(path):
    """It bounds a measurement, too."""
    with Archive(path) as archive:
        number = archive.keep_cluster(CLUSTER)

        assert archive.machine(number) == CLUSTER.slowest()
        assert archive.record(archive.keep_measurement(MEASUREMENT, number)).machine_id == number
        with pytest.raises(ArchiveRefused, match="no such cluster"):
            archive.cluster(archive.keep_machine(MACHINE))


# --- names, notes, deleting ---------------------------------------------------------------------


def test_a_measurement_says_what_came_of_it(kept):
    """1 Gflop at 10 Gflop/s take 0.1 s, and 1 GB at 5 GB/s 0.2 s, of 0.25 s."""
    with Archive(kept) as archive:
        machine, placed, alone = (record.summary for record in archive.records())

    assert machine is None
    assert (placed.runtime_s, placed.binding) == (0.25, "dram")
    assert placed.efficiency == pytest.approx(0.8)
    assert (alone.runtime_s, alone.binding, alone.efficiency) == (0.25, None, None)


def test_records_are_found_by_number_and_by_the_last_of_a_name(kept):
    """A name may be given again, as a program is measured again; a kind may be asked for."""
    with Archive(kept) as archive:
        archive.set_label(2, "heat")
        assert archive.require("heat").id == 2
        again = archive.keep_measurement(MEASUREMENT, 1, label="heat", note="blocked")

        assert archive.require("heat").id == again
        assert archive.record(again).note == "blocked"
        assert archive.require("2").id == 2
        assert archive.find("heat", ["machine", "cluster"]) is None
        archive.set_label(again, None)
        assert archive.require("heat").id == 2
        with pytest.raises(ArchiveRefused, match="no record has this name; did you mean 'heat'"):
            archive.require("haet")


def test_python_keeps_and_loads_by_name_as_it_was_placed(path):
    """By basic operations here; of two with one name the last; a bad name keeps nothing."""
    bounded = place(MEASUREMENT, MACHINE)
    with pytest.raises(RidgepointError, match="cannot give a record the name"):
        keep(bounded, label="7", archive=path)
    assert not path.exists()
    keep(bounded, label="heat", archive=path)
    number = keep(place(MEASUREMENT, MACHINE, metric="bop"), label="heat", note="x", archive=path)

    assert load("heat", archive=path).metric == "bop"
    assert load(2, archive=path).measurement == MEASUREMENT
    with Archive(path) as archive:
        assert archive.record(number).note == "x"


@pytest.mark.parametrize("label", ["", " x", "12", "a/b", "m.json", "-x", "x" * 81, "a\nb"])
def test_a_name_that_reads_as_something_else_is_refused(kept, label):
    """A number, a file, an option: it could not be found again."""
    with Archive(kept) as archive:
        with pytest.raises(RidgepointError, match="cannot give a record the name"):
            archive.set_label(2, label)
        with pytest.raises(RidgepointError, match="cannot give a record the name"):
            archive.keep_machine(MACHINE, label=label)

        assert len(archive.records()) == 3


def test_a_machine_that_bounds_measurements_is_deleted_only_with_them(kept):
    """Nothing is deleted, or all that was asked for."""
    with Archive(kept) as archive:
        with pytest.raises(ArchiveRefused, match="the measurements 2 are bounded by it"):
            archive.delete([1, 3])
        assert len(archive.records()) == 3
        with pytest.raises(ArchiveRefused, match="no such record"):
            archive.delete([2, 7])
        assert len(archive.records()) == 3
        gone = archive.delete([1], with_measurements=True)

        assert [record.id for record in gone] == [1, 2]
        assert [record.id for record in archive.records()] == [3]


def test_the_number_of_what_was_deleted_is_not_given_again(kept):
    """A script that knows record 3 must not meet another one."""
    with Archive(kept) as archive:
        archive.set_note(3, "private")
        archive.delete([3])
        archive.delete([2])

        assert archive.keep_machine(MACHINE) == 4
        assert b"private" not in b"".join(map(repr_of, archive._file.rows("SELECT * FROM about")))


def repr_of(row):
    """Return a row as bytes."""
    return repr(row).encode()


def test_a_file_is_smaller_after_deleting_and_as_sound(path):
    """Documents that cannot be compressed make it large."""
    noise = random.Random(3).randbytes(200_000).hex()
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)
        archive.keep_measurement(replace(MEASUREMENT, command=("x", noise)), 1)
        large = path.stat().st_size
        archive.delete([2])
        archive.shrink()

    assert path.stat().st_size < large / 4
    with Archive(path) as archive:
        assert archive.machine(1) == MACHINE
        assert archive.keep_measurement(MEASUREMENT, 1) == 3


def test_documents_are_kept_compressed(path):
    """A report repeats its keys for every function: JSON shrinks to a tenth and less."""
    functions = tuple(
        replace(MEASUREMENT.counted.functions[0], name=f"function_{number}")
        for number in range(500)
    )
    measurement = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, functions=functions))
    with Archive(path) as archive:
        archive.keep_measurement(measurement, None)

        assert archive.measurement(1) == measurement
    assert path.stat().st_size < len(encode(measurement)) / 10


# --- what it refuses ----------------------------------------------------------------------------


def test_a_directory_is_refused(tmp_path):
    """A path that names a folder is no archive."""
    assert "it is a directory; name a file" in refusal_of(tmp_path)


@pytest.mark.parametrize("device", ["/dev/full", "/dev/null"])
def test_a_device_is_refused(device):
    """Nothing that is no regular file is opened."""
    assert "it is not a regular file" in refusal_of(Path(device))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"x", "too short, with 1 bytes"),
        (b"hello, world\n" * 1000, "it is not an SQLite file"),
        (b'{"schema": 1, "kind": "machine"}', "too short, with 32 bytes"),
    ],
)
def test_a_file_that_is_no_database_is_refused(path, content, reason):
    """An empty file too: an archive is made whole, so emptiness is a loss."""
    path.write_bytes(content)

    assert reason in refusal_of(path)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_the_database_of_another_program_is_refused(path, journal):
    """Its tables are not touched, nor is anything left beside it."""
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE TABLE record (id INTEGER PRIMARY KEY, title TEXT)")

    assert "it is another program's database" in refusal_of(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [
        (
            "user_version = 5",
            "its schema is 5, and this version reads schemas up to 4; use a newer",
        ),
        ("user_version = 0", "it is damaged (schema 0)"),
        ("application_id = 1", "it is another program's database"),
    ],
)
def test_an_archive_of_another_version_or_application_is_refused(kept, pragma, reason):
    """A newer archive may hold what this version would spoil."""
    with closing(sqlite3.connect(kept)) as other:
        other.execute(f"PRAGMA {pragma}")

    assert reason in refusal_of(kept)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.95])
def test_a_truncated_archive_is_refused(kept, share):
    """A copy that broke off is not read in part."""
    content = kept.read_bytes()
    kept.write_bytes(content[: int(len(content) * share)])

    assert "damaged" in refusal_of(kept)


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Take every archive for a large one, too: that is checked whole only before it is written."""
    if request.param == "large":
        monkeypatch.setattr("ridgepoint.kept.archive_connection._QUICKLY_CHECKED_BYTES", 0)


@pytest.mark.usefixtures("size")
def test_flipped_bytes_are_refused_or_harmless(kept):
    """Whichever byte is flipped: an error of ours, or exactly what was kept; never another."""
    content = kept.read_bytes()
    places = random.Random(7)
    outcomes = {"refused": 0, "sound": 0}
    for index in [*range(0, 100, 3), *(places.randrange(len(content)) for _ in range(60))]:
        spoilt = bytearray(content)
        spoilt[index] ^= 1 << places.randrange(8)
        kept.write_bytes(spoilt)
        try:
            with Archive(kept) as archive:
                archive.records()
                assert archive.machine(1) == MACHINE
                assert archive.measurement(2) == MEASUREMENT
            outcomes["sound"] += 1
        except RidgepointError:
            outcomes["refused"] += 1
        assert kept.read_bytes() == spoilt

    assert min(outcomes.values()) > 5


@pytest.mark.usefixtures("size")
def test_a_garbled_page_is_refused(kept):
    """A page of noise, as a failing disk leaves it."""
    content = bytearray(kept.read_bytes())
    content[4096:8192] = random.Random(1).randbytes(4096)
    kept.write_bytes(content)

    assert "it is damaged" in refusal_of(kept)


@pytest.mark.usefixtures("size")
def test_a_damaged_table_definition_is_refused(kept):
    """Two letters change what a column may hold, and SQLite itself finds nothing wrong."""
    content = kept.read_bytes()
    kept.write_bytes(content.replace(b"typeof(name) = 'text'", b"typeof(name) > 'test'"))

    assert "its tables are not those that Ridgepoint made" in refusal_of(kept)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"{", "its bytes have changed since it was kept"),
        (encode(MACHINE).replace(b"10000000000.0", b"90000000000.0"), "its bytes have changed"),
    ],
)
def test_a_damaged_record_is_refused_alone(kept, document, reason):
    """A digit that changed on the disk is noticed; the other records are still read."""
    with closing(sqlite3.connect(kept)) as other, other:
        other.execute("UPDATE record SET document = ? WHERE id = 1", (document,))

    with Archive(kept) as archive:
        assert len(archive.records()) == 3
        assert archive.measurement(2) == MEASUREMENT
        with pytest.raises(InvalidDocument, match=f"cannot read record 1 of .*: {reason}"):
            archive.machine(1)
        with pytest.raises(InvalidDocument, match=reason):
            archive.latest_machine("f00d")
        new = archive.keep_machine(MACHINE)
        assert archive.latest_machine("f00d") == (new, MACHINE)


def test_a_record_of_a_newer_schema_is_refused_alone(path, monkeypatch):
    """A newer Ridgepoint kept it in the same archive: this one says so."""
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)
        newer = encode(MACHINE).replace(b'"schema":1', b'"schema":2')
        monkeypatch.setattr("ridgepoint.kept.archive.encode", lambda machine: newer)
        archive.keep_machine(MACHINE)

        assert archive.machine(1) == MACHINE
        with pytest.raises(InvalidDocument, match=r"record 2 of .*its schema is 2.*use a newer"):
            archive.machine(2)


# --- what it may not do -------------------------------------------------------------------------


def test_an_archive_that_may_not_be_written_is_still_read(public):
    """A colleague's archive, or one on a read-only medium: list and show work, keeping does not."""
    with ordinary_user():
        path = public / "archive.sqlite3"
        with Archive(path) as archive:
            archive.keep_machine(MACHINE)
        path.chmod(0o400)
        public.chmod(0o500)

        with Archive(path) as archive:
            assert archive.machine(1) == MACHINE
            assert archive.latest_machine("f00d") == (1, MACHINE)
        assert "it is not writable" in refusal_of(path)


def test_a_folder_that_may_not_be_written_is_refused(public):
    """Neither a new archive nor a journal beside an old one can be made there."""
    with ordinary_user():
        path = public / "archive.sqlite3"
        with Archive(path) as archive:
            archive.keep_machine(MACHINE)
        public.chmod(0o500)

        assert "its folder is not writable" in refusal_of(path)
        assert "permission denied" in refusal_of(public / "new.sqlite3")
        assert "permission denied" in refusal_of(public / "folder" / "new.sqlite3")


def test_an_archive_that_may_not_be_read_is_refused(public):
    """Another user's private archive."""
    path = public / "archive.sqlite3"
    with Archive(path) as archive:
        archive.keep_machine(MACHINE)
    path.chmod(0)

    with ordinary_user(), pytest.raises(ArchiveRefused, match="cannot be opened; make"):
        Archive(path)


def test_a_path_through_a_file_is_refused(kept):
    """A part of the path is no folder."""
    assert "not a directory" in refusal_of(kept / "archive.sqlite3")


def test_a_full_disk_is_refused_and_nothing_kept_is_lost(tmp_path):
    """A file system of 256 KiB fills up: the record that failed is undone, the others are read."""
    program = f"""
from core_inputs import MACHINE
from ridgepoint.kept.archive import Archive
from ridgepoint.core.errors import ArchiveRefused

with Archive("{tmp_path}/archive.sqlite3") as archive:
    try:
        while True:
            last = archive.keep_machine(MACHINE)
    except ArchiveRefused as refusal:
        print(refusal)
    assert len(archive.records()) == last > 10
    assert archive.machine(last) == MACHINE
"""
    printed = run_where_little_fits(program, tmp_path)

    assert "the disk is full; make room" in printed
