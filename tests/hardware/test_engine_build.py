"""The engine is built by a real compiler for the real Valgrind, and is whole or not there."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters import compiling
from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.engine.installation import installation

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not in PATH"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

# The least that is a tool: it instruments nothing.
TINY = """
#include "pub_tool_basics.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_tooliface.h"
static void post_clo_init(void) {}
static IRSB *instrument(VgCallbackClosure *closure, IRSB *block, const VexGuestLayout *layout,
                        const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest,
                        IRType host)
{
    return block;
}
static void fini(Int status) {}
static void pre_clo_init(void)
{
    VG_(details_name)("tiny");
    VG_(details_version)("1");
    VG_(details_description)("does nothing");
    VG_(details_copyright_author)("nobody");
    VG_(details_bug_reports_to)("nobody");
    VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
}
VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
"""
ENGINE = "from pathlib import Path; from ridgepoint.meters.engine.build import engine; "


def building(cache, source, **options):
    """Start a process that builds an engine and prints its library folder."""
    code = f"print(engine(cache=Path({str(cache)!r}), source=Path({str(source)!r})).library)"
    return subprocess.Popen([sys.executable, "-c", ENGINE + code], text=True, **options)


@pytest.fixture
def tiny(tmp_path):
    """Write the source of a tool that does nothing."""
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / "tiny.c").write_text(TINY)
    return folder


def compiler(path, script):
    """Write a compiler as a shell script; ``cc "$@"`` in it is the real one."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def leftovers(cache):
    """Return what lies in the cache beside finished engines."""
    return sorted(path.name for path in (cache / "engine").glob(".*"))


