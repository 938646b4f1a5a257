"""Work and traffic per line of Python, of programs whose lines do a known number of flop."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ridgepoint.core.lines import PythonLines
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import resolve, run
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.native.arena import OPTION_LINES
from ridgepoint.meters.python_lines import (
    LINE_MARK,
    LINES_VARIABLE,
    OTHERS_MARK,
    TRACED_VARIABLE,
    line_sampler,
    traced_list,
)
from ridgepoint.meters.python_lines.samples import LineSamples
from ridgepoint.profiling.program import measure_program
from ridgepoint.profiling.sleeping import SLEEPING

pytestmark = pytest.mark.hardware

ARRAYS = """
    import numpy as np
    x, y, out = np.ones(1000), np.ones(1000), np.empty(1000)
"""
FLOW = """
    import asyncio, multiprocessing, os, sys, threading

    def add(n):
        for _ in range(n):
            np.add(x, y, out=out)  # 70000 flop in 70

    def fails(n):
        try:
            np.add(x, y, out=out)  # 4000 flop in 4
            if n == 0:
                raise ValueError
            fails(n - 1)
        except ValueError:
            np.add(x, y, out=out); np.add(x, y, out=out)  # 8000 flop in 4
            if n < 3:
                raise
        finally:
            np.multiply(x, y, out=out)  # 4000 flop in 4

    def generated(n):
        for i in range(n):
            np.add(x, y, out=out) if (yield i) is None else None  # 6000 flop in 6

    async def awaited(n):
        for i in range(n):
            np.add(x, y, out=out); await asyncio.sleep(0); np.add(x, y, out=out)  # 24000 flop in 12

    async def both():
        await asyncio.gather(awaited(5), awaited(7))

    def key(value):
        np.add(x, y, out=out)  # 9000 flop in 9
        return value

    def again():
        add(10)
        fails(3)
        for _ in generated(6):
            np.multiply(x, y, out=out)  # 6000 flop in 6
        asyncio.run(both())
        sorted(range(9), key=key)
        exec("for i in range(4): np.add(x, y, out=out)")  # 4000 flop in 1
        thread = threading.Thread(target=add, args=(20,))
        thread.start()
        thread.join()
        if os.fork() == 0:
            add(30)
            os._exit(0)
        os.wait()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(add, [5, 5])

    if __name__ == "__main__":
        again()
"""
TEAM = """
    #include <omp.h>
    void scale(double *x) {
        #pragma omp parallel num_threads(2)
        for (int i = omp_get_thread_num(); i < 100000; i += 2) x[i] *= 3.0;
    }
"""
CALLS_TEAM = """
    import ctypes, threading
    many = np.ones(100_000)
    scale = ctypes.CDLL("{library}").scale
    scale.argtypes = [ctypes.c_void_p]

    def work():
        for _ in range(20):
            scale(many.ctypes.data)  # 2000000 flop in 20
            np.add(x, y, out=out)  # 20000 flop in 20
            scale(many.ctypes.data); np.multiply(x, y, out=out)  # 2020000 flop in 20
