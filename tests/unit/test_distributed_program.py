"""A distributed program measured with a scripted launcher; every sum is by hand."""

from dataclasses import replace

import msgspec
import pytest
from core_inputs import MEASUREMENT, ceiling, machine_of
from rank_inputs import ScriptedRunner, counted_run, report_of, timed_run

from ridgepoint.cluster.driver import DistributedProgram, Plan
from ridgepoint.cluster.interfaces import Passed
from ridgepoint.core.counts import FlopCount
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.core.measurement import Measurement
from ridgepoint.models.analysis import analyse
from ridgepoint.models.derived import nodes_together
from ridgepoint.models.distributed import (
    division,
    judge,
    nodes_on_ridgeline,
    why_no_ridgeline,
    without_ceiling,
)
from ridgepoint.models.measured_ridgeline import measured_nodes, measured_on_ridgeline
from ridgepoint.show.charts.ridgeline import times_chart
from ridgepoint.show.tables.rank_table import ridgeline_notes


def measure(runner, **options):
    """Measure ``./prog`` on three ranks."""
    return DistributedProgram(Plan(command=("./prog", "8"), **options), runner).measure()


@pytest.fixture
def measurement():
    """Return three ranks on two hosts, 2 s, of which 0.5, 1 and 1.5 s are in MPI."""
    return measure(ScriptedRunner(timed_run()), repeat=3)


def codes(measurement):
    """Return the codes of all cautions."""
    return {one.code for one in measurement.all_cautions}


def test_the_whole_is_the_sum_of_ranks_and_the_time_of_the_slowest():
    """Each run's time is that of its slowest rank."""
    runs = [timed_run(wall_s=wall_s) for wall_s in ((9, 9, 9), (2, 3, 1), (1, 2, 5), (4, 4, 4))]
    measured = measure(ScriptedRunner(*runs), repeat=3)

    # The first run finds cold files and does not count.
    assert measured.timed.runtime_s.samples == (3, 5, 4)
    assert measured.timed.cpu_s.samples == (6, 8, 12)
    assert measured.counted.counts.work == {"fp64": 6_000_000_000}
    assert measured.traffic_at("dram").read_bytes == 1_500_000_000
    assert measured.command == ("mpirun", "-n", "3", "./prog", "8")
    assert measured.counted.processes == 3
    # One function of one file is one, whatever the rank.
    (function,) = measured.counted.functions
    assert function.counts.work_flop == 6_000_000_000


def test_the_region_of_mpi_is_the_whole_and_others_are_within(measurement):
    """What is counted alone needs no name of its own."""
    (region,) = measurement.counted.regions

    assert (region.name, region.inside) == ("solve", ())
    assert measurement.counted.selected is None


def test_ranks_keep_their_own_values(measurement):
    """What a rank received is what the others sent to it."""
    ranks = measurement.distributed.ranks

    assert [one.host for one in ranks] == ["a", "a", "b"]
    assert [one.in_mpi_s.median for one in ranks] == [0.5, 1.0, 1.5]
    assert [one.outside_mpi_s for one in ranks] == [1.5, 1.0, 0.5]
    assert [one.counts.work_flop for one in ranks] == [10**9, 2 * 10**9, 3 * 10**9]
    assert [one.sent_bytes for one in ranks] == [1100, 10, 12]
    assert [one.received_bytes for one in ranks] == [5, 100, 1010]
    assert [peer.rank for peer in ranks[0].peers] == [2, 1]
    assert ranks[0].time_in_s("collective") == 0.375


def test_nodes_hold_what_passed_their_interfaces(measurement):
    """What left a node by MPI went to ranks elsewhere, other worlds' included."""
    a, b = measurement.distributed.nodes

    assert (a.ranks, b.ranks) == ((0, 1), (2,))
    assert (a.sent_bytes.samples, a.received_bytes.samples) == ((4000,) * 3, (3000,) * 3)
    assert a.network_bytes == b.network_bytes == 4000
    assert (a.sent_to_others_bytes, b.sent_to_others_bytes) == (1010, 12)
    assert measurement.distributed.network_bytes == 7000
    assert measurement.demand.amounts["network"] == 7000


