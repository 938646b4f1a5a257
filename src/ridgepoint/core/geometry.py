"""Cache geometries as a user writes them."""

from __future__ import annotations

import itertools

from ridgepoint.core.machine import Cache
from ridgepoint.core.units import format_size, parse_size

_LINE_BYTES = 64
_EXAMPLE = "write it like l1=32k:8,l2=1m:8,l3=32m:16 (size:ways, and :line if it is not 64 byte)"


def parse_geometry(text: str) -> tuple[Cache, ...]:
    """Return the data caches that a text such as ``l1=48k:12,l2=2m:16,l3=105m:15`` describes.

    Parameters
    ----------
    text : str
        ``LEVEL=SIZE:WAYS[:LINE]``, separated by commas; levels l1 to l3, l1 among them, without a
        gap.

    Raises
    ------
    ValueError
        If a part cannot be read, or no such cache can exist.

    Examples
    --------
    >>> [(c.level, c.size_bytes, c.ways) for c in parse_geometry("l1=48k:12,l2=2m:16")]
    [(1, 49152, 12), (2, 2097152, 16)]
    """
    caches: dict[int, Cache] = {}
    for part in text.split(","):
        cache = _parse_cache(part.strip())
        if cache.level in caches:
            raise ValueError(f"{part.strip()!r} describes l{cache.level} a second time; {_EXAMPLE}")
        caches[cache.level] = cache
    if sorted(caches) != list(range(1, len(caches) + 1)):
        raise ValueError(f"{text!r} lacks a level; {_EXAMPLE}")
    ordered = [caches[level] for level in sorted(caches)]
    for inner, outer in itertools.pairwise(ordered):
        if outer.size_bytes <= inner.size_bytes:
            sizes = f"l{outer.level} ({format_size(outer.size_bytes)})"
            raise ValueError(f"{sizes} is not larger than l{inner.level}; {_EXAMPLE}")
        if outer.line_bytes != inner.line_bytes:
            raise ValueError(f"all levels must have lines of the same length; {_EXAMPLE}")
    return tuple(ordered)


def _parse_cache(part: str) -> Cache:
    name, _, rest = part.partition("=")
    fields = rest.split(":")
    if name.lower() not in {"l1", "l2", "l3"} or not 2 <= len(fields) <= 3:
        raise ValueError(f"{part!r} does not describe a cache; {_EXAMPLE}")
    size = parse_size(fields[0])
    if not all(field.isdigit() and int(field) for field in fields[1:]):
        raise ValueError(
            f"the number of ways in {part!r} must be a positive whole number; {_EXAMPLE}"
        )
    ways = int(fields[1])
    line = int(fields[2]) if len(fields) == 3 else _LINE_BYTES
    if line & (line - 1) or line < 16:
        raise ValueError(
            f"the line length in {part!r} must be a power of two, 16 bytes or more; {_EXAMPLE}"
        )
    if size % (ways * line):
        raise ValueError(
            f"{part!r}: {format_size(size)} is not a multiple of {ways} ways of {line} bytes"
        )
    return Cache(
        level=int(name[1]), kind="data" if name[1] == "1" else "unified", size_bytes=size,
        line_bytes=line, ways=ways,
    )  # fmt: skip
