"""Calls measured for real: work and traffic against arithmetic, and what goes wrong in scripts."""

import importlib
import importlib.util
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import ridgepoint
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls import measure_all, subject

PROGRAMS = Path(__file__).parents[1] / "programs"
N = 100_000
FEW = {"repetitions": 6, "limit_s": 2.0}

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.valgrind,
    pytest.mark.slow,  # what counts imports NumPy under Valgrind: 10 s each time
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Return the module of functions, which other processes can import too."""
    folder = tmp_path_factory.mktemp("module")
    shutil.copy(PROGRAMS / "harnessed.py", folder / "harnessed_programs.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("harnessed_programs")


def compile_library(folder):
    """Return the path of the library, compiled by gcc."""
    path = folder / "axpy.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-o", path, PROGRAMS / "axpy.c"]
    subprocess.run(command, check=True)
    return str(path)


def arrays():
    """Return two arrays of random numbers, none of them zero."""
    rng = np.random.default_rng(1)
    return rng.random(N) + 1, rng.random(N) + 1


@pytest.fixture(scope="module")
def measured(programs, tmp_path_factory):
    """Measure both functions in both states, on one thread, with this host's caches."""
    library = compile_library(tmp_path_factory.mktemp("library"))
    x, y = arrays()
    subjects = {
        (function.__name__, state): subject(function, *arguments, state=state, threads=1)
        for state in ("cold", "warm")
        for function, arguments in (
            (programs.scale, (x, 2.0, y)),
            (programs.axpy, (library, x, y)),
        )
    }
    return dict(zip(subjects, measure_all(list(subjects.values()), **FEW), strict=True))


@pytest.mark.parametrize("state", ["cold", "warm"])
@pytest.mark.parametrize(("name", "flop"), [("scale", N), ("axpy", 2 * N)])
def test_work_is_exact(measured, name, state, flop):
    """One multiplication per element; a multiplication and an addition. Python does none."""
    assert measured[name, state].counted.counts.work == {"fp64": flop}


@pytest.mark.parametrize("name", ["scale", "axpy"])
def test_cold_calls_read_and_write_each_array_once(measured, name):
    """One is read; the other is read, as it is written, and written back: 16 n and 8 n byte."""
    traffic = measured[name, "cold"].traffic_at("dram")

    assert traffic.read_bytes == pytest.approx(16 * N, rel=0.02)
    assert traffic.write_bytes == pytest.approx(8 * N, rel=0.02)


@pytest.mark.parametrize("name", ["scale", "axpy"])
def test_warm_calls_move_nothing(measured, name):
    """1.6 MB stay in a cache of several MB."""
    traffic = measured[name, "warm"].traffic_at("dram")

    assert traffic.total_bytes < 0.02 * 24 * N


@pytest.mark.parametrize("name", ["scale", "axpy"])
def test_protocol_tells_how_calls_were_made(measured, name):
    """Replicas of 1.6 MB fill the last-level cache four times at least, or there is a doubt."""
    warm, cold = measured[name, "warm"], measured[name, "cold"]
    last_bytes = max(cache.size_bytes for cache in cold.counted.caches)
    doubts = {caution.code for caution in cold.all_cautions}

    assert (warm.protocol.state, warm.protocol.replicas) == ("warm", 1)
    assert cold.protocol.data_bytes == warm.protocol.data_bytes == 16 * N
    assert cold.protocol.replicas * 16 * N >= 4 * last_bytes or "few-replicas" in doubts
    assert warm.timed.runtime_s.n == 6
    assert warm.timed.runtime_s.median * warm.protocol.calls > 0.01
    assert 0 < warm.protocol.overhead_s < warm.timed.runtime_s.median
    assert {m.protocol.threads for m in (warm, cold)} == {1}


def test_cold_calls_take_longer(measured):
    """Of a compiled function, whose data come from memory."""
    cold, warm = (measured["axpy", state].timed.runtime_s.median for state in ("cold", "warm"))

    assert cold > warm


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_functions_of_numba_are_measured(programs):
    """Compiled before it is counted: 2 n flop, of which none is the compiler's."""
    found = ridgepoint.measure(programs.numba_axpy, *arrays(), state="cold", threads=1, **FEW)

    assert found.counted.counts.work == {"fp64": 2 * N}
    assert found.traffic_at("dram").read_bytes == pytest.approx(16 * N, rel=0.02)
    assert found.traffic_at("dram").write_bytes == pytest.approx(8 * N, rel=0.02)


def test_what_varies_is_doubted_and_what_is_said_is_not_shown(programs, capfd):
    """One process counts both; 100 kB of output hold up nobody."""
    varies, says = measure_all(
        [subject(programs.varies, np.ones(1000), []), subject(programs.says)], **FEW
    )

    assert "work-varies" in {caution.code for caution in varies.all_cautions}
    assert says.counted.counts.work == {}
    assert capfd.readouterr().out == ""


