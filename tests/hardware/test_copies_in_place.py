"""Copies are mapped as they are in their files, where place and counters are as planned.

What is mapped is what the kernel says; the work of the programs is known.
"""

import fcntl
import os
import re
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ridgepoint.meters.native import arena
from ridgepoint.meters.native.build import native_engine
from ridgepoint.meters.native.history import history_of
from ridgepoint.meters.native.profiles import profiles_of
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.profile.counts import count
from ridgepoint.meters.profile.naming import Naming

PROGRAMS = Path(__file__).parents[1] / "programs"
LIMIT_S = 60
CALLS, EACH = 3, 500  # flop per call of library_work
HOOKS_PAGES = 2  # of a copy, that each process has for itself: hooks, and entries that are hooked
CODE, OUTWARD, COUNTERS, ANCHORS, ROWS = range(5)
CROWDED_MIB = 1400

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")


@dataclass(frozen=True)
class Ran:
    """A program that has run under the engine."""

    copies: dict[str, int]  # those that are mapped from their files, and the KiB of their own
    flop: int
    modules: dict[str, arena.Module]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return the program that prints what is mapped."""
    made = tmp_path_factory.mktemp("mapped") / "mapped"
    subprocess.run(["gcc", "-O2", PROGRAMS / "mapped.c", "-o", made, "-ldl"], check=True)
    return str(made)


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Return a folder where the copies of the system's libraries are made once."""
    return tmp_path_factory.mktemp("copies")


def library(path, *options, n=500):
    """Compile the library that does so many additions each time."""
    source = path.with_suffix(".c")
    source.write_text((PROGRAMS / "loaded_library.c").read_text().replace("500", str(n)))
    own = ["-O2", "-shared", "-fPIC", *options]
    subprocess.run(["gcc", *own, source, "-o", path], check=True)
    return str(path)


def run(*command, copies, claimed=()):
    """Run a program; units of planned counters may have been claimed by others."""
    engine = native_engine()
    copies.mkdir(exist_ok=True)
    with arena.Arena(copies=copies, copier=engine.copier, library=engine.library) as memory:
        with Path(memory.path).open("r+b") as file:
            claims_at = np.fromfile(file, arena.HEADER, 1)[0]["claims_at"]
            for unit in claimed:
                file.seek(int(claims_at) + 8 * unit)
                file.write(struct.pack("<Q", 12345))
        own = {"LD_PRELOAD": str(engine.library), "RIDGEPOINT_ARENA": memory.path}
        done = subprocess.run(
            command, env={**os.environ, **own}, capture_output=True, timeout=LIMIT_S, check=True
        )
        contents = memory.read()
    assert done.stderr == b""
    profiles = profiles_of(
        contents,
        history_of(contents.events).programs,
        files=CodeStore(limit_ns=time.time_ns(), changed_before_ns={}),
    )
    totals = count(profiles, naming=Naming(since_s=0.0))
    return Ran(
        copies=mapped_copies(done.stdout.decode()),
        flop=int(totals.counts.work["fp64"]),
        modules={module.path: module for module in contents.modules},
    )


def mapped_copies(text):
    """Return the files of copies that a program may execute, and KiB that are no longer theirs."""
    found = {}
    for part in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", text):
        head = part.partition("\n")[0]
        if head.endswith(".copy") and "r-xp" in head:
            changed = re.search(r"Private_Dirty: +(\d+) kB", part)
            found[head.split()[-1]] = int(changed[1])
    return found


def test_copies_are_mapped_from_their_files(program, copies, tmp_path):
    """Nearly all of them, and no more than pages with hooks become the process's own."""
    opened = library(tmp_path / "library.so")
    runs = [run(program, "0", opened, copies=copies) for _ in range(2)]

    assert [ran.flop for ran in runs] == [CALLS * EACH] * 2
    others = {one.copy for one in runs[1].modules.values()} - set(runs[1].copies)
    assert len(others) <= 1  # two may have been planned for one place
    own = runs[1].copies[runs[1].modules[opened].copy]
    assert 0 < own <= 4 * HOOKS_PAGES


def test_a_copy_whose_place_is_taken_goes_elsewhere(program, copies, tmp_path):
    """It is adjusted to it, and counts the same."""
    opened = library(tmp_path / "library.so")
    ran = run(program, str(CROWDED_MIB), opened, copies=copies)

    assert ran.flop == CALLS * EACH
    assert ran.modules[opened].copy not in ran.copies


def test_copies_whose_counters_are_taken_get_others(program, copies, tmp_path):
    """Nobody counts in counters of somebody else."""
    opened = library(tmp_path / "library.so")
    before = run(program, "0", opened, copies=copies)
    first = before.modules[opened].first_counter
    unit = (first - arena.FIRST_PLANNED) // arena.PLANNED_UNIT
    ran = run(program, "0", opened, copies=copies, claimed=[unit])
    crowded = run(program, "0", opened, copies=copies, claimed=range(arena.PLANNED_UNITS))

    assert (first - arena.FIRST_PLANNED) % arena.PLANNED_UNIT == 0
    assert (ran.flop, crowded.flop) == (CALLS * EACH, CALLS * EACH)
    assert ran.modules[opened].copy not in ran.copies
    assert set(before.copies) - set(ran.copies) == {ran.modules[opened].copy}
    assert crowded.copies == {}
    for one in (before, ran, crowded):
        counters = one.modules.values()
        ranges = sorted((m.first_counter, m.first_counter + m.n_counters) for m in counters)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(ranges))


