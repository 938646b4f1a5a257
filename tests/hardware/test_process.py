"""Programs run as their user would run them: real processes, bounded in time."""

import contextlib
import os
import shutil
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from ridgepoint.core.errors import CannotMeasure, CannotStart
from ridgepoint.host.run import resolve, run
from ridgepoint.host.standard_input import own_standard_input


def sh(script, **options):
    """Run a shell script with this process's standard input."""
    with own_standard_input() as stdin:
        return run(("/bin/sh", "-c", script), stdin=stdin, output="discard", **options)


def in_child(body, **options):
    """Run Python code that may use up its own standard input; return what it printed."""
    code = (
        "from ridgepoint.host.run import run\n"
        "from ridgepoint.host.standard_input import own_standard_input\n" + textwrap.dedent(body)
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_status_is_what_a_shell_sees(script, status):
    """An exit status as it is, a signal as 128 and its number."""
    assert sh(script).exit_status == status


def test_cpu_time_holds_the_children_too():
    """Half a second of a grandchild's work is the program's."""
    burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.5: pass'"
    result = sh(f"{burn} & wait")

    assert 0.5 <= result.cpu_s < 5
    assert result.wall_s >= 0.5


def test_timeout_ends_the_program_and_all_it_started():
    """Neither the program nor its child is left, though both ignore SIGTERM."""
    marker = f"93{os.getpid()}"
    with pytest.raises(CannotMeasure, match=r"ran longer than 0\.3 s"):
        sh(f"trap '' TERM; (trap '' TERM; sleep {marker}) & sleep {marker}", timeout_s=0.3)

    assert not [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]


def test_orphans_are_counted_and_ended():
    """A daemon that a program leaves behind, in a session of its own, is found."""
    if shutil.which("setsid") is None:
        pytest.skip("there is no setsid")
    marker = f"94{os.getpid()}"
    result = sh(f"setsid sleep {marker} >/dev/null 2>&1 &")

    assert result.left_behind == 1
    assert not [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]


def test_children_of_the_caller_are_left_alone():
    """A process that the caller started itself is none of the program's."""
    own = subprocess.Popen(["sleep", "30"])
    try:
        assert sh("exit 0").left_behind == 0
        assert own.poll() is None
    finally:
        own.kill()
        own.wait()


def test_gigabytes_of_output_hold_nothing_up():
    """A program that writes 1 GB ends, and none of it is kept in memory."""
    before = psutil.Process().memory_info().rss
    result = sh("head -c 1000000000 /dev/zero")

    assert result.exit_status == 0
    assert psutil.Process().memory_info().rss - before < 100e6


def test_piped_input_is_the_same_for_every_run():
    """Three runs read the same 300 kB of one pipe."""
    printed = in_child(
        """
        with own_standard_input() as stdin:
            for _ in range(3):
                run(("/usr/bin/md5sum",), stdin=stdin, output="own")
        """,
        input="0123456789" * 30000,
    )

    assert len(set(printed.splitlines())) == 1
    assert len(printed.splitlines()) == 3


def test_file_input_begins_where_it_stood(tmp_path):
    """Each run reads on from the offset at which the file was handed over."""
    path = tmp_path / "input"
    path.write_text("skipped\nread\n")
    with path.open() as file:
        os.lseek(file.fileno(), len("skipped\n"), os.SEEK_SET)
        printed = in_child(
            """
            with own_standard_input() as stdin:
                for _ in range(2):
                    run(("/bin/cat",), stdin=stdin, output="own")
            """,
            stdin=file,
        )

    assert printed == "read\nread\n"


def test_silent_pipe_that_nobody_reads_holds_nothing_up():
    """A program that does not read ends, though its input never does."""
    read_end, write_end = os.pipe()
    started = time.monotonic()
    try:
        in_child(
            """
            with own_standard_input() as stdin:
                for _ in range(3):
                    run(("/bin/true",), stdin=stdin, output="own")
            """,
            stdin=read_end,
        )
    finally:
        os.close(read_end)
        os.close(write_end)

    assert time.monotonic() - started < 30


def test_script_without_an_interpreter_line_is_run_by_sh(tmp_path):
    """As execvp and every shell do."""
    script = tmp_path / "script"
    script.write_text("exit 7\n")
    script.chmod(0o755)
    with own_standard_input() as stdin:
        result = run((str(script),), stdin=stdin, output="discard")

    assert result.exit_status == 7


def foreign_elf(folder):
    """Write an ELF header for AArch64."""
    path = folder / "foreign"
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    header[16:20] = (2).to_bytes(2, "little") + (183).to_bytes(2, "little")
    path.write_bytes(header)
    path.chmod(0o755)
    return path


def lost_interpreter(folder):
    """Write a script for an interpreter that is not there."""
    path = folder / "lost"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (foreign_elf, "another architecture"),
        (lost_interpreter, "interpreter or loader that it names does not exist"),
    ],
)
def test_what_the_kernel_refuses_is_explained(tmp_path, make, reason):
    """The system's refusal becomes a reason and a remedy."""
    with own_standard_input() as stdin, pytest.raises(CannotStart, match=reason):
        run((str(make(tmp_path)),), stdin=stdin, output="discard")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-such-program-anywhere", "no such program in PATH"),
        ("./no-such-file", "no such file"),
        ("/", "it is a directory"),
        ("/etc/passwd", "it is not executable"),
    ],
)
def test_what_cannot_be_executed_is_told_apart(name, reason):
    """Each reason has its own words."""
    with pytest.raises(CannotStart, match=reason):
        resolve([name])


