"""Which banks belong to what is counted alone, and what to say where it never ran."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters import Selection
from ridgepoint.meters.profile.counts import Selects

_FUNCTION_MARK = "\x01"  # engines put it before the name of a region that is a function


def is_function(name: str) -> bool:
    r"""Return whether the name of a region is that of a function that is counted alone.

    Examples
    --------
    >>> is_function("solve"), is_function("\x01solve")
    (False, True)
    """
    return name.startswith(_FUNCTION_MARK)


def selects(selection: Selection | None) -> Selects | None:
    """Return what tells regions that belong to a selection; None: everything is counted."""
    if selection is None:
        return None
    if selection.kind == "function":
        return is_function
    return lambda name: name == selection.name


def never_ran(what: str, selection: Selection, entered: Iterable[str]) -> CannotMeasure:
    """Return what is wrong where nothing of a selection ran.

    Parameters
    ----------
    what : str
        That cannot be counted.
    selection : Selection
    entered : iterable of str
        Regions that were.
    """
    if selection.kind == "region":
        names = sorted(set(entered))
        known = f"it entered {', '.join(map(repr, names))}" if names else "it entered none"
        return CannotMeasure(
            what,
            reason=f"it never entered a region {selection.name!r}; {known}",
            remedy="mark it with ridgepoint.region(...) or RIDGEPOINT_REGION_BEGIN(...)",
        )
    return CannotMeasure(
        what,
        reason=f"it entered no function whose symbol is or matches {selection.name!r}",
        remedy=(
            "look for the function in the table of functions of a run without --function: it "
            "may be inlined, static in a stripped file, or have a longer name"
        ),
    )
