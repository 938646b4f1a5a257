"""The datacenter workloads in another software stack, PySpark, beside the C++ programs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ridgepoint.core.documents import document_kind
from ridgepoint.core.errors import CannotMeasure, RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.host import System
from ridgepoint.host.process import ask
from ridgepoint.meters import Selection
from ridgepoint.models.gains import Gain, gain
from ridgepoint.profiling.in_turn import native_times_in_turn
from ridgepoint.suites.datacenter.inputs import in_files
from ridgepoint.suites.datacenter.programs import REGION
from ridgepoint.suites.datacenter.results import DatacenterCase
from ridgepoint.suites.datacenter.running import command
from ridgepoint.suites.study import MachineStudy, attempt

IN_SPARK = ("sort", "grep", "wordcount")
"""Workloads whose results are the same whatever computes them."""

_SCRIPT = Path(__file__).with_name("spark_job.py")
_RUNS, _BUDGET_S = 10, 30.0
_SHARE_OF_MEMORY = 0.5
_PATTERN = "beba"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackResult:
    """A workload in C++ and in another stack, on the same data.

    Parameters
    ----------
    case : DatacenterCase
        The C++ program, as optimised by the compiler.
    own_s : Estimate or None
        Time of its measured part.
    stack : str or None
        The stack, with its versions.
    started_s : float or None
        Time in which the stack started, which is in no other time.
    stack_s : Estimate or None
        Time of the same work there, after a first run.
    differing : tuple of str
        Results that are not the same in both.
    failure : str or None
        Why one of them could not be run.
    """

    case: DatacenterCase
    own_s: Estimate | None = None
    stack: str | None = None
    started_s: float | None = None
    stack_s: Estimate | None = None
    differing: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def gain(self) -> Gain | None:
        """How many times as fast as the stack the C++ program is."""
        return gain(self.stack_s, self.own_s)


@document_kind(
    "datacenter-stack",
    remedy="give a file written by 'ridgepoint suite datacenter --stack spark -o FILE.json'",
    derived=("gains",),
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StackStudy(MachineStudy):
    """The results of several workloads.

    Parameters
    ----------
    machine : Machine
    results : tuple of StackResult
    """

    machine: Machine
    results: tuple[StackResult, ...]

    @property
    def gains(self) -> dict[str, Gain | None]:
        """How many times as fast as the stack each C++ program is."""
        return {result.case.title: result.gain for result in self.results}

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why cases could not be measured, or what differs."""
        return {
            result.case.title: result.failure
            or f"its results differ in {', '.join(result.differing)}"
            for result in self.results
            if result.failure or result.differing
        }


def require_spark() -> None:
    """Check that PySpark and a Java runtime are there.

    Raises
    ------
    CannotMeasure
        If one of them is missing.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if home is None else shutil.which(str(Path(home, "bin", "java")))
    if java is None:
        raise CannotMeasure(
            "cannot run the workloads in Spark",
            reason="there is no java" if home is None else f"there is no java in {home!r}",
            remedy="install a Java runtime, such as Debian's default-jre-headless, or name its "
            "folder in JAVA_HOME",
        )
    if importlib.util.find_spec("pyspark") is None:
        raise CannotMeasure(
            "cannot run the workloads in Spark",
            reason=f"there is no PySpark for {sys.executable}",
            remedy="pip install 'ridgepoint[spark]'",
        )


def run_in_spark(
    chosen: Sequence[DatacenterCase], *, report: Callable[[str], None] = lambda what: None
) -> tuple[StackResult, ...]:
    """Run workloads in C++ and in Spark on the same file, and compare their results.

    Parameters
    ----------
    chosen : sequence of DatacenterCase
        Cases of workloads in `IN_SPARK`; those as optimised by the compiler are run.
    report : callable
        Called with a description of each step as it begins.
    """
    results = []
    for case in chosen:
        if case.step == "ILP":
            found = attempt(lambda case: _result(case, report), case)
            results.append(
                StackResult(case=case, failure=str(found))
                if isinstance(found, RidgepointError)
                else found
            )
    return tuple(results)


def _result(case: DatacenterCase, report: Callable[[str], None]) -> StackResult:
    with in_files(case, report, always=True) as (own, _):
        assert own.data is not None  # always
        pattern = case.pattern or _PATTERN
        words = command(
            case.workload,
            variant=case.variant,
            input=own.data,
            threads=case.threads,
            options=("--pattern", pattern) if case.workload == "grep" else (),
        )
        report(f"timing {case.title} in C++")
        (times,) = native_times_in_turn(
            [words], selection=Selection(kind="region", name=REGION, all_threads=case.threads > 1)
        )
        if isinstance(times, RidgepointError):
            raise times
        expected = _lines(ask(words).output)[-1]
        report(f"timing {case.title} in Spark")
        begun, *runs, end = _in_spark(case, own.data, pattern)
    result = end["result"]
    return StackResult(
        case=case,
        own_s=next((one.runtime_s for one in times.regions if one.name == REGION), None),
        stack=f"Spark {begun['spark']} on Java {begun['java']}",
        started_s=begun["started_s"],
        stack_s=Estimate(run["seconds"] for run in runs),
        differing=tuple(name for name, value in result.items() if expected[name] != value),
    )


def _in_spark(case: DatacenterCase, data: str, pattern: str) -> list[dict[str, Any]]:
    """Return what the job prints: its start, its runs, its results."""
    available = System().available_bytes or (2 << 30)
    answer = ask(
        [
            *(sys.executable, str(_SCRIPT), case.workload, "--input", data),
            *("--bytes", str(Path(data).stat().st_size), "--threads", str(case.threads)),
            *("--memory-mib", str(max(int(_SHARE_OF_MEMORY * available) >> 20, 512))),
            *("--repeat", str(_RUNS), "--limit-s", str(_BUDGET_S)),
            f"--pattern={pattern}",
        ],
        environment={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    if answer.status:
        said = [line for line in answer.complaints.splitlines() if line.strip()]
        raise CannotMeasure(
            f"cannot run {case.title} in Spark",
            reason=said[-1].strip() if said else f"it ended with status {answer.status}",
            remedy="check that this PySpark supports this Java, and that memory and disk suffice",
        )
    return _lines(answer.output)


def _lines(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]
