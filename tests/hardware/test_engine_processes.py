"""Threads and processes: nothing is lost, nothing counts twice; see tests/programs/crowd.c."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from known_work import CROWD

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.run import Run

pytestmark = pytest.mark.valgrind

LINE = 64
EACH = 1000  # flop
QUICK = ("alive", "fork", "vfork", "execthread", "chain")


def _slow_but(mode, *quick):
    """Mark a mode as slow unless it is among some."""
    return () if mode in quick else pytest.mark.slow


@pytest.fixture
def crowd(compiled, counted, small_caches):
    """Count tests/programs/crowd.c."""

    def count(mode, n, *, simulated=False, options=(), cpus=1, **others):
        program = compiled("crowd.c", "-O2", *options)
        caches = small_caches if simulated else None
        return counted(program, mode, n, caches=caches, cpus=cpus, **others)

    return count


def dram(part):
    """Return what a part of a program moved to and from memory."""
    return part.traffic[-1]


@pytest.mark.parametrize(
    ("mode", "n", "times", "processes", "simulated"),
    [
        *(pytest.param(*one, False, id=f"{one[0]} counts") for one in CROWD),
        *(
            pytest.param(*one, True, id=f"{one[0]} caches", marks=_slow_but(one[0], *QUICK))
            for one in CROWD
        ),
    ],
)
def test_every_thread_and_process_counts_once(mode, n, times, processes, simulated, crowd):
    """Work is the sum of all that they did, before an exec and after."""
    result = crowd(mode, n, simulated=simulated)

    assert result.counts.work == {"fp64": times * EACH}
    assert (result.processes, result.partial) == (processes, None)


@pytest.mark.parametrize("mode", ["fork", "rawfork", "spawn", "vfork", "chain"])
@pytest.mark.parametrize("options", [("-static",), ("-static", "-s")], ids=" ".join)
def test_static_programs_are_followed_too(mode, options, crowd):
    """Without symbols and without a dynamic linker: callgrind has to refuse these."""
    assert crowd(mode, 2, options=options).counts.work == {"fp64": 3 * EACH}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "n", "processes"),
    [("waves", 10_000, 1), ("alive", 2_000, 1), ("together", 200, 201)],
)
def test_crowds_are_counted(mode, n, processes, crowd):
    """Thousands of threads, one after another and at once, and hundreds of processes."""
    result = crowd(mode, n)

    assert result.counts.work == {"fp64": (n + 1) * EACH}
    assert result.processes == processes


def test_children_that_are_killed_make_the_counts_partial(crowd):
    """What they did is lost, and that is said."""
    result = crowd("killed", 3)

    assert result.counts.work == {"fp64": EACH}
    assert "left no counts" in result.partial


def test_a_child_that_outlives_its_parent_is_counted_where_it_is_waited_for(crowd):
    """It works after its parent has gone."""

    def patient(command):
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        time.sleep(2)
        return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)

    assert crowd("outlives", 1, launch=patient).counts.work == {"fp64": 2 * EACH}


def test_a_program_that_is_killed_is_refused(compiled, counted):
    """SIGKILL leaves no counts of the program itself."""

    def killing(command):
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(1)
        child.kill()
        child.wait()
        return Run(exit_status=128 + signal.SIGKILL, wall_s=1.0, cpu_s=1.0)

    with pytest.raises(CannotMeasure, match="killed"):
        counted("sleep", 30, launch=killing)


def test_a_shell_script_is_counted_with_what_it_starts(compiled, counted, tmp_path):
    """Two programs one after another, a pipe of two, and one that the shell becomes."""
    crowd = compiled("crowd.c", "-O2")
    script = tmp_path / "script"
    script.write_text(
        f"#!/bin/sh\n{crowd} waves 2\n{crowd} fork 1 | {crowd} chain 3\nexec {crowd} execfails 1\n"
    )
    script.chmod(0o755)

    assert counted(script).counts.work == {"fp64": (3 + 2 + 4 + 2) * EACH}


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_threads_move_what_each_of_them_streams(cpus, crowd, of_function):
    """Four threads, each with arrays of its own that no cache holds."""
    lines = 20_000
    part = of_function(crowd("private", lines, simulated=True, cpus=cpus), "reads")

    assert part.counts.work == {"fp64": 4 * 4 * lines}
    assert dram(part).read_bytes == pytest.approx(4 * 4 * lines * LINE, rel=0.02)


def test_lines_that_threads_share_move_more_than_lines_of_their_own(
    compiled, counted, small_caches, of_function
):
    """Counters in one line go from L1 to L1 whenever another CPU adds to its own."""
    program, turns = compiled("crowd.c", "-O2"), 2000
    caches = tuple(replace(c, cores=4 if c.level == 3 else 1) for c in small_caches)
    moved = {
        name: of_function(counted(program, mode, turns, caches=caches, cpus=4), name).traffic
        for mode, name in (("shared", "adds_together"), ("padded", "adds_apart"))
    }
    together, apart = (
        next(t.read_bytes for t in moved[name] if t.level == "l2")
        for name in ("adds_together", "adds_apart")
    )

    assert apart < 200 * LINE
    assert together > 1000 * LINE


def test_the_same_program_is_counted_alike_every_time(compiled, counted, small_caches):
    """Counts and traffic, of one process and of several."""
    family = compiled("crowd.c", "-O2")
    runs = [counted(family, "fork", 3, caches=small_caches) for _ in range(3)]

    assert runs[0].counts == runs[1].counts == runs[2].counts
    assert runs[0].traffic == runs[1].traffic == runs[2].traffic


def test_a_python_program_is_counted_alike_if_its_hashes_are(counted, monkeypatch):
    """Nothing else varies: addresses are the same in every run."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    runs = [counted(sys.executable, "-S", "-c", "pass") for _ in range(2)]

    assert runs[0].counts == runs[1].counts


def test_a_program_may_end_its_own_way(compiled, counted):
    """Its status is passed on by the launcher, and abort() makes the counts partial."""
    statuses = []

    def watching(command):
        done = subprocess.run(command, check=False, capture_output=True)
        status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        statuses.append(status)
        return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)

    counted("sh", "-c", "exit 3", launch=watching)
    aborted = counted("sh", "-c", "kill -ABRT $$", launch=watching)

    assert statuses == [3, 128 + signal.SIGABRT]
    assert "SIGABRT" in aborted.partial


def test_arguments_and_input_of_every_kind_reach_the_program(counted, tmp_path):
    """Spaces, newlines, bytes that are no UTF-8, a large environment, and standard input."""
    output = tmp_path / "seen"
    script = f'cat > {output}; printf "%s" "$1$2" >> {output}; test ${{#HUGE}} = 100000'
    arguments = (" a\n$b ", b"\xff\xfe".decode("utf-8", "surrogateescape"))

    def feeding(command):
        done = subprocess.run(
            command, check=False, input=b"in\0put", env={**os.environ, "HUGE": "x" * 100_000}
        )
        return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)

    counted("sh", "-c", script, "sh", *arguments, launch=feeding)
    assert output.read_bytes() == b"in\0put a\n$b \xff\xfe"
