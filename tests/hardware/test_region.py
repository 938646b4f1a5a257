"""Marks in real programs: their times against clocks beside the marks, their cost, Valgrind."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.meters.region_times import read_region_times
from ridgepoint.regions import TIMES_VARIABLE

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests/programs/regions.c"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-I", ROOT / "native/include")
VARIANTS = {
    "gnu99": ("gcc", "-std=gnu99"),
    "static": ("gcc", "-std=gnu99", "-static"),
    "no-pie": ("gcc", "-std=gnu99", "-no-pie"),
    "library": ("gcc", "-std=gnu99"),
    "c++": ("g++", "-std=c++11"),
}


def compile_variant(folder, variant):
    """Compile both translation units, the second one as a shared library where it is to be."""
    compiler, *options = VARIANTS[variant]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    second = folder / ("libother.so" if variant == "library" else "other.o")
    kind = ("-shared", "-fPIC", "-fvisibility=hidden") if variant == "library" else ("-c",)
    flags = (*WARNINGS, "-O2", "-pthread")
    unit = folder / "unit.c"  # g++ compiles it as C++ all the same
    unit.write_text(f'#define OTHER\n#pragma GCC visibility push(default)\n#include "{SOURCE}"\n')
    subprocess.run([compiler, *options, *flags, *kind, "-o", second, unit], check=True)
    objects = ("-x", "c++", SOURCE, "-x", "none", second) if compiler == "g++" else (SOURCE, second)
    program = folder / f"regions-{variant}"
    link = (f"-Wl,-rpath,{folder}",) if variant == "library" else ()
    subprocess.run([compiler, *options, *flags, "-o", program, *objects, *link], check=True)
    return program


@pytest.fixture(scope="module", params=VARIANTS)
def program(request, tmp_path_factory):
    """Return the test program, linked in each way."""
    return compile_variant(tmp_path_factory.mktemp("regions"), request.param)


@pytest.fixture
def timed(tmp_path):
    """Run a command with its regions timed; return its output and the times."""

    def run(*command, status=0):
        done = subprocess.run(
            [str(word) for word in command],
            env=os.environ | {TIMES_VARIABLE: str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (status, "")
        return done.stdout, read_region_times(tmp_path)

    return run


def brackets(output):
    """Return the program's own (entries, low, high) by region; times in s."""
    rows = (line.split() for line in output.splitlines())
    return {name: (int(n), int(low) / 1e9, int(high) / 1e9) for name, n, low, high in rows}


def test_times_lie_between_clocks_inside_and_outside_of_the_marks(program, timed):
    """The program reads the clock just inside and just outside of each mark."""
    output, times = timed(program, "nested", 7)
    inner, outer = times["inner"], times["outer"]

    for name, (entries, low_s, high_s) in brackets(output).items():
        assert times[name].entries == entries
        assert low_s <= times[name].wall_s == times[name].busy_s <= high_s
    assert inner.wall_s < outer.wall_s


def test_threads_inside_at_once_share_the_wall_time(program, timed):
    """All wait for each other within the region, so each is inside for the time in common."""
    output, times = timed(program, "together", 4)
    _, low_s, high_s = brackets(output)["together"]
    together = times["together"]

    assert together.entries == 4
    assert low_s <= together.wall_s <= high_s
    assert 4 * low_s <= together.busy_s <= 4 * together.wall_s


def test_cpu_time_is_that_of_all_threads_meanwhile(tmp_path, timed):
    """Four workers that mark nothing work while main is inside; they look at their own clocks."""
    program = tmp_path / "workers"
    source = ROOT / "tests/programs/workers.c"
    flags = ("-std=gnu11", "-O2", "-pthread", *WARNINGS)
    subprocess.run(["gcc", *flags, "-o", program, source], check=True)
    output, times = timed(program, "cpu")
    low_s, high_s = (int(word) / 1e9 for word in output.split())
    solve = times["solve"]

    assert 5 * 0.002 <= low_s <= solve.cpu_s <= high_s
    assert solve.busy_s == solve.wall_s


def test_threads_one_after_another_add_up(program, timed):
    """No two are inside at once: wall time is busy time."""
    alone = timed(program, "alone", 3)[1]["alone"]

    assert alone.entries == 3
    assert alone.wall_s == alone.busy_s >= 3 * 0.0005


