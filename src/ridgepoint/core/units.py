"""Quantities as text: prefixes and units; no other module knows prefixes.

Inside, floats are in SI base units. 1 GB is 1e9 byte; KiB and MiB are for cache sizes only.
"""

import math
import re
from fractions import Fraction

_SI = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24}
_SI_SMALL = {"m": -3, "µ": -6, "u": -6, "n": -9, "p": -12}
_SHOWN = {power: prefix for prefix, power in (_SI | _SI_SMALL).items() if prefix != "u"}
_POWER_OF = _SI | _SI_SMALL | {"K": 3}
_BINARY_OF = {f"{prefix}i": 1 << 10 * power for power, prefix in enumerate("KMGTPE", start=1)}
_WORK_UNITS = ("flop", "BOP", "op")
# Longer names before those with which they end.
_UNITS: dict[str, tuple[float, str]] = {
    **dict.fromkeys(("flops", "flop"), (1.0, "flop")),
    **dict.fromkeys(("bops", "bop"), (1.0, "BOP")),
    **dict.fromkeys(("ops", "op"), (1.0, "op")),
    **dict.fromkeys(("bytes", "byte", "B"), (1.0, "B")),
    **dict.fromkeys(("bits", "bit"), (0.125, "B")),
    **dict.fromkeys(("cycles", "cycle"), (1.0, "cycle")),
    **dict.fromkeys(("sec", "s"), (1.0, "s")),
    "hz": (1.0, "Hz"),
    "": (1.0, ""),
}
_LONG_TIMES = {"min": 60.0, "h": 3600.0, "d": 86400.0}
_BELOW = {"s": "s", "sec": "s", "B": "B", "byte": "B", "cycle": "cycle"}
_QUANTITY = re.compile(
    r"\s*([-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|nan|inf))"
    r"\s*([^\s/]*)(?:\s*/\s*(\S+))?\s*"
)
# FLOPS is a rate to some and several flop to others. Of op only the capitals are: 2 ops are two.
_COUNT_OR_RATE = re.compile(r"([a-zA-Z]?)((?i:flops|bops)|OPS|Ops)")
_NAMES = {"flops": "flop", "bops": "BOP", "ops": "op"}
_BIT_OR_BYTE = re.compile(r"([kKMGTPE]?)(?:b|bps)")
_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)


def format_si(value: float, unit: str, *, digits: int = 4) -> str:
    """Return a value with an SI prefix.

    Parameters
    ----------
    value : float
        Value in the base unit.
    unit : str
        Base unit, for example ``"flop/s"``.
    digits : int
        Significant digits.

    Examples
    --------
    >>> format_si(58.8e9, "flop/s")
    '58.8 Gflop/s'
    >>> format_si(0.00213, "s")
    '2.13 ms'
    >>> format_si(0, "B")
    '0 B'
    """
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:.0f} {unit}"  # shows -0.0 as 0
    # Rounding first: 999.99995e6 at four digits is 1 G, not 1000 M.
    rounded = float(f"{value:.{digits - 1}e}")
    power = int(f"{abs(rounded):e}".split("e")[1]) // 3 * 3
    power = max(min(power, max(_SHOWN)), min(_SHOWN))
    scaled = f"{rounded / 10.0**power:.{digits}g}"
    if "e" in scaled:
        scaled = f"{float(scaled):.0f}" if abs(float(scaled)) >= 1 else scaled
    return f"{scaled} {_SHOWN[power]}{unit}"


class AmbiguousUnit(ValueError):
    """A unit that is read in two ways; the text after the semicolon says what to write."""


