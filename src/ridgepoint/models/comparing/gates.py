"""Gates: limits that a comparison must keep, as ``--fail-if`` states them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.quantities import Bytes, Quantity, SecondsOrZero, Work
from ridgepoint.core.units import format_si, read_quantity
from ridgepoint.models.comparing.changes import DISTURBED, Change
from ridgepoint.models.comparing.parts import Kind, PartChanges
from ridgepoint.models.comparing.programs import ProgramComparison
from ridgepoint.models.comparing.quantities import (
    CPU_TIME,
    INSTRUCTIONS,
    NETWORK,
    QUANTITIES,
    TIMES,
    TRAFFIC,
)

Outcome = Literal["passed", "failed", "unknown"]

EXAMPLES = "'runtime > 1.05x', 'dram > 2 GB' or 'function NAME: instructions > 1.01x'"

_PART = re.compile(r"\s*(function|region)\s+(.*\S)\s*:\s*([^:]*)", re.DOTALL)
_CONDITION = re.compile(r"\s*([a-zA-Z0-9][a-zA-Z0-9 _-]*?)\s*([<>])(=?)\s*(\S.*?)\s*")
_RATIO = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|nan|inf)\s*[x×]")
_ALIASES = {
    "time": "runtime",
    "wall time": "runtime",
    "cpu": CPU_TIME,
    "flop": "work",
    "bop": "bops",
    "instruction": INSTRUCTIONS,
    "network bytes": NETWORK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A condition that must not hold.

    Parameters
    ----------
    text : str
        As a user wrote it.
    kind : {"function", "region"} or None
        None: it is of the whole program.
    name : str
        Of the function or region; empty: the whole program.
    quantity : str
        One of `ridgepoint.models.comparing.quantities.QUANTITIES`.
    sign : {">", ">=", "<", "<="}
        On which side of the limit it fails.
    limit : float
        A ratio of after over before, or an amount in its base unit.
    is_ratio : bool
    unit : str
        Base unit of an amount, as it was written; empty: a ratio, or without a unit.
    """

    text: str
    kind: Kind | None = None
    name: str = ""
    quantity: str
    sign: Literal[">", ">=", "<", "<="]
    limit: float
    is_ratio: bool
    unit: str = ""

    def fails_at(self, value: float) -> bool:
        """Return whether a value is beyond the limit."""
        if value == self.limit:
            return "=" in self.sign
        return value > self.limit if ">" in self.sign else value < self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of a gate.

    Parameters
    ----------
    gate : Gate
    outcome : {"passed", "failed", "unknown"}
        ``unknown``: it cannot be judged, which is not the same as passed.
    reason : str
        In a line: what was found.
    """

    gate: Gate
    outcome: Outcome
    reason: str


def read_gate(text: str) -> Gate:
    """Return the gate that a text states.

    Raises
    ------
    ValueError
        If it states none; in the message, the text after the semicolon says what to write.

    Examples
    --------
    >>> gate = read_gate("dram read > 1.02x")
    >>> gate.quantity, gate.sign, gate.limit, gate.is_ratio
    ('dram read', '>', 1.02, True)
    >>> read_gate("function sum(int): runtime > 20 ms").limit
    0.02
    """
    kind: Kind | None = None
    name, condition = "", text
    if part := _PART.fullmatch(text):
        kind = "function" if part[1] == "function" else "region"
        name, condition = part[2], part[3]
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity, > or <, and a limit; write {EXAMPLES}")
    quantity = quantity_of(match[1])
    limit, unit, is_ratio = _limit(text, quantity, match[4])
    sign = match[2] + match[3]
    return Gate(
        text=" ".join(text.split()),
        kind=kind,
        name=name,
        quantity=quantity,
        sign=sign,  # type: ignore[arg-type]  # as the pattern has it
        limit=limit,
        is_ratio=is_ratio,
        unit=unit,
    )


def judge(gate: Gate, comparison: ProgramComparison) -> Judgement:
    """Return whether a comparison keeps a gate.

    Notes
    -----
    A count is judged by its value. A time, and traffic that was estimated, fails only where the
    whole 95 % interval lies beyond the limit: then it is certainly beyond. What is not known, or
    has no interval though it has noise, cannot be judged.
    """
    change = _change_of(gate, comparison)
    if isinstance(change, str):
        return Judgement(gate=gate, outcome="unknown", reason=change)
    if gate.is_ratio:
        return _judged_ratio(gate, change)
    return _judged_amount(gate, change)


def _judged_ratio(gate: Gate, change: Change) -> Judgement:
    found = _in_words(change)
    if change.before is None or change.after is None:
        return Judgement(gate=gate, outcome="unknown", reason=_missing(change))
    if change.ratio is None:  # from 0
        value = math.inf if change.after.median else 1.0
        ends = (value, value)
    elif change.low is None or change.high is None:
        ends = (change.ratio, change.ratio)
    else:
        ends = (change.low, change.high)
    has_failed = all(gate.fails_at(end) for end in ends)
    # A disturbance can only have caused a failure, not a pass.
    if change.verdict == "unknown" and (has_failed or change.why != DISTURBED):
        return Judgement(gate=gate, outcome="unknown", reason=f"{found}: {change.why}")
    return Judgement(gate=gate, outcome="failed" if has_failed else "passed", reason=found)


def _judged_amount(gate: Gate, change: Change) -> Judgement:
    value = change.after
    if value is None:
        return Judgement(gate=gate, outcome="unknown", reason=_missing(change))
    unit, has_noise = change.unit, gate.quantity in TIMES
    if gate.unit not in ("", unit):
        reason = f"its {gate.quantity} is in {unit}, not in {gate.unit}"
        return Judgement(gate=gate, outcome="unknown", reason=reason)
    shown = format_si(value.median, unit).rstrip()
    if has_noise and (value.low is None or value.high is None):
        reason = f"{shown}, from {value.n} runs, which are too few for an interval"
        return Judgement(gate=gate, outcome="unknown", reason=reason)
    ends = (value.median, value.median)
    if value.low is not None and value.high is not None and value.low < value.high:
        ends = (value.low, value.high)
        low, high = (format_si(end, unit).rstrip() for end in ends)
        shown = f"{shown} (95 % interval {low} to {high})"
    has_failed = all(gate.fails_at(end) for end in ends)
    return Judgement(gate=gate, outcome="failed" if has_failed else "passed", reason=shown)


def _change_of(gate: Gate, comparison: ProgramComparison) -> Change | str:
    """Return the change that a gate is about, or why there is none."""
    if gate.kind is None:
        return comparison.changes[gate.quantity]
    parts = comparison.functions if gate.kind == "function" else comparison.regions
    found = parts.named(gate.name)
    if len(found) == 1:
        return found[0].changes[gate.quantity]
    what = f"{gate.kind} {gate.name!r}"
    if found:
        objects = ", ".join(str(change.part.object) for change in found)
        return f"there are several of the name {what}, in {objects}"
    if gate.name in parts.ambiguous:
        return f"one measurement has several of the name {what}"
    for when, side in (("before", parts.only_before), ("after", parts.only_after)):
        if any(part.name == gate.name for part in side):
            return f"only the measurement {when} has the {what}"
    return f"neither measurement has the {what}{_near(gate.name, parts)}"


def _near(name: str, parts: PartChanges) -> str:
    known = [change.part.name for change in parts.matched]
    near = difflib.get_close_matches(name, known, n=1)
    if not known:
        return ": none was counted or timed in both (measure both with --functions)"
    return f": did you mean {near[0]!r}?" if near else ""


def _missing(change: Change) -> str:
    whens = [
        when for when, value in (("before", change.before), ("after", change.after)) if not value
    ]
    return f"the {change.quantity} {' and '.join(whens)} is unknown"


def _in_words(change: Change) -> str:
    """Return a change in a line: ratio, interval, and both amounts."""
    if change.before is None or change.after is None:
        return _missing(change)
    before, after = (
        format_si(value.median, change.unit).rstrip() for value in (change.before, change.after)
    )
    amounts = f"from {before} to {after}"
    if change.ratio is None:
        return amounts
    interval = ""
    if change.low is not None and change.high is not None and change.low < change.high:
        interval = f" ({change.interval_name} {change.low:.4g}x to {change.high:.4g}x)"
    return f"{_times(change.ratio)}{interval}, {amounts}"


def _times(ratio: float) -> str:
    """Return a ratio; one that is not 1 never reads as 1."""
    shown = f"{ratio:.4g}"
    return f"{ratio:.9g}x" if shown == "1" and ratio != 1 else f"{shown}x"


def quantity_of(words: str) -> str:
    """Return the quantity that a user names, such as ``DRAM_read`` for ``dram read``.

    Raises
    ------
    ValueError
        If there is none of this name; the message lists them.
    """
    name = " ".join(re.split(r"[\s_-]+", words.strip().lower()))
    name = _ALIASES.get(name, name)
    if name in QUANTITIES:
        return name
    near = difflib.get_close_matches(name, QUANTITIES, n=1)
    hint = f"did you mean {near[0]!r}? It" if near else "it"
    raise ValueError(f"{words!r} is not a quantity; {hint} can be {', '.join(QUANTITIES)}")


def _limit(text: str, quantity: str, words: str) -> tuple[float, str, bool]:
    """Return the limit, its unit, and whether it is a ratio."""
    if match := _RATIO.fullmatch(words):
        try:
            ratio = float(match[1])
        except ValueError:
            ratio = math.nan
        if not (math.isfinite(ratio) and ratio > 0):
            raise ValueError(f"the ratio {words!r} in {text!r} is not > 0; write it like 1.05x")
        return ratio, "", True
    kinds: Mapping[str, type[Quantity]] = {
        **dict.fromkeys(TIMES, SecondsOrZero),
        **dict.fromkeys((*TRAFFIC, NETWORK), Bytes),
    }
    try:
        if quantity == INSTRUCTIONS:
            return _number(words), "", False
        amount, unit = kinds.get(quantity, Work).read(words)
        return float(amount), unit, False
    except ValueError as error:
        reason, _, remedy = str(error).rpartition("; ")
        raise ValueError(
            f"in {text!r}, {reason}; {remedy} for an amount, or 1.05x for a ratio"
        ) from error


def _number(words: str) -> float:
    number, unit = read_quantity(words.removesuffix("instructions"))
    if unit or not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{words!r} is not a number >= 0; write it like 2e9 or 2G")
    return number
