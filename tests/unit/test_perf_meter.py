"""The meter of hardware counters, with a scripted kernel and files of several hosts."""

import errno

import perf_host
import pytest
from perf_host import ScriptedKernel

from ridgepoint import doctor
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable
from ridgepoint.host.run import Run
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.perf.calibration import Known, calibrate
from ridgepoint.meters.perf.known_kernels import known_work
from ridgepoint.meters.perf.plan import make_plan
from ridgepoint.meters.perf.session import Session

# type and configuration word, by hand: umask in bits 8-15, event in bits 0-7
SCALAR_DOUBLE, PACKED_512_DOUBLE, PACKED_256_SINGLE = (4, 0x01C7), (4, 0x40C7), (4, 0x20C7)
INSTRUCTIONS, BRANCHES, LOADS, STORES = (4, 0x00C0), (4, 0x00C4), (4, 0x81D0), (4, 0x82D0)
READS, WRITES = 0xCF05, 0xF005


def launch(command):
    """Run nothing, in a second."""
    return Run(exit_status=0, wall_s=1.0, cpu_s=1.0)


def count(meter):
    """Return what a meter counts of a command."""
    return meter.count(("program",), launch=launch, caches=())


def codes(counted):
    """Return the codes of the cautions."""
    return [caution.code for caution in counted.cautions]


def spr_kernel(**more):
    """Return a kernel that counts a little of everything on Sapphire Rapids."""
    return ScriptedKernel(
        counts={
            SCALAR_DOUBLE: 7,
            PACKED_512_DOUBLE: 100,
            PACKED_256_SINGLE: 10,
            INSTRUCTIONS: 5000,
            BRANCHES: 300,
            LOADS: 900,
            STORES: 400,
            (30, READS): 1000,
            (31, READS): 2000,
            (30, WRITES): 10,
            (31, WRITES): 20,
            (20, 2): 2**33,
        },
        **more,
    )


def test_work_on_intel_is_instructions_times_lanes(tmp_path):
    """100 of 512 bit are 800 flop of fp64 and 10 of 256 bit 80 of fp32."""
    counts = count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel())).counts

    assert counts.work == {"fp64": 807, "fp32": 80}
    assert {(k.precision, k.width_bits): k.flop for k in counts.flop} == {
        ("fp64", 0): 7,
        ("fp64", 512): 800,
        ("fp32", 256): 80,
    }
    assert (counts.instructions, counts.branches) == (5000, 300)
    assert (counts.loads, counts.stores) == (900, 400)
    assert counts.load_bytes is None
    assert counts.masked_flop is None


def test_traffic_is_64_byte_per_command_on_every_channel_and_socket(tmp_path):
    """Two sockets, each with channels of 1000 and 2000 reads: 2 * 3000 * 64 byte."""
    counted = count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel()))
    (dram,) = counted.traffic

    assert (dram.level, dram.read_bytes, dram.write_bytes) == ("dram", 384_000, 3840)
    assert "whole-machine-traffic" in codes(counted)


def test_energy_is_summed_over_packages(tmp_path):
    """2^33 counts of 2^-32 J are 2 J, in each of two packages."""
    counted = count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel()))
    assert counted.energy_j == {"pkg": 4.0}


def test_programs_are_counted_in_user_mode_from_their_execution_on(tmp_path):
    """Inherited, started by exec, without the kernel; only the leader of a group waits."""
    kernel = spr_kernel()
    count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel))
    of_program = [one for one in kernel.opened if one[1] == 0 and one[0].enable_on_exec]
    of_machine = [one for one in kernel.opened if one[1] == -1]
    leader, *members = [a for a, pid, _, _ in kernel.opened if pid == 0 and a.inherit][-8:]

    assert all(a.disabled and a.user_only and group == -1 for a, _, _, group in of_program)
    assert {cpu for _, _, cpu, _ in of_machine} == {0, 56}
    assert not any(a.user_only or a.inherit for a, *_ in of_machine)
    assert leader.disabled
    assert not any(a.disabled or a.enable_on_exec for a in members)


def test_every_event_is_closed(tmp_path):
    """Also those that were only tried."""
    kernel = spr_kernel()
    count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel))
    assert kernel.open_now == {}


def test_groups_hold_what_the_counters_can(tmp_path):
    """8 counters: fp64 and fp32 take 8, fp16 5, branches, loads and stores 3; instructions none."""
    plan = Session.open_on(perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel()).plan

    assert [len(group) for (group,) in plan.rounds] == [9, 8]


