"""Time per line of Python, of programs that measure it themselves."""

import json
import subprocess
import sys
import textwrap

import pytest

from ridgepoint.host.run import run
from ridgepoint.host.standard_input import own_standard_input
from ridgepoint.meters.python_lines import LINES_VARIABLE, line_sampler
from ridgepoint.meters.python_lines.samples import LineSamples

pytestmark = pytest.mark.hardware

SPLIT = """
    import time, zlib
    data = bytes(range(256)) * 4000

    def until(cpu_s, work):
        end_s = time.thread_time() + cpu_s
        while time.thread_time() < end_s:
            work()

    def interpreted():
        sum([i * i for i in range(5000)])

    def native():
        zlib.compress(data, 9)
"""


@pytest.fixture(scope="session")
def library():
    """Return the library to preload."""
    return line_sampler()[0]


@pytest.fixture
def sampled(tmp_path, library):
    """Run a script with samples; return them, and the number of its line with a text."""

    def sample(text, *arguments):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(SPLIT) + textwrap.dedent(text))
        folder = tmp_path / "samples"
        folder.mkdir()
        with own_standard_input() as stdin:
            done = run(
                (sys.executable, str(script), *arguments),
                stdin=stdin,
                output="stderr",
                environment={LINES_VARIABLE: str(folder), "LD_PRELOAD": str(library)},
            )
        assert done.exit_status == 0
        samples = LineSamples()
        samples.read(folder)
        lines = script.read_text().splitlines()
        return samples, lambda part: samples.of[
            str(script), 1 + next(n for n, line in enumerate(lines) if part in line)
        ]

    return sample


def test_interpreter_and_native_code_are_told_apart(sampled):
    """On lines that run either for a CPU time that they decide."""
    _, of = sampled("until(0.4, interpreted)\nuntil(0.4, native)\n")
    compress, squares = of("zlib.compress"), of("i * i")

    assert compress.native_s > 0.9 * compress.cpu_s
    assert squares.interpreter_s > 0.9 * squares.cpu_s
    assert compress.cpu_s == pytest.approx(0.4, abs=0.06)
    assert squares.cpu_s == pytest.approx(0.4, abs=0.06)


FORBIDDEN = """
    import ctypes, os, struct, sys

    if "forbidden" not in sys.argv:
        # A filter of system calls: load its number; process_vm_readv gets EPERM, others pass.
        steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
        program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
        libc = ctypes.CDLL(None)
        assert libc.prctl(38, 1, 0, 0, 0) == 0
        assert libc.prctl(22, 2, program) == 0
        os.execv(sys.executable, [sys.executable, *sys.argv, "forbidden"])
"""


def test_a_sandbox_may_forbid_to_read_memory_through_the_kernel(sampled):
    """As containers do: the program survives that stale pointers are looked at."""
    work = "until(0.4, interpreted)\nuntil(0.4, native)\nuntil(0.4, time.time)\n"
    _, of = sampled(textwrap.dedent(FORBIDDEN) + work)

    assert of("zlib.compress").native_s == pytest.approx(0.4, abs=0.06)
    assert of("i * i").interpreter_s == pytest.approx(0.4, abs=0.06)


@pytest.mark.slow
def test_threads_and_processes_are_sampled(sampled):
    """Also those that another thread starts, and children of a fork."""
    samples, of = sampled("""
        import os, threading
        thread = threading.Thread(target=lambda: until(0.5, native))
        thread.start()
        until(0.2, interpreted)
        if os.fork() == 0:
            until(0.3, interpreted)
            os._exit(0)
        os.wait()
        thread.join()
    """)

    assert samples.processes == 2
    assert of("zlib.compress").cpu_s == pytest.approx(0.5, abs=0.08)
    assert of("i * i").cpu_s == pytest.approx(0.5, abs=0.08)
    assert {file for file, _ in samples.of} == {next(iter(samples.of))[0]}


@pytest.mark.slow
def test_executed_text_belongs_to_the_line_that_executes_it(sampled):
    """And generators have lines of their own."""
    _, of = sampled("""
        def squares():
            while True:
                yield sum([i * i * i for i in range(3000)])
        generator = squares()
        until(0.3, lambda: next(generator))
        exec("end_s = time.thread_time() + 0.3\\nwhile time.thread_time() < end_s: pass")
    """)

    assert of("yield").cpu_s == pytest.approx(0.3, abs=0.06)
    assert of("exec(").cpu_s == pytest.approx(0.3, abs=0.06)


@pytest.mark.slow
def test_lines_of_a_program_are_in_its_report(tmp_path):
    """With their text; time that no line explains stays apart."""
    script = tmp_path / "loop.py"
    script.write_text("total = 0\nfor i in range(3_000_000):\n    total += i * i\n")
    command = (sys.executable, "-m", "ridgepoint", "run", "--lines", "--repeat", "2")
    options = ("--no-traffic", "--json", "--machine", "h200")
    done = subprocess.run(
        (*command, *options, "--", sys.executable, str(script)),
        capture_output=True,
        check=True,
        env=None,
    )
    lines = json.loads(done.stdout)["lines"]
    hot = {line["line"]: line for line in lines["lines"]}

    assert hot[3]["text"] == "total += i * i"
    assert hot[3]["file"] == str(script)
    assert hot[3]["interpreter_s"] > 0.8 * hot[3]["cpu_s"]["median"]
    assert lines["outside_s"] > 0
