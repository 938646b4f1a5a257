"""Programs that make counting hard: counted exactly, or refused with a reason."""

import os

import pytest

from ridgepoint.core.errors import UnsupportedInstruction

pytestmark = pytest.mark.valgrind

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do this")


@pytest.fixture
def hostile(compiled, counted, tmp_path):
    """Count tests/programs/hostile.c."""

    def count(mode, **options):
        folder = tmp_path / "folder"
        folder.mkdir()
        return counted(compiled("hostile.c", "-O2"), mode, folder, **options)

    return count


@pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])
@pytest.mark.parametrize(
    "mode",
    [
        "closing",
        "removed",
        "files",
        "memory",
        "size",
        "sparse",
        "masked",
        "umask",
        "status",
        pytest.param("jail", marks=NEEDS_ROOT),
        pytest.param("nobody", marks=NEEDS_ROOT),
    ],
)
def test_programs_that_give_up_what_they_have_are_counted(mode, simulated, hostile, small_caches):
    """Descriptors, directories, limits, privileges, or the sight of the file system."""
    result = hostile(mode, caches=small_caches if simulated else None)

    assert result.counts.work == {"fp64": 1000}
    assert result.partial is None


@pytest.mark.parametrize(("mode", "signal"), [("abort", "SIGABRT"), ("overflow", "SIGSEGV")])
def test_programs_that_end_by_a_signal_are_counted_until_then(mode, signal, hostile):
    """And the counts say that they are partial."""
    result = hostile(mode)

    assert result.counts.work == {"fp64": 1000}
    assert signal in result.partial


@NEEDS_ROOT
@pytest.mark.parametrize("mode", ["jailfork", "nobodyfork"])
def test_a_child_that_cannot_be_counted_makes_the_counts_partial(mode, hostile):
    """It would have to write where its parent no longer may."""
    assert "ended the child" in hostile(mode).partial


def test_a_program_that_runs_valgrind_is_counted_without_it(compiled, counted, tmp_path):
    """Valgrind cannot run itself; the program that tried goes on."""
    program = compiled("hostile.c", "-O2")
    script = f"valgrind -q --tool=none true; {program} status"

    assert counted("sh", "-c", script).counts.work["fp64"] == 1000


@pytest.mark.parametrize("mode", ["catch", "child"])
@pytest.mark.parametrize("options", [("-O2",), ("-O2", "-g")], ids=" ".join)
def test_avx512_is_refused_by_name(mode, options, compiled, counted):
    """The message names instruction, function and object, even if the program survived."""
    program = compiled("wide.c", *options)

    with pytest.raises(UnsupportedInstruction) as refused:
        counted(program, mode)
    assert "zmm" in refused.value.reason
    assert f"function 'wide' of {program}" in refused.value.reason
    assert "-mno-avx512f" in refused.value.remedy


def test_counting_leaves_no_files_behind(compiled, counted, tmp_path, monkeypatch):
    """Neither in the temporary directory nor where the program runs."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    counted(compiled("hostile.c", "-O2"), "status")

    assert list(tmp_path.iterdir()) == []