def test_documents_keep_everything(measurement):
    """Save and load is identity."""
    assert decode(encode(measurement), Measurement, origin="test") == measurement


def test_only_the_part_within_mpi_is_counted_and_each_host_has_its_library():
    """A program without MPI is counted whole, from start to exit."""
    runner, alone = ScriptedRunner(timed_run()), ScriptedRunner(timed_run(mpi=False))
    measure(runner, repeat=1)
    measured = measure(alone, repeat=1)

    assert [task.mode for task in runner.tasks] == ["prepare", "time", "count"]
    assert runner.tasks[-1].region == "MPI"
    assert runner.tasks[-1].all_threads
    assert runner.tasks[1].libraries == {"a": "/cache/a/lib.so", "b": "/cache/b/lib.so"}
    assert alone.tasks[-1].region is None
    assert measured.distributed.uses_mpi is False
    assert measured.timed.runtime_s.median == 3.0
    assert measured.distributed.ranks[0].in_mpi_s is None
    assert "no-mpi" in codes(measured)


def test_counts_alone_need_a_native_run_all_the_same():
    """It finds out whether there is MPI; its time is not told."""
    runner = ScriptedRunner(timed_run())
    measured = measure(runner, counts_only=True)

    assert [task.mode for task in runner.tasks] == ["prepare", "time", "count"]
    assert measured.timed is None
    assert measured.distributed.ranks[0].runtime_s is None


def prepared(rank, **fields):
    """Return prepared reports of which one differs."""
    reports = [report_of(each) for each in range(3)]
    reports[rank] = msgspec.structs.replace(reports[rank], **fields)
    return tuple(reports)


def test_hosts_of_other_versions_are_refused_by_name():
    """All of them are said, with one host of each."""
    runner = ScriptedRunner(timed_run(), prepared=prepared(2, version="0.0.7"))

    with pytest.raises(CannotMeasure, match=r"0\.0\.7 on b"):
        measure(runner)
    assert [task.mode for task in runner.tasks] == ["prepare"]


def test_a_host_without_the_engine_is_named():
    """Before anything is run."""
    lack = ("there is no valgrind", "install it")
    runner = ScriptedRunner(timed_run(), prepared=prepared(2, lacks_meter=lack))

    with pytest.raises(MeterUnavailable, match="engine on b: there is no valgrind; install it"):
        measure(runner)


def test_without_mpicc_times_in_mpi_are_unknown_and_not_zero():
    """The rest is measured from start to exit."""
    lack = ("there is no mpicc", "put it in PATH")
    runner = ScriptedRunner(timed_run(mpi=False), prepared=prepared(0, lacks_profile=lack))
    measured = measure(runner, repeat=1)

    assert not runner.tasks[-1].profile
    assert measured.distributed.uses_mpi is None
    assert measured.distributed.ranks[0].in_mpi_s is None
    assert measured.distributed.ranks[0].sent_bytes is None
    assert division(measured.distributed) is None
    assert "mpi-unknown" in codes(measured)
    assert "no-mpi" not in codes(measured)


def test_a_counted_run_that_exchanged_something_else_is_doubted():
    """Its points would be of two different runs."""
    native = timed_run()
    counted = list(counted_run(native))
    counted[1] = msgspec.structs.replace(counted[1], profiles=counted[0].profiles)
    measured = measure(ScriptedRunner(native, counted=tuple(counted)), repeat=1)

    (doubt,) = [one for one in measured.all_cautions if one.code == "work-differs"]
    assert "rank 1 did 10 byte sent in the native run and 1100" in doubt.seen
    assert "work-differs" not in codes(measure(ScriptedRunner(native), repeat=1))


