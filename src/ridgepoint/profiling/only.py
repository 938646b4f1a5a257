"""Allow one measurement at a time in this process: others would affect its times."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from ridgepoint.core.errors import CannotMeasure

_UNDER_WAY = threading.Lock()


@contextlib.contextmanager
def only_measurement() -> Iterator[None]:
    """Hold this process's lock for measuring.

    Raises
    ------
    CannotMeasure
        If another measurement has it.
    """
    if not _UNDER_WAY.acquire(blocking=False):
        raise CannotMeasure(
            "cannot measure now",
            reason=(
                "another measurement is running in this process: of a function that itself "
                "measures, or in another thread"
            ),
            remedy="run the measurements one after the other",
        )
    try:
        yield
    finally:
        _UNDER_WAY.release()
