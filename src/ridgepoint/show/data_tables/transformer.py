"""Transformers on devices as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ridgepoint.core.columns import count, flag, number, text
from ridgepoint.core.table import Table
from ridgepoint.show.data_tables.documents import table_of

_REACHED = (
    count("batch", "Sequences of one copy of the model."),
    number("first_s", "Least time to the first token.", unit="s"),
    number("token_s", "Least time from one token to the next.", unit="s"),
    text("first_limiter", "What needs most time until the first token."),
    text("token_limiter", "What needs most time for each token: compute, dram or network."),
    number("token_compute_s", "Time of a token's work alone.", unit="s"),
    number("token_dram_s", "Time of a token's memory traffic alone.", unit="s"),
    number("token_network_s", "Time of a token's network traffic alone.", unit="s"),
    number("tokens_per_s", "Most tokens per second while generating, of one copy."),
    number("rate_per_s", "The same over whole answers, prompts included."),
    number("needed_bytes", "What the device that holds most must hold.", unit="byte"),
    flag("fits", "Whether it does; unknown: its memory is not known."),
)
_POINTS = (text("machine", "Kind of device."), *_REACHED)
_ASSUMPTIONS = (
    text("machine", "Kind of device."),
    text("name", "The assumption."),
    flag("is_own", "Whether it is what was asked for."),
    *_REACHED,
)
_DESIGNS = (
    text("machine", "Kind of device."),
    flag("is_for_target", "Whether it reaches the target; else it is one copy of the model."),
    count("devices", "Devices of all copies."),
    count("tensor", "Devices over which matrices are divided."),
    count("pipeline", "Devices over which layers are divided."),
    count("copies", "Copies of the model."),
    count("batch", "Sequences of each copy."),
    number("first_s", "Least time to the first token.", unit="s"),
    number("token_s", "Least time from one token to the next.", unit="s"),
    number("rate_per_s", "Most tokens per second of all copies, over whole answers."),
    number("rate_of_device_per_s", "The same of each device."),
    text("limiter", "What needs most time for each token: compute, dram or network."),
)
_MODELS = (
    text("name", "Name of the model."),
    count("parameters", "Number of weights."),
    count("active_parameters", "Weights that a token uses."),
    count("layers", "Layers."),
    count("width", "Length of a token's vector."),
    count("heads", "Query heads."),
    count("kv_heads", "Heads of keys and values."),
    count("head_width", "Length of a head's vectors."),
    count("feed_forward", "Inner width of the feed-forward network, or of an expert."),
    count("vocabulary", "Tokens that there are."),
    count("experts", "Experts of a layer."),
    count("active_experts", "Experts that a token uses."),
    count("window", "Tokens to which a token attends at most; unknown: all."),
    text("source", "Where the dimensions are published."),
)


def transformer_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return batches, divisions and designs, and assumptions of each kind of device."""
    machines = document["machines"]
    return (
        table_of("points", _POINTS, _rows(machines, "points")),
        table_of(
            "designs",
            _DESIGNS,
            (
                {"machine": machine["name"], "is_for_target": is_for_target, **design}
                for machine in machines
                for key, is_for_target in (("designs", True), ("divisions", False))
                for design in machine[key] or ()
            ),
        ),
        table_of("assumptions", _ASSUMPTIONS, _rows(machines, "assumptions")),
    )


def model_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return the published models."""
    return (table_of("models", _MODELS, document["models"]),)


def _rows(machines: Any, key: str) -> Any:
    return (
        {
            "machine": machine["name"],
            **row,
            **{f"token_{path}_s": time_s for path, time_s in row["token_times_s"].items()},
        }
        for machine in machines
        for row in machine[key]
    )


COLUMNS = {
    "points": _POINTS,
    "designs": _DESIGNS,
    "assumptions": _ASSUMPTIONS,
    "models": _MODELS,
}
"""Of each table, by its name."""