def test_other_traffic_and_counters_that_wrapped_are_said():
    """Idle, 100 byte/s pass host b; in 2 s that is 5 % of 4000 byte and not more on a."""
    native = list(timed_run())
    wrapped = Passed(sent_bytes=3000, received_bytes=4000, interfaces=("eth0",), wrapped=("eth0",))
    native[2] = msgspec.structs.replace(native[2], passed=wrapped)
    counted = list(counted_run(tuple(native)))
    idle = Passed(sent_bytes=200, received_bytes=100, interfaces=("eth0",))
    counted[2] = msgspec.structs.replace(counted[2], idle=(idle, 2.0))
    measured = measure(ScriptedRunner(tuple(native), counted=tuple(counted)), repeat=1)

    assert measured.distributed.nodes[1].idle_bytes_per_s == 150.0
    shared = [one for one in measured.all_cautions if one.code == "network-shared"]
    assert ["b" in one.seen and "8%" in one.seen for one in shared] == [True]
    (doubt,) = [one for one in measured.all_cautions if one.code == "interface-wrapped"]
    assert "eth0 of b" in doubt.seen


def test_unknown_counters_are_not_zero_bytes():
    """The whole is unknown if one node is."""
    native = list(timed_run())
    native[2] = msgspec.structs.replace(
        native[2], passed=Passed(sent_bytes=None, received_bytes=None, unknown="it was reset")
    )
    measured = measure(ScriptedRunner(tuple(native)), repeat=1)

    assert measured.distributed.nodes[1].unknown == "it was reset"
    assert measured.distributed.network_bytes is None
    assert "network" not in measured.demand.amounts
    assert "network-unknown" in codes(measured)


def test_more_ranks_than_cpus_are_doubted():
    """Two ranks of host a are on one CPU."""
    native = timed_run()
    counted = tuple(msgspec.structs.replace(one, cpus=(5,)) for one in counted_run(native))

    assert "oversubscribed" in codes(measure(ScriptedRunner(native, counted=counted), repeat=1))
    assert "oversubscribed" not in codes(measure(ScriptedRunner(native), repeat=1))


def test_time_divides_into_work_imbalance_and_mpi(measurement):
    """Outside MPI are 1.5, 1 and 0.5 s of 2 s: mean 1, most 1.5, and 0.5 are left."""
    split = division(measurement.distributed)

    assert (split.outside_s, split.imbalance_s, split.inside_s) == (1.0, 0.5, 0.5)
    assert split.runtime_s == 2.0


# A node of one core: 4 Gflop/s, 2 GB/s of memory, 10 kB/s of network.
NODE = machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9), ceiling("network", 1e4))


@pytest.mark.parametrize(
    ("in_mpi_s", "network", "limit"),
    [
        # 3 Gflop on each node are 0.75 s, host a moves 1 GB: 0.5 s.
        ((0.1, 0.1, 0.1), 1e4, "compute"),
        ((0.0, 1.9, 1.9), 1e4, "load imbalance"),
        # 4000 byte are 0.4 s of 1.9, or 4 s.
        ((1.9, 1.9, 1.9), 1e4, "waiting"),
        ((1.9, 1.9, 1.9), 1e3, "network"),
    ],
)
def test_what_takes_most_bounds_it(in_mpi_s, network, limit):
    """As far as the numbers say."""
    measured = measure(ScriptedRunner(timed_run(in_mpi_s=in_mpi_s)), repeat=1)
    node = machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9), ceiling("network", network))
    verdict = judge(measured, nodes_together(node, 2))

    assert verdict.limit == limit
    assert verdict.network_s == pytest.approx(4000 / network)


