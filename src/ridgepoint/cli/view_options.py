"""Options of what a roofline shows, the same for every command that draws programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ridgepoint.cli import completing
from ridgepoint.core.names import named_twice

if TYPE_CHECKING:
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.models.one_bandwidth import Bandwidth
    from ridgepoint.show.charts.roofline_view import RooflineView

_Command = TypeVar("_Command", bound=Callable[..., Any])

_MOST_MACHINES = 4
"""The roofs of more cannot be told apart."""


def machine_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option for one machine, which the command gets as ``machine_name``."""
    return click.option(
        "--machine",
        "machine_name",
        metavar="FILE|NAME|ID",
        shell_complete=completing.machines,
        help=what,
    )


def machines_option(what: str, *, default: str) -> Callable[[_Command], _Command]:
    """Return the option for machines, which the command gets as ``machine_names``."""
    return click.option(
        "--machine",
        "machine_names",
        metavar="FILE|NAME|ID",
        shell_complete=completing.machines,
        multiple=True,
        callback=_checked,
        help=(
            f"{what} Its figures will do, such as 'pi=2Tflop/s, beta=100GB/s'. May be repeated: "
            "the first machine bounds, and of the others the roofs are drawn too, with what they "
            f"would allow.  [default: {default}]"
        ),
    )


def _checked(
    context: click.Context, parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse more machines than can be told apart, and one that is named twice."""
    if len(names) > _MOST_MACHINES:
        raise click.BadParameter(
            f"the roofs of {_MOST_MACHINES} machines at most can be told apart, got {len(names)}; "
            "name fewer"
        )
    twice = named_twice(names)
    if twice is not None:
        raise click.BadParameter(f"{twice!r} is given twice; name each machine once")
    return names


bandwidth_option = click.option(
    "--bandwidth",
    "bandwidths",
    type=click.Choice(["read", "write", "copy"]),
    multiple=True,
    callback=lambda context, parameter, value: tuple(dict.fromkeys(value)),
    help=(
        "Draw the roofline of one bandwidth of main memory alone: over the bytes read (W/Qr), over "
        "those written (W/Qw), or below the bandwidth of copies. May be repeated."
    ),
)
per_cycle_option = click.option(
    "--per-cycle",
    is_flag=True,
    help="Give rates per cycle of the core clock: flop/cycle and byte/cycle.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewing:
    """What of a roofline a user wants to see.

    Parameters
    ----------
    others : tuple of Machine
        Machines beside the one that bounds.
    bandwidths : tuple of {"read", "write", "copy"}
        Each has a roofline of its own; empty: one of all levels.
    per_cycle : bool
    """

    others: tuple[Machine, ...] = ()
    bandwidths: tuple[Bandwidth, ...] = ()
    per_cycle: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether nothing beyond the usual picture is asked for."""
        return self == Viewing()

    def of(self, measurement: Measurement | None) -> tuple[RooflineView, ...]:
        """Return the views to draw, the other machines as they bound a measurement."""
        from ridgepoint.models.distributed import machine_for
        from ridgepoint.show.charts.roofline_view import RooflineView

        others = self.others
        if measurement is not None:
            others = tuple(machine_for(measurement, machine) for machine in others)
        chosen: tuple[Bandwidth | None, ...] = self.bandwidths or (None,)
        return tuple(
            RooflineView(others=others, bandwidth=bandwidth, in_cycles=self.per_cycle)
            for bandwidth in chosen
        )


def other_machines(names: Sequence[str], archive_path: Path | None) -> tuple[Machine, ...]:
    """Return the machines after the first one that a user names.

    Raises
    ------
    RidgepointError
        If one does not exist, is damaged, or is not a machine.
    """
    from ridgepoint.kept.lookup import machine_of

    return tuple(machine_of(name, archive_path) for name in names[1:])
