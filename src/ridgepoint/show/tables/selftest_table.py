"""What the self-test found, for the terminal: measured over expected, meter by meter."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ridgepoint.core.units import format_si, format_size_roughly
from ridgepoint.doctor.selftest import Check, Selftest, Trial
from ridgepoint.show.tables.layout import plain_table, sections
from ridgepoint.suites.kernels.time_check import Explained

_WORDS = {
    "flop": "flop",
    "non_temporal_store_bytes": "stored past caches, B",
    "dram_read_bytes": "DRAM read, B",
    "dram_write_bytes": "DRAM write, B",
    "dram_dirtied_bytes": "same + left dirty, B",
}

_KEY = "measured / expected; 'of' another number: the part that this meter is known to see"


def selftest_table(selftest: Selftest, times: Sequence[Explained]) -> RenderableType:
    """Return measured over expected of every trial, what that means, and what traffic explains.

    Parameters
    ----------
    selftest : Selftest
    times : sequence of Explained
        Of known loops; empty: they were not timed.
    """
    trials: list[RenderableType] = [_table(selftest.trials), Text(_KEY)] if selftest.trials else []
    conclusion = Group(*trials, *map(Text, _conclusion(selftest)))
    explained = Group(_time_table(times), Text(_of_times(times))) if times else None
    return sections(conclusion, explained)


def _time_table(times: Sequence[Explained]) -> Table:
    """Return predicted and measured time of each loop."""
    heads = ("data", "measured", "by its traffic", "with what varies", "ratio")
    table = plain_table("loop", *heads, "by", right=heads)
    for row in times:
        measured, predicted, low, high = (
            format_si(value, "s", digits=3)
            for value in (row.runtime_s.median, row.predicted_s, row.low_s, row.high_s)
        )
        table.add_row(
            row.kernel,
            format_size_roughly(row.size_bytes),
            measured,
            predicted,
            "" if low == high else f"{low} to {high}",
            f"{row.ratio:.2f}",
            row.limiter,
        )
    return table


def _of_times(times: Sequence[Explained]) -> str:
    """Return what the ratios amount to."""
    ratios = sorted(row.ratio for row in times)
    return (
        f"simulated traffic over measured bandwidth explains {statistics.median(ratios):.0%} "
        f"of the time of these loops (median; {ratios[0]:.0%} to {ratios[-1]:.0%}): more than "
        "100 % means that the simulated caches are too small or a ceiling is too low; far less "
        "means that they are too large or that something else limits the loop"
    )


def _table(trials: Sequence[Trial]) -> Table:
    """Return measured over expected: a row per quantity, a column per meter."""
    meters = list(dict.fromkeys(trial.meter for trial in trials))
    table = plain_table("program", "quantity", "expected", *meters, right=("expected",))
    for program, group in itertools.groupby(trials, key=lambda trial: trial.program):
        of_program = {trial.meter: trial for trial in group}
        checks = [
            {check.quantity: check for check in trial.checks} for trial in of_program.values()
        ]
        quantities = dict.fromkeys(name for own in checks for name in own)
        shown = [
            name
            for name in quantities
            if name.endswith("flop")
            or any(own[name].expected or own[name].measured for own in checks if name in own)
        ]
        for row, name in enumerate(shown or [""]):
            expected = next((own[name].expected for own in checks if name in own), None)
            cells = [_cell(of_program.get(meter), name, expected) for meter in meters]
            table.add_row(
                Text("" if row else program),
                Text(_words(name)),
                Text("" if expected is None else f"{expected:,}"),
                *(Text(cell, style="bold" if "FAILED" in cell else "") for cell in cells),
            )
    return table


def _words(quantity: str) -> str:
    return _WORDS.get(quantity, quantity.replace("_flop", " flop"))


def _cell(trial: Trial | None, quantity: str, expected: int | None) -> str:
    """Return one ratio, with what it is of where that is not what the row says."""
    if trial is None:
        return ""
    check = next((check for check in trial.checks if check.quantity == quantity), None)
    if check is None:
        return "FAILED" if trial.failure else ""
    if check.measured is None:
        return "unknown"
    ratio = _ratio(check)
    if check.expected != expected:
        ratio += f" of {check.expected:,}"
    return f"{ratio} FAILED" if check.holds is False else ratio


def _ratio(check: Check) -> str:
    if check.measured == check.expected:
        return "1" if check.expected else "0 = 0"
    if check.ratio is None:
        return f"{check.measured:,} / 0"
    # Not exact must not read as exact.
    rounded = f"{check.ratio:.4f}"
    return f"{check.ratio:.7f}" if rounded == "1.0000" else rounded


def _conclusion(selftest: Selftest) -> Iterator[str]:
    """Yield in words what failed, what was left out, and what all that means."""
    for trial in selftest.trials:
        where = f"FAILED: {trial.program} with {trial.meter}"
        if trial.failure is not None:
            yield f"{where}: {trial.failure}"
        for check in trial.failed_checks:
            allowed = f"{check.tolerance:.0%}" if check.tolerance else "no"
            yield (
                f"{where}: {_words(check.quantity)}: {check.measured:,} instead of "
                f"{check.expected:,} ({allowed} deviation is allowed)"
            )
    for lacking in selftest.not_tested:
        yield f"not tested: {lacking.meter}: {lacking.lack.reason}; {lacking.lack.remedy}"
    for left_out in selftest.not_run:
        yield f"not run: {left_out.program}: {left_out.reason}"
    if selftest.holds is None:
        yield "nothing was counted: no meter works here"
        return
    failed = sum(not trial.holds for trial in selftest.trials)
    total = len(selftest.trials)
    if failed:
        yield (
            f"{failed} of {total} trials FAILED: do not trust a meter that failed until it is fixed"
        )
    else:
        yield f"all {total} trials passed: all known numbers are as expected"
