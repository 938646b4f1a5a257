from dataclasses import replace

import pytest
from core_inputs import COUNTS, ceiling, machine_of, measured

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Alternative
from ridgepoint.core.counts import FlopCount, Traffic
from ridgepoint.core.machine import Cache
from ridgepoint.models.analysis import place
from ridgepoint.models.placement import cores_that_apply
from ridgepoint.published.machines import load


def codes(placement):
    """Return the codes of its cautions."""
    return [caution.code for caution in placement.cautions]


def test_a_memory_bound_program_is_placed_by_hand(machine, measurement):
    """1 Gflop over 1 GB with one core: 0.1 s of compute, 0.2 s of DRAM, 0.25 s seen."""
    placement = place(measurement, machine)

    assert placement.cores == 1
    assert placement.intensity_flop_per_byte == 1.0
    assert placement.bound.times_s == pytest.approx({"compute": 0.1, "dram": 0.2})
    assert placement.bound.limiter == "dram"
    assert placement.attainable_flop_per_s == pytest.approx(5e9)
    assert placement.performance_flop_per_s.median == pytest.approx(4e9)
    assert placement.efficiency == pytest.approx(0.8)
    assert placement.cautions == ()


def test_the_roofs_of_the_busy_cores_apply(machine):
    """Three busy cores: 1 Gflop at 30 Gflop/s, 1 GB at 8 GB/s."""
    placement = place(measured(wall_s=(0.25,), cpu_s=(0.74,)), machine)

    assert placement.cores == 3
    assert placement.bound.times_s == pytest.approx({"compute": 1 / 30, "dram": 0.125})
    assert place(measured(), machine, cores=4).cores == 4


@pytest.mark.parametrize(
    ("busy", "cores"),
    [
        (0.0, 1),
        (0.3, 1),
        (0.98, 1),
        (1.03, 1),
        (1.5, 1.5),
        (1.96, 2),
        (3.94, 3.94),
        (3.97, 4),
        (9.0, 4),
    ],
)
def test_the_cores_that_apply_are_those_kept_busy(busy, cores):
    """Whole where the difference is noise, at least one, at most the machine's four."""
    assert cores_that_apply(busy, 4) == cores


def test_a_program_that_was_only_counted_is_bounded_by_all_cores(machine):
    """Without a time there is no performance, and nothing is said of cores."""
    placement = place(measured(wall_s=None), machine)

    assert placement.cores == 4
    assert placement.attainable_flop_per_s == pytest.approx(8e9)
    assert (placement.performance_flop_per_s, placement.efficiency) == (None, None)


@pytest.mark.parametrize(("threads", "processes", "cores"), [(1, 1, 1), (2, 1, 4), (1, 2, 4)])
def test_one_thread_is_bounded_by_one_core_though_it_was_only_counted(
    machine, threads, processes, cores
):
    """What never ran at the same time cannot have used a second core; of the rest, who knows."""
    one = measured(wall_s=None)
    counted = replace(one.counted, most_threads=threads, processes=processes)

    assert place(replace(one, counted=counted), machine).cores == cores


def test_a_point_above_its_roof_is_a_caution(machine):
    """0.1 s where the roof allows 0.2 s: the counts or the ceiling are wrong, and it says so."""
    placement = place(measured(wall_s=(0.1,)), machine)

    assert placement.efficiency == pytest.approx(2.0)
    assert codes(placement) == ["above-roof"]
    assert "2.00 times as fast as its roof (dram)" in placement.cautions[0].seen


def test_a_point_far_below_every_roof_is_a_caution(machine):
    """20 s where the roofs explain 0.2 s: none of them bounds this program."""
    assert codes(place(measured(wall_s=(20.0,)), machine)) == ["far-below"]


def test_a_program_that_waits_is_a_caution(machine):
    """Half a core busy: the other half is no matter of roofs."""
    assert codes(place(measured(wall_s=(0.25,), cpu_s=(0.125,)), machine)) == ["waiting"]


def test_work_without_a_ceiling_is_left_out_and_said_so(machine):
    """A machine that knows no fp32 bounds the rest, with a caution."""
    single = FlopCount(precision="fp32", width_bits=0, fma=False, flop=500, instructions=500)
    mixed = measured(counts=replace(COUNTS, flop=(*COUNTS.flop, single)))
    placement = place(mixed, machine)

    assert set(placement.demand.amounts) == {"fp64", "dram_read", "dram_write"}
    assert codes(placement) == ["no-ceiling"]
    assert "no fp32 ceiling: 500 flop are left out" in placement.cautions[0].seen


def test_a_machine_without_a_memory_bandwidth_bounds_work_alone_and_says_so():
    """The E5310's bandwidth was not published: traffic is left out of the bound, not forgotten."""
    placement = place(measured(), load("e5310"))

    assert set(placement.demand.amounts) == {"fp64"}
    assert placement.bound.time_s == pytest.approx(1 / 6.4)
    assert codes(placement) == ["other-machine", "no-ceiling", "no-ceiling"]


