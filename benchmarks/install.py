"""How long it takes from `pip install` to a first verdict, and how large what is installed is.

    python benchmarks/install.py DIST [--rounds N]

DIST is the folder of our wheels, as `make wheels` fills it. What they depend on is downloaded
once. Each round (3) makes a virtual environment with this Python, installs into it from a folder,
without a network and without pip's cache, and runs a program (`gzip` of a wheel) with an empty
cache and an empty archive, so that the first run also measures the machine; the second run has
both. The table, in Markdown, has the median and the range of each time, then sizes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 3


def timed(command: Sequence[str | Path], environment: dict[str, str]) -> float:
    """Return what a command takes, s; it has to succeed."""
    before = time.perf_counter()
    done = subprocess.run(
        command, env=environment, check=False, stdin=subprocess.DEVNULL, capture_output=True
    )
    elapsed_s = time.perf_counter() - before
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr.decode()}")
    return elapsed_s


def environment_of(folder: Path) -> dict[str, str]:
    """Return variables under which nothing is found that an earlier round left."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "RIDGEPOINT_", "XDG_", "VALGRIND_"))
    }
    return {
        **kept,
        "HOME": str(folder),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def times_of_round(
    wheels: Path, wanted: str, packed: Path, folder: Path
) -> tuple[dict[str, float], Path]:
    """Install and run in a new folder; return the times, s, and where it was installed."""
    environment, venv = environment_of(folder), folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], env=environment, check=True)
    pip = [venv / "bin/pip", "install", "--quiet", "--no-index", "--find-links", wheels, wanted]
    program = [
        venv / "bin/ridgepoint",
        "run",
        "--",
        "gzip",
        "-kc",
        os.path.realpath(sys.executable),
    ]
    times_s = {
        "pip install": timed(pip, environment),
        "the first `ridgepoint run`, which measures the machine": timed(program, environment),
        "the second `ridgepoint run`": timed(program, environment),
        "`ridgepoint doctor`": timed([venv / "bin/ridgepoint", "doctor"], environment),
    }
    first, second = list(times_s.values())[:2]
    return {"from `pip install` to the first verdict": first + second, **times_s}, venv


def size_bytes(folder: Path, pattern: str = "*") -> int:
    """Return the size of the files below folders that match a pattern, byte code left out."""
    tops = (path for path in folder.glob(pattern) if not path.is_symlink())  # lib64 is lib
    files = (path for top in tops for path in (top, *top.rglob("*")))
    return sum(
        path.stat().st_size
        for path in files
        if path.is_file() and not path.is_symlink() and path.suffix != ".pyc"
    )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    ours = sorted(options.dist.glob("ridgepoint*.whl"))
    if not ours:
        print(f"there is no wheel in {options.dist}: make wheels", file=sys.stderr)
        return 2
    wanted = "ridgepoint" + "[engine]" * any("engine" in wheel.name for wheel in ours)
    rounds = list[dict[str, float]]()
    with tempfile.TemporaryDirectory() as name:
        wheels = Path(name) / "wheels"
        wheels.mkdir()
        for wheel in ours:
            shutil.copy(wheel, wheels)
        # By path: a name could be someone else's on an index.
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
        timed([*pip, "--dest", wheels, *(wheels / one.name for one in ours)], dict(os.environ))
        for number in range(options.rounds):
            folder = Path(name) / f"round-{number}"
            folder.mkdir()
            times_s, venv = times_of_round(wheels, wanted, ours[0], folder)
            rounds.append(times_s)
            packages = next(venv.glob("lib/python*/site-packages"))
            installed = size_bytes(packages, "ridgepoint*"), size_bytes(venv)
            shutil.rmtree(folder)
        others = size_bytes(wheels) - sum(wheel.stat().st_size for wheel in ours)
    print(f"| {options.rounds} rounds | median | range |\n|---|---|---|")
    for what in rounds[0]:
        all_s = [times_s[what] for times_s in rounds]
        print(
            f"| {what} | {statistics.median(all_s):.1f} s "
            f"| {min(all_s):.1f} s to {max(all_s):.1f} s |"
        )
    print("\n| | size |\n|---|---|")
    for wheel in ours:
        print(f"| `{wheel.name}` | {wheel.stat().st_size / 1e6:.2f} MB |")
    print(f"| wheels of all that it depends on | {others / 1e6:.0f} MB |")
    print(f"| Ridgepoint, installed | {installed[0] / 1e6:.1f} MB |")
    print(f"| the whole virtual environment | {installed[1] / 1e6:.0f} MB |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
