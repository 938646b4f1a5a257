"""The table of ranks and nodes: what it says, and what it says where nothing is known."""

import io

import pytest
from core_inputs import ceiling, machine_of
from rank_inputs import ScriptedRunner, report_of, timed_run
from rich.console import Console

from ridgepoint.cluster.driver import DistributedProgram, Plan
from ridgepoint.core.ranks import Call, Distributed, Rank, RankNode, imbalance
from ridgepoint.models.analysis import analyse, place
from ridgepoint.models.derived import nodes_together
from ridgepoint.show.report import report
from ridgepoint.show.tables.rank_table import ranks

NODE = machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9), ceiling("network", 1e4))


def measure(*runs, **options):
    """Measure ``./prog`` on three ranks of two hosts."""
    runner = ScriptedRunner(*runs)
    return DistributedProgram(Plan(command=("./prog",), repeat=1, **options), runner).measure()


def text_of(measurement, machine=None):
    """Return the table as lines whose blanks are one."""
    out = io.StringIO()
    Console(file=out, width=300).print(ranks(analyse(measurement, machine)))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_the_table_says_least_median_most_and_imbalance():
    """Outside MPI are 1.5, 1 and 0.5 s: the most is 1.5 times the mean."""
    said = text_of(measure(timed_run()), nodes_together(NODE, 2))

    assert "T runtime 2 s 2 s 2 s 1.00" in said
    assert "outside MPI 500 ms 1 s 1.5 s 1.50 rank 0, a" in said
    assert "in MPI 500 ms 1 s 1.5 s 1.50 rank 2, b" in said
    assert "collective 375 ms 750 ms 1.125 s 1.50 rank 2, b" in said
    assert "W work 1 Gflop 2 Gflop 3 Gflop 1.50 rank 2, b" in said
    assert "sent 10 B 12 B 1.1 kB 2.94 rank 0, a" in said
    assert "busiest outside MPI: rank 0, a (1.5 s), rank 1, a (1 s), rank 2, b (500 ms)" in said
    assert "a 2 2 4 kB 3 kB unknown 1.01 kB eth0" in said
    assert "MPI_Allreduce 12 750 ms 2.4 kB 2.4 kB 3.198 kB ring" in said


def test_what_bounds_it_is_one_line_with_where_the_time_goes():
    """1 s of 2 outside MPI, 0.5 s by imbalance, 0.5 s beyond."""
    (line,) = [
        line for line in text_of(measure(timed_run()), nodes_together(NODE, 2)) if "bounds" in line
    ]

    assert "50 % are outside MPI (mean of the ranks)" in line
    assert "25 % lost to load imbalance" in line


def test_without_a_profile_times_in_mpi_are_unknown_and_not_zero():
    """Its rows are left out, and what bounds it is said to be unknown."""
    runner = ScriptedRunner(
        timed_run(mpi=False),
        prepared=tuple(report_of(rank, lacks_profile=("no mpicc", "get it")) for rank in range(3)),
    )
    plan = Plan(command=("./prog",), repeat=1)
    said = text_of(DistributedProgram(plan, runner).measure(), nodes_together(NODE, 2))

    assert not any("in MPI" in line.split(" 0")[0] and "0 s" in line for line in said)
    assert any(line.startswith("a 2 2") and "unknown" in line for line in said)
    assert "What bounds it is not known, because the time in MPI is not known." in said


def test_a_measurement_that_was_only_counted_has_no_times():
    """Work and bytes stay."""
    said = text_of(measure(timed_run(), counts_only=True))

    assert not any(line.startswith("T runtime") for line in said)
    assert any(line.startswith("W work") for line in said)
    assert not any("busiest" in line for line in said)


def test_names_of_hosts_cannot_act_upon_a_terminal():
    """They come from other machines."""
    native = timed_run()
    bad = tuple(
        type(one)(**{**{f: getattr(one, f) for f in one.__struct_fields__}, "host": "a\x1b[31m"})
        for one in native
    )

    assert not any("\x1b" in line for line in text_of(measure(bad)))


def test_the_report_has_every_rank_and_what_bounds_the_whole():
    """As one document; what is unknown is null."""
    measurement, machine = measure(timed_run()), nodes_together(NODE, 2)
    document = report(analyse(measurement, machine))["distributed"]

    assert document["division"] == {"outside_s": 1.0, "imbalance_s": 0.5, "inside_s": 0.5}
    assert [one["host"] for one in document["ranks"]] == ["a", "a", "b"]
    assert document["nodes"][0]["idle_bytes_per_s"] is None
    assert document["network_s"] == pytest.approx(0.4)
    assert document["uses_mpi"] is True


def test_the_whole_is_bounded_by_all_nodes():
    """6 Gflop on 2 nodes of 4 Gflop/s; 7000 byte on two links of 10 kB/s."""
    measurement = measure(timed_run())
    placed = place(measurement, nodes_together(NODE, 2))

    assert placed.cores == 2.0
    assert placed.bound.times_s["compute"] == pytest.approx(0.75)
    assert placed.bound.times_s["network"] == pytest.approx(0.35)
    assert placed.efficiency == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("amounts", "ratio"), [([2, 2], 1.0), ([0, 4], 2.0), ([1, 2, 6], 2.0), ([0, 0], None)]
)
def test_imbalance_is_the_most_over_the_mean(amounts, ratio):
    """Nothing is no ratio."""
    assert imbalance(amounts) == ratio


def test_values_that_cannot_be_are_refused():
    """Gaps in ranks, ranks on no node, negative bytes."""
    one = Rank(rank=0, host="a", cpus=1)
    node = RankNode(host="a", ranks=(0,), cpus=1)

    with pytest.raises(ValueError, match="numbered from 0"):
        Distributed(launcher="x", uses_mpi=True, ranks=(), nodes=())
    with pytest.raises(ValueError, match="on one node"):
        Distributed(launcher="x", uses_mpi=True, ranks=(one,), nodes=(node, node))
    with pytest.raises(ValueError, match=">= 0"):
        Call(name="x", kind="wait", calls=-1, time_s=0, sent_bytes=0, received_bytes=0)