"""
KNOWN = re.compile(r"# (\d+) flop in (\d+)")


class Samples(LineSamples):
    """With the flop of threads that are none of Python, by line."""

    others: dict[str, int]


@pytest.fixture
def team(tmp_path):
    """Return a script that calls a loop of two threads of OpenMP."""
    source, library = tmp_path / "team.c", tmp_path / "team.so"
    source.write_text(textwrap.dedent(TEAM))
    cc = shutil.which("gcc")
    if cc is None:
        pytest.skip("needs gcc")
    command = [cc, "-O1", "-fopenmp", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return textwrap.dedent(CALLS_TEAM).replace("{library}", str(library))


@pytest.fixture
def traced(tmp_path):
    """Return what counts a script by line: the regions by line, samples, and known lines."""

    def count(text, *, most_events=10**6, **options):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(ARRAYS) + textwrap.dedent(text))
        lines = script.read_text().splitlines()
        listed, folder = tmp_path / "listed", tmp_path / "events"
        folder.mkdir()
        numbers = range(1, len(lines) + 1)
        listed.write_text(
            traced_list([(str(script), number) for number in numbers], most_events=most_events)
        )
        meter = NativeMeter(
            beside=(line_sampler()[0],),
            variables=(f"{LINES_VARIABLE}={folder}", f"{TRACED_VARIABLE}={listed}"),
            options=NativeMeter().options | OPTION_LINES,
            **options,
        )
        caches = [Cache(level=1, kind="data", size_bytes=32768, ways=8, line_bytes=64)]
        with own_standard_input() as stdin:
            counted = meter.count(
                resolve((sys.executable, str(script))),
                launch=lambda command: run(command, stdin=stdin, output="stderr"),
                caches=caches if options else (),
            )
        samples = Samples()
        samples.read(folder)
        regions = {
            int(one.name.removeprefix(LINE_MARK)): one
            for one in counted.regions
            if one.name.startswith(LINE_MARK)
        }
        samples.others = {
            one.name.removeprefix(OTHERS_MARK): one.counts.work_flop
            for one in counted.regions
            if one.name.startswith(OTHERS_MARK)
        }
        begun = {line: share.samples for (_, line), share in samples.of.items()}
        known = {
            number: tuple(map(int, found.groups()))
            for number, line in enumerate(lines, start=1)
            if (found := KNOWN.search(line))
        }
        return regions, begun, known, samples

    return count


def test_lines_have_the_flop_that_they_do(traced):
    """NumPy's below a line of the user's, at any depth; and how often the line began."""
    regions, begun, known, _ = traced("""
        def twice():
            np.add(x, y, out=out)  # 2000 flop in 2
        for _ in range(2): twice()
        for _ in range(3): np.multiply(x, y, out=out)  # 3000 flop in 4
    """)

    assert len(known) == 2
    assert {n: (regions[n].counts.work_flop, begun[n]) for n in known} == known


def test_threads_of_openmp_count_in_the_line_that_calls_them(traced, team, monkeypatch):
    """One Python thread: half of the loop's flop are another thread's."""
    for variable, value in SLEEPING.items():
        monkeypatch.setenv(variable, value)
    regions, begun, known, samples = traced(team + "work()\n")

    assert len(known) == 3
    assert {n: (regions[n].counts.work_flop, begun[n]) for n in known} == known
    assert sorted(filter(None, samples.others.values())) == [1_000_000, 1_000_000]


@pytest.mark.slow
def test_threads_of_openmp_are_apart_while_two_lines_are_executed(traced, team, monkeypatch):
    """Two Python threads, one of which waits in its line: whose is unknown."""
    for variable, value in SLEEPING.items():
        monkeypatch.setenv(variable, value)
    text = "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n"
    regions, begun, known, samples = traced(team + text)
    first, *_ = known

    assert begun[first] == 20
    assert regions[first].counts.work_flop == pytest.approx(1_000_000, rel=0.1)
    assert samples.others.get("", 0) == pytest.approx(2_000_000, rel=0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_lines_are_right_however_a_program_flows(traced):
    """Threads, processes, generators, coroutines, exceptions, callbacks, executed text."""
    regions, begun, known, samples = traced(FLOW)

    assert len(known) == 9
    assert {n: (regions[n].counts.work_flop, begun[n]) for n in known} == known
    assert not samples.refused


@pytest.mark.slow
def test_lines_move_what_they_stream(traced):
    """80 kB that no cache of 32 KiB keeps, written anew by each pass: read once, written once."""
    regions, *_ = traced(
        """
        a = np.ones(1_000_000)
        a += 1.0
        """,
        simulate=True,
    )
    (dram,) = [moved for moved in regions[5].traffic if moved.level == "dram"]

    assert dram.read_bytes == pytest.approx(8e6, rel=0.01)
    assert dram.write_bytes == pytest.approx(8e6, rel=0.02)


@pytest.mark.slow
def test_too_many_events_leave_lines_unknown(traced):
    """The program goes on without being traced, and says so."""
    *_, samples = traced("for i in range(1000): pass\n", most_events=100)

    assert samples.refused["too-many"] == 1


@pytest.mark.slow
def test_a_measured_program_has_its_lines_counted(tmp_path):
    """The whole program's counts are those of a run without them."""
    script = tmp_path / "sum.py"
    script.write_text("t = 0.0\nfor i in range(300_000):\n    t += i * 0.5\n")
    done = measure_program([sys.executable, str(script)], lines=True, repeat=4, meter=NativeMeter())
    assert isinstance(done.lines, PythonLines)
    of = {line.line: line for line in done.lines.lines}

    assert Path(of[3].file) == script
    assert of[3].counts.work_flop == 600_000
    assert of[3].executions == 300_000
    assert done.lines.tracing.factors["flop"] == pytest.approx(1.0)
    assert done.counted.regions == ()
