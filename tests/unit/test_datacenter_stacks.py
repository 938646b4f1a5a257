"""The datacenter workloads in Spark: what is compared, what is missing, what is not known."""

import json
from io import StringIO

import pytest
from figure_inputs import MACHINE
from rich.console import Console

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import TimedRegion
from ridgepoint.host.process import Answer
from ridgepoint.profiling.native_times import NativeTimes
from ridgepoint.show.tables.stack_table import stack_table
from ridgepoint.suites.datacenter import stacks
from ridgepoint.suites.datacenter.measuring import cases

CASE = next(case for case in cases(["grep"], size=1000) if case.step == "ILP")
TIMED = NativeTimes(
    regions=(
        TimedRegion(name="measured", runtime_s=Estimate([0.001] * 10), busy_s=None, entries=1),
    )
)


def answers(monkeypatch, matches=3, status=0, complaints=""):
    """Let the C++ program find 3 matches, and Spark so many, in 10 runs of 0.5 s."""
    asked = []
    runs = [{"seconds": 0.5}] * 10
    lines = [{"started_s": 4.0, "spark": "4.0.0", "java": "17.0.1"}, *runs]

    def ask(command, **options):
        asked.append(list(map(str, command)))
        if "spark_job.py" in " ".join(asked[-1]):
            said = "\n".join(map(json.dumps, [*lines, {"result": {"matches": matches}}]))
            return Answer(status=status, output=f"a warning\n{said}\n", complaints=complaints)
        return Answer(status=0, output=json.dumps({"matches": 3, "seconds": 1.0}), complaints="")

    monkeypatch.setattr(stacks, "ask", ask)
    monkeypatch.setattr(stacks, "native_times_in_turn", lambda commands, **options: [TIMED])
    return asked


def study(*results):
    """Return a study of these results, and what a terminal shows of it."""
    whole = stacks.StackStudy(machine=MACHINE, results=results)
    console = Console(width=160, file=StringIO())
    console.print(stack_table(whole))
    return whole, [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def test_the_same_results_in_a_five_hundredth_of_the_time(monkeypatch):
    """0.5 s in Spark, 1 ms in C++, both on the same file."""
    asked = answers(monkeypatch)
    (result,) = stacks.run_in_spark([CASE])
    whole, lines = study(result)

    assert result.gain.ratio == pytest.approx(500.0)
    assert (result.stack, result.started_s) == ("Spark 4.0.0 on Java 17.0.1", 4.0)
    assert whole.unmeasured == {}
    assert any(line.startswith("Grep 1 k bytes 1 ms 500 ms x 500") for line in lines)
    assert any(line.endswith("the same") for line in lines)
    assert any("BOPs in Spark are unknown" in line for line in lines)
    files = {words[words.index("--input") + 1] for words in asked}
    assert len(files) == 1


def test_results_that_differ_are_a_failure(monkeypatch):
    """Whoever is right: the times are not those of the same work."""
    answers(monkeypatch, matches=4)
    whole, lines = study(*stacks.run_in_spark([CASE]))

    assert whole.unmeasured == {"Grep": "its results differ in matches"}
    assert "Grep: its results differ in matches" in lines


def test_a_job_that_fails_is_quoted(monkeypatch):
    """By its last line, which names the exception."""
    answers(monkeypatch, status=1, complaints="Traceback\npyspark.errors: no such Java\n")
    (result,) = stacks.run_in_spark([CASE])

    assert "cannot run Grep in Spark: pyspark.errors: no such Java" in result.failure
    assert result.gain is None


def test_without_java_one_line_says_how_to_get_it(monkeypatch, tmp_path):
    """On the path, or where JAVA_HOME leads."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(CannotMeasure, match="there is no java; install a Java runtime"):
        stacks.require_spark()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CannotMeasure, match="there is no java in"):
        stacks.require_spark()


def test_without_pyspark_one_line_says_how_to_get_it(monkeypatch, tmp_path):
    """It is an optional requirement."""
    (tmp_path / "java").write_text("#!/bin/sh\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(stacks.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(CannotMeasure, match=r"ridgepoint\[spark\]"):
        stacks.require_spark()


def test_results_are_kept_and_read_back(monkeypatch):
    """As a document of their own kind."""
    answers(monkeypatch)
    whole, _ = study(*stacks.run_in_spark([CASE]))

    assert decode(encode(whole), stacks.StackStudy, origin="a test") == whole
    assert json.loads(encode(whole))["gains"]["Grep"]["ratio"] == pytest.approx(500.0)
