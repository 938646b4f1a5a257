"""What could hold a program back: what does, what takes part, what is ruled out and why."""

from __future__ import annotations

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.resources import RESOURCES
from ridgepoint.models.advice.subject import Subject
from ridgepoint.models.causes.cause import STANDINGS, Case, Cause, Standing, run_again
from ridgepoint.models.causes.cores import cores
from ridgepoint.models.causes.instructions import instructions
from ridgepoint.models.causes.needs import needs, spread
from ridgepoint.models.causes.outside import outside
from ridgepoint.models.causes.resources import resources
from ridgepoint.models.causes.traffic import traffic
from ridgepoint.models.causes.waiting import waiting
from ridgepoint.models.conclusion import Conclusion
from ridgepoint.models.distributed import Verdict
from ridgepoint.models.explanations import DIVIDE
from ridgepoint.models.mix import DIVIDER
from ridgepoint.models.own_roofs import COMPUTE, ISSUE

__all__ = ["STANDINGS", "Cause", "Standing", "causes", "run_again"]

_ABOVE = ("above-roof", "above-mix")
_OF_RANKS = {
    "network": "network",
    "load imbalance": "rank-imbalance",
    "waiting": "mpi",
    "MPI": "mpi",
}


def causes(
    subject: Subject, conclusion: Conclusion, ranks: Verdict | None = None
) -> tuple[Cause, ...]:
    """Return every resource and every other known cause, and where each stands.

    Parameters
    ----------
    subject : Subject
    conclusion : Conclusion
        Of the same subject.
    ranks : Verdict or None
        What bounds its ranks; None: it is not distributed.

    Returns
    -------
    tuple of Cause
        Each code once: first what limits it, last what is ruled out. Empty: the machine has no
        ceiling for anything that it uses.

    Notes
    -----
    A resource at its full rate needs a least time. It is ruled out if that is surely less than
    `EXPLAINS` of the time in which the program computes and moves data, or surely less than what
    the resource that limits the program needs: times have the range of the ceiling, of the traffic
    and of the runtime. Latencies are upper limits: they are ruled out if even that is small, or if
    the core retires so many instructions that it cannot be waiting. Nothing but a resource's own
    traffic matters where that resource alone needs nearly all of the time. What no number shows is
    unknown, and never ruled out.
    """
    if subject.placement.bound is None:
        return ()
    times = needs(subject)
    case = Case(
        subject=subject,
        conclusion=conclusion,
        ranks=ranks,
        runtime=_runtime(subject),
        inside=_inside(subject, conclusion),
        needs=times,
        limits=_limits(conclusion, ranks),
        is_above=conclusion.kind in _ABOVE,
    )
    found = {cause.code: cause for cause in resources(case)}
    found |= {cause.code: cause for cause in waiting(case)}
    found |= {cause.code: cause for cause in instructions(case, found)}
    found |= {cause.code: cause for cause in traffic(case, found)}
    found |= {cause.code: cause for cause in (*cores(case), *outside(case))}
    return tuple(sorted(found.values(), key=lambda cause: STANDINGS.index(cause.standing)))


def _runtime(subject: Subject) -> Estimate | None:
    timed = subject.measurement.timed
    if timed is None or not subject.runtime_s:
        return None
    return Estimate([subject.runtime_s], interval=spread(timed.runtime_s))


def _inside(subject: Subject, conclusion: Conclusion) -> Estimate | None:
    """Return the time to which roofs apply, with the runtime's range."""
    runtime, explained = _runtime(subject), conclusion.explained
    if runtime is None or explained is None:
        return runtime
    part = explained.inside_s / explained.runtime_s
    return runtime.map(lambda seconds: seconds * part)


def _limits(conclusion: Conclusion, ranks: Verdict | None) -> frozenset[str]:
    """Return the codes of what the conclusion says that limits the program."""
    own = _of_ranks(ranks)
    placement, explained = conclusion.placement, conclusion.explained
    if conclusion.kind in {"not-timed", "at-roof", "roof"}:
        paths = (RESOURCES[n].path if n in RESOURCES else n for n in placement.bindings)
        return own.union(paths)
    if conclusion.kind == "cause" and explained is not None and explained.cause is not None:
        return own | {explained.cause.code}
    if conclusion.kind == "mix" and placement.mix is not None:
        own_bound = placement.mix.bound
        is_divider = own_bound is not None and own_bound.binding == DIVIDER
        return own | {DIVIDE if is_divider else COMPUTE}
    return own | {ISSUE} if conclusion.kind == "issue" else own


def _of_ranks(ranks: Verdict | None) -> frozenset[str]:
    name = None if ranks is None else _OF_RANKS.get(ranks.limit or "")
    return frozenset() if name is None else frozenset((name,))
