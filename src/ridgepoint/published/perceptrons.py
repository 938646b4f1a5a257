"""Multi-layer perceptrons whose layer sizes are published, by name."""

from __future__ import annotations

from importlib.resources import files

import msgspec

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


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    models: dict[str, Perceptron]


def perceptrons() -> dict[str, Perceptron]:
    """Return the published perceptrons, by name: those of DLRM, the recommendation model.

    Examples
    --------
    >>> perceptrons()["dlrm-mlperf-top"].layers
    (479, 1024, 1024, 512, 256, 1)
    """
    return read_shipped(_FILE, _Published, what="the perceptrons").models


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
