"""Calls for the snapshots, and the files that their command lines name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import figure_inputs as inputs
import kept_records
from cluster_inputs import CLUSTER
from suite_inputs import failed, result

from ridgepoint.cli.main import main
from ridgepoint.core.basic_operations import BasicOperations
from ridgepoint.core.documents import encode
from ridgepoint.doctor.finding import Finding
from ridgepoint.kept.pipeline_file import example_pipeline
from ridgepoint.published.machines import load
from ridgepoint.suites.datacenter.results import DatacenterCase, DatacenterResult, DatacenterStudy
from ridgepoint.suites.kernels.results import KernelStudy

PIPELINES = ("imaging", "memo", "sdp-low", "observation")
_SCALING = Path(__file__).parents[1] / "data" / "scaling"
_LIBRARIES = ("daxpy.blas", "dgemv.blas", "dgemm.blas")


def _fft(workload: str, **changes: object) -> object:
    return result(workload, 1024, work=40_000, moved=(33_000, 16_000, 0), runtime_s=1e-5,
                  pseudo_flop=51_200.0, **changes)  # fmt: skip


def kernel_study() -> KernelStudy:
    """Return results for every figure of the suite."""
    results = (
        *(
            result(name, n, state=state, threads=threads, runtime_s=n * 1e-9)
            for name in _LIBRARIES
            for n in (300, 3000)
            for state, threads in (("cold", 1), ("cold", 2), ("warm", 1))
        ),
        *(
            _fft(name, state=state)
            for name in ("fft.radix2", "fft.ducc0")
            for state in ("cold", "warm")
        ),
        _fft("fft.ducc0", threads=2),
        result("dgemm.naive", 100),
        result("dgemm.blocked", 100),
        *(result(name) for name in ("stream.copy", "stream.triad", "stencil.5point", "spmv.csr")),
        failed("stream.scale"),
    )
    return KernelStudy(machine=replace(inputs.MACHINE, name="small"), results=results)


def datacenter_study() -> DatacenterStudy:
    """Return results of two programs, one of them as it was and optimised."""

    def measured(title: str, step: str, runtime_s: float, bop: int | None) -> DatacenterResult:
        case = DatacenterCase(
            workload=title.lower(), title=title, is_traditional=title == "Stream", step=step,
            variant="baseline", form="original", size=1000, size_unit="records", threads=6,
        )  # fmt: skip
        program = inputs.measurement(dram=(600_000_000, 400_000_000, 0), runtime_s=runtime_s)
        source = None if bop is None else BasicOperations(arithmetic=bop, compare=bop // 4)
        return DatacenterResult(case=case, measurement=program, source=source)

    return DatacenterStudy(
        machine=load("e5645"),
        results=(
            measured("Sort", "original", 1.0, 2_000_000_000),
            measured("Sort", "SIMD", 0.5, 1_500_000_000),
            measured("Grep", "original", 0.8, None),
            measured("Stream", "original", 0.2, 400_000_000),
        ),
    )


def write_files(folder: Path) -> None:
    """Write the files that command lines name."""
    for name in PIPELINES:
        (folder / f"{name}.toml").write_text(example_pipeline(name), encoding="utf-8")
    run = kernel_study()
    (folder / "suite.json").write_bytes(encode(run))
    (folder / "few.json").write_bytes(encode(replace(run, results=run.results[:3])))
    (folder / "datacenter.json").write_bytes(encode(datacenter_study()))
    (folder / "datacenter-other.json").write_bytes(encode(datacenter_study()))
    shutil.copy(_SCALING / "fft_made_up.csv", folder / "runs.csv")
    shutil.copy(_SCALING / "jobs.toml", folder / "jobs.toml")


def _doctor(_: Path) -> None:
    findings = (
        Finding(what="clock", works=True, detail="ticks every 1 ns"),
        Finding(
            what="counting engine", works=False, detail="there is no C compiler",
            remedy="apt install gcc", cost="work and traffic cannot be counted",
        ),
        Finding(what="GPU", works=False, detail="there is none"),
    )  # fmt: skip
    with mock.patch("ridgepoint.doctor.examine", return_value=findings):
        main(["doctor"])
        main(["doctor", "--json"])


def _check(_: Path) -> None:
    from ridgepoint.cli.output import show_comparison
    from ridgepoint.models.comparing.machines import compare

    baseline = replace(inputs.MACHINE, name="small")
    slower = [
        replace(ceiling, rate=ceiling.rate.map(lambda rate: rate * 0.8))
        if ceiling.resource == "dram" and ceiling.threads == 1
        else ceiling
        for ceiling in baseline.ceilings
        if ceiling.name != "copy"
    ]
    machine = replace(baseline, ceilings=tuple(slower), created="2026-11-23T00:00:00+00:00")
    for as_json in (False, True):
        show_comparison(compare(baseline, machine), baseline, machine, as_json=as_json)


def _network(written: Path) -> None:
    """Draw what an MPI job of 'ridgepoint machine -o' draws."""
    from ridgepoint.cli.cluster_output import write_cluster

    write_cluster(CLUSTER, [written.with_suffix(".svg")])


def _explained(written: Path) -> None:
    """Take a ceiling apart as 'ridgepoint machine --explain' does."""
    from ridgepoint.ceilings.explain import Explanation
    from ridgepoint.ceilings.samples import Sample
    from ridgepoint.cli.output import show_explanations, write_explanations
    from ridgepoint.kernels.kernel import Claim, Kernel

    kernel = Kernel(
        name="fma 512-bit", ir="define void @kernel() {\n  ret void\n}\n",
        claim=Claim(operation="fma", width_bits=512), work_per_repeat=16.0,
        pseudo_code="a = a * b + c, 8 lanes, 10 times",
    )  # fmt: skip
    ceilings = [one for one in inputs.MACHINE.ceilings if one.key[:2] == ("fp64", "fma 512-bit")]
    explanations = [
        Explanation(
            ceiling=ceiling,
            kernel=kernel,
            loop=("vfmadd231pd zmm0, zmm10, zmm11", "dec rdi", "jne 0"),
            samples=tuple(
                Sample(rate=rate, waited=0.01, migrated=False, frequency_hz=3.7e9, issue=None)
                for rate in ceiling.rate.samples
            ),
            figure=None,
            remarks=("It reaches 94 % of theory.",),
        )
        for ceiling in ceilings
    ]
    for as_json in (False, True):
        show_explanations(explanations, as_json=as_json)
    write_explanations(explanations, [written.with_suffix(".svg")])


def _bops(_: Path) -> None:
    """Report what 'ridgepoint bops' counted from a source."""
    from ridgepoint.cli.bops import document
    from ridgepoint.cli.common import console
    from ridgepoint.core.documents import render
    from ridgepoint.meters.source.counts import FunctionOperations, LineOperations, SourceCounts
    from ridgepoint.show.tables.bops_tables import bops_tables

    of_main = BasicOperations(arithmetic=100, compare=101, addressing=100)
    of_hash = BasicOperations(arithmetic=40, fp_arithmetic=20, logic=300)
    counts = SourceCounts(
        operations=BasicOperations(
            arithmetic=140, fp_arithmetic=20, logic=300, compare=101, addressing=100
        ),
        functions=(
            FunctionOperations(name="hash(char const*)", symbol="_Z4hashPKc", file="hash.cpp",
                               line=3, operations=of_hash),
            FunctionOperations(name="main", symbol="main", file="hash.cpp", line=9,
                               operations=of_main),
        ),
        lines=(
            LineOperations(file="hash.cpp", line=4, operations=of_hash),
            LineOperations(file=None, line=None, operations=of_main),
        ),
        exit_status=0,
        complete=True,
        processes=1,
    )  # fmt: skip
    for timed in (inputs.TRIAD.timed, None):
        console().print(bops_tables(("./hash", "words"), counts, timed, most=10))
    print(render(document(("./hash", "words"), counts, inputs.TRIAD.timed)), end="")


def _distributed(_: Path) -> None:
    """Print what 'ridgepoint suite distributed' measured."""
    from ridgepoint.suites.distributed.results import decoded

    run = decoded((kept_records.KEPT / "conjugate-gradient.json").read_bytes())
    with (
        mock.patch("ridgepoint.suites.distributed.running.run_program", return_value=run),
        mock.patch("ridgepoint.kept.durations.keep"),  # no clock of this host
    ):
        for words in ([], ["--json"]):
            main(["suite", "distributed", "conjugate-gradient", "--mpi", "2", *words])


CALLS: dict[str, Callable[[Path], None]] = {
    "doctor": _doctor,
    "machine/check": _check,
    "machine/network-drawn": _network,
    "machine/explained": _explained,
    "bops": _bops,
    "suite/distributed": _distributed,
}
