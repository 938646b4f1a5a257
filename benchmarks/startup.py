"""How long Ridgepoint takes before it does anything: `import ridgepoint`, ``--help``, completion.

    python benchmarks/startup.py [--rounds N]

Every command is started in turn, N rounds of them (20), after one that warms the file cache. The
table, in Markdown, has the median and the smallest time of each, and the median of its ratio to
``python -c pass`` of the same round. Beside ours stand other programs that are found here. The
goals are 0.1 s for `import ridgepoint` and 0.2 s for ``--help`` of every command; the exit status
is 1 if a median misses its goal.
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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import ridgepoint

IMPORT_S, HELP_S = 0.1, 0.2
ROUNDS = 20
_HELPED = ("run", "machine", "show", "plot", "ridgeline", "scale", "suite datacenter")
_OTHERS = ("pip --help", "pytest --help", "mypy --help", "hyperfine --help", "likwid-bench -h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A command that is started and ended.

    Parameters
    ----------
    name : str
    command : tuple of str
    goal_s : float or None
        What it may take at most; None: it is not ours.
    environment : mapping of str to str
        What it needs beside this process's.
    """

    name: str
    command: tuple[str, ...]
    goal_s: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def time_s(self) -> float:
        """Return what one start takes, s."""
        before = time.perf_counter()
        subprocess.run(
            self.command,
            check=False,
            env={**os.environ, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - before


def cases(archive: Path) -> list[Case]:
    """Return what is timed, ``python -c pass`` first."""
    python = (sys.executable, "-c")
    ours = (sys.executable, "-m", "ridgepoint")
    completing = {
        "COMP_WORDS": "ridgepoint plot be",
        "COMP_CWORD": "2",
        "_RIDGEPOINT_COMPLETE": "bash_complete",
        "RIDGEPOINT_ARCHIVE": str(archive),
    }
    return [
        Case(name="python -c pass", command=(*python, "pass")),
        Case(name="import ridgepoint", command=(*python, "import ridgepoint"), goal_s=IMPORT_S),
        Case(name="ridgepoint --help", command=(*ours, "--help"), goal_s=HELP_S),
        *(
            Case(
                name=f"ridgepoint {name} --help",
                command=(*ours, *name.split(), "--help"),
                goal_s=HELP_S,
            )
            for name in _HELPED
        ),
        Case(
            name="completing the name of a record",
            command=ours,
            goal_s=HELP_S,
            environment=completing,
        ),
        Case(name="import click", command=(*python, "import click")),
        Case(name="import numpy", command=(*python, "import numpy")),
        *(
            Case(name=line, command=(found, *line.split()[1:]))
            for line in _OTHERS
            if (found := _found(line.split()[0]))
        ),
    ]


def _found(program: str) -> str | None:
    """Return the path of a program, beside this Python or in the path."""
    return shutil.which(program, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def main() -> int:
    """Print the table; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive.sqlite3"
        machine = ridgepoint.open_machine("cascade-lake")
        for number in range(100):
            ridgepoint.keep(machine, label=f"before-{number}", archive=archive)
        all_cases = cases(archive)
        for case in all_cases:
            case.time_s()
        times_s = [[case.time_s() for case in all_cases] for _ in range(rounds)]
    print("| | median | smallest | x python | goal |")
    print("|---|---|---|---|---|")
    missed = False
    for number, case in enumerate(all_cases):
        own_s = [times[number] for times in times_s]
        ratio = statistics.median(times[number] / times[0] for times in times_s)
        median_s = statistics.median(own_s)
        missed |= case.goal_s is not None and median_s > case.goal_s
        goal = "" if case.goal_s is None else f"{case.goal_s * 1e3:.0f} ms"
        print(
            f"| {case.name} | {median_s * 1e3:.0f} ms | {min(own_s) * 1e3:.0f} ms "
            f"| {ratio:.1f} | {goal} |"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
