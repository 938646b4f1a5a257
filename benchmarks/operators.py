"""What `ridgepoint.operators` costs: the program's own time, and what is spent beside it.

    python benchmarks/operators.py [--repetitions N]

Two networks of well-known sizes with random weights, ResNet-50 (one image) and GPT-2 small (128
tokens), in inference and in a step of training with AdamW; this needs PyTorch. The table, in
Markdown, has

- the time of a plain run, in a loop of this script that knows nothing of Ridgepoint, and as
  `operators` gives it, both in turn: they should differ by less than 2 %;
- how much longer a run takes in which every operator is timed by PyTorch's profiler;
- the share of an attached run's time inside of operators, and how many calls were recorded;
- what `operators` and `analyse_operators` take together beside the runs of the program: should be
  below 5 s.

The exit status is 1 if a goal is missed. On a machine that others use, the first is mostly noise.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

import ridgepoint
from ridgepoint.core.units import format_si

sys.path.insert(0, str(Path(__file__).parent / "programs"))
from networks import GPT2, images, resnet50, texts

SAME = 0.02
ANALYSIS_S = 5.0
ROUNDS = 3
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


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10, help="samples of each time")
    repetitions = parser.parse_args().repetitions
    print(HEADER)
    missed = [case.name for case in CASES if not measure(case, repetitions)]
    for name in missed:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if missed else 0


def measure(case: Case, repetitions: int) -> bool:
    """Print the row of a case, and return whether it meets the goals."""
    model, data = case.make()
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    model.register_forward_pre_hook(count)
    optimizer = torch.optim.AdamW(model.parameters()) if case.trains else None
    plain, told, beside_s = [], [], 0.0
    for _ in range(ROUNDS):
        plain.append(_plain_s(model, data, optimizer, repetitions))
        calls, begun = 0, time.perf_counter()
        profile = ridgepoint.operators(
            model,
            data,
            repetitions=repetitions,
            limit_s=600,
            backward="sum" if case.trains else None,
            optimizer=optimizer,
        )
        analysis = ridgepoint.analyse_operators(profile)
        analysis.summary()
        took_s = time.perf_counter() - begun
        told.append(profile.timed.runtime_s.median)
        attached_s = sum(profile.attached_s.samples)
        beside_s = took_s - attached_s - (calls - profile.attached_s.n) * told[-1]
    plain_s, told_s = statistics.median(plain), statistics.median(told)
    inside_s = sum(o.time_s.median for o in profile.operators if o.time_s is not None)
    difference, longer = told_s / plain_s - 1, profile.attached_s.median / told_s - 1
    print(
        f"| {case.name} | {format_si(plain_s, 's')} | {format_si(told_s, 's')} "
        f"| {difference:+.1%} | {longer:+.0%} | {inside_s / profile.attached_s.median:.0%} "
        f"| {sum(o.calls for o in profile.operators)} | {beside_s:.1f} s |"
    )
    return abs(difference) < SAME and beside_s < ANALYSIS_S


def _plain_s(
    model: torch.nn.Module,
    data: torch.Tensor,
    optimizer: torch.optim.Optimizer | None,
    repetitions: int,
) -> float:
    """Return the median time of plain runs, after two that do not count."""
    samples = []
    for _ in range(2 + repetitions):
        begun = time.perf_counter()
        if optimizer is None:
            with torch.no_grad():
                model(data)
        else:
            for parameter in model.parameters():
                parameter.grad = None
            model(data).sum().backward()
            optimizer.step()
        samples.append(time.perf_counter() - begun)
    return statistics.median(samples[2:])


if __name__ == "__main__":
    sys.exit(main())
