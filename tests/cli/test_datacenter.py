"""The command `suite datacenter`: what it lists, shows and refuses without measuring."""

import json

import pytest
from figure_inputs import MACHINE

from ridgepoint.cli.suite.datacenter import _pieces
from ridgepoint.core.documents import encode
from ridgepoint.core.errors import RidgepointError
from ridgepoint.suites.datacenter.measuring import cases
from ridgepoint.suites.datacenter.results import DatacenterResult, DatacenterStudy


@pytest.fixture
def nothing_long(monkeypatch):
    """Fail if the machine is measured, which takes minutes, or a workload."""

    def begin(*arguments, **options):
        raise AssertionError("it began")

    monkeypatch.setattr("ridgepoint.cli.common.machine_of_this_host", begin)
    monkeypatch.setattr("ridgepoint.suites.datacenter.measuring.run_datacenter", begin)


@pytest.fixture
def failing(monkeypatch):
    """Let no case be measured."""
    (case, *_) = cases(["grep"])
    result = DatacenterResult(
        case=case, measurement=None, source=None, failures=("cannot build the workload 'grep'",)
    )
    monkeypatch.setattr(
        "ridgepoint.cli.common.machine_of_this_host", lambda *_, **options: (1, MACHINE)
    )
    monkeypatch.setattr(
        "ridgepoint.suites.datacenter.measuring.run_datacenter", lambda chosen, **options: (result,)
    )
    return result


def test_workloads_are_listed_with_their_steps(cli):
    """In the order of the paper's tables."""
    status, out, _ = cli("suite", "datacenter", "sort", "lu", "--list")
    rows = [line for line in out.splitlines()[1:] if not line.startswith(" ")]

    assert status == 0
    assert [row.split()[0] for row in rows[:-1]] == ["sort", "lu"]
    assert rows[-1].startswith("a run of these: ")
    assert "original, ILP, prefetch" in rows[0]


def test_published_tables_are_recomputed(cli):
    """Of the paper, without measuring anything."""
    status, out, _ = cli("suite", "datacenter", "--published")

    assert status == 0
    assert "Table 12" in out
    assert "15.84 GBOP/s" in out


def test_published_tables_are_kept_and_drawn_as_results_are(cli, tmp_path):
    """As a document, of some workloads alone, and as the paper's figure."""
    status, out, _ = cli(
        *("suite", "datacenter", "--published", "sort", "--json"),
        *("-o", tmp_path / "kept.json", "--figures", tmp_path / "figures"),
    )
    printed = json.loads(out)

    assert status == 0
    assert printed == json.loads((tmp_path / "kept.json").read_text())
    assert printed["kind"] == "recomputed"
    assert [table["number"] for table in printed["tables"]] == [
        "2",
        "3",
        "7",
        "12",
        "13",
        "14",
        "15",
    ]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "dc_roofline.svg",
        "results.json",
    ]


def test_published_workloads_without_a_place_are_not_drawn(cli, tmp_path):
    """The paper's Table 3 has no Stream, and a line says so."""
    status, _, err = cli("suite", "datacenter", "--published", "stream", "--figures", tmp_path)

    assert status == 0
    assert "no figure is drawn" in err


@pytest.mark.parametrize(
    "option", [("--threads", "1"), ("--full",), ("--list",), ("--from", "kept.json")]
)
def test_published_tables_are_not_measured(cli, option):
    """Options that say how, or what to show instead, are refused and not ignored."""
    status, out, err = cli("suite", "datacenter", "--published", *option)

    assert (status, out) == (2, "")
    assert f"{option[0]} cannot be combined with --published" in err


def test_kept_results_are_shown(cli, tmp_path):
    """From a file that holds none of a suite of kernels."""
    kept = tmp_path / "kept.json"
    kept.write_bytes(encode(DatacenterStudy(machine=MACHINE, results=())))

    assert cli("suite", "datacenter", "--from", kept)[0] == 0
    status, _, err = cli("suite", "--from", kept)
    assert status == 2
    assert "kind 'datacenter'" in err


