"""Operators of array programs in words: for the table, the picture and the page alike."""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.core.demand import Demand
from ridgepoint.core.operators import Call, OperatorProfile, Phase, Tensor
from ridgepoint.core.presenting import amount, first_of
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.operators import OperatorAnalysis, OperatorGroup
from ridgepoint.models.thresholds import ABOVE_ROOF
from ridgepoint.models.work import used_precisions
from ridgepoint.show.cells import NOTHING
from ridgepoint.show.words import UNKNOWN, percent, printable, share_of_roof, shown_limit

PHASES: dict[Phase, str] = {"forward": "fwd", "backward": "bwd", "optimizer": "opt"}
"""In short, in the order of a training step."""

WHOLE = "(the whole)"
"""Stands for the module around all others."""

_MOST_TENSORS = 4


def shown_title(profile: OperatorProfile) -> str:
    """Return what was profiled, by what, and where."""
    where = [profile.library, f"on {profile.device}"]
    if profile.threads is not None:
        where.append(amount(profile.threads, "thread"))
    return printable(f"{profile.program}: {', '.join(where)}")


def shown_operator(call: Call, *, libraries: Sequence[str]) -> str:
    """Return an operator's name, without that of its library where all are of one.

    All fusions of XLA have one name, so that these are named by what they fuse.

    Examples
    --------
    >>> shown_operator(Call(name="aten.mm", arguments=()), libraries=["aten"])
    'mm'
    >>> fused = Call(name="hlo.fusion", arguments=(), options={"fuses": "dot 1, add 2"})
    >>> shown_operator(fused, libraries=["hlo"])
    'fusion (dot 1, add 2)'
    """
    name = call.name.partition(".")[2] if len(libraries) == 1 and "." in call.name else call.name
    return printable(f"{name} ({call.inside})" if call.inside else name)


def libraries_of(profile: OperatorProfile) -> tuple[str, ...]:
    """Return the libraries whose operators a profile has: ``aten``, ``hlo``, ``numpy``."""
    return tuple(dict.fromkeys(each.name.partition(".")[0] for each in profile.operators))


def shown_shapes(call: Call) -> str:
    """Return the shapes of a call's inputs, and their types where they differ.

    Examples
    --------
    >>> a = Tensor(shape=(8, 16), dtype="fp32", nbytes=512)
    >>> shown_shapes(Call(name="aten.mm", arguments=(a, a)))
    '8×16, 8×16'
    """
    arrays = call.inputs or call.outputs
    types = {array.dtype for array in arrays}
    return first_of((_shape(one, with_type=len(types) > 1) for one in arrays), _MOST_TENSORS)


def described(array: Tensor) -> str:
    """Return an array's shape and type."""
    return _shape(array, with_type=True)


def _shape(array: Tensor, *, with_type: bool) -> str:
    sizes = "×".join(map(str, array.shape)) or "scalar"
    layout = "" if array.layout == "strided" else f" {printable(array.layout)}"
    return f"{sizes}{f' {printable(array.dtype)}' if with_type else ''}{layout}"


def limit_of_group(group: OperatorGroup) -> str:
    """Return what limits operators together in a few words; empty: nothing is known."""
    if group.bound is None or not group.bound.time_s > 0:
        return ""
    demand = group.bound.demand
    used = used_precisions({name: float(amount) for name, amount in demand.amounts.items()})
    return shown_limit(str(group.bound.binding), used)


def roof_of_group(group: OperatorGroup) -> str:
    """Return how near operators together come to their roofs."""
    if group.efficiency is None:
        return UNKNOWN if group.has_unknown or _asks(group) else NOTHING
    if group.efficiency == 0:
        return NOTHING
    return share_of_roof(group.efficiency, is_above=group.efficiency > ABOVE_ROOF)


def reached_by(group: OperatorGroup) -> str:
    """Return how near equal operators come to their roof, and which it is: ``34 % of DRAM``."""
    roof, limit = roof_of_group(group), limit_of_group(group)
    if group.efficiency is None or roof == NOTHING or not limit:
        return roof if not limit or roof == NOTHING else f"{roof}, {limit}"
    above = " (above)" if group.efficiency > ABOVE_ROOF else ""
    return f"{percent(group.efficiency)} of {limit}{above}"


def least_there(group: OperatorGroup) -> str:
    """Return the least time of operators on a machine that did not run them, and what limits it."""
    limit = limit_of_group(group)
    if group.bound is None:
        return UNKNOWN
    return f"{format_si(float(group.bound.time_s), 's', digits=3)}, {limit}" if limit else NOTHING


def _asks(group: OperatorGroup) -> bool:
    return group.demand is not None and any(map(float, group.demand.amounts.values()))


def shown_work_of(demand: Demand | None) -> str:
    """Return the work of a demand by precision: ``2.4 Gflop fp32``."""
    if demand is None:
        return UNKNOWN
    works = [
        f"{format_si(float(amount), RESOURCES[name].unit)} {RESOURCES[name].label}"
        for name, amount in sorted(demand.amounts.items(), key=lambda item: -float(item[1]))
        if RESOURCES[name].path == "compute" and amount
    ]
    return " + ".join(works) or "none"


def unknown_sentences(analysis: OperatorAnalysis, *, most: int = 5) -> list[str]:
    """Return which operators' demand is unknown and why, those of most time first.

    Parameters
    ----------
    analysis : OperatorAnalysis
    most : int
        Sentences beside that of the rest.
    """
    found: dict[tuple[str, str], list[float | None]] = {}
    for placed in analysis.operators:
        if not placed.operator.asked.is_known:
            key = placed.operator.name, placed.operator.asked.unknown or "the reason is unknown"
            found.setdefault(key, []).append(placed.share)
    rows = sorted(found.items(), key=lambda item: -_total(item[1]))
    sentences = [
        f"{printable(name)} ({_share(shares)}): {printable(why)}"
        for (name, why), shares in rows[:most]
    ]
    if rest := rows[most:]:
        together = [share for _, shares in rest for share in shares]
        sentences.append(f"{amount(len(rest), 'more operator')} ({_share(together)})")
    return sentences


def _total(shares: Sequence[float | None]) -> float:
    return sum(share or 0.0 for share in shares)


def _share(shares: Sequence[float | None]) -> str:
    if all(share is None for share in shares):
        return "not timed"
    return f"{percent(_total(shares))} of the time"
