"""Operators under a machine's roofs, one by one and in groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from ridgepoint.core.bound import Bound, series
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate, total
from ridgepoint.core.operators import Operator, Tensor, calls_of, shown_calls

CALLS = "calls"
"""What explains the time of operators that are too short for any roof: calling them."""

CONTROL = "control"
"""Kind of operators that run others: loops and branches of compiled programs."""

UNEXPLAINED = "unexplained"
NOTHING = "nothing"
UNKNOWN = "unknown"
NO_CEILING = "no-ceiling"
NOT_TIMED = "not-timed"
ELSEWHERE = "elsewhere"
ABOVE = "above-roof"


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedOperator:
    """An operator under a machine's roofs.

    Parameters
    ----------
    operator : Operator
    bound : Bound or None
        Of all its calls; None: its demand is unknown, or the machine has no ceiling for any of it.
    share : float or None
        Share of the time of all operators, 0 to 1; None: not timed.
    efficiency : Estimate or None
        The bound's time over the time taken: 1 is the roof. None: one of them is unknown, it asks
        for nothing (a view), or it was timed on another device than this machine.
    explained_by : str
        What explains its time: the path of a resource (``compute``, ``l1``, ..., ``dram``) whose
        roof takes half of the time or more; ``calls``: calling it takes as much; ``unexplained``:
        neither does; ``above-roof``: it is faster than its roof allows; ``nothing``: it asks for
        nothing (a view); ``unknown``: its demand; ``no-ceiling``, ``not-timed``; ``elsewhere``: it
        was timed on another device.
    """

    operator: Operator
    bound: Bound | None
    share: float | None
    efficiency: Estimate | None
    explained_by: str

    @property
    def intensity(self) -> float | None:
        """Work over the least bytes, flop/byte; None: unknown, or it moves none."""
        asked = self.operator.asked
        if asked.work is None or not asked.moved_bytes:
            return None
        return sum(asked.work.values()) / asked.moved_bytes

    @property
    def limiter(self) -> str | None:
        """The path that needs the most time; None: unknown, or it asks for nothing."""
        if self.bound is None or not self.bound.time_s > 0:
            return None
        return str(self.bound.limiter)

    @property
    def call_s(self) -> float | None:
        """Median time of one call, in seconds; None: not timed, or its calls are unknown."""
        time_s = self.operator.time_s
        calls = self.operator.calls
        return None if time_s is None or not calls else time_s.median / calls

    @property
    def excess_s(self) -> float | None:
        """Time beyond the least, in seconds, at least 0; None: one of them is unknown."""
        time_s = self.operator.time_s
        if self.bound is None or time_s is None or self.explained_by == ELSEWHERE:
            return None
        return max(time_s.median - float(self.bound.time_s), 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class OperatorGroup:
    """Operators of one module, phase or kind, together.

    Parameters
    ----------
    name : str
    operators : tuple of PlacedOperator
    """

    name: str
    operators: tuple[PlacedOperator, ...]

    @cached_property
    def time_s(self) -> Estimate | None:
        """Seconds of all operators that were timed: the sum of their medians; None: none was."""
        times = [o.operator.time_s for o in self.operators if o.operator.time_s is not None]
        return summed_s(times) if times else None

    @cached_property
    def calls(self) -> int | None:
        """Number of calls in one run; None: that of some is unknown."""
        return calls_of(placed.operator for placed in self.operators)

    @property
    def shown_calls(self) -> str:
        """Number of calls in one run, in words."""
        return shown_calls(placed.operator for placed in self.operators)

    @cached_property
    def demand(self) -> Demand | None:
        """Known demands together, all bytes at DRAM; None: none is known."""
        known = [one for each in self.operators if (one := each.operator.demand) is not None]
        return sum(known[1:], known[0]) if known else None

    @cached_property
    def has_unknown(self) -> bool:
        """Whether the demand of some operator is unknown, or its time while others have one."""
        timed = [placed.operator.time_s is not None for placed in self.operators]
        return any(not placed.operator.asked.is_known for placed in self.operators) or (
            any(timed) and not all(timed)
        )

    @cached_property
    def intensity(self) -> float | None:
        """Known work over the least bytes, flop/byte; None: unknown, or no byte moves."""
        if self.demand is None or not self.demand.amount("dram"):
            return None
        return float(self.demand.amount("compute")) / float(self.demand.amount("dram"))

    @cached_property
    def performance(self) -> Estimate | None:
        """Work over the time taken, flop/s; None: something is unknown, or there is no work."""
        if self.demand is None or self.time_s is None or self.has_unknown:
            return None
        work = float(self.demand.amount("compute"))
        if not work or min(self.time_s.samples) <= 0:
            return None
        return Estimate([work / seconds for seconds in self.time_s.samples])

    @cached_property
    def share(self) -> float | None:
        """Share of the time of all operators of the profile; None: not timed."""
        shares = [placed.share for placed in self.operators if placed.share is not None]
        return sum(shares) if shares else None

    @cached_property
    def unknown_share(self) -> float | None:
        """Share of the profile's time that is in operators of unknown demand; None: not timed."""
        if self.share is None:
            return None
        return sum(
            placed.share or 0.0 for placed in self.operators if not placed.operator.asked.is_known
        )

    @cached_property
    def bound(self) -> Bound | None:
        """The bound of the operators whose demand is known, one after the other."""
        bounds = [placed.bound for placed in self.operators if placed.bound is not None]
        return series(bounds) if bounds else None

    @cached_property
    def known_s(self) -> float | None:
        """Seconds of the operators that have a time and a bound; None: none has both."""
        times = [time_s for _, time_s in self._both]
        return sum(times) if times else None

    @property
    def known_least_s(self) -> float:
        """Least seconds of the operators that have a time and a bound."""
        return sum(least_s for least_s, _ in self._both)

    @cached_property
    def efficiency(self) -> float | None:
        """Least time over time taken, of the operators that have both; None: none has.

        Where they were timed on another device it is None, too.
        """
        if not self.known_s or any(one.explained_by == ELSEWHERE for one in self.operators):
            return None
        return self.known_least_s / self.known_s

    @property
    def _both(self) -> list[tuple[float, float]]:
        """The least time and the time of all operators that have both, in seconds."""
        return [
            (float(placed.bound.time_s), placed.operator.time_s.median)
            for placed in self.operators
            if placed.bound is not None and placed.operator.time_s is not None
        ]

    @cached_property
    def excess_s(self) -> float | None:
        """Time beyond the least, operator by operator, in seconds; None: unknown for all."""
        known = [placed.excess_s for placed in self.operators if placed.excess_s is not None]
        return sum(known) if known else None

    @cached_property
    def limiters(self) -> dict[str, float]:
        """Share of the least time that each path limits, largest first; empty: none is known."""
        times: dict[str, float] = {}
        for placed in self.operators:
            if placed.bound is not None and placed.limiter is not None:
                time_s = float(placed.bound.time_s)
                times[placed.limiter] = times.get(placed.limiter, 0.0) + time_s
        return _shares(times)

    @cached_property
    def explained(self) -> dict[str, float]:
        """Share of its time by what explains it, largest first; see `PlacedOperator`."""
        times: dict[str, float] = {}
        for placed in self.operators:
            if placed.operator.time_s is not None:
                by = placed.explained_by
                times[by] = times.get(by, 0.0) + placed.operator.time_s.median
        return _shares(times)


