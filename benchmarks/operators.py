"""What `ridgepoint.operators` costs: the program's own time, and what is spent beside it.

    python benchmarks/operators.py [--repetitions N]

Two networks of well-known sizes with random weights, ResNet-50 (one image) and GPT-2 small (128
tokens), in inference and in a step of training with AdamW; this needs PyTorch. The table, in
Markdown, has

- the time of a plain run, in a loop that knows nothing of Ridgepoint, and as `operators` gives it,
  each in processes of its own and both in turn: they should differ by less than 2 %;
- how much longer a run takes in which every operator is timed by PyTorch's profiler;
- the share of an attached run's time inside of operators, and how many calls were recorded;
- what `operators` and `analyse_operators` take together beside the runs of the program, with what
  they import: should be below 5 s.

The allocator keeps its memory here: left alone, it returns a step's memory to the kernel or not by
what was allocated before, and then the next step pays for its pages again (0 or 190 000 page faults
in a step of GPT-2 small, which take a quarter of its time), with Ridgepoint as without.

The exit status is 1 if a goal is missed. On a machine that others use, the first is mostly noise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ridgepoint.core.units import format_si

sys.path.insert(0, str(Path(__file__).parent / "programs"))
from networks import GPT2, images, resnet50, texts

SAME = 0.02
ANALYSIS_S = 5.0
ROUNDS = 3
_NEVER_BYTES = str(1 << 40)
KEEPING_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": _NEVER_BYTES,
    "MALLOC_MMAP_THRESHOLD_": _NEVER_BYTES,
}
HEADER = """\
| program | plain run | by `operators` | difference | attached run | in operators | calls | beside |
|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program to profile.

    Parameters
    ----------
    name : str
    make : callable
        Returns the model and its input.
    trains : bool
    """

    name: str
    make: Callable[[], tuple[torch.nn.Module, torch.Tensor]]
    trains: bool


CASES = (
    Case("ResNet-50, inference", lambda: (resnet50().eval(), images()), False),
    Case("ResNet-50, training step", lambda: (resnet50(), images()), True),
    Case("GPT-2 small, inference", lambda: (GPT2().eval(), texts()), False),
    Case("GPT-2 small, training step", lambda: (GPT2(), texts()), True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What `operators` says in one process.

    Parameters
    ----------
    run_s, attached_s : float
        Medians, seconds.
    inside : float
        Share of an attached run's time inside of operators.
    calls : int
        Of all operators.
    beside_s : float
        What it takes beside the runs of the program, seconds.
    """

    run_s: float
    attached_s: float
    inside: float
    calls: int
    beside_s: float


def main() -> int:
    """Print the table; in a process of its own, the figures of one case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10, help="samples of each time")
    parser.add_argument("--only", choices=("plain", "told"), help=argparse.SUPPRESS)
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only is not None:
        measured = plain_s if arguments.only == "plain" else told
        print(json.dumps(measured(CASES[arguments.case], arguments.repetitions)))
        return 0
    print(HEADER)
    missed = [
        case.name
        for number, case in enumerate(CASES)
        if not compare(number, case, arguments.repetitions)
    ]
    for name in missed:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if missed else 0


def compare(number: int, case: Case, repetitions: int) -> bool:
    """Print the row of a case, and return whether it meets the goals."""
    plain, all_told = [], []
    for _ in range(ROUNDS):
        plain.append(_in_process("plain", number, repetitions))
        all_told.append(Told(**_in_process("told", number, repetitions)))
    run_s = statistics.median(plain)
    last = sorted(all_told, key=lambda told: told.run_s)[ROUNDS // 2]
    beside_s = statistics.median(told.beside_s for told in all_told)
    difference, longer = last.run_s / run_s - 1, last.attached_s / last.run_s - 1
    print(
        f"| {case.name} | {format_si(run_s, 's')} | {format_si(last.run_s, 's')} "
        f"| {difference:+.1%} | {longer:+.0%} | {last.inside:.0%} "
        f"| {last.calls} | {beside_s:.1f} s |",
        flush=True,
    )
    return abs(difference) < SAME and beside_s < ANALYSIS_S


def _in_process(only: str, number: int, repetitions: int) -> Any:
    command = [sys.executable, __file__, "--only", only, "--case", str(number)]
    command += ["--repetitions", str(repetitions)]
    finished = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, env={**os.environ, **KEEPING_MEMORY}
    )
    return json.loads(finished.stdout)


def run_once(
    model: torch.nn.Module, data: torch.Tensor, optimizer: torch.optim.Optimizer | None
) -> None:
    """Infer, or make a step of training."""
    if optimizer is None:
        with torch.no_grad():
            model(data)
        return
    for parameter in model.parameters():
        parameter.grad = None
    model(data).sum().backward()
    optimizer.step()


def told(case: Case, repetitions: int) -> dict[str, Any]:
    """Return what `operators` says of a case."""
    import ridgepoint

    model, data = case.make()
    optimizer = torch.optim.AdamW(model.parameters()) if case.trains else None
    run_once(model, data, optimizer)  # the first takes longer, which is not ours
    runs = 0

    def count(*_: object) -> None:
        nonlocal runs
        runs += 1

    model.register_forward_pre_hook(count)
    begun = time.perf_counter()
    profile = ridgepoint.operators(
        model,
        data,
        repetitions=repetitions,
        limit_s=600,
        backward="sum" if case.trains else None,
        optimizer=optimizer,
    )
    ridgepoint.analyse_operators(profile).summary()
    took_s = time.perf_counter() - begun
    plain, attached_s = profile.timed.runtime_s, profile.attached_s
    in_runs_s = sum(attached_s.samples) + (runs - attached_s.n) * statistics.mean(plain.samples)
    return asdict(
        Told(
            run_s=plain.median,
            attached_s=attached_s.median,
            inside=sum(o.time_s.median for o in profile.operators if o.time_s is not None)
            / attached_s.median,
            calls=sum(o.calls for o in profile.operators),
            beside_s=took_s - in_runs_s,
        )
    )


def plain_s(case: Case, repetitions: int) -> float:
    """Return the median time of plain runs, in seconds, after two that do not count."""
    model, data = case.make()
    optimizer = torch.optim.AdamW(model.parameters()) if case.trains else None
    samples = []
    for _ in range(2 + repetitions):
        begun = time.perf_counter()
        run_once(model, data, optimizer)
        samples.append(time.perf_counter() - begun)
    return statistics.median(samples[2:])


if __name__ == "__main__":
    sys.exit(main())
