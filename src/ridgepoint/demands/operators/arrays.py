"""Which bytes of several arrays are distinct, and the sizes and kinds of types of elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ridgepoint.core.operators import Tensor

REAL = ("fp64", "fp32", "fp16", "bf16")
"""Floating-point types whose work has a resource."""

COMPLEX = {"complex128": "fp64", "complex64": "fp32", "complex32": "fp16"}
"""Complex types, and the type of their parts."""


def is_integer(dtype: str) -> bool:
    """Return whether a type holds integers or truth values, in which addresses are computed."""
    return dtype == "bool" or dtype.startswith(("int", "uint"))


def distinct_bytes(arrays: Iterable[Tensor]) -> float:
    """Return the least number of distinct bytes in several arrays.

    Parameters
    ----------
    arrays : iterable of Tensor

    Returns
    -------
    float
        Bytes of all of them, those that several share counted once.

    Notes
    -----
    Arrays of one memory share bytes if their elements do; where neither sharing nor its absence
    can be shown, the larger one is taken to hold the other, which is the least.
    """
    total, groups = 0.0, dict[int, list[Tensor]]()
    for array in arrays:
        if not array.key:
            total += _held(array)
        elif array.nbytes:
            groups.setdefault(array.key, []).append(array)
    return total + sum(_union(group) for group in groups.values())


def _union(arrays: Sequence[Tensor]) -> float:
    """Return the least bytes of arrays in one memory."""
    parts: list[list[Tensor]] = []
    for array in arrays:
        near = [part for part in parts if any(_may_share(array, other) for other in part)]
        parts = [part for part in parts if part not in near]
        parts.append([array, *(other for part in near for other in part)])
    return sum(_together(part) for part in parts)


def _together(arrays: Sequence[Tensor]) -> float:
    """Return the least bytes of arrays each of which may share some with another."""
    if any(_held(array) < _extent(array) for array in arrays):
        return max(_held(array) for array in arrays)
    total, end = 0.0, 0.0
    for array in sorted(arrays, key=lambda one: one.start):
        last = array.start + _held(array)
        total += max(last - max(array.start, end), 0)
        end = max(end, last)
    return total


def _held(array: Tensor) -> float:
    """Return the bytes of an array, no more than there are where its elements overlap."""
    return min(array.nbytes, _extent(array))


def _extent(array: Tensor) -> float:
    """Return the bytes from an array's first to its last."""
    if array.strides is None or not array.nbytes:
        return array.nbytes
    last = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides, strict=True))
    return (last + 1) * element_bytes(array.dtype)


def element_bytes(dtype: str) -> float:
    """Return the size of one element of a type, whose name says its bits: ``complex64``."""
    bits = re.search(r"\d+", dtype)
    return int(bits.group()) / 8 if bits else 1.0


def _may_share(one: Tensor, other: Tensor) -> bool:
    """Return False if two arrays in one memory have no byte in common for certain."""
    if one.start >= other.start + _extent(other) or other.start >= one.start + _extent(one):
        return False
    size = element_bytes(one.dtype)
    if one.strides is None or other.strides is None or size != element_bytes(other.dtype):
        return True
    apart = other.start - one.start
    sizes, others = _by_stride(one), _by_stride(other)
    if apart % size or sizes is None or others is None:
        return True
    strides = sorted({*sizes, *others}, reverse=True)
    digits = [(stride, sizes.get(stride, 1), others.get(stride, 1)) for stride in strides]
    return _reaches(int(apart // size), digits)


def _by_stride(array: Tensor) -> dict[int, int] | None:
    """Return the sizes of dimensions by their strides; None: two have the same."""
    found: dict[int, int] = {}
    for n, stride in zip(array.shape, array.strides or (), strict=True):
        if n == 1 or stride == 0:
            continue
        if stride in found or stride < 0:
            return None
        found[stride] = n
    return found


def _reaches(apart: int, digits: Sequence[tuple[int, int, int]]) -> bool:
    """Return whether elements of two arrays coincide whose beginnings are so far apart.

    Each digit is a stride with the sizes of both arrays; an index of the one less an index of the
    other, times the stride, summed over all digits, must make up the distance.
    """
    if not digits:
        return apart == 0
    (stride, n, m), rest = digits[0], digits[1:]
    most = sum(s * (a - 1) for s, a, _ in rest)
    least = -sum(s * (b - 1) for s, _, b in rest)
    low = max(-((most - apart) // stride), 1 - m)
    high = min((apart - least) // stride, n - 1)
    return any(_reaches(apart - stride * at, rest) for at in range(low, high + 1))
