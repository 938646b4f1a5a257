"""What counts a program, and on which caches, as the options of ``run`` say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from ridgepoint.cli import common
from ridgepoint.cli.run_options import RunOptions
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Cache, Machine, caches_of
from ridgepoint.meters import Meter
from ridgepoint.models.symbol_names import why_no_pattern

_WITHOUT_SIMULATION = {
    "callgrind": "callgrind does",
    "native": "the copying engine does",
    "perf": "the CPU's own counters do",
    "both": "the CPU's own counters do",
    "ncu": "Nsight Compute does",
}
"""Meters that cannot do all that the options say, and how a refusal begins."""

_KNOWN = {
    "native": (
        *("--region", "--function", "--cold", "--what-if", "--miss-curve", "--no-traffic"),
        "--traffic estimated",
    ),
    "both": ("--cold", "--all-threads", "--what-if", "--miss-curve", "--no-traffic"),
}
"""Options that these meters know all the same."""


def caches_to_simulate(geometry: str | None, machine: Machine | None) -> tuple[Cache, ...]:
    """Return the caches that a user gives, else those of the machine that bounds, else ours.

    Raises
    ------
    click.BadParameter
        If the text describes none.
    """
    known = caches_of(machine) if geometry is None else None
    return known or common.caches_of_this_host(geometry)


def with_ends(meter: Meter, machine: Machine | None, geometry: str | None) -> Meter:
    """Return the meter; one that simulates caches does the ends of what a program gets, too.

    Parameters
    ----------
    meter : Meter
    machine : Machine or None
        Whose caches are simulated, unless the user gives others; None: it was not measured.
    geometry : str or None
        Those.
    """
    from ridgepoint.meters.engine import EngineMeter
    from ridgepoint.meters.first_choice import FirstChoice
    from ridgepoint.meters.native import NativeMeter
    from ridgepoint.meters.perf.choice import AutoMeter, BothMeter
    from ridgepoint.models.caches.capacity import ends_of

    if isinstance(meter, AutoMeter | BothMeter):
        return replace(meter, engine=with_ends(meter.engine, machine, geometry))
    ends = () if machine is None or geometry is not None else ends_of(machine)
    if ends and isinstance(meter, FirstChoice):
        return meter.with_ends(ends)
    if ends and isinstance(meter, EngineMeter | NativeMeter):
        return replace(meter, ends=ends)
    return meter


def meter_for(options: RunOptions, *, cpus: int, report: Callable[[str], None]) -> Meter:
    """Return the meter that the options name.

    Parameters
    ----------
    options : RunOptions
    cpus : int
        CPUs that the simulated program may use.
    report : callable
        Called with what begins now.

    Raises
    ------
    click.BadParameter
        If the options contradict each other, or the meter cannot do what they say.
    """
    name, estimates = options.meter_name, options.traffic_how == "estimated"
    _refuse_contradictions(options)
    asked = {
        "--region": options.region,
        "--function": options.function,
        "--all-threads": options.all_threads,
        "--cold": options.cold,
        "--what-if": options.what_if,
        "--miss-curve": options.miss_curve,
        "--no-traffic": options.no_traffic,
        "--traffic estimated": estimates,
    }
    if estimates:
        _refuse_beside_estimates(name, asked)
    simulated = tuple(option for option, value in asked.items() if value)
    _require_simulation(name, simulated)
    if name == "callgrind":
        from ridgepoint.meters.callgrind import CallgrindMeter

        return CallgrindMeter()
    if name == "perf":
        from ridgepoint.meters.perf import PerfMeter

        return PerfMeter(verify=True)
    if name == "ncu":
        from ridgepoint.meters.ncu import NcuMeter

        return NcuMeter()
    engine = _engine(options, cpus=cpus, report=report, estimates=estimates)
    if options.metric == "bop":
        # Of the CPU's own counters there is Eq. (3) alone, which errs by far more than traffic.
        simulated = ("the operations of each instruction (--work bops)",)
    return engine if name in {None, "engine", "native"} else _with_hardware(name, engine, simulated)


def _engine(
    options: RunOptions, *, cpus: int, report: Callable[[str], None], estimates: bool
) -> Meter:
    """Return what simulates: the engine that is named, or the one that can."""
    from ridgepoint.meters.engine import EngineMeter
    from ridgepoint.meters.first_choice import first_choice
    from ridgepoint.meters.native import NativeMeter
    from ridgepoint.meters.simulated.geometry import MOST_GEOMETRIES

    if len(options.what_if) >= MOST_GEOMETRIES:
        raise click.BadParameter(
            f"at most {MOST_GEOMETRIES - 1} can be simulated in one run", param_hint="'--what-if'"
        )
    asked: dict[str, Any] = {
        "cpus": cpus,
        "simulate": not options.no_traffic,
        "region": options.region,
        "function": options.function,
        "cold": options.cold,
        "alternatives": tuple(map(_other_caches, options.what_if)),
        "miss_curve": options.miss_curve,
        "report": report,
    }
    if options.meter_name == "native":
        return NativeMeter(estimates=estimates, **asked)
    asked["all_threads"] = options.all_threads
    if options.meter_name in {None, "auto"}:
        return first_choice(estimates=estimates, **asked)
    return EngineMeter(**asked, may_be_replaced=False)


def _refuse_contradictions(options: RunOptions) -> None:
    """Refuse options that cannot be meant together.

    Raises
    ------
    click.BadParameter
    """
    region, function = options.region, options.function
    is_whole = region is None and function is None
    if region is not None and function is not None:
        raise click.BadParameter("give a region or a function, not both", param_hint="'--function'")
    if function is not None and (why := why_no_pattern(function)) is not None:
        raise click.BadParameter(
            f"{function!r} is neither a name nor a regular expression: {why}; put \\ before "
            "brackets in a name",
            param_hint="'--function'",
        )
    if options.cold and is_whole:
        raise click.BadParameter(
            "--cold needs --region or --function: the caches are emptied when that part begins",
            param_hint="'--cold'",
        )
    if options.all_threads and is_whole:
        raise click.BadParameter(
            "--all-threads needs --region or --function",
            param_hint="'--all-threads'",
        )
    if options.no_traffic and (options.cold or options.what_if or options.miss_curve):
        raise click.BadParameter(
            "--cold, --what-if and --miss-curve need the simulation of the caches: they cannot be "
            "combined with --no-traffic",
            param_hint="'--no-traffic'",
        )


def _refuse_beside_estimates(name: str | None, asked: Mapping[str, object]) -> None:
    """Refuse what bursts cannot tell.

    Raises
    ------
    click.BadParameter
    """
    if name not in {None, "auto", "native"}:
        raise click.BadParameter(
            f"--meter {name} cannot estimate traffic from bursts; run without --meter",
            param_hint="'--traffic'",
        )
    beside = ("--all-threads", "--cold", "--what-if", "--miss-curve", "--no-traffic")
    if others := [option for option in beside if asked[option]]:
        raise click.BadParameter(
            f"--traffic estimated cannot be combined with {', '.join(others)}; use --traffic exact",
            param_hint="'--traffic'",
        )


def _require_simulation(name: str | None, simulated: Sequence[str]) -> None:
    """Refuse options that a meter does not know.

    Raises
    ------
    click.BadParameter
    """
    known = _KNOWN.get(name or "engine", ())
    unknown = [option for option in simulated if option not in known]
    if name in _WITHOUT_SIMULATION and unknown:
        who = _WITHOUT_SIMULATION[name]
        raise click.BadParameter(
            f"{who} not support {', '.join(unknown)}; run without --meter", param_hint="'--meter'"
        )


def _with_hardware(name: str | None, engine: Meter, simulated: Sequence[str]) -> Meter:
    from ridgepoint.meters.perf import PerfMeter
    from ridgepoint.meters.perf.choice import AutoMeter, BothMeter

    if name == "both":
        return BothMeter(perf=PerfMeter(verify=True), engine=engine)
    return AutoMeter(perf=PerfMeter(verify=True), engine=engine, asked=", ".join(simulated) or None)


def show_meters(counted: Counted) -> None:
    """Print how the counts of two meters compare on standard error, if there are two."""
    if counted.also is not None:
        from ridgepoint.show.tables.meter_comparison import meters

        shown = common.console(stderr=True)
        shown.print()
        shown.print(meters(counted, counted.also))


def _other_caches(text: str) -> tuple[Cache, ...]:
    """Return the caches of a geometry, or of a machine."""
    if "=" in text:
        return common.caches_of_this_host(text)
    from ridgepoint.published.machines import open_machine

    machine = open_machine(text)
    if not machine.caches:
        raise RidgepointError(
            f"cannot simulate the caches of {text!r}",
            reason="the file of this machine does not describe its caches",
            remedy="describe the caches: --what-if l1=48k:12,l2=2m:16,l3=105m:15",
        )
    return machine.caches
