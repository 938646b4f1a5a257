"""Whether what was counted of operators agrees with the rules that say what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.operators import CheckedCall, Operator
from ridgepoint.core.presenting import first_of
from ridgepoint.core.resources import PRECISIONS

Verdict = Literal["agrees", "more", "less", "unknown"]
"""What was counted is as stated, more than stated or less; or one of both is unknown."""

WORK_TOLERANCE = 0.05
"""Largest relative difference between stated and counted work."""

WORK_SLACK_FLOP = 128
"""Flop around an operator, such as the computing of a grain size, that no rule counts."""

BYTES_TOLERANCE = 0.10
"""Largest relative difference between the least bytes and the traffic of cold caches."""

BYTES_SLACK = 64 * 1024
"""Bytes of code and of data of interpreter and library that a cold call moves besides."""

FLOP_OF_FUNCTION = (1.0, 150.0)
"""Range of the flop that libraries take for one evaluation of exp, log, erf and the like."""

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What a rule states of one call, beside what was counted.

    Parameters
    ----------
    operator : Operator
    stated_flop : float or None
        Floating-point work of all precisions; None: unknown.
    counted_flop : int
        The same, executed.
    functions : float
        Evaluations of exp, log and the like, whose work no rule states.
    cold : CheckedCall or None
        Count of a call with cold caches; None: there is none.
    """

    operator: Operator
    stated_flop: float | None
    counted_flop: int
    functions: float
    cold: CheckedCall | None

    @property
    def work_ratio(self) -> float | None:
        """Counted over stated work; None: one is unknown, or nothing is stated."""
        return self.counted_flop / self.stated_flop if self.stated_flop else None

    @property
    def flop_per_function(self) -> float | None:
        """Flop of one evaluation: all that the rule does not state. None: it evaluates none."""
        if not self.functions or self.stated_flop is None:
            return None
        return (self.counted_flop - self.stated_flop) / self.functions

    @property
    def work(self) -> Verdict:
        """Whether the work agrees."""
        if self.stated_flop is None:
            return "unknown"
        tolerance = WORK_TOLERANCE * self.stated_flop + WORK_SLACK_FLOP
        least, most = FLOP_OF_FUNCTION
        return _verdict(
            self.counted_flop,
            self.stated_flop + least * self.functions - tolerance,
            self.stated_flop + most * self.functions + tolerance,
        )

    @property
    def reads(self) -> Verdict:
        """Whether a cold call reads the least bytes, and perhaps the lines that it writes."""
        asked = self.operator.asked
        if asked.read_bytes is None or asked.write_bytes is None or self.cold is None:
            return "unknown"
        most = asked.read_bytes + asked.write_bytes
        return _moved(self.cold.read_bytes, asked.read_bytes, most)

    @property
    def writes(self) -> Verdict:
        """Whether a cold call writes the least bytes."""
        least = self.operator.asked.write_bytes
        if least is None or self.cold is None:
            return "unknown"
        return _moved(self.cold.write_bytes, least, least)


def _verdict(counted: float, least: float, most: float) -> Verdict:
    if counted < least:
        return "less"
    return "more" if counted > most else "agrees"


def _moved(counted: int | None, least: float, most: float) -> Verdict:
    if counted is None:
        return "unknown"
    return _verdict(
        counted,
        (1 - BYTES_TOLERANCE) * least - BYTES_SLACK,
        (1 + BYTES_TOLERANCE) * most + BYTES_SLACK,
    )


def agreement_of(operator: Operator) -> Agreement | None:
    """Return what was counted of an operator beside its rule; None: it was not counted."""
    if not operator.checked:
        return None
    work, states = operator.asked.work, {one.state: one for one in operator.checked}
    return Agreement(
        operator=operator,
        stated_flop=None
        if work is None
        else float(sum(amount for name, amount in work.items() if name in PRECISIONS)),
        counted_flop=sum(operator.checked[0].work.values()),
        functions=operator.asked.functions,
        cold=states.get("cold"),
    )


