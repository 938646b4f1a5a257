"""Published compute loads of the SKA1 Science Data Processor, by product and stage."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from ridgepoint.published.documents import published_name, read_shipped

_FILE = files("ridgepoint") / "data" / "published" / "sdp.toml"
_PETA = 1e15

DECONVOLVE = ("identify", "subtract")
"""The two parts of the published deconvolution, which is one stage of the memo."""


class Product(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Loads of one product, Pflop/s.

    Parameters
    ----------
    title : str
    total : float
        Of all its parts.
    stages : dict of str to float
        Of the continuum imaging pipeline's parts.
    others : dict of str to float
        The largest of the rest.
    """

    title: str
    total: float
    stages: dict[str, float]
    others: dict[str, float]

    @property
    def total_flop_per_s(self) -> float:
        """Load of the whole product, flop/s."""
        return self.total * _PETA

    @property
    def stage_flop_per_s(self) -> dict[str, float]:
        """Loads of the memo's five stages, flop/s, in their order."""
        parts = {name: load * _PETA for name, load in self.stages.items()}
        clean = sum(parts[name] for name in DECONVOLVE)
        return {
            "grid": parts["grid"],
            "ifft": parts["ifft"],
            "deconvolve": clean,
            "fft": parts["fft"],
            "degrid": parts["degrid"],
        }

    @property
    def imaging_share(self) -> float:
        """Share of those five in the whole."""
        return sum(self.stage_flop_per_s.values()) / self.total_flop_per_s


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    products: dict[str, Product]


def products() -> dict[str, Product]:
    """Return the published products, by name.

    Examples
    --------
    >>> round(products()["low-dprepa"].imaging_share, 3)
    0.175
    """
    return _read().products


def source() -> str:
    """Return where the loads come from."""
    return _read().source


def product(name: str) -> Product:
    """Return a product.

    Raises
    ------
    RidgepointError
        If there is none of this name; the message lists those there are.
    """
    known = products()
    what, remedy = "take the loads of", "the load of each stage"
    return known[published_name(name, known, what=what, remedy=remedy)]


def _read() -> _Published:
    return read_shipped(_FILE, _Published, what="the loads")
