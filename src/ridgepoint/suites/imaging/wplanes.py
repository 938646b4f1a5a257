"""The number of w-planes of an image, and the kernel that spreads visibilities over them.

The direction cosine n turns the phase of a visibility by ``w (n - 1)``, which no two-dimensional
transform knows. On a plane of constant w it does: it is a screen over the image. A visibility
between planes goes to several of them, weighted by a kernel whose transform is known [1]_, [2]_.

References
----------
.. [1] A. H. Barnett, J. Magland, L. af Klinteberg, "A parallel nonuniform fast Fourier transform
   library based on an 'exponential of semicircle' kernel", SIAM J. Sci. Comput. 41(5), 2019,
   doi:10.1137/18M120885X.
.. [2] P. Arras, M. Reinecke, R. Westermann, T. A. Ensslin, "Efficient wide-field radio
   interferometry response", A&A 646, A58, 2021, doi:10.1051/0004-6361/202039723.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ridgepoint.suites.imaging.arrays import Array, namespace
from ridgepoint.suites.imaging.gridder import Geometry

OVERSAMPLING = 2.0
"""Of the planes, and of the transforms of each: how much finer than what just tells apart."""
_STEEPNESS = (
    2.30  # of the kernel per plane that it touches; [1], section 3.2, for twice oversampled
)


def support_of(epsilon: float) -> int:
    """Return the number of points along an axis that a kernel of this relative error touches.

    Parameters
    ----------
    epsilon : float
        Relative error, > 0 and < 1.

    Notes
    -----
    ``ceil(log10(1 / epsilon)) + 1``: equation (3.12) of Barnett et al., for a grid that is twice
    as fine.

    Examples
    --------
    >>> support_of(1e-7)
    8
    """
    return math.ceil(math.log10(1 / epsilon) - 1e-9) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """Positions of the planes, in wavelengths, and the kernel that spreads to them.

    Parameters
    ----------
    first : float
        w of the first plane.
    spacing : float
        Distance of neighbouring planes.
    count : int
    support : int
        Number of planes that a visibility touches.
    middle : float
        Middle of the range of n - 1 in the image.
    """

    first: float
    spacing: float
    count: int
    support: int
    middle: float

    def at(self, plane: int) -> float:
        """Return w of a plane."""
        return self.first + plane * self.spacing

    @property
    def reach(self) -> float:
        """How far from a plane a visibility touches it, wavelengths."""
        return self.support * self.spacing / 2

    def kernel(self, away: Array) -> Array:
        """Return the weights of visibilities at these distances from a plane, in wavelengths."""
        return _semicircle(away / self.reach, self.support)

    def correction(self, n_minus_one: Array) -> Array:
        """Return what an image is to be multiplied by, for the kernel that its planes were seen by.

        Parameters
        ----------
        n_minus_one : array, shape (size, size)

        Returns
        -------
        array, shape (size, size)
            1 over the transform of the kernel.
        """
        xp = namespace(n_minus_one)
        turns = (n_minus_one - self.middle) * (math.pi * self.support * self.spacing)
        # Gauss and Legendre's sum over half of the even kernel: as many nodes as make its error
        # less than that of the kernel, see [1], section 3.1.
        nodes, weights = np.polynomial.legendre.leggauss(2 * (2 + 2 * self.support))
        half = nodes > 0
        heights = _semicircle(nodes[half], self.support) * weights[half] * self.support
        total = xp.zeros_like(turns)
        for node, height in zip(nodes[half], heights, strict=True):
            total = total + float(height) * xp.cos(float(node) * turns)
        return 1 / total


def _semicircle(places: Array, support: int) -> Array:
    """Return the exponential of a semicircle, 1 in the middle of -1 to 1."""
    xp = namespace(places)
    inside = 1 - places * places
    # A place on the edge may be rounded to beyond it.
    inside = xp.where(inside > 0, inside, xp.zeros_like(inside))
    return xp.exp(_STEEPNESS * support * (xp.sqrt(inside) - 1))


def planes_for(least: float, most: float, geometry: Geometry) -> Planes:
    """Return the planes for visibilities of a range of w.

    Parameters
    ----------
    least, most : float
        w, wavelengths.
    geometry : Geometry

    Notes
    -----
    n - 1 takes values of a range d in the image, so that screens of planes 1 / d apart would just
    be told apart; they are twice as dense. At both ends are as many more as the kernel reaches.
    """
    support = support_of(geometry.epsilon)
    corner = geometry.size * geometry.cell / 2
    deepest = n_minus_one(2 * corner * corner)
    spacing = 1 / (OVERSAMPLING * -deepest)
    return Planes(
        first=least - (support - 1) / 2 * spacing,
        spacing=spacing,
        count=math.floor((most - least) / spacing + support + 0.5),
        support=support,
        middle=deepest / 2,
    )


def n_minus_one(off: Array) -> Array:
    """Return n - 1 of squared distances from the middle of the field; exact near it."""
    root = math.sqrt(1 - off) if isinstance(off, float) else namespace(off).sqrt(1 - off)
    return -off / (1 + root)
