"""Training steps of transformers for the ridgeline command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import numbers
from ridgepoint.cli.ridgeline_inputs import BATCHES
from ridgepoint.cli.ridgeline_training import Training, algorithms_of, nodes_of, over_nodes
from ridgepoint.core.documents import fields_of

if TYPE_CHECKING:
    from ridgepoint.demands.transformer import Transformer
    from ridgepoint.demands.transformer.training import TransformerStep

_SEQUENCE = 2048
_OF_OTHERS = ("layers", "convention", "lookups", "embeddings", "rows_in")
"""Options that mean nothing to a transformer."""


def names_transformer(options: Mapping[str, Any]) -> bool:
    """Return whether ``--model`` is a transformer: by its name, its file, or ``--sequence``."""
    from ridgepoint.published.transformers import transformers

    name = options["model"]
    if name is None:
        if options["sequence"] is not None or options["tensor"] is not None:
            raise click.UsageError(
                "--sequence and --tensor apply to transformers: give one with --model, such as "
                "llama-3-8b"
            )
        return False
    is_asked = options["sequence"] is not None or options["tensor"] is not None
    return is_asked or Path(name).suffix.lower() == ".json" or name.lower() in transformers()


def transformer_training(options: Mapping[str, Any], precision: str) -> Training:
    """Return the training steps of a transformer that the options describe.

    Raises
    ------
    click.ClickException
        If an option means nothing.
    RidgepointError
        If there is no such published model, or a file of one cannot be read.
    """
    for option in _OF_OTHERS:
        if options[option] is not None:
            raise click.UsageError(
                f"--{option.replace('_', '-')} does not apply to transformers: --model has their "
                "dimensions"
            )
    nodes, strong = nodes_of(options), options["strong"]
    steps = tuple(_step(options, precision, name) for name in algorithms_of(options))
    over, batch = over_nodes(nodes, strong=strong)
    step = steps[0]
    on = "" if step.tensor == 1 else f", every matrix divided over {step.tensor} devices"
    return Training(
        steps=steps,
        batch=numbers.whole_numbers(options["batch"] or BATCHES, "--batch"),
        nodes=nodes,
        strong=strong,
        summary=f"training step of {options['model']} in {precision}, sequences of "
        f"{step.sequence:,} tokens{on}; all-reduce "
        f"{', '.join(each.algorithm for each in steps)} {over}; {batch}, in sequences",
        inputs={
            "model": options["model"],
            **fields_of(step, "sequence", "tensor", "precision", "activations", "optimizer"),
            "all_reduce": [each.algorithm for each in steps],
            "strong": strong,
        },
    )


def _step(options: Mapping[str, Any], precision: str, algorithm: str) -> TransformerStep:
    from ridgepoint.demands.transformer.training import TransformerStep

    try:
        return TransformerStep(
            model=_model(options["model"]),
            sequence=options["sequence"] or _SEQUENCE,
            precision=precision,
            algorithm=algorithm,
            tensor=options["tensor"] or 1,
        )
    except ValueError as error:
        message = str(error).replace("tensor must", "--tensor must")
        raise click.UsageError(message.replace("algorithm must", "--all-reduce must")) from error


def _model(name: str) -> Transformer:
    path = Path(name)
    if path.suffix.lower() in (".toml", ".json"):
        from ridgepoint.kept.transformer_file import read_transformer

        return read_transformer(path)
    from ridgepoint.published.transformers import transformer

    return transformer(name).model
