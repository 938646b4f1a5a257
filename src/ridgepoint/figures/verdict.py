"""What bounds a program, in plain sentences."""

from __future__ import annotations

from ridgepoint.figures.words import percent, shown_name
from ridgepoint.models.placement import Placement
from ridgepoint.resources import LEVELS, PRECISIONS, RESOURCES
from ridgepoint.units import format_si

# Above this the roof is passed by more than the noise of two medians.
_ABOVE = 1.02
# Above this share the nearest roof is what holds a program back; below it something else does.
_NEAR = 0.5


def verdict(placement: Placement) -> tuple[str, ...]:
    """Return what bounds a program, what that leaves to gain, and what would bound it next.

    Parameters
    ----------
    placement : Placement

    Returns
    -------
    tuple of str
        One or more sentences without a full stop.

    Notes
    -----
    The gain under a roof is 1 / efficiency. The gain if the binding path vanished is the
    runtime over the time of the path that needs the second most.
    """
    if placement.bound is None:
        return ("no roof applies: the machine has no ceiling for what the program asked for",)
    if not float(placement.bound.time_s) > 0:
        return ("no roof applies: the program moved no byte and did no flop that was counted",)
    if placement.efficiency is None:
        return _untimed(placement)
    return (
        _binding(placement, placement.efficiency),
        *_next(placement),
        *_left_out(placement),
    )


def limit_name(constraint: str, placement: Placement) -> str:
    """Return a constraint of a bound in words.

    Parameters
    ----------
    constraint : str
        As in `Bound.constraints_s` or `Bound.times_s`.
    placement : Placement
        Whose demand says which precisions ``compute`` is of.
    """
    if constraint in RESOURCES and RESOURCES[constraint].path in LEVELS:
        resource = RESOURCES[constraint]
        direction = f" {resource.direction}" if resource.direction else ""
        return f"{shown_name(resource.path)}{direction} bandwidth"
    if constraint == "network":
        return "network bandwidth"
    used = [name for name in PRECISIONS if float(placement.demand.amounts.get(name, 0.0)) > 0]
    return f"peak {' and '.join(used)} performance" if used else "peak performance"


def _untimed(placement: Placement) -> tuple[str, ...]:
    assert placement.bound is not None
    limit = limit_name(str(placement.bound.binding), placement)
    least = format_si(float(placement.bound.time_s), "s", digits=3)
    return (
        f"it needs {least} or more, which {limit} asks for; it was not timed, so how near it "
        "comes is unknown",
    )


def _binding(placement: Placement, efficiency: float) -> str:
    """Return the sentence about the roof that binds."""
    assert placement.bound is not None
    binding = str(placement.bound.binding)
    limit, reached = limit_name(binding, placement), percent(efficiency)
    if efficiency > _ABOVE:
        return (
            f"{efficiency:.3g} times as fast as {limit} allows: a count or a ceiling is off, "
            "see the cautions"
        )
    if efficiency > 1 / _ABOVE:
        return f"bound by {limit}: at its roof ({reached} of attainable), {_unless(binding)}"
    gain = f"at best {_times(1 / efficiency)} faster {_unless(binding)}"
    if efficiency >= _NEAR:
        return f"bound by {limit}: {reached} of attainable; {gain}"
    return (
        f"below every measured roof: {reached} of attainable under the nearest, {limit}; {gain}; "
        "what holds it back is none of these (latency, dependent operations, integer work, ...)"
    )


def _unless(binding: str) -> str:
    """Return what would lift the limit itself."""
    path = RESOURCES[binding].path if binding in RESOURCES else binding
    if path in LEVELS:
        resource = RESOURCES[binding]
        verb = {"read": "reads", "write": "writes", None: "moves"}[resource.direction]
        end = {"read": "from", "write": "to", None: "at"}[resource.direction]
        return f"unless it {verb} fewer bytes {end} {shown_name(path)}"
    if path == "network":
        return "unless it sends fewer bytes"
    return "unless it does less floating-point work"


def _next(placement: Placement) -> tuple[str, ...]:
    """Return the sentence about the roof that would bind if the nearest one vanished."""
    assert placement.bound is not None
    assert placement.runtime_s is not None
    times = {name: float(time) for name, time in placement.bound.times_s.items()}
    first = str(placement.bound.limiter)
    rest = {name: time for name, time in times.items() if name != first and time > 0}
    if not rest:
        return ("no other roof is known that would bind it next",)
    name = max(rest, key=lambda path: rest[path])
    gain = placement.runtime_s.median / rest[name]
    following = limit_name(name, placement)
    if gain < 1:
        return (f"it is faster than the next limit, {following}, allows too",)
    return (f"without that limit, {following} is next: at best {_times(gain)} faster than now",)


def _left_out(placement: Placement) -> tuple[str, ...]:
    """Return a sentence for every level of which only the reads are in the bound."""
    amounts = placement.demand.amounts
    levels = [n for n in LEVELS if f"{n}_read" in amounts and f"{n}_write" not in amounts]
    return tuple(
        f"{shown_name(level)} writes are not in the bound: the true efficiency may be higher"
        for level in levels
    )


def _times(factor: float) -> str:
    """Return a factor, to two digits below a hundred."""
    return f"{factor:.2g}x" if factor < 99.5 else f"{factor:.0f}x"
