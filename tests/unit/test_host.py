"""What this host is, from captured trees of /proc and /sys."""

import os

import pytest

from ridgepoint.host import System, data_caches, parse_cpu_list

# /proc/cpuinfo of a 2-core cloud VM, first processor, shortened list of flags.
ZEN4_VM = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0x1000065
cpu MHz\t\t: 2596.138
flags\t\t: fpu sse2 avx avx2 avx512f hypervisor

processor\t: 1
model name\t: another
"""
# of a Raspberry Pi 4: no model name, no flags but Features
CORTEX = """\
processor\t: 0
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm crc32 cpuid
CPU implementer\t: 0x41
CPU part\t: 0xd08
"""


@pytest.fixture
def tree(tmp_path):
    """Return a function that writes files under a root and gives the System there."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return System(root=tmp_path)

    return write


def cache_files(index, level, kind, size, line, ways, shared):
    """Return the files of one cache as /sys shows it."""
    base = f"sys/devices/system/cpu/cpu0/cache/index{index}"
    values = {
        "level": level, "type": kind, "size": size, "coherency_line_size": line,
        "ways_of_associativity": ways, "shared_cpu_list": shared,
    }  # fmt: skip
    return {f"{base}/{name}": f"{value}\n" for name, value in values.items()}


def test_zen4_vm_is_described(tree):
    """Name, hypervisor, memory and the first processor's flags."""
    system = tree(
        {
            "proc/cpuinfo": ZEN4_VM,
            "proc/meminfo": "MemTotal:  24684096 kB\nMemAvailable:   24461496 kB\n",
        }
    )

    assert system.cpu == "AMD EPYC"
    assert system.virtualized is True
    assert system.reported_frequency_hz == 2596.138e6
    assert system.memory_bytes == 24684096 * 1024
    assert {"avx512f", "hypervisor"} <= system.flags


def test_cpu_without_a_name_is_unknown_not_empty(tree):
    """An Arm kernel gives numbers instead of a name."""
    system = tree({"proc/cpuinfo": CORTEX})

    assert system.cpu.startswith("unknown ")
    assert system.reported_frequency_hz is None
    assert system.memory_bytes is None


def test_caches_come_from_the_core_outwards(tree):
    """L3 is shared by eight CPUs; the instruction cache is no data cache."""
    system = tree(
        cache_files(3, 3, "Unified", "32768K", 64, 16, "0-7")
        | cache_files(0, 1, "Data", "32K", 64, 8, "0")
        | cache_files(1, 1, "Instruction", "32K", 64, 8, "0")
        | cache_files(2, 2, "Unified", "1024K", 64, 8, "0")
    )
    caches = data_caches(system.caches)

    assert [(c.size_bytes, c.ways, c.cores) for c in caches.values()] == [
        (32768, 8, 1),
        (1048576, 8, 1),
        (33554432, 16, 8),
    ]
    assert len(system.caches) == 4


def test_cache_without_a_size_is_left_out_and_ways_may_be_unknown(tree):
    """Some hypervisors print 0 for what they do not know."""
    system = tree(
        cache_files(0, 1, "Data", "32K", 64, 0, "0")
        | cache_files(1, 2, "Unified", "0K", 64, 8, "0")
    )

    assert [(c.level, c.ways) for c in system.caches] == [(1, None)]


def test_host_that_describes_no_cache_has_none(tree):
    """A container without /sys; that the user is told what to do, doubts of the machine say."""
    assert data_caches(tree({}).caches) == {}


@pytest.mark.parametrize(
    ("text", "cpus"), [("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), ("", ()), ("2,4-5", (2, 4, 5))]
)
def test_cpu_lists_are_read_as_the_kernel_writes_them(text, cpus):
    """Ranges include both ends."""
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, None),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (  # cgroup v2 outside a container: the tightest of all groups above
            {
                "proc/self/cgroup": "0::/user.slice/job\n",
                "sys/fs/cgroup/user.slice/cpu.max": "50000 100000\n",
                "sys/fs/cgroup/user.slice/job/cpu.max": "400000 100000\n",
            },
            0.5,
        ),
        (  # cgroup v1
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n",
                "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        (  # v1 without a limit
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
    ],
)
def test_cpu_limit_of_control_groups_is_read(tree, files, limit):
    """Quota over period; the tightest holds."""
    assert tree(files).cpu_limit == limit