def test_interrupt_leaves_no_process():
    """A Ctrl-C in the middle of a run ends the program before it is passed on."""
    marker = f"95{os.getpid()}"
    code = (
        "from ridgepoint.host.run import run\n"
        "from ridgepoint.host.standard_input import own_standard_input\n"
        "with own_standard_input() as stdin:\n"
        f"    run(('/bin/sh', '-c', 'trap \"\" INT; sleep {marker}'), stdin=stdin, output='own')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not running(marker):
            time.sleep(0.05)
        child.send_signal(2)
        child.wait(timeout=20)

        assert not running(marker)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        child.wait()


@pytest.mark.parametrize(
    "script",
    [
        "sleep {marker}",
        "sleep {marker} & setsid sleep {marker} & wait",
        "(setsid sleep {marker} &); trap '' TERM INT HUP; sleep {marker}",
        "exec env -i /bin/sh -c 'sleep {marker} & wait'",
    ],
    ids=["one", "children", "daemon", "own environment"],
)
def test_nothing_outlives_a_process_that_was_killed(script):
    """SIGKILL leaves no time to end anything: what was started is ended all the same."""
    if shutil.which("setsid") is None:
        pytest.skip("there is no setsid")
    marker = f"96{os.getpid()}"
    code = (
        "import sys\n"
        "from ridgepoint.host.run import run\n"
        "from ridgepoint.host.standard_input import own_standard_input\n"
        "with own_standard_input() as stdin:\n"
        "    run(('/bin/sh', '-c', sys.argv[1]), stdin=stdin, output='own')\n"
    )
    command = [sys.executable, "-c", code, script.format(marker=marker)]
    child = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
    try:
        await_that(lambda: len(running(marker)) >= script.count("sleep"))
        child.kill()
        child.wait()

        assert await_that(lambda: not running(marker))
    finally:
        child.kill()
        child.wait()
        for left in running(marker):
            left.kill()


def test_watchdog_ends_with_its_process():
    """Nothing of a run is left that ended by itself, and no pipe is held open."""
    told = in_child(
        """
        import os
        with own_standard_input() as stdin:
            run(("/bin/true",), stdin=stdin, output="own")
        import psutil
        print(*(child.pid for child in psutil.Process().children()))
        """
    )

    assert [int(pid) for pid in told.split()]
    assert not any(psutil.pid_exists(int(pid)) for pid in told.split())


def await_that(holds):
    """Return whether something comes to hold within 20 s."""
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def running(marker):
    """Return the sleeping processes with this mark."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE:
            found += [process] if ["sleep", marker] == process.info["cmdline"] else []
    return found


def test_without_proc_the_reason_is_said(monkeypatch):
    """As in a bare chroot: psutil would say that this very process is not there."""
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: "/proc/" not in path and exists(path))

    with own_standard_input() as stdin, pytest.raises(CannotStart, match="/proc is not mounted"):
        run(("/bin/true",), stdin=stdin, output="own")
