import itertools
import struct
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint import region
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters.region_times import read_region_times
from ridgepoint.regions import clock as region_clock

N_TICKS = 40


def write_file(
    path, records, *, last_mark_ns=0, ended_ns=1, ended_cpu_ns=0, updating=0, magic=b"RIDGETI2"
):
    """Write a file of times as the C header lays it out, from its own field list."""
    fields = (len(records), updating, last_mark_ns, ended_ns, ended_cpu_ns)
    table = b"".join(struct.pack("<208s7q", name, *numbers) for name, *numbers in records)
    head = struct.pack("<8s5q", magic, *fields).ljust(256, b"\0")
    path.write_bytes(head + table.ljust(264 * 1024, b"\0"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "1 to 200 bytes, got 0"),
        ("x" * 201, "1 to 200 bytes, got 201"),
        ("é" * 101, "1 to 200 bytes, got 202"),
        ("a\nb", "no control characters"),
        ("a\0", "no control characters"),
        ("\x7f", "no control characters"),
        ("\ud800", "valid Unicode"),
    ],
)
def test_names_that_no_region_can_have_are_refused(name, message):
    """A name that the engine would cut or could not show is a wrong argument."""
    with pytest.raises(ValueError, match=message):
        region(name)


def test_name_must_be_a_string():
    """Also where the decorator lost its brackets: @region on a function."""
    with pytest.raises(TypeError, match="must be a string"):
        region(test_name_must_be_a_string)


@pytest.mark.parametrize("name", ["x" * 200, "é" * 100, "solve: step 1 / 2"])
def test_names_may_have_200_bytes_of_any_text(name):
    """The longest names, and spaces, are fine."""
    assert region(name).name == name


def test_functions_that_run_in_pieces_cannot_be_decorated():
    """What runs between the pieces of a coroutine or a generator would count for the region."""

    async def coroutine():
        pass

    async def asynchronous_generator():
        yield

    def generator():
        yield

    for function in (coroutine, asynchronous_generator, generator):
        with pytest.raises(TypeError, match="mark the code between"):
            region("pieces")(function)
    with pytest.raises(TypeError, match="mark its methods"):
        region("class")(SimpleNamespace)


def test_decorated_function_is_still_itself():
    """Name, docstring, arguments, results and exceptions pass through."""

    @region("divide")
    def divide(a, *, by):
        """Divide."""
        return a / by

    assert (divide.__name__, divide.__doc__) == ("divide", "Divide.")
    assert divide(6, by=3) == 2
    with pytest.raises(ZeroDivisionError):
        divide(1, by=0)


def replay_by_ticks(marks):
    """Return, per name, (entries, busy, wall) in ticks: each tick looks at every thread."""
    opened = {thread: [] for thread in range(3)}
    inside = [set()]
    for thread, name, ends in [*marks, (0, "no such region", True)]:
        names = opened[thread]
        if not ends:
            names.append(name)
        elif name in names:
            del names[len(names) - 1 - names[::-1].index(name) :]
        inside.append({(held, name) for held in opened for name in opened[held]})
    inside.pop()  # the process ends with that last mark
    times = {}
    for name in {name for tick in inside for _, name in tick}:
        held = [{thread for thread, held in tick if held == name} for tick in inside]
        entries = sum(len(now - before) for before, now in itertools.pairwise(held))
        times[name] = (entries, sum(map(len, held)), sum(map(bool, held)))
    return times


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.booleans()), max_size=N_TICKS)
)
def test_any_order_of_marks_gives_what_a_look_at_every_tick_gives(marks):
    """Nested, crossed, missing and repeated marks of three threads, one mark per tick of 1 s.

    Three CPUs are busy all the time, be it inside or outside.
    """
    now = SimpleNamespace(ns=10**9)
    threads = [SimpleNamespace(open=[], busy=False) for _ in range(3)]
    ends = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(region_clock.time, "monotonic_ns", lambda: now.ns)
        patched.setattr(region_clock.time, "process_time_ns", lambda: 3 * now.ns)
        patched.setattr(region_clock.atexit, "register", ends.append)
        patched.setattr(region_clock.os, "register_at_fork", lambda after_in_child: None)
        clock = region_clock.RegionClock(folder)
        for thread, name, is_end in marks:
            clock._thread = threads[thread]
            (clock.end if is_end else clock.begin)(name.encode())
            now.ns += 10**9
        ends[0]()
        times = read_region_times(Path(folder))

    expected = replay_by_ticks(marks)
    assert {name: (t.entries, t.busy_s, t.wall_s) for name, t in times.items()} == expected
    assert {name: t.cpu_s for name, t in times.items()} == {
        name: 3 * wall for name, (_, _, wall) in expected.items()
    }