def test_recursion_enters_a_region_once(program, timed):
    """Ten thousand deep, and only the outermost call counts."""
    output, times = timed(program, "recursive", 10000)

    assert output == "50005000\n"
    assert times["recursive"].entries == 1


def test_end_of_an_outer_region_ends_those_inside(program, timed):
    """What spins for 2 ms after the end of "a" is in no region; other ends are nothing."""
    _, times = timed(program, "crossed")

    assert times.keys() == {"a", "b"}
    assert times["b"].wall_s <= times["a"].wall_s < 0.002
    assert [time.entries for time in times.values()] == [1, 1]


@pytest.mark.parametrize("by_exit_in_a_thread", [0, 1])
def test_region_without_end_lasts_until_its_thread_ends(program, timed, by_exit_in_a_thread):
    """A thread's for its 0.5 ms; main's for 4 ms, and 0.5 ms more where another thread exits."""
    _, times = timed(program, "never", by_exit_in_a_thread)
    expected_s = 0.004 + 0.0005 * by_exit_in_a_thread

    assert times["never ended"].wall_s >= 0.0005
    assert times["main"].wall_s >= expected_s
    assert times["never ended"].entries == times["main"].entries == 1


def test_no_entry_is_lost_where_many_threads_mark_at_once(program, timed):
    """Sixteen threads, each sixteen times."""
    assert timed(program, "hammer", 16)[1]["hammered"].entries == 256


def test_child_of_a_fork_starts_at_zero(program, timed):
    """What came before counts once; the region around the fork is the child's too."""
    _, times = timed(program, "fork", 1)

    assert {name: time.entries for name, time in times.items()} == {
        "around": 2,
        "before": 3,
        "child": 2,
    }
    assert times["child"].wall_s >= 0.0002
    assert times["around"].busy_s >= times["around"].wall_high_s >= times["child"].wall_s


def test_child_that_leaves_by_underscore_exit_keeps_its_times(program, timed):
    """Nothing is written at the end, as all is there already; the open region has a lower bound."""
    _, times = timed(program, "fork", 0)

    assert times["child"].entries == 2
    assert (times["around"].unfinished, times["around"].wall_s) == (1, None)
    assert times["around"].busy_s >= times["child"].busy_s


def test_signal_loses_no_time_before_it(program, timed):
    """Killed by SIGKILL: the region that was open lasts to the last mark."""
    output, times = timed(program, "killed", status=-9)

    assert output == ""
    assert (times["done"].entries, times["done"].unfinished) == (2, 0)
    assert times["cut"].unfinished == 1
    assert times["cut"].wall_low_s >= 0.0001


def test_program_started_by_exec_has_times_of_its_own(program, timed):
    """The same process, another file."""
    _, times = timed(program, "exec")

    assert {name: time.unfinished for name, time in times.items()} == {
        "a": 0,
        "b": 0,
        "left by exec": 1,
    }


def test_translation_units_and_libraries_share_regions(program, timed):
    """One region, in both units, nested over their border: two entries from outside."""
    _, times = timed(program, "units")

    assert times["shared"].entries == 2
    assert times["shared"].wall_s == times["shared"].busy_s >= 2 * 0.0002


def test_odd_names_are_cut_and_cleaned(program, timed):
    """Control characters become question marks, 200 bytes stay, an empty name is no region."""
    _, times = timed(program, "odd")

    assert times.keys() == {"tab?and?line", "Lösung", "x" * 200}


def test_more_names_than_there_is_room_for_are_left_out(program, timed):
    """The first 1024 are timed, the others are not there: unknown."""
    _, times = timed(program, "many", 1100)

    assert times.keys() == {f"name {index}" for index in range(1024)}


def test_marks_keep_errno(program, timed):
    """The first mark opens files; the program sees nothing of it."""
    assert timed(program, "errno")[0] == "77\n"


def test_folder_that_cannot_be_written_disturbs_nobody(program, tmp_path):
    """The program runs as ever, and there are no times."""
    environment = os.environ | {TIMES_VARIABLE: str(tmp_path / "none")}
    done = subprocess.run(
        [program, "errno"], env=environment, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "77\n", "")


