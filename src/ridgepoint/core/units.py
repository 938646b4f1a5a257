"""Prefixes and units as text; no other module knows prefixes.

Inside, floats are in SI base units. 1 GB is 1e9 byte; KiB and MiB are for cache sizes only.
"""

import math
import re
from fractions import Fraction

_SI = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24}
_SI_SMALL = {"m": -3, "µ": -6, "u": -6, "n": -9, "p": -12}
_POWER_OF = _SI | _SI_SMALL
_SHOWN = {power: prefix for prefix, power in _POWER_OF.items() if prefix != "u"}
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


def parse_si(text: str, unit: str) -> float:
    """Return the value of a text such as ``"58.8 Gflop/s"`` in the base unit.

    Raises
    ------
    ValueError
        If the text is not a number, an optional SI prefix and exactly this unit.

    Examples
    --------
    >>> parse_si("2 Pflop/s", "flop/s")
    2000000000000000.0
    """
    match = re.fullmatch(rf"\s*([-+.\deE]+?)\s*(\S?){re.escape(unit)}\s*", text)
    if match is None or match[2] not in _POWER_OF:
        raise ValueError(f"{text!r} is not a number with an SI prefix and the unit {unit!r}")
    return float(match[1]) * 10.0 ** _POWER_OF[match[2]]


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
