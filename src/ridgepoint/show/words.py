"""Names and shares as every figure and table writes them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Sequence

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import Exchange
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.gains import Gain
from ridgepoint.models.given_machine import NAME
from ridgepoint.models.placement import Placement
from ridgepoint.models.work import used_precisions

UNKNOWN = "unknown"
"""What is not known is said so, and is never 0."""

# Of fewer samples quartiles say nothing that the samples do not.
_LEAST_FOR_QUARTILES = 4
_LONGEST_NAME = 40
_TWO_DECIMALS = 10
_MOST_SECONDS, _HOUR_S = 1000.0, 3600.0  # from here on times are said in minutes, and hours
_MANY_DEVICES = 1e4  # from here on four digits need an exponent


def shown_name(name: str) -> str:
    """Return a resource as the field writes it.

    Examples
    --------
    >>> shown_name("l1"), shown_name("dram_read"), shown_name("fp64"), shown_name("bop")
    ('L1', 'DRAM read', 'fp64', 'BOP')
    """
    return RESOURCES[name].label


def shown_pattern(name: str) -> str:
    """Return a ceiling's pattern as the field writes it."""
    return name.replace("fma", "FMA").replace("amx", "AMX")


def shown_limit(binding: str, precisions: Iterable[str]) -> str:
    """Return a constraint of a bound in a few words, for keys.

    Parameters
    ----------
    binding : str
        As in `ridgepoint.core.bound.Bound.constraints_s`.
    precisions : iterable of str
        Those that ``compute`` is of, or ``bop``.

    Examples
    --------
    >>> shown_limit("dram_read", ["fp64"]), shown_limit("compute", ["fp64"])
    ('DRAM read', 'fp64 peak')
    """
    if binding in RESOURCES:
        return shown_name(binding)
    return f"{' and '.join(map(shown_name, precisions))} peak".lstrip()


def limit_text(placement: Placement) -> str:
    """Return what limits a program in a few words; empty: it has no bound."""
    if placement.bound is None:
        return ""
    used = used_precisions(placement.demand.amounts)
    return " and ".join(shown_limit(binding, used) for binding in placement.bindings)


def shown_amount(value: Estimate | float | None, unit: str = "", *, digits: int = 4) -> str:
    """Return an amount with its unit, of an estimate the median; what is not known is said so.

    Examples
    --------
    >>> shown_amount(1.2e9, "B/s"), shown_amount(Estimate([1.0, 3.0]), "s"), shown_amount(None)
    ('1.2 GB/s', '2 s', 'unknown')
    """
    if value is None:
        return UNKNOWN
    number = value.median if isinstance(value, Estimate) else value
    return format_si(number, unit, digits=digits).rstrip()


def time_unit(seconds: float) -> tuple[float, str]:
    """Return the unit that people would use for a time, in seconds, and its name.

    Examples
    --------
    >>> time_unit(999.0), time_unit(2000.0), time_unit(21600.0)
    ((1.0, 's'), (60.0, 'min'), (3600.0, 'h'))
    """
    if not _MOST_SECONDS <= seconds < math.inf:
        return 1.0, "s"
    return (60.0, "min") if seconds < _HOUR_S else (_HOUR_S, "h")


def shown_time(seconds: float, *, digits: int = 4) -> str:
    """Return a time in seconds with a prefix, and a long one in minutes or hours.

    Examples
    --------
    >>> shown_time(0.0374), shown_time(571.0), shown_time(2000.0), shown_time(126900.0)
    ('37.4 ms', '571 s', '33.33 min', '35.25 h')
    """
    unit_s, unit = time_unit(seconds)
    if unit_s == 1.0:
        return format_si(seconds, unit, digits=digits)
    return f"{float(f'{seconds / unit_s:.{digits}g}'):g} {unit}"


def with_interval(estimate: Estimate, show: Callable[[float], str]) -> str:
    """Return the median, and its 95 % interval where there is one.

    Examples
    --------
    >>> with_interval(Estimate([3.0, 1.0, 2.0]), "{:g} s".format)
    '2 s'
    >>> with_interval(Estimate([2.0], interval=(1.5, 3.0)), "{:g} s".format)
    '2 s (95 % interval 1.5 s to 3 s)'
    """
    if estimate.low is None or estimate.high is None:
        return show(estimate.median)
    return f"{show(estimate.median)} (95 % interval {show(estimate.low)} to {show(estimate.high)})"


