"""Stages of the pipeline: what they hold, what they do, and the file that composes them."""

from dataclasses import replace

import numpy as np
import psutil
import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file import read_pipeline
from ridgepoint.profiling.calls import measure_all, subject
from ridgepoint.suites.imaging import measuring
from ridgepoint.suites.imaging.clean import Minor
from ridgepoint.suites.imaging.continuum import Plan
from ridgepoint.suites.imaging.described import described, executions
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.measuring import StageResult, measure_stages, split
from ridgepoint.suites.imaging.stages import NAMES, chosen, measured_cycles, scene, stages

pytest.importorskip("ducc0")


@pytest.fixture(scope="module")
def seen():
    """Return the smallest scene."""
    return scene(64)


@pytest.fixture(scope="module")
def counted(seen):
    """Count stages in one run of Valgrind, which takes long to start; of hogbom ten iterations."""
    few = [
        replace(one, arguments=(*one.arguments[:2], replace(one.arguments[2], iterations=10)))
        if one.name == "hogbom"
        else one
        for one in chosen(stages(seen), ["predict", "fft", "hogbom"])
    ]
    measured = measure_stages(few, states=["warm"], repetitions=3, limit_s=2)
    return few, {one.name: one for one in measured}


def result(name, state="cold", **known):
    """Return a literal result: 6 Gflop and 2 GB in 3 s."""
    values = {
        "summary": "of a test", "threads": 1, "visibilities": 0, "expected_flop": 4e9,
        "expected_bytes": None, "work_flop": 6e9, "moved_bytes": 2e9, "runtime_s": Estimate([3.0]),
        **known,
    }  # fmt: skip
    return StageResult(name=name, state=state, **values)


def test_every_stage_has_its_name_and_can_be_called_again(seen):
    """Arguments are not changed, so that the second call does the same."""
    every = stages(seen)
    assert tuple(one.name for one in every) == NAMES
    for each in every:
        first, second = each.function(*each.arguments), each.function(*each.arguments)
        if hasattr(first, "residuals"):
            first, second = first.residuals[0], second.residuals[0]
        # Threads add in any order, one thread in its own.
        np.testing.assert_array_equal(first, second)


def test_formulas_get_the_sizes_that_the_stages_have(seen):
    """By hand: a grid of 132 x 132 points and 9 planes, a support of 9; 16 moments.

    A plane takes 4 x 9^2 flop for its cells, and 2 x 2 x 9 x 13 for two rows of the kernel.
    """
    expected = {one.name: one.expected.flop for one in stages(seen)}
    transforms = 9 * 10 * 132**2 * np.log2(132)
    gridded = 351 * 16 * 4 * 9 * (4 * 9**2 + 4 * 9 * 13)
    assert expected["ifft"] == expected["fft"] == pytest.approx(transforms)
    assert expected["invert"] == expected["predict"] == pytest.approx(transforms + gridded)
    assert expected["hogbom"] == 100 * 4 * 64**2


@pytest.mark.parametrize("size", [0, 62, 65, 16386])
def test_sizes_out_of_range_are_refused(size):
    """Odd ones too."""
    with pytest.raises(ValueError, match="size must be even, 64 to 16384"):
        scene(size)


def test_an_image_larger_than_memory_is_refused(monkeypatch):
    """Before anything is allocated: 179 images of 2.15 GB, 2.3 GB of visibilities and 0.3 GB."""
    memory = psutil.virtual_memory()._replace(available=10**9)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(CannotImage, match=r"takes 387\.0 GB, and 1\.0 GB are available; choose"):
        scene(16384)


def test_gridding_is_told_from_transforms():
    """By hand: 100 visibilities of 4 and 20 of them, and transforms of 60 beside either."""
    whole = result("invert", work_flop=460.0, moved_bytes=5.0, expected_flop=5e9, visibilities=100,
                   gridded=100, runtime_s=Estimate([9.0], interval=(8, 11)))  # fmt: skip
    part = result("ifft", work_flop=140.0, moved_bytes=1.0, gridded=20,
                  runtime_s=Estimate([2.0], interval=(1.6, 2.4)))  # fmt: skip
    grid, rest = split("grid", whole, part)
    assert (grid.work_flop, rest.work_flop) == (400, 60)
    assert (grid.moved_bytes, rest.moved_bytes) == (5, 0)
    assert (grid.expected_flop, grid.work_ratio) == (1e9, 400 / 1e9)
    assert grid.runtime_s is not None
    known = (grid.runtime_s.low, grid.runtime_s.median, grid.runtime_s.high)
    assert known == pytest.approx((7, 8.75, 11.75))
    assert rest.runtime_s == Estimate([0.25])
    assert grid.visibilities_per_s == pytest.approx(100 / 8.75)


