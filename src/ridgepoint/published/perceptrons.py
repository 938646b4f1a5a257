"""Multi-layer perceptrons whose layer sizes are published, by name."""

from __future__ import annotations

import difflib
import tomllib
from importlib.resources import files

import msgspec

from ridgepoint.core.errors import RidgepointError

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
    return msgspec.convert(tomllib.loads(_FILE.read_text()), _Published).models


def perceptron(name: str) -> Perceptron:
    """Return a published perceptron.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    known = perceptrons()
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        suggestion = f"did you mean {near[0]!r}? " if near else ""
        raise RidgepointError(
            f"cannot take the layers of {name!r}",
            reason=f"published here are only {', '.join(known)}",
            remedy=f"{suggestion}give one of these names, or the sizes with --layers",
        )
    return known[name.lower()]