def with_quartiles(estimate: Estimate, unit: str) -> str:
    """Return the median, the quartiles where there are samples enough for any, and n.

    Where the interval follows from more than the samples, that stands for them.
    """
    if estimate.interval is not None:
        return with_interval(estimate, lambda value: format_si(value, unit))
    low, median, high = (format_si(v, unit) for v in (estimate.q1, estimate.median, estimate.q3))
    spread = f"quartiles {low} to {high}, " if estimate.n >= _LEAST_FOR_QUARTILES else ""
    return f"{median} ({spread}n = {estimate.n})"


def relative_interval(estimate: Estimate, *, decimals: int) -> str:
    """Return how far the 95 % interval reaches below and above the median.

    Examples
    --------
    >>> relative_interval(Estimate([2.0], interval=(1.5, 3.0)), decimals=0)
    '-25 +50 %'
    """
    if estimate.low is None or estimate.high is None:
        return UNKNOWN
    ends = (abs(end / estimate.median - 1) * 100 for end in (estimate.low, estimate.high))
    below, above = (f"{end:.{decimals}f}" for end in ends)
    return f"-{below} +{above} %"


WITHIN = "±: how far the farther end of the 95 % interval is from the median"
"""What `shown_within` leaves for a key to say."""


def shown_within(estimate: Estimate | None, unit: str, *, digits: int = 3) -> str:
    """Return the median, and how far the farther end of its 95 % interval is from it.

    Examples
    --------
    >>> shown_within(Estimate([2.0], interval=(1.9, 2.2)), "s")
    '2 s ±10 %'
    >>> shown_within(Estimate([2.0]), "s"), shown_within(None, "s")
    ('2 s (n = 1)', 'unknown')
    """
    if estimate is None:
        return UNKNOWN
    shown = shown_amount(estimate, unit, digits=digits)
    if estimate.low is None or estimate.high is None:
        return f"{shown} (n = {estimate.n})"
    if not estimate.median:
        return shown
    farthest = max(estimate.high - estimate.median, estimate.median - estimate.low)
    return f"{shown} ±{percent(farthest / abs(estimate.median))}"


def shown_gain(gain: Gain | None) -> str:
    """Return a gain with its 95 % interval; one that may be none or a loss is not called a gain.

    Examples
    --------
    >>> shown_gain(Gain(ratio=1.236, low=1.112, high=1.381))
    'x 1.24 (1.11 to 1.38)'
    >>> shown_gain(Gain(ratio=0.981, low=0.47, high=1.62))
    'no difference seen (0.47 to 1.62)'
    >>> shown_gain(Gain(ratio=1.007, low=1.004, high=1.013))
    'x 1.0070 (1.0040 to 1.0130)'
    >>> shown_gain(Gain(ratio=1.236)), shown_gain(None)
    ('x 1.24 (too few runs)', 'unknown')
    """
    if gain is None:
        return UNKNOWN
    if gain.low is None or gain.high is None:
        return f"x {gain.ratio:.2f} (too few runs)"
    is_seen = gain.verdict != "no difference seen"
    # An end that rounds to 1 would contradict what was seen.
    is_near = is_seen and any(f"{end:.2f}" == "1.00" for end in (gain.low, gain.high))
    ratio, low, high = (
        f"{value:.{4 if is_near else 2}f}" if value < _TWO_DECIMALS else f"{value:.3g}"
        for value in (gain.ratio, gain.low, gain.high)
    )
    return f"{f'x {ratio}' if is_seen else gain.verdict} ({low} to {high})"


def shown_range(numbers: Sequence[float]) -> str:
    """Return the least and the largest of some numbers; of equal ones, that number.

    Examples
    --------
    >>> shown_range([9, 7, 15]), shown_range([7, 7])
    ('7 to 15', '7')
    """
    low, high = min(numbers), max(numbers)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def shown_cores(cores: float) -> str:
    """Return a number of cores in words.

    Examples
    --------
    >>> shown_cores(1.0), shown_cores(2.0), shown_cores(1.537)
    ('1 core', '2 cores', '1.54 cores')
    """
    return f"{cores:.3g} core" + ("" if cores == 1 else "s")


def shown_place(threads: int, part: str | None) -> str:
    """Return how many cores were busy, and of which part of the machine."""
    return shown_cores(threads) if part is None else f"{shown_cores(threads)} of {printable(part)}"


