"""Writes what commands draw: as a picture, or as a page that a browser opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.show.page import HTML_ENDINGS

if TYPE_CHECKING:
    from ridgepoint.show.chart import Chart, Page
    from ridgepoint.show.page.document import PageDocument


def save_picture(
    picture: Chart | Page,
    outputs: Sequence[Path],
    *,
    page: Callable[[], PageDocument] | None = None,
) -> None:
    """Write a picture to each file, in the format of its ending.

    Parameters
    ----------
    picture : Chart or Page
    outputs : sequence of Path
    page : callable or None
        Makes the page that ``.html`` gets; None: one that shows the picture alone.

    Raises
    ------
    RidgepointError
        If one cannot be written.
    """
    for path in outputs:
        if is_page(path):
            from ridgepoint.show.page.assemble import write_page
            from ridgepoint.show.page.pictures import picture_page

            write_page(picture_page(picture) if page is None else page(), path)
        else:
            # Imported here: matplotlib takes a second.
            from ridgepoint.show.draw_mpl import save

            save(picture, path)


def is_page(path: Path) -> bool:
    """Return whether a file gets a page."""
    return path.suffix.lower() in HTML_ENDINGS