def read_quantity(text: str) -> tuple[float, str]:
    """Return the value of a text such as ``"58.8 Gflop/s"`` in its base unit, and that unit.

    A number, a prefix and a unit, with or without blanks between number and unit. A unit is work
    (``flop``, ``BOP``, ``op``), data (``B``, ``byte``, ``bit``), ``s``, ``min``, ``h``, ``d``,
    ``cycle`` or ``Hz``; work and data may be per second (``/s``, ``/sec``) or ``/cycle``, work
    also per byte. Upper and lower case are alike in words, but not in prefixes and letters.
    Binary prefixes (``Ki``, ``Mi``, ``Gi``, ...) are for data alone.

    Returns
    -------
    float
        Not finite where the text says so.
    str
        One of ``flop``, ``BOP``, ``op``, ``B``, ``s``, ``cycle``, ``Hz``, or of work or data per
        ``s``, ``B``, ``cycle``, such as ``B/s``; empty for a number without a unit.

    Raises
    ------
    AmbiguousUnit
        If the unit has two meanings, such as ``GFLOPS``; the message ends with what to write.
    ValueError
        If it is no such text.

    Examples
    --------
    >>> read_quantity("4.2 TFLOP/sec"), read_quantity("100Gbit/s"), read_quantity("1.5G")
    ((4200000000000.0, 'flop/s'), (12500000000.0, 'B/s'), (1500000000.0, ''))
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    number, above, below = float(match[1]), match[2], match[3]
    factor, unit = _unit_of(text, above, is_alone=below is None)
    if below is None:
        return number * factor, unit
    base = _BELOW.get(below if below == "B" else below.lower())
    if base is None or unit not in (*_WORK_UNITS, "B") or unit == base:
        raise ValueError(f"{text!r} has an unknown unit")
    return number * factor, f"{unit}/{base}"


def _unit_of(text: str, written: str, *, is_alone: bool) -> tuple[float, str]:
    """Return the factor and the base unit of a prefix and a unit; both may be empty."""
    if written in _LONG_TIMES:
        return _LONG_TIMES[written], "s"
    if is_alone and (ambiguous := _COUNT_OR_RATE.fullmatch(written)) is not None:
        prefix = ambiguous[1] if ambiguous[1] in _POWER_OF else ambiguous[1].upper()
        count = f"{prefix}{_NAMES[ambiguous[2].lower()]}"
        raise AmbiguousUnit(
            f"{text!r} may be a count or a rate; write {count} for a count, {count}/s for a rate"
        )
    if (bits := _BIT_OR_BYTE.fullmatch(written)) is not None:
        raise AmbiguousUnit(
            f"{text!r} may mean bits or bytes; write {bits[1]}bit or {bits[1]}B, with /s for a rate"
        )
    for name, (factor, base) in _UNITS.items():
        prefix = written[: len(written) - len(name)]
        ending = written[len(prefix) :]
        if (ending if len(name) == 1 else ending.lower()) != name:
            continue
        if prefix in _POWER_OF:
            return factor * 10.0 ** _POWER_OF[prefix], base
        if prefix in _BINARY_OF and base == "B":
            return factor * _BINARY_OF[prefix], base
    raise ValueError(f"{text!r} has an unknown unit")


def format_duration(seconds: float) -> str:
    """Return a duration in the unit that people would use.

    Examples
    --------
    >>> format_duration(0.0374), format_duration(48.2), format_duration(200), format_duration(9000)
    ('37 ms', '48 s', '3.3 min', '2.5 h')
    """
    if seconds < 100:
        return format_si(seconds, "s", digits=2)
    length_s, unit = (60, "min") if seconds < 6000 else (3600, "h")
    return f"{float(f'{seconds / length_s:.2g}'):g} {unit}"


def format_size(size_bytes: int) -> str:
    """Return a cache or page size in KiB or MiB.

    Examples
    --------
    >>> format_size(32768), format_size(33554432), format_size(100)
    ('32 KiB', '32 MiB', '100 B')
    """
    for factor, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.6g} {name}"
    return f"{size_bytes} B"


def format_size_roughly(size_bytes: int) -> str:
    """Return a measured size to two digits, the precision to which it is known.

    Examples
    --------
    >>> format_size_roughly(4797440), format_size_roughly(50_000), format_size_roughly(100)
    ('4.6 MiB', '49 KiB', '100 B')
    """
    for factor, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= factor:
            return f"{float(f'{size_bytes / factor:.2g}'):g} {name}"
    return f"{size_bytes} B"


def parse_size(text: str) -> int:
    """Return the bytes of a cache size such as ``"48k"``, ``"1.25 MiB"`` or ``"32m"``.

    The prefixes are binary, as cache sizes are.

    Raises
    ------
    ValueError
        If the text is not a size, or not a whole number of bytes.

    Examples
    --------
    >>> parse_size("48k"), parse_size("1.25MiB")
    (49152, 1310720)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size; write it as in 48k, 2M or 1.25MiB")
    size = Fraction(match[1]) * _BINARY[(match[2] or "").lower()]
    if size.denominator != 1 or size <= 0:
        raise ValueError(f"{text!r} is not a positive whole number of bytes")
    return int(size)
