"""How well simulated traffic explains the time of streams and stencils across every knee.

usage: python benchmarks/time_check.py [--stated]

Measures the machine (thoroughly), then prints predicted over measured time as a Markdown table.
With --stated the caches are those that the system describes, as a tool would have them that
believes it.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import replace

from ridgepoint.ceilings import characterize
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si, format_size_roughly
from ridgepoint.host import System
from ridgepoint.suites.kernels.time_check import explain_times


def main(arguments: list[str]) -> None:
    """Print the table, and what the ratios amount to."""
    measured = characterize()
    for caution in measured.cautions:
        print(f"{caution.code}: {caution.seen}", file=sys.stderr)
    sizes = ", ".join(
        f"L{cache.level} {format_size_roughly(cache.size_bytes)}"
        for cache in measured.caches
        if cache.kind != "instruction"
    )
    print(f"caches: {sizes}")
    print("| loop | data | measured | predicted | with all that may be had | by | ratio |")
    print("|---|---|---|---|---|---|---|")
    ratios = []
    for row in explain_times(measured, report=lambda what: print(what, file=sys.stderr)):
        ends = f"{format_si(row.low_s, 's', digits=3)} to {format_si(row.high_s, 's', digits=3)}"
        ratios.append(row.ratio)
        cells = (
            row.kernel,
            format_size_roughly(row.size_bytes),
            format_si(row.runtime_s.median, "s", digits=3),
            format_si(row.predicted_s, "s", digits=3),
            ends,
            row.limiter,
            f"{row.ratio:.2f}",
        )
        print(f"| {' | '.join(cells)} |")
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"ratio: median {middle:.2f}, quartiles {low:.2f} to {high:.2f}, n = {len(ratios)}")
    if "--stated" in arguments:
        _against_stated(measured)


def _against_stated(measured: Machine) -> None:
    """Print the same with the caches that the system describes."""
    believed = replace(
        measured, caches=System().caches, stated_caches=None, capacities=(), latency_curves=()
    )
    rows = explain_times(believed, sizes_of=measured)
    last = max(cache.size_bytes for cache in measured.caches)
    for what, chosen in (
        ("all", rows),
        ("data beyond what was measured", [row for row in rows if row.size_bytes > last]),
    ):
        low, middle, high = statistics.quantiles([row.ratio for row in chosen], n=4)
        print(f"as the system says, {what}: median {middle:.2f}, quartiles {low:.2f} to {high:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
