"""Operators as the stages of a pipeline: their modules, families or phases one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Operator, OperatorProfile, shown_calls
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.models.operators.least import in_unit
from ridgepoint.models.operators.placed import summed_s
from ridgepoint.models.pipeline import Pipeline, Stage

WAYS = ("modules", "kinds", "phases")
"""What becomes a stage."""

_NO_MODULE = "(outermost)"


def operator_stages(
    profile: OperatorProfile, *, by: str = "modules", depth: int = 1, timed: bool = True
) -> Pipeline:
    """Return a program's operators as a pipeline: a stage for each module, family or phase.

    Parameters
    ----------
    profile : OperatorProfile
    by : str
        One of `WAYS`.
    depth : int
        Of modules: how many parts of a path name a stage, > 0; ``layers.0.mlp`` is of
        ``layers`` at 1 and of ``layers.0`` at 2.
    timed : bool
        Whether stages have the times that were measured; without, as for a machine on which they
        were not timed, each reaches its roof.

    Returns
    -------
    Pipeline
        Every operator's bytes cross DRAM, as on a machine of no cache. Time outside of operators,
        and in operators of unknown demand or without work and bytes, is the host's.

    Raises
    ------
    ValueError
        If `by` is none of these, `depth` is not > 0, or no work is known.
    """
    if by not in WAYS:
        raise ValueError(f"by must be one of {', '.join(WAYS)}, got {by!r}")
    require_whole(depth=depth)
    unit = _unit(profile)
    parts: dict[str, _Part] = {}
    left_out: list[Estimate] = []
    for operator in profile.operators:
        if (demand := _placeable(operator, unit)) is not None:
            parts.setdefault(_KEYS[by](operator, depth), _Part()).add(operator, demand)
        elif operator.time_s is not None:
            left_out.append(operator.time_s)
    if not any(part.demand.amount("compute") for part in parts.values()):
        raise ValueError(f"no work of {profile.program} is known, so that no stage has any")
    return Pipeline(
        name=profile.program,
        stages=tuple(part.stage(name, by, timed=timed) for name, part in parts.items()),
        host_time_s=_host_s(profile, left_out) if timed else None,
    )


def module_at(path: str, depth: int) -> str:
    """Return the name of the module of some depth that a path is in.

    Examples
    --------
    >>> module_at("layers.0.mlp", 2), module_at("head", 2), module_at("", 2)
    ('layers.0', 'head', '(outermost)')
    """
    return ".".join(path.split(".")[:depth]) or _NO_MODULE


@dataclass(slots=True)
class _Part:
    """Operators of one stage, as they are added."""

    demand: Demand = field(default_factory=lambda: Demand({}))
    times: list[Estimate] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    untimed: int = 0
    output_bytes: float | None = None

    def add(self, operator: Operator, demand: Demand) -> None:
        self.demand = self.demand + demand
        self.operators.append(operator)
        if operator.time_s is None:
            self.untimed += 1
        else:
            self.times.append(operator.time_s)
        if operator.phase == "forward" and operator.call.outputs:
            self.output_bytes = float(operator.call.outputs[0].nbytes)

    def stage(self, name: str, by: str, *, timed: bool) -> Stage:
        """Return the stage; where an operator was not timed, its time is not known."""
        is_known = timed and self.times and not self.untimed
        time_s = summed_s(self.times) if is_known else None
        return Stage(
            name=name,
            demand=self.demand,
            time_s=time_s if time_s is not None and min(time_s.samples) > 0 else None,
            output_bytes=self.output_bytes if by == "modules" else None,
            origin=shown_calls(self.operators, "operator call"),
        )


_KEYS: Mapping[str, Callable[[Operator, int], str]] = {
    "modules": lambda operator, depth: module_at(operator.module, depth),
    "kinds": lambda operator, depth: operator.asked.kind,
    "phases": lambda operator, depth: operator.phase,
}


def _unit(profile: OperatorProfile) -> str:
    """Return the unit of the work that stages have: flop, or op where there is no flop."""
    units = {
        RESOURCES[name].unit
        for operator in profile.operators
        for name, work in (operator.asked.work or {}).items()
        if work
    }
    return "flop" if "flop" in units or not units else next(iter(units))


def _placeable(operator: Operator, unit: str) -> Demand | None:
    """Return the demand of an operator if it is known and not nothing, in one unit of work."""
    if operator.demand is None:
        return None
    demand = in_unit(operator.demand, unit)
    return demand if any(demand.amounts.values()) else None


def _host_s(profile: OperatorProfile, left_out: list[Estimate]) -> Estimate | None:
    """Return the time outside of the operators that are in stages; None: not known."""
    inside = [operator.time_s for operator in profile.operators if operator.time_s is not None]
    if profile.timed is None or not inside:
        return summed_s(left_out) if left_out else None
    outside_s = max(profile.timed.runtime_s.median - summed_s(inside).median, 0.0)
    beside = summed_s(left_out).median if left_out else 0.0
    return Estimate([outside_s + beside])
