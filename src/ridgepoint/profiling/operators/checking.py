"""Count operators with the counting engines, to check the rules that say what they ask for.

Each different call is made again in a process of its own, with arrays like those that it had. The
copying engine counts its work on the path that the library takes on this CPU. Its copies that
record addresses do not fit beside libraries as large as PyTorch's, so that Valgrind's engine
simulates its traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable, RidgepointError
from ridgepoint.core.machine import Cache
from ridgepoint.core.operators import CheckedCall, Operator
from ridgepoint.core.units import format_si
from ridgepoint.host import System
from ridgepoint.models.operators.agreement import disagreements
from ridgepoint.profiling.calls.apart import Results, count_tasks
from ridgepoint.profiling.calls.child import Task
from ridgepoint.profiling.calls.counted import Conditions
from ridgepoint.profiling.calls.packing import Packed, pack, pack_function
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.replaying import Replay

State = Literal["warm", "cold"]

_MORE_CALLS = 1
"""Calls that are counted after a first one, whose work and traffic are those of a call."""

_MOST_COUNTED_S = 2.0
_MOST_SIMULATED_S = 0.05  # simulating takes up to 100 times as long
_MEMORY_SHARE = 6  # of available memory: kept here, written for the process, and copied there
_UNCOPIED = "modules-uncounted"
_LEAST_SHARE = 0.25  # of the flop that the other engine counts: less, and code was not copied
_NO_TRAFFIC = "one call takes {took}, and traffic is only simulated of calls up to {most}"


Maker = Callable[[], tuple[tuple[Any, ...], Mapping[str, Any]]]
"""Makes arguments and options of a call, whose arrays are in the host's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A different call, packed."""

    name: str
    operator: Operator
    arguments: Packed

    def task(self, state: State) -> Task:
        """Return calls of it to count."""
        call, cold = self.operator.call, state == "cold"
        replay = Replay(call.name, call.overload, keeps=cold)
        return Task(
            name=f"{self.name}, {state}",
            function=pack_function(f"cannot count {call.name}", replay),
            arguments=self.arguments,
            cold=cold,
            calls=_MORE_CALLS,
        )


def checked(
    operators: Sequence[Operator],
    makers: Sequence[Maker | None],
    options: Options,
    *,
    device: str = "cpu",
) -> tuple[tuple[Operator, ...], tuple[Caution, ...]]:
    """Return operators with what was counted of each, and where that differs from the rules.

    Parameters
    ----------
    operators, makers
        See `check`.
    options : Options
    device : str
        Device that they ran on: only the CPU's instructions can be counted.
    """
    if device != "cpu":
        reason = f"it ran on {device}, and only instructions of the CPU are counted"
        return tuple(replace(one, unchecked=reason) for one in operators), ()
    found = check(operators, makers, caches=options.caches, report=options.report)
    return found, disagreements(found)


