"""Regions measured in place, as far as nothing is counted."""

import itertools
import json
import subprocess
import sys
import threading
import time

import pytest
from core_inputs import MEASUREMENT

import ridgepoint
from ridgepoint.core.documents import encode
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls import watch
from ridgepoint.profiling.calls.replay import Replay, replay_here

NAMES = (f"region {number}" for number in itertools.count())


@pytest.fixture
def named():
    """Return a name that no other test uses: there is one region of a name in a process."""
    return next(NAMES)


def test_region_of_a_name_is_one_region(named):
    """Wherever it is asked for."""
    assert ridgepoint.measuring(named) is ridgepoint.measuring(named)


@pytest.mark.parametrize(
    ("name", "error"), [("", ValueError), ("a\nb", ValueError), (3, TypeError)]
)
def test_names_that_no_region_can_have_are_refused(name, error):
    """As those of `ridgepoint.region`."""
    with pytest.raises(error):
        ridgepoint.measuring(name)


def test_region_never_entered_is_refused(named):
    """And the message shows how it would be entered."""
    with pytest.raises(CannotMeasure, match=r"never entered; .*ridgepoint\.measuring"):
        ridgepoint.measuring(named).result()


def test_result_inside_of_the_region_is_refused(named):
    """Its last entry has no end yet."""
    with ridgepoint.measuring(named) as inside, pytest.raises(CannotMeasure, match="called inside"):
        inside.result()


def test_process_that_is_counted_already_is_refused(named, monkeypatch):
    """Valgrind would run under Valgrind."""
    monkeypatch.setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so")
    with ridgepoint.measuring(named) as region:
        pass
    with pytest.raises(CannotMeasure, match="already being counted"):
        region.result()


NO_SCRIPT = """
import ridgepoint
with ridgepoint.measuring("a") as region:
    pass
region.result()
"""


@pytest.mark.parametrize("by_standard_input", [True, False])
def test_code_without_a_script_is_refused(by_standard_input):
    """It cannot be run again; a function could be measured."""
    command = [sys.executable, *(() if by_standard_input else ("-c", NO_SCRIPT))]
    done = subprocess.run(command, input=NO_SCRIPT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "no script that can be run again" in done.stderr
    assert done.stderr.strip().endswith("measure a function: ridgepoint.measure()")


FORKS = """
import multiprocessing, ridgepoint
def works():
    with ridgepoint.measuring("a") as region:
        pass
    try:
        region.result()
    except ridgepoint.RidgepointError as error:
        print(error.reason)
if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=works)
    child.start()
    child.join()
"""


def test_process_of_multiprocessing_is_refused(tmp_path):
    """Its command line is not that of the script."""
    script = tmp_path / "script.py"
    script.write_text(FORKS)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)

    assert done.stdout == "this process was started by multiprocessing, and cannot be run again\n"


@pytest.fixture
def clock(monkeypatch):
    """Set the clocks: each reading of wall-clock time is 10 ns later, of CPU time 7 ns."""
    walls, cpus = itertools.count(0, 10), itertools.count(0, 7)
    monkeypatch.setattr(watch, "_now_ns", lambda: next(walls))
    monkeypatch.setattr(time, "process_time_ns", lambda: next(cpus))


@pytest.mark.usefixtures("clock")
def test_every_entry_is_a_sample(named):
    """Two readings each: 10 ns of wall-clock time and 7 ns of CPU time."""
    region = ridgepoint.measuring(named)
    for _ in range(20):
        with region:
            pass
    group, timed, overhead_s = region._clock.timed()

    assert (group, timed.runtime_s.samples) == (1, (10e-9,) * 20)
    assert timed.cpu_s.samples == (7e-9,) * 20
    assert overhead_s == 10e-9
    assert [caution.code for caution in timed.cautions] == ["overhead"]


def test_entries_beyond_a_thousand_are_samples_of_several():
    """2500 entries of 1, 2, 3, ... ns: means of three are 2, 5, 8, ...; one is left over."""
    clock = watch._Clock()
    clock.wall_ns.extend(range(1, 2501))
    clock.cpu_ns.extend([6] * 124)
    group, timed, _ = clock.timed()

    assert (group, timed.runtime_s.n) == (3, 833)
    assert timed.runtime_s.samples[:3] == (2e-9, 5e-9, 8e-9)
    assert timed.cpu_s.samples == (6e-9,) * 124


@pytest.mark.usefixtures("clock")
def test_cpu_time_is_read_for_a_hundred_entries_and_then_for_each_hundredth(named):
    """Of 301 entries: 0 to 99, then 100, 200 and 300."""
    region = ridgepoint.measuring(named)
    for _ in range(301):
        with region:
            pass

    assert list(region._clock.cpu_ns) == [7] * 103


def test_region_within_itself_and_in_threads_is_entered_once(named):
    """While anybody is inside it is one entry, as it counts what all threads do."""
    region = ridgepoint.measuring(named)

    def enter():
        with region:
            pass

    with region:
        enter()
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()

    assert len(region._clock.wall_ns) == 1


def test_exception_ends_an_entry(named):
    """It passes through."""
    region = ridgepoint.measuring(named)

    def fails():
        with region:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert (region._clock.inside, len(region._clock.wall_ns)) == (0, 1)


def test_entry_after_the_result_is_refused(named, monkeypatch):
    """It would be in no result."""
    region = watch.Watch(named)
    monkeypatch.setattr(region, "_measured", lambda *options: MEASUREMENT)
    monkeypatch.setattr(watch, "_command", lambda what: ())
    with region:
        pass
    assert region.result() is MEASUREMENT
    with pytest.raises(CannotMeasure, match="result had been taken"):
        region.__enter__()

    assert region.result() is MEASUREMENT


@pytest.fixture
def second_run(tmp_path, monkeypatch):
    """Pretend to be the run that counts "b", after "a" was measured."""
    for name, value in Replay.prepare(tmp_path, "b", {"a": MEASUREMENT}).items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.mark.usefixtures("second_run")
def test_second_run_has_the_results_of_the_first():
    """The script comes to them first."""
    region = watch.Watch("a")
    with region:
        pass

    assert region.result() == MEASUREMENT


@pytest.mark.usefixtures("second_run")
def test_second_run_refuses_what_the_first_did_not_measure():
    """It went another way."""
    with pytest.raises(CannotMeasure, match="not measured in the first run of the script before"):
        watch.Watch("c").result()


SECOND = """
import ridgepoint
region = ridgepoint.measuring("b")
for _ in range(3):
    with region:
        print("inside", end=" ")
region.result()
print("after")
"""


def test_second_run_ends_in_silence_at_its_result(second_run):
    """What was printed is there, and the entries are told."""
    done = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True)

    assert (done.returncode, done.stdout, done.stderr) == (0, "inside inside inside ", "")
    assert Replay.entries_of(second_run, "cannot", 0) == 3


@pytest.mark.parametrize(
    ("entries", "reason"), [(None, "ended with status 7 before"), ("0", "never entered the region")]
)
def test_second_run_that_missed_the_region_is_refused(tmp_path, entries, reason):
    """It left nothing, or zero."""
    if entries is not None:
        (tmp_path / "entries").write_text(entries)
    with pytest.raises(CannotMeasure, match=reason):
        Replay.entries_of(tmp_path, "cannot", 7)


def test_first_run_is_no_second_run():
    """No folder is named."""
    assert replay_here() is None


def test_assignment_holds_documents(second_run):
    """As they are kept elsewhere."""
    name, earlier = json.loads((second_run / "assignment.json").read_text())

    assert (name, earlier) == ("b", {"a": encode(MEASUREMENT).decode()})
