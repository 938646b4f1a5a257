"""Nonuniform FFTs as finufft plans them, by the sums that define them."""

import numpy as np


class Sums:
    """A library of them, for arrays of another library, of which it uses the array API alone."""

    def __init__(self, xp):
        self._xp = xp

    def Plan(self, kind, modes, *, eps, isign, dtype, upsampfac):  # noqa: N802 - of the libraries
        """Return a transform."""
        assert (kind, isign) in ((1, 1), (2, -1))
        assert (dtype, upsampfac) == ("complex128", 2.0)
        return Sum(self._xp, kind, modes[0], isign)


class Sum:
    """From points to a grid (1), or from a grid to points (2)."""

    def __init__(self, xp, kind, size, sign):
        self._xp, self._kind, self._size, self._sign = xp, kind, size, sign

    def setpts(self, x, y):
        """Prepare the waves of every point along both axes."""
        xp = self._xp
        k = xp.asarray(np.arange(self._size) - self._size // 2.0)
        unit = xp.asarray(self._sign * 1j)
        self._rows = xp.exp(xp.reshape(x, (-1, 1)) * k * unit)
        self._columns = xp.exp(xp.reshape(y, (-1, 1)) * k * unit)

    def execute(self, data):
        """Sum."""
        xp = self._xp
        if self._kind == 1:
            return xp.matrix_transpose(self._rows * xp.reshape(data, (-1, 1))) @ self._columns
        return xp.sum((self._rows @ data) * self._columns, axis=1)
