"""The machinery of counters on this kernel, with software events: every machine has them."""

import mmap
import os
import sys
import threading
import time
from dataclasses import replace

import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.run import resolve, run
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.perf import PerfMeter
from ridgepoint.meters.perf.catalogue import Core, Event, Metric, Microarchitecture
from ridgepoint.meters.perf.groups import Counter
from ridgepoint.meters.perf.host import Host
from ridgepoint.meters.perf.kernel import LinuxKernel
from ridgepoint.meters.perf.metrics import LEAST_SHARE
from ridgepoint.meters.perf.opened import fitted, opened
from ridgepoint.meters.perf.plan import Plan
from ridgepoint.meters.perf.session import Session
from ridgepoint.meters.perf.sysfs import Encoding, Pmu, pmus
from ridgepoint.profiling.program import measure_program

pytestmark = pytest.mark.hardware

PAGES = 5000
TOUCH = f"m = bytearray({PAGES} * {mmap.PAGESIZE})"
# The pages of a buffer that a child of a child touches, and not a page of the parents.
FAMILY = f"""
import os
for generation in range(2):
    if os.fork():
        os.wait()
        os._exit(0)
{TOUCH}
"""
THREADS = f"""
import threading
def touch():
    {TOUCH}
threads = [threading.Thread(target=touch) for _ in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
BURN = "import time\nwhile time.process_time() < 0.3: pass"


@pytest.fixture(scope="module")
def software():
    """Return counters of software events: CPU time in ns, and page faults."""
    found = next((pmu for pmu in pmus(Host()) if pmu.name == "software"), None)
    if found is None:
        pytest.skip("the kernel shows no software events")
    task_clock = Counter(pmu=found, encoding=Encoding(config=1), name="task-clock")
    page_faults = Counter(pmu=found, encoding=Encoding(config=2), name="page-faults")
    try:
        fitted(LinuxKernel(), Host(), (task_clock,))
    except CannotMeasure as lack:
        pytest.skip(str(lack))
    return task_clock, page_faults


@pytest.fixture
def session(software):
    """Return a session whose only round counts CPU time and page faults, as one group."""
    return Session(kernel=LinuxKernel(), host=Host(), plan=_no_plan(), rounds=((software,),))


def _no_plan():
    """Return the plan of a CPU that counts nothing itself."""
    nothing = Microarchitecture(name="none", confidence="high", notes=(), sources=(), core=())
    return Plan(microarchitecture=nothing, metrics={}, instances={}, energy=(), unknown={})


def counted(session, code):
    """Return the readings of CPU time and page faults of a Python program, and its run."""
    command = resolve((sys.executable, "-S", "-c", code))
    with own_standard_input() as stdin, session.following_exec(0):
        done = run(command, stdin=stdin, output="discard")
    return *(session.readings[one.key] for one in session.rounds[0][0]), done


def test_the_task_clock_of_a_command_is_its_cpu_time(session):
    """As wait4 tells it, without this process's own."""
    clock, _, done = counted(session, BURN)
    assert clock.count / 1e9 == pytest.approx(done.cpu_s, rel=0.1, abs=0.02)


def test_page_faults_of_a_command_are_the_pages_that_it_touches(session):
    """Over those of a program that touches none; huge pages would fault less."""
    _, without, _ = counted(session, "pass")
    _, touched, _ = counted(session, TOUCH)
    if touched.count - without.count < PAGES // 10:
        pytest.skip("this kernel gives huge pages unasked")
    assert touched.count - without.count == pytest.approx(PAGES, abs=100)


def test_children_of_children_are_counted(session):
    """The buffer is touched two generations on."""
    _, without, _ = counted(session, "import os")
    _, touched, _ = counted(session, FAMILY)
    if touched.count < PAGES // 2:
        pytest.skip("this kernel gives huge pages unasked")
    assert PAGES <= touched.count - without.count < PAGES + 3000  # a fork copies pages


def test_threads_are_counted(session):
    """Two threads touch a buffer each."""
    _, without, _ = counted(session, "import threading")
    _, touched, _ = counted(session, THREADS)
    if touched.count < PAGES // 2:
        pytest.skip("this kernel gives huge pages unasked")
    assert touched.count - without.count == pytest.approx(2 * PAGES, abs=300)


def test_nothing_of_this_process_is_counted_with_a_command(session):
    """Neither its own work nor that of threads that it starts meanwhile."""
    command = resolve(("true",))

    def burn():
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass

    with own_standard_input() as stdin, session.following_exec(0):
        thread = threading.Thread(target=burn)
        thread.start()
        thread.join()
        run(command, stdin=stdin, output="discard")
    clock = session.readings[session.rounds[0][0][0].key]
    assert 0 < clock.count < 100e6


