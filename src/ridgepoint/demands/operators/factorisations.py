"""Flop of factorisations of matrices and of solving equations, whatever library does them.

References
----------
.. [1] S. Blackford, J. Dongarra, "Installation guide for LAPACK", LAPACK Working Note 41, 1999,
   appendix C: operation counts.
"""

from __future__ import annotations


def cholesky(n: float) -> float:
    """Return the flop of a Cholesky factorisation of n by n."""
    return n**3 / 3 + n**2 / 2 + n / 6


def lower_upper(m: float, n: float) -> float:
    """Return the flop of an LU factorisation of m by n.

    Step k of min(m, n) divides m - k numbers by the pivot and has (m - k) (n - k) multiply-adds.
    """
    k = min(m, n)
    steps, squares = k * (k + 1) / 2, k * (k + 1) * (2 * k + 1) / 6
    return m * k - steps + 2 * (m * n * k - (m + n) * steps + squares)


def triangular(n: float, columns: float, *, unit: bool = False) -> float:
    """Return the flop of solving triangular equations of n by n for several right sides.

    Where the diagonal holds ones, nothing is divided by it.
    """
    return float((n * n - n if unit else n * n) * columns)


def inverse(n: float) -> float:
    """Return the flop of an inverse by its LU factorisation, that included."""
    return lower_upper(n, n) + 4 * n**3 / 3 - n**2 + 5 * n / 3


def orthogonal(m: float, n: float) -> float:
    """Return the flop of the factor R of m by n, by Householder's reflections."""
    if m < n:
        return 2 * n * m**2 - 2 * m**3 / 3 + 3 * n * m - m**2 + 14 * m / 3
    return 2 * m * n**2 - 2 * n**3 / 3 + m * n + n**2 + 14 * n / 3


def reflections(m: float, n: float, k: float) -> float:
    """Return the flop of m by n orthogonal columns from k of Householder's reflections."""
    return 4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 / 3 + 3 * n * k - m * k - k**2 - 4 * k / 3
