"""Flop of factorisations of matrices, whatever library does them.

References
----------
.. [1] S. Blackford, J. Dongarra, "Installation guide for LAPACK", LAPACK Working Note 41, 1999,
   appendix C.
"""

from __future__ import annotations


def cholesky_flop(n: int) -> float:
    """Return the flop of a Cholesky factorisation, square roots and divisions included."""
    return n**3 / 3 + n**2 / 2 + n / 6


def lu_flop(m: int, n: int) -> float:
    """Return the flop of an LU factorisation with pivoting, divisions included."""
    return float(sum((m - k) * (1 + 2 * (n - k)) for k in range(1, min(m, n) + 1)))


def solve_flop(n: int) -> float:
    """Return the flop of solving for one right-hand side by an LU factorisation."""
    return 2.0 * n * n - n