@pytest.mark.valgrind
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_tool_that_knows_no_regions_ignores_marks(program):
    """The same output, no message, no error."""
    command = ["valgrind", "-q", "--tool=none", program, "recursive", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert (done.returncode, done.stdout, done.stderr) == (0, "15\n", "")


@pytest.mark.valgrind
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="marks are requests on x86-64")
def test_marks_reach_valgrind_with_their_argument(program):
    """The same instructions with a request that every tool answers: a command, by its address."""
    command = ["valgrind", "-q", "--tool=none", program, "monitor"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert "general valgrind monitor commands" in done.stderr


MARKED = """
#include "ridgepoint.h"
int marked(int x) {
    RIDGEPOINT_REGION_BEGIN("f");
    RIDGEPOINT_REGION_END("f");
    return x;
}
"""


def instructions(folder, *options):
    """Compile MARKED and return the instructions of its function."""
    (folder / "marked.c").write_text(MARKED)
    target = folder / "marked.o"
    flags = ("-O2", "-std=c99", *WARNINGS, *options)
    subprocess.run(["gcc", *flags, "-c", "-o", target, folder / "marked.c"], check=True)
    command = ["objdump", "-d", "--no-show-raw-insn", "--disassemble=marked", target]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +[0-9a-f]+:\t(.*)$", text.split("<marked>:")[1], re.MULTILINE)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="looks at x86-64 code")
def test_marks_cost_a_few_instructions_and_none_when_disabled(tmp_path):
    """Straight code without a call but for the time of a region; no trace of a disabled mark."""
    disabled = instructions(tmp_path, "-DRIDGEPOINT_DISABLE")
    enabled = instructions(tmp_path)
    enabled = enabled[: next(i for i, text in enumerate(enabled) if text.startswith("ret")) + 1]

    assert [text.split()[0] for text in disabled] == ["mov", "ret"]
    assert not [text for text in enabled if text.startswith("call")]
    assert sum(text.startswith("xchg") for text in enabled) == 2
    assert len(enabled) <= 2 * 20 + 10
    assert [text for text in instructions(tmp_path, "-masm=intel") if text.startswith("xchg")]


PYTHON_MARKS = """
import multiprocessing, os, sys, threading, time
from ridgepoint import region

brackets = [0, 0]

def worker(_):
    with region("worker"):
        time.sleep(0.001)

@region("outer")
def outer(n):
    for _ in range(n):
        before = time.monotonic_ns()
        with region("inner"):
            first = time.monotonic_ns()
            time.sleep(0.0001)
            last = time.monotonic_ns()
        brackets[0] += last - first
        brackets[1] += time.monotonic_ns() - before
    print("inner", n, *brackets)

def in_threads():
    barrier = threading.Barrier(3)
    def inside():
        with region("threads"):
            barrier.wait()
            time.sleep(0.001)
            barrier.wait()
    threads = [threading.Thread(target=inside) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

def others():
    used = []
    def works():
        before = now = time.thread_time()
        while now < before + 0.002:
            now = time.thread_time()
        used.append(now - before)
    before = time.process_time()
    with region("waits"):
        threads = [threading.Thread(target=works) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    print(sum(used), time.process_time() - before)

def fails():
    with region("fails"):
        raise ValueError

def forked():
    with region("around"):
        child = os.fork()
        if child == 0:
            worker(0)
            os._exit(0)
        os.waitpid(child, 0)

if __name__ == "__main__":
    mode = sys.argv[1]
    if mode == "nested":
        outer(5)
    elif mode == "threads":
        in_threads()
    elif mode == "others":
        others()
    elif mode == "fails":
        try: fails()
        except ValueError: pass
    elif mode == "fork":
        forked()
    elif mode == "pool":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(worker, range(6), chunksize=1)
    elif mode == "monitor":
        from ridgepoint import regions
        regions._RECORDERS[0]._begins = regions._Requests(0x1202)
        region("help").__enter__()
    elif mode == "recorders":
        import ridgepoint.regions
        print([type(each).__name__ for each in ridgepoint.regions._RECORDERS])
        print(sorted({"ctypes", "numpy", "mmap"} & sys.modules.keys()))
"""


@pytest.fixture
def script(tmp_path_factory):
    """Return a Python program with marks."""
    path = tmp_path_factory.mktemp("script") / "marks.py"
    path.write_text(PYTHON_MARKS)
    return path


def test_python_times_lie_between_clocks_inside_and_outside(script, timed):
    """As in C, with the same clock."""
    output, times = timed(sys.executable, script, "nested")
    entries, low_s, high_s = brackets(output)["inner"]

    assert (times["inner"].entries, times["outer"].entries) == (entries, 1)
    assert low_s <= times["inner"].wall_s <= high_s
    assert times["inner"].wall_s < times["outer"].wall_s


def test_python_threads_share_the_wall_time(script, timed):
    """Three threads sleep 1 ms inside, together."""
    threads = timed(sys.executable, script, "threads")[1]["threads"]

    assert threads.entries == 3
    assert 3 * 0.001 <= threads.busy_s <= 3 * threads.wall_s


def test_python_cpu_time_is_that_of_all_threads_meanwhile(script, timed):
    """Two threads work while main is inside and waits for them."""
    output, times = timed(sys.executable, script, "others")
    low_s, high_s = (float(word) for word in output.split())

    assert 2 * 0.002 <= low_s <= times["waits"].cpu_s <= high_s


def test_python_region_ends_where_an_exception_leaves_it(script, timed):
    """It does not last until the process ends."""
    fails = timed(sys.executable, script, "fails")[1]["fails"]

    assert (fails.entries, fails.unfinished) == (1, 0)
    assert fails.wall_s is not None


def test_python_child_of_a_fork_starts_at_zero(script, timed):
    """The region around the fork is the child's too, and _exit leaves it without an end."""
    _, times = timed(sys.executable, script, "fork")

    assert (times["around"].entries, times["around"].unfinished) == (2, 1)
    assert (times["worker"].entries, times["worker"].unfinished) == (1, 0)


def test_python_pool_keeps_the_times_of_workers_that_it_ends_by_signal(script, timed):
    """``with Pool()`` ends its workers by SIGTERM; six calls were made."""
    worker = timed(sys.executable, script, "pool")[1]["worker"]

    assert worker.entries == 6
    assert worker.busy_s >= 6 * 0.001


def test_python_marks_bring_nothing_into_a_program_that_is_not_measured(script):
    """No executable memory, no ctypes, no NumPy."""
    done = subprocess.run(
        [sys.executable, script, "recorders"],
        env={name: value for name, value in os.environ.items() if name != TIMES_VARIABLE},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.splitlines() == ["[]", "[]"]


@pytest.mark.valgrind
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_python_marks_speak_to_valgrind_alone(script):
    """Also with an empty environment; a tool that knows no regions ignores them."""
    for mode, expected in (
        ("recorders", "['_ValgrindMarks']\n['ctypes', 'mmap']\n"),
        ("fails", ""),
    ):
        command = ["valgrind", "-q", "--tool=none", "--vgdb=no", sys.executable, script, mode]
        done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=300)

        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.valgrind
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_python_marks_reach_valgrind_with_their_argument(script):
    """The same machine code with a request that every tool answers."""
    command = ["valgrind", "-q", "--tool=none", sys.executable, script, "monitor"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)

    assert "general valgrind monitor commands" in done.stderr


DOCUMENTED = re.findall(
    r"^```(c|fortran|python)\n(.*?)^```", (ROOT / "docs/regions.md").read_text(), re.DOTALL | re.M
)


def test_documented_c_and_python_run(tmp_path, timed):
    """The examples of the documentation compile, and Python's regions are timed."""
    sources = [code for language, code in DOCUMENTED if language == "c"]
    for code in sources:
        (tmp_path / "example.c").write_text(code)
        command = ["gcc", *WARNINGS, "-c", tmp_path / "example.c", "-o", tmp_path / "example.o"]
        subprocess.run(command, check=True)
    (tmp_path / "example.py").write_text(dict(DOCUMENTED)["python"])
    _, times = timed(sys.executable, tmp_path / "example.py")

    assert len(sources) == 2
    assert times.keys() == {"setup", "solve"}


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
def test_documented_fortran_is_timed(tmp_path, timed):
    """With the shim in C."""
    shim = next(code for _, code in DOCUMENTED if "void region_begin" in code)
    (tmp_path / "shim.c").write_text(shim)
    (tmp_path / "main.f90").write_text(dict(DOCUMENTED)["fortran"])
    flags = ("-I", ROOT / "native/include", "-o", tmp_path / "shim.o")
    subprocess.run(["gcc", "-c", tmp_path / "shim.c", *flags], check=True)
    program = tmp_path / "main"
    objects = (tmp_path / "main.f90", tmp_path / "shim.o")
    subprocess.run(["gfortran", *objects, "-o", program], check=True)

    assert timed(program)[1]["sum"].entries == 1
