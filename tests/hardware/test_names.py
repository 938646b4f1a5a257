"""Names of code that Valgrind and the kernel do not know: made at run time, or stripped."""

import contextlib
import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.meters.symbols import read_packed_symbols, read_symbols
from ridgepoint.profiling.program import measure_program

pytestmark = pytest.mark.valgrind

N = 1000


@pytest.fixture
def _here(tmp_path, monkeypatch):
    """Stand in a folder of one's own, where jitdump files are left."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def jit(compiled, tmp_path, monkeypatch):
    """Return a program that names the code it makes; take away the maps that it leaves."""
    monkeypatch.setenv("NAMED_JIT_MARK", str(tmp_path))
    yield compiled("named_jit.c", "-O1")
    for path in Path("/tmp").glob("perf-*.map"):
        # Those of other tests that run meanwhile stay, and may vanish.
        with contextlib.suppress(FileNotFoundError):
            if f"mark {tmp_path}\n" in path.read_text(errors="replace"):
                path.unlink()


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("how", ["map", "dump"])
def test_code_made_at_run_time_has_the_names_that_its_compiler_wrote(jit, counted, how):
    """Rounds of 16 additions or one, and two instructions more; a return at the end."""
    made = {f.name: f.counts for f in counted(jit, how, 0, N).functions if f.object is None}

    assert {name: counts.work for name, counts in made.items()} == {
        "add slowly": {"fp64": 16 * N},
        "add once": {"fp64": N},
    }
    assert made["add slowly"].instructions == 18 * N + 1
    assert made["add once"].instructions == 3 * N + 1


def test_code_that_nobody_named_keeps_its_address(jit, counted):
    """There is no other."""
    (made,) = [f for f in counted(jit, "none", 0, N).functions if f.object is None]

    assert int(made.name, 16) > 0
    assert made.counts.work == {"fp64": 17 * N}


@pytest.mark.hardware
@pytest.mark.usefixtures("_can_sample", "_here")
@pytest.mark.parametrize("how", ["map", "dump"])
def test_time_meets_the_counts_of_code_made_at_run_time(jit, how):
    """The chain of 16 additions takes nearly all of it, at another address in each run."""
    seen = measure_program([jit, how, "0.3", str(N)], functions=True, repeat=1, output="discard")
    counted = {f.name: f for f in seen.counted.functions if f.object is None}

    assert (seen.sampled.functions[0].object, seen.sampled.functions[0].name) == (
        None,
        "add slowly",
    )
    assert counted["add slowly"].counts.work_flop > 0


def tools(*names):
    """Skip where one is not installed."""
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def run(*command):
    """Run a tool and return what it printed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=[("-pie",), ("-no-pie",), ("-static",)], ids=" ".join)
def program(compiled, request):
    """Return a program with all its symbols."""
    tools("objcopy", "nm")
    return compiled("blas.c", "-O1", *request.param)


def addresses(program):
    """Return the addresses of a program's own functions, as nm tells them."""
    own = ("dgemm", "dgemv", "main")
    rows = (line.split() for line in run("nm", program).splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[2] in own}


@pytest.fixture
def packed(program, tmp_path):
    """Return the program stripped, with its symbols compressed within, as Fedora ships them.

    The steps are those of GDB's manual, "MiniDebugInfo".
    """
    path = str(tmp_path / "packed")
    names, mini = tmp_path / "names", tmp_path / "mini"
    names.write_text("\n".join(addresses(program)))
    run("objcopy", "--only-keep-debug", program, str(mini))
    run("objcopy", "-S", "--remove-section=.comment", f"--keep-symbols={names}", str(mini))
    mini.write_bytes(lzma.compress(mini.read_bytes()))
    run("objcopy", "-S", f"--add-section=.gnu_debugdata={mini}", program, path)
    return path


def test_a_stripped_program_is_told_apart_by_the_symbols_within(program, packed, counted):
    """Each of its functions has the counts that it has with symbols."""
    own = addresses(program)
    whole, stripped = (
        {f.name: f.counts for f in counted(each, "dgemm", 45).functions if f.name in own}
        for each in (program, packed)
    )

    assert stripped["dgemm"].work == {"fp64": 2 * 45**3}
    assert stripped == whole


def test_symbols_within_are_those_that_nm_tells(program, packed):
    """Alone, and among all that is known of the file."""
    for symbols in (read_packed_symbols(packed), read_symbols(packed)):
        for name, address in addresses(program).items():
            assert symbols.names_at(address) == (name,)


@pytest.mark.parametrize("folder", [".", ".debug"])
def test_a_linked_debug_file_names_functions(program, tmp_path, folder):
    """Beside the program or in a folder there; one of another build is left alone."""
    (tmp_path / folder).mkdir(exist_ok=True)
    stripped, debug = tmp_path / "stripped", tmp_path / folder / "blas.debug"
    run("objcopy", "--only-keep-debug", program, str(debug))
    link = f"--add-gnu-debuglink={debug}"
    run("objcopy", "-S", "--remove-section=.note.gnu.build-id", link, program, str(stripped))
    address = addresses(program)["dgemm"]

    assert read_symbols(str(stripped)).names_at(address) == ("dgemm",)
    debug.write_bytes(debug.read_bytes() + b"\0")
    assert read_symbols(str(stripped)).names_at(address) == ()


@pytest.mark.parametrize("content", [b"", b"no xz", lzma.compress(b"no ELF")], ids=repr)
def test_symbols_within_that_cannot_be_read_are_none(program, tmp_path, content):
    """The file is as if it had no such section."""
    section, path = tmp_path / "section", tmp_path / "broken"
    section.write_bytes(content)
    run("objcopy", "-S", f"--add-section=.gnu_debugdata={section}", program, str(path))

    assert read_packed_symbols(str(path)).names == ()
    assert read_symbols(str(path)).segments