def check(
    operators: Sequence[Operator],
    makers: Sequence[Maker | None],
    *,
    caches: Sequence[Cache] | None = None,
    timeout_s: float | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> tuple[Operator, ...]:
    """Return operators with what counting one call of each found, or why it was not counted.

    Parameters
    ----------
    operators : sequence of Operator
        Equal calls are counted once.
    makers : sequence of callable or None
        What makes the arguments of each operator's call; None: nothing can.
    caches : sequence of Cache or None
        Caches to simulate; None: this host's.
    timeout_s : float or None
        Time limit of each counting process.
    report : callable
        Is told what begins.

    Raises
    ------
    MeterUnavailable
        If neither engine works here.

    Notes
    -----
    Calls are counted on one thread. The second of two calls counts: what a first one does once
    only, and the interpreter's work around calls, cancels. Cold, it has arrays of its own, and its
    results too; warm, it is the same call again.
    """
    conditions = Conditions(
        caches=tuple(System().caches if caches is None else caches),
        threads=1,
        timeout_s=timeout_s,
    )
    checked: dict[str, tuple[CheckedCall, ...]] = {}
    reasons: dict[str, str] = {}
    for batch in _batches(operators, makers, reasons):
        _count_batch(batch, conditions, checked, reasons, report)
    return tuple(
        replace(
            operator,
            checked=checked.get(key := _key(operator), ()),
            unchecked=reasons.get(key, ""),
        )
        for operator in operators
    )


def _key(operator: Operator) -> str:
    return f"{operator.call!r} {operator.call.sharing}"


def _batches(
    operators: Sequence[Operator], makers: Sequence[Maker | None], reasons: dict[str, str]
) -> Iterator[dict[str, _Subject]]:
    """Yield different calls, packed, no more at once than memory holds; say why others are not."""
    room_bytes = (System().available_bytes or 0) // _MEMORY_SHARE
    batch: dict[str, _Subject] = {}
    size, number = 0, 0
    for operator, maker in zip(operators, makers, strict=True):
        key = _key(operator)
        if key in batch or key in reasons:
            continue
        try:
            packed = _packed(operator, maker)
            if packed.nbytes > room_bytes:
                raise _too_large(operator, packed.nbytes, room_bytes)
        except CannotMeasure as error:
            reasons[key] = error.reason
            continue
        if batch and size + packed.nbytes > room_bytes:
            yield batch
            batch, size = {}, 0
        number += 1
        name = f"{number} {operator.name}"
        batch[key] = _Subject(name=name, operator=operator, arguments=packed)
        size += packed.nbytes
    if batch:
        yield batch


def _packed(operator: Operator, maker: Maker | None) -> Packed:
    """Return arguments of a call that can be counted.

    Raises
    ------
    CannotMeasure
    """
    call_s = _call_s(operator)
    if operator.asked.kind == "view":
        raise _not_counted(operator, "it computes nothing and moves nothing")
    if call_s > _MOST_COUNTED_S:
        took, most = format_si(call_s, "s"), format_si(_MOST_COUNTED_S, "s")
        raise _not_counted(operator, f"one call takes {took}, and calls up to {most} are counted")
    if maker is None:
        raise _not_counted(operator, "it cannot be called again with the arguments that it had")
    try:
        arguments, options = maker()
    except Exception as error:  # of a library that cannot make such arrays
        raise _not_counted(operator, f"its arguments cannot be made again ({error})") from error
    return pack(f"cannot count {operator.name}", (arguments, dict(options)))


def _call_s(operator: Operator) -> float:
    """Return the native time of one call, s; 0: not timed."""
    time_s = operator.time_s
    return 0.0 if time_s is None or not operator.calls else time_s.median / operator.calls


def _not_counted(operator: Operator, reason: str) -> CannotMeasure:
    return CannotMeasure(f"cannot count {operator.name}", reason=reason, remedy="")


def _too_large(operator: Operator, nbytes: int, room_bytes: int) -> CannotMeasure:
    return _not_counted(
        operator,
        f"its arrays have {format_si(nbytes, 'B')}, and there is memory to copy "
        f"{format_si(room_bytes, 'B')}",
    )


def _count_batch(
    batch: Mapping[str, _Subject],
    conditions: Conditions,
    checked: dict[str, tuple[CheckedCall, ...]],
    reasons: dict[str, str],
    report: Callable[[str], None],
) -> None:
    """Count all of a batch, and note what was found."""

    def begins(task: Task) -> None:
        report(f"counting {task.name.partition(' ')[2]}")

    short = {key: one for key, one in batch.items() if _call_s(one.operator) <= _MOST_SIMULATED_S}
    work = _count([one.task("warm") for one in batch.values()], conditions, "native", begins)
    moved = _count(
        [one.task(state) for one in short.values() for state in ("warm", "cold")],
        conditions,
        "engine",
        begins,
    )
    for key, one in batch.items():
        counted = work[f"{one.name}, warm"]
        states: list[CheckedCall] = []
        reason = ""
        for state in ("warm", "cold"):
            traffic = moved.get(f"{one.name}, {state}")
            both = _checked(state, counted, traffic)
            if isinstance(both, CheckedCall):
                states.append(both)
            else:
                reason = both
        if not reason and key not in short:
            took, most = format_si(_call_s(one.operator), "s"), format_si(_MOST_SIMULATED_S, "s")
            reason = _NO_TRAFFIC.format(took=took, most=most)
        checked[key], reasons[key] = tuple(states), reason


def _count(
    tasks: Sequence[Task],
    conditions: Conditions,
    engine: Literal["native", "engine"],
    begins: Callable[[Task], None],
) -> Results:
    """Count tasks with one engine, and simulate caches with Valgrind's."""
    if not tasks:
        return {}
    simulate = engine == "engine"
    try:
        return count_tasks(tasks, replace(conditions, engine=engine, simulate=simulate), begins)
    except MeterUnavailable as error:
        unavailable = CannotMeasure(
            "cannot count the calls", reason=error.reason, remedy=error.remedy or ""
        )
        return dict.fromkeys((task.name for task in tasks), unavailable)


def _checked(
    state: State, work: Counted | RidgepointError, moved: Counted | RidgepointError | None
) -> CheckedCall | str:
    """Return what both engines counted of a call, or why neither did."""
    counts = _better(work, moved)
    if counts is None:
        return work.reason if isinstance(work, RidgepointError) else "its code was not counted"
    traffic = None
    if isinstance(moved, Counted):
        traffic = next((part for part in moved.traffic if part.level == "dram"), None)
    return CheckedCall(
        state=state,
        work=counts.counts.work,
        read_bytes=None if traffic is None else traffic.read_bytes,
        write_bytes=None if traffic is None else traffic.write_bytes,
        meter=_meters(counts, moved),
    )


def _better(
    work: Counted | RidgepointError, moved: Counted | RidgepointError | None
) -> Counted | None:
    """Return what counted all of a call's code; None: neither did.

    The copying engine cannot copy some of the code that libraries make at run time. Valgrind's
    engine sees all of it, on a path of other instructions, whose number of flop is about the same.
    """
    whole = work if isinstance(work, Counted) and _is_whole(work) else None
    if not isinstance(moved, Counted):
        return whole
    if whole is None or whole.counts.work_flop < _LEAST_SHARE * moved.counts.work_flop:
        return moved
    return whole


def _is_whole(counted: Counted) -> bool:
    """Return whether all code that ran was copied and decoded, as far as the engine knows."""
    return not counted.counts.undecoded and all(
        caution.code != _UNCOPIED for caution in counted.cautions
    )


def _meters(work: Counted, moved: Counted | RidgepointError | None) -> str:
    if not isinstance(moved, Counted) or moved is work:
        return work.meter
    return f"work: {work.meter}; traffic: {moved.meter}"
