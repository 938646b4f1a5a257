"""The functions in which a program spends its time as points beside that of the whole."""

from __future__ import annotations

from dataclasses import replace

from ridgepoint.models.thresholds import CERTAIN
from ridgepoint.models.work import hardly_any
from ridgepoint.show.charts.part_points import PartsDrawn, listed, part_subject, parts_drawn
from ridgepoint.show.charts.subjects import Subject
from ridgepoint.show.words import percent, shown_symbol

MOST_FUNCTIONS = 6
"""More points with a name each hide the roofs."""

_LEAST_SHARE = 0.01


def functions_drawn(whole: Subject) -> PartsDrawn:
    """Return the points of a program's functions on a machine's roofline.

    Parameters
    ----------
    whole : Subject
        The program. Functions of it are drawn that do work, and whose time is known well enough.
    """
    runtime, metric = whole.placement.runtime_s, whole.placement.metric
    certain, uncertain = [], []
    for part in whole.analysis.functions:
        function, timed = part.counts, part.timed
        if function is None or part.analysis is None or hardly_any(function.counts, metric):
            continue
        name = shown_symbol(function.name, function.object)
        if timed.relative_error <= CERTAIN:
            certain.append(part_subject(name, part.analysis))
        elif runtime is not None and timed.runtime_s.median > _LEAST_SHARE * runtime.median:
            uncertain.append(name)
    drawn = parts_drawn("function", certain, whole, most=MOST_FUNCTIONS)
    if not uncertain:
        return drawn
    several = "s" if len(uncertain) > 1 else ""
    note = (
        f"no point for function{several} {listed(uncertain)}: time not known to "
        f"{percent(CERTAIN)}, ask for more runs or give it more to do"
    )
    return replace(drawn, notes=(*drawn.notes, note))