def test_the_watchdog_takes_a_counter(tmp_path):
    """No group takes more than the 7 that are left, and nothing is left out."""
    watched = perf_host.sapphire_rapids(tmp_path, **{"proc/sys/kernel/nmi_watchdog": "1\n"})
    plan = Session.open_on(watched, kernel=spr_kernel()).plan
    costs = [sum(one.cost for one in group) for (group,) in plan.rounds]

    assert all(cost <= 7 for cost in costs)
    assert sum(costs) == 8 + 5 + 3


def test_flop_events_of_amd_take_two_of_six_counters(tmp_path):
    """2 + instructions 1 + branches 1 + loads 2; stores share an event with loads, and wait."""
    kernel = ScriptedKernel()
    plan = Session.open_on(perf_host.zen4(tmp_path), kernel=kernel).plan
    names = [[one.name for one in group] for (group,) in plan.rounds]

    assert names == [
        [
            "fp_ret_sse_avx_ops.all",
            "ex_ret_instr",
            "ex_ret_brn",
            "ls_dispatch.ld_dispatch",
            "ls_dispatch.ld_st_dispatch",
        ],
        ["ls_dispatch.store_dispatch", "ls_dispatch.ld_st_dispatch"],
    ]


def test_merged_precisions_are_assumed_and_said_to_be(tmp_path):
    """Zen 4 counts flop of all precisions; two controllers count reads and writes."""
    kernel = ScriptedKernel(
        counts={
            (4, 0x1F03): 640,
            (4, 0xC0): 1000,
            (4, 0x129): 50,  # loads
            (4, 0x229): 30,  # stores
            (4, 0x429): 5,  # both
            (40, 0x10A): 1,
            (41, 0x10A): 2,
            (40, 0x20A): 4,
        }
    )
    counted = count(PerfMeter(host=perf_host.zen4(tmp_path), kernel=kernel, assumed="fp32"))

    assert counted.counts.work == {"fp32": 640}
    assert (counted.counts.loads, counted.counts.stores) == (55, 35)
    assert (counted.traffic[0].read_bytes, counted.traffic[0].write_bytes) == (192, 256)
    assert {"precision-assumed", "several-runs", "approximate-counts"} <= set(codes(counted))


def test_scalable_vectors_of_neoverse_v1_count_twice(tmp_path):
    """Their events count per 128 bit, and its vectors have 256: 2 * 10 + 3 flop."""
    kernel = ScriptedKernel(counts={(8, 0x80C0): 10, (8, 0x80C1): 3, (8, 0x8): 99})
    counted = count(PerfMeter(host=perf_host.neoverse(tmp_path, 0xD40), kernel=kernel))

    assert counted.counts.work_flop == 23
    assert counted.traffic == ()
    assert "unknown" in codes(counted)


def test_scalable_vectors_of_neoverse_n2_count_once(tmp_path):
    """Its vectors have 128 bit."""
    kernel = ScriptedKernel(counts={(8, 0x80C0): 10, (8, 0x80C1): 3, (8, 0x8): 99})
    counted = count(PerfMeter(host=perf_host.neoverse(tmp_path, 0xD49), kernel=kernel))
    assert counted.counts.work_flop == 13


def test_a_cpu_without_flop_events_is_refused(tmp_path):
    """Neoverse N1 counts instructions, not flop: no zero in place of that."""
    lack = PerfMeter(
        host=perf_host.neoverse(tmp_path, 0xD0C), kernel=ScriptedKernel()
    ).why_unavailable()
    assert "counts no floating-point operations" in lack.reason


def test_a_program_on_performance_cores_alone_is_counted_whole(tmp_path):
    """On a hybrid CPU the events of the other kind of core did not run, as it should be."""
    kernel = ScriptedKernel(counts={(4, 0x10C7): 5, (4, 0xC0): 70}, shares={4: 1.0, 10: 0.0})
    counted = count(PerfMeter(host=perf_host.alder_lake(tmp_path), kernel=kernel))

    assert counted.counts.work == {"fp64": 20}
    assert counted.counts.instructions == 70


def test_work_on_cores_that_cannot_count_it_is_refused(tmp_path):
    """A third of the time on E-cores, which have no flop events: the flop of that are not 0."""
    kernel = ScriptedKernel(counts={(4, 0x10C7): 5}, shares={4: 0.67, 10: 0.33})
    meter = PerfMeter(host=perf_host.alder_lake(tmp_path), kernel=kernel)

    with pytest.raises(CannotMeasure, match=r"67.0% .* cpu_atom .* taskset -c 0,1,2"):
        count(meter)


