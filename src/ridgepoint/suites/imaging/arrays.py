"""Helpers for code that runs on NumPy, CuPy and others: arrays bring their functions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

Array = Any
"""An array of the array API: of NumPy, or of CuPy in the memory of a GPU."""

_SILENT = ("numpy", "cupy")
"""Libraries with the functions of the array API whose arrays do not say so: NumPy before 2, CuPy
up to 14 at least."""


def namespace(*arrays: Array) -> Any:
    """Return the array library of some arrays.

    Raises
    ------
    TypeError
        If they belong to several libraries, or to one without the array API.
    """
    libraries = {id(library): library for library in map(_namespace, arrays)}
    if len(libraries) != 1:
        raise TypeError("arrays must be of one library")
    return next(iter(libraries.values()))


def _namespace(array: Array) -> Any:
    library = type(array).__module__.partition(".")[0]
    if library in _SILENT:
        return sys.modules[library]
    try:
        return array.__array_namespace__()
    except AttributeError:
        raise TypeError(f"array API wanted, got {type(array).__name__}") from None


def to_host(array: Array) -> npt.NDArray[np.float64]:
    """Return a NumPy copy of an array, wherever its memory is."""
    return np.array(on_host(array), dtype=np.float64)


def on_host(array: Array) -> npt.NDArray[Any]:
    """Return an array as a NumPy array, without a copy if it is one."""
    values = array.get() if hasattr(array, "get") else array  # CuPy copies only when told to
    return np.asarray(values)


def peak_of(image: Array) -> tuple[int, int]:
    """Return the indices of the largest pixel."""
    xp = namespace(image)
    row, column = divmod(int(xp.argmax(xp.reshape(image, (-1,)))), image.shape[1])
    return row, column


def overlap(
    at: tuple[int, int], *, size: int, patch: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the overlap of an image and a patch centred on a pixel of the image.

    Parameters
    ----------
    at : tuple of int
    size, patch : int
        Pixels along a side of the image and of the patch; the patch's centre is at ``patch // 2``.

    Returns
    -------
    tuple
        The slices of the image, and those of the patch.
    """
    ours, theirs = [], []
    for place in at:
        first = place - patch // 2
        low, high = max(first, 0), min(first + patch, size)
        ours.append(slice(low, high))
        theirs.append(slice(low - first, high - first))
    return (ours[0], ours[1]), (theirs[0], theirs[1])


def middle(image: Array, patch: int) -> Array:
    """Return the central part of an image, of this size."""
    first = image.shape[0] // 2 - patch // 2
    return image[first : first + patch, first : first + patch]


def spectrum(kernel: Array) -> Array:
    """Return the transform of a kernel whose centre is that of the image."""
    xp = namespace(kernel)
    return xp.fft.rfftn(xp.fft.ifftshift(kernel), axes=(0, 1))


def convolved(image: Array, kernel_spectrum: Array) -> Array:
    """Return an image convolved with a kernel of known `spectrum`, wrapping around the edges."""
    xp = namespace(image)
    return xp.fft.irfftn(
        xp.fft.rfftn(image, axes=(0, 1)) * kernel_spectrum, s=image.shape, axes=(0, 1)
    )
