"""Recommendation models in a file: the sizes of perceptrons and of embedding tables."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ridgepoint.core.toml import open_table
from ridgepoint.demands.recommendation import RecommendationModel, outputs_of

_REMEDY = (
    "give bottom = [13, 512, 64], top = [512, 1] (without its input, which follows), tables, "
    'columns, lookups, and interaction = "dot" or "cat"'
)


class _Model(Struct, forbid_unknown_fields=True):
    bottom: tuple[int, ...]
    top: tuple[int, ...]
    tables: int
    columns: int
    lookups: int
    interaction: str


def read_recommendation(path: Path) -> RecommendationModel:
    """Return the recommendation model of a file.

    Raises
    ------
    InvalidDocument
        If it holds none, or sizes that do not fit together.
    """
    file = open_table(path, what="the recommendation model", remedy=_REMEDY)
    found = file.take(_Model)
    try:
        return RecommendationModel(
            bottom=found.bottom,
            top=(
                outputs_of(
                    found.interaction,
                    dense=found.bottom[-1] if found.bottom else 0,
                    tables=found.tables,
                    columns=found.columns,
                ),
                *found.top,
            ),
            tables=found.tables,
            columns=found.columns,
            lookups=found.lookups,
            interaction=found.interaction,
        )
    except ValueError as error:
        raise file.wrong(None, str(error), _REMEDY) from error