def test_what_fails_where_it_is_counted_says_why(programs):
    """One of them ends the process that would count both: each is tried by itself."""
    leaves, fails = measure_all([subject(programs.leaves), subject(programs.fails)], **FEW)

    assert "ended the process that counts them, with status 3" in str(leaves)
    assert "they raised KeyError: 'not set up'" in str(fails)


def test_counting_longer_than_the_limit_is_ended(programs):
    """And says how to get more."""
    with pytest.raises(CannotMeasure, match=r"longer than 4 s; .*timeout_s="):
        ridgepoint.measure(programs.sleeps, timeout_s=4, **FEW)


def run_script(folder, text, *arguments):
    """Run a script as a user would; return its status, output and the last line of its errors."""
    path = folder / "script.py"
    path.write_text(text)
    command = [sys.executable, path, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    return done.returncode, done.stdout, done.stderr.strip().rpartition("\n")[2]


WITH_LIBRARY = """
import ctypes, sys, numpy as np, ridgepoint
library = ctypes.CDLL(sys.argv[1])
def axpy(x):
    library.axpy(ctypes.c_long(len(x)), ctypes.c_double(2), *[ctypes.c_void_p(x.ctypes.data)] * 2)
{condition}
    found = ridgepoint.measure(axpy, np.ones(1000), repetitions=6, limit_s=1)
    print(found.counted.counts.work)
"""


def test_script_is_imported_where_its_function_cannot_be_handed_over(tmp_path):
    """It uses a library that was loaded in the script: the script is imported, and loads it."""
    text = WITH_LIBRARY.format(condition="if __name__ == '__main__':")

    assert run_script(tmp_path, text, compile_library(tmp_path)) == (0, "{'fp64': 2000}\n", "")


def test_script_that_measures_when_imported_says_so(tmp_path):
    """It neither starts itself again and again, nor hangs."""
    text = WITH_LIBRARY.format(condition="if True:")
    status, output, error = run_script(tmp_path, text, compile_library(tmp_path))

    assert (status, output) == (1, "")
    assert "cannot count the calls: it was started to count" in error
    assert error.endswith("below if __name__ == '__main__':")


WAITING = """
import numpy as np, ridgepoint
def spins():
    np.ones(1000).sum()
ridgepoint.measure(spins, repetitions=6, limit_s={limit_s})
"""


@pytest.mark.parametrize(("limit_s", "wanted"), [(1, "valgrind"), (60, None)])
def test_interrupt_leaves_no_process_behind(tmp_path, limit_s, wanted):
    """While it is counted, and while it is timed."""
    script = tmp_path / "script.py"
    script.write_text(WAITING.format(limit_s=limit_s))
    process = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True)
    parent = psutil.Process(process.pid)
    deadline = time.monotonic() + 60
    started = []
    while not started and time.monotonic() < deadline:
        time.sleep(1.0)
        started = parent.children(recursive=True) if wanted else [parent]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")
    assert not [each for each in started if each.is_running()]


WATCHED = """
import os, sys, numpy as np, ridgepoint
x, y = np.ones(10_000), np.ones(10_000)
outer, inner = ridgepoint.measuring("outer"), ridgepoint.measuring("in / ner")
for _ in range(20 if "RIDGEPOINT_WATCHED" not in os.environ else int(sys.argv[1])):
    with outer:
        np.add(x, y, out=y)
        with inner:
            np.multiply(x, 2.0, out=y)
for watch in (inner, outer)[:int(sys.argv[2])]:
    found = watch.result()
    print(found.counted.counts.work, found.timed.runtime_s.n, found.protocol.state,
          found.protocol.counted_calls, "region-entries-differ" in
          [caution.code for caution in found.all_cautions])
print("end")
"""


def test_regions_are_measured_in_place_and_nest(tmp_path):
    """The inner one does n flop, the outer one 2 n; the script goes on after it."""
    expected = "{'fp64': 10000} 20 in place 20 False\n{'fp64': 20000} 20 in place 20 False\nend\n"

    assert run_script(tmp_path, WATCHED, "20", "2") == (0, expected, "")


def test_second_run_that_differs_is_doubted(tmp_path):
    """Entered seven times there: the counts are those of one of the seven."""
    expected = "{'fp64': 10000} 20 in place 7 True\nend\n"

    assert run_script(tmp_path, WATCHED, "7", "1") == (0, expected, "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(("0", "1"), "never entered"), (("x", "1"), "ended with status 1 before it reached")],
)
def test_second_run_that_does_not_come_to_the_region_is_told(tmp_path, arguments, reason):
    """It enters it no time, or fails."""
    status, _, error = run_script(tmp_path, WATCHED, *arguments)

    assert status == 1
    assert reason in error


def test_missing_valgrind_is_told_at_once(tmp_path, programs, monkeypatch):
    """PATH without it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotMeasure, match=r"valgrind"):
        ridgepoint.measure(programs.says, meter="engine", **FEW)
