"""Ridgepoint's ceilings beside likwid-bench's and carm's, in turn on the same core, as ratios.

    python benchmarks/machine.py [ROUNDS] [--only l1 --only fp64] [--cpu N] [--carm PATH]

For every ceiling that one core has and a peer measures too: ours, then each peer's, within
seconds; in every second round the peers go first. The table gives the medians over the rounds and
the ratio of ours to the better peer, round by round. Per peer the kernel or instruction set with
the largest median counts.

likwid-bench is in Debian's package likwid. carm is carm-roofline from PyPI: install it into a
virtual environment of its own, and have it on PATH or name it with --carm or $CARM. A peer that
is missing is left out. peers.py says what their numbers mean. The peers get huge pages as ours
do; --small-pages leaves them what malloc gives them. Building carm's benchmarks takes some four
minutes, the first round about seven, the others less.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peers
import ridgepoint
from peers import Carm, Contest, Key, Likwid
from ridgepoint.core.machine import Machine

GOAL = 0.99

Rates = dict[Key, dict[str, dict[str, list[float]]]]
"""Of each ceiling, by tool and kernel, the rate of each round."""


def measured(only: Collection[Key], cpu: int) -> Machine:
    """Return a measurement of some of our ceilings, with one CPU to use."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        return ridgepoint.characterize(only=only)
    finally:
        os.sched_setaffinity(0, before)


def ours(selection: Collection[Key], cpu: int) -> dict[Key, float]:
    """Return our rates of the selected ceilings on one core, those that could be measured."""
    ceilings = measured(selection, cpu).ceilings
    return {(c.resource, c.name): c.rate.median for c in ceilings if c.rate and c.part is None}


def build(carm: Carm, chosen: list[Contest]) -> None:
    """Have carm build its benchmarks, some at a time: no rate is taken from this."""
    print("building carm's benchmarks", file=sys.stderr)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for contest, could in zip(chosen, pool.map(carm.build, chosen), strict=True):
            if not could:
                print(f"carm cannot build {contest.name}", file=sys.stderr)


def one_round(
    chosen: list[Contest], tools: list[Likwid | Carm], cpu: int, rates: Rates, *, ours_first: bool
) -> None:
    """Measure every contest once, ours and the peers', and add what was found."""

    def add_ours(contest: Contest) -> None:
        for key, rate in ours(contest.ceilings, cpu).items():
            rates[key].setdefault("ridgepoint", {}).setdefault("", []).append(rate)

    def add_theirs(contest: Contest) -> None:
        for tool in tools:
            for key, found in tool.run(contest).items():
                for label, rate in found.items():
                    rates[key].setdefault(tool.name, {}).setdefault(label, []).append(rate)

    for contest in chosen:
        print(f"  {contest.name}", file=sys.stderr)
        for add in (add_ours, add_theirs) if ours_first else (add_theirs, add_ours):
            add(contest)


def print_table(rates: Rates, tools: list[Likwid | Carm], rounds: int) -> None:
    """Print medians and ratios, then how many ceilings reach the goal."""
    names = [tool.name for tool in tools]
    heads = "".join(f"{name:>14}" for name in names)
    print(f"{'one core':18}{'ridgepoint':>12}{heads}   ours / better: median (min to max)")
    ratios_of: dict[Key, float] = {}
    for key, by_tool in rates.items():
        _, mine = peers.best(by_tool.get("ridgepoint", {}), rounds)
        theirs = {name: peers.best(by_tool.get(name, {}), rounds) for name in names}
        theirs = {name: found for name, found in theirs.items() if found[1]}
        if not mine or not theirs:
            continue
        better = max(theirs, key=lambda name: statistics.median(theirs[name][1]))
        label, other = theirs[better]
        ratios = [a / b for a, b in zip(mine, other, strict=True)]
        ratios_of[key] = statistics.median(ratios)
        cells = "".join(
            f"{statistics.median(theirs[name][1]) / 1e9:14.2f}" if name in theirs else f"{'-':>14}"
            for name in names
        )
        print(
            f"{key[0]:5}{key[1]:13}{statistics.median(mine) / 1e9:12.2f}{cells}   "
            f"{ratios_of[key]:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
            f"{'  below goal' if ratios_of[key] < GOAL else ''}  [{better} {label}]"
        )
    reached = sum(ratio >= GOAL for ratio in ratios_of.values())
    print(f"\n{reached} of {len(ratios_of)} ceilings are at least {GOAL} of the better peer's.")


def print_notes(tools: list[Likwid | Carm], *, huge_pages: bool) -> None:
    """Print what one must know to read the table."""
    print("Gflop/s and GB/s, bytes as a program counts them. No tool fixes the clock.")
    for tool in tools:
        if isinstance(tool, Carm):
            excess = tool.excess()
            print(
                f"carm took the TSC for {min(excess):.2%} to {max(excess):.2%} faster than Linux "
                "knows it to be; its rates are divided by that."
                if excess
                else "carm's rates may be up to 0.4 % high: it measures the TSC's frequency in "
                "whole ms and takes the highest, and this system does not say what it is."
            )
    pages = "huge pages where malloc can" if huge_pages else "the pages that malloc gives them"
    print(f"The peers work on {pages}; likwid-bench on ones, carm on zeros.")


def options() -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--only", action="append", help="a resource, such as l1; may be repeated")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--carm", default=os.environ.get("CARM", "carm"))
    parser.add_argument("--small-pages", action="store_true")
    parser.add_argument("--save", type=Path, help="write every round's rates there, as JSON")
    return parser.parse_args()


def main() -> None:
    """Build what carm needs, run the rounds and print the table."""
    asked = options()
    environment = peers.environment(huge_pages=not asked.small_pages)
    machine = measured((), asked.cpu)
    chosen = peers.contests(peers.data_caches(machine))
    if asked.only:
        chosen = [c for c in chosen if any(key[0] in asked.only for key in c.ceilings)]
    tools: list[Likwid | Carm] = []
    with tempfile.TemporaryDirectory() as folder:
        if likwid := shutil.which("likwid-bench"):
            tools.append(Likwid(likwid, asked.cpu, environment))
        if command := shutil.which(asked.carm):
            carm = Carm(command, asked.cpu, environment, Path(folder), machine)
            tools.append(carm)
            build(carm, [contest for contest in chosen if contest.carm])
        if not tools:
            sys.exit("neither likwid-bench nor carm is here")
        rates: Rates = {key: {} for contest in chosen for key in contest.ceilings}
        for number in range(asked.rounds):
            print(f"round {number + 1} of {asked.rounds}", file=sys.stderr)
            one_round(chosen, tools, asked.cpu, rates, ours_first=number % 2 == 0)
    print_table(rates, tools, asked.rounds)
    print_notes(tools, huge_pages=not asked.small_pages)
    if asked.save:
        rows = itertools.chain.from_iterable(
            ({"resource": key[0], "name": key[1], "tool": tool, "kernel": label, "rates": found}
             for tool, labels in by_tool.items() for label, found in labels.items())
            for key, by_tool in rates.items()
        )  # fmt: skip
        asked.save.write_text(json.dumps(list(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
