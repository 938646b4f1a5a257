"""What array programs need on a GPU: what is said if it lacks, and what of it is handed out."""

import sys
from types import ModuleType

import pytest
from fake_cupy import FakeCupy

from ridgepoint.ceilings.gpu import smi
from ridgepoint.ceilings.gpu.arrays import open_arrays
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable


@pytest.fixture
def cupy(monkeypatch):
    """Give a CuPy of the CPU in the place of the real one, and no libraries of CUDA to look for."""
    monkeypatch.setattr(smi, "_told", lambda bus, fields: None)
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    return FakeCupy(count=2).install(monkeypatch)


def test_a_gpu_comes_with_its_libraries_and_its_clock(cupy, monkeypatch):
    """Plans are told the device; 4 ms lie between two events, and one call went before."""
    library, calls = ModuleType("cufinufft"), []
    monkeypatch.setitem(sys.modules, "cufinufft", library)
    found = open_arrays(1)

    assert (found.xp, found.nufft, found.index) == (cupy, library, 1)
    assert found.options == {"gpu_device_id": 1}
    assert found.elapsed_s(lambda: calls.append(1), 3) == pytest.approx(0.004)
    assert len(calls) == 4


def test_libraries_of_cuda_are_loaded_before_what_needs_them(cupy, monkeypatch):
    """Where pip puts them the linker does not look."""
    order = []
    pathfinder = ModuleType("cuda.pathfinder")
    pathfinder.load_nvidia_dynamic_lib = order.append
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", pathfinder)
    monkeypatch.setitem(sys.modules, "cufinufft", ModuleType("cufinufft"))
    open_arrays(0)

    assert order == ["cudart", "cufft"]


def test_what_a_library_raises_is_told_in_one_line(cupy, monkeypatch):
    """Of what cufinufft says, which is little."""
    monkeypatch.setitem(sys.modules, "cufinufft", ModuleType("cufinufft"))
    found = open_arrays(0)

    with pytest.raises(CannotMeasure, match="CUDA says: Error creating plan"), found.current():
        raise RuntimeError("Error creating plan.")


def refusal():
    """Return what is said where arrays cannot be opened."""
    with pytest.raises(MeterUnavailable) as caught:
        open_arrays(0)
    return str(caught.value)


def test_without_cufinufft_it_says_what_to_install(cupy, monkeypatch):
    """In one line."""
    monkeypatch.setitem(sys.modules, "cufinufft", None)

    assert refusal() == (
        "cannot image on a GPU: cufinufft is not installed; pip install 'ridgepoint[gpu]'"
    )


def test_a_cufinufft_that_does_not_load_is_told_from_none(cupy, monkeypatch, tmp_path):
    """Its words are those of version 2.5.1 where CUDA's libraries are missing."""
    (tmp_path / "cufinufft.py").write_text(
        'raise ImportError("Could not find cufinufft library in system path")'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cufinufft", raising=False)

    assert refusal() == (
        "cannot image on a GPU: cufinufft is installed but does not load (Could not find cufinufft "
        "library in system path); reinstall it, with the libraries of CUDA 12: "
        "pip install 'ridgepoint[gpu]'"
    )


def test_without_cupy_that_is_said_first(monkeypatch):
    """It is what opens the device."""
    monkeypatch.setitem(sys.modules, "cupy", None)

    assert "CuPy is not installed; pip install 'ridgepoint[gpu]'" in refusal()
