"""Jobs that share nodes in words, above their tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ridgepoint.core.presenting import amount
from ridgepoint.core.rates import IDEAL
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.placements import Placement, SharingStudy
from ridgepoint.show.scaling_text import overlap_in_words
from ridgepoint.show.words import machine_title, printable

_MOST_NAMED = 3


def sharing_heading(study: SharingStudy) -> list[str]:
    """Return what is placed, where, and how many ways were compared."""
    scaling = study.jobs[0].scaling
    machine = scaling.machine
    jobs = sum(job.count for job in study.jobs)
    unit = RESOURCES[scaling.problem.work].unit
    given = [f"{amount(machine.cores, 'core')} of {format_si(scaling.core_rate, f'{unit}/s')}"]
    if machine.knows("dram"):
        given.append(f"memory {format_si(float(machine.rate('dram')), 'B/s')}")
    node = "each with " if machine.name == IDEAL else f"{machine_title(machine)}: "
    placements = amount(study.compared, "different placement")
    compared = (
        f"all {placements} compared"
        if study.is_complete
        else f"the best of {placements}; there are too many to compare them all"
    )
    return [
        f"{amount(jobs, 'job')} on {amount(study.nodes, 'node')}, {node}{', '.join(given)}",
        f"{compared}; {overlap_in_words(scaling)}",
    ]


def nodes_in_words(placement: Placement) -> str:
    """Return which jobs meet: ``product 4 + triad 4 | 3 nodes: 2 x solver 2``."""
    by_node: dict[int, Counter[str]] = {load.node: Counter() for load in placement.loads}
    for share in placement.shares:
        for node in share.nodes:
            by_node[node][f"{printable(share.name)} {share.cores}"] += 1
    alike = Counter(
        " + ".join(f"{count} x {job}" if count > 1 else job for job, count in sorted(jobs.items()))
        for jobs in by_node.values()
    )
    return " | ".join(
        f"{count} nodes: {jobs}" if count > 1 else jobs for jobs, count in alike.items()
    )


def nodes_named(nodes: Sequence[int]) -> str:
    """Return nodes by their numbers, or, of many, how many there are.

    Examples
    --------
    >>> nodes_named([4]), nodes_named([1, 2]), nodes_named(range(9))
    ('node 4', 'nodes 1, 2', '9 nodes')
    """
    if len(nodes) > _MOST_NAMED:
        return amount(len(nodes), "node")
    return f"node{'s' * (len(nodes) > 1)} {', '.join(map(str, nodes))}"
