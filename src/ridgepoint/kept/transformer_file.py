"""Transformers in a file: dimensions as TOML, or a model's config.json."""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec

from ridgepoint.core.errors import InvalidDocument, reason_of
from ridgepoint.core.faults import fault, shown
from ridgepoint.core.toml import open_table
from ridgepoint.demands.transformer import Transformer
from ridgepoint.published.transformers import Dimensions

_REMEDY = (
    "give layers, width, heads, feed_forward and vocabulary, and where they apply kv_heads, "
    "head_width, gated, experts, active_experts, biases, head_norms, positions, tied, window and "
    "attention"
)
_LARGEST = 1_000_000
_KINDS: dict[str, dict[str, object]] = {
    "gpt2": {"gated": False, "biases": "all", "tied": True},
    "llama": {},
    "mistral": {},
    "mixtral": {},
    "phi3": {},
    "qwen2": {"biases": "qkv"},
    "qwen3": {"head_norms": True},
    "qwen3_moe": {"head_norms": True},
}
"""Kinds of models whose config.json is understood, and what all of a kind have."""


class _Config(msgspec.Struct):
    """The keys of config.json that say a model's dimensions; others are not read."""

    model_type: str
    vocab_size: int
    hidden_size: int | None = None
    n_embd: int | None = None
    num_hidden_layers: int | None = None
    n_layer: int | None = None
    num_attention_heads: int | None = None
    n_head: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    intermediate_size: int | None = None
    n_inner: int | None = None
    n_positions: int | None = None
    num_local_experts: int | None = None
    num_experts: int | None = None
    moe_intermediate_size: int | None = None
    num_experts_per_tok: int | None = None
    mlp_only_layers: list[int] | None = None
    decoder_sparse_step: int | None = None
    sliding_window: int | None = None
    use_sliding_window: bool | None = None
    tie_word_embeddings: bool | None = None
    attention_bias: bool | None = None


def read_transformer(path: Path) -> Transformer:
    """Return the transformer of a file: of a ``.json`` by the keys of config.json, else of TOML.

    Raises
    ------
    InvalidDocument
        If it holds none, or dimensions that do not fit together.
    """
    if path.suffix.lower() == ".json":
        return _from_config(path)
    file = open_table(path, what="the transformer", remedy=_REMEDY)
    found = file.take(Dimensions)
    try:
        return found.model
    except ValueError as error:
        raise file.wrong(None, str(error), _REMEDY) from error


def _from_config(path: Path) -> Transformer:
    what = f"cannot read the transformer of {path}"
    remedy = "give the config.json of a model, or its dimensions in a file FILE.toml"
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise OSError(errno.EFBIG, "it is larger than 1 MB")
        values = msgspec.json.decode(content)
        config = msgspec.convert(values, _Config)
    except OSError as error:
        raise InvalidDocument(what, reason=reason_of(error), remedy=remedy) from error
    except msgspec.ValidationError as error:
        wrong = fault(error, values, _Config)
        place = shown(wrong.path)
        raise InvalidDocument(
            f"{what}{', ' if place else ''}{place}", reason=wrong.reason, remedy=remedy
        ) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidDocument(what, reason=f"it is not JSON: {error}", remedy=remedy) from error
    try:
        return _model(config)
    except ValueError as error:
        raise InvalidDocument(what, reason=str(error), remedy=remedy) from error


def _model(config: _Config) -> Transformer:
    """Return the transformer of a config.json.

    Raises
    ------
    ValueError
        If its kind is not known, or a dimension is missing.
    """
    if config.model_type not in _KINDS:
        raise ValueError(
            f"its model_type is {config.model_type!r}, and only {', '.join(_KINDS)} are understood"
        )
    own = dict(_KINDS[config.model_type])
    if config.attention_bias and "biases" not in own:
        raise ValueError("its attention has biases, which is understood of gpt2 and qwen2 only")
    if config.mlp_only_layers or (config.decoder_sparse_step or 1) != 1:
        raise ValueError("only some of its layers have experts, which is not modelled")
    width = _first(config, "hidden_size", "n_embd")
    # Where all layers have experts, as here, the width of a dense network is not used.
    inner = config.moe_intermediate_size or config.intermediate_size or config.n_inner
    if inner is None and config.model_type == "gpt2":
        inner = 4 * width
    if inner is None:
        raise ValueError("it has no intermediate_size")
    experts = config.num_local_experts or config.num_experts or 1
    window = config.sliding_window if config.use_sliding_window is not False else None
    if config.tie_word_embeddings is not None:
        own["tied"] = config.tie_word_embeddings
    dimensions: dict[str, object] = {
        "layers": _first(config, "num_hidden_layers", "n_layer"),
        "width": width,
        "heads": _first(config, "num_attention_heads", "n_head"),
        "kv_heads": config.num_key_value_heads,
        "head_width": config.head_dim,
        "feed_forward": inner,
        "vocabulary": config.vocab_size,
        "experts": experts,
        "active_experts": (config.num_experts_per_tok or 1) if experts > 1 else 1,
        "window": window,
        "positions": config.n_positions or 0 if config.model_type == "gpt2" else 0,
        **own,
    }
    return Transformer(**dimensions)  # type: ignore[arg-type]


def _first(config: _Config, *names: str) -> int:
    found = [value for name in names if (value := getattr(config, name)) is not None]
    if not found:
        raise ValueError(f"it has no {names[0]}")
    return int(found[0])
