"""The command line with real Valgrind on programs that we did not write."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind"),
]


@pytest.fixture
def ridgepoint(tmp_path, monkeypatch):
    """Return a function that starts the command line with an archive and a TMPDIR of its own."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(tmp_path / "archive.sqlite3"))

    def start(*arguments, **options):
        command = [sys.executable, "-m", "ridgepoint", *map(str, arguments)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
        )

    return start


def report(process):
    """Return the report that a finished command printed."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


RUN = ("run", "--machine", "xsb", "--repeat", "1", "--json", "--")


def test_matrix_product_of_numpy_does_2_n_cubed(ridgepoint):
    """At n = 256 on OpenBLAS' AVX2 path: 2 n^3, and n^2 for alpha and the update of C."""
    n = 256
    program = f"import numpy as np; a = np.ones(({n}, {n})); print((a @ a)[0, 0])"
    seen = report(ridgepoint(*RUN, sys.executable, "-c", program))
    inner = sum(f["work_flop"] for f in seen["functions"] if "dgemm" in f["name"])

    assert 2 * n**3 <= inner <= 2 * n**3 + 4 * n**2
    assert seen["instructions"]["undecoded"] < 1000


def test_sort_of_coreutils_does_no_floating_point_work_to_speak_of(ridgepoint, tmp_path):
    """A program without debug information, with threads of its own; its output is sorted."""
    numbers = tmp_path / "numbers"
    numbers.write_text("\n".join(str(i * 7919 % 100003) for i in range(100003)) + "\n")
    seen = report(ridgepoint(*RUN, "sort", "-n", "-o", tmp_path / "sorted", numbers))

    assert (tmp_path / "sorted").read_text().split() == [str(i) for i in range(100003)]
    assert seen["work_flop"] < 1000
    assert seen["instructions"]["total"] > 100003


@pytest.mark.parametrize(("meter", "tolerance"), [("engine", 0.0), ("native", 1e-3)])
def test_two_counts_of_one_program_are_alike(ridgepoint, meter, tolerance):
    """Simulation repeats exactly; natively, the C library's code depends on where memory lies."""
    words = ("--machine", "xsb", "--meter", meter, "--counts-only", "--json", "--", "seq", "20000")
    first, second = (report(ridgepoint("run", *words, env=os.environ)) for _ in range(2))

    assert first["work"] == second["work"]
    assert first["instructions"] == pytest.approx(second["instructions"], rel=tolerance, abs=0)


@pytest.mark.parametrize("meter", ["native", "engine"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_end_in_the_middle_of_counting_leaves_nothing(ridgepoint, tmp_path, number, meter):
    """No program that is counted goes on, no temporary file is left, one line says why."""
    marker = f"87{os.getpid()}"
    program = f"x = {marker}\nwhile True: pass"
    words = ("--machine", "xsb", "--meter", meter, "--counts-only", "--", sys.executable, "-c")
    process = ridgepoint("run", *words, program)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not counted(marker):
            time.sleep(0.1)
        time.sleep(1)
        assert counted(marker)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        left = counted(marker)
    finally:
        for program_counted in counted(marker):
            program_counted.kill()
        process.kill()

    assert process.returncode == 128 + number
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("ridgepoint: ")
    assert left == []
    assert list((tmp_path / "tmp").iterdir()) == []


def counted(marker):
    """Return the processes that are counted for this test, under Valgrind or in a copy."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(marker in word for word in process.info["cmdline"] or [])
        and "ridgepoint" not in process.info["cmdline"]
    ]
