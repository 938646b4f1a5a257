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


def test_two_counts_of_one_program_are_identical(ridgepoint):
    """Simulation does not depend on what else the machine does."""
    command = ("run", "--machine", "xsb", "--counts-only", "--json", "--", "seq", "20000")
    first, second = (report(ridgepoint(*command, env=os.environ)) for _ in range(2))

    assert first["work"] == second["work"]
    assert first["instructions"] == second["instructions"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_end_in_the_middle_of_counting_leaves_nothing(ridgepoint, tmp_path, number):
    """No Valgrind goes on, no file is left in the temporary folder, one line says why."""
    marker = f"87{os.getpid()}"
    program = f"x = {marker}\nwhile True: pass"
    process = ridgepoint(
        "run", "--machine", "xsb", "--counts-only", "--", sys.executable, "-c", program
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not counting(marker):
        time.sleep(0.1)
    time.sleep(1)
    assert counting(marker)
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=30)
        left = counting(marker)
    finally:
        for each in counting(marker):
            each.kill()
        process.kill()

    assert process.returncode == 128 + number
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("ridgepoint: ")
    assert left == []
    assert list((tmp_path / "tmp").iterdir()) == []


def counting(marker):
    """Return the processes that Valgrind runs for this test."""
    return [
        p
        for p in psutil.process_iter(["cmdline"])
        if any(marker in word for word in p.info["cmdline"] or [])
        and "valgrind" in p.info["cmdline"][0]
    ]
