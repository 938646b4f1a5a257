"""Kept measurements as points of the ridgeline command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgepoint.cli.ridgeline_training import Shown
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.show.words import shown_name

if TYPE_CHECKING:
    from ridgepoint.core.bound import Overlap
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.models.work import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPrograms:
    """Kept measurements that a user names.

    Parameters
    ----------
    programs : mapping of str to Measurement
        By the names that users gave them, or by their numbers.
    machine : Machine or None
        One node, of the first that was kept with a machine; None: none was.
    """

    programs: Mapping[str, Measurement]
    machine: Machine | None


def kept_programs(names: Sequence[str]) -> KeptPrograms:
    """Return the kept measurements of ``--record``.

    Raises
    ------
    RidgepointError
        If there is no such record, it is no measurement, or one is named twice.
    """
    from ridgepoint.kept.archive import Archive

    programs: dict[str, Measurement] = {}
    machine: Machine | None = None
    with Archive(None) as archive:
        for name in names:
            record = archive.require(name, ("measurement",))
            measurement = archive.measurement(record.id)
            label = record.label or f"record {record.id}"
            if label in programs:
                raise RidgepointError(
                    f"cannot place the record {name!r} twice",
                    reason=f"{label!r} is given already",
                    remedy="give each record once, and each a name of its own (ridgepoint name)",
                )
            programs[label] = measurement
            if machine is None and record.machine_id is not None:
                machine = archive.machine(record.machine_id)
    return KeptPrograms(programs=programs, machine=machine)


def records_shown(
    programs: Mapping[str, Measurement],
    machines: tuple[Machine, ...],
    *,
    metric: Metric,
    overlap: Overlap,
) -> Shown:
    """Return measured programs on a Ridgeline, each node with its measured time.

    Raises
    ------
    RidgepointError
        If a program has no place there, because an amount or a ceiling is not known.
    """
    from ridgepoint.models.measured_ridgeline import measured_nodes, measured_on_ridgeline

    try:
        nodes = measured_nodes(programs, metric=metric)
        ridgeline, trajectory, left_out = measured_on_ridgeline(nodes, machines, overlap=overlap)
    except ValueError as error:
        raise RidgepointError(
            "cannot place these records on the Ridgeline",
            reason=str(error),
            remedy="leave them out, measure them with their traffic and interfaces ('ridgepoint "
            "run --mpi P'), count other work with --work bops, or give another --machine",
        ) from error
    notes = [
        f"left out: {format_si(amount, RESOURCES[name].unit)} of {shown_name(name)}, "
        "for which a machine has no ceiling"
        for name, amount in left_out.items()
        if amount
    ]
    return Shown(
        ridgeline=ridgeline,
        trajectories=(trajectory,),
        notes=tuple(notes),
        inputs={"records": list(programs), "left_out": left_out},
    )