SMT = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def test_siblings_nodes_and_kinds_are_read_where_the_kernel_tells(tree, monkeypatch):
    """A hybrid part: two P-cores of two threads, two E-cores, one node."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(6)))
    siblings = {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3", 4: "4", 5: "5"}
    found = tree(
        {SMT.format(cpu): f"{text}\n" for cpu, text in siblings.items()}
        | {
            "sys/devices/system/node/node0/cpulist": "0-5\n",
            "sys/devices/cpu_core/cpus": "0-3\n",
            "sys/devices/cpu_atom/cpus": "4-5\n",
        }
    ).topology

    assert found.cores == ((0, 1), (2, 3), (4,), (5,))
    assert found.nodes == {"node 0": (0, 1, 2, 3, 4, 5)}
    assert found.kinds == {"P-core": (0, 1, 2, 3), "E-core": (4, 5)}
    assert found.one_per_core((0, 1, 2, 3)) == (0, 2)


def test_cpus_that_may_not_be_used_are_no_part_of_anything(tree, monkeypatch):
    """Affinity leaves one thread of a core, and one of two nodes."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {1, 2})
    found = tree(
        {SMT.format(1): "0-1\n", SMT.format(2): "2-3\n"}
        | {f"sys/devices/system/node/node{n}/cpulist": f"{n * 4}-{n * 4 + 3}\n" for n in (0, 1)}
        | {f"sys/devices/system/cpu/cpu{c}/cpu_capacity": f"{c * 512}\n" for c in (1, 2)}
    ).topology

    assert found.cores == ((1,), (2,))
    assert found.nodes == {"node 0": (1, 2)}
    assert found.kinds == {"capacity 1024": (2,), "capacity 512": (1,)}


def test_host_that_tells_nothing_has_cores_of_one_thread_in_one_node(tree, monkeypatch):
    """A container without /sys."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 7})
    found = tree({}).topology

    assert found.cores == ((0,), (7,))
    assert list(found.nodes.values()) == list(found.kinds.values()) == [(0, 7)]


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({"proc/meminfo": "MemAvailable: 1000 kB\n"}, 1_024_000),
        (  # cgroup v2: 600 kB of its 800 kB are used
            {
                "proc/meminfo": "MemAvailable: 1000 kB\n",
                "proc/self/cgroup": "0::/job\n",
                "sys/fs/cgroup/job/memory.max": "800000\n",
                "sys/fs/cgroup/job/memory.current": "600000\n",
                "sys/fs/cgroup/memory.max": "max\n",
            },
            200_000,
        ),
        (  # cgroup v1, limited inside and "unlimited" outside
            {
                "proc/self/cgroup": "5:memory:/docker/abc\n",
                "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "500000\n",
                "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "600000\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "7\n",
            },
            0,
        ),
        ({}, None),
    ],
)
def test_memory_that_can_be_had_is_what_every_limit_leaves(tree, files, available):
    """The tightest of all."""
    assert tree(files).available_bytes == available


def stat(busy, steal):
    """Return /proc/stat of two CPUs, in hundredths of a second; CPU 1 is idle."""
    return (
        f"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 {busy} 0 0 500 0 0 0 {steal} 0 0\n"
        "cpu1 0 0 0 500 0 0 0 0 0 0\nintr 1\n"
    )


def test_other_processes_are_found_by_the_time_they_took(tree, monkeypatch):
    """In 10 s CPU 0 was busy for 9 s, 3 of them ours; the name of the other has a space."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})
    monkeypatch.setattr("os.sysconf", lambda _name: 100)
    other = "4242 (my (prog) x) R 1 1 1 0 -1 0 0 0 0 0 {} 50 0 0 20 0 1 0 77 0 0\n"
    moments = []
    for seconds, ours, busy, taken, steal in ((0, 1.0, 100, 10, 0), (10, 4.0, 1000, 560, 100)):
        monkeypatch.setattr("time.monotonic", lambda now=seconds: float(now))
        times = os.times_result((ours, 0.0, 0.0, 0.0, 0.0))
        monkeypatch.setattr("os.times", lambda times=times: times)
        files = {"proc/stat": stat(busy, steal), "proc/4242/stat": other.format(taken)}
        moments.append(tree(files).activity())
    before, after = moments

    assert before.others_cpus(after) == pytest.approx(0.6)
    assert before.stolen_cpus(after) == pytest.approx(0.1)
    assert before.busiest(after) == (4242, "my (prog) x", 5.5)


def test_running_children_are_no_others(tree):
    """What watches over runs, say: 1 s of user and 2 s of system time are ours."""
    own = os.getpid()
    files = {
        "proc/70/stat": f"70 (child) S {own} 0 0 0 0 0 0 0 0 0 100 200 0 0",
        "proc/71/stat": "71 (other) S 1 0 0 0 0 0 0 0 0 0 300 400 0 0",
    }
    alone = tree({}).activity()
    both = tree(files).activity()

    assert both.processes == {(71, "other"): 7.0}
    assert both.own_s - alone.own_s == pytest.approx(3.0, abs=0.2)


def test_activity_that_the_kernel_does_not_tell_is_unknown(tree):
    """No /proc/stat: not 0 CPUs."""
    moment = tree({}).activity()

    assert moment.others_cpus(moment) is None
    assert moment.stolen_cpus(moment) is None
    assert moment.busiest(moment) is None
