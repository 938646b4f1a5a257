"""Whether this host has a GPU of NVIDIA, and its driver, without any library for it."""

from __future__ import annotations

import ctypes
from pathlib import Path

_PCI = Path("/sys/bus/pci/devices")
_NVIDIA = "0x10de"
_DISPLAY = "0x03"  # class of PCI: display controllers, those without a display too


def driver_is_missing() -> bool:
    """Return whether the driver's library cannot be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return True
    return False


def gpu_is_here(pci: Path = _PCI) -> bool:
    """Return whether a GPU of NVIDIA is on the bus, or its driver is installed."""
    return any(map(_is_gpu, _folders(pci))) or not driver_is_missing()


def _folders(pci: Path) -> list[Path]:
    try:
        return sorted(pci.iterdir())
    except OSError:
        return []


def _is_gpu(folder: Path) -> bool:
    try:
        vendor, kind = ((folder / name).read_text().strip() for name in ("vendor", "class"))
    except OSError:
        return False
    return vendor == _NVIDIA and kind.startswith(_DISPLAY)
