"""The kept operators of a program that a user names, for commands that compose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ridgepoint.core.errors import RidgepointError

if TYPE_CHECKING:
    from ridgepoint.kept.archive import Archive
    from ridgepoint.models.operators import OperatorAnalysis


def recorded_operators(archive: Archive, name: str) -> OperatorAnalysis:
    """Return the operators that a user names, with the machine that bounds them.

    Parameters
    ----------
    archive : Archive
    name : str
        Number or name of a record, or the file of one.

    Raises
    ------
    RidgepointError
        If there is no such record, or it holds something else.
    """
    from ridgepoint.kept.lookup import operators_of

    analysis = operators_of(archive, name)
    if analysis is None:
        raise RidgepointError(
            f"cannot take the operators of {name!r}",
            reason="there is no such record of a program's operators",
            remedy="see 'ridgepoint list', and keep one with 'ridgepoint run --operators -- python "
            "script.py'",
        )
    return analysis
