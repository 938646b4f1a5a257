from dataclasses import dataclass, field

import pytest

from ridgepoint.ceilings import session
from ridgepoint.ceilings.pool import Timing
from ridgepoint.ceilings.rounds import QUICK, THOROUGH
from ridgepoint.core.machine import Cache
from ridgepoint.host import Activity, Topology
from ridgepoint.kernels.jit import Compiler, Function

GIB = 1 << 30
_TOUCHING_AT_ONCE = 16  # threads beyond which memory is touched no faster
_ASKING_S = 50e-6  # to have one thread run a job
_ARRANGING_S = 60e-9  # of each line that is visited at random


class Clock:
    """Seconds that pass when something is done."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        """Return them."""
        return self.now


@dataclass
class ScriptedPool:
    """As many pinned threads as are asked for; work takes simulated time."""

    clock: Clock
    host: "Host"
    bytes_per_s: float
    buffers: dict = field(default_factory=dict)

    def __call__(self, cpus, compiler, *, kinds):
        """Stand for the class."""
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    is_pinned = True

    def quietest(self, cpus):
        """Return any."""
        return cpus[0]

    def huge_share(self, job, *, cpus):
        """Say that all lies on huge pages."""
        return 1.0

    def prepare(self, job, *, cpus):
        """Have memory, touched by several threads at once."""
        key = (job.fill, job.extent_bytes if job.fill else None, job.small_pages)
        missing = [cpu for cpu in cpus if self.buffers.get((cpu, key), 0) < job.extent_bytes]
        for cpu in missing:
            self.buffers[cpu, key] = job.extent_bytes
        each = job.extent_bytes / self.host.touched_bytes_per_s
        if job.fill is not None:
            each += job.extent_bytes / 64 * _ARRANGING_S
        self.clock.now += each * len(missing) / min(max(len(missing), 1), _TOUCHING_AT_ONCE)

    def access_s(self, size, *, threads):
        """Return the time per access to a set of this size, by three caches and memory."""
        levels = (48 << 10, 1.5e-9), (2 << 20, 5e-9), (self.host.share_bytes / threads, 30e-9)
        total, inner = 0.0, 0.0
        for held, latency_s in (*levels, (float("inf"), 150e-9)):
            total += max(0.0, min(size, held) - inner) * latency_s
            inner = max(inner, min(size, held))
        return total / size

    def run(self, job, *, cpus):
        """Take time for the bytes or the work of a job, and for asking every thread."""
        self.prepare(job, cpus=cpus)
        name = job.function.assembly
        if name == "visit" or job.fill is not None:
            one_s = 32 * self.access_s(job.size_bytes, threads=len(cpus))
        else:
            one_s = max(job.size_bytes / self.bytes_per_s, 20e-9)
        seconds = one_s * job.repeats
        self.clock.now += seconds + one_s * job.warm_repeats + _ASKING_S * len(cpus) + 3e-4
        return Timing(seconds=seconds, waited=0.0, frequency_hz=2e9, issue=1.0, migrated=False)


class InstantCodes:
    """Every kernel is compiled, and sound."""

    def __init__(self, compiler, kernels):
        pass

    def function(self, kernel):
        """Return one that has the kernel's name."""
        return Function(architecture="x86_64", machine_code=b"", assembly=kernel.name, address=0)

    def why_refused(self, kernel):
        """Refuse none."""
        return None


@dataclass
class Host:
    """A host with as many cores and as much cache as are asked for."""

    cores: int
    last_cache_bytes: int
    available_bytes: int
    share_bytes: int
    touched_bytes_per_s: float
    cpu_limit = None

    @property
    def topology(self):
        """One thread to a core; two nodes of many."""
        every = tuple(range(self.cores))
        half = self.cores // 2
        nodes = {"node 0": every[:half], "node 1": every[half:]} if half > 32 else {"node": every}
        return Topology(cores=tuple((cpu,) for cpu in every), nodes=nodes, kinds={"core": every})

    @property
    def caches(self):
        """As the system describes them."""
        return (
            Cache(level=1, kind="data", size_bytes=48 << 10, line_bytes=64, ways=12),
            Cache(level=2, kind="unified", size_bytes=2 << 20, line_bytes=64, ways=16),
            Cache(
                level=3,
                kind="unified",
                size_bytes=self.last_cache_bytes,
                line_bytes=64,
                ways=16,
                cores=self.cores,
            ),
        )

    def activity(self):
        """Tell nothing."""
        return Activity(at_s=0.0, busy_s=None, steal_s=None, own_s=0.0, processes={})


