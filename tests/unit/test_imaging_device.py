"""The pipeline on another device's arrays: on NumPy with finufft, and on a strict library."""

import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from nufft_by_sums import Sums

from ridgepoint.ceilings.gpu.arrays import Arrays
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file import read_pipeline
from ridgepoint.suites.imaging.clean import Minor
from ridgepoint.suites.imaging.continuum import Plan, image
from ridgepoint.suites.imaging.described import described
from ridgepoint.suites.imaging.device import gridder_on, image_on, stages_on, time_stages
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.gridder import Geometry
from ridgepoint.suites.imaging.measuring import taken_apart
from ridgepoint.suites.imaging.nufft import NufftGridder
from ridgepoint.suites.imaging.recovered import recovered
from ridgepoint.suites.imaging.sky import Source, visibilities
from ridgepoint.suites.imaging.stages import NAMES, scene
from ridgepoint.suites.imaging.telescope import observe, three_arms


class Clock:
    """A device's clock that tells set times, and does what it is asked to time."""

    def __init__(self, *, seconds=0.05):
        self.seconds, self.calls = seconds, []

    def __call__(self, function, repeats):
        """Return the time of so many calls."""
        function()
        self.calls.append(repeats)
        return self.seconds * repeats


def device_of(library, *, xp=np, clock=None, options=None, free_bytes=10**10):
    """Return what stands for a GPU: arrays of another library, and a clock."""
    return Arrays(
        device=SimpleNamespace(facts=SimpleNamespace(free_bytes=free_bytes)), index=0, xp=xp,
        nufft=library, options=options or {}, current=nullcontext, elapsed_s=clock or Clock(),
        settle=lambda: None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def seen():
    """Return the smallest scene."""
    return scene(64)


@pytest.fixture(scope="module")
def device():
    """Return finufft in the place of cufinufft."""
    return device_of(pytest.importorskip("finufft"), options={"nthreads": 1})


def test_the_image_is_that_of_the_pipeline_with_ducc(seen, device):
    """The same sources are found, and the same is left; the dirty images agree much better."""
    pytest.importorskip("ducc0")
    ours = image_on(device, seen, gridder_on(device, seen))
    other = image(seen.visibilities, seen.observation, seen.geometry, seen.plan)
    for one, two in zip(recovered(seen, ours), recovered(seen, other), strict=True):
        assert one.flux_jy == pytest.approx(two.flux_jy, rel=0.01)
        assert one.index == pytest.approx(two.index, abs=0.03)
        assert one.offset_pixels == two.offset_pixels
    assert ours.executions == other.executions
    np.testing.assert_allclose(ours.dirty, other.dirty, atol=1e-6)
    assert ours.residual.std() == pytest.approx(other.residual.std(), rel=0.05)


@pytest.mark.parametrize("algorithm", ["hogbom", "msmfs"])
def test_the_whole_pipeline_keeps_to_the_array_api(algorithm):
    """On a library that has nothing else it finds what it finds on NumPy, and gives it to NumPy."""
    strict = pytest.importorskip("array_api_strict")
    antennas = three_arms(600.0)[::3]
    observation = observe(antennas, moments=5, frequency_hz=np.linspace(1.2e9, 1.6e9, 2))
    cell = 1 / (5 * observation.longest_wavelengths)
    geometry = Geometry(size=32, cell=cell, epsilon=1e-4)
    sky = [Source(flux_jy=1, l=4 * cell, m=-3 * cell), Source(flux_jy=2, l=0, m=5 * cell)]
    known = visibilities(sky, observation)
    plan = Plan(algorithm=algorithm, major=2, minor=Minor(iterations=8), scales=(0, 5))
    found = [
        image(
            known, observation, geometry, plan,
            gridder=NufftGridder(observation, geometry, library=Sums(xp), xp=xp),
        )
        for xp in (np, strict)
    ]  # fmt: skip
    for name in ("psf", "dirty", "residual", "restored"):
        ours, other = (getattr(one, name) for one in found)
        assert type(ours) is type(other) is np.ndarray
        np.testing.assert_allclose(other, ours, atol=1e-9)
    np.testing.assert_allclose(found[1].models, found[0].models, atol=1e-9)


def test_deconvolution_may_run_elsewhere_than_gridding(seen):
    """Images go there and models come back: here from NumPy to a strict library."""
    strict = pytest.importorskip("array_api_strict")
    pytest.importorskip("ducc0")
    plan = Plan(major=2, minor=Minor(iterations=4), scales=(0, 5))
    given = (seen.visibilities, seen.observation, seen.geometry, plan)
    ours, other = image(*given), image(*given, transfer=strict.asarray)
    np.testing.assert_allclose(other.restored, ours.restored, atol=1e-9)


def test_every_stage_has_its_name_and_can_be_called_again(seen, device):
    """Arguments are not changed, so that the second call does the same."""
    every = stages_on(device, seen, gridder_on(device, seen))
    assert tuple(one.name for one in every) == NAMES
    for each in every:
        first, second = each.function(*each.arguments), each.function(*each.arguments)
        if hasattr(first, "residuals"):
            first, second = first.residuals[0], second.residuals[0]
        np.testing.assert_array_equal(first, second)


def test_few_rows_need_the_same_transforms(seen, device):
    """As many planes of the same grid, from a row or less for each."""
    ours = gridder_on(device, seen)
    few, rows = ours.same_transforms()
    assert few.gridding == ours.gridding
    assert len(rows) <= ours.gridding.planes + 2
    weights = np.zeros(seen.weights.shape)
    weights[rows] = 1
    np.testing.assert_allclose(
        few.invert(seen.visibilities[rows], weights[rows]),
        ours.invert(seen.visibilities, weights), rtol=1e-9, atol=1e-9,
    )  # fmt: skip


def test_formulas_get_the_sizes_that_the_stages_have(seen, device):
    """By hand: a grid of 128 x 128 points, a support of 8 in 8 planes or more, 22464 visibilities.

    A plane takes 4 x 8^2 flop for its cells, and 2 x 2 x 8 x 11 for two rows of the kernel.
    """
    ours = gridder_on(device, seen)
    assert (ours.gridding.grid, ours.gridding.support) == (128, 8)
    expected = {one.name: one.expected for one in stages_on(device, seen, ours)}
    transforms = ours.gridding.planes * 10 * 128**2 * math.log2(128)
    gridded = 22464 * 8 * (4 * 8**2 + 4 * 8 * 11)
    assert expected["ifft"].flop == expected["fft"].flop == pytest.approx(transforms)
    assert expected["invert"].flop == pytest.approx(transforms + gridded)
    # 20 minor cycles, 3 scales of 2 terms: a read, a read and a write, and two beams.
    assert expected["msmfs"].moved_bytes == 20 * 6 * 5 * 8 * 64**2


def stage(seconds):
    """Return a call that is known to take so long, by its clock."""
    return SimpleNamespace(
        name="hogbom", summary="of a test", function=lambda: seconds, arguments=(),
        visibilities=10, gridded=0, expected=SimpleNamespace(flop=6.0, moved_bytes=3.0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "calls", "samples"), [(0.05, 1, 10), (0.004, 5, 10), (1.0, 1, 3), (1e-9, 1000, 10)]
)
def test_short_stages_are_called_often_and_long_ones_rarely(seconds, calls, samples):
    """20 ms a sample, within 5 s in all; one call first, and one more to see how long it takes."""
    clock = Clock(seconds=seconds)
    (found,) = time_stages([stage(seconds)], device_of(None, clock=clock))
    assert clock.calls == [1, 1, *[calls] * samples]
    assert found.runtime_s.n == samples
    assert found.runtime_s.median == pytest.approx(seconds)
    assert (found.state, found.work_flop, found.moved_bytes) == ("warm", None, None)
    assert (found.expected_flop, found.visibilities_per_s) == (6, pytest.approx(10 / seconds))


def test_a_stage_that_fails_stops_no_other():
    """Its reason is kept."""

    def full():
        raise CannotMeasure("cannot measure a GPU", reason="its memory is full", remedy="end it")

    failing = SimpleNamespace(**{**vars(stage(1)), "name": "msmfs", "function": full})
    first, second = time_stages([failing, stage(1)], device_of(None))
    assert first.runtime_s is None
    assert "its memory is full" in first.failure
    assert second.failure is None


def test_gridding_is_told_from_transforms(seen, device):
    """Where the whole takes as long as the transforms alone, it is unknown."""
    some = [one for one in stages_on(device, seen, gridder_on(device, seen)) if "i" in one.name]
    found = {one.name: one for one in time_stages(some, device, repetitions=3)}
    assert set(found) == {"invert", "ifft", "predict", "grid"}
    assert found["grid"].runtime_s is None
    both = found["invert"].expected_flop - found["ifft"].expected_flop
    assert found["grid"].expected_flop == pytest.approx(both)


def test_what_is_described_can_be_composed(seen, device, tmp_path):
    """Work and bytes are the formulas', and the file says so."""
    ours = gridder_on(device, seen)
    stages = {one.name: one for one in stages_on(device, seen, ours)}
    seconds = {"invert": 0.08, "ifft": 0.03, "predict": 0.07, "fft": 0.02}
    found = []
    for name, one in stages.items():
        clock = Clock(seconds=seconds.get(name, 0.1))
        found += time_stages([one], device_of(None, clock=clock), repetitions=3)
    results = taken_apart(found)
    text = described(results, seen, machine="h200", on_device=ours.gridding)
    assert "# On a GPU. Work and bytes are not counted: they are those of formulas." in text
    path = tmp_path / "a.toml"
    path.write_text(text)
    (case,) = read_pipeline(path, archive=Archive(tmp_path / "archive"), machine=None).cases
    assert [one.name for one in case.pipeline.stages] == [
        "grid", "ifft", "deconvolve", "fft", "degrid",
    ]  # fmt: skip
    assert case.assess().devices is not None
    with pytest.raises(CannotImage, match="its work, traffic or time is not known"):
        described(results, seen, machine="h200")


def test_an_image_larger_than_the_memory_of_the_gpu_is_refused(monkeypatch):
    """Before anything is copied there: 129 images of 33 kB, and 4.5 MB of visibilities.

    Of the host less is asked than where it makes images itself.
    """
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * 10**6))
    little = scene(64, on_host=False)
    with pytest.raises(CannotImage, match=r"cannot image 64 x 64 .* 0\.0 GB are available; choose"):
        gridder_on(device_of(None, free_bytes=8 * 10**6), little)
    with pytest.raises(CannotImage, match="cannot image 64 x 64"):
        scene(64)
