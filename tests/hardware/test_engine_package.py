"""What tools/wheels/valgrind.py built counts as the system's Valgrind does, wherever it lies."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from ridgepoint.host.run import Run
from ridgepoint.meters.building import source_folder
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.engine import build
from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.engine.recipe import source_key
from ridgepoint.meters.valgrind.package import MODULE, PROGRAMS

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "engine/src" / MODULE
WORK = {"fp64": 2 * 45**3}
NAME = "Valgrind 3.27.1 of ridgepoint-engine"


def _fits():
    try:
        made = json.loads((BUILT / "valgrind/made.json").read_text())
    except OSError:
        return False
    return made["source"] == source_key(source_folder())


pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(
        not _fits(), reason="python tools/wheels/valgrind.py has not built it from this source"
    ),
]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install what was built into a folder of its own, and ask for it; return its programs."""
    shutil.copytree(BUILT, tmp_path / "site" / MODULE)
    monkeypatch.setitem(sys.modules, MODULE, None)
    monkeypatch.delitem(sys.modules, MODULE)  # imported anew, and gone after the test
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "engine")
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "site" / MODULE / "valgrind"


@pytest.fixture
def product(compiled):
    """Return a command that multiplies matrices, statically linked."""
    return (compiled("blas.c", "-O2", "-ftree-vectorize", "-mavx2", "-mfma", "-static"), "dgemm")


@pytest.fixture
def by_both(package, product, counted, small_caches, monkeypatch):
    """Count the product with the tools for both kinds of CPU."""
    results = []
    for features in (frozenset({"avx2", "bmi2", "fma"}), frozenset()):
        monkeypatch.setattr(build, "cpu_features", lambda features=features: features)
        results.append(counted(*product, 45, caches=small_caches))
    return results


def test_both_tools_count_the_same(by_both):
    """With vectors and without, the work by hand and the same traffic."""
    fast, plain = by_both

    assert fast.counts.work == plain.counts.work == WORK
    assert fast.counts == plain.counts
    assert fast.traffic == plain.traffic
    assert fast.meter == f"engine ({NAME})"


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not in PATH")
def test_counts_are_those_of_the_systems_valgrind(package, product, counted, monkeypatch):
    """Of the function itself, instruction by instruction: programs start in other ways."""
    ours = counted(*product, 45)
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "system")
    other = counted(*product, 45)

    assert "ridgepoint-engine" not in other.meter
    for result in (ours, other):
        (dgemm,) = [each for each in result.functions if each.name == "dgemm"]
        assert dgemm.counts.work == WORK
    assert [each.counts for each in ours.functions if each.name == "dgemm"] == [
        each.counts for each in other.functions if each.name == "dgemm"
    ]


def test_children_are_counted(package, product, counted):
    """The launcher starts itself again for what a shell starts."""
    program, kernel = product
    result = counted("sh", "-c", f"{program} {kernel} 45; {program} {kernel} 45; true")

    assert result.counts.work == {"fp64": 2 * WORK["fp64"]}
    assert result.processes == 3


def test_settings_for_other_valgrinds_change_nothing(package, product, counted, monkeypatch):
    """Those of the loader are for the program alone: the launcher is static."""
    monkeypatch.setenv("VALGRIND_LIB", "/nowhere")
    monkeypatch.setenv("VALGRIND_OPTS", "--tool=memcheck --no-such-option")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")

    assert counted(*product, 45).counts.work == WORK


def launch(command):
    """Run a command to its end."""
    done = subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)


def test_callgrind_of_the_package_counts(package, product, small_caches, monkeypatch):
    """Without any other Valgrind, and whatever options are set for others."""
    monkeypatch.setenv("VALGRIND_OPTS", "--tool=memcheck --no-such-option")
    result = CallgrindMeter().count([*product, "45"], launch=launch, caches=small_caches)

    assert result.counts.work == WORK
    assert result.meter == f"callgrind ({NAME})"


def test_programs_that_lost_their_mode_count_from_a_copy(package, product, counted):
    """In a folder that nobody may write to."""
    for name in PROGRAMS:
        (package / name).chmod(0o444)
    package.chmod(0o555)

    assert counted(*product, 45).counts.work == WORK
    assert engine().library != package


def test_programs_need_nothing_and_name_no_place_of_their_build(package):
    """No interpreter, no library, no version of a symbol; no path of this machine."""
    for name in PROGRAMS:
        with (package / name).open("rb") as file:
            elf = ELFFile(file)
            dynamic = elf.get_section_by_name(".dynamic")
            needed = [] if dynamic is None else [*dynamic.iter_tags("DT_NEEDED")]
            assert not any(part.header.p_type == "PT_INTERP" for part in elf.iter_segments())
            assert needed == []
            assert elf.get_section_by_name(".gnu.version_r") is None
        content = (package / name).read_bytes()
        assert str(ROOT).encode() not in content
        assert str(Path.home()).encode() + b"/" not in content
