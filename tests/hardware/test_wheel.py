"""A wheel with compiled files counts where there is no compiler, and holds nothing of its host."""

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

ROOT = Path(__file__).parents[2]
WORK = "print(sum(range(300_000)))"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("ziglang", "hatchling", "hatch_vcs")),
        reason="not installed: pip install -r tools/wheels/requirements.txt",
    ),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel as `make wheels` does."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    environment = {**os.environ, "RIDGEPOINT_COMPILE_AHEAD": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if "No matching distribution found" in done.stderr or "Temporary failure in" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("ridgepoint-*.whl"))


@pytest.fixture(scope="module")
def binaries(wheel, tmp_path_factory):
    """Unpack what is compiled, and return its files."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder)
        modes = {one.filename: one.external_attr >> 16 for one in content.infolist()}
    paths = [path for path in folder.rglob("*") if path.is_file()]
    found = [path for path in paths if path.read_bytes()[:4] == b"\x7fELF"]
    assert all(modes[str(path.relative_to(folder))] & 0o111 for path in found)
    return found


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Install it, read-only, in a folder whose other packages are those of this environment."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "others.pth").write_text("\n".join(others) + "\n")
    subprocess.run(["chmod", "-R", "a-w", site / "ridgepoint"], check=True)
    yield python
    subprocess.run(["chmod", "-R", "u+w", site / "ridgepoint"], check=True)


@pytest.fixture
def run(python, tmp_path):
    """Run a command of the installed Ridgepoint where PATH holds nothing else."""

    def once(*arguments, **variables):
        environment = {
            "PATH": str(python.parent),
            "HOME": str(tmp_path),
            "RIDGEPOINT_CACHE": str(tmp_path / "cache"),
            "RIDGEPOINT_ARCHIVE": str(tmp_path / "archive.sqlite3"),
            **variables,
        }
        command = [python.parent / "ridgepoint", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    return once


def test_the_tag_is_what_the_files_need(wheel, binaries):
    """No later glibc than 2.17, which any file that is linked with one names in its symbols."""
    needed = {
        version.name
        for path in binaries
        for section in ELFFile(BytesIO(path.read_bytes())).iter_sections()
        if isinstance(section, GNUVerNeedSection)
        for _, versions in section.iter_versions()
        for version in versions
    }
    numbers = {tuple(map(int, name[6:].split("."))) for name in needed if name[:6] == "GLIBC_"}

    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.whl")
    assert needed == {f"GLIBC_{'.'.join(map(str, number))}" for number in numbers}
    assert (2, 2, 5) <= max(numbers) <= (2, 17)
    assert len(binaries) == 8  # two engines of two files, the sampler, three libraries for MPI


def test_nothing_of_the_host_is_in_the_files(binaries):
    """Neither where they were built, nor by whom, nor debug information that would say it."""
    for path in binaries:
        content = path.read_bytes()
        assert not re.search(rb"/(tmp|home|root|work|usr/include|usr/lib/gcc)/", content), path
        assert not ELFFile(BytesIO(content)).has_dwarf_info(strict=True)


def test_the_first_run_builds_nothing(run, python, tmp_path):
    """It counts with the copying engine, cache simulation included; nothing is told of a build."""
    done = run("run", "--machine", "csb", "--json", "--", python, "-c", WORK)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)

    assert said["meter"].startswith("native")
    # An interpreter's loop adds 300000 times; each takes ten instructions at least.
    assert said["instructions"]["total"] > 3_000_000
    assert said["traffic"]["read_bytes"] is not None
    assert "building" not in done.stderr
    assert not [path for path in (tmp_path / "cache").glob("*") if path.name != "copies"]


def test_lines_are_sampled(run, tmp_path):
    """By the library that came compiled."""
    script = tmp_path / "script.py"
    script.write_text("total = 0\nfor i in range(300_000):\n    total += i * i\n")
    done = run("run", "--machine", "csb", "--lines", "--", "python", script)

    assert done.returncode == 0, done.stderr
    assert "total += i * i" in done.stdout + done.stderr
    assert "building" not in done.stderr


@pytest.mark.network
def test_mpi_is_profiled(run, python, calls):
    """By the library that came compiled: there is an mpicc, and no gcc that it could call."""
    done = run(
        *("run", "--mpi", "3", "--meter", "native", "--machine", "csb", "--json"),
        *("--", calls, "collectives"),
        PATH=f"{python.parent}:{Path(sys.executable).parent}:{Path(calls).parent}",
    )
    assert done.returncode == 0, done.stderr

    assert "mpi-unknown" not in done.stdout
    assert '"MPI_Allreduce"' in done.stdout


def test_a_cache_that_cannot_be_written_is_no_obstacle(run, python):
    """What was copied is then for this run only, which a caution says."""
    done = run(
        *("run", "--machine", "csb", "--json", "--", python, "-c", WORK),
        RIDGEPOINT_CACHE="/proc/none",
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)

    assert said["meter"].startswith("native")
    assert "engine-not-kept" not in {caution["code"] for caution in said["cautions"]}


def test_the_doctor_says_that_no_compiler_is_needed(run):
    """It is no defect of this host."""
    said = run("doctor").stdout

    assert "it came compiled" in said


def test_the_headers_for_marks_are_installed(run):
    """Programs of the user's own may be compiled elsewhere."""
    assert Path(run("include").stdout.strip(), "ridgepoint.h").is_file()
