"""What counts a program, and on which caches, as the options of ``run`` say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from ridgepoint.cli import common
from ridgepoint.errors import RidgepointError
from ridgepoint.machine import Cache, Machine
from ridgepoint.meters import Meter


def caches_to_simulate(geometry: str | None, machine: Machine | None) -> tuple[Cache, ...]:
    """Return the caches that a user gives, else those of the machine that was named, else ours.

    Raises
    ------
    click.BadParameter
        If the text describes none.
    """
    if geometry is None and machine is not None and machine.caches:
        return machine.caches
    return common.caches_of_this_host(geometry)


def meter_for(
    name: str | None,
    *,
    cpus: int,
    region: str | None,
    function: str | None,
    all_threads: bool,
    cold: bool,
    what_if: Sequence[str],
    miss_curve: bool,
    traffic: bool,
    report: Callable[[str], None],
) -> Meter:
    """Return the meter that the options name.

    Raises
    ------
    click.BadParameter
        If the options contradict each other, or the meter cannot do what they say.
    """
    if region is not None and function is not None:
        raise click.BadParameter("give a region or a function, not both", param_hint="'--function'")
    if cold and region is None and function is None:
        raise click.BadParameter(
            "say when the caches are to be emptied: add --region or --function",
            param_hint="'--cold'",
        )
    if all_threads and region is None and function is None:
        raise click.BadParameter(
            "say while what they are to be counted: add --region or --function",
            param_hint="'--all-threads'",
        )
    if not traffic and (cold or what_if or miss_curve):
        raise click.BadParameter(
            "leaves nothing for --cold, --what-if and --miss-curve to tell",
            param_hint="'--no-traffic'",
        )
    if name == "callgrind":
        if region or function or what_if or miss_curve or not traffic:
            raise click.BadParameter(
                "callgrind knows no --region, --function, --what-if, --miss-curve, --no-traffic; "
                "leave --meter out",
                param_hint="'--meter'",
            )
        from ridgepoint.meters.callgrind import CallgrindMeter

        return CallgrindMeter()
    from ridgepoint.meters.engine import MOST_GEOMETRIES, EngineMeter

    if len(what_if) >= MOST_GEOMETRIES:
        raise click.BadParameter(
            f"at most {MOST_GEOMETRIES - 1} can be simulated in one run", param_hint="'--what-if'"
        )
    return EngineMeter(
        cpus=cpus,
        simulate=traffic,
        region=region,
        function=function,
        all_threads=all_threads,
        cold=cold,
        alternatives=tuple(map(_other_caches, what_if)),
        miss_curve=miss_curve,
        may_be_replaced=name is None,
        report=report,
    )


def _other_caches(text: str) -> tuple[Cache, ...]:
    """Return the caches of a geometry, or of a machine."""
    if "=" in text:
        return common.caches_of_this_host(text)
    from ridgepoint.library import open_machine

    machine = open_machine(text)
    if not machine.caches:
        raise RidgepointError(
            f"cannot simulate the caches of {text!r}",
            reason="that machine does not tell them",
            remedy="give them: --what-if l1=48k:12,l2=2m:16,l3=105m:15",
        )
    return machine.caches
