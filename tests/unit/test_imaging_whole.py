"""The whole imaging pipeline from file to files: what its clock charges to which part."""

import numpy as np
import pytest

pytest.importorskip("ducc0")

from ridgepoint.core.errors import RidgepointError
from ridgepoint.suites.imaging import continuum, whole
from ridgepoint.suites.imaging.clock import Clock
from ridgepoint.suites.imaging.described import executions
from ridgepoint.suites.imaging.stages import scene
from ridgepoint.suites.imaging.whole import read_arrays, run_whole, write_arrays


def clock_of(readings):
    """Return a clock that reads these elapsed seconds, and half of them as CPU time."""
    left = iter(readings)

    def now():
        seconds = next(left)
        return seconds, seconds / 2

    return Clock(now=now)


def test_a_part_within_another_takes_its_time_from_it():
    """From 0 to 10: the outer part has 0 to 2 and 5 to 10, the inner 2 to 5."""
    clock = clock_of([0, 2, 5, 10])
    with clock("outer"), clock("inner"):
        pass
    outer, inner = clock.spent["outer"], clock.spent["inner"]

    assert (outer.wall_s, outer.cpu_s, outer.executions) == (7, 3.5, 1)
    assert (inner.wall_s, inner.cpu_s, inner.executions) == (3, 1.5, 1)


def test_what_fails_is_charged_too():
    """And what follows is not charged to it."""
    clock = clock_of([0, 1, 4, 6])
    with pytest.raises(ZeroDivisionError), clock("first"):
        raise ZeroDivisionError
    with clock("second"):
        pass

    assert {name: spent.wall_s for name, spent in clock.spent.items()} == {"first": 1, "second": 2}


def test_arrays_come_back_from_a_file(tmp_path):
    """One after the other, with their types."""
    arrays = [np.arange(3.0), np.array([[1 + 2j]])]
    write_arrays(tmp_path / "a", arrays)
    found = read_arrays(tmp_path / "a", 2)

    assert [each.dtype for each in found] == [each.dtype for each in arrays]
    assert all(np.array_equal(*pair) for pair in zip(found, arrays, strict=True))


@pytest.fixture(scope="module")
def small():
    """Return a scene of 64 x 64 pixels."""
    return scene(64, major=2)


def imaging(small):
    """Return what images this scene's visibilities."""

    def image(visibilities, observation, timed):
        return continuum.image(visibilities, observation, small.geometry, small.plan, timed=timed)

    return image


def test_every_part_of_a_run_is_known(small, tmp_path, monkeypatch):
    """As often as the reference library's cycles have it: 5 inversions, 4 predictions, 3 cleans.

    Each of them for both Taylor terms, but for the three orders of the point-spread function.
    """
    monkeypatch.setattr(whole, "MOST_RUNS", 2)
    found, imaged = run_whole(small, imaging(small), folder=tmp_path)
    times = {part.name: part.executions for part in found.parts}

    assert (times["invert"], times["predict"], times["deconvolve"]) == (4 * 2 + 3, 4 * 2, 3)
    assert (times["read"], times["write"], times["smooth"]) == (1, 1, 3 + 1)
    assert found.minor_cycles == imaged.minor_cycles
    assert found.time_s.n == found.host_s.n == 2
    for total, *shares in zip(
        found.time_s.samples, found.stages_s.samples, found.host_s.samples, strict=True
    ):
        assert total == pytest.approx(sum(shares))
    assert {part.name for part in found.parts if part.is_parallel} == {"invert", "predict"}
    assert list(tmp_path.iterdir()) == []


def test_the_image_is_that_of_the_scene(small):
    """Reading from a file changes nothing; the residual visibilities are what is left."""
    found = run_whole(small, imaging(small))[1]
    direct = continuum.image(
        small.visibilities, small.observation, small.geometry, small.plan, weights=small.weights
    )

    np.testing.assert_allclose(found.restored, direct.restored, atol=1e-9)
    assert np.abs(found.residual_visibilities).std() < 0.2 * np.abs(small.visibilities).std()


def test_a_run_of_too_long_is_not_repeated(small, monkeypatch):
    """A second one would pass the limit."""
    monkeypatch.setattr(whole, "_LIMIT_S", 1e-9)

    assert run_whole(small, imaging(small))[0].time_s.n == 1


def test_a_full_disk_is_told(small, monkeypatch):
    """With what to do."""

    def full(path, arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole, "write_arrays", full)
    with pytest.raises(RidgepointError, match="no space left on device") as refused:
        run_whole(small, imaging(small))
    assert "--scratch" in refused.value.remedy


def test_a_file_that_stays_in_memory_is_doubted(small, monkeypatch):
    """By a caution with its share."""
    monkeypatch.setattr(whole.page_cache, "drop", lambda path: 0.75)
    monkeypatch.setattr(whole, "MOST_RUNS", 1)
    found = run_whole(small, imaging(small))[0]

    assert found.in_memory == 0.75
    assert found.cautions[0].code == "file-in-memory"
    assert "75 %" in found.cautions[0].seen


def test_minor_cycles_of_a_run_give_the_repeats():
    """Twenty to a call, 2840 in a run: 142 calls; without a run 500 in each of 6 deconvolutions."""
    plan = scene(64).plan

    assert executions(plan, 64, minor_cycles=2840)["msmfs"] == 142
    assert executions(plan, 64)["msmfs"] == 150
