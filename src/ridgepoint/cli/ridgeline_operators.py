"""Recorded operators as steps of the ridgeline command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import numbers
from ridgepoint.cli.recorded_operators import recorded_operators
from ridgepoint.cli.ridgeline_training import Training, algorithms_of, nodes_of, over_nodes
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.operators import OperatorProfile
    from ridgepoint.demands.operators.step import ModelStep


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOperators:
    """Kept operators of one program, that a user names.

    Parameters
    ----------
    profiles : mapping of int to OperatorProfile
        By the batch with which each was recorded.
    names : tuple of str
        As the user named them.
    machine : Machine or None
        Of the first that was kept with a machine; None: none was.
    """

    profiles: Mapping[int, OperatorProfile]
    names: tuple[str, ...]
    machine: Machine | None


def kept_operators(texts: Sequence[str]) -> KeptOperators | None:
    """Return the kept operators of ``--operators BATCH=RECORD``; None: none is named.

    Raises
    ------
    click.UsageError
        If a text names no batch, or two name the same.
    RidgepointError
        If there is no such record, or it is not of operators.
    """
    if not texts:
        return None
    from ridgepoint.kept.archive import Archive

    profiles: dict[int, OperatorProfile] = {}
    machine: Machine | None = None
    pairs = [_batch_and_name(text) for text in texts]
    with Archive(None) as archive:
        for batch, name in pairs:
            if batch in profiles:
                raise click.UsageError(f"two of --operators have the batch {batch}")
            analysis = recorded_operators(archive, name)
            profiles[batch] = analysis.profile
            machine = machine or analysis.machine
    return KeptOperators(profiles=profiles, names=tuple(name for _, name in pairs), machine=machine)


def _batch_and_name(text: str) -> tuple[int, str]:
    batch, sign, name = text.partition("=")
    if not (sign and name.strip() and batch.strip().isascii() and batch.strip().isdigit()):
        raise click.UsageError(
            f"--operators needs the batch that was recorded, such as 8=NAME, got {text!r}"
        )
    if not int(batch):
        raise click.UsageError(f"the batch of --operators must be > 0, got {text!r}")
    return int(batch), name.strip()


def recorded_training(
    kept: KeptOperators,
    options: Mapping[str, Any],
    machines: Sequence[Machine],
    *,
    fused: bool,
) -> Training:
    """Return steps of a recorded program, without work for which a machine has no ceiling.

    Raises
    ------
    click.ClickException
        If an option means nothing.
    RidgepointError
        If the records make no step: no work is known, they are on no straight line, ...
    """
    nodes, strong = nodes_of(options), options["strong"]
    algorithms = algorithms_of(options)
    try:
        steps = tuple(_step(kept, name, machines, fused=fused) for name in algorithms)
    except ValueError as error:
        raise RidgepointError(
            f"cannot make a step of {', '.join(kept.names)}",
            reason=str(error),
            remedy="record the program with two batches, forward and backward "
            "(ridgepoint.operators(model, x, backward=...)), and give each with its batch",
        ) from error
    given = options["batch"]
    over, batch = over_nodes(nodes, strong=strong)
    return Training(
        steps=steps,
        batch=tuple(sorted(kept.profiles)) if given is None else _batches(given),
        nodes=nodes,
        strong=strong,
        summary=f"{_said(steps[0])}, all-reduce {', '.join(algorithms)} {over}; {batch}",
        inputs={
            "operators": [
                {"record": name, "batch": size}
                for name, size in zip(kept.names, kept.profiles, strict=True)
            ],
            "program": steps[0].name,
            "fused": fused,
            "precision": steps[0].precision,
            "gradient_bytes": steps[0].gradient_bytes,
            "left_out": dict(steps[0].left_out),
            "all_reduce": list(algorithms),
            "strong": strong,
        },
    )


def _batches(text: str) -> tuple[int, ...]:
    return numbers.whole_numbers(text, "--batch")


def _step(
    kept: KeptOperators, algorithm: str, machines: Sequence[Machine], *, fused: bool
) -> ModelStep:
    from ridgepoint.demands.operators.step import model_step

    step = model_step(kept.profiles, algorithm=algorithm, memory="outer" if fused else "operators")
    unknown = [
        name
        for name in step.resources
        if RESOURCES[name].path == "compute" and not all(one.knows(name) for one in machines)
    ]
    return step.without(*unknown)


def _said(step: ModelStep) -> str:
    """Return what the step is, with what is not in it."""
    kind = "training step" if step.gradient_bytes else "inference"
    said = f"{kind} of {step.name} in {step.precision}, by its operators"
    if step.gradient_bytes:
        said += f", gradients of {format_si(step.gradient_bytes, 'B')}"
    missing = [
        f"{100 * share:.1f} % of its time, of unknown demand"
        if name == "unknown"
        else f"work in {name}"
        for name, share in step.left_out.items()
    ]
    return f"{said} (without {' and '.join(missing)})" if missing else said
