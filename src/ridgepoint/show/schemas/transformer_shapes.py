"""Shapes of the reports of transformers on devices."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.models.transformer.crossing import Crossing
from ridgepoint.models.transformer.designs import Design
from ridgepoint.models.transformer.memory import MemoryNeed
from ridgepoint.models.transformer.report import Target
from ridgepoint.models.transformer.study import Point
from ridgepoint.show.schemas.of_types import derived_shapes, value_shape
from ridgepoint.show.schemas.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Described,
    array,
    either,
    maybe,
    obj,
)

_MODEL: dict[str, Described] = {
    "name": (STRING, "Name."),
    "source": (maybe(STRING), "Where its dimensions are published; null: they were given."),
    "layers": (INTEGER, "Layers."),
    "width": (INTEGER, "Length of a token's vector."),
    "heads": (INTEGER, "Query heads."),
    "feed_forward": (INTEGER, "Inner width of the feed-forward network, or of an expert."),
    "vocabulary": (INTEGER, "Tokens that there are."),
    "kv_heads": (INTEGER, "Heads of keys and values."),
    "head_width": (INTEGER, "Length of a head's vectors."),
    "gated": (BOOLEAN, "Whether a third matrix gates the feed-forward network."),
    "experts": (INTEGER, "Experts of a layer."),
    "active_experts": (INTEGER, "Experts that a token uses."),
    "biases": (STRING, "Which parts have biases: none, qkv or all."),
    "head_norms": (BOOLEAN, "Whether queries and keys of each head are normalised."),
    "positions": (INTEGER, "Learned vectors of positions; 0: none."),
    "tied": (BOOLEAN, "Whether the output uses the weights of the embedding."),
    "window": (maybe(INTEGER), "Tokens to which a token attends at most; null: all."),
    "attention": (STRING, "Which pairs attention multiplies: causal or full."),
    "parameters": (INTEGER, "Number of weights."),
    "active_parameters": (INTEGER, "Weights that a token uses."),
}
_DESIGN = value_shape(Design, derived_shapes(Design, ["devices", "rate_of_device_per_s"]))
_ASSUMPTION = value_shape(
    Point,
    {
        "name": {**STRING, "description": "The assumption."},
        "is_own": {**BOOLEAN, "description": "Whether it is what was asked for."},
    },
)
_MACHINE = obj(
    "One kind of device.",
    name=(STRING, "Name."),
    work_per_s=(NUMBER, "Peak of the precision, flop/s."),
    memory_bytes_per_s=(NUMBER, "Bandwidth of its memory."),
    network_bytes_per_s=(maybe(NUMBER), "Bandwidth of its link; null: not known."),
    need=(
        value_shape(MemoryNeed, derived_shapes(MemoryNeed, ["largest_batch"])),
        "What the device that holds most must hold.",
    ),
    leaves_memory=(
        maybe(Crossing),
        "Where generating leaves the memory's roof; null: it never does.",
    ),
    points=(array(Point), "What each batch can reach at most."),
    fullest=(maybe(Point), "The same of the largest batch; null: not known, or none fits."),
    assumptions=(array(_ASSUMPTION), "The first batch under other assumptions."),
    divisions=(array(_DESIGN), "One copy of the model in every division that was asked for."),
    designs=(
        maybe(array(_DESIGN)),
        "Designs that reach the target, fewest devices first; null: there is no target.",
    ),
)
TRANSFORMER: dict[str, Any] = obj(
    "How fast devices can generate text with a transformer.",
    model=(obj("The model.", _MODEL), "The model."),
    precision=(STRING, "Precision of the work and of activations."),
    weights=(STRING, "Type of the weights."),
    cache=(STRING, "Type of keys and values."),
    tensor=(INTEGER, "Devices over which every matrix is divided."),
    pipeline=(INTEGER, "Devices over which the layers are divided."),
    activations=(STRING, "Which activations cross memory: resident or operators."),
    routing=(STRING, "How tokens choose experts: even or least."),
    all_reduce=(STRING, "Algorithm of the all-reduce."),
    prompt=(INTEGER, "Tokens of a prompt."),
    generated=(INTEGER, "Tokens of an answer."),
    context=(NUMBER, "Tokens in the cache while tokens are generated, on average."),
    overlap=(either(STRING, NUMBER), "How times combine: full, none, or an exponent."),
    in_series=(BOOLEAN, "Whether the parts of a pass follow one another."),
    latency_s=(NUMBER, "Latency of a message."),
    cores=(maybe(NUMBER), "Cores of a device that are kept busy; null: all."),
    efficiency=(NUMBER, "Share of the bound that programs are expected to reach."),
    target=(maybe(Target), "What devices have to reach; null: nothing was asked."),
    machines=(array(_MACHINE), "Each kind of device."),
    cautions=(array(Caution), "Doubts."),
)
MODELS: dict[str, Any] = obj(
    "Transformers whose dimensions are published.",
    models=(array(obj("A model.", _MODEL)), "Each model."),
)
