"""The command `suite`: what it lists, refuses, and shows of results that were kept."""

import json
from dataclasses import replace

import pytest
from figure_inputs import MACHINE
from suite_inputs import failed, result

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import Interrupted
from ridgepoint.core.geometry import parse_geometry
from ridgepoint.kept.durations import Took, keep
from ridgepoint.suites.kernels import find
from ridgepoint.suites.kernels.measuring import cases, pieces, run_suite
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
    *listed, took = out.splitlines()

    assert status == 0
    assert [line.split()[0] for line in listed] == [
        "workload", "dgemm.naive", "stream.copy", "stream.scale", "stream.add", "stream.triad",
    ]  # fmt: skip
    assert took.startswith("a run of ")


def test_a_list_says_how_long_a_run_takes(cli, tmp_path):
    """As the same cases took when they ran last: 30 s each."""
    archive = tmp_path / "kept.sqlite3"
    own = pieces(cases([find("dgemm.naive")], states=["cold", "warm"], threads=[1]))
    keep({p.key: Took(seconds=30.0, kind=p.kind, size=p.size) for p in own}, archive)
    _, out, _ = cli("suite", "--list", "dgemm.naive", "--archive", archive)

    # Three sizes, cold and warm, and beginning to count.
    assert out.splitlines()[-1] == "a run of 6 cases of quick sizes: about 3.5 min"


def test_a_run_says_before_it_begins_how_long_it_takes(suite_here):
    """On standard error, since standard output is for results."""
    _, out, err = suite_here("daxpy.llvm", "--threads", 1, results=())

    assert "ridgepoint: 6 cases: " in err
    assert "6 cases: " not in out


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
        (("fft.radix2", "--size", "100"), "fft.radix2 has no size 100: n must be a power of two"),
        (("dgemm.naive", "--size", "nan"), "'nan' is not a whole number > 0"),
        (("dgemm.naive", "--size", "100", "--full"), "give sizes or --full, not both"),
        (("--cache", "l1=3"), "'l1=3' does not describe a cache"),
        (("--machine", "nowhere"), "cannot find 'nowhere'"),
        (("--repeat", "0"), "0 is not in the range"),
        (("--limit", "nan"), "'nan' is not finite"),
        (("--from", "x.json", "--size", "3"), "it cannot be combined with --size"),
        (("--from", "x.json", "dgemm"), "it cannot be combined with names"),
        (("--figures", "x", "--caches", "warm"), "it cannot be combined with --caches"),
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


@pytest.fixture
def suite_here(cli, tmp_path, monkeypatch):
    """Run the command on a machine that is not measured; cases answer as a test says."""
    monkeypatch.setattr("ridgepoint.cli.common.machine_of_this_host", lambda *_: (1, MACHINE))

    def run(*arguments, results):
        def answer(cases, **asked):
            run.cases, run.asked = cases, asked
            return results

        monkeypatch.setattr("ridgepoint.suites.kernels.measuring.run_suite", answer)
        return cli("suite", *arguments, "--archive", tmp_path / "archive.sqlite3")

    return run


def test_a_case_that_could_not_be_measured_is_no_success(suite_here):
    """As in the other suites; the others are shown all the same."""
    status, out, _ = suite_here("daxpy.llvm", results=RUN.results)

    assert status == 2
    assert "daxpy.llvm n = 10, cold, 1 thread: no memory" in out
    assert suite_here("daxpy.llvm", results=RUN.results[:1])[0] == 0


def test_work_counted_wrongly_counts_more_than_a_case_that_is_missing(suite_here):
    """With --validate the status is that of the check."""
    assert suite_here("daxpy.llvm", "--validate", results=RUN.results)[0] == 1


def test_sizes_samples_and_time_are_as_asked(suite_here):
    """Each size once, in ascending order; advice names the options of the command."""
    suite_here(
        "daxpy.llvm", "--size", "300,100", "--size", "300", "--repeat", 7, "--limit", 2.5,
        "--caches", "warm", "--threads", 1, results=(),
    )  # fmt: skip

    assert [(case.n, case.state) for case in suite_here.cases] == [(100, "warm"), (300, "warm")]
    assert (suite_here.asked["repetitions"], suite_here.asked["limit_s"]) == (7, 2.5)
    assert suite_here.asked["knobs"].samples == "--repeat, --limit"


def test_given_caches_are_simulated_and_choose_the_sizes(suite_here):
    """From a matrix that a sixteenth of the last one holds to one of twice its size."""
    suite_here("dgemm.naive", "--cache", "l1=32k:8,l2=256k:8", "--caches", "cold", results=())
    caches = suite_here.asked["caches"]

    assert [(c.level, c.size_bytes) for c in caches if c.kind != "instruction"] == [
        (1, 32768), (2, 262144),
    ]  # fmt: skip
    assert [case.n for case in suite_here.cases] == [40, 88, 152, 216, 280]


def test_another_machine_gives_its_caches_and_its_roofs(suite_here, tmp_path):
    """Of a published machine without caches those of this host are simulated, and that is said."""
    file = tmp_path / "other.json"
    other = replace(MACHINE, name="other", caches=parse_geometry("l1=16k:4,l2=128k:8"))
    file.write_bytes(encode(other))
    _, out, _ = suite_here("stream.add", "--machine", file, "--json", results=())

    assert json.loads(out)["machine"]["name"] == "other"
    assert suite_here.asked["caches"][:2] == other.caches
    assert (
        "csb does not describe its caches"
        in suite_here("stream.add", "--machine", "csb", results=())[2]
    )


def test_kept_results_are_bounded_by_another_machine(cli, kept):
    """Its roofs are drawn, nothing is measured."""
    _, out, _ = cli("suite", "--from", kept, "--machine", "csb", "--json")

    assert json.loads(out)["machine"]["name"] == "csb"


@pytest.mark.slow
def test_the_naive_product_falls_once_a_matrix_no_longer_fits(cli):
    """Ofenbeck et al., Fig. 4: n/16 while the data fit, 0.25 flop/byte when they do not."""
    status, out, _ = cli(
        "suite", "dgemm.naive", "--caches", "cold", "--cache", "l1=8k:8,l2=64k:8",
        "--size", "56,152", "--repeat", 3, "--json",
    )  # fmt: skip
    study = decode(out.encode(), KernelStudy, origin="here")
    intensities = [placed.intensity_flop_per_byte for _, _, placed in study.placed]

    assert status == 0
    assert intensities == [pytest.approx(56 / 16, rel=0.1), pytest.approx(0.25, rel=0.05)]


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
