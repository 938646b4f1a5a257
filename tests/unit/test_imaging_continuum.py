"""Gridding against the direct sum, and images of a known sky."""

import sys

import numpy as np
import pytest

from ridgepoint.demands.formulas import major_cycles
from ridgepoint.suites.imaging import gridder
from ridgepoint.suites.imaging.clean import Minor
from ridgepoint.suites.imaging.continuum import Imager, Plan, image
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.gridder import Geometry, gridding, invert, predict, uniform_weights
from ridgepoint.suites.imaging.sky import Source, seeded_sky, visibilities
from ridgepoint.suites.imaging.stages import scene
from ridgepoint.suites.imaging.telescope import Observation, observe, three_arms

pytest.importorskip("ducc0")
SIZE = 128
MIDDLE = SIZE // 2


@pytest.fixture(scope="module")
def observation() -> Observation:
    """Return a short one, of four channels."""
    return observe(three_arms(600.0), moments=30, frequency_hz=np.linspace(1.2e9, 1.6e9, 4))


@pytest.fixture(scope="module")
def geometry(observation: Observation) -> Geometry:
    """Return five pixels for each of the narrowest fringes."""
    return Geometry(size=SIZE, cell=1 / (5 * observation.longest_wavelengths))


def test_degridding_is_the_direct_sum(observation, geometry):
    """Of points on pixels, to the gridder's own accuracy."""
    model = np.zeros((SIZE, SIZE))
    sky = []
    for row, column, flux in ((40, 90, 2.0), (64, 64, 1.0), (5, 120, 0.7)):
        model[row, column] = flux
        sky.append(
            Source(
                flux_jy=flux,
                l=(row - MIDDLE) * geometry.cell,
                m=(column - MIDDLE) * geometry.cell,
            )
        )
    exact = visibilities(sky, observation)
    error = predict(model, observation, geometry) - exact
    assert np.linalg.norm(error) < 1e-6 * np.linalg.norm(exact)


def test_a_wide_field_needs_w_and_has_it(observation):
    """At 20 degrees from the middle the last coordinate turns phases many times."""
    wide = Geometry(size=SIZE, cell=0.006)
    few = Observation(uvw_m=observation.uvw_m[:200] * 0.2, frequency_hz=observation.frequency_hz)
    model = np.zeros((SIZE, SIZE))
    model[10, 100] = 1
    there = Source(flux_jy=1, l=(10 - MIDDLE) * 0.006, m=(100 - MIDDLE) * 0.006)
    exact = visibilities([there], few)
    assert np.abs(predict(model, few, wide) - exact).max() < 1e-5


