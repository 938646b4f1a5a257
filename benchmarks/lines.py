"""What profilers of Python lines cost, and how right they are, on a program that times itself.

    python benchmarks/lines.py [--pairs N] [--rounds N] [--python PATH]

Each profiler runs `programs/timed_lines.py`, which measures the CPU time of four of its lines:
in the interpreter, in BLAS, in zlib, and in a function of its own that `map` calls. Printed are the
CPU time of the program under the profiler over that of a plain run beside it (median of the
pairs, and the worst), and by how many points the shares of the four lines differ from those that
the program measured in the very same run (mean and worst of all runs). PATH is a Python with NumPy
and the profilers to compare (py-spy, scalene, line_profiler); those that are not there are named.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ridgepoint.meters.python_lines import LINES_VARIABLE, TRACED_VARIABLE, line_sampler
from ridgepoint.meters.python_lines.samples import LineSamples

PROGRAM = Path(__file__).parent / "programs" / "timed_lines.py"
LINES = [
    number
    for number, text in enumerate(PROGRAM.read_text().splitlines(), start=1)
    if "# line:" in text
]
BODY = 1 + next(
    number
    for number, text in enumerate(PROGRAM.read_text().splitlines(), start=1)
    if "def square" in text
)  # what `map` calls: its lines are those of the fourth
CALLED = (BODY - 1, BODY, BODY + 1)
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

Shares = list[float]
Profiler = Callable[[Path, Sequence[str]], tuple[Sequence[str], dict[str, str]]]
"""Makes, of a folder and a command, the command to run and its environment."""


def shares(of_line: dict[int, float]) -> Shares:
    """Return the share of each of the four lines, the last with what it calls."""
    times = [of_line.get(number, 0.0) for number in LINES]
    times[3] += sum(of_line.get(number, 0.0) for number in CALLED)
    return [time / sum(times) if sum(times) else 0.0 for time in times]


def ridgepoint_command(
    folder: Path, command: Sequence[str]
) -> tuple[Sequence[str], dict[str, str]]:
    """Return our own sampler's."""
    library, _ = line_sampler()
    return command, {LINES_VARIABLE: str(folder), "LD_PRELOAD": str(library)}


def ridgepoint_read(folder: Path) -> dict[int, float]:
    """Return the time of each line."""
    samples = LineSamples()
    samples.read(folder)
    return {line: share.cpu_s for (file, line), share in samples.of.items() if is_own(file)}


def py_spy_command(folder: Path, command: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
    """Return py-spy's, at our rate, with native frames left out: lines are asked for."""
    spy = Path(command[0]).parent / "py-spy"
    options = ("record", "-r", "250", "-f", "raw", "-o", str(folder / "raw"), "--")
    return (str(spy), *options, *command), {}


def py_spy_read(folder: Path) -> dict[int, float]:
    """Return the samples of the innermost own line of each stack."""
    found: dict[int, float] = {}
    for row in (folder / "raw").read_text().splitlines():
        stack, _, count = row.rpartition(" ")
        for frame in reversed(stack.split(";")):
            if match := re.fullmatch(r".* \(.*timed_lines\.py:(\d+)\)", frame):
                found[int(match[1])] = found.get(int(match[1]), 0.0) + int(count)
                break
    return found


def scalene_command(folder: Path, command: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
    """Return Scalene's, of CPU time alone."""
    options = ("run", "--cpu-only", "--outfile", str(folder / "scalene.json"))
    return (str(Path(command[0]).parent / "scalene"), *options, *command[1:]), {}


def scalene_read(folder: Path) -> dict[int, float]:
    """Return the shares of lines, in Python, in C and in the system."""
    files = json.loads((folder / "scalene.json").read_text())["files"]
    lines = next(part["lines"] for name, part in files.items() if is_own(name))
    kinds = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")
    return {line["lineno"]: sum(line[kind] for kind in kinds) for line in lines}


def line_profiler_command(
    folder: Path, command: Sequence[str]
) -> tuple[Sequence[str], dict[str, str]]:
    """Return that of line_profiler, of all functions of the program, which writes JSON at last."""
    stats, found = folder / "lprof", folder / "lprof.json"
    arguments = ["-l", "-p", command[1], "-o", str(stats), *command[1:]]
    script = (
        "import json; from line_profiler import load_stats; import kernprof;"
        f"kernprof.main({arguments!r});"
        f"own = [[file, rows] for (file, *_), rows in load_stats({str(stats)!r}).timings.items()];"
        f"json.dump(own, open({str(found)!r}, 'w'))"
    )
    return (command[0], "-c", script), {}


def line_profiler_read(folder: Path) -> dict[int, float]:
    """Return the time of each line; that of `map` has what it calls already."""
    own = json.loads((folder / "lprof.json").read_text())
    rows = [row for file, rows in own if is_own(file) for row in rows]
    return {line: float(time) for line, _, time in rows if line not in CALLED}


def is_own(file: str) -> bool:
    """Return whether a file is the program."""
    return Path(file).name == PROGRAM.name


PROFILERS = {
    "ridgepoint": (ridgepoint_command, ridgepoint_read),
    "py-spy": (py_spy_command, py_spy_read),
    "scalene": (scalene_command, scalene_read),
    "line_profiler": (line_profiler_command, line_profiler_read),
}


def run(command: Sequence[str], variables: dict[str, str]) -> float:
    """Run a command; return the CPU time of it and its children."""
    before = os.times()
    subprocess.run(
        command, env={**ENVIRONMENT, **variables}, check=True, capture_output=True, timeout=300
    )
    after = os.times()
    return after.children_user + after.children_system - before[2] - before[3]


def compare(name: str, python: str, rounds: int, pairs: int) -> None:
    """Run pairs, plain and profiled in turn, and print a row."""
    make, read = PROFILERS[name]
    ratios, errors = [], []
    for _ in range(pairs):
        with tempfile.TemporaryDirectory() as at:
            folder, own = Path(at), Path(at) / "own.json"
            command = (python, str(PROGRAM), str(rounds), str(own))
            plain_s = run(command, {})
            ratios.append(run(*make(folder, command)) / plain_s)
            times = json.loads(own.read_text())["times_s"]
            true = [time / sum(times) for time in times]
            errors += [100 * abs(a - b) for a, b in zip(shares(read(folder)), true, strict=True)]
    print(
        f"{name:14} {statistics.median(ratios):8.2f} {max(ratios):8.2f} "
        f"{statistics.mean(errors):12.1f} {max(errors):8.1f}"
    )


def main() -> None:
    """Compare all profilers that are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1500)
    parser.add_argument("--python", default=sys.executable)
    asked = parser.parse_args()
    os.environ.pop(TRACED_VARIABLE, None)
    print("                CPU time over a plain run   points of share off")
    print(f"{'profiler':14} {'median':>8} {'worst':>8} {'mean':>12} {'worst':>8}")
    for name in PROFILERS:
        try:
            compare(name, asked.python, asked.rounds, asked.pairs)
        except (OSError, subprocess.SubprocessError, StopIteration, ImportError) as error:
            told = getattr(error, "stderr", None) or str(error).encode()
            print(f"{name:14} did not run: {told.decode(errors='replace').strip()[-200:]}")


if __name__ == "__main__":
    main()
