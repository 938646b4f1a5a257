"""What suites share: a case that cannot be measured stops no other, and is told with its reason."""

import json

import pytest
from figure_inputs import MACHINE
from suite_inputs import failed, result

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure, CannotStart, Interrupted, InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.suites.datacenter.measuring import cases
from ridgepoint.suites.datacenter.results import DatacenterResult, DatacenterStudy
from ridgepoint.suites.distributed import DistributedRun, DistributedStudy, run_programs, running
from ridgepoint.suites.imaging.measuring import ImagingStudy, StageResult
from ridgepoint.suites.kernels.results import KernelStudy
from ridgepoint.suites.study import attempt

NO_MEMORY = CannotMeasure("cannot measure 'b'", reason="no memory", remedy="add some")


def stage(**changes):
    """Return what became of a stage."""
    fields = {
        "name": "invert", "summary": "grid, then FFTs", "state": "warm", "threads": 1,
        "visibilities": 10, "expected_flop": 2e9, "expected_bytes": None,
        "runtime_s": Estimate([0.5]), **changes,
    }  # fmt: skip
    return StageResult(**fields)


def imaging(*stages, **changes):
    """Return the study of a scene of 5 rows and 2 channels."""
    scene = {"size": 64, "rows": 5, "channels": 2, "visibilities": 10}
    return ImagingStudy(**scene, results=stages, **changes)


def program(name):
    """Return a run on two hosts."""
    return DistributedRun(
        program=name, ranks=2, hosts=("n1", "n2"), threads=1, sizes={"size": 8}, steps_s=(0.5,),
        parts_s={"compute": (0.25,), "network": (0.25,)}, work={"fp64": 8}, dram_bytes=8,
        exchanged_bytes=None, check=None, ceilings=None,
    )  # fmt: skip


def test_an_error_stands_in_place_of_what_a_case_gives():
    """And the next case is measured all the same."""

    def measure(case):
        if case == "b":
            raise NO_MEMORY
        return case.upper()

    assert [attempt(measure, case) for case in "abc"] == ["A", NO_MEMORY, "C"]


@pytest.mark.parametrize(
    "error", [CannotStart("cannot", reason="no launcher", remedy="load one"), Interrupted("stop")]
)
def test_what_concerns_every_case_stops_them(error):
    """No launcher, where the suite says so; a request to stop, always."""

    def measure(_):
        raise error

    with pytest.raises(type(error)):
        attempt(measure, "a", stops=CannotStart)


@pytest.mark.parametrize(
    ("study", "headline", "unmeasured"),
    [
        (
            KernelStudy(machine=MACHINE, results=(result(), failed("daxpy.llvm", 10))),
            f"on {MACHINE.name!r}: 2 cases, 1 of them could not be measured",
            {"daxpy.llvm n = 10, cold, 1 thread": "no memory"},
        ),
        (
            DatacenterStudy(
                machine=MACHINE,
                results=(
                    DatacenterResult(
                        case=cases(["grep"])[0], measurement=None, source=None,
                        failures=("no compiler", "no clang"),
                    ),
                ),
            ),
            f"on {MACHINE.name!r}: 1 case, 1 of them could not be measured",
            {"Grep, original": "no compiler; no clang"},
        ),
        (
            DistributedStudy(results=(program("mlp"),), failures={"conjugate-gradient": "wrong"}),
            "on 'n1', 'n2': 2 cases, 1 of them could not be measured",
            {"conjugate-gradient": "wrong"},
        ),
        (
            imaging(stage(), stage(name="fft", runtime_s=None, failure="no ducc0")),
            "on this host's CPUs: 2 cases, 1 of them could not be measured",
            {"fft, warm": "no ducc0"},
        ),
        (imaging(stage(), device="H200"), "on H200: 1 case", {}),
    ],
    ids=["kernels", "datacenter", "distributed", "imaging", "gpu"],
)  # fmt: skip
def test_every_study_tells_what_could_not_be_measured_and_can_be_kept(study, headline, unmeasured):
    """In its headline, in its table, and in the document that it is read back from."""
    shown = study.summary()

    assert study.headline == headline
    assert dict(study.unmeasured) == unmeasured
    assert all(part in shown for why in unmeasured.values() for part in why.split("; "))
    assert decode(encode(study), type(study), origin="there") == study


def test_documents_leave_out_what_does_not_apply():
    """No device where this host's CPUs imaged, and no failures where there were none."""
    assert "device" not in json.loads(encode(imaging(stage())))
    assert json.loads(encode(imaging(stage(), device="H200")))["device"] == "H200"
    assert "failures" not in json.loads(encode(DistributedStudy(results=())))


def test_a_study_of_another_suite_is_refused():
    """With what to give instead."""
    with pytest.raises(InvalidDocument, match=r"kind 'imaging'.*suite distributed -o"):
        decode(encode(imaging(stage())), DistributedStudy, origin="there")


def test_a_program_that_fails_stops_no_other(monkeypatch):
    """Each is run once, and the reason of the one that fails is kept."""

    def run_program(name, ranks, **options):
        if name == "mlp":
            raise NO_MEMORY
        return program(name)

    monkeypatch.setattr(running, "run_program", run_program)
    begun = []
    study = run_programs(["mlp", "scalar-product", "mlp"], 2, report=begun.append)

    assert begun == ["mlp", "scalar-product"]
    assert [run.program for run in study.results] == ["scalar-product"]
    assert study.failures == {"mlp": "cannot measure 'b': no memory; add some"}