def test_instructions_of_both_kinds_of_core_add_up(tmp_path):
    """60 % of the time on one, 40 % on the other: all of it was counted."""
    kernel = ScriptedKernel(counts={(4, 0xC0): 600, (10, 0xC0): 50}, shares={4: 0.6, 10: 0.4})
    session = Session.open_on(
        perf_host.alder_lake(tmp_path), kernel=kernel, wanted=("instructions",)
    )
    with session.following_exec(0):
        pass
    assert session.amounts()["instructions"].value == 650


def test_counters_that_take_turns_are_refused_and_never_scaled(tmp_path):
    """Another program uses the counters: 60 % of the time is no count."""
    kernel = spr_kernel(shares={4: 0.6})
    meter = PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel)

    with pytest.raises(CannotMeasure, match=r"only 60\.0% of the time"):
        count(meter)


def test_traffic_of_shared_memory_counters_is_unknown(tmp_path):
    """The work still counts; one channel that takes turns makes the sum unknown."""
    counted = count(
        PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel(shares={31: 0.5}))
    )
    assert counted.traffic == ()
    assert counted.counts.work_flop == 887
    assert any("50.0%" in one.seen for one in counted.cautions)


def test_groups_too_large_for_the_pmu_are_split(tmp_path):
    """A virtual machine may show four counters of eight: the kernel answers EINVAL."""
    kernel = spr_kernel(most_in_group=4)
    session = Session.open_on(perf_host.sapphire_rapids(tmp_path), kernel=kernel)
    counted = count(PerfMeter(host=session.host, kernel=kernel))

    assert all(len(group) <= 4 for groups in session.rounds for group in groups)
    assert counted.counts.work == {"fp64": 807, "fp32": 80}


@pytest.mark.parametrize(
    ("number", "paranoid", "said"),
    [
        (errno.EACCES, "3\n", "perf_event_paranoid is 3; sysctl kernel.perf_event_paranoid=2"),
        (errno.EPERM, "4\n", "perf_event_paranoid is 4"),
        (errno.EBUSY, "2\n", "another program uses the PMU"),
        (errno.ENOENT, "2\n", "no such counter"),
        (errno.EOPNOTSUPP, "2\n", "no such counter"),
        (errno.EMFILE, "2\n", "ulimit -n"),
        (errno.ENOSYS, "2\n", "no perf_event_open"),
        (errno.EINVAL, "2\n", "the PMU cannot count it"),
    ],
)
def test_refusals_say_why_and_what_to_do(tmp_path, number, paranoid, said):
    """Each error of perf_event_open has its own words."""
    host = perf_host.sapphire_rapids(tmp_path, **{"proc/sys/kernel/perf_event_paranoid": paranoid})
    meter = PerfMeter(host=host, kernel=spr_kernel(refusals={(4, None): number}))
    lack = meter.why_unavailable()

    assert said in f"{lack.reason}; {lack.remedy}"
    with pytest.raises(MeterUnavailable):
        count(meter)


def test_a_filter_of_a_container_is_told_from_a_setting(tmp_path):
    """The setting would allow it: then seccomp forbids it."""
    host = perf_host.sapphire_rapids(tmp_path, **{"proc/self/status": "Seccomp:\t2\n"})
    lack = PerfMeter(
        host=host, kernel=spr_kernel(refusals={(4, None): errno.EPERM})
    ).why_unavailable()
    assert "seccomp" in lack.reason


def test_memory_counters_without_rights_leave_traffic_unknown(tmp_path):
    """The usual case: paranoid 2 gives a user their own work, and no uncore."""
    host = perf_host.sapphire_rapids(tmp_path, **{"proc/sys/kernel/perf_event_paranoid": "2\n"})
    refusals = {(number, -1): errno.EACCES for number in (20, 30, 31)}
    counted = count(PerfMeter(host=host, kernel=spr_kernel(refusals=refusals)))
    (said,) = [one.seen for one in counted.cautions if "memory traffic" in one.seen]

    assert counted.counts.work_flop == 887
    assert (counted.traffic, counted.energy_j) == ((), None)
    assert "perf_event_paranoid is 2" in said
    assert "sysctl kernel.perf_event_paranoid=0" in said


def test_a_pmu_that_vanishes_is_an_error(tmp_path):
    """Between opening and reading: no zero."""
    kernel = spr_kernel(gone={4})
    with pytest.raises(CannotMeasure, match="cannot read"):
        count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel))
    assert kernel.open_now == {}


