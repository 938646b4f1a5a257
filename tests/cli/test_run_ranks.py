"""``ridgepoint run --mpi``, with a scripted launcher."""

import json
import re
from dataclasses import replace

import pytest
from cluster_inputs import CLUSTER
from core_inputs import ceiling, machine_of
from rank_inputs import ScriptedRunner, report_of, timed_run

from ridgepoint.core.documents import encode
from ridgepoint.kept.archive import Archive


@pytest.fixture
def runner(monkeypatch):
    """Put a scripted launcher in the place of mpirun."""
    scripted = ScriptedRunner(timed_run())
    monkeypatch.setattr("ridgepoint.cluster.jobs.Jobs", lambda launcher: scripted)
    monkeypatch.setattr("ridgepoint.cluster.launcher.find_launcher", lambda *_, **__: None)
    return scripted


@pytest.fixture
def node(tmp_path):
    """Return the file of a node: 4 Gflop/s, 2 GB/s of memory, 10 kB/s of network."""
    path = tmp_path / "node.json"
    machine = machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9), ceiling("network", 1e4))
    path.write_bytes(encode(machine))
    return path


def run(cli, node, *arguments):
    """Measure ``true`` on three ranks."""
    options = ("--mpi", "3", "--repeat", "2", "--machine", node, *arguments)
    return cli("run", *options, "--", "true")


def test_what_is_shown_is_kept_and_listed(cli, node, runner):
    """The table at once, and again by show; one record of the whole."""
    status, out, err = run(cli, node)

    assert status == 0
    assert "3 ranks on 2 nodes" in err
    assert "kept as 2" in err
    assert "3 ranks on 2 nodes" in cli("show", "2")[1]
    assert "mpirun -n 3" in cli("list")[1]
    assert out == ""


def test_json_is_the_whole_and_every_rank(cli, node, runner):
    """On standard output; the program's own output goes elsewhere."""
    _, out, _ = run(cli, node, "--json")
    document = json.loads(out)

    assert document["work_flop"] == 6_000_000_000
    assert document["distributed"]["limit"] == "load imbalance"
    assert document["bound"]["machine"] == "2 x test bench"
    assert [task.output for task in runner.tasks] == [
        "discard",
        "stderr",
        "discard",
        "discard",
        "discard",
    ]
    assert json.loads(cli("show", "2", "--json")[1]) == document


def test_the_figure_is_the_ridgeline_where_the_machine_has_a_network(cli, node, runner, tmp_path):
    """Else the roofline, and it is said why."""
    _, _, err = run(cli, node, "-o", tmp_path / "with.svg")
    _, _, without = run(cli, cli.machine, "-o", tmp_path / "without.svg")

    assert "Ridgeline" in (tmp_path / "with.svg").read_text()
    assert "roofline is drawn" not in err
    assert "Ridgeline" not in (tmp_path / "without.svg").read_text()
    assert "has no network ceiling (network), so the roofline is drawn" in without


def test_a_kept_cluster_of_these_hosts_bounds_without_being_named(cli, runner):
    """The last one that has all of them: 11 MB/s of network; one of other hosts is passed over."""
    own = replace(CLUSTER, name="a and b", nodes=tuple(
        replace(node, host=host) for node, host in zip(CLUSTER.nodes, "abc", strict=True)
    ))  # fmt: skip
    with Archive(cli.archive) as archive:
        number = archive.keep_cluster(own)
        archive.keep_cluster(CLUSTER)

    status, out, err = cli("run", "--mpi", "3", "--repeat", "2", "--json", "--", "true")
    assert status == 0, err
    assert json.loads(out)["distributed"]["network_s"] is not None
    with Archive(cli.archive) as archive:
        assert archive.records("measurement")[-1].machine_id == number


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mpi", "0"), "x>=1"),
        (("--mpi", "-3"), "x>=1"),
        (("--mpi", "many"), "not a valid integer"),
        (("--mpi", "2", "--functions"), "--functions cannot be used"),
        (("--mpi", "2", "--region", "a"), "--region cannot be used"),
        (("--mpi", "2", "--what-if", "l1=32k:8"), "--what-if cannot be used"),
        (("--mpi", "2", "--meter", "both"), "by engine, native or perf"),
        (("--mpi", "2", "--meter", "perf", "--no-traffic"), "do not simulate caches"),
        (("--launcher", "mpirun -n {ranks}"), "needs the number of ranks"),
        (("--mpi", "2", "--launcher", "mpirun"), "where the number of ranks belongs"),
        (("--mpi", "2", "--launcher", "no-such {ranks}"), "there is no 'no-such'"),
        (("--mpi", "2", "-o", "figure.gif"), "does not name a format"),
    ],
)
def test_wrong_uses_are_one_line_and_nothing_is_run(cli, arguments, message):
    """What is wrong, and what to do."""
    status, _, err = cli("run", *arguments, "--", "true")

    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert not cli.archive.exists()


def test_what_was_kept_stays_when_a_host_lacks_something(cli, node, runner):
    """Nothing is kept of what was not measured."""
    run(cli, node)
    runner._prepared = tuple(
        report_of(rank, lacks_meter=("there is no valgrind", "install it")) for rank in range(3)
    )
    status, _, err = run(cli, node)

    assert status == 2
    assert "engine on a: there is no valgrind; install it" in err
    assert "No results are kept" not in cli("list")[1]
    assert len(json.loads(cli("list", "--json")[1])["records"]) == 2


@pytest.mark.usefixtures("runner")
def test_kept_programs_are_points_of_the_ridgeline(cli, node):
    """Each node of each record, on the first one's machine or another; what it took is said."""
    for _ in range(2):
        run(cli, node)
    cli("name", "2", "first")
    status, out, err = cli("ridgeline", "--record", "first", "--record", "3", "--json")
    shown = json.loads(out)
    _, text, _ = cli("ridgeline", "--record", "3", "--machine", node, "--network", "100B/s")

    assert (status, err) == (0, "")
    assert [point["name"] for point in shown["points"]] == [
        "first a", "first b", "record 3 a", "record 3 b",
    ]  # fmt: skip
    assert shown["machines"][0]["name"] == "test bench"
    assert shown["points"][0]["work"] == 3e9
    assert (shown["points"][0]["runtime_s"], shown["points"][0]["efficiency"]) == (2.0, 0.375)
    assert re.search(r"^record 3 a .* 2 s +2000 %$", text, re.M)


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--record", "9"], "record 9"),
        (["--record", "nothing"], "nothing"),
        (["--record", "1"], "no such measurement"),
        (["--record", "2", "--record", "2"], "twice"),
        (["--record", "2", "--batch", "5"], "--batch applies to training steps"),
        (["--record", "2", "--sweep"], "--sweep applies to training steps"),
        (["--record", "2", "--point", "a=1,1,1"], "cannot be combined with --record"),
        (["--record", "2", "--precision", "fp32"], "cannot be combined with --record"),
        (["--record", "2", "--machine", "cascade-lake"], "no ceiling of fp64"),
    ],
)
def test_records_that_have_no_place_are_refused(cli, node, arguments, words):
    """In one line, with what to do."""
    run(cli, node)
    status, out, err = cli("ridgeline", *arguments)

    assert (status, out) == (2, "")
    assert words in err.splitlines()[-1]