def test_gridding_is_the_adjoint_of_degridding(observation, geometry):
    """<A x, y> = <x, A^H y>, for random images and visibilities."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SIZE, SIZE))
    y = rng.normal(size=observation.shape) + 1j * rng.normal(size=observation.shape)
    left = np.vdot(predict(x, observation, geometry), y).real
    right = np.vdot(x, invert(y, np.ones(observation.shape), observation, geometry))
    scale = np.linalg.norm(predict(x, observation, geometry)) * np.linalg.norm(y)
    assert abs(left - right) < 1e-11 * scale


def test_the_gridder_says_how_it_does_it(observation, geometry, capfd):
    """And nothing of that reaches the terminal; few rows tell the same as all."""
    found = gridding(observation, geometry)
    assert capfd.readouterr().out == ""
    nothing = np.ones(observation.shape)
    invert(nothing.astype(np.complex128), nothing, observation, geometry, verbosity=1)
    said = f"grid=({found.grid}x{found.grid}x{found.planes}), supp={found.support}"
    assert said in capfd.readouterr().out


def test_few_rows_need_the_same_transforms(observation, geometry):
    """They reach every row and column of the grid, in tiles of 8 points, that all rows reach."""
    used = gridding(observation, geometry)
    few, rows = gridder.same_transforms(observation, geometry, used)
    assert len(rows) < 0.02 * observation.shape[0]
    np.testing.assert_array_equal(few.uvw_m, observation.uvw_m[rows])
    assert gridding(few, geometry) == used

    def tiles(one, along):
        uvw = np.where(one.uvw_m[:, 2:] < 0, -one.uvw_m, one.uvw_m)
        points = uvw[:, along, None] * one.frequency_hz / 299792458.0 * geometry.cell * used.grid
        return set(np.floor(points / 8).ravel().tolist())

    for along in (0, 1):
        assert tiles(few, along) == tiles(observation, along)


def test_uniform_weights_give_every_cell_the_same(observation, geometry):
    """Against a dictionary of cells in which conjugates share one."""
    weights = uniform_weights(observation, geometry)
    cells: dict[tuple[int, int], float] = {}
    width = SIZE * geometry.cell / 299792458.0
    for row, (u, v, _) in enumerate(observation.uvw_m):
        for channel, hertz in enumerate(observation.frequency_hz):
            cell = (round(u * width * hertz), round(v * width * hertz))
            cell = max(cell, (-cell[0], -cell[1]))
            cells[cell] = cells.get(cell, 0.0) + float(weights[row, channel])
    assert set(np.round(list(cells.values()), 9)) == {1.0}


@pytest.fixture(scope="module")
def imaged(observation, geometry):
    """Return the sky and what is found of it."""
    sky = seeded_sky(size=SIZE, cell=geometry.cell, points=5, extended=1, seed=2)
    seen = visibilities(sky, observation, noise_jy=0.06)
    plan = Plan(major=3, minor=Minor(iterations=400, threshold_jy=0.002))
    return sky, image(seen, observation, geometry, plan)


def place_of(source, geometry):
    """Return the pixel of a source."""
    return tuple(MIDDLE + round(one / geometry.cell) for one in (source.l, source.m))


def box(picture, place, half):
    """Return what is around a pixel."""
    return picture[tuple(slice(one - half, one + half + 1) for one in place)]


def test_fluxes_of_points_are_recovered(imaged, geometry):
    """Within 3 %, or 10 mJy."""
    sky, found = imaged
    for source in (one for one in sky if not one.fwhm):
        flux = box(found.models[0], place_of(source, geometry), 2).sum()
        assert flux == pytest.approx(source.flux_jy, rel=0.03, abs=0.01)


def test_fluxes_of_extended_sources_are_recovered(imaged, geometry):
    """Within 3 %, in twice their width."""
    sky, found = imaged
    for source in (one for one in sky if one.fwhm):
        flux = box(found.models[0], place_of(source, geometry), 9).sum()
        assert flux == pytest.approx(source.flux_jy, rel=0.03)


def test_sources_are_where_they_are(imaged, geometry):
    """Around each, the brightest pixel of the restored image is its own."""
    sky, found = imaged
    for source in sky:
        # A flat top has its largest pixel where the noise will have it.
        near = 1 if source.fwhm else 0
        around = box(found.restored, place_of(source, geometry), 3)
        row, column = np.unravel_index(around.argmax(), around.shape)
        assert max(abs(int(row) - 3), abs(int(column) - 3)) <= near


def test_a_restored_point_is_as_high_as_its_flux(imaged, geometry):
    """Jy/beam of a point are its Jy, within 5 %."""
    sky, found = imaged
    for source in (one for one in sky if not one.fwhm):
        height = found.restored[place_of(source, geometry)]
        assert height == pytest.approx(source.flux_jy, rel=0.05)


def test_spectra_are_recovered(imaged, geometry):
    """The second term over the first is the spectral index, within 0.1."""
    sky, found = imaged
    for source in sky:
        first, second = (box(one, place_of(source, geometry), 8 if source.fwhm else 2).sum()
                         for one in found.models)  # fmt: skip
        assert second / first == pytest.approx(source.index, abs=0.1)


def test_the_residual_is_near_the_noise(imaged, observation, geometry):
    """Not above 1.5 times what the noise alone leaves; the dirty image is far above."""
    _, found = imaged
    noise = visibilities([], observation, noise_jy=0.06, seed=7)
    weights = uniform_weights(observation, geometry)
    alone = Imager(observation, geometry, weights, 1).invert(noise)[0]
    assert found.residual.std() < 1.5 * alone.std()
    assert found.dirty.std() > 50 * alone.std()


def test_what_is_left_of_a_scene_is_its_noise():
    """Near extended sources too: nowhere more than five times what the noise alone leaves."""
    seen = scene(SIZE)
    noise = visibilities([], seen.observation, noise_jy=0.05, seed=7)
    imager = Imager(seen.observation, seen.geometry, seen.weights, 1)
    alone = imager.invert(noise)[0].std()
    assert seen.plan.minor.threshold_jy == pytest.approx(3 * alone, rel=0.05)
    found = image(
        seen.visibilities, seen.observation, seen.geometry, seen.plan, weights=seen.weights
    )
    assert found.residual.std() < 1.2 * alone
    assert np.abs(found.residual).max() < 5 * alone


@pytest.mark.parametrize(("flux", "wide"), [(2.0, 0), (10.0, 7)])
def test_a_source_near_an_edge_does_not_come_in_at_the_other_one(flux, wide, observation, geometry):
    """Three pixels from it: its flux inside is found, and at the other edge is nothing.

    Of a Gaussian 88 % are inside, by the error function at 3.5 pixels from its middle; beyond the
    edge, where no model can be, is what the edge has too much.
    """
    cell = geometry.cell
    there = Source(flux_jy=flux, l=(3 - MIDDLE) * cell, m=-4 * cell, fwhm=wide * cell)
    seen = visibilities([there, Source(flux_jy=1, l=0, m=0)], observation, noise_jy=0.02)
    found = image(seen, observation, geometry, Plan(minor=Minor(iterations=400)))
    model, inside = found.models[0], 0.88 * flux if wide else flux
    assert model[:12, 48:73].sum() == pytest.approx(inside, rel=0.1 if wide else 0.01)
    assert np.abs(found.restored[-8:]).max() < 0.01
    assert np.abs(found.residual).max() < 0.01
    assert found.residual.std() < 0.0003 * flux + 0.0005


@pytest.mark.parametrize(
    ("major", "expected"), [(0, (3, 2, 1)), (1, (3, 2, 1)), (2, (5, 4, 3)), (5, (8, 7, 6))]
)
@pytest.mark.parametrize("algorithm", ["hogbom", "msmfs"])
def test_parts_run_as_often_as_in_the_reference_library(
    major, expected, algorithm, observation, geometry
):
    """With n > 1 major cycles n + 3, n + 2 and n + 1 times; else 3, 2 and 1 times."""
    seen = visibilities([Source(flux_jy=1, l=0, m=0)], observation)
    plan = Plan(algorithm=algorithm, major=major, minor=Minor(iterations=2), scales=(0, 5))
    ran = image(seen, observation, geometry, plan).executions
    assert (ran["invert"], ran["predict"], ran["deconvolve"]) == expected
    said = major_cycles(major)
    assert (said.invert, said.predict, said.deconvolve) == expected


def test_hogbom_recovers_points_through_major_cycles(observation, geometry):
    """Within 3 %, without noise."""
    sky = seeded_sky(size=SIZE, cell=geometry.cell, points=3, extended=0, seed=4)
    seen = visibilities(sky, observation)
    plan = Plan(algorithm="hogbom", major=4, minor=Minor(iterations=150))
    found = image(seen, observation, geometry, plan)
    for source in sky:
        flux = box(found.models[0], place_of(source, geometry), 2).sum()
        assert flux == pytest.approx(source.flux_jy, rel=0.03)


def test_without_ducc_it_says_what_to_install(observation, geometry, monkeypatch):
    """In one line."""
    monkeypatch.setitem(sys.modules, "ducc0", None)
    with pytest.raises(CannotImage, match=r"ducc0 is not installed; pip install 'ridgepoint\[su"):
        predict(np.zeros((SIZE, SIZE)), observation, geometry)


def test_a_gridder_that_reports_otherwise_is_refused(observation, geometry, monkeypatch):
    """Rather than guess its grid."""
    monkeypatch.setattr(gridder, "invert", lambda *a, **k: None)
    with pytest.raises(CannotImage, match="its report has an unexpected form"):
        gridding(observation, geometry)


@pytest.mark.parametrize("size", [0, 30, 33, -64])
def test_sizes_that_ducc_cannot_do_are_refused(size):
    """Odd and small ones."""
    with pytest.raises(ValueError, match="size must be even and >= 32"):
        Geometry(size=size, cell=1e-4)


def test_impossible_geometries_and_plans_are_refused(observation, geometry):
    """By name."""
    for cell in (0, -1e-4, 0.1, float("nan")):
        with pytest.raises(ValueError, match="size \\* cell must be"):
            Geometry(size=64, cell=cell)
    with pytest.raises(ValueError, match="epsilon must be"):
        Geometry(size=64, cell=1e-4, epsilon=0)
    with pytest.raises(ValueError, match="major must be >= 0"):
        Plan(major=-1)
    with pytest.raises(ValueError, match="terms must be >= 1"):
        Plan(terms=0)
    with pytest.raises(ValueError, match="visibilities must be"):
        image(np.zeros((3, 4), complex), observation, geometry, Plan())