def test_gridding_lost_in_the_spread_is_unknown():
    """It is not zero, and not negative; transforms are then as they were measured."""
    whole = result("invert", gridded=100, runtime_s=Estimate([3.0], interval=(2, 4)))
    part = result("ifft", gridded=10, runtime_s=Estimate([2.0], interval=(1.5, 2.5)))
    grid, rest = split("grid", whole, part)
    assert (grid.runtime_s, rest.runtime_s) == (None, part.runtime_s)
    assert split("grid", part, whole)[0].runtime_s is None
    assert (grid.moved_bytes, rest.moved_bytes) == (None, 2e9)  # the same 2 GB


def test_gridding_of_what_failed_says_why():
    """It has no figures."""
    failed = result("ifft", work_flop=None, failure="no room")
    grid, rest = split("grid", result("invert", gridded=9), failed)
    assert (grid.failure, grid.work_flop, rest.work_flop) == ("no room", None, None)


@pytest.mark.parametrize(("size", "points", "scales"), [(64, 100, 20), (512, 25, 5), (1024, 10, 4)])
def test_of_large_images_few_minor_cycles_are_measured(size, points, scales):
    """Down to as many as tell what one takes."""
    assert (measured_cycles("hogbom", size), measured_cycles("msmfs", size)) == (points, scales)


def test_executions_are_those_of_the_reference_library_for_each_term():
    """Of n = 5: 8, 7 and 6; the point-spread function of two terms has three images."""
    plan = Plan(major=5, terms=2, minor=Minor(iterations=500))
    found = executions(plan, 256)
    assert (found["grid"], found["ifft"]) == (7 * 2 + 3,) * 2
    assert (found["fft"], found["degrid"]) == (7 * 2,) * 2
    assert found["msmfs"] == 6 * 500 / 20
    assert executions(plan, 512)["msmfs"] == 6 * 500 / 5
    single = executions(replace(plan, terms=1), 256)
    assert (single["grid"], single["fft"]) == (8, 7)


def test_what_is_described_can_be_composed(seen, tmp_path):
    """By hand: five stages of 6 Gflop, 17 + 17 + 150 + 14 + 14 times."""
    names = ("grid", "ifft", "msmfs", "fft", "degrid")
    path = tmp_path / "a.toml"
    results = [result(name) for name in names]
    results[0] = result("grid", runtime_s=Estimate([3.0], interval=(2.0, 5.0)))
    results[1] = result("ifft", runtime_s=Estimate([2.0, 3.0, 7.0]), moved_bytes=0.0)
    warm = [result(name, state="warm", work_flop=1.0) for name in names]
    path.write_text(described([*warm, *results], seen, machine="h200"))
    (case,) = read_pipeline(path, archive=Archive(tmp_path / "archive"), machine=None).cases
    found = case.assess()
    assert [one.name for one in case.pipeline.stages] == [
        "grid", "ifft", "deconvolve", "fft", "degrid",
    ]  # fmt: skip
    assert found.devices is not None
    # Grids of 9 planes of 132 x 132 points; 6 deconvolutions of 2 terms, in 150 executions.
    image = 64 * 64 * 8
    assert [one.output_bytes for one in case.pipeline.stages] == pytest.approx(
        [9 * 132**2 * 16, image, 12 * image / 150, 9 * 132**2 * 16, 351 * 16 * 4 * 16], rel=1e-5
    )
    total_s, total_flop = 212 * 3.0, 212 * 6e9
    assert found.devices.median == pytest.approx(415.10557e12 * total_s / total_flop)


def test_a_file_with_quotes_in_its_name_is_named(seen):
    """As TOML wants it."""
    every = [result(name) for name in ("grid", "ifft", "msmfs", "fft", "degrid")]
    assert 'machine = "a\\"b.json"' in described(every, seen, machine='a"b.json')


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"failure": "no room"}, "'ifft': no room; measure again"),
        ({"runtime_s": None}, "'ifft': its work, traffic or time is not known.*; choose a larger"),
        ({"state": "warm"}, "'ifft': it was not measured; give no names of stages"),
    ],
)
def test_what_is_not_known_is_not_described(seen, known, said):
    """The stage is named."""
    names = ("grid", "msmfs", "fft", "degrid")
    with pytest.raises(CannotImage, match=said):
        described([*map(result, names), result("ifft", **known)], seen, machine="h200")


def test_long_calls_get_the_time_that_they_need(seen, monkeypatch):
    """And are measured one by one, with where it is; no call is refused as too long."""
    asked = []

    def measured(subjects, *, limit_s, report, **_):
        asked.append((len(subjects), limit_s))
        report("timing")
        return [CannotImage("cannot", reason="a test", remedy="none") for _ in subjects]

    monkeypatch.setattr(measuring, "measure_all", measured)
    monkeypatch.setattr(measuring, "_call_s", lambda stage: 7.0)
    said = []
    found = measure_stages(
        chosen(stages(seen), ["hogbom", "msmfs"]), states=["warm"], limit_s=5, report=said.append
    )
    assert asked == [(1, 28.0), (1, 28.0)]
    assert said == ["measuring takes about 53 minutes", "timing (1 of 2)", "timing (2 of 2)"]
    assert [one.name for one in found] == ["hogbom", "msmfs"]


