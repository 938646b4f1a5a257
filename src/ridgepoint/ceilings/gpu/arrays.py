"""Array programs on a GPU: CuPy, cufinufft, and the device's own clock."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ridgepoint.ceilings.gpu.cupy_device import first_line, open_cupy_device
from ridgepoint.ceilings.gpu.device import Device
from ridgepoint.core.errors import MeterUnavailable

_WHAT = "cannot image on a GPU"
_INSTALL = "pip install 'ridgepoint[gpu]'"
_LOADED = ("cudart", "cufft")  # what libcufinufft.so is linked with, and does not look for


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """One GPU, and what computes with arrays in its memory.

    Parameters
    ----------
    device : Device
    index : int
        Its number, from 0.
    xp : module
        CuPy.
    nufft : module
        cufinufft.
    options : Mapping of str to object
        Of cufinufft's plans, so that they are on this device.
    current : callable
        Returns a context in which arrays are made on this device, and in which what CuPy and
        cufinufft raise becomes `CannotMeasure`.
    elapsed_s : callable
        Returns for how long a function, called so many times, kept the device, by its own clock;
        one call more goes before.
    settle : callable
        Waits until the device has done all that was begun on it.
    """

    device: Device
    index: int
    xp: Any
    nufft: Any
    options: Mapping[str, object]
    current: Callable[[], AbstractContextManager[None]]
    elapsed_s: Callable[[Callable[[], object], int], float]
    settle: Callable[[], None]


def open_arrays(index: int = 0) -> Arrays:
    """Return a GPU of this host, for programs of arrays.

    Parameters
    ----------
    index : int
        As CUDA counts the devices that this process may use.

    Raises
    ------
    MeterUnavailable
        If CuPy, the driver, the device or cufinufft is not there; the message tells which.
    """
    device = open_cupy_device(index)

    def settle() -> None:
        with device.current():
            device.cupy.cuda.runtime.deviceSynchronize()

    return Arrays(
        device=device,
        index=index,
        xp=device.cupy,
        nufft=_cufinufft(),
        options={"gpu_device_id": index},
        current=device.current,
        elapsed_s=device.elapsed_s,
        settle=settle,
    )


def _cufinufft() -> Any:
    """Return cufinufft; say why if it is not there, or does not load."""
    # Where pip put the libraries of CUDA, CuPy finds them and the linker does not. If they are
    # not there, cufinufft says so itself.
    with contextlib.suppress(ImportError, RuntimeError, OSError):
        pathfinder = importlib.import_module("cuda.pathfinder")
        for name in _LOADED:
            pathfinder.load_nvidia_dynamic_lib(name)
    try:
        return importlib.import_module("cufinufft")
    except ModuleNotFoundError as error:
        if error.name != "cufinufft":
            raise _damaged(error) from error
        raise MeterUnavailable(
            _WHAT, reason="cufinufft is not installed", remedy=_INSTALL
        ) from error
    except (ImportError, OSError, RuntimeError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> MeterUnavailable:
    return MeterUnavailable(
        _WHAT,
        reason=f"cufinufft is installed but does not load ({first_line(error)})",
        remedy=f"reinstall it, with the libraries of CUDA 12: {_INSTALL}",
    )