def test_hosts_are_shown_side_by_side(cli, tmp_path, failing):
    """A file for each; one that is there twice, or has nothing of what is asked for, is refused."""
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path in paths:
        path.write_bytes(encode(DatacenterStudy(machine=MACHINE, results=(failing,))))
    both = ("--from", paths[0], "--from", paths[1])
    status, out, _ = cli("suite", "datacenter", *both, "-o", tmp_path / "hosts.json")

    assert status == 0
    assert out.splitlines()[0].startswith("a: ")
    assert json.loads((tmp_path / "hosts.json").read_text())["kind"] == "datacenter-hosts"
    for wrong, said in (
        ((*both, "--from", paths[1]), "b' again; give each file once"),
        ((*both, "sort"), "holds no results of sort"),
        ((*both, "--full"), "--full cannot be combined with --from"),
    ):
        status, out, err = cli("suite", "datacenter", *wrong)
        assert (status, out) == (2, "")
        assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("datacenter", "quicksort"), "there is no 'quicksort'; there are sort, grep"),
        (("datacenter", "--validate"), "--validate"),
        (("datacenter", "--caches", "warm"), "--caches"),
        (("datacenter", "--meter", "perf"), "--meter"),
        (("--published",), "--published"),
        (("--list", "datacenter"), "'ridgepoint suite datacenter --list'"),
        (("datacenter", "--threads", "100000"), "CPUs may be used"),
        (("datacenter", "--size", "1e9"), "sizes count different things"),
        (("datacenter", "grep", "--size", "nan"), "is not a whole number of bytes"),
        (("datacenter", "grep", "--size", "1.5"), "is not a whole number of bytes"),
        (("datacenter", "grep", "--size", "15 parsec"), "write it like 15GB"),
        (("datacenter", "sort", "--size", "15GB"), "the size counts records"),
        (("datacenter", "grep", "--size", "1M", "--full"), "cannot be combined"),
        (("datacenter", "grep", "--data", "/nonexistent"), "does not exist"),
        (("datacenter", "lu", "--data", "/etc/passwd"), "lu reads no data"),
        (("datacenter", "grep", "sort", "--data", "/etc/passwd"), "data are different things"),
        (("datacenter", "bayes", "--stack", "spark"), "bayes has no program in Spark"),
        (("datacenter", "--stack", "spark", "--figures", "x"), "--figures cannot be combined"),
        (("datacenter", "--stack", "hadoop"), "'hadoop' is not one of"),
        (("datacenter", "sort", "--pattern", "x"), "--pattern applies to grep alone"),
    ],
)
def test_wrong_use_is_one_line(cli, arguments, said):
    """And status 2."""
    status, _, err = cli("suite", *arguments)

    assert status == 2
    assert said in err


@pytest.mark.usefixtures("nothing_long")
def test_without_a_compiler_nothing_long_begins(cli, monkeypatch, tmp_path):
    """One line that names some."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    status, out, err = cli("suite", "datacenter", "grep")

    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "there is no C++ compiler; install g++" in err


@pytest.mark.usefixtures("nothing_long")
@pytest.mark.parametrize(
    ("option", "said"),
    [("-o", "there is no folder"), ("--figures", "cannot create the folder")],
)
def test_a_place_that_cannot_be_written_to_is_refused_before_anything_long(cli, option, said):
    """And not after minutes of measuring, which would be lost."""
    status, _, err = cli("suite", "datacenter", option, cli.machine / "results.json")

    assert status == 2
    assert said in err


def test_what_could_not_be_measured_is_a_status(cli, failing, tmp_path):
    """The tables say why; what is shown of a file later is no failure."""
    kept = tmp_path / "kept.json"
    status, out, _ = cli("suite", "datacenter", "grep", "-o", kept)

    assert status == 2
    assert failing.failures[0] in out
    assert cli("suite", "datacenter", "--from", kept)[0] == 0


@pytest.mark.usefixtures("failing")
def test_results_that_cannot_be_written_are_shown_all_the_same(cli, monkeypatch, tmp_path):
    """A disk that was full at the end costs the file alone."""

    def refuse(run, path):
        raise RidgepointError("cannot write it", reason="no space left", remedy="make room")

    monkeypatch.setattr("ridgepoint.cli.suite.results.write", refuse)
    status, out, err = cli("suite", "datacenter", "grep", "-o", tmp_path / "kept.json")

    assert status == 2
    assert "cannot build the workload" in out
    assert "no space left" in err


def test_what_is_counted_in_parts_is_expected_to_take_as_long_as_such_did():
    """60 million records are no 600 times as long as 100 thousand that are counted whole."""
    (small,), (large,), (larger,) = (
        _pieces(cases(["sort"], size=size)) for size in (10**5, 10**8, 10**9)
    )

    assert small.kind != large.kind
    assert large.kind == larger.kind
