"""Several runs of a script as one profile: each time has a sample of each run."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Operator, OperatorProfile


def joined(runs: Sequence[OperatorProfile]) -> OperatorProfile:
    """Return the profile of several runs of one script.

    Parameters
    ----------
    runs : sequence of OperatorProfile
        At least one.

    Returns
    -------
    OperatorProfile
        Operators in the order of the first run, then those that only later runs called. The time of
        an operator is unknown unless every run called it as often.
    """
    found = [{_key(operator): operator for operator in run.operators} for run in runs]
    every = dict.fromkeys(key for operators in found for key in operators)
    operators = [_together([run.get(key) for run in found]) for key in every]
    varying = sum(not _is_steady([run.get(key) for run in found]) for key in every)
    cautions = _gravest(caution for run in runs for caution in run.cautions)
    return replace(
        runs[0],
        operators=tuple(operators),
        cautions=(*cautions, *([_varies(varying, len(every), len(runs))] if varying else [])),
    )


def _gravest(cautions: Iterable[Caution]) -> Iterable[Caution]:
    """Return one caution of each kind: runs say the same with other numbers."""
    found: dict[str, Caution] = {}
    for one in cautions:
        known = found.setdefault(one.code, one)
        if (one.effect or 0.0) > (known.effect or 0.0):
            found[one.code] = one
    return found.values()


def _together(same: Sequence[Operator | None]) -> Operator:
    """Return one operator with its time in every run."""
    known = [operator for operator in same if operator is not None]
    times = [operator.time_s.median for operator in known if operator.time_s is not None]
    is_timed = _is_steady(same) and len(times) == len(same)
    return replace(known[0], time_s=Estimate(times) if is_timed else None)


def _is_steady(same: Sequence[Operator | None]) -> bool:
    return len({None if operator is None else operator.calls for operator in same}) == 1


def _varies(varying: int, every: int, runs: int) -> Caution:
    return Caution(
        "work-varies",
        f"{varying} of {every} operators were not called equally often in all {runs} runs of the "
        "script, so that their time is unknown",
        "give the script the same data and the same random seed every time",
    )


def _key(operator: Operator) -> Hashable:
    call = operator.call
    options = tuple(sorted((name, repr(value)) for name, value in call.options.items()))
    return (
        *(operator.module, operator.phase, call.name, call.overload),
        *(repr(call.arguments), options, repr(call.outputs), call.sharing),
    )