def test_a_machine_that_knows_nothing_asked_for_gives_no_bound():
    """There is a performance and an intensity, but no roof."""
    placement = place(measured(), machine_of(ceiling("network", 1e9)))

    assert (placement.bound, placement.attainable_flop_per_s, placement.efficiency) == (None,) * 3
    assert placement.performance_flop_per_s.median == pytest.approx(4e9)


@pytest.mark.parametrize(
    "traffic",
    [
        (),
        (Traffic(level="dram", read_bytes=5, write_bytes=None),),
        (Traffic(level="dram", read_bytes=0, write_bytes=0),),
        (Traffic(level="l2", read_bytes=5, write_bytes=5),),
    ],
)
def test_an_unknown_or_missing_traffic_gives_no_intensity(machine, traffic):
    """Unmeasured is not 0, and nothing moved is not infinite."""
    assert place(measured(traffic=traffic), machine).intensity_flop_per_byte is None


def test_a_program_without_flop_has_no_performance_but_a_bound(machine):
    """A copy is bound by memory all the same."""
    placement = place(measured(counts=replace(COUNTS, flop=())), machine)

    assert (placement.performance_flop_per_s, placement.attainable_flop_per_s) == (None, None)
    assert placement.bound.limiter == "dram"
    assert placement.efficiency == pytest.approx(0.8)


def test_the_cautions_of_the_measurement_travel_on(machine):
    """Doubts about counts and times reach the placement, in order."""
    doubted = measured(wall_s=(0.1,))
    doubted = replace(
        doubted,
        cautions=(Caution("whole", "s", "r"),),
        timed=replace(doubted.timed, cautions=(Caution("times", "s", "r"),)),
        counted=replace(doubted.counted, cautions=(Caution("counts", "s", "r"),)),
    )

    assert codes(place(doubted, machine)) == ["whole", "times", "counts", "above-roof"]


def test_a_runtime_of_another_machine_is_doubted(machine, measurement):
    """What was timed here says nothing of how near it would come to those roofs."""
    other = replace(machine, name="elsewhere", host=replace(machine.host, cpu="another"))

    assert "other-machine" in codes(place(measurement, other))
    assert "other-machine" not in codes(place(measurement, machine))
    assert "other-machine" not in codes(place(replace(measurement, timed=None), other))


def test_traffic_of_other_caches_than_the_machines_is_doubted(machine, measurement):
    """Only where the machine is another one and does not tell its caches."""
    l1 = Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8)
    simulated = replace(measurement, counted=replace(measurement.counted, caches=(l1,)))
    other = replace(machine, host=replace(machine.host, cpu="another"), caches=())

    assert "other-caches" in codes(place(simulated, other))
    assert "other-caches" not in codes(place(simulated, replace(other, caches=(l1,))))
    assert "other-caches" not in codes(place(measurement, other))
    assert "other-caches" not in codes(place(simulated, replace(machine, caches=())))


def test_traffic_and_roofs_of_caches_of_two_sizes_are_doubted(machine, measurement):
    """As of --cache, or of a machine that was measured with other ones; whole sets do not count."""

    def of(size_bytes):
        return Cache(level=3, kind="unified", size_bytes=size_bytes, line_bytes=64, ways=16)

    owner = replace(machine, caches=(of(8 << 20),))
    for size_bytes, differs in ((480 << 20, True), ((8 << 20) + 1024, False), (8 << 20, False)):
        counted = replace(measurement.counted, caches=(of(size_bytes),))
        placement = place(replace(measurement, counted=counted), owner)

        assert ("other-caches" in codes(placement)) == differs
        assert all("480 MiB of L3, not 8 MiB" in c.seen for c in placement.cautions)


def test_both_ends_of_a_share_are_placed_and_told_if_they_matter(machine, measurement):
    """By hand: 2 GB at 5 GB/s take 0.4 s of 0.25, half a GB 0.1 s, as long as the work."""
    l3 = Cache(level=3, kind="unified", size_bytes=4 << 20, line_bytes=64, ways=16)
    ends = tuple(
        Alternative(
            caches=(replace(l3, size_bytes=size << 20),),
            traffic=(Traffic(level="dram", read_bytes=read, write_bytes=0),),
        )
        for size, read in ((2, 2_000_000_000), (16, 500_000_000))
    )
    placement = place(
        replace(measurement, counted=replace(measurement.counted, ends=ends)), machine
    )
    alike = tuple(replace(end, traffic=measurement.counted.traffic) for end in ends)
    same = place(replace(measurement, counted=replace(measurement.counted, ends=alike)), machine)

    assert [end.efficiency for end in placement.ends] == pytest.approx([1.6, 0.4])
    assert [end.intensity for end in placement.ends] == [0.5, 2.0]
    assert "capacity-varies" in codes(placement)
    assert "capacity-varies" not in codes(same)