@pytest.mark.valgrind
def test_hogbom_is_counted_as_the_overlaps_of_its_patches(counted):
    """2 flop for each pixel subtracted from, by a loop of its own; searching is no flop."""
    (stage,) = [one for one in counted[0] if one.name == "hogbom"]
    found = counted[1]["hogbom"]
    dirty, psf, minor = stage.arguments
    residual, expected = dirty.copy(), 0
    for _ in range(10):
        i, j = np.unravel_index(np.abs(residual).argmax(), residual.shape)
        height = minor.gain * residual[i, j]
        a, b = np.indices(residual.shape)
        a, b = a - i + 32, b - j + 32
        inside = (a >= 0) & (a < 64) & (b >= 0) & (b < 64)
        residual[inside] -= height * psf[a[inside], b[inside]]
        expected += 2 * int(inside.sum())
    assert found.failure is None
    assert found.work_flop == pytest.approx(expected, rel=0.005)


@pytest.mark.valgrind
@pytest.mark.slow
def test_what_is_measured_cold_reads_its_data_once_and_writes_its_image(seen):
    """By hand: visibilities, weights and coordinates are read; the image is read and written.

    Of hogbom two images are read; what it allocates stays in the cache. Gridding has all of the
    data, and transforms have the image.
    """
    names = ["invert", "ifft", "hogbom"]
    measured = measure_stages(
        chosen(stages(seen), names), states=["cold"], repetitions=3, limit_s=2
    )
    found = {one.name: one.moved_bytes for one in measured}
    n, picture = 351 * 16, 64 * 64 * 8
    data = n * (4 * 16 + 4 * 8 + 3 * 8)
    assert set(found) == {*names, "grid"}
    assert found["invert"] == pytest.approx(data + 2 * picture, rel=0.1)
    assert found["grid"] == pytest.approx(data, rel=0.1)
    assert found["ifft"] == pytest.approx(2 * picture, rel=0.25)
    assert found["hogbom"] == pytest.approx(2 * picture, rel=0.1)


@pytest.mark.valgrind
def test_each_visibility_takes_the_same_flop_wherever_it_is(counted):
    """Few visibilities and all of them leave the same transforms, and fit what ducc0 does by hand.

    Of a support of 9, with vectors of 4 (AVX2): a plane takes 4 x 9 x 12 flop for cells, 2 x 9 x 4
    for rows, 6 x 68 + 65 for the kernel, of degree 13 and 8 of 9 values by symmetry; the rest is
    coordinates and sums, up to 120. With vectors of 8 (AVX-512) cells are 9 x 16, rows 9 x 8.
    """
    found = counted[1]
    per_plane = found["degrid"].work_flop / (351 * 16 * 4) / 9
    least = [4 * 9 * padded + 2 * 9 * lanes + 6 * 68 + 65 for lanes, padded in ((4, 12), (8, 16))]
    assert any(one < per_plane < one + 120 for one in least)
    assert 0.4 < found["fft"].work_ratio < 1
    assert 1 < found["degrid"].work_ratio < 1.7  # of 9 x 9 cells; padded to 12 or 16


@pytest.mark.valgrind
def test_transforms_are_those_of_the_rows_and_columns_that_anyone_needs(seen):
    """Against ducc0's own FFT of one row, counted: 64 rows of the image, and those of the tiles.

    A tile has 16 points, and a kernel reaches 5 beyond; phases of w come on top, of every pixel.
    """
    ducc0 = pytest.importorskip("ducc0")
    (few,) = chosen(stages(seen), ["fft"])
    row = np.ones(132) + 1j * np.arange(132)
    counted = [
        one.counted.counts.work_flop
        for one in measure_all([subject(ducc0.fft.c2c, row), subject(few.function, *few.arguments)],
                               repetitions=3, limit_s=1, counted_s=1e-9)
    ]  # fmt: skip
    uvw, scale = few.arguments[1].uvw_m, seen.observation.frequency_hz / 299792458.0
    v = np.where(uvw[:, 2] < 0, -uvw[:, 1], uvw[:, 1])[:, None] * scale * seen.geometry.cell
    tiles = len(np.unique(np.floor(v * 132 / 16)))
    gridded = few.gridded * 9131  # each takes so many, as the difference of two observations says
    per_plane = (counted[1] - gridded) / 9
    assert per_plane > counted[0] * (64 + 16 * (tiles - 1))
    assert per_plane < counted[0] * (64 + 16 * (tiles + 1) + 10) + 80 * 64**2
