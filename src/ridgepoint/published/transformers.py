"""Transformers whose dimensions are published, by name."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from ridgepoint.demands.transformer import Transformer
from ridgepoint.published.documents import published_name, read_shipped

_FILE = files("ridgepoint") / "data" / "published" / "transformers.toml"


class PublishedTransformer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dimensions of a transformer, as for `ridgepoint.demands.transformer.Transformer`.

    Parameters
    ----------
    weights : int
        Number of parameters that is published.
    source : str
        Where the dimensions are stated.
    """

    layers: int
    width: int
    heads: int
    feed_forward: int
    vocabulary: int
    kv_heads: int | None = None
    head_width: int | None = None
    gated: bool = True
    experts: int = 1
    active_experts: int = 1
    biases: str = "none"
    head_norms: bool = False
    positions: int = 0
    tied: bool = False
    window: int | None = None
    weights: int
    source: str

    @property
    def model(self) -> Transformer:
        """The transformer of these dimensions."""
        dimensions = msgspec.structs.asdict(self)
        return Transformer(
            **{key: value for key, value in dimensions.items() if key not in ("weights", "source")}
        )


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    models: dict[str, PublishedTransformer]


def transformers() -> dict[str, PublishedTransformer]:
    """Return the published transformers, by name.

    Examples
    --------
    >>> transformers()["gpt2"].model.weights
    124439808
    """
    return read_shipped(_FILE, _Published, what="the transformers").models


def transformer(name: str) -> PublishedTransformer:
    """Return a published transformer.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    known = transformers()
    remedy = "a file of dimensions (FILE.toml or a config.json), or --layers, --width and others"
    return known[published_name(name, known, what="take the transformer", remedy=remedy)]
