"""A host's files and a kernel's answers, scripted, for tests of hardware counters."""

import errno
import os
from dataclasses import dataclass, field

from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.kernel import Reading

DEVICES = "sys/bus/event_source/devices"
WHOLE_RUN_NS = 1_000_000_000

INTEL_FORMAT = {"event": "config:0-7", "umask": "config:8-15"}
AMD_FORMAT = {"event": "config:0-7,32-35", "umask": "config:8-15"}
UMC_FORMAT = {"event": "config:0-7", "rdwrmask": "config:8-9"}
ARM_FORMAT = {"event": "config:0-15"}


def cpuinfo(vendor, family, model, stepping=1, flags="fpu sse2"):
    """Return /proc/cpuinfo of a host with one processor."""
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        f"model name\t: a CPU\nstepping\t: {stepping}\nflags\t\t: {flags}\n\n"
    )


def pmu(name, number, formats, **files):
    """Return the files of a PMU."""
    folder = f"{DEVICES}/{name}"
    return {
        f"{folder}/type": f"{number}\n",
        **{f"{folder}/format/{field}": f"{bits}\n" for field, bits in formats.items()},
        **{f"{folder}/{key.replace('__', '/')}": text for key, text in files.items()},
    }


def host(root, files):
    """Write files under a root and return it as a host."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return Host(root)


def sapphire_rapids(root, **more):
    """Return a host with two sockets, two memory channels in each, and RAPL."""
    power = f"{DEVICES}/power/events"
    return host(
        root,
        {
            "proc/cpuinfo": cpuinfo("GenuineIntel", 6, 143, 8),
            "proc/sys/kernel/perf_event_paranoid": "0\n",
            **pmu("cpu", 4, INTEL_FORMAT),
            **pmu("uncore_imc_0", 30, INTEL_FORMAT, cpumask="0,56\n"),
            **pmu("uncore_imc_1", 31, INTEL_FORMAT, cpumask="0,56\n"),
            **pmu("uncore_imc_free_running_0", 32, INTEL_FORMAT, cpumask="0,56\n"),
            **pmu("power", 20, {"event": "config:0-7"}, cpumask="0,56\n"),
            f"{power}/energy-pkg": "event=0x02\n",
            f"{power}/energy-pkg.scale": "2.3283064365386962890625e-10\n",
            f"{power}/energy-pkg.unit": "Joules\n",
            **more,
        },
    )


def zen4(root, **more):
    """Return a host with one socket of Zen 4 and two memory controllers."""
    return host(
        root,
        {
            "proc/cpuinfo": cpuinfo("AuthenticAMD", 25, 17),
            "proc/sys/kernel/perf_event_paranoid": "0\n",
            **pmu("cpu", 4, AMD_FORMAT),
            **pmu("amd_umc_0", 40, UMC_FORMAT, cpumask="0\n"),
            **pmu("amd_umc_1", 41, UMC_FORMAT, cpumask="0\n"),
            **more,
        },
    )


def alder_lake(root, **more):
    """Return a hybrid host: CPUs 0-15 are P-cores, 16-23 E-cores."""
    return host(
        root,
        {
            "proc/cpuinfo": cpuinfo("GenuineIntel", 6, 151),
            "proc/sys/kernel/perf_event_paranoid": "2\n",
            **pmu("cpu_core", 4, INTEL_FORMAT, cpus="0-15\n"),
            **pmu("cpu_atom", 10, INTEL_FORMAT, cpus="16-23\n"),
            **more,
        },
    )


def neoverse(root, part, **more):
    """Return a host with Arm's cores of a part."""
    return host(
        root,
        {
            "sys/devices/system/cpu/cpu0/regs/identification/midr_el1": (
                f"{0x410F0000 | part << 4:#018x}\n"
            ),
            "proc/sys/kernel/perf_event_paranoid": "2\n",
            **pmu("armv8_pmuv3_0", 8, ARM_FORMAT, cpus="0-63\n"),
            **more,
        },
    )


@dataclass
class ScriptedKernel:
    """Answers as it was told to.

    Parameters
    ----------
    counts : dict
        (type, config) to what each event counts on each thread or CPU; 0 where nothing is said.
    shares : dict
        Type to the share of the time that its events had a counter; 1 where nothing is said.
    refusals : dict
        (type, pid) to the error of opening; a pid of None means any.
    most_in_group : int
        Events of one group beyond which it answers EINVAL.
    gone : set
        Types whose events can be read no longer.
    """

    counts: dict = field(default_factory=dict)
    shares: dict = field(default_factory=dict)
    refusals: dict = field(default_factory=dict)
    most_in_group: int = 100
    gone: set = field(default_factory=set)
    opened: list = field(default_factory=list)  # (attributes, pid, cpu, group), in order
    open_now: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)

    def open(self, attributes, *, pid, cpu, group):
        """Return a descriptor, or refuse."""
        for key in ((attributes.type, pid), (attributes.type, None)):
            if key in self.refusals:
                raise OSError(self.refusals[key], os.strerror(self.refusals[key]))
        if self.groups.get(group, 0) >= self.most_in_group:
            raise OSError(errno.EINVAL, "Invalid argument")
        fd = 100 + len(self.opened)
        leader = fd if group == -1 else group
        self.groups[leader] = self.groups.get(leader, 0) + 1
        self.opened.append((attributes, pid, cpu, group))
        self.open_now[fd] = attributes
        return fd

    def enable(self, fd):
        """Start, if it is open."""
        assert fd in self.open_now

    def disable(self, fd):
        """Stop, if it is open."""
        assert fd in self.open_now

    def read(self, fd):
        """Return what it was told."""
        attributes = self.open_now[fd]
        if attributes.type in self.gone:
            raise OSError(errno.ENODEV, "No such device")
        return Reading(
            count=self.counts.get((attributes.type, attributes.config), 0),
            enabled_ns=WHOLE_RUN_NS,
            running_ns=round(WHOLE_RUN_NS * self.shares.get(attributes.type, 1)),
        )

    def close(self, fd):
        """Close what is open, once."""
        del self.open_now[fd]
