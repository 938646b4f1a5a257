"""An archive of records of every kind, made again for the snapshots: always the same.

Those of tests/snapshots/kept were measured, by the commands that its README tells; the others are
the literal ones of the unit tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import core_inputs
import figure_inputs as inputs
import line_inputs
import operator_inputs
from cluster_inputs import CLUSTER
from core_inputs import ceiling, machine_of
from rank_inputs import ScriptedRunner, timed_run
from scripted_gpu import ScriptedGpu

from ridgepoint.ceilings.gpu import characterize_gpu
from ridgepoint.cluster.driver import DistributedProgram, Plan
from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import decode, kind_of
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive import Archive

KEPT = Path(__file__).parents[1] / "snapshots" / "kept"
_KINDS = {
    "machine": Machine, "cluster": MeasuredCluster, "measurement": Measurement, "timing": Timing,
    "operators": OperatorProfile,
}  # fmt: skip
_AT = datetime(2026, 11, 21, 4, 5, 6, tzinfo=UTC)

MEASURED = {
    "vm": ("matmul", "heat", "solver", "norm", "native", "tensors", "sort", "counted", "many"),
    "cluster": ("ranks",),
}  # fmt: skip
"""Documents of tests/snapshots/kept: measurements by the machine that bounds them."""

STEPS = ("step-2", "step-8")
"""Documents of tests/snapshots/kept: operators of a training step, by their batch."""

_NETWORKED = machine_of(
    ceiling("fp64", 4e9), ceiling("dram", 2e9), ceiling("network", 1e4), name="networked"
)
LITERAL: dict[str, tuple[Machine, dict[str, Measurement]]] = {
    "bench": (core_inputs.MACHINE, {"one-sample": core_inputs.MEASUREMENT}),
    "small": (
        replace(inputs.MACHINE, name="small"),
        {
            "triad": inputs.TRIAD,
            "two-cores": inputs.TRIAD_2_CORES,
            "mixed": inputs.MIXED,
            "single": inputs.SINGLE,
            "few-flop": inputs.FEW,
            "no-flop": inputs.SORT,
            "cached": inputs.CACHED,
            "reads-only": inputs.READS_ONLY,
            "untimed": inputs.UNTIMED,
            "crowded": inputs.CROWDED,
            "functions": inputs.PROFILED,
            "arrays": line_inputs.ARRAYS,
            "two-meters": inputs.with_counted(
                inputs.TRIAD, also=replace(inputs.MIXED.counted, meter="perf (6.1)")
            ),
            "doubtful": inputs.measurement(
                inputs.flop("fp64", 900_000_000, masked=40_000_000),
                command=("./a name\nof two lines",),
                runtime_s=0.001,
                undecoded=12,
                dram=None,
                cautions=(
                    Caution("made-up", "something was seen", "do something about it"),
                    Caution("made-up", "something else was seen", "do something about it"),
                ),
            ),
        },
    ),
    "networked": (
        _NETWORKED,
        {
            "three-ranks": replace(
                DistributedProgram(
                    Plan(command=("./prog",), repeat=1), ScriptedRunner(timed_run())
                ).measure(),
                context=inputs.CONTEXT,
            ),
        },
    ),
}
"""Machines by name, each with measurements on it."""

OPERATORS = {"mlp": operator_inputs.MLP, "training": operator_inputs.TRAINED}
"""Operators of programs, by the names of their records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the records of an archive are called.

    Parameters
    ----------
    machines, clusters, measurements : tuple of str
    """

    machines: tuple[str, ...]
    clusters: tuple[str, ...]
    measurements: tuple[str, ...]


def document(
    name: str,
) -> Machine | MeasuredCluster | Measurement | Timing | OperatorProfile:
    """Return a document of tests/snapshots/kept."""
    text = (KEPT / f"{name}.json").read_text(encoding="utf-8")
    return decode(text, _KINDS[kind_of(text) or ""], origin=name)  # type: ignore[type-var]


def fill(path: Path) -> Names:
    """Keep every record in a new archive, all at the same time of a day long past."""
    measurements = []
    with mock.patch("ridgepoint.kept.archive.datetime") as clock, Archive(path) as archive:
        clock.now.return_value = _AT
        ids = {
            "vm": archive.keep_machine(document("vm"), label="vm"),
            "cluster": archive.keep_cluster(document("cluster"), label="cluster"),
        }
        archive.keep_cluster(CLUSTER, label="three-nodes")
        gpu = characterize_gpu(ScriptedGpu(), name="node7-gpu0")
        archive.keep_machine(
            replace(gpu, created="2026-11-21T02:00:00Z", elapsed_s=9.0), label="gpu"
        )
        for machine, names in MEASURED.items():
            for name in names:
                archive.keep_measurement(document(name), ids[machine], label=name)
                measurements.append(name)
        archive.keep_measurement(document("stopped"), ids["vm"], label="stopped", note="too long")
        bench = archive.keep_machine(operator_inputs.MACHINE, label="fp32-bench")
        for name, profile in OPERATORS.items():
            archive.keep_operators(profile, bench, label=name)
        for name in STEPS:
            archive.keep_operators(document(name), ids["vm"], label=name)
        for name, (machine, programs) in LITERAL.items():
            id = archive.keep_machine(machine, label=name)
            for label, program in programs.items():
                archive.keep_measurement(program, id, label=label)
                measurements.append(label)
    return Names(
        machines=("vm", "gpu", *LITERAL),
        clusters=("cluster", "three-nodes"),
        measurements=(*measurements, "stopped"),
    )
