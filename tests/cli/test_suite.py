"""The command `suite`: what it lists, refuses, and shows of results that were kept."""

import json

import pytest
from figure_inputs import MACHINE
from suite_inputs import failed, result

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import Interrupted
from ridgepoint.suites.kernels import find
from ridgepoint.suites.kernels.measuring import cases, run_suite
from ridgepoint.suites.kernels.results import KernelStudy

RUN = KernelStudy(machine=MACHINE, results=(result("daxpy.llvm"), failed("daxpy.llvm", 10)))


@pytest.fixture
def kept(tmp_path):
    """Return a file of results."""
    path = tmp_path / "results.json"
    path.write_bytes(encode(RUN))
    return path


def test_workloads_are_listed_with_what_is_missing(cli):
    """A family, or all of them."""
    status, out, _ = cli("suite", "--list", "dgemm.naive", "stream")

    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        "workload", "dgemm.naive", "stream.copy", "stream.scale", "stream.add", "stream.triad",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [("suite",), ("suite", "kernels")])
def test_kept_results_are_shown_without_measuring(cli, kept, words):
    """A row for what was measured, a line for what could not be; the kernels are the default."""
    status, out, _ = cli(*words, "--from", kept)

    assert status == 0
    assert "daxpy.llvm" in out.splitlines()[1]
    assert "daxpy.llvm n = 10, cold, 1 thread: no memory" in out


def test_kept_results_are_written_as_they_were(cli, kept, tmp_path):
    """As JSON on standard output, and to a file."""
    status, out, _ = cli("suite", "--from", kept, "--json", "-o", tmp_path / "again.json")

    assert status == 0
    assert json.loads(out)["kind"] == "suite"
    assert decode((tmp_path / "again.json").read_bytes(), KernelStudy, origin="there") == RUN


def test_work_that_was_not_counted_fails_the_validation(cli, kept):
    """One of two hand-written cases has none."""
    status, out, _ = cli("suite", "--from", kept, "--validate")

    assert status == 1
    assert "measured / expected" in out


def test_figures_are_drawn_again_and_say_which_are_missing(cli, kept, tmp_path):
    """Of one daxpy there is one figure, with the results beside it."""
    folder = tmp_path / "new" / "figures"
    status, _, err = cli("suite", "--from", kept, "--figures", folder)

    assert status == 0
    assert "figure 5a is not drawn" in err
    assert decode((folder / "results.json").read_bytes(), KernelStudy, origin="there") == RUN


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dgem",), "there is no workload of that name; choose one of"),
        (("--threads", "100000"), "CPUs may be used"),
        (("--from", "/nowhere/results.json"), "cannot read '/nowhere/results.json'"),
        (("--from", "/dev/null"), "give a file written by 'ridgepoint suite"),
        (("--caches", "tepid"), "is not one of"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(cli, arguments, said):
    """Before anything is measured."""
    status, out, err = cli("suite", *arguments)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.valgrind
@pytest.mark.slow
def test_a_real_run_counts_what_is_known(cli):
    """W exactly, and all traffic within 5 %, of one that is compiled here."""
    status, out, _ = cli("suite", "stream.triad", "--caches", "cold", "--validate", "--threads", 1)

    assert status == 0
    assert "1.000 (1.000)" in out


def test_a_request_to_stop_ends_the_suite(cli, monkeypatch):
    """It is none of the failures that stop no other case."""

    def stop(*_, **__):
        raise Interrupted("cannot go on: SIGTERM asks to stop")

    def run(*_, **__):
        run_suite(cases([find("daxpy.llvm")], states=["warm"], threads=[1]))

    monkeypatch.setattr("ridgepoint.suites.kernels.measuring.pack", stop)
    monkeypatch.setattr("ridgepoint.cli.doctor.command.callback", run)
    status, out, err = cli("doctor")

    assert (status, out) == (143, "")
    assert err.strip() == (
        "ridgepoint: cannot go on: SIGTERM asks to stop: "
        "results that were already kept stay kept; run the command again for the rest"
    )
