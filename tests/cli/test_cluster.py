"""Measured clusters on the command line: listed, shown, drawn from, and standing for machines."""

import json
import sys
from dataclasses import replace

import pytest
from cluster_inputs import CLUSTER
from core_inputs import ceiling

from ridgepoint.core.documents import decode, encode
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.kept.archive import Archive


@pytest.fixture
def kept(cli):
    """Keep a cluster whose slowest node computes 10 Gflop/s in fp32 too; return its number."""
    node = CLUSTER.slowest_node
    able = replace(node, ceilings=(*node.ceilings, ceiling("fp32", 20e9)))
    with Archive(cli.archive) as archive:
        return archive.keep_cluster(replace(CLUSTER, slowest_node=able))


def test_a_cluster_is_listed_as_one(cli, kept):
    """With its nodes' names."""
    status, out, _ = cli("list")

    assert status == 0
    assert "cluster" in out
    assert "ada and 2 more" in out


def test_a_cluster_is_shown_by_its_number_and_by_its_file(cli, kept):
    """The same either way."""
    path = cli.folder / "cluster.json"
    _, document, _ = cli("show", kept, "--json")
    path.write_text(document)

    status, by_number, _ = cli("show", kept)
    assert status == 0
    assert by_number.startswith("ada and 2 more: 3 nodes, 6 ranks")
    assert cli("show", path)[:2] == (0, by_number)
    assert cli("show")[:2] == (0, by_number)
    assert json.loads(document)["kind"] == "cluster"
    with Archive(cli.archive) as archive:
        assert decode(document, MeasuredCluster, origin="a test") == archive.cluster(kept)


def test_a_damaged_file_of_a_cluster_is_refused_by_name(cli):
    """One line, with the field."""
    path = cli.folder / "cluster.json"
    path.write_bytes(encode(CLUSTER).replace(b'"ranks":2', b'"ranks":"two"', 1))

    status, _, err = cli("show", path)
    assert status == 2
    assert "as a cluster" in err
    assert "ranks" in err
    assert len(err.splitlines()) == 1


def test_a_cluster_has_no_kind_of_work(cli, kept):
    """It has ceilings of all."""
    status, _, err = cli("show", kept, "--work", "bops")

    assert status == 2
    assert "shown with all its ceilings" in err


@pytest.mark.parametrize("command", ["ridgeline", "scale"])
def test_a_cluster_stands_for_its_slowest_node(cli, kept, command):
    """Its link is the slowest one's 11 MB/s: all pairs had too small messages to say more."""
    words = {
        "ridgeline": ["ridgeline", "--batch", "1,64"],
        "scale": ["scale", "linpack", "--size", "1000"],
    }[command]

    status, out, err = cli(*words, "--machine", kept)
    assert status == 0, err
    assert "11 MB/s" in out


@pytest.mark.parametrize(
    ("words", "latency_s"),
    [([], 20e-6), (["--latency", "ping-pong"], 20e-6), (["--latency", "stream"], 10e-6),
     (["--latency", "3us"], 3e-6)],
)  # fmt: skip
def test_scaling_counts_the_latency_of_a_cluster(cli, kept, words, latency_s):
    """That of a message that waits, that of many under way, or another: by number and by file."""
    path = cli.folder / "cluster.json"
    path.write_text(cli("show", kept, "--json")[1])
    for machine in (kept, path):
        asked = ("scale", "linpack", "--size", "1000", "--machine", machine, "--json", *words)
        status, out, err = cli(*asked)

        assert status == 0, err
        assert json.loads(out)["latency_s"] == pytest.approx(latency_s)


def test_runs_plots_and_pipelines_are_bounded_by_its_slowest_node(cli, kept, meter):
    """Its name is in each."""
    example = cli.folder / "imaging.toml"
    example.write_text(cli("pipeline", "--example")[1])

    done = cli("run", "--machine", kept, "--repeat", 1, "--", "true")
    plotted, piped = (cli(*words, "--machine", kept) for words in (["plot"], ["pipeline", example]))

    assert "attainable    5 Gflop/s on 1 core of none, ada and 2 more" in done[2]
    assert "ada and 2 more" in plotted[1], plotted[2]
    assert "ada and 2 more" in piped[1], piped[2]


@pytest.mark.parametrize("command", ["ridgeline", "plot"])
def test_a_number_that_is_not_kept_is_refused(cli, command):
    """As everywhere."""
    if command == "plot":
        cli.run("--", "true")
    status, _, err = cli(command, "--machine", "77")

    assert status == 2
    assert "cannot find" in err
    assert "77" in err


def test_a_rank_that_mpi_does_not_know_refuses_to_measure_alone(cli, monkeypatch):
    """A launcher says two processes; without mpi4py nobody can be found."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setitem(sys.modules, "mpi4py", None)

    status, _, err = cli("machine", "--quick")
    assert status == 2
    assert "cannot use MPI: mpi4py does not work here" in err


def test_the_terminal_of_a_rank_is_none(cli, kept, monkeypatch):
    """A launcher makes one, and writes to a file what comes out of it."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, on_terminal, _ = cli("list")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    _, of_rank, _ = cli("list")

    assert "\x1b[" in on_terminal
    assert "\x1b[" not in of_rank
