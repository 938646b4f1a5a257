"""What tests of the counting engine share: programs, small caches, and counted runs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.cluster import profiling
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run
from ridgepoint.meters import sampling
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter

PROGRAMS = Path(__file__).parents[1] / "programs"
HEADERS = PROGRAMS.parents[1] / "native" / "include"


def cache(level, size_kib, ways, *, cores=1, kind="data"):
    """Return a cache with lines of 64 byte."""
    return Cache(
        level=level, kind=kind, size_bytes=size_kib << 10, line_bytes=64, ways=ways, cores=cores
    )


SMALL_CACHES = (
    cache(1, 8, 4),
    cache(1, 8, 4, kind="instruction"),
    cache(2, 64, 8),
    cache(3, 512, 16),
)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile tests/programs/NAME with some options and return the path of the program."""
    for tool in ("gcc", "g++", "valgrind"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    made = {}

    def compile_program(source, *options):
        key = (source, *options)
        if key not in made:
            path = tmp_path_factory.mktemp("program") / Path(source).stem
            compiler = "g++" if source.endswith(".cpp") else "gcc"
            command = [compiler, *options, f"-I{HEADERS}", "-pthread", PROGRAMS / source]
            subprocess.run([*command, "-o", path], check=True)
            made[key] = str(path)
        return made[key]

    return compile_program


def launch(command, **options):
    """Run a command to its end."""
    done = subprocess.run(command, check=False, stderr=subprocess.DEVNULL, **options)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)


@pytest.fixture(scope="session")
def counted():
    """Count a command with the engine; without caches unless they are given."""

    def count(*command, caches=None, launch=launch, **options):
        meter = EngineMeter(simulate=caches is not None, **options)
        return meter.count([str(part) for part in command], launch=launch, caches=caches or ())

    return count


@pytest.fixture(scope="session")
def natively():
    """Count a command with the copying engine; without caches unless they are given."""

    def count(*command, caches=None, launch=launch, **options):
        meter = NativeMeter(simulate=caches is not None, **options)
        return meter.count([str(part) for part in command], launch=launch, caches=caches or ())

    return count


@pytest.fixture(scope="session")
def printed(counted):
    """Count a command; return what it printed, and its counts."""

    def count(*command, **options):
        said = []

        def listening(line):
            done = subprocess.run(line, check=False, capture_output=True)
            said.append(done.stdout)
            time_s = 1.0
            status = done.returncode if done.returncode >= 0 else 128 - done.returncode
            return Run(exit_status=status, wall_s=time_s, cpu_s=time_s)

        result = counted(*command, launch=listening, **options)
        return said[0], result

    return count


def _function(result, name):
    """Return the counts of the one function of a name."""
    (found,) = [one for one in result.functions if one.name == name]
    return found


@pytest.fixture(scope="session")
def of_function():
    """Find the one function of a name in a result."""
    return _function


@pytest.fixture(scope="session")
def small_caches():
    """Return caches that small arrays overflow."""
    return SMALL_CACHES


@pytest.fixture
def _can_sample():
    """Skip where the kernel samples no programs."""
    if (lack := sampling.why_unavailable()) is not None:
        pytest.skip(f"{lack.reason}; {lack.remedy}")


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    """Return the compiled tests/programs/mpi_calls.c."""
    mpicc = profiling.compiler(Path(sys.executable).parent)
    if mpicc is None:
        pytest.skip("there is no mpicc: pip install 'ridgepoint[mpi]'")
    path = tmp_path_factory.mktemp("mpi") / "mpi_calls"
    command = [mpicc, "-O1", "-ffp-contract=off", "-pthread", PROGRAMS / "mpi_calls.c"]
    subprocess.run([*command, "-o", path], check=True)
    return str(path)
