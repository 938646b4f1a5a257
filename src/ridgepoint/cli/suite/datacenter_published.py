"""What the DC-Roofline paper prints, recomputed: shown, kept and drawn as a suite's results are."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ridgepoint.cli import common
from ridgepoint.cli.suite import results

_FILE = "published.json"
"""In a folder of figures."""


def show_published(
    titles: Collection[str], *, as_json: bool, output: Path | None, folder: Path | None
) -> None:
    """Print the paper's tables, or their document; write and draw them where that is asked for.

    Parameters
    ----------
    titles : collection of str
        Workloads as the paper calls them; empty: all.
    as_json : bool
    output : Path or None
    folder : Path or None
        Folder of figures.
    """
    from ridgepoint.core.documents import to_fields
    from ridgepoint.show.tables.recomputed_table import recomputed_tables
    from ridgepoint.suites.datacenter.published import published_paper

    paper = published_paper(titles)
    try:
        if as_json:
            common.print_json(to_fields(paper))
        else:
            common.console().print(recomputed_tables(paper))
    finally:
        if output is not None:
            results.write(paper, output)
        if folder is not None:
            results.write(paper, common.made_folder(folder) / _FILE)
            _draw(titles, folder)


def _draw(titles: Collection[str], folder: Path) -> None:
    from ridgepoint.published.machines import load
    from ridgepoint.show.charts.dc_roofline import dc_page
    from ridgepoint.show.draw_mpl import save
    from ridgepoint.suites.datacenter.points import published_points

    in_bop, in_flop = published_points(titles)
    if in_bop:
        page = dc_page(load("e5645-prefetch"), in_bop, flop_points=in_flop)
        save(page, folder / "dc_roofline.svg")
    else:
        common.say("no figure is drawn: the paper's Table 3 has none of these workloads")
