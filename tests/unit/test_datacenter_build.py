"""Workloads are described once, compiled when needed, and refused clearly where they cannot be."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host import System
from ridgepoint.suites.datacenter import (
    VARIANTS,
    WORKLOADS,
    arguments,
    build,
    compiler_command,
    find,
    host_flags,
)


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Make a compiler of a script's own, which writes down each time that it compiles."""
    script = tmp_path / "compiler"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec echo one\n'
        f"echo compiled >>{tmp_path}/log\n"
        'for last; do :; done; echo "#!/bin/sh" >"$last"; chmod +x "$last"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", str(script))
    return script


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_has_a_source_that_names_its_forms(name):
    """What Python offers is what the program accepts: the same forms in the same order."""
    source = find(name).source.read_text()
    forms = ", ".join(f'"{form}"' for form in find(name).forms)

    assert f"{{{forms}}}" in re.sub(r"\s+", " ", source)


def test_a_program_is_compiled_once(compiler):
    """The second call finds what the first has left."""
    first, second = build("sort"), build("sort")

    assert first == second
    assert (compiler.parent / "log").read_text() == "compiled\n"


def test_flags_and_compiler_are_part_of_a_programs_name(compiler):
    """Another variant, or another version of the compiler, is another program."""
    before = build("sort")
    compiler.write_text(compiler.read_text().replace("echo one", "echo two"))

    assert len({before, build("sort"), build("sort", variant="native")}) == 3


