"""Gridding by nonuniform FFTs, against the direct sum, ducc0, and a library without extras."""

import cmath
import math
from itertools import product

import numpy as np
import pytest
from nufft_by_sums import Sums
from scipy.integrate import quad

from ridgepoint.suites.imaging import gridder
from ridgepoint.suites.imaging.gridder import Geometry
from ridgepoint.suites.imaging.nufft import NufftGridder
from ridgepoint.suites.imaging.telescope import Observation, observe, three_arms
from ridgepoint.suites.imaging.wplanes import planes_for, support_of

SIZE = 32
LIGHT_M_PER_S = 299792458.0


@pytest.fixture(scope="module")
def finufft():
    """Return the library for CPUs, whose interface is that for GPUs."""
    return pytest.importorskip("finufft")


def observation_of(*, wide):
    """Return few baselines and a cell: of a narrow field, or of one 46 degrees wide."""
    seen = observe(three_arms(600.0), moments=4, frequency_hz=np.linspace(1.2e9, 1.6e9, 3))
    if not wide:
        return seen, 1 / (5 * seen.longest_wavelengths)
    return Observation(uvw_m=seen.uvw_m * 0.01, frequency_hz=seen.frequency_hz), 0.025


def random_data(observation, seed=0):
    """Return visibilities, weights and a model image."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=observation.shape) + 1j * rng.normal(size=observation.shape)
    return seen, rng.uniform(0.5, 1, observation.shape), rng.normal(size=(SIZE, SIZE))


def direct(observation, cell, seen, weights, model):
    """Return the image and the visibilities by the sums that define them."""
    image, found = np.zeros((SIZE, SIZE)), np.zeros(observation.shape, dtype=complex)
    along = (np.arange(SIZE) - SIZE // 2) * cell
    l, m = along[:, None], along[None, :]  # noqa: E741 - what the field calls it
    away = np.sqrt(1 - l**2 - m**2) - 1
    for row, channel in np.ndindex(observation.shape):
        u, v, w = observation.uvw_m[row] * observation.frequency_hz[channel] / LIGHT_M_PER_S
        wave = np.exp(2j * math.pi * (u * l + v * m - w * away))
        image += (weights[row, channel] * seen[row, channel] * wave).real
        found[row, channel] = (model * wave.conj()).sum()
    return image, found


def error(found, exact):
    """Return the relative error of all together."""
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-7, 1e-11])
@pytest.mark.parametrize("wide", [False, True])
def test_images_and_visibilities_are_the_direct_sums(epsilon, wide, finufft):
    """To twice the accuracy asked for, in a narrow field and in one where w turns phases often."""
    observation, cell = observation_of(wide=wide)
    data = random_data(observation)
    geometry = Geometry(size=SIZE, cell=cell, epsilon=epsilon)
    ours = NufftGridder(observation, geometry, library=finufft, options={"nthreads": 1})
    image, found = direct(observation, cell, *data)
    assert error(ours.invert(*data[:2]), image) < 2 * epsilon
    assert error(ours.predict(data[2]), found) < 2 * epsilon


@pytest.mark.parametrize("wide", [False, True])
def test_it_agrees_with_the_gridder_of_ducc(wide, finufft):
    """On the same data, as exactly as both were asked to be."""
    pytest.importorskip("ducc0")
    observation, cell = observation_of(wide=wide)
    seen, weights, model = random_data(observation)
    geometry = Geometry(size=SIZE, cell=cell, epsilon=1e-9)
    ours = NufftGridder(observation, geometry, library=finufft, options={"nthreads": 1})
    theirs = gridder.invert(seen, weights, observation, geometry)
    assert error(ours.invert(seen, weights), theirs) < 3e-9
    assert error(ours.predict(model), gridder.predict(model, observation, geometry)) < 3e-9


def test_gridding_is_the_adjoint_of_degridding(finufft):
    """<y, A x> = <A^H y, x>, much more exactly than either is the direct sum."""
    observation, cell = observation_of(wide=True)
    seen, _, model = random_data(observation)
    ours = NufftGridder(
        observation, Geometry(size=SIZE, cell=cell, epsilon=1e-4), library=finufft,
        options={"nthreads": 1},
    )  # fmt: skip
    predicted = ours.predict(model)
    left = np.vdot(seen, predicted).real
    right = np.vdot(ours.invert(seen, np.ones(observation.shape)), model)
    assert abs(left - right) < 1e-13 * np.linalg.norm(predicted) * np.linalg.norm(seen)


@pytest.mark.parametrize("heights", [(0.0, 0.0), (-9.0, -9.0), (-50.0, -3.0), (40.0, 70.0)])
def test_any_range_of_w_will_do(heights, finufft):
    """None at all, on one side only, or far from zero."""
    rng = np.random.default_rng(3)
    uvw_m = np.column_stack([rng.uniform(-4, 4, (20, 2)), rng.uniform(*heights, 20)])
    observation = Observation(uvw_m=uvw_m, frequency_hz=np.array([3e8]))
    data = random_data(observation)
    geometry = Geometry(size=SIZE, cell=0.02, epsilon=1e-8)
    ours = NufftGridder(observation, geometry, library=finufft, options={"nthreads": 1})
    image, found = direct(observation, 0.02, *data)
    assert error(ours.invert(*data[:2]), image) < 2e-8
    assert error(ours.predict(data[2]), found) < 2e-8


def test_it_keeps_to_the_array_api():
    """A library that has nothing else computes the same: so will that of a GPU."""
    strict = pytest.importorskip("array_api_strict")
    observation, cell = observation_of(wide=True)
    few = Observation(uvw_m=observation.uvw_m[:40], frequency_hz=observation.frequency_hz)
    seen, weights, model = random_data(few)
    geometry = Geometry(size=SIZE, cell=cell, epsilon=1e-7)
    ours = NufftGridder(few, geometry, library=Sums(strict), xp=strict)
    image = ours.invert(ours.array(seen), ours.array(weights))
    found = ours.predict(ours.array(model))
    exact = direct(few, cell, seen, weights, model)
    assert {type(image), type(found)} == {type(strict.asarray(1.0))}
    assert error(np.asarray(image), exact[0]) < 2e-7
    assert error(np.asarray(found), exact[1]) < 2e-7


@pytest.mark.parametrize(("epsilon", "points"), [(1e-2, 3), (1e-7, 8), (2e-7, 8), (1e-12, 13)])
def test_the_support_is_a_digit_more_than_the_error_has(epsilon, points):
    """As Barnett et al. say: 8 points for 7 digits."""
    assert support_of(epsilon) == points


def test_a_visibility_between_planes_is_the_sum_of_what_planes_see():
    """Its phase, anywhere in the field, from those of the planes by hand; so many as it touches."""
    planes = planes_for(3.0, 500.0, Geometry(size=64, cell=0.01, epsilon=1e-6))
    deepest = math.sqrt(1 - 2 * 0.32**2) - 1
    assert planes.spacing == pytest.approx(1 / (2 * -deepest))
    for w, share in product((3.0, 77.7, 123.456, 500.0), (0.0, 0.13, 0.5, 0.9, 1.0)):
        depth = share * deepest
        away = [w - planes.at(one) for one in range(planes.count)]
        touched = [one for one in away if abs(one) <= planes.reach]
        total = sum(
            float(planes.kernel(np.array(one)))
            * cmath.exp(-2j * math.pi * (w - one) * (depth - planes.middle))
            for one in touched
        )
        found = total * float(planes.correction(np.array(depth)))
        exact = cmath.exp(-2j * math.pi * w * (depth - planes.middle))
        assert abs(found - exact) < 3e-6
        assert planes.support <= len(touched) <= planes.support + 1


@pytest.mark.parametrize("epsilon", [1e-2, 1e-7, 1e-12])
def test_the_correction_is_one_over_the_integral_of_the_kernel(epsilon):
    """Times its wave, by an adaptive rule of another library."""
    planes = planes_for(0.0, 100.0, Geometry(size=64, cell=0.01, epsilon=epsilon))
    for depth in (0.0, planes.middle / 3, planes.middle, 2 * planes.middle):
        turn = 2 * math.pi * (depth - planes.middle)
        integral, _ = quad(
            lambda away, turn=turn: float(planes.kernel(np.array(away))) * math.cos(turn * away),
            -planes.reach, planes.reach, epsabs=1e-13, epsrel=1e-13, limit=200,
        )  # fmt: skip
        found = float(planes.correction(np.array(depth)))
        assert found == pytest.approx(planes.spacing / integral, rel=1e-2 * epsilon + 1e-12)


def test_it_says_how_it_does_it(finufft):
    """By hand: 2 x 32 points; planes 4.3 wavelengths apart for w from 0 to 18, and 7 beyond."""
    uvw_m = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 9.0], [0.0, 1.0, -18.0], [2.0, 0.0, 14.0]])
    observation = Observation(uvw_m=uvw_m, frequency_hz=np.array([LIGHT_M_PER_S]))
    used = NufftGridder(
        observation, Geometry(size=SIZE, cell=0.015, epsilon=1e-6), library=finufft
    ).gridding
    assert (used.grid, used.support) == (64, 7)
    deepest = 1 - math.sqrt(1 - 2 * 0.24**2)
    assert used.planes == math.floor(18 * 2 * deepest + 7.5)
