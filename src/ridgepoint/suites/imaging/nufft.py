"""From visibilities to an image and back, by nonuniform FFTs: on a CPU, or on a GPU.

The same as `ridgepoint.suites.imaging.gridder`, without ducc0: visibilities are spread over
w-planes, and each plane is a nonuniform FFT in two dimensions, of finufft or of cufinufft.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.imaging.arrays import Array
from ridgepoint.suites.imaging.gridder import Geometry, Gridding
from ridgepoint.suites.imaging.telescope import SPEED_OF_LIGHT_M_PER_S, Observation
from ridgepoint.suites.imaging.wplanes import OVERSAMPLING, n_minus_one, planes_for

_TO_IMAGE, _TO_VISIBILITIES = 1, 2
"""What finufft calls types: from points anywhere to a grid, and from a grid to such points."""


class Transform(Protocol):
    """A nonuniform FFT, as finufft and cufinufft plan it."""

    def setpts(self, x: Array, y: Array) -> object:
        """Take the points, radian."""

    def execute(self, data: Array) -> Array:
        """Transform."""


class Library(Protocol):
    """finufft, cufinufft, or a library with the same interface."""

    @property
    def Plan(self) -> Any:  # noqa: N802 - what the libraries call it
        """Make a `Transform`."""


class NufftGridder:
    """Images and predicts one observation in one geometry.

    Parameters
    ----------
    observation : Observation
        Observation, with its arrays on the host.
    geometry : Geometry
        Its number of threads is not used.
    library : Library
        ``finufft`` for NumPy, ``cufinufft`` for CuPy.
    xp : module
        Array library of visibilities and images.
    options : Mapping of str to object
        Further options of the library: ``{"nthreads": 1}`` for finufft, ``{"gpu_device_id": 0}``
        for cufinufft.

    Notes
    -----
    Visibilities with w < 0 are replaced by their conjugates, which are those of the opposite
    baseline, and all are sorted by w: those of a plane lie side by side.
    """

    def __init__(
        self,
        observation: Observation,
        geometry: Geometry,
        *,
        library: Library,
        xp: Any = np,
        options: Mapping[str, object] | None = None,
    ) -> None:
        self._observation, self._geometry = observation, geometry
        self._shape, self._size = observation.shape, geometry.size
        self._library, self._xp = library, xp
        self._options = dict(options or {})
        self._transforms: dict[int, Transform] = {}
        scale = observation.frequency_hz / SPEED_OF_LIGHT_M_PER_S
        u, v, w = (np.ravel(observation.uvw_m[:, i, None] * scale) for i in range(3))
        turned = w < 0
        sign = np.where(turned, -1.0, 1.0)
        order = np.argsort(w * sign, kind="stable")
        u, v, w = ((coordinate * sign)[order] for coordinate in (u, v, w))
        self._planes = planes_for(float(w[0]), float(w[-1]), geometry)
        self._slices = self._touched(w)
        place = 2 * math.pi * geometry.cell
        self._x, self._y = xp.asarray(u * place), xp.asarray(v * place)
        self._w = xp.asarray(w)
        self._turned, self._rows = xp.asarray(turned), order // observation.shape[1]
        self._order, self._back = xp.asarray(order), xp.asarray(np.argsort(order))
        # n - 1 is measured from its middle, so that planes may be twice as far apart.
        phase = -2 * math.pi * self._planes.middle
        self._phases = xp.asarray(np.exp(1j * phase * w))
        along = (np.arange(self._size) - self._size // 2) * geometry.cell
        depth = n_minus_one(xp.asarray(along[:, None] ** 2 + along**2))
        self._correction = self._planes.correction(depth)
        self._turns = (depth - self._planes.middle) * xp.asarray(-2j * math.pi)

    def _touched(self, w: npt.NDArray[np.float64]) -> list[slice]:
        """Return which visibilities each plane gets, of those sorted by w."""
        middles = np.array([self._planes.at(plane) for plane in range(self._planes.count)])
        first = np.searchsorted(w, middles - self._planes.reach, side="left")
        last = np.searchsorted(w, middles + self._planes.reach, side="right")
        return [slice(int(a), int(b)) for a, b in zip(first, last, strict=True)]

    @property
    def gridding(self) -> Gridding:
        """How it is done: the grid and the support as the libraries' authors recommend them."""
        return Gridding(
            grid=_smooth(math.ceil(OVERSAMPLING * self._size)),
            planes=sum(1 for touched in self._slices if touched.stop > touched.start),
            support=self._planes.support,
        )

    def same_transforms(self) -> tuple[NufftGridder, npt.NDArray[np.intp]]:
        """Return one for few rows that need the same transforms, and which rows they are.

        One for each plane, and those with the extremes of w, so that the planes are the same.
        """
        last = self._rows.shape[0] - 1
        chosen = [0, last, *((touched.start + touched.stop) // 2 for touched in self._slices)]
        rows = np.unique(self._rows[np.minimum(chosen, last)])
        few = Observation(
            uvw_m=self._observation.uvw_m[rows].copy(),
            frequency_hz=self._observation.frequency_hz,
        )
        again = NufftGridder(
            few, self._geometry, library=self._library, xp=self._xp, options=self._options
        )
        return again, rows

    def array(self, values: Array) -> Array:
        """Return values as an array of the library that this works with."""
        return self._xp.asarray(values)

    def invert(self, visibilities: Array, weights: Array) -> Array:
        """Return the image of weighted visibilities, not normalised.

        It is the adjoint of `predict`, followed by the weights.

        Parameters
        ----------
        visibilities : array of complex128, shape (rows, channels)
            Jy.
        weights : array of float64, shape (rows, channels)

        Returns
        -------
        array of float64, shape (size, size)
            Jy/beam times the sum of the weights.
        """
        xp = self._xp
        sources = self._in_order(visibilities * weights) * self._phases
        image = xp.zeros((self._size, self._size), dtype=xp.float64)
        transform = self._transform(_TO_IMAGE)
        for w, chosen in self._filled():
            transform.setpts(self._x[chosen], self._y[chosen])
            plane = transform.execute(sources[chosen] * self._kernel(w, chosen))
            image += xp.real(plane * xp.exp(w * self._turns))
        return image * self._correction

    def predict(self, model: Array) -> Array:
        """Return the visibilities of a model image.

        Parameters
        ----------
        model : array of float64, shape (size, size)
            Jy/pixel.

        Returns
        -------
        array of complex128, shape (rows, channels), Jy
        """
        xp = self._xp
        corrected = model * self._correction
        visibilities = xp.zeros_like(self._phases)
        transform = self._transform(_TO_VISIBILITIES)
        for w, chosen in self._filled():
            transform.setpts(self._x[chosen], self._y[chosen])
            spread = transform.execute(corrected * xp.exp(-w * self._turns))
            visibilities[chosen] += spread * self._kernel(w, chosen)
        return self._as_given(visibilities * xp.conj(self._phases))

    def _filled(self) -> Iterator[tuple[float, slice]]:
        """Return w of every plane that visibilities touch, and which."""
        for plane, chosen in enumerate(self._slices):
            if chosen.stop > chosen.start:
                yield self._planes.at(plane), chosen

    def _kernel(self, w: float, chosen: slice) -> Array:
        return self._planes.kernel(self._w[chosen] - w)

    def _transform(self, kind: int) -> Transform:
        """Return a plan, made when it is first asked for.

        The grid's fineness is fixed, so that both kinds use the same kernel: only so are they
        adjoint to each other beyond epsilon.
        """
        if kind not in self._transforms:
            self._transforms[kind] = self._library.Plan(
                kind, (self._size, self._size), eps=self._geometry.epsilon,
                isign=1 if kind == _TO_IMAGE else -1, dtype="complex128",
                upsampfac=OVERSAMPLING, **self._options,
            )  # fmt: skip
        return self._transforms[kind]

    def _in_order(self, visibilities: Array) -> Array:
        xp = self._xp
        flat = xp.reshape(visibilities, (-1,))
        return xp.take(xp.where(self._turned, xp.conj(flat), flat), self._order)

    def _as_given(self, sorted_ones: Array) -> Array:
        xp = self._xp
        flat = xp.take(sorted_ones, self._back)
        return xp.reshape(xp.where(self._turned, xp.conj(flat), flat), self._shape)


def _smooth(size: int) -> int:
    """Return the next even number without prime factors above 5: what finufft transforms."""
    even = size + size % 2
    while not _is_smooth(even):
        even += 2
    return even


def _is_smooth(size: int) -> bool:
    for factor in (2, 3, 5):
        while size % factor == 0:
            size //= factor
    return size == 1
