"""The machines of the ridgeline command, and how their times combine, from its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from ridgepoint.core.bound import Overlap
    from ridgepoint.core.machine import Machine

_MACHINE = "cascade-lake"
BATCHES = "1,2,4,...,4096"
"""Samples on each node, if none are given."""

LINK_OPTIONS = {"remote": "--remote-memory 50GB/s", "storage": "--storage 2GB/s"}
"""How the bandwidth of a link other than the network is given."""


def machines_of(
    names: Sequence[str],
    rates: Sequence[float],
    links: Mapping[str, float | None],
    *,
    sweep: bool,
    default: Machine | None = None,
) -> tuple[Machine, ...]:
    """Return the machines, with the rates that are given instead of theirs.

    Parameters
    ----------
    names : sequence of str
    rates : sequence of float
        Bandwidths of the network, byte/s; without `sweep` at most one.
    links : mapping of str to (float or None)
        Bandwidth of other links, byte/s; None: the machine's own.
    sweep : bool
    default : Machine or None
        Machine where none is named; None: the paper's.

    Raises
    ------
    RidgepointError
        If there is no such machine, or one has no ceiling of its network.
    click.ClickException
        If several networks are given for anything but a sweep.
    """
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.models.derived import with_link, with_network

    if names or default is None:
        machines = tuple(machine_of(name) for name in names or (_MACHINE,))
    else:
        machines = (default,)
    for path, rate in links.items():
        if rate is not None:
            machines = tuple(with_link(machine, path, rate) for machine in machines)
        lacking = [machine.name for machine in machines if not machine.knows(path)]
        if 0 < len(lacking) < len(machines):
            raise UnknownCeiling(
                f"cannot draw the Ridgeline of {lacking[0]}",
                reason=f"it has no {path} ceiling, which another machine has",
                remedy=f"give one for all with {LINK_OPTIONS[path]}",
            )
    if len(rates) > 1 and not sweep:
        raise click.UsageError("several --network need --sweep")
    if len(rates) > 1:
        return tuple(
            replace(with_network(machine, rate), name=f"{machine.name}, {format_si(rate, 'B/s')}")
            for machine in machines
            for rate in rates
        )
    if rates:
        return tuple(with_network(machine, rates[0]) for machine in machines)
    for machine in machines:
        if not machine.knows("network"):
            raise UnknownCeiling(
                f"cannot draw the Ridgeline of {machine.name}",
                reason="the machine has no network ceiling",
                remedy="give the bandwidth of a node's link, such as --network 12GB/s",
            )
    return machines


def require_link(path: str, machines: Sequence[Machine], what: str) -> None:
    """Refuse what asks for a link of which a machine has no ceiling.

    Raises
    ------
    UnknownCeiling
        It says that it cannot do `what`, such as "place the point 'a'".
    """
    lacking = [machine.name for machine in machines if not machine.knows(path)]
    if lacking:
        raise UnknownCeiling(
            f"cannot {what} on {lacking[0]}",
            reason=f"the machine has no {RESOURCES[path].label} ceiling",
            remedy=f"give the bandwidth of a node, such as {LINK_OPTIONS[path]}",
        )


def overlap_of(text: str) -> Overlap:
    """Return how times combine.

    Raises
    ------
    click.BadParameter
        If the text says it not.
    """
    from ridgepoint.core.bound import exponent_of

    try:
        value: Overlap = text if text in ("full", "none") else float(text)  # type: ignore[assignment]
        exponent_of(value)
    except ValueError as error:
        raise click.BadParameter(
            f"must be full, none or a number >= 1, got {text!r}", param_hint="'--overlap'"
        ) from error
    return value
