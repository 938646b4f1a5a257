"""What `ridgepoint transformer` is asked: the model, the devices, what they are to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import numbers
from ridgepoint.cli.ridgeline_inputs import overlap_of
from ridgepoint.core.errors import UnknownCeiling

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.demands.transformer import Transformer
    from ridgepoint.demands.transformer.passes import Inference
    from ridgepoint.models.transformer import Serving

DIMENSIONS = (
    *("layers", "width", "heads", "kv_heads", "head_width", "feed_forward", "vocabulary"),
    *("experts", "active_experts", "window"),
)
"""Dimensions that options give; those that a model needs first."""

_NEEDED = ("layers", "width", "heads", "feed_forward", "vocabulary")
_MACHINE = "h200"
_TENSORS = (1, 2, 4, 8)
_OPTIONS = {
    "kv_heads": "--kv-heads", "head_width": "--head-width", "feed_forward": "--feed-forward",
    "active_experts": "--active-experts", "context": "--context", "generated": "--generate",
    "algorithm": "--all-reduce", "memory_bytes": "--memory", "latency_s": "--latency",
    "cores": "--cores",
}  # fmt: skip
"""Options whose name is not that of the argument in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of which model on which devices.

    Parameters
    ----------
    name : str
        Name of the model.
    source : str or None
        Where its dimensions are published; None: they were given.
    servings : tuple of Serving
        One for each machine, with the first division that was given.
    tensors, pipelines : tuple of int
        Divisions to compare.
    batches : tuple of int
        Empty: as many as the memory holds.
    """

    name: str
    source: str | None
    servings: tuple[Serving, ...]
    tensors: tuple[int, ...]
    pipelines: tuple[int, ...]
    batches: tuple[int, ...]

    @property
    def model(self) -> Transformer:
        """The transformer."""
        return self.servings[0].inference.model


def asked_of(model: str | None, options: Mapping[str, Any], *, has_target: bool) -> Asked:
    """Return what the options of the command ask.

    Parameters
    ----------
    model : str or None
    options : mapping
    has_target : bool
        Whether ways to divide the model are to be chosen from.

    Raises
    ------
    click.ClickException, RidgepointError
        If one of them is impossible.
    """
    name, source, transformer = _model(model, options)
    machines = _machines(options)
    pipelines = numbers.whole_numbers(options["pipeline"], "--pipeline")
    tensors: tuple[int, ...] = (1,)
    if options["tensor"] is not None:
        tensors = numbers.whole_numbers(options["tensor"], "--tensor")
    elif has_target and all(machine.knows("network") for machine in machines):
        tensors = _TENSORS
    if max(tensors) * max(pipelines) > 1:
        _require_network(machines)
    inference = _inference(transformer, options, tensors[0], pipelines[0])
    batches = options["batch"]
    return Asked(
        name=name,
        source=source,
        servings=tuple(_serving(inference, machine, options) for machine in machines),
        tensors=tensors,
        pipelines=pipelines,
        batches=() if batches is None else numbers.whole_numbers(batches, "--batch"),
    )


def _require_network(machines: Sequence[Machine]) -> None:
    """Refuse several devices without a network between them.

    Raises
    ------
    UnknownCeiling
    """
    for machine in machines:
        if not machine.knows("network"):
            raise UnknownCeiling(
                f"cannot divide a model over several devices of {machine.name}",
                reason="the machine has no network ceiling",
                remedy="give the bandwidth of a device's link, such as --network 450GB/s",
            )


def _model(name: str | None, options: Mapping[str, Any]) -> tuple[str, str | None, Transformer]:
    """Return a model with its name and source; options change the dimensions of a known one."""
    from ridgepoint.demands.transformer import Transformer

    given = {key: options[key] for key in DIMENSIONS if options[key] is not None}
    flags: dict[str, Any] = {"gated": False} if options["ungated"] else {}
    flags |= {"tied": True} if options["tied"] else {}
    try:
        if name is None:
            lacking = [key for key in _NEEDED if key not in given]
            if lacking:
                raise click.UsageError(
                    "name a model, such as llama-3-8b (--list prints all), or give "
                    f"{', '.join(map(_option, lacking))}"
                )
            return "own model", None, Transformer(**given, **flags)
        found, source = _known(name)
        changed = {**given, **flags}
        if not changed:
            return name.lower() if source else Path(name).stem, source, found
        own = replace(found, **changed)
        return f"{Path(name).stem if source is None else name.lower()}, changed", source, own
    except ValueError as error:
        raise click.UsageError(_with_options(str(error))) from error


def _known(name: str) -> tuple[Transformer, str | None]:
    path = Path(name)
    if path.suffix.lower() in (".toml", ".json"):
        from ridgepoint.kept.transformer_file import read_transformer

        return read_transformer(path), None
    from ridgepoint.published.transformers import transformer

    published = transformer(name)
    return published.model, published.source


def _inference(
    model: Transformer, options: Mapping[str, Any], tensor: int, pipeline: int
) -> Inference:
    from ridgepoint.demands.transformer.passes import Inference

    try:
        return Inference(
            model=model,
            precision=options["precision"],
            weights=options["weights"],
            cache=options["cache"],
            tensor=tensor,
            pipeline=pipeline,
            activations=options["activations"],
            routing=options["routing"],
            algorithm=options["all_reduce"],
        )
    except ValueError as error:
        raise click.UsageError(_with_options(str(error))) from error


def _machines(options: Mapping[str, Any]) -> tuple[Machine, ...]:
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.models.derived import with_network

    machines = tuple(machine_of(name) for name in options["machine"] or (_MACHINE,))
    if options["network"] is None:
        return machines
    return tuple(with_network(machine, options["network"]) for machine in machines)


def _serving(inference: Inference, machine: Machine, options: Mapping[str, Any]) -> Serving:
    from ridgepoint.models.transformer import Serving

    try:
        return Serving(
            inference=inference,
            machine=machine,
            prompt=options["prompt"],
            generated=options["generate"],
            context=options["context"],
            overlap=overlap_of(options["overlap"]),
            in_series=options["in_series"],
            latency_s=options["latency"] or 0.0,
            memory_bytes=options["memory"],
            cores=options["cores"],
            efficiency=options["efficiency"],
        )
    except ValueError as error:
        raise click.UsageError(_with_options(str(error))) from error


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _with_options(message: str) -> str:
    """Return a message that begins with the name of an argument with the option instead."""
    word, _, rest = message.partition(" ")
    names = {*DIMENSIONS, *_OPTIONS, "tensor", "pipeline", "precision", "weights", "cache"}
    return f"{_OPTIONS.get(word, _option(word))} {rest}" if word in names else message


def dimensions_of(model: Transformer) -> dict[str, Any]:
    """Return the dimensions of a model, by name."""
    return {field.name: getattr(model, field.name) for field in fields(model)}
