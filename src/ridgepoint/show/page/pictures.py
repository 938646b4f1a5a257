"""A picture as a view of a page: what every command that draws can also write as HTML."""

from __future__ import annotations

from dataclasses import replace

import ridgepoint
from ridgepoint.show.chart import Chart, Page
from ridgepoint.show.page.document import PageDocument, Table, View


def picture_view(
    picture: Chart | Page,
    *,
    key: str,
    kind: str,
    title: str = "",
    table: Table | None = None,
) -> View:
    """Return a view of a chart, or of a page of charts.

    Parameters
    ----------
    picture : Chart or Page
        The first chart gets the key that charts of a page share.
    key, kind : str
    title : str
        Empty: that of the picture.
    table : Table or None
    """
    whole = picture if isinstance(picture, Page) else Page(charts=(picture,))
    charts = list(whole.charts)
    charts[0] = replace(charts[0], key=(*charts[0].key, *whole.key))
    return View(
        key=key,
        kind=kind,
        title=title or whole.title or charts[0].title,
        charts=tuple(charts),
        table=table,
        notes=whole.notes,
    )


def picture_page(picture: Chart | Page) -> PageDocument:
    """Return a page that shows nothing but a picture."""
    view = picture_view(picture, key="picture", kind="picture")
    return PageDocument(version=ridgepoint.__version__, title=view.title, views=(view,))
