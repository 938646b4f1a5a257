"""The kept operators of a program as a pipeline, for the pipeline command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.cli.recorded_operators import recorded_operators
from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import RidgepointError

_OF_STAGES = ("unknown-operators", "untimed-operators", "functions")
"""Cautions about operators that hold for stages made of them, too."""

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.kept.pipeline_file import Cases


def operator_cases(
    name: str, machines: Sequence[Machine], archive_path: Path | None, *, by: str, depth: int
) -> Cases:
    """Return the operators of a record as a pipeline on the machine that bounds it.

    Parameters
    ----------
    name : str
        Number or name of a record, or the file of one.
    machines : sequence of Machine
        The first bounds, and stages may be assigned to all; empty: the record's own bounds.
    archive_path : Path or None
    by, depth
        As for `ridgepoint.models.operators.stages.operator_stages`.

    Raises
    ------
    RidgepointError
        If there is no such record, it was kept without a machine and none is given, or no work of
        it is known.
    """
    from ridgepoint.kept.archive import Archive
    from ridgepoint.kept.pipeline_file import Case, Cases
    from ridgepoint.models.operators import analyse_operators
    from ridgepoint.models.operators.stages import operator_stages

    with Archive(archive_path) as archive:
        analysis = recorded_operators(archive, name)
    machine = machines[0] if machines else analysis.machine
    if machine is None:
        raise RidgepointError(
            f"cannot bound the operators of {name!r}",
            reason="they were kept without a machine",
            remedy="name one with --machine, such as --machine h200",
        )
    placed = analyse_operators(analysis.profile, machine)
    try:
        pipeline = operator_stages(
            placed.profile, by=by, depth=depth, timed=not placed.is_elsewhere
        )
    except ValueError as error:
        raise RidgepointError(
            f"cannot make stages of {name!r}",
            reason=str(error),
            remedy="record a program whose operators have rules",
        ) from error
    doubts = [doubt for doubt in placed.doubts if doubt.code in _OF_STAGES]
    if placed.is_elsewhere:
        doubts.append(
            Caution(
                "other-machine",
                f"the operators were timed on {placed.profile.device_model!r}; the roofs are of "
                f"{machine.name!r}",
                "their times are left out: each stage is assumed to reach its roof",
            )
        )
    case = Case(
        pipeline=pipeline,
        machine=machine,
        others=tuple(machines[1:]),
        cores=placed.cores,
        cautions=(*placed.profile.cautions, *doubts),
    )
    return Cases(cases=(case,))
