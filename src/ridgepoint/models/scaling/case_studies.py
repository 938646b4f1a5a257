"""Problems with known formulas for operations, memory traffic and exchange.

Words have 8 bytes. Memory traffic is the minimum: each array moves once per pass over it, and a
written line is not read before. Exchange is the sum over all nodes; messages are those that follow
one another: a tree over p nodes has log2 p steps, a ring p - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ridgepoint.models.scaling import Problem

_WORD = 8.0
_Nodes = npt.NDArray[np.float64]


def scalar_product(n: npt.ArrayLike) -> Problem:
    """Return the scalar product of two vectors.

    Parameters
    ----------
    n : array_like
        Length of the vectors.

    Notes
    -----
    2n - 1 flop, 16n byte; every node but one sends its partial sum, 8 (p - 1) byte, up a tree in
    log2 p messages.
    """
    size = _size(n)
    return Problem(
        name="scalar product",
        operations=2 * size - 1,
        dram_bytes=2 * _WORD * size,
        exchanged_bytes=lambda p: _WORD * (p - 1),
        messages=np.log2,
    )


def matrix_product_1d(n: npt.ArrayLike) -> Problem:
    """Return the product of two square matrices distributed by rows.

    Parameters
    ----------
    n : array_like
        Number of rows and columns.

    Notes
    -----
    2n^3 flop, 24 n^2 byte (three matrices, with ideal caches); every node needs all of the second
    matrix, 8 n^2 (p - 1) byte, whose blocks go round a ring in p - 1 messages.
    """
    size = _size(n)
    return Problem(
        name="matrix product, 1-D",
        operations=2 * size**3,
        dram_bytes=3 * _WORD * size**2,
        exchanged_bytes=lambda p: _WORD * size**2 * (p - 1),
        messages=lambda p: p - 1,
    )


def matrix_product_2d(n: npt.ArrayLike) -> Problem:
    """Return the product of two square matrices distributed over a square of nodes (SUMMA).

    Parameters
    ----------
    n : array_like
        Number of rows and columns.

    Notes
    -----
    2n^3 flop, 24 n^2 byte; blocks of both factors go to the other nodes of their row or column,
    16 n^2 (sqrt(p) - 1) byte, round two rings in 2 (sqrt(p) - 1) messages. If p is not a square,
    the formulas interpolate between squares.
    """
    size = _size(n)
    return Problem(
        name="matrix product, 2-D",
        operations=2 * size**3,
        dram_bytes=3 * _WORD * size**2,
        exchanged_bytes=lambda p: 2 * _WORD * size**2 * (np.sqrt(p) - 1),
        messages=lambda p: 2 * (np.sqrt(p) - 1),
    )


def linpack(n: npt.ArrayLike) -> Problem:
    """Return the solution of a dense system by LU with pivoting, on a square of nodes.

    Parameters
    ----------
    n : array_like
        Number of unknowns.

    Notes
    -----
    2/3 n^3 + 2n^2 flop, 8 n^2 byte; on P x Q nodes 8 n^2 (3P + Q)/2 byte are exchanged, which is
    16 n^2 sqrt(p) for P = Q, and none by a node alone. One pass over the matrix is the memory
    traffic with a perfect cache: real ones move more. For each of the n columns, its P nodes agree
    on the pivot in log2 P = (log2 p)/2 messages [1]_; the far fewer messages of whole blocks of
    columns are left out.

    References
    ----------
    .. [1] HPL 2, HPL_pdfact(3): ``N0 log2(P) lat`` for a panel of N0 columns.
    """
    size = _size(n)
    return Problem(
        name="Linpack",
        operations=2 / 3 * size**3 + 2 * size**2,
        dram_bytes=_WORD * size**2,
        exchanged_bytes=lambda p: np.where(p > 1, 2 * _WORD * size**2 * np.sqrt(p), 0.0),
        messages=lambda p: size * np.log2(p) / 2,
    )


def fft(n: npt.ArrayLike) -> Problem:
    """Return a one-dimensional complex Fourier transform with three transposes.

    Parameters
    ----------
    n : array_like
        Number of points, of 16 bytes each.

    Notes
    -----
    5n log2 n flop, by convention; two passes, 64n byte; three transposes of the data, except for
    the part that each node keeps, 48n (p - 1)/p byte, in 3 (p - 1) messages of each node.
    """
    size = _size(n)
    return Problem(
        name="FFT",
        operations=5 * size * np.log2(np.maximum(size, 2.0)),
        dram_bytes=2 * 4 * _WORD * size,
        exchanged_bytes=lambda p: 3 * 2 * _WORD * size * (p - 1) / p,
        messages=lambda p: 3 * (p - 1),
    )


def conjugate_gradient(n: npt.ArrayLike, *, iterations: float = 1) -> Problem:
    """Return conjugate gradients on a square grid of five points, on a square of nodes.

    Parameters
    ----------
    n : array_like
        Points along one side: there are n^2 unknowns.
    iterations : float

    Notes
    -----
    Per iteration and unknown 19 flop (9 of the matrix, 4 of two scalar products, 6 of three vector
    updates) and 152 byte (five stored coefficients, and 14 passes over vectors). Per
    iteration 32 n (sqrt(p) - 1) byte of halos, and 32 (p - 1) of the two sums, each summed on
    one node and sent back. A node sends a halo to each of its neighbours, 2 min(sqrt(p) - 1, 2)
    messages; each sum goes up a tree and back, 4 log2 p in all. The talk does not include this
    problem: the counts are ours.
    """
    size = _size(n)
    passes = 5 + 14

    def exchanged(p: _Nodes) -> _Nodes:
        halos: _Nodes = 4 * _WORD * size * (np.sqrt(p) - 1)
        sums: _Nodes = 2 * 2 * _WORD * (p - 1)
        return np.multiply(iterations, halos + sums)

    def messages(p: _Nodes) -> _Nodes:
        neighbours: _Nodes = 2 * np.minimum(np.sqrt(p) - 1, 2.0)
        sums: _Nodes = 4 * np.log2(p)
        return np.multiply(iterations, neighbours + sums)

    if not (np.isfinite(iterations) and iterations > 0):
        raise ValueError(f"iterations must be finite and > 0, got {iterations!r}")
    return Problem(
        name="conjugate gradients",
        operations=19 * size**2 * iterations,
        dram_bytes=passes * _WORD * size**2 * iterations,
        exchanged_bytes=exchanged,
        messages=messages,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStudy:
    """A case study under the name that a user types.

    Parameters
    ----------
    make : callable
        Maps a size to the problem.
    size : str
        Meaning of the size, in words.
    """

    make: Callable[[npt.ArrayLike], Problem]
    size: str


CASE_STUDIES: Mapping[str, CaseStudy] = MappingProxyType(
    {
        "scalar-product": CaseStudy(make=scalar_product, size="length of the vectors"),
        "matrix-product-1d": CaseStudy(make=matrix_product_1d, size="rows of a matrix"),
        "matrix-product-2d": CaseStudy(make=matrix_product_2d, size="rows of a matrix"),
        "linpack": CaseStudy(make=linpack, size="unknowns"),
        "fft": CaseStudy(make=fft, size="points"),
        "conjugate-gradient": CaseStudy(make=conjugate_gradient, size="points along one side"),
    }
)


def _size(n: npt.ArrayLike) -> npt.NDArray[np.float64]:
    size = np.asarray(n, dtype=np.float64)
    if not (np.isfinite(size) & (size >= 1)).all():
        raise ValueError(f"n must be finite and >= 1, got {n!r}")
    return size
