"""How often `ridgepoint compare` is wrong about the time of a real program, and what it finds.

    python benchmarks/comparing.py [--pairs 100] [--found 20] [--steps 400] [--json]

False alarms: pairs of measurements of the same program (examples/heat.c, some 20 ms), each of as
many native runs as `ridgepoint run` makes, that are called slower or faster; at most 5 of 100.
Slow-downs: the program with 1 % and more steps added, and in how many pairs it is called slower;
the smallest that is found in 9 of 10, and in all larger ones too. The measurements of a pair
follow each other. Other programs that use the CPUs make the result worse: end them first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import ridgepoint
from ridgepoint.core.errors import RidgepointError
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.in_turn import native_times_in_turn

ROOT = Path(__file__).parents[1]
SIZE = 300
ADDED = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.10, 0.15, 0.20, 0.30, 0.50, 1.00)
MOST_ALARMS, FOUND = 0.05, 0.9


def measured(program: Path, steps: int) -> ridgepoint.Timing:
    """Return the times of a program, as `ridgepoint run` takes them."""
    command = (str(program), str(SIZE), str(steps))
    (times,) = native_times_in_turn([command])
    if isinstance(times, RidgepointError):
        sys.exit(str(times))
    return ridgepoint.Timing(command=command, timed=times.timed, context=context_here())


def pair(program: Path, before: int, after: int) -> tuple[str, float]:
    """Return what is said of two measurements, one after the other, and their ratio."""
    change = ridgepoint.compare(measured(program, before), measured(program, after)).changes
    runtime = change["runtime"]
    return runtime.verdict, runtime.ratio


def verdicts(program: Path, pairs: int, steps: int, added: float) -> tuple[Counter, list[float]]:
    """Return how often each verdict was given, and all ratios."""
    said: Counter = Counter()
    ratios = []
    for number in range(pairs):
        print(f"\r{added:4.0%} more steps, pair {number + 1}  ", end="", file=sys.stderr)
        verdict, ratio = pair(program, steps, round(steps * (1 + added)))
        said[verdict] += 1
        ratios.append(ratio)
    print("\r" + " " * 40, end="\r", file=sys.stderr)
    return said, sorted(ratios)


def row(added: float, said: Counter, ratios: list[float]) -> dict:
    """Return a row of the table."""
    return {
        "added": added,
        "pairs": len(ratios),
        "slower": said["more"],
        "faster": said["less"],
        "not_different": said["no difference seen"] + said["same"],
        "unknown": said["unknown"],
        "ratio_median": ratios[len(ratios) // 2],
        "ratio_least": ratios[0],
        "ratio_most": ratios[-1],
    }


def smallest_found(rows: list[dict]) -> float | None:
    """Return the smallest slow-down from which on all are found in 9 of 10 pairs; None: none."""
    smallest = None
    for one in reversed(rows):
        if one["slower"] < FOUND * one["pairs"]:
            break
        smallest = one["added"]
    return smallest


def main() -> None:
    """Build the program, measure pairs, print a table and the two figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100, help="of the same program")
    parser.add_argument("--found", type=int, default=20, help="pairs for each slow-down")
    parser.add_argument("--steps", type=int, default=400, help="of the program")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "heat"
        source = ROOT / "examples" / "heat.c"
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True)
        same = row(0.0, *verdicts(program, asked.pairs, asked.steps, 0.0))
        slower = [row(a, *verdicts(program, asked.found, asked.steps, a)) for a in ADDED]
    alarms, found = same["slower"] + same["faster"], smallest_found(slower)
    if asked.json:
        print(json.dumps({"rows": [same, *slower], "false_alarms": alarms, "found": found}))
        return
    print("steps   pairs  slower  faster  no difference  unknown  ratio (least to most)")
    for one in (same, *slower):
        print(
            f"+{one['added']:4.0%} {one['pairs']:7} {one['slower']:7} {one['faster']:7} "
            f"{one['not_different']:14} {one['unknown']:8}  {one['ratio_median']:.3f} "
            f"({one['ratio_least']:.3f} to {one['ratio_most']:.3f})"
        )
    share = alarms / same["pairs"]
    print(f"false alarms: {alarms} of {same['pairs']} ({share:.0%}; at most {MOST_ALARMS:.0%})")
    smallest = "none of these" if found is None else f"{found:.0%}"
    print(f"smallest slow-down found in 9 of 10, and so all larger ones: {smallest}")


if __name__ == "__main__":
    main()