def test_a_memory_controller_that_vanishes_leaves_the_work(tmp_path):
    """Its module was removed meanwhile: traffic is unknown, nothing else is lost."""
    host = perf_host.sapphire_rapids(tmp_path)
    counted = count(PerfMeter(host=host, kernel=spr_kernel(gone={31})))

    assert counted.counts.work_flop == 887
    assert counted.traffic == ()
    assert any("any more" in one.seen for one in counted.cautions)


def test_the_doctor_lists_what_is_counted_and_what_is_forbidden(tmp_path, monkeypatch):
    """Work is there; memory needs more rights."""
    kernel = spr_kernel(refusals={(number, -1): errno.EACCES for number in (20, 30, 31)})
    meter = PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel)
    monkeypatch.setattr("ridgepoint.doctor.PerfMeter", lambda: meter)
    finding = doctor._counters()

    assert finding.works
    assert "Sapphire Rapids" in finding.detail
    assert "fp64, fp32, fp16, instructions" in finding.detail
    assert "perf_event_paranoid is 0" in finding.detail
    assert finding.cost == "memory traffic is unknown with --meter perf"


def test_a_host_without_a_pmu_says_so(tmp_path):
    """As most virtual machines."""
    host = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("AuthenticAMD", 26, 2, flags="fpu hypervisor"),
            **perf_host.pmu("software", 1, {}),
        },
    )
    lack = PerfMeter(host=host, kernel=ScriptedKernel()).why_unavailable()
    assert lack.reason == "this virtual machine shows no performance-monitoring unit"


def test_a_cpu_that_its_number_does_not_name_is_not_counted(tmp_path):
    """A VM with Rocket Lake's number and AMX: its events are another CPU's."""
    host = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 167, 1, "avx512f amx_tile"),
            **perf_host.pmu("cpu", 4, perf_host.INTEL_FORMAT),
        },
    )

    lack = PerfMeter(host=host, kernel=ScriptedKernel()).why_unavailable()
    assert "reported as Rocket Lake; its features are those of Sapphire Rapids" in lack.reason


def test_an_unknown_cpu_names_itself(tmp_path):
    """So that a file can be written for it."""
    host = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 254),
            **perf_host.pmu("cpu", 4, perf_host.INTEL_FORMAT),
        },
    )
    lack = PerfMeter(host=host, kernel=ScriptedKernel()).why_unavailable()
    assert "GenuineIntel family 6 model 0xfe" in lack.reason


def test_westmere_needs_its_precision_to_be_assumed(tmp_path):
    """Packed instructions of both precisions are one event: only one metric may use it."""
    westmere = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 44),
            **perf_host.pmu("cpu", 4, perf_host.INTEL_FORMAT),
        },
    )
    session = Session.open_on(westmere, kernel=ScriptedKernel(), assumed="fp32")
    assert "fp32" in session.plan.metrics
    assert "fp64" not in session.plan.metrics


def test_reads_are_a_share_of_the_total_on_client_parts(tmp_path):
    """Meteor Lake: 90 units of 32 byte; 1 read command for every 2 writes."""
    meteor = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("GenuineIntel", 6, 170),
            **perf_host.pmu("cpu_core", 4, perf_host.INTEL_FORMAT, cpus="0-3\n"),
            **perf_host.pmu("uncore_imc_0", 30, perf_host.INTEL_FORMAT, cpumask="0\n"),
        },
    )
    kernel = ScriptedKernel(counts={(30, 0x3C): 90, (30, 0x22): 10, (30, 0x23): 20})
    session = Session.open_on(meteor, kernel=kernel)
    with session.following_exec(0):
        pass
    amounts = session.amounts()

    assert amounts["dram_total"].value == 2880
    assert (amounts["dram_read"].value, amounts["dram_write"].value) == (960, 1920)


def test_traffic_that_is_not_split_is_told_as_a_total(tmp_path):
    """Zen 2 counts reads and writes of a channel together: 10 of 64 byte on one of eight."""
    zen2 = perf_host.host(
        tmp_path,
        {
            "proc/cpuinfo": perf_host.cpuinfo("AuthenticAMD", 23, 49),
            **perf_host.pmu("cpu", 4, perf_host.AMD_FORMAT),
            **perf_host.pmu("amd_df", 12, perf_host.AMD_FORMAT, cpumask="0\n"),
        },
    )
    counted = count(PerfMeter(host=zen2, kernel=ScriptedKernel(counts={(12, 0x3807): 10})))

    assert counted.traffic == ()
    assert any("reads and writes together are 640 B" in one.seen for one in counted.cautions)


