"""The model array, the earth's rotation and the direct sum, by hand."""

import math

import numpy as np
import pytest

from ridgepoint.suites.imaging.sky import Source, seeded_sky, visibilities
from ridgepoint.suites.imaging.telescope import Observation, observe, three_arms


def test_three_arms_of_nine_grow_by_the_known_power():
    """The last antenna is at the arm's end; twice as far along the count is 3.285 times the way."""
    away = np.hypot(*three_arms(600.0).T).reshape(3, 9)
    assert away[:, 8] == pytest.approx(600)
    assert away[:, 7] / away[:, 3] == pytest.approx(3.285, rel=1e-3)


def test_an_array_without_length_is_refused():
    """There is nothing to observe with."""
    with pytest.raises(ValueError, match="arm_m must be > 0"):
        three_arms(0)


def test_a_field_at_the_zenith_sees_the_array_as_it_lies():
    """On the meridian, at a declination equal to the latitude: u is east, v is north, w is 0."""
    antennas = np.array([(0.0, 0.0), (300.0, 40.0), (-10.0, 70.0)])
    seen = observe(
        antennas, moments=1, frequency_hz=1e9, latitude_deg=34, declination_deg=34, hours=0
    )
    expected = [(300, 40, 0), (-10, 70, 0), (-310, 30, 0)]
    np.testing.assert_allclose(seen.uvw_m, expected, atol=1e-9)


def test_a_baseline_east_to_west_draws_an_ellipse():
    """Of a field at declination d: u^2 + (v / sin d)^2 is its length squared."""
    seen = observe(
        np.array([(0.0, 0.0), (100.0, 0.0)]), moments=7, frequency_hz=1e9, declination_deg=30
    )
    u, v, _ = seen.uvw_m.T
    np.testing.assert_allclose(np.hypot(u, v / math.sin(math.radians(30))), 100)


def test_rotation_leaves_lengths_as_they_are():
    """Of every baseline, in every moment."""
    antennas = three_arms(600.0)
    lengths = np.linalg.norm(observe(antennas, moments=5, frequency_hz=1e9).uvw_m, axis=1)
    pairs = [math.dist(a, b) for i, a in enumerate(antennas) for b in antennas[i + 1 :]]
    np.testing.assert_allclose(lengths.reshape(5, -1), [pairs] * 5)


def test_the_ends_of_an_observation_have_its_extremes_of_w():
    """So that both need the same planes."""
    seen = observe(three_arms(600.0), moments=9, frequency_hz=[1.2e9, 1.5e9])
    every, few = np.abs(seen.uvw_m[:, 2]), np.abs(seen.ends().uvw_m[:, 2])
    assert (few.min(), few.max()) == (every.min(), every.max())


LIGHT = 299792458.0


@pytest.fixture
def one() -> Observation:
    """Return one baseline at two frequencies."""
    return Observation(uvw_m=np.array([(120.0, -70.0, 40.0)]), frequency_hz=np.array([1e9, 1.5e9]))


def test_a_point_in_the_middle_is_its_flux_everywhere(one: Observation):
    """It has no phase."""
    np.testing.assert_allclose(visibilities([Source(flux_jy=3, l=0, m=0)], one), 3)


def test_a_point_elsewhere_has_the_phase_of_its_path(one: Observation):
    """The path is u l + v m - w (n - 1), here with n = 0.8 exactly."""
    (seen,) = visibilities([Source(flux_jy=2, l=0.6, m=0)], one)
    path = 120 * 0.6 + 40 * 0.2
    turns = np.array([1e9, 1.5e9]) / LIGHT * path
    np.testing.assert_allclose(seen, 2 * np.exp(-2j * np.pi * turns), rtol=1e-9)


def test_a_gaussian_is_the_sum_of_points_that_follow_its_profile():
    """The transform of a round Gaussian, against a sum over 121 x 121 points."""
    seen = Observation(uvw_m=np.array([(900.0, 300.0, 0.0)]), frequency_hz=np.array([1e9]))
    fwhm = 1e-4
    x = np.linspace(-2, 2, 121) * fwhm
    profile = np.exp(-4 * math.log(2) * (x / fwhm) ** 2)
    wide = np.outer(profile, profile)
    points = [
        Source(flux_jy=float(wide[i, j] / wide.sum()), l=float(x[i]), m=float(x[j]))
        for i, j in np.ndindex(wide.shape)
    ]
    expected = visibilities(points, seen)
    assert abs(expected[0, 0]) < 0.99  # it is resolved
    gaussian = visibilities([Source(flux_jy=1, l=0, m=0, fwhm=fwhm)], seen)
    np.testing.assert_allclose(gaussian, expected, rtol=1e-4)


def test_a_spectrum_is_a_power_of_the_frequency(one: Observation):
    """Around the middle of the band, 1.25 GHz."""
    seen = visibilities([Source(flux_jy=1, l=0, m=0, index=-2)], one)
    np.testing.assert_allclose(seen, [[1.25**2, (1.25 / 1.5) ** 2]])


def test_noise_is_seeded_and_as_large_as_asked():
    """The same seed gives the same noise, another one another."""
    seen = observe(three_arms(600.0), moments=30, frequency_hz=1e9)
    first, again = (visibilities([], seen, noise_jy=0.5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != visibilities([], seen, noise_jy=0.5, seed=4)).all()
    assert first.real.std() == pytest.approx(0.5, rel=0.03)
    assert first.imag.std() == pytest.approx(0.5, rel=0.03)


def test_a_seeded_sky_is_on_pixels_apart_and_the_same_again():
    """Its places are whole pixels in the inner half."""
    sky = seeded_sky(size=128, cell=1e-4, seed=5)
    assert sky == seeded_sky(size=128, cell=1e-4, seed=5)
    places = np.array([(each.l, each.m) for each in sky]) / 1e-4
    np.testing.assert_allclose(places, places.round(), atol=1e-9)
    assert np.abs(places).max() <= 32
    assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) >= 8


def test_a_sky_with_too_many_sources_is_refused():
    """They would be on top of each other."""
    with pytest.raises(ValueError, match="points and extended must fit"):
        seeded_sky(size=32, cell=1e-4, points=500)
