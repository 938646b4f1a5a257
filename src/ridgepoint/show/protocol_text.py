"""How calls were measured, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ridgepoint.core.measurement import Protocol
from ridgepoint.core.units import format_si


def protocol_lines(protocol: Protocol) -> Iterator[str]:
    """Yield how the times and the counts of calls came about, a line for each."""
    single, many = ("entry", "entries") if protocol.state == "in place" else ("call", "calls")
    calls = f"one {single}" if protocol.calls == 1 else f"the mean of {protocol.calls} {many}"
    yield f"{protocol.state}: a sample is {calls}{_on_what(protocol)}{_by(protocol.threads)}"
    counted = ""
    if protocol.counted_calls:
        noun = single if protocol.counted_calls == 1 else many
        counted = f"; counts are the mean of {protocol.counted_calls} {noun}"
    yield f"an empty {single} takes {format_si(protocol.overhead_s, 's')}{counted}"


def _on_what(protocol: Protocol) -> str:
    if protocol.data_bytes is None:
        return ""
    size = format_si(protocol.data_bytes, "B")
    return f" on {protocol.replicas} replicas of {size}" if protocol.replicas > 1 else f" on {size}"


def _by(threads: int | None) -> str:
    return "" if threads is None else f", {threads} thread{'s' if threads > 1 else ''}"