@given(st.lists(st.sets(st.integers(0, N_TICKS - 1), min_size=1), min_size=1, max_size=4))
def test_wall_time_of_several_processes_lies_between_its_bounds(processes):
    """Each process is inside in a set of ticks; by the union of the sets, and exact for one."""
    with tempfile.TemporaryDirectory() as folder:
        for index, ticks in enumerate(processes):
            first_ns, last_ns = (10**9 * tick for tick in (min(ticks) + 1, max(ticks) + 2))
            inside_ns = 10**9 * len(ticks)
            record = (b"r", 1, inside_ns, inside_ns, 0, first_ns, last_ns, 2 * inside_ns)
            write_file(Path(folder) / f"{index}.times", [record])
        time = read_region_times(Path(folder))["r"]

    assert time.wall_low_s <= len(set().union(*processes)) <= time.wall_high_s
    assert time.busy_s == sum(map(len, processes))
    assert time.cpu_s == 2 * sum(map(len, processes))
    assert time.wall_s is not None or len(processes) > 1


@pytest.mark.parametrize(
    ("parts", "low_s", "high_s"),
    [
        ([(1, 3, 2), (5, 9, 4)], 6, 6),  # one after the other
        ([(1, 5, 4), (3, 9, 6)], 8, 8),  # each inside without a pause, so 1 to 9
        ([(1, 9, 8), (3, 5, 1)], 8, 8),  # one within the other
        ([(1, 11, 5), (1, 11, 4)], 5, 9),  # both pause, nobody knows whether together
        ([(1, 11, 9), (1, 11, 9)], 9, 10),  # they pause 2 s in all
    ],
)
def test_wall_time_is_as_exact_as_first_and_last_times_allow(tmp_path, parts, low_s, high_s):
    """Parts of (first, last, inside) seconds; the bounds are by hand."""
    for index, (first_s, last_s, inside_s) in enumerate(parts):
        ns = [10**9 * seconds for seconds in (inside_s, inside_s, 0, first_s, last_s)]
        write_file(tmp_path / f"{index}.times", [(b"r", 1, *ns, 0)])
    time = read_region_times(tmp_path)["r"]

    assert (time.wall_low_s, time.wall_high_s) == (low_s, high_s)
    assert time.wall_s == (high_s if low_s == high_s else None)


def test_region_that_was_open_lasts_to_the_end_of_the_process(tmp_path):
    """Begun at 2 s and 3 s by two threads, last mark at 4 s, the process ended at 7 s.

    It had used 1 s of CPU time at its beginning, and 9 s when the process ended.
    """
    record = (b"open", 2, -5 * 10**9, -2 * 10**9, 2, 2 * 10**9, 0, -(10**9))
    write_file(
        tmp_path / "1.times",
        [record],
        last_mark_ns=4 * 10**9,
        ended_ns=7 * 10**9,
        ended_cpu_ns=9 * 10**9,
    )
    time = read_region_times(tmp_path)["open"]

    assert (time.entries, time.busy_s, time.wall_s, time.unfinished) == (2, 9.0, 5.0, 0)
    assert time.cpu_s == 8.0


def test_region_cut_by_a_signal_has_a_lower_bound_only(tmp_path):
    """The same, but nobody wrote when the process ended; its CPU time is unknown."""
    record = (b"open", 2, -5 * 10**9, -2 * 10**9, 2, 2 * 10**9, 0, -(10**9))
    write_file(tmp_path / "1.times", [record], last_mark_ns=4 * 10**9, ended_ns=0)
    time = read_region_times(tmp_path)["open"]

    assert (time.busy_s, time.wall_low_s, time.wall_s, time.unfinished) == (3.0, 2.0, None, 2)
    assert time.cpu_s is None


def test_files_that_are_not_whole_are_refused(tmp_path):
    """Cut short, of another kind, or left in the middle of a mark: never times of 0 s."""
    path = tmp_path / "1.times"
    write_file(path, [], updating=1)
    with pytest.raises(CannotMeasure, match="of a mark"):
        read_region_times(tmp_path)
    for data in (b"", b"RIDGETI2", bytes(256 + 264 * 1024)):
        path.write_bytes(data)
        with pytest.raises(CannotMeasure, match="it is incomplete"):
            read_region_times(tmp_path)


def test_marks_of_another_version_are_refused_with_what_to_do(tmp_path):
    """Their records are of another size, and would be read as something else."""
    write_file(tmp_path / "1.times", [], magic=b"RIDGETIM")

    with pytest.raises(CannotMeasure, match=r"ridgepoint\.h of another version; compile it"):
        read_region_times(tmp_path)


def test_folder_without_files_has_no_regions(tmp_path):
    """A program without marks leaves nothing."""
    assert read_region_times(tmp_path) == {}
