"""Files of counters and sums, from literal bytes and tables."""

import struct

import pytest

from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.meters.source.counts import add_up, total
from ridgepoint.meters.source.slabs import read
from ridgepoint.meters.source.table import LineWork, Site, SourceFunction, Table, digest

ADD, COMPARE = (1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)
TABLE = Table(
    source="/src/a.c",
    functions=(SourceFunction("one", "/src/a.c", 3), SourceFunction("two", "/src/a.c", 9)),
    sites=(
        Site(0, (LineWork("/src/a.c", 4, ADD), LineWork("/src/a.c", 5, COMPARE))),
        Site(1, (LineWork("/src/a.c", 5, ADD),)),
    ),
    assembly=0,
)


def chunk(*blocks, pid=7, image=1, ended=1):
    """Return a file's bytes as struct chunk and struct block in runtime.c have them."""
    body = b"".join(
        struct.pack("=4Q32x", number, len(counters), 0, 0)
        + struct.pack(f"={len(counters)}Q", *counters).ljust(64, b"\0")
        for number, counters in blocks
    )
    header = struct.pack("=8s5Q16x", b"RPBOPS1\0", ended, pid, image, 64 + len(body), 4096)
    return (header + body).ljust(4096, b"\0")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the table, and its digest."""
    data = TABLE.encode()
    (tmp_path / f"{digest(data):016x}.table").write_bytes(data)
    return tmp_path, digest(data)


def test_threads_and_processes_add_up(folder):
    """Two threads of one process, one of another that was killed."""
    path, number = folder
    (path / "a.counts").write_bytes(chunk((number, [10, 1]), (number, [20, 2])))
    (path / "b.counts").write_bytes(chunk((number, [5, 0]), pid=8, ended=0))

    left = read(path)

    assert [(table, counts.tolist()) for table, counts in left.modules] == [(TABLE, [35, 3])]
    assert (left.processes, left.cut_short, left.lost) == (2, 1, False)


def test_a_process_that_any_of_its_files_says_ended_did(folder):
    """Libraries have files of their own, which _exit does not reach."""
    path, number = folder
    (path / "a.counts").write_bytes(chunk((number, [1, 1])))
    (path / "b.counts").write_bytes(chunk((number, [1, 1]), ended=0))

    assert read(path).cut_short == 0


def test_a_file_that_was_just_made_counts_nothing(folder):
    """A process may be killed before it has written anything."""
    path, _ = folder
    (path / "a.counts").write_bytes(bytes(4096))

    assert read(path).processes == 0


@pytest.mark.parametrize("data", [b"X" * 4096, chunk((1, [1])).replace(b"BOPS1", b"BOPS2")])
def test_a_damaged_file_is_refused(folder, data):
    """It is not read as one without counts."""
    path, _ = folder
    (path / "a.counts").write_bytes(data)

    with pytest.raises(ValueError, match="damaged"):
        read(path)


def test_functions_and_lines_are_sums_over_counters():
    """By hand: site 0 ran 10 times, site 1 three times; line 5 is in both."""
    functions, lines = add_up([(TABLE, [10, 3])])

    assert [(one.name, one.operations.total) for one in functions] == [("one", 20), ("two", 3)]
    assert [(one.line, one.operations) for one in lines] == [
        (5, BasicOperations(arithmetic=3, compare=10)),
        (4, BasicOperations(arithmetic=10)),
    ]
    assert total(functions) == total(lines)