@pytest.fixture
def measured(monkeypatch):
    """Return a function that measures a scripted host: what came out, and how long it took."""

    def measure(*, effort, quick, bytes_per_s=8e9, **fields):
        host, clock = Host(**fields), Clock()
        monkeypatch.setattr(session, "usable_cpus", lambda: tuple(range(host.cores)))
        monkeypatch.setattr(session, "Pool", ScriptedPool(clock, host, bytes_per_s))
        monkeypatch.setattr(session, "Codes", InstantCodes)
        outcome = session.measure(
            host,
            Compiler(),
            lambda task: task.essential or not quick,
            effort=effort,
            clock=clock,
        )
        return outcome, clock.now

    return measure


HOSTS = {
    "2 cores, 32 MiB of L3": {
        "cores": 2,
        "last_cache_bytes": 32 << 20,
        "share_bytes": 32 << 20,
        "available_bytes": 8 * GIB,
        "touched_bytes_per_s": 2e9,
    },
    "192 cores, 2 GiB of L3": {
        "cores": 192,
        "last_cache_bytes": 2 * GIB,
        "share_bytes": 2 * GIB,
        "available_bytes": 700 * GIB,
        "touched_bytes_per_s": 2e9,
    },
    # Memory of a virtual machine that nobody used before, as seen.
    "2 cores that are shown 480 MiB and get 10": {
        "cores": 2,
        "last_cache_bytes": 480 << 20,
        "share_bytes": 10 << 20,
        "available_bytes": 20 * GIB,
        "touched_bytes_per_s": 0.3e9,
    },
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("effort", "quick", "most_s"), [(THOROUGH, False, 30), (QUICK, True, 5)])
@pytest.mark.parametrize("bytes_per_s", [8e9, 0.5e9])
def test_budget_is_kept_on_any_machine(measured, host, effort, quick, most_s, bytes_per_s):
    """Also where memory is touched slowly, and moves at a sixteenth of what is usual."""
    outcome, elapsed_s = measured(
        effort=effort, quick=quick, bytes_per_s=bytes_per_s, **HOSTS[host]
    )

    assert elapsed_s <= most_s
    reasons = {caution.code for _, caution in outcome.refused}
    assert reasons <= {"no-time", "no-room", "no-memory", "dram-out-of-reach"}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("effort", "quick"), [(THOROUGH, False), (QUICK, True)])
def test_what_a_first_placement_needs_is_measured_first(measured, host, effort, quick):
    """Streams of memory and of the caches and the FMA peak of one core have samples in any case."""
    outcome, _ = measured(effort=effort, quick=quick, **HOSTS[host])
    one_core = {
        (contest.task.resource, contest.task.name): len(contest.best.samples)
        for contest in outcome.contests
        if len(contest.task.place.cpus) == 1
    }

    reached = {task.resource for task, why in outcome.refused if why.code == "dram-out-of-reach"}
    for level in {"l1", "l2", "l3", "dram"} - reached:
        assert one_core[level, "load"] >= 1
    fma = [n for (resource, name), n in one_core.items() if resource == "fp64" and "fma" in name]
    assert max(fma) >= 1


def test_every_ceiling_has_as_many_samples_though_some_are_refused(measured):
    """Where both cores' L3 cannot be measured, which would be among the first, others lack none."""
    outcome, _ = measured(
        effort=THOROUGH,
        quick=False,
        cores=2,
        last_cache_bytes=32 << 20,
        share_bytes=4 << 20,
        available_bytes=8 * GIB,
        touched_bytes_per_s=4e9,
    )

    refused = [task for task, why in outcome.refused if why.code == "no-room"]
    assert any(task.essential for task in refused)
    assert {len(contest.best.samples) for contest in outcome.contests} == {THOROUGH.rounds}


def test_main_memory_out_of_reach_is_not_said_to_lack_memory(measured):
    """Of 2 GiB of L3 on one core, streams and random accesses alike."""
    fields = HOSTS["192 cores, 2 GiB of L3"] | {"available_bytes": 8 * GIB}
    outcome, _ = measured(effort=THOROUGH, quick=False, **fields)
    alone = {
        task.name: why.code
        for task, why in outcome.refused
        if task.resource == "dram" and len(task.place.cpus) == 1
    }

    assert set(alone.values()) == {"dram-out-of-reach"}
    assert {"load", "chase"} <= set(alone)
