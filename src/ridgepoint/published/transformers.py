"""Transformers whose dimensions are published, by name."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from ridgepoint.demands.transformer import Transformer
from ridgepoint.published.documents import published_name, read_shipped

_FILE = files("ridgepoint") / "data" / "published" / "transformers.toml"


class Dimensions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dimensions in a file, as for `ridgepoint.demands.transformer.Transformer`."""

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
    attention: str = "causal"

    @property
    def model(self) -> Transformer:
        """The transformer of these dimensions.

        Raises
        ------
        ValueError
            If they do not fit together.
        """
        return Transformer(**{name: getattr(self, name) for name in Dimensions.__struct_fields__})


class PublishedTransformer(Dimensions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A transformer whose dimensions are published.

    Parameters
    ----------
    weights : int
        Number of parameters that is published.
    source : str
        Where the dimensions are stated.
    """

    weights: int
    source: str


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