def paths_to(module: str) -> list[str]:
    """Return the paths of all modules around one, outermost first, and its own.

    Examples
    --------
    >>> paths_to("layers.0")
    ['', 'layers', 'layers.0']
    """
    parts = module.split(".") if module else []
    return ["", *(".".join(parts[: at + 1]) for at in range(len(parts)))]


def asks_nothing(operator: Operator) -> bool:
    """Return whether an operator has no work and moves no byte, as a view does."""
    asked = operator.asked
    return asked.work is not None and not any(asked.work.values()) and asked.moved_bytes == 0


def is_view(operator: Operator) -> bool:
    """Return whether an operator does nothing but return: what a call of it takes is calling."""
    return asks_nothing(operator) and operator.asked.kind != CONTROL


def summed_s(times: Sequence[Estimate]) -> Estimate:
    """Return the sum of the medians of times, so that shares of it add up.

    The median of the runs' sums is another number where runs differ, and would not.

    Parameters
    ----------
    times : sequence of Estimate
        At least one.
    """
    return reduce(total, times)


def grouped(
    operators: Iterable[PlacedOperator], key: Callable[[PlacedOperator], str]
) -> tuple[OperatorGroup, ...]:
    """Return operators in groups with the same key, which is their name, in order."""
    found: dict[str, list[PlacedOperator]] = {}
    for placed in operators:
        found.setdefault(key(placed), []).append(placed)
    return tuple(OperatorGroup(name=name, operators=tuple(same)) for name, same in found.items())


def grouped_alike(operators: Iterable[PlacedOperator]) -> tuple[OperatorGroup, ...]:
    """Return operators of one name, phase, shapes and types together, over all modules.

    Returns
    -------
    tuple of OperatorGroup
        Longest first; those that were not timed last, by their order. Each has the name of its
        operators.
    """
    found: dict[Hashable, list[PlacedOperator]] = {}
    for placed in operators:
        found.setdefault(_likeness(placed.operator), []).append(placed)
    groups = [
        OperatorGroup(name=same[0].operator.name, operators=tuple(same)) for same in found.values()
    ]
    return tuple(sorted(groups, key=lambda group: -(group.share or 0.0)))


def _likeness(operator: Operator) -> Hashable:
    call = operator.call
    return (
        *(call.name, operator.phase),
        *(_described(call.inputs), _described(call.outputs), not operator.asked.is_known),
    )


def _described(tensors: Iterable[Tensor]) -> Hashable:
    return tuple((tensor.shape, tensor.dtype, tensor.layout) for tensor in tensors)


def _shares(times_s: dict[str, float]) -> dict[str, float]:
    whole = sum(times_s.values())
    ordered = sorted(times_s.items(), key=lambda pair: -pair[1])
    return {name: time_s / whole for name, time_s in ordered if time_s > 0}
