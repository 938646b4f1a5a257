"""The generator writes equal data for equal seeds, of the size asked for, if the disk holds it."""

import hashlib
import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from datacenter_runs import refusal

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.suites.datacenter import build, generate

KINDS = ["text", "integers", "reviews", "points", "documents", "graph"]


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_files(tmp_path, kind):
    """And another seed another one."""
    once = generate(kind, tmp_path / "a", size=500, seed=3).read_bytes()
    again = generate(kind, tmp_path / "b", size=500, seed=3).read_bytes()
    other = generate(kind, tmp_path / "c", size=500, seed=4).read_bytes()

    assert once == again != other
    assert once.endswith(b"\n")


@pytest.mark.parametrize(
    ("kind", "size", "digest"),
    [
        ("integers", 100_000, "8a03ad72d2313f8ff0e50165e455206bd77f08e9"),
        ("reviews", 3_000_000, "5d93c5e45e4d34509968c124d87768a42fa2d083"),
        ("points", 30_000, "9ef16cadc565f0fa67074b296c9e47ef15346ae3"),
        ("documents", 5_000, "149962037758fff3fc7f1c1a1cff1b66ef58c13f"),
        ("graph", 10_000, "1519ad1b7b6219ac9acbabd94a350c524bca801f"),
        ("text", 7_777, "5f76eb39c00dc20ff93aab38dea15dbfe63006c4"),
    ],
)
def test_data_are_those_of_earlier_versions(tmp_path, kind, size, digest):
    """Made then by another code, a hundred bytes at a time: results stay comparable."""
    data = generate(kind, tmp_path / "a", size=size, seed=7).read_bytes()

    assert hashlib.sha1(data, usedforsecurity=False).hexdigest() == digest


def test_integers_are_those_of_splitmix64(tmp_path):
    """The first outputs for seed 1234567, as published with the generator."""
    path = generate("integers", tmp_path / "a", size=2, seed=1234567)
    values = [int(line) % 2**64 for line in path.read_text().split()]

    assert values == [6457827717110365317, 3203168211198807973]


def test_binary_integers_are_the_same_numbers(tmp_path):
    """Eight bytes each, the lowest first."""
    text = generate("integers", tmp_path / "a", size=50).read_text().split()
    binary = generate("integers", tmp_path / "b", size=50, binary=True).read_bytes()

    assert struct.unpack("<50q", binary) == tuple(map(int, text))


@pytest.mark.parametrize("size", [1, 2, 99, 12345])
def test_text_has_exactly_the_bytes_asked_for(tmp_path, size):
    """To the byte."""
    assert generate("text", tmp_path / "a", size=size).stat().st_size == size


def test_text_follows_zipf_roughly(tmp_path):
    """Of 16 octaves of ranks each has a sixteenth: the most frequent word is 1 of 16."""
    words = generate("text", tmp_path / "a", size=1_000_000).read_text().lower().split()
    share = sum(word.strip(".") == "ba" for word in words) / len(words)

    assert share == pytest.approx(1 / 16, rel=0.05)


def test_points_lie_around_a_hundred_centres(tmp_path):
    """Nine coordinates, at most 1 from the least of their centre: 0 to 11 in all."""
    rows = generate("points", tmp_path / "a", size=300).read_text().splitlines()
    values = [float(value) for row in rows for value in row.split()]

    assert len(rows) == 300
    assert len(values) == 2700
    assert min(values) >= 0
    assert max(values) < 11


def test_graph_has_sixteen_edges_for_each_vertex(tmp_path):
    """Of the power of two that holds the size; every number is a vertex."""
    text = generate("graph", tmp_path / "a", size=200).read_text()
    ends = [int(end) for end in text.split()]

    assert len(ends) == 2 * 16 * 256
    assert max(ends) < 256


def test_more_than_the_disk_holds_is_refused_before_anything_is_written(tmp_path):
    """A disk has less than a thousand times its own room."""
    size = 1000 * shutil.disk_usage(tmp_path).total

    with pytest.raises(CannotMeasure, match="the disk has"):
        generate("text", tmp_path / "a", size=size)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_half_of_the_data_is_never_taken_for_all_of_it(tmp_path, number):
    """Stopped or killed while it writes: an older file stays, and nothing else is there."""
    path = tmp_path / "a"
    path.write_text("older\n")
    size = shutil.disk_usage(tmp_path).free // 4
    program = subprocess.Popen(
        [build("generate", variant="optimised"), "text", "--size", str(size), "-o", path]
    )
    while written_bytes(program.pid) < 1 << 20:
        assert program.poll() is None
    program.send_signal(number)

    assert program.wait() == -number
    assert path.read_text() == "older\n"
    assert list(tmp_path.iterdir()) == [path]


def written_bytes(number):
    """Return how much a process has given to write, as the kernel counts it."""
    lines = Path(f"/proc/{number}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


def test_a_link_stays_one(tmp_path):
    """What it leads to is replaced."""
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_text("older\n")
    link.symlink_to(path)
    generate("text", link, size=100)

    assert link.is_symlink()
    assert path.stat().st_size == 100


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["poems", "--size", "1", "-o", "x"],
        ["text"],
        ["text", "--size", "0", "-o", "x"],
        ["text", "--size", "-1", "-o", "x"],
        ["text", "--size", "10", "-o", "/no/such/folder/x"],
        ["text", "--size", "10", "-o", "/dev/full"],
    ],
)
def test_bad_requests_are_one_line_and_status_2(tmp_path, monkeypatch, options):
    """Kinds, sizes and places that do not exist, and a disk that is full."""
    monkeypatch.chdir(tmp_path)

    refusal("generate", *options)


def test_files_are_the_same_on_every_machine(tmp_path):
    """A digest of all kinds, made once: whole numbers only, so nothing may differ."""
    digest = hashlib.sha256()
    for kind in KINDS:
        digest.update(generate(kind, tmp_path / kind, size=1000, seed=7).read_bytes())

    assert digest.hexdigest().startswith("2bb5d9e869c049b8")