def test_without_a_rate_of_the_network_waiting_is_not_told_from_it():
    """All of 1.9 s is in MPI; between ranks of one node there is no network to be told from."""
    measured = measure(ScriptedRunner(timed_run(in_mpi_s=(1.9, 1.9, 1.9))), repeat=1)
    whole = measured.distributed
    one_node = replace(whole, nodes=(replace(whole.nodes[0], ranks=(0, 1, 2)),))
    node = machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9))

    across = judge(measured, nodes_together(node, 2))
    assert (across.limit, across.network_s) == ("MPI", None)
    within = judge(replace(measured, distributed=one_node), node)
    assert (within.limit, within.network_s) == ("waiting", 0.0)


def test_a_roof_that_is_far_away_explains_no_time():
    """Then it is the work of the ranks, whatever it is."""
    measured = measure(ScriptedRunner(timed_run(in_mpi_s=(0.1, 0.1, 0.1))), repeat=1)
    fast = nodes_together(machine_of(ceiling("fp64", 4e12), ceiling("dram", 2e12)), 2)

    assert judge(measured, fast).limit == "ranks"
    assert judge(measured, fast).network_s is None


def test_nodes_together_have_all_cores_and_all_rates():
    """Two nodes serve twice as much, with all cores and with those of one."""
    both = nodes_together(NODE, 2)

    assert both.cores == 2
    assert both.rate("fp64") == 8e9
    assert both.rate("network") == 2e4
    assert both.name == "2 x test bench"
    assert nodes_together(NODE, 1) is NODE


def test_a_link_is_no_faster_for_more_cores():
    """Measured with one rank for each node, or with two: the faster is what it carries."""
    links = (
        ceiling("network", 1e4, name="one pair"),
        ceiling("network", 8e3, name="all pairs"),
        ceiling("network", 9e3, name="all pairs", threads=2),
    )
    both = nodes_together(machine_of(ceiling("fp64", 4e9, threads=8), *links, cores=8), 2)

    assert [both.rate("network", cores=cores) for cores in (1, 2, 16)] == [2e4] * 3


def test_every_node_is_on_the_ridgeline(measurement):
    """Host a: 3 Gflop, 1 GB, 4000 byte; host b: 3 Gflop, 0.5 GB, 4000 byte."""
    ridgeline, nodes = nodes_on_ridgeline(measurement, nodes_together(NODE, 2))
    placed = nodes.placed

    assert nodes.labels == ("a", "b")
    assert placed.arithmetic_intensity.tolist() == [3.0, 6.0]
    assert placed.memory_intensity.tolist() == [250_000.0, 125_000.0]
    assert placed.times_s["network"].tolist() == [0.4, 0.4]
    assert placed.times_s["memory"].tolist() == [0.5, 0.25]
    assert ridgeline.ridge.network_intensity == 4e9 / 1e4


def test_a_precision_without_a_ceiling_is_left_out_and_named(measurement):
    """Each rank of 1.5 Gflop in fp64 also does 2 in fp32: on a machine of fp32, 2 Gflop on a node.

    The machine does 1 Gflop/s in fp32 and knows no fp64, so computing takes as many seconds.
    """
    counts = replace(
        measurement.distributed.ranks[0].counts,
        flop=(
            FlopCount(precision="fp64", width_bits=0, fma=False, flop=7, instructions=7),
            FlopCount(precision="fp32", width_bits=0, fma=False, flop=10**9, instructions=10**9),
        ),
    )
    ranks = tuple(replace(rank, counts=counts) for rank in measurement.distributed.ranks)
    program = replace(measurement, distributed=replace(measurement.distributed, ranks=ranks))
    bench = machine_of(ceiling("fp32", 1e9), ceiling("dram", 2e9), ceiling("network", 1e4))
    machine = nodes_together(bench, 2)

    assert why_no_ridgeline(program, machine) is None
    assert without_ceiling(program, machine) == {"fp64": 21.0}
    ridgeline, nodes = nodes_on_ridgeline(program, machine)
    assert ridgeline.work == "fp32"
    assert nodes.placed.times_s["compute"].tolist() == [2.0, 1.0]
    assert any("21 flop of fp64" in note for note in ridgeline_notes(analyse(program, bench)))
    assert (
        why_no_ridgeline(program, nodes_together(replace(bench, ceilings=bench.ceilings[1:]), 2))
        == "'2 x test bench' has no compute ceiling (fp32, fp64)"
    )


