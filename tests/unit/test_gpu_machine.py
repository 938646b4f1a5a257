"""A measured GPU: rates, units, doubts, by a device whose times are decided beforehand."""

from dataclasses import replace

import pytest
from scripted_gpu import FACTS, ScriptedGpu

from ridgepoint.ceilings.gpu import characterize_gpu, gpu_fingerprint, measured_again
from ridgepoint.ceilings.gpu.plan import entries, sizes_for
from ridgepoint.core.documents import decode, encode
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Machine
from ridgepoint.published.machines import load


def measured(**options):
    """Return the machine that a scripted device makes."""
    return characterize_gpu(ScriptedGpu(**options), name="node7-gpu0")


def ceiling_of(machine, resource, name, part=None):
    """Return one ceiling of it."""
    (found,) = (
        one
        for one in machine.ceilings
        if (one.resource, one.name, one.part) == (resource, name, part)
    )
    return found


def codes(cautions):
    """Return what doubts are called."""
    return {caution.code for caution in cautions}


def test_rates_are_those_of_the_device():
    """Bytes and flop over the device's own times, sample by sample."""
    machine = measured(rates={"load": (4.2e12,), "chain fp64": (3.1e13,), "product fp16": (7e14,)})

    assert ceiling_of(machine, "dram", "load").rate.median == pytest.approx(4.2e12)
    assert ceiling_of(machine, "dram", "load").rate.n == 25
    assert ceiling_of(machine, "fp64", "vector").rate.median == pytest.approx(3.1e13)
    assert ceiling_of(machine, "fp16", "tensor").rate.median == pytest.approx(7e14)
    assert ceiling_of(machine, "dram", "copy").unit == "byte/s"
    assert ceiling_of(machine, "fp64", "tensor").unit == "flop/s"


def test_each_ceiling_warms_up_for_half_a_second_and_samples_last_20_ms():
    """The first runs count in no sample."""
    gpu = ScriptedGpu(rates={"load": (1e12,)})
    characterize_gpu(gpu, name="node7-gpu0")
    times_s = [took_s for name, took_s in gpu.runs if name == "load"]

    assert sum(times_s[:-25]) >= 0.5
    assert all(0.018 < took_s < 0.022 for took_s in times_s[-25:])


def test_every_ceiling_is_sampled_once_in_each_round():
    """What drifts shows in all of them: they take turns."""
    gpu = ScriptedGpu()
    characterize_gpu(gpu, name="node7-gpu0")
    names = [name for name, _ in gpu.runs][-20:]

    assert names[:10] == names[10:]
    assert len(set(names)) == 10


def test_bounds_do_not_count_on_tf32():
    """Its factors are rounded: work in fp32 is bounded by the vector units and by fp32 products."""
    machine = measured(
        rates={"chain fp32": (6e13,), "product fp32": (5e13,), "product tf32": (4e14,)}
    )
    tf32 = ceiling_of(machine, "fp32", "tensor", "tensor cores in TF32")

    assert tf32.rate.median == pytest.approx(4e14)
    assert machine.rate("fp32") == pytest.approx(6e13)


def test_copy_moves_as_much_in_each_direction():
    """Half of what it counts is read, half is written; a store reads nothing before."""
    machine = measured(rates={"load": (4e12,), "store": (3e12,), "copy": (3.6e12,)})

    assert machine.rate("dram") == pytest.approx(4e12)
    assert machine.rate("dram_read") == pytest.approx(4e12)
    assert machine.rate("dram_write") == pytest.approx(3e12)


def test_same_names_as_the_published_ones():
    """So that a measured GPU can be compared with its vendor's figures."""
    published = {(one.resource, one.name) for one in load("h200").ceilings}
    own = {(one.resource, one.name) for one in measured().ceilings}

    assert {("fp64", "vector"), ("fp64", "tensor"), ("fp32", "vector")} <= own & published
    assert {("fp16", "tensor"), ("bf16", "tensor")} <= own & published


def test_theory_of_vector_units_and_memory():
    """By hand: 2 flop x 64 lanes x 100 x 1.5 GHz; 2 transfers x 2.5 GHz x 640 byte."""
    machine = measured()

    assert ceiling_of(machine, "fp64", "vector").theoretical == pytest.approx(19.2e12)
    assert ceiling_of(machine, "fp32", "vector").theoretical == pytest.approx(38.4e12)
    assert ceiling_of(machine, "dram", "load").theoretical == pytest.approx(3.2e12)
    assert ceiling_of(machine, "fp64", "tensor").theoretical is None


def test_theory_is_unknown_where_the_device_is():
    """A generation that no table has, a memory that the driver does not describe."""
    unknown = replace(FACTS, capability=(13, 0), memory_hz=None, bus_bits=None)
    machine = measured(facts=unknown)

    assert all(one.theoretical is None for one in machine.ceilings)


def test_machine_says_what_it_is():
    """One core stands for the device, as in the published ones."""
    machine = measured()

    assert machine.host.cpu == "NVIDIA Made-Up 100"
    assert machine.host.microarchitecture == "sm_90"
    assert (machine.cores, machine.host.memory_bytes) == (1, 100_000_000_000)
    assert machine.host.frequency_hz == pytest.approx(1.5e9)
    assert machine.host.virtualized is None
    assert machine.cautions == ()
    assert decode(encode(machine), Machine, origin="memory") == machine


