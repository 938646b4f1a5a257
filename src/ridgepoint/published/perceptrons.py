"""Multi-layer perceptrons and recommendation models whose sizes are published, by name."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from ridgepoint.demands.recommendation import RecommendationModel
from ridgepoint.published.documents import published_name, read_shipped

_FILE = files("ridgepoint") / "data" / "published" / "dlrm.toml"


class Perceptron(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Layer sizes of one perceptron.

    Parameters
    ----------
    layers : tuple of int
        From the input to the output.
    source : str
        Where they are set.
    """

    layers: tuple[int, ...]
    source: str


class PublishedRecommendation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A recommendation model, whose perceptrons are published too.

    Parameters
    ----------
    bottom, top : str
        Names of its perceptrons.
    tables, columns, lookups, interaction
        As for `ridgepoint.demands.recommendation.RecommendationModel`.
    source : str
        Where they are set.
    """

    bottom: str
    top: str
    tables: int
    columns: int
    lookups: int
    interaction: str
    source: str


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    models: dict[str, Perceptron]
    whole: dict[str, PublishedRecommendation]


def perceptrons() -> dict[str, Perceptron]:
    """Return the published perceptrons, by name: those of DLRM, the recommendation model.

    Examples
    --------
    >>> perceptrons()["dlrm-mlperf-top"].layers
    (479, 1024, 1024, 512, 256, 1)
    """
    return _published().models


def recommendation_models() -> dict[str, PublishedRecommendation]:
    """Return the published recommendation models, by name: whole DLRMs, with their tables.

    Examples
    --------
    >>> published = recommendation_models()["dlrm-mlperf"]
    >>> published.tables, published.columns, published.top
    (26, 128, 'dlrm-mlperf-top')
    """
    return _published().whole


def recommendation_model(name: str) -> RecommendationModel:
    """Return a published recommendation model.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    known = recommendation_models()
    what, remedy = "take the recommendation model", "a file of its sizes, FILE.toml"
    found = known[published_name(name, known, what=what, remedy=remedy)]
    layers = perceptrons()
    return RecommendationModel(
        bottom=layers[found.bottom].layers,
        top=layers[found.top].layers,
        tables=found.tables,
        columns=found.columns,
        lookups=found.lookups,
        interaction=found.interaction,
    )


def model_named(name: str) -> tuple[int, ...] | RecommendationModel:
    """Return the published recommendation model, or the layers of the perceptron, of this name.

    Raises
    ------
    RidgepointError
        If there is neither; the message lists those there are.
    """
    known = _published()
    what = "take the model"
    remedy = "sizes with --layers, or a file of a recommendation model, FILE.toml"
    found = published_name(name, [*known.whole, *known.models], what=what, remedy=remedy)
    return recommendation_model(found) if found in known.whole else known.models[found].layers


def _published() -> _Published:
    return read_shipped(_FILE, _Published, what="the perceptrons")


def perceptron(name: str) -> Perceptron:
    """Return a published perceptron.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    known = perceptrons()
    what, remedy = "take the layers of", "the sizes with --layers"
    return known[published_name(name, known, what=what, remedy=remedy)]