def test_a_library_without_a_build_id_is_known_by_its_file(program, copies, tmp_path):
    """It is not read again, but what takes its place is another one."""
    path = tmp_path / "library.so"
    opened = library(path, "-Wl,--build-id=none")
    new = run(program, "0", opened, copies=copies)
    at_once = list(copies.glob("*.identity"))
    old = path.stat().st_ctime
    was_new = time.time() < old + 2  # within which a file may change and keep its times
    time.sleep(max(0.0, old + 2.1 - time.time()))
    known = run(program, "0", opened, copies=copies)
    (noted,) = copies.glob("*.identity")
    again = run(program, "0", opened, copies=copies)
    other = run(program, "0", library(path, "-Wl,--build-id=none", n=700), copies=copies)

    assert at_once == [] or not was_new
    identities = {one.modules[opened].identity for one in (new, known, again)}
    assert identities == {struct.unpack("<2Q", noted.read_bytes())}
    assert other.modules[opened].identity not in identities
    assert [one.flop for one in (new, known, again)] == [CALLS * EACH] * 3
    assert other.flop == CALLS * 700


def section(content, kind):
    """Return where a section of a copy is, and how many entries it has."""
    return struct.unpack_from("<QQ", content, 104 + 16 * kind)


def planned(content):
    """Return the first counter and the number of rows of a copy."""
    return struct.unpack_from("<Q", content, 104 + 16 * 16)[0], section(content, ROWS)[1]


def test_planned_counters_are_those_of_one_copy(tmp_path):
    """Code differs from that of a copy without a plan where counters are, and by no more."""
    copier, plan = native_engine().copier, tmp_path / "counters"
    sources = [library(tmp_path / f"{name}.so") for name in "ab"]
    plain, *copies = (tmp_path / name for name in ("plain", "first", "second"))
    subprocess.run([copier, sources[0], plain], check=True)
    for source, copy in zip(sources, copies, strict=True):
        subprocess.run([copier, source, copy, "--plan", plan], check=True)
    unplanned, *contents = (path.read_bytes() for path in (plain, *copies))
    (first, n), (second, _) = map(planned, contents)

    assert planned(unplanned)[0] == 0
    assert first >= arena.FIRST_PLANNED
    assert second >= first + n
    at, n_bytes = section(contents[0], CODE)
    places = np.frombuffer(contents[0], "<u4", *reversed(section(contents[0], COUNTERS)))
    expected = bytearray(unplanned[at : at + n_bytes])
    for place in places.tolist():
        (value,) = struct.unpack_from("<I", expected, place)
        struct.pack_into("<I", expected, place, value + 8 * first)
    assert contents[0][at : at + n_bytes] == bytes(expected)


def test_counters_are_planned_anew_when_all_were(tmp_path):
    """What the file says may also be nonsense."""
    copier, plan = native_engine().copier, tmp_path / "counters"
    source, copy = library(tmp_path / "library.so"), tmp_path / "copy"
    for given in (arena.PLANNED_UNITS, 1 << 63):
        plan.write_bytes(struct.pack("<Q", given))
        subprocess.run([copier, source, copy, "--plan", plan], check=True)

        assert planned(copy.read_bytes())[0] == arena.FIRST_PLANNED


def test_a_copy_that_could_not_be_written_is_tried_again(program, tmp_path):
    """There may be room another time; what cannot be copied at all is not tried again."""
    opened, copies = library(tmp_path / "library.so"), tmp_path / "copies"
    copies.mkdir()
    engine = native_engine()
    for status, n_refused in ((3, 0), (1, 1)):
        copier = tmp_path / "copier"
        copier.write_text(f"#!/bin/sh\necho no >&2\nexit {status}\n")
        copier.chmod(0o755)
        with arena.Arena(copies=copies, copier=copier, library=engine.library) as memory:
            own = {"LD_PRELOAD": str(engine.library), "RIDGEPOINT_ARENA": memory.path}
            subprocess.run(
                [program, "0", opened], env={**os.environ, **own}, capture_output=True, check=True
            )
        assert bool(list(copies.glob("*.refused"))) == n_refused


@pytest.mark.parametrize("is_made", [True, False])
def test_copiers_of_one_module_take_turns(is_made, tmp_path):
    """Who had to wait makes no second copy; if the first failed, it makes one."""
    source, copy = library(tmp_path / "library.so"), tmp_path / "one.copy"
    command = [native_engine().copier, source, copy, "--plan", tmp_path / "counters"]
    with (tmp_path / "one.copy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen(command) as second:
            with pytest.raises(subprocess.TimeoutExpired):
                second.wait(0.5)
            if is_made:
                copy.write_bytes(b"made")
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert second.wait(LIMIT_S) == 0

    assert (copy.read_bytes() == b"made") == is_made
    assert {path.name for path in tmp_path.glob("*.copy*")} == {"one.copy"}


def test_what_a_killed_copier_left_is_removed(tmp_path):
    """Halves of this copy alone."""
    source, copy = library(tmp_path / "library.so"), tmp_path / "one.copy"
    for name in ("one.copy.123", "one.copy.12a", "one.copy.refused", "none.copy.123"):
        (tmp_path / name).write_bytes(b"half")
    command = [native_engine().copier, source, copy, "--plan", tmp_path / "counters"]
    subprocess.run(command, check=True)

    names = {path.name for path in tmp_path.glob("*.copy*")}
    assert names == {"one.copy", "one.copy.12a", "one.copy.refused", "none.copy.123"}


def test_a_copier_without_memory_blames_no_module(tmp_path):
    """It says so by its status, and leaves no file."""
    source, copy = library(tmp_path / "library.so"), tmp_path / "one.copy"
    limited = f'ulimit -v 8192; exec "{native_engine().copier}" "{source}" "{copy}"'
    done = subprocess.run(["sh", "-c", limited], capture_output=True, check=False)

    assert (done.returncode, copy.exists()) in ((3, False), (0, True))