def run(library, tool):
    """Run a program under a tool of a library folder; return what it printed."""
    done = subprocess.run(
        ["valgrind", f"--tool={tool}", "-q", "--vgdb=no", "echo", "ran"],
        env={**os.environ, "VALGRIND_LIB": str(library)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_built_engine_runs_programs_and_valgrinds_own_tools_still_do(tmp_path, tiny):
    """Its folder has the new tool and links to all the others."""
    said = []
    built = engine(cache=tmp_path / "cache", source=tiny, report=said.append)

    assert run(built.library, "ridgepoint") == "ran\n"
    assert run(built.library, "none") == "ran\n"
    assert said == ["building the counting engine (once)"]
    assert built.cautions == ()
    assert leftovers(tmp_path / "cache") == []


def test_engine_that_is_there_is_not_built_again(tmp_path, tiny, monkeypatch):
    """Neither a compiler nor a report is needed the second time."""
    first = engine(cache=tmp_path / "cache", source=tiny)
    monkeypatch.setattr(compiling, "_COMPILERS", ())
    said = []

    assert engine(cache=tmp_path / "cache", source=tiny, report=said.append) == first
    assert said == []


def test_engine_of_a_run_under_the_engine_is_the_same(tmp_path, tiny, monkeypatch):
    """A measured program that itself measures sees our library folder as Valgrind's."""
    first = engine(cache=tmp_path / "cache", source=tiny)
    monkeypatch.setenv("VALGRIND_LIB", str(first.library))
    assert engine(cache=tmp_path / "cache", source=tiny) == first
    other = engine(cache=tmp_path / "other", source=tiny)

    assert run(other.library, "ridgepoint") == "ran\n"


def test_own_source_builds_without_a_warning(tmp_path, monkeypatch):
    """The engine itself, under the compiler's usual warnings, all of them errors.

    Callbacks have the parameters that Valgrind gives them, needed or not.
    """
    theirs = f"-isystem{installation().headers}"
    monkeypatch.setenv("CC", f"cc {theirs} -Wall -Wextra -Werror -Wno-unused-parameter")

    assert engine(cache=tmp_path / "cache").cautions == ()


def test_damaged_engine_is_built_again(tmp_path, tiny):
    """A tool cut short by a crash of the host is not used."""
    first = engine(cache=tmp_path / "cache", source=tiny)
    tool = first.library / "ridgepoint-amd64-linux"
    os.truncate(tool, 1000)
    again = engine(cache=tmp_path / "cache", source=tiny)

    assert again == first
    assert run(again.library, "ridgepoint") == "ran\n"
    assert leftovers(tmp_path / "cache") == []


def test_two_processes_at_once_make_one_engine(tmp_path, tiny, monkeypatch):
    """Both compile at the same time, and both use the one that is kept."""
    meet = tmp_path / "meet"
    meet.mkdir()
    # Nobody's compiler goes on before there are two of them: the first step of each build.
    script = f"touch {meet}/$$; until [ $(ls {meet} | wc -l) -ge 2 ]; do sleep 0.01; done; "
    monkeypatch.setenv("CC", compiler(tmp_path / "cc", script + 'exec cc "$@"'))
    both = [building(tmp_path / "cache", tiny, stdout=subprocess.PIPE) for _ in range(2)]
    first, second = (process.communicate(timeout=120)[0].strip() for process in both)

    assert first == second
    assert [process.returncode for process in both] == [0, 0]
    assert run(first, "ridgepoint") == "ran\n"
    assert leftovers(tmp_path / "cache") == []


def test_killed_build_leaves_nothing_that_is_used(tmp_path, tiny, monkeypatch):
    """What it leaves is passed over, and removed once it is a day old."""
    started = tmp_path / "started"
    script = f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 60"
    monkeypatch.setenv("CC", compiler(tmp_path / "cc", script))
    process = building(tmp_path / "cache", tiny)
    while not started.exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    os.kill(int(started.read_text()), signal.SIGKILL)
    (left,) = leftovers(tmp_path / "cache")
    monkeypatch.delenv("CC")

    built = engine(cache=tmp_path / "cache", source=tiny)
    assert run(built.library, "ridgepoint") == "ran\n"
    assert leftovers(tmp_path / "cache") == [left]
    os.utime(tmp_path / "cache/engine" / left, (0, 0))
    (tiny / "tiny.c").write_text(TINY + "\n")
    engine(cache=tmp_path / "cache", source=tiny)
    assert leftovers(tmp_path / "cache") == []


def test_interrupted_build_leaves_nothing(tmp_path, tiny, monkeypatch):
    """Ctrl-C ends the compiler too, and the half-built folder is gone."""
    marker = f"95{os.getpid()}"
    monkeypatch.setenv("CC", compiler(tmp_path / "cc", f"sleep {marker} & wait"))
    process = building(tmp_path / "cache", tiny, stderr=subprocess.DEVNULL)
    while not sleeping(marker):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)

    assert not sleeping(marker)
    assert leftovers(tmp_path / "cache") == []


def sleeping(marker):
    """Return the processes that have a marker among their arguments and are not about to end."""
    found = [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]
    return psutil.wait_procs(found, timeout=2)[1]


@pytest.fixture
def refusal(tmp_path, tiny):
    """Return a function that gives the line with which a build is refused, and its log."""

    def ask():
        with pytest.raises(MeterUnavailable) as caught:
            engine(cache=tmp_path / "cache", source=tiny)
        log = tmp_path / "cache/engine/failed-build.log"
        said = str(caught.value)
        assert "\n" not in said
        assert leftovers(tmp_path / "cache") == []
        if not log.exists():
            return said, None
        assert str(log) in said
        return said, log.read_text()

    return ask


def test_source_that_does_not_compile_is_named_with_its_line(tiny, refusal):
    """The first error stands in the message, all of them in the log."""
    (tiny / "wrong.c").write_text("int f(void)\n{\n    return first;\n}\nint g = second;\n")
    said, log = refusal()

    assert "wrong.c:3:12: error: 'first' undeclared" in said.replace("\u2018", "'")
    assert "wrong.c:5:9: error" in log


def test_source_that_does_not_link_is_named(tiny, refusal):
    """What is missing, and not only that something is."""
    (tiny / "tiny.c").write_text(TINY + "void gone(void); void *address = gone;\n")
    said, _ = refusal()

    assert "undefined reference to `gone'" in said


def test_compiler_that_hangs_is_ended(tmp_path, refusal, monkeypatch):
    """With whatever it started."""
    marker = f"96{os.getpid()}"
    monkeypatch.setenv("CC", compiler(tmp_path / "cc", f"sleep {marker} & wait"))
    monkeypatch.setattr(compiling, "_COMPILE_LIMIT_S", 0.3)
    said, _ = refusal()

    assert "cc took longer than 0.3 s" in said
    assert not sleeping(marker)


def test_tool_that_does_not_start_is_a_failed_build(tiny, refusal):
    """It is tried before it is kept."""
    (tiny / "tiny.c").write_text(
        TINY.replace("post_clo_init(void) {}", "post_clo_init(void) { VG_(exit)(3); }")
    )
    said, log = refusal()

    assert "valgrind failed, status 3" in said
    assert "--tool=ridgepoint" in log


def test_compiler_that_is_not_there_is_named(refusal, monkeypatch):
    """Named by the user, or none of the usual names."""
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    assert "CC names 'no-such-compiler -O1'" in refusal()[0]
    monkeypatch.delenv("CC")
    monkeypatch.setattr(compiling, "_COMPILERS", ("no-such-compiler",))

    assert "no C compiler" in refusal()[0]


def test_headers_of_another_version_are_refused(tmp_path, refusal, monkeypatch):
    """The Valgrind that is first in PATH is not the one that the headers belong to."""
    (tmp_path / "bin").mkdir()
    for name in ("include", "lib", "libexec"):
        (tmp_path / name).symlink_to(f"/usr/{name}")
    compiler(tmp_path / "bin/valgrind", "echo valgrind-3.1.0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    said, _ = refusal()

    assert "is Valgrind 3.1.0, " in said


def test_valgrind_that_does_not_start_is_named(tmp_path, refusal, monkeypatch):
    """With the first line of what it says."""
    (tmp_path / "bin").mkdir()
    for name in ("include", "lib", "libexec"):
        (tmp_path / name).symlink_to(f"/usr/{name}")
    compiler(tmp_path / "bin/valgrind", "echo no memory >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    said, _ = refusal()

    assert "does not start (no memory)" in said


def built_elsewhere(environment, source):
    """Build in a process of its own; return the library, whether it ran, and the caution."""
    code = (
        f"{ENGINE}e = engine(source=Path({str(source)!r})); print(e.library); "
        "print((e.library / '.complete').exists()); print(*e.cautions)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    library, complete, caution = done.stdout.splitlines()
    return Path(library), complete == "True", caution


@pytest.mark.parametrize("home", ["/nonexistent", "/dev/null"])
def test_without_a_home_the_engine_lasts_as_long_as_the_process(tmp_path, tiny, home):
    """It works, says that it is not kept, and leaves nothing behind."""
    environment = {k: v for k, v in os.environ.items() if k[:4] not in {"XDG_", "RIDG"}}
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    library, complete, caution = built_elsewhere(
        {**environment, "HOME": home, "TMPDIR": str(temporary)}, tiny
    )

    assert complete
    assert library.is_relative_to(temporary)
    assert caution.startswith("engine-not-kept: ")
    assert list(temporary.iterdir()) == []
    assert not Path(home, ".cache").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("size=1m", "no space left on device"),
        ("ro", "read-only file system"),
        ("noexec", "programs in it may not be executed"),
    ],
)
def test_cache_that_cannot_hold_the_engine_is_replaced(tmp_path, tiny, options, reason):
    """A folder that is full, read-only or not for programs: a temporary one serves, and says so."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "ridgepoint-test", str(folder)],
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a file system here: {mounted.stderr.strip()}")
    try:
        environment = {**os.environ, "RIDGEPOINT_CACHE": str(folder)}
        library, complete, caution = built_elsewhere(environment, tiny)
        left = [path.name for path in folder.rglob("*")]
    finally:
        subprocess.run(["umount", str(folder)], check=True)

    assert complete
    assert not library.is_relative_to(folder)
    assert not library.exists()
    assert reason in caution
    assert left in ([], ["engine"])


def test_no_folder_at_all_is_refused(tmp_path, tiny):
    """Neither the cache nor the temporary folder: the message names both."""
    cache = tmp_path / "cache"
    cache.write_text("a file")
    code = (
        f"{ENGINE}import tempfile; tempfile.tempdir = {str(cache)!r}\n"
        f"engine(cache=Path({str(cache)!r}), source=Path({str(tiny)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert "there is no folder to build it in" in done.stderr
    assert "RIDGEPOINT_CACHE" in done.stderr.splitlines()[-1]