def disagreements(operators: Iterable[Operator]) -> tuple[Caution, ...]:
    """Return what to doubt where counts and rules differ by more than the tolerance.

    Parameters
    ----------
    operators : iterable of Operator
        Those that differ most in their work are named first. Those that were to be counted and
        could not be have a caution of their own.
    """
    operators = tuple(operators)
    found = sorted(
        (one for one in map(agreement_of, operators) if one is not None),
        key=lambda one: (
            -(one.operator.calls or 0) * abs(one.counted_flop - (one.stated_flop or 0.0))
        ),
    )
    return tuple(
        caution
        for caution in (
            _work_less([one for one in found if one.work == "less"]),
            _work_more([one for one in found if one.work == "more"]),
            _moves_less([one for one in found if "less" in (one.reads, one.writes)]),
            _moves_more([one for one in found if "more" in (one.reads, one.writes)]),
            _uncounted([one for one in operators if one.unchecked and not one.checked]),
        )
        if caution is not None
    )


def _work_less(found: Sequence[Agreement]) -> Caution | None:
    if not found:
        return None
    return Caution(
        "operators-do-less",
        f"counting found less work than the rules state: {_of_each(found, _work_in_words)}",
        "do not trust the bound of these operators: an algorithm that needs less work "
        "(Winograd, FFT), integers in place of floating point, or a wrong rule",
        on="compute",
    )


def _work_more(found: Sequence[Agreement]) -> Caution | None:
    if not found:
        return None
    return Caution(
        "operators-do-more",
        f"counting found more work than the rules state: {_of_each(found, _work_in_words)}",
        "expect these operators to stay below their roof: they compute more than they must, "
        "in padding, masked lanes or additional passes",
        on="compute",
    )


def _moves_less(found: Sequence[Agreement]) -> Caution | None:
    if not found:
        return None
    return Caution(
        "operators-move-less",
        "with cold caches, simulation found less traffic than the rules state: "
        f"{_of_each(found, _bytes_in_words)}",
        "do not trust the bound of these operators: they may read only parts of their arrays",
        on="dram",
    )


def _moves_more(found: Sequence[Agreement]) -> Caution | None:
    if not found:
        return None
    return Caution(
        "operators-move-more",
        "with cold caches, simulation found more traffic than the rules state: "
        f"{_of_each(found, _bytes_in_words)}",
        "expect these operators to stay below their roof: they move scratch memory, or arrays "
        "several times, or more rows than a rule without their indices can state",
        on="dram",
    )


def _uncounted(operators: Sequence[Operator]) -> Caution | None:
    """Return a caution about operators whose rules were not checked; views need no check."""
    found = [one for one in operators if one.asked.kind != "view"]
    if not found:
        return None
    reasons = dict.fromkeys(one.unchecked for one in found)
    return Caution(
        "operators-uncounted",
        f"{_listed(one.name for one in found)} could not be counted: {_listed(reasons)}",
        "trust the rules of these operators no more than without check=True",
        on="compute",
    )


def _of_each(found: Iterable[Agreement], in_words: Callable[[Agreement], str]) -> str:
    """Return words about the first of each operator's name."""
    first: dict[str, str] = {}
    for one in found:
        first.setdefault(one.operator.name, in_words(one))
    return _listed(first.values())


def _listed(words: Iterable[str]) -> str:
    """Return the first of several different things, and how many more there are."""
    return first_of(dict.fromkeys(words), _MOST_NAMED)


def _work_in_words(one: Agreement) -> str:
    if one.work_ratio is None:
        return f"{one.operator.name} (some, and the rule none)"
    return f"{one.operator.name} ({one.work_ratio:.3g} times as much)"


def _bytes_in_words(one: Agreement) -> str:
    asked, cold = one.operator.asked, one.cold
    parts = []
    for verdict, what, stated, counted in (
        (one.reads, "reads", asked.read_bytes, None if cold is None else cold.read_bytes),
        (one.writes, "writes", asked.write_bytes, None if cold is None else cold.write_bytes),
    ):
        if verdict in ("more", "less") and counted is not None:
            times = f"{counted / stated:.3g} times as much" if stated else "some, the rule none"
            parts.append(f"{what} {times}")
    return f"{one.operator.name} ({', '.join(parts)})"