def test_without_a_compiler_the_error_says_what_to_install(monkeypatch, tmp_path):
    """Neither CXX nor any known name: one line that names some."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)

    with pytest.raises(CannotMeasure, match=r"there is no C\+\+ compiler; install g\+\+"):
        compiler_command()


def test_a_compiler_that_is_not_there_is_named(monkeypatch):
    """CXX is not passed over in silence."""
    monkeypatch.setenv("CXX", "no-such-compiler -O2")

    with pytest.raises(CannotMeasure, match="no-such-compiler"):
        build("sort")


def test_a_compiler_that_refuses_is_quoted(compiler):
    """Its own first complaint is the reason, and nothing is left in the folder."""
    compiler.write_text("#!/bin/sh\necho 'x.cpp:1: error: no' >&2\nexit 1\n")

    with pytest.raises(CannotMeasure, match=r"x\.cpp:1: error: no"):
        build("sort")
    assert not list((compiler.parent / "cache/datacenter").iterdir())


def test_a_wrapper_without_its_compiler_is_quoted(compiler):
    """Those of MPI draw a line of dashes first, and call nothing an error."""
    compiler.write_text(
        "#!/bin/sh\nprintf '%s\\n' ------ 'It was unable to find g++' ------ >&2\nexit 1\n"
    )

    with pytest.raises(CannotMeasure, match="workload 'sort': It was unable to find g"):
        build("sort")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\nexit 3\n", "ended with 3"),
        ("#!/bin/sh\nexit 0\n", "made no program"),
        ("neither a program nor a script\0", "cannot be run: exec format error"),
    ],
)
def test_a_command_that_is_no_compiler_is_named(compiler, script, message):
    """It is executable, and that is all; nothing is left in the folder."""
    compiler.write_text(script)

    with pytest.raises(CannotMeasure, match=rf"{compiler}.* {message}"):
        build("sort")
    assert not list((compiler.parent / "cache/datacenter").iterdir())


def test_a_command_with_an_open_quote_is_refused(monkeypatch):
    """No shell would take it either."""
    monkeypatch.setenv("CXX", 'g++ "-O2')

    with pytest.raises(CannotMeasure, match="no closing quotation"):
        compiler_command()


def test_a_full_disk_is_not_the_compilers_fault(compiler):
    """What to do is to name a folder with room."""
    compiler.write_text("#!/bin/sh\necho 'error: x.o: No space left on device' >&2\nexit 1\n")

    with pytest.raises(CannotMeasure, match=r"no space left on device; .*RIDGEPOINT_CACHE"):
        build("sort")


@pytest.mark.usefixtures("compiler")
def test_a_folder_whose_programs_may_not_be_run_is_refused(monkeypatch):
    """As /tmp is on some hosts: each program would be compiled again, and never run."""
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_flag=os.ST_NOEXEC))

    with pytest.raises(CannotMeasure, match="programs in it may not be executed"):
        build("sort")


def test_an_interrupt_ends_the_compiler_and_all_that_it_started(compiler):
    """Nothing goes on running, and neither a program nor a temporary file is left."""
    log = compiler.parent / "log"
    compiler.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec echo one\n'
        f'touch "$TMPDIR/cc1.s"; sleep 300 & echo "$! $TMPDIR" >{log}; sleep 0.5\n'
        "kill -INT $PPID; wait\n"
    )

    with pytest.raises(KeyboardInterrupt):
        build("sort")
    number, folder = log.read_text().split()
    assert not list((compiler.parent / "cache/datacenter").iterdir())
    assert Path(folder).is_relative_to(compiler.parent / "cache/datacenter")
    assert has_ended(int(number))


def has_ended(number):
    """Tell whether a process of that number ends; one that nobody waits for has ended too."""
    try:
        process = psutil.Process(number)
        while process.status() != psutil.STATUS_ZOMBIE:
            process.wait(timeout=10)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired as error:
        return psutil.Process(error.pid).status() == psutil.STATUS_ZOMBIE
    return True


@pytest.mark.usefixtures("compiler")
def test_what_a_killed_process_left_is_removed_later(tmp_path):
    """Once no compiler can be at work on it any more."""
    folder = tmp_path / "cache/datacenter"
    old, young = folder / ".unfinished-old", folder / ".unfinished-young"
    for each in (old, young):
        each.mkdir(parents=True)
        (each / "cc1.s").touch()
    os.utime(old, (0, 0))
    build("sort")

    assert not old.exists()
    assert young.exists()


def test_a_cache_that_cannot_be_made_is_named(compiler, monkeypatch):
    """A file stands where the folder should be."""
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(compiler))

    with pytest.raises(CannotMeasure, match="RIDGEPOINT_CACHE"):
        build("sort")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build("sorting"), "sorting"),
        (lambda: build("sort", variant="fast"), "fast"),
        (lambda: arguments("sorting"), "sorting"),
        (lambda: arguments("sort", form="quantum"), "quantum"),
    ],
)
def test_what_is_not_there_is_refused_by_name(call, message):
    """A workload, a variant or a form that does not exist is the caller's error."""
    with pytest.raises(ValueError, match=message):
        call()


def test_arguments_are_those_of_the_command_line():
    """A size is made in memory; a file is read instead; options come last."""
    assert " ".join(arguments("sort", size=5, form="simd", check=True)) == (
        "--form simd --threads 1 --seed 1 --repeat 1 --generate --size 5 --check"
    )
    given = arguments("sort", input="x", results="y", options=("--block", "7"))
    assert " ".join(given[8:]) == ("--input x --results y --block 7")


def test_vectors_are_those_that_valgrind_decodes(tmp_path, monkeypatch):
    """A CPU with AVX-512 gets AVX2 too, and one without AVX2 no flag at all."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    (tmp_path / "proc").mkdir()
    cpuinfo = tmp_path / "proc/cpuinfo"

    cpuinfo.write_text("flags : sse2 avx avx2 bmi1 bmi2 f16c fma abm movbe avx512f\n")
    assert host_flags(System(tmp_path)) == ("-march=x86-64-v3",)
    cpuinfo.write_text("flags : sse2 avx\n")
    assert host_flags(System(tmp_path)) == ()


def test_the_baseline_is_not_optimised():
    """The paper starts from a compiler without options."""
    assert VARIANTS["baseline"].flags == ("-O0",)
    assert VARIANTS["optimised"].flags == ("-O2",)
