"""What ``ridgepoint explain --json`` prints: a diagnosis as one document."""

from __future__ import annotations

from typing import Any

from ridgepoint.core.documents import fields_of, plain, report
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Timing
from ridgepoint.models.diagnosis import Diagnosis
from ridgepoint.models.machine_diagnosis import MachineDiagnosis, diagnose_machine, slow_nodes
from ridgepoint.show.diagnosis_text import certainty_sentences, evidence, verdict_sentences


def diagnosis_report(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis of a measured program."""
    analysis = diagnosis.analysis
    placement, conclusion = analysis.placement, analysis.conclusion
    metric = analysis.metric
    return report(
        "diagnosis",
        {
            "of": "measurement",
            "command": analysis.measurement.command,
            "machine": None if placement is None else placement.machine.name,
            "verdict": {
                "kind": None if conclusion is None else conclusion.kind,
                "sentences": verdict_sentences(diagnosis),
                "limits": [cause.code for cause in diagnosis.by("limits")],
                "metric": metric,
                "attainable_per_s": None if placement is None else placement.attainable_per_s,
                "attainable_range_per_s": diagnosis.attainable_per_s,
                "efficiency": None if placement is None else placement.efficiency,
                "efficiency_range": diagnosis.efficiency,
            },
            "evidence": [
                fields_of(fact, "key", "name", "text", "how", "source", "inputs")
                for fact in evidence(diagnosis)
            ],
            "ceilings": [_ceiling(ceiling) for ceiling in diagnosis.ceilings],
            "causes": [
                {
                    **fields_of(cause, "code", "what", "standing", "why"),
                    "share": _share(cause.share),
                    **fields_of(cause, "sense", "settle"),
                }
                for cause in analysis.causes
            ],
            "next": [
                {
                    **fields_of(step.advice, "code", "about", "seen", "what", "gain"),
                    "gain_range": step.gain,
                }
                for step in diagnosis.steps
            ],
            "certainty": {
                "sentences": tuple(certainty_sentences(diagnosis)),
                "is_stable": diagnosis.is_stable,
                "cautions": diagnosis.doubts,
                "checks": diagnosis.checks,
            },
            "context": analysis.measurement.context,
        },
    )


def timing_diagnosis_report(timing: Timing) -> dict[str, Any]:
    """Return what is known of a program that was not counted: nothing limits it for certain."""
    return report(
        "diagnosis",
        {
            "of": "timing",
            "command": timing.command,
            **fields_of(timing.timed, "runtime_s", "cores_busy"),
            **fields_of(timing, "uncounted", "context"),
            "cautions": timing.all_cautions,
        },
    )


def machine_diagnosis_report(machine: Machine) -> dict[str, Any]:
    """Return a diagnosis of a machine."""
    return report("diagnosis", {"of": "machine", **_of_machine(diagnose_machine(machine), machine)})


def cluster_diagnosis_report(cluster: MeasuredCluster) -> dict[str, Any]:
    """Return a diagnosis of a cluster: of its slowest node, and of how nodes differ."""
    slowest = cluster.slowest()
    return report(
        "diagnosis",
        {
            "of": "cluster",
            **_of_machine(diagnose_machine(slowest), slowest),
            "name": cluster.name,
            "nodes": [node.host for node in cluster.nodes],
            "slow": [
                fields_of(
                    standing, "resource", "name", "threads", "slowest", "slowest_rate", "median"
                )
                for standing in slow_nodes(cluster)
            ],
            "latency_s": cluster.latency(),
            "cautions": (*slowest.cautions, *cluster.cautions),
        },
    )


def _of_machine(diagnosis: MachineDiagnosis, machine: Machine) -> dict[str, Any]:
    return {
        "name": machine.name,
        "host": machine.host,
        "ceilings": [
            {
                **_ceiling(judged.ceiling),
                "against_theory": judged.against,
                "share_of_theory": judged.share,
                "doubts": judged.doubts,
            }
            for judged in diagnosis.ceilings
        ],
        "balances": diagnosis.balances,
        "growths": diagnosis.growths,
        "cautions": machine.cautions,
    }


def _ceiling(ceiling: Ceiling) -> dict[str, Any]:
    return fields_of(
        ceiling, "resource", "name", "threads", "unit", "rate", "theoretical", "detail", "source"
    )


def _share(share: Estimate | None) -> dict[str, Any] | None:
    return None if share is None else plain(fields_of(share, "median", "low", "high"))