def test_doubts_about_the_device_travel_with_it():
    """A clock that moves, power that holds it back, ECC that nobody tells, a part of a GPU."""
    machine = measured(
        facts=replace(FACTS, ecc=None, partitioned=True),
        clocks_hz=(1.2e9, 1.9e9),
        held=({"the limit of power": 1.0, "heat": 0.0}, {"the limit of power": 3.5, "heat": 0.0}),
    )
    by_code = {caution.code: caution.seen for caution in machine.cautions}

    assert set(by_code) == {"frequency-moved", "held-back", "ecc-unknown", "partition"}
    assert "1.20 to 1.90 GHz" in by_code["frequency-moved"]
    assert "the limit of power for 2.5 s" in by_code["held-back"]


def test_what_nobody_tells_is_unknown():
    """Neither clock nor restraints: no number stands in their place."""
    machine = measured(clocks_hz=(None,), held=(None, None))

    assert machine.host.frequency_hz is None
    assert codes(machine.cautions) == {"clock-unknown", "restraint-unknown"}
    assert ceiling_of(machine, "fp64", "vector").theoretical is None


def test_samples_that_spread_are_doubted():
    """Where the interval is more than a twentieth of the median."""
    machine = measured(rates={"load": (3e12, 4e12, 5e12)})

    assert codes(ceiling_of(machine, "dram", "load").cautions) == {"noisy"}
    assert ceiling_of(machine, "dram", "store").cautions == ()


def test_task_that_the_device_refuses_is_unknown_and_says_why():
    """The others are measured."""
    machine = measured(refuses=("product bf16",))
    refused = ceiling_of(machine, "bf16", "tensor")

    assert refused.rate is None
    assert codes(refused.cautions) == {"kernel-refused"}
    assert ceiling_of(machine, "fp16", "tensor").rate is not None


def test_wrong_result_is_no_ceiling():
    """A kernel that computes something else proves nothing."""
    refused = ceiling_of(measured(wrong=("chain fp64",)), "fp64", "vector")

    assert refused.rate is None
    assert "2 instead of 12" in refused.cautions[0].seen


def test_older_devices_lack_formats():
    """Compute capability 7: no TF32 and no bf16; of 8.6, fp64 has no tensor cores."""
    volta = {(one.resource, one.name) for one in entries(replace(FACTS, capability=(7, 0)))}
    ampere = {(one.resource, one.name) for one in entries(replace(FACTS, capability=(8, 6)))}

    assert ("fp16", "tensor") in volta
    assert ("bf16", "tensor") not in volta
    assert ("fp32", "tensor") not in volta
    assert ("fp64", "matrix product") in ampere


def test_device_that_is_too_old_is_refused():
    """With its compute capability."""
    with pytest.raises(CannotMeasure, match=r"compute capability 5\.2 is too old"):
        measured(facts=replace(FACTS, capability=(5, 2)))


def test_full_memory_is_refused_with_what_is_needed():
    """50 MB of cache ask for two buffers of 200 MB, in a quarter of the free memory."""
    with pytest.raises(CannotMeasure, match="only 1 GB of its memory is free") as caught:
        measured(facts=replace(FACTS, free_bytes=1_000_000_000))

    assert "1.6 GB is needed" in str(caught.value)


@pytest.mark.parametrize("free_bytes", [2e9, 8e9, 24e9, 141e9, 1e12])
def test_everything_fits_together_and_no_cache_holds_a_buffer(free_bytes):
    """Two buffers and three matrices of each format: at most half of what is free."""
    sizes = sizes_for(replace(FACTS, free_bytes=int(free_bytes)))
    matrices = 3 * (8 + 4 + 4 + 2 + 2) * sizes.matrix**2

    assert 2 * sizes.buffer_bytes + matrices <= free_bytes / 2
    assert sizes.buffer_bytes >= 4 * FACTS.l2_bytes
    assert sizes.buffer_bytes == sizes.passes * sizes.blocks * 256 * 4 * 16


def test_every_block_is_resident_at_once():
    """1536 threads on each multiprocessor, as on a GeForce: 6 blocks of 256, not 8."""
    sizes = sizes_for(replace(FACTS, resident_threads=1536))

    assert sizes.blocks == 6 * 100


def test_fingerprint_changes_with_device_and_driver():
    """Ceilings of another card, another driver, or with ECC switched, are others."""
    others = [
        replace(FACTS, identity="0000:66:00.0"),
        replace(FACTS, software=("CuPy 14", "CUDA 12090", "driver 13000")),
        replace(FACTS, ecc=False),
    ]

    assert len({gpu_fingerprint(facts) for facts in (FACTS, *others)}) == 4
    assert gpu_fingerprint(FACTS) != gpu_fingerprint(FACTS, quick=True)
    assert gpu_fingerprint(replace(FACTS, free_bytes=2)) == gpu_fingerprint(FACTS)


def test_quick_takes_fewer_samples_and_says_so():
    """Seven of each: an interval, but a wide one."""
    machine = characterize_gpu(ScriptedGpu(), name="node7-gpu0", quick=True)

    assert ceiling_of(machine, "dram", "load").rate.n == 7
    assert codes(machine.cautions) == {"quick"}


def test_second_measurement_keeps_the_faster_of_both():
    """Of those that were asked for; the others stay."""
    first = measured(rates={"load": (3e12,), "store": (3e12,), "chain fp64": (1e13,)})
    again = measured_again(
        first,
        {("dram", "load"), ("dram", "store")},
        ScriptedGpu(rates={"load": (4e12,), "store": (2e12,), "chain fp64": (9e13,)}),
    )

    assert ceiling_of(again, "dram", "load").rate.median == pytest.approx(4e12)
    assert ceiling_of(again, "dram", "store").rate.median == pytest.approx(3e12)
    assert ceiling_of(again, "fp64", "vector").rate.median == pytest.approx(1e13)
    assert again.fingerprint == first.fingerprint
