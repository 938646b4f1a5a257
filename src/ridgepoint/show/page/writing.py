"""Writes results of a Python program as a page."""

from __future__ import annotations

from pathlib import Path

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.models.analysis import Analysis, analyse, analysed
from ridgepoint.models.placement import Placement
from ridgepoint.show.page import PAGE_ENDINGS
from ridgepoint.show.page.assemble import write_page
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.records import Shown, ShownRecord

Reported = Machine | MeasuredCluster | Measurement | Placement | Analysis | Timing
"""Results that a page can show."""


def report(
    *results: Reported,
    path: str | Path,
    machine: Machine | None = None,
    title: str | None = None,
) -> None:
    r"""Write results as one page, which a browser opens without a server or a network.

    Parameters
    ----------
    *results : Machine, MeasuredCluster, Measurement, Placement, Analysis or Timing
        At least one.
    path : str or Path
        Ends in ``.html``; or in ``.json`` for the page's data alone. A file of that name is
        replaced, whole or not at all. The same results make the same bytes.
    machine : Machine or None
        Machine that bounds measurements. None: those have no bound; placements and analyses keep
        the machine that they have.
    title : str or None
        None: what the results are called.

    Raises
    ------
    TypeError
        If there is no result, or one is of another kind.
    RidgepointError
        If the ending is another one, or the file cannot be written.

    Examples
    --------
    >>> from ridgepoint import load, report
    >>> report(load("before"), load("after"), path="both.html")  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() not in PAGE_ENDINGS:
        raise RidgepointError(
            f"cannot write the page {str(path)!r}",
            reason=f"the ending {path.suffix!r} does not name a format",
            remedy="let its name end in .html, or in .json for its data alone",
        )
    if not results:
        raise TypeError("there is nothing to report: give a result")
    records = [
        ShownRecord(key=str(number), value=_shown(result, machine))
        for number, result in enumerate(results, start=1)
    ]
    write_page(page_of(records, title=title), path)


def _shown(result: object, machine: Machine | None) -> Shown:
    if isinstance(result, Measurement):
        return analyse(result, machine)
    if isinstance(result, Placement | Analysis):
        return analysed(result)
    if isinstance(result, Machine | MeasuredCluster | Timing):
        return result
    raise TypeError(
        f"cannot report a {type(result).__name__}: give machines, clusters, measurements, "
        "placements, analyses or timings"
    )
