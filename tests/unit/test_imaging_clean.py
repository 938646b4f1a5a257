"""Deconvolution, against loops over every pixel and against images made by hand."""

import math
import sys
from itertools import product
from types import ModuleType

import numpy as np
import pytest

from ridgepoint.suites.imaging.arrays import namespace, to_host
from ridgepoint.suites.imaging.clean import Minor, Stop, hogbom
from ridgepoint.suites.imaging.failures import Diverged
from ridgepoint.suites.imaging.msmfs import blob, msmfs, prepare
from ridgepoint.suites.imaging.restore import Beam, fit_beam, restore

SIZE = 32
MIDDLE = SIZE // 2


def psf_of(size=SIZE, seed=0):
    """Return a narrow lobe, with noise around it, 1 in the middle."""
    away = np.hypot(*(np.indices((size, size)) - size // 2))
    noise = np.random.default_rng(seed).normal(0, 0.02, (size, size))
    psf = np.exp(-((away / 1.7) ** 2)) + noise
    return psf / psf[size // 2, size // 2]


def moved(image, row, column):
    """Return an image whose middle is elsewhere; zeros come in."""
    found = np.zeros_like(image)
    for i, j in product(range(SIZE), repeat=2):
        a, b = i - row + MIDDLE, j - column + MIDDLE
        if 0 <= a < SIZE and 0 <= b < SIZE:
            found[i, j] = image[a, b]
    return found


def plain_hogbom(dirty, psf, gain, iterations):
    """Do it pixel by pixel."""
    residual, model = dirty.copy(), np.zeros_like(dirty)
    for _ in range(iterations):
        best = max(product(range(SIZE), repeat=2), key=lambda at: abs(residual[at]))
        height = gain * residual[best]
        model[best] += height
        residual -= height * moved(psf, *best)
    return model, residual


def test_hogbom_is_what_loops_over_pixels_do():
    """Peaks at the edge and negative ones included."""
    psf = psf_of()
    dirty = 2 * moved(psf, 9, 12) - 1.5 * moved(psf, 30, 1) + 0.5 * moved(psf, 20, 21)
    kept = dirty.copy()
    found = hogbom(dirty, psf, Minor(gain=0.3, iterations=25))
    model, residual = plain_hogbom(dirty, psf, 0.3, 25)
    np.testing.assert_allclose(found.models[0], model, atol=1e-12)
    np.testing.assert_allclose(found.residuals[0], residual, atol=1e-12)
    np.testing.assert_array_equal(dirty, kept)
    assert (found.iterations, found.stop) == (25, Stop.ITERATIONS)


def test_hogbom_with_gain_one_takes_a_point_in_one_step():
    """Nothing is left."""
    psf = psf_of()
    found = hogbom(4 * moved(psf, 20, 11), psf, Minor(gain=1, iterations=9, threshold_jy=1e-9))
    assert (found.iterations, found.stop) == (1, Stop.THRESHOLD)
    assert found.models[0][20, 11] == pytest.approx(4)
    assert np.count_nonzero(found.models[0]) == 1


@pytest.mark.parametrize("patch", [1, 8, 9])
def test_a_patch_subtracts_that_far_and_no_farther(patch):
    """Of even patches the middle is at half their size."""
    psf = psf_of()
    dirty = moved(psf, 15, 14)
    found = hogbom(dirty, psf, Minor(gain=1, iterations=1, patch=patch))
    changed = np.argwhere(found.residuals[0] != dirty)
    low, high = changed.min(axis=0), changed.max(axis=0)
    np.testing.assert_array_equal(low, (15 - patch // 2, 14 - patch // 2))
    np.testing.assert_array_equal(high - low, (patch - 1, patch - 1))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("gain", 0), ("gain", -0.1), ("gain", 1.01), ("gain", math.nan), ("iterations", 0),
        ("threshold_jy", -1), ("threshold_jy", math.nan), ("threshold_jy", math.inf), ("patch", 0),
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused_by_name(option, value):
    """The message says what it must be."""
    with pytest.raises(ValueError, match=f"{option} must be"):
        Minor(**{option: value})


def test_a_deconvolution_that_diverges_is_stopped():
    """A function whose side lobes are three times its middle makes every step worse."""
    psf = np.zeros((SIZE, SIZE))
    psf[MIDDLE, MIDDLE], psf[MIDDLE, MIDDLE + 1], psf[MIDDLE, MIDDLE - 1] = 1, -3, -3
    with pytest.raises(Diverged, match=r"it diverges: in minor cycle \d+ .*; lower the gain"):
        hogbom(moved(psf, 16, 16), psf, Minor(gain=0.9))


def test_what_is_not_a_number_is_stopped():
    """It would be taken away for ever."""
    psf = psf_of()
    with pytest.raises(Diverged, match="peak is nan"):
        hogbom(np.full_like(psf, np.nan), psf, Minor())
    dirty = [np.full_like(psf, np.nan)]
    with pytest.raises(Diverged, match="peak is nan"):
        msmfs(dirty, prepare([psf], (0, 5)), Minor())


def test_a_function_without_its_peak_in_the_middle_is_refused():
    """It is no point-spread function."""
    with pytest.raises(ValueError, match="psf must be 1 in the middle"):
        hogbom(np.ones((SIZE, SIZE)), 2 * psf_of(), Minor())
    with pytest.raises(ValueError, match="equal in shape"):
        hogbom(np.ones((16, 16)), psf_of(), Minor())


def test_a_blob_is_round_of_sum_one_and_ends_at_its_diameter():
    """Below two pixels it is a point."""
    wide = blob(np.zeros((SIZE, SIZE)), 10)
    assert wide.sum() == pytest.approx(1)
    away = np.hypot(*(np.indices(wide.shape) - MIDDLE))
    assert (wide[away >= 5] == 0).all()
    assert (wide[away < 5] > 0).all()
    np.testing.assert_allclose(wide[1:, 1:], wide[1:, 1:].T)
    point = blob(np.zeros((SIZE, SIZE)), 0)
    assert (point[MIDDLE, MIDDLE], np.count_nonzero(point)) == (1, 1)


def around(one, other):
    """Convolve two images around the edges, by a sum over all shifts; both have their middle."""
    found = np.zeros_like(one)
    for row, column in np.argwhere(other):
        found += other[row, column] * np.roll(one, (row - MIDDLE, column - MIDDLE), (0, 1))
    return found


@pytest.mark.parametrize("diameter", [0, 6, 11])
def test_msmfs_with_gain_one_takes_a_blob_with_a_spectrum_in_one_step(diameter):
    """Its scale, its place and both of its terms are found at once."""
    psfs = [psf_of(), 0.05 * psf_of(seed=1), 0.03 * psf_of(seed=2)]
    shape = np.roll(blob(psfs[0], diameter), (3, -4), (0, 1))
    flux, slope = 5.0, -3.0
    dirty = [
        around(psfs[0], shape) * flux + around(psfs[1], shape) * slope,
        around(psfs[1], shape) * flux + around(psfs[2], shape) * slope,
    ]
    found = msmfs(dirty, prepare(psfs, (0, 6, 11)), Minor(gain=1, iterations=1))
    np.testing.assert_allclose(found.models[0], flux * shape, atol=1e-9)
    np.testing.assert_allclose(found.models[1], slope * shape, atol=1e-9)


@pytest.mark.parametrize("place", [(2, 16), (16, 29), (0, 0)])
def test_a_blob_is_taken_where_the_whole_of_it_is_inside(place):
    """Nearer to an edge it would be cut, and its smoothed image comes from the other edge."""
    psf = psf_of() * (np.hypot(*(np.indices((SIZE, SIZE)) - MIDDLE)) < 4)
    dirty = np.roll(psf, (place[0] - MIDDLE, place[1] - MIDDLE), (0, 1))
    dirty[np.abs(np.indices(dirty.shape) - np.array(place)[:, None, None]).max(axis=0) > 5] = 0
    found = msmfs([dirty], prepare([psf], (0, 9)), Minor(gain=1, iterations=1))
    assert found.models[0].sum() == pytest.approx(1, abs=1e-9)
    assert found.models[0][place] == pytest.approx(1, abs=1e-9)


def test_msmfs_with_one_scale_and_one_term_is_hogbom():
    """Away from the edges, where one goes around and the other does not."""
    psf = psf_of() * (np.hypot(*(np.indices((SIZE, SIZE)) - MIDDLE)) < 5)
    dirty = 2 * moved(psf, 14, 12) - moved(psf, 17, 20)
    minor = Minor(gain=0.2, iterations=20)
    ours, other = msmfs([dirty], prepare([psf], (0,)), minor), hogbom(dirty, psf, minor)
    np.testing.assert_allclose(ours.models[0], other.models[0], atol=1e-12)
    np.testing.assert_allclose(ours.residuals[0], other.residuals[0], atol=1e-12)


def test_terms_that_one_frequency_cannot_tell_apart_are_refused():
    """All functions of higher order are zero then."""
    psf = psf_of()
    with pytest.raises(ValueError, match="terms must be fewer"):
        prepare([psf, 0 * psf, 0 * psf], (0, 5))


@pytest.mark.parametrize("scales", [(), (5,), (0, -1), (0, SIZE / 2)])
def test_scales_that_no_image_holds_are_refused(scales):
    """The first is a point, and none is wider than half the image."""
    with pytest.raises(ValueError, match="scales must be 0 first"):
        prepare([psf_of()], scales)


@pytest.mark.parametrize("size", [16, 17])
def test_deconvolution_keeps_to_the_array_api(size):
    """A library that has nothing else computes the same: so will that of a GPU."""
    strict = pytest.importorskip("array_api_strict")
    psf = psf_of(size)
    psfs = [psf, 0.05 * psf, 0.05 * psf]
    dirty = [np.roll(psf, 2, 0) * 3, np.roll(psf, 2, 0) * 0.3]
    minor = Minor(iterations=15)
    theirs = [strict.asarray(one) for one in psfs]
    sky = [strict.asarray(one) for one in dirty]
    pairs = (
        (hogbom(dirty[0], psf, minor), hogbom(sky[0], theirs[0], minor)),
        (msmfs(dirty, prepare(psfs, (0, 4)), minor), msmfs(sky, prepare(theirs, (0, 4)), minor)),
    )
    for ours, other in pairs:
        assert namespace(*other.models, *other.residuals) is strict
        for one, two in zip(ours.models, other.models, strict=True):
            np.testing.assert_allclose(to_host(two), one, atol=1e-12)


def test_arrays_of_two_libraries_are_refused():
    """One of them would be copied silently, or fail far from here."""
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match="one library"):
        namespace(np.ones(2), strict.ones(2))
    with pytest.raises(TypeError, match="got list"):
        namespace([1.0])


def test_arrays_that_do_not_name_their_library_are_those_of_where_they_come_from(monkeypatch):
    """CuPy has the functions of the array API, and its arrays do not say so: not in 14.2."""
    cupy = ModuleType("cupy")
    cupy.ndarray = type("ndarray", (), {"__module__": "cupy"})
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert namespace(cupy.ndarray(), cupy.ndarray()) is cupy
    assert namespace(np.ones(2)) is np


def test_the_beam_of_a_gaussian_is_that_gaussian():
    """Exactly, since its logarithm is a parabola."""
    beam = Beam(a=0.05, b=0.02, c=0.08)
    fitted = fit_beam(beam.image(np.zeros((SIZE, SIZE))))
    assert (fitted.a, fitted.b, fitted.c) == pytest.approx((0.05, 0.02, 0.08))


def test_a_round_beam_is_as_wide_as_its_half_maximum():
    """And its integral is that of a Gaussian, 1.1331 times the square of its width."""
    beam = Beam(a=math.log(2) / 4, b=0, c=math.log(2) / 4)  # a half at 2 pixels
    assert beam.fwhm == pytest.approx((4, 4))
    assert beam.pixels == pytest.approx(1.1331 * 16, rel=1e-4)
    assert beam.image(np.zeros((64, 64))).sum() == pytest.approx(beam.pixels)


def test_a_function_without_a_lobe_has_no_beam():
    """Its cells are too large to see one."""
    psf = np.zeros((SIZE, SIZE))
    psf[MIDDLE, MIDDLE] = 1
    with pytest.raises(ValueError, match="cells are too large"):
        fit_beam(psf)


def test_a_restored_point_has_its_flux_as_its_height():
    """On top of what is left."""
    model = np.zeros((SIZE, SIZE))
    model[10, 20] = 3
    restored = restore(model, np.full_like(model, 0.5), Beam(a=0.3, b=0, c=0.3))
    assert restored[10, 20] == pytest.approx(3.5)
    assert restored[10, 21] == pytest.approx(0.5 + 3 * math.exp(-0.3))


def test_a_restored_point_at_an_edge_stays_at_that_edge():
    """What its beam carries beyond does not come in at the other edge."""
    model = np.zeros((SIZE, SIZE))
    model[0, 31] = 2
    restored = restore(model, np.zeros_like(model), Beam(a=0.05, b=0, c=0.05))
    away = np.hypot(*(np.indices(model.shape) - np.array((0, 31))[:, None, None]))
    np.testing.assert_allclose(restored, 2 * np.exp(-0.05 * away**2), atol=1e-9)