def test_most_of_the_work_without_a_ceiling_has_no_place(measurement):
    """Of 6 Gflop in fp64 a machine of fp32 knows nothing, though a rank did 7 flop in fp32, too."""
    few = FlopCount(precision="fp32", width_bits=0, fma=False, flop=7, instructions=7)
    first, *others = measurement.distributed.ranks
    first = replace(first, counts=replace(first.counts, flop=(*first.counts.flop, few)))
    whole = replace(measurement.distributed, ranks=(first, *others))
    program = replace(measurement, distributed=whole)
    bench = machine_of(ceiling("fp32", 1e9), ceiling("dram", 2e9), ceiling("network", 1e4))

    assert why_no_ridgeline(program, nodes_together(bench, 2)) == (
        "'2 x test bench' has no compute ceiling (fp64)"
    )
    with pytest.raises(ValueError, match="no ceiling of fp64"):
        measured_on_ridgeline(measured_nodes({"p": program}), (bench,))


@pytest.mark.parametrize(
    ("unknown", "words"),
    [({"counts": None}, "the work of rank 0 is not"), ({"traffic": ()}, "the traffic of rank 0")],
)
def test_a_rank_of_which_an_amount_is_unknown_counts_as_no_zero(measurement, unknown, words):
    """Its node has no place, and nor has the program."""
    first, *others = measurement.distributed.ranks
    whole = replace(measurement.distributed, ranks=(replace(first, **unknown), *others))
    program = replace(measurement, distributed=whole)

    assert words in why_no_ridgeline(program, nodes_together(NODE, 2))
    with pytest.raises(ValueError, match="p a has no place"):
        measured_nodes({"p": program})


def test_measured_programs_are_points_of_one_plane(measurement):
    """Two nodes of the one, with 3 Gflop each, and one of the other, which exchanges nothing."""
    nodes = measured_nodes({"ranks": measurement, "alone": MEASUREMENT})
    ridgeline, over, left_out = measured_on_ridgeline(nodes, (NODE,))
    placed = over.placed

    assert over.labels == ("ranks a", "ranks b", "alone")
    assert [node.runtime_s for node in nodes] == [2.0, 2.0, 0.25]
    assert placed.work.tolist() == [3e9, 3e9, 1e9]
    assert placed.memory_bytes.tolist() == [1e9, 0.5e9, 1e9]
    assert placed.network_bytes.tolist() == [4000, 4000, 0]
    assert (ridgeline.work, left_out) == ("fp64", {})
    # 4 Gflop/s, 2 GB/s, 10 kB/s: computing, the network, reading and writing.
    assert placed.limiters == [("compute",), ("compute",), ("memory",)]
    assert placed.time_s.tolist() == [0.75, 0.75, 0.5]
    assert over.runtimes_s == (2.0, 2.0, 0.25)
    assert over.efficiencies == (0.375, 0.375, 2.0)
    (measured,) = (line for line in times_chart(ridgeline, over).lines if line.name == "runtime")
    assert [seconds for _, seconds in measured.places] == [2.0, 2.0, 0.25]


def test_what_keeps_a_program_off_the_ridgeline_is_said(measurement):
    """A ceiling that the machine lacks."""
    without = nodes_together(machine_of(ceiling("fp64", 4e9), ceiling("dram", 2e9)), 2)

    assert (
        why_no_ridgeline(measurement, without)
        == "'2 x test bench' has no network ceiling (network)"
    )
    with pytest.raises(ValueError, match="network ceiling"):
        nodes_on_ridgeline(measurement, without)