def program_name(command: Sequence[str]) -> str:
    """Return a command as a short name.

    Examples
    --------
    >>> program_name(("/home/me/bin/triad", "1000", "a b"))
    "triad 1000 'a b'"
    """
    own = command[0].rstrip("/").rpartition("/")[2] or command[0]
    name = shown_command([own, *command[1:]])
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def measured_name(measurement: Measurement) -> str:
    """Return what a measurement is of: a program, or a part of it, safe to print."""
    name, selected = program_name(measurement.command), measurement.counted.selected
    return printable(name if selected is None else f"{name}, only {selected}")


def partial_note(measurement: Measurement) -> str | None:
    """Return that the counts are not of the whole run, and why; None: they are."""
    why = measurement.counted.partial
    return None if why is None else printable(f"counts of a part of the run only: {why}")


def machine_title(machine: Machine) -> str:
    """Return what a machine is called in titles.

    A measured one is its processor, with the host's name last, which alone would say nothing;
    a published one is known by its name.
    """
    host = machine.host
    if machine.name == NAME:  # which says already that its figures were given
        return NAME
    if machine.source is not None:
        return printable(f"{machine.name}, {host.cpu}")
    kind = host.microarchitecture if host.identity is None else host.identity.title
    if kind is None:
        return printable(f"{host.cpu}, {machine.name}")
    # An Arm kernel tells no name: the kind is all that there is.
    cpu = kind if host.cpu.startswith("unknown ") else f"{host.cpu} ({kind})"
    return printable(f"{cpu}, {machine.name}")


def shown_command(command: Sequence[str]) -> str:
    """Return a command as one line for a shell; a script on it loses its line breaks."""
    return shlex.join(one_line(part) for part in command)


def one_line(text: str) -> str:
    r"""Return text on one line: line breaks and runs of blanks are one space each.

    Examples
    --------
    >>> one_line("import json\n\n    print(1)")
    'import json print(1)'
    """
    return " ".join(text.split())


def shown_intensity(flop_per_byte: float) -> str:
    """Return an intensity to three digits, with an exponent only where it is extreme.

    Examples
    --------
    >>> shown_intensity(0.08333), shown_intensity(25437.0)
    ('0.0833', '25400')
    """
    return f"{float(f'{flop_per_byte:.3g}'):g}"


def printable(text: str) -> str:
    """Return text without characters that a terminal or an XML file would act upon."""
    return "".join(character if character.isprintable() else "?" for character in text)


def share_of_roof(efficiency: float, *, is_above: bool) -> str:
    """Return how near a roof something comes; of what is above it, that it is.

    Examples
    --------
    >>> share_of_roof(0.834, is_above=False), share_of_roof(1.65, is_above=True)
    ('83 %', '165 % (above it)')
    """
    return f"{percent(efficiency)}{' (above it)' if is_above else ''}"


def percent(share: float) -> str:
    """Return a share in percent; what is not zero never reads as zero.

    Examples
    --------
    >>> percent(0.834), percent(0.0123), percent(0.0004), percent(0.0)
    ('83 %', '1.2 %', '< 0.1 %', '0 %')
    """
    if share == 0:
        return "0 %"
    if share < 0.001:
        return "< 0.1 %"
    return f"{share * 100:.1f} %" if share < 0.0995 else f"{share * 100:.0f} %"


def shown_share(share: float | None) -> str:
    """Return a share in percent; what is not known is said so."""
    return UNKNOWN if share is None else percent(share)


def shown_ratio(ratio: float | None) -> str:
    """Return a ratio to three digits; what is not known is said so."""
    return UNKNOWN if ratio is None else f"{ratio:.3g}"


def tolerance(factor: float) -> str:
    """Return up to which difference two values are the same, in percent.

    Examples
    --------
    >>> tolerance(1.02)
    '2 %'
    """
    return f"{100 * (factor - 1):.3g} %"


def place_of(exchange: Exchange) -> str:
    """Return between whom messages went, in a few words."""
    if exchange.nodes == 1:
        return "within a node"
    per_node = exchange.ranks // exchange.nodes
    if exchange.hosts:
        return "between nodes"
    return "between nodes" if per_node == 1 else f"between nodes, {per_node} ranks each"


def shown_devices(number: float) -> str:
    """Return a number of devices to four digits, or all before the point, and no exponent."""
    return f"{number:.4g}" if number < _MANY_DEVICES else f"{number:.0f}"
