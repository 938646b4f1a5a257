"""The version of Ridgepoint that is installed: that of the tag which it was built from."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

UNKNOWN = "unknown"
"""What is said of source code that was never installed."""


def _here() -> str:
    try:
        return installed("ridgepoint")
    except PackageNotFoundError:
        return UNKNOWN


__version__ = _here()


def release(version: str) -> str:
    """Return the release that a version is, or that its commits lead up to.

    What is kept for as long as a version lasts is kept by this: each commit has a version.

    >>> release("0.2.0.dev37+g715b37e4"), release("0.2.0")
    ('0.2.0', '0.2.0')
    """
    return re.split(r"\.dev|\+", version)[0]