def test_a_command_that_was_never_started_is_not_zero(session):
    """Its events were never enabled, which tells it from a command that did nothing."""
    with session.following_exec(0):
        pass
    readings = list(session.readings.values())

    assert all(one.enabled_ns == 0 for one in readings)
    assert all(one.share < LEAST_SHARE for one in readings)


def test_software_events_never_take_turns(session):
    """All of a group run whenever they are enabled."""
    clock, faults, _ = counted(session, BURN)

    assert clock.running_ns == clock.enabled_ns
    assert (faults.enabled_ns, faults.running_ns) == (clock.enabled_ns, clock.running_ns)


def test_a_part_of_this_process_is_counted_with_all_its_threads(session):
    """A thread that was there before, one that comes later, and the calling one touch pages."""
    begin, done = threading.Event(), threading.Event()

    def touch():
        size = PAGES * mmap.PAGESIZE
        with mmap.mmap(-1, size) as memory:
            if hasattr(mmap, "MADV_NOHUGEPAGE"):
                memory.madvise(mmap.MADV_NOHUGEPAGE)
            for at in range(0, size, mmap.PAGESIZE):
                memory[at] = 1

    def wait_and_touch():
        begin.wait()
        touch()
        done.set()

    early = threading.Thread(target=wait_and_touch)
    early.start()
    with session.counting(0):
        begin.set()
        done.wait()
        late = threading.Thread(target=touch)
        late.start()
        late.join()
        touch()
    early.join()
    faults = session.readings[session.rounds[0][0][1].key]
    assert faults.count == pytest.approx(3 * PAGES, abs=200)


def test_context_switches_are_counted_with_the_kernel(software):
    """They happen in the kernel: a program that sleeps a hundred times switches as often."""
    kernel, host = LinuxKernel(), Host()
    switches = Counter(pmu=software[0].pmu, encoding=Encoding(config=3), name="context-switches")
    if os.geteuid() and (host.paranoid or 0) > 1:
        pytest.skip("perf_event_paranoid lets a user count no events of the kernel")
    with opened(kernel, host) as events:
        events.add_group((switches,), user_only=False)
        events.enable()
        for _ in range(100):
            time.sleep(1e-4)
        events.disable()
        (reading,) = events.read().values()
    assert reading.count >= 100


def test_an_event_that_there_is_not_is_refused_by_name():
    """A type of PMU that no kernel has."""
    missing = Pmu(name="missing", type=9999, formats={})
    counter = Counter(pmu=missing, encoding=Encoding(config=1), name="nothing")

    with pytest.raises(CannotMeasure, match="cannot count 'nothing' on the PMU 'missing'"):
        fitted(LinuxKernel(), Host(), (counter,))


@pytest.fixture
def software_cpu(software, monkeypatch):
    """Return a meter of a CPU whose events are the kernel's: its time in ns, and page faults."""
    pmu = replace(software[0].pmu, formats={"event": "config:0-63"})
    cpu = Microarchitecture(
        name="Software",
        confidence="high",
        notes=(),
        sources=(),
        core=(Core(pmu="software", counters=1),),
        metric=tuple(
            Metric(
                name=name,
                pmu="software",
                quality="documented",
                source="include/uapi/linux/perf_event.h",
                events=(Event(name=name, event=number, weight=weight, width_bits=0),),
            )
            for name, number, weight in (("fp64", 1, 2), ("instructions", 2, 1))
        ),
    )
    monkeypatch.setattr("ridgepoint.meters.perf.session._microarchitecture", lambda host: cpu)
    monkeypatch.setattr("ridgepoint.meters.perf.plan.pmus", lambda host: (pmu,))
    return PerfMeter()


def test_a_program_is_measured_from_end_to_end(software_cpu, capfd):
    """Twice its CPU time in ns as work; with one counter in two runs, of which one is heard."""
    command = (sys.executable, "-S", "-c", f"{BURN}\nprint('heard')")
    measurement = measure_program(command, meter=software_cpu, counts_only=True)
    counted = measurement.counted

    assert counted.meter == "perf (Software)"
    assert 2 * 0.28e9 < counted.counts.work["fp64"] < 2 * 0.6e9  # from exec on, with its end
    assert counted.counts.instructions > 100  # pages of any Python
    assert counted.counts.loads is None
    assert [one.code for one in counted.cautions][:1] == ["several-runs"]
    assert capfd.readouterr().out == "heard\n"