def test_traffic_through_other_memories_is_said(tmp_path):
    """Optane modules on the same channels: 3 reads of 64 byte on each of 2 channels, 2 sockets."""
    kernel = spr_kernel()
    kernel.counts |= {(30, 0xE3): 3, (31, 0xE3): 3}
    counted = count(PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel))
    assert any("768 B went through PMEM" in one.seen for one in counted.cautions)


def test_calibration_refuses_what_is_off_by_a_factor(tmp_path):
    """Half the flop that a kernel does: a document and this CPU disagree."""
    calibration = calibrate(
        [
            Known(kernel="fma", metric="fp64", expected=1000, counted=500),
            Known(kernel="fma", metric="instructions", expected=1000, counted=1001),
        ]
    )
    meter = PerfMeter(
        host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel(), calibration=calibration
    )

    assert calibration.factors == {"fp64": 0.5, "instructions": 1.001}
    with pytest.raises(CannotMeasure, match=r"counts 0\.5 times .* kernel fma"):
        count(meter)


def test_calibration_allows_traffic_more_than_work():
    """5 % more bytes are page walks and neighbours; 5 % more flop are an error."""
    calibration = calibrate(
        [
            Known(kernel="copy", metric="dram_read", expected=100, counted=105),
            Known(kernel="fma", metric="fp64", expected=100, counted=105),
        ]
    )
    assert set(calibration.refused) == {"fp64"}


def test_one_bad_kernel_is_enough_to_refuse_a_metric():
    """The median is right, and 512-bit vectors count half."""
    known = [
        Known(kernel=kernel, metric="fp64", expected=100, counted=counted)
        for kernel, counted in (("scalar", 100), ("256-bit", 100), ("512-bit", 50))
    ]
    calibration = calibrate(known)

    assert calibration.factors == {"fp64": 1.0}
    assert "512-bit" in calibration.refused["fp64"]


def test_the_traffic_of_the_idle_machine_is_subtracted_if_asked(tmp_path):
    """The script moves as much while idle as in the run, in 1/100 of its time: nothing is left."""
    meter = PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=spr_kernel(), idle_s=0.01)
    counted = count(meter)

    assert counted.traffic[0].read_bytes == 0
    assert any("less the traffic of the idle machine" in one.seen for one in counted.cautions)


def test_what_cannot_be_counted_has_a_reason(tmp_path):
    """Neither an event nor a PMU: each says which."""
    host = perf_host.sapphire_rapids(tmp_path)
    session = Session.open_on(host, kernel=spr_kernel())
    plan = make_plan(host, session.plan.microarchitecture)

    assert plan.unknown["hbm_read"] == "the kernel shows no PMU 'uncore_hbm'"
    assert "has no event for it" in plan.unknown["bf16"]


def test_kernels_of_known_work_confirm_a_cpu(tmp_path):
    """About 20 Mflop of each precision, in every width that this machine has."""
    kernel = ScriptedKernel(counts={(4, 0x01C7): 20_000_000, (4, 0x02C7): 20_000_000})
    session = Session.open_on(perf_host.sapphire_rapids(tmp_path), kernel=kernel)
    known = known_work(session)
    calibration = calibrate(known)

    assert {"add scalar fp64", "add scalar fp32"} <= {one.kernel for one in known}
    assert all(one.expected == pytest.approx(20e6, rel=0.01) for one in known)
    assert calibration.refused == {}


def test_a_meter_that_verifies_refuses_what_the_cpu_counts_by_half(tmp_path):
    """10 Mflop counted of each kernel of 20: no work is better than half of it."""
    kernel = ScriptedKernel(counts={(4, 0x01C7): 10_000_000, (4, 0xC0): 1})
    meter = PerfMeter(host=perf_host.sapphire_rapids(tmp_path), kernel=kernel, verify=True)

    with pytest.raises(CannotMeasure, match=r"this CPU counts 0\.5 times"):
        count(meter)


def test_merged_precisions_are_verified_together(tmp_path):
    """Zen 4: kernels of both precisions are counted by one event."""
    kernel = ScriptedKernel(counts={(4, 0x1F03): 20_000_000})
    session = Session.open_on(perf_host.zen4(tmp_path), kernel=kernel)
    assert {one.metric for one in known_work(session)} == {"flop"}
