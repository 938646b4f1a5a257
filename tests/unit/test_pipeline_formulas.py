"""Flop and bytes of imaging stages against the audited table, and brute force."""

import math

import pytest

from ridgepoint.demands.formulas import (
    MajorCycles,
    fft,
    grid,
    hogbom,
    idg,
    major_cycles,
    msmfs,
)


@pytest.mark.parametrize(
    ("support", "reuse", "intensity"),
    [
        (5, "all", 10), (7, "all", 19.6), (8, "all", 25.6), (9, "all", 32.4), (16, "all", 102.4),
        (64, "none", 1 / 3), (64, "grid", 1),
    ],
)  # fmt: skip
def test_gridding_with_a_complex_kernel(support, reuse, intensity):
    """0.4 S^2 with all cached; about 1/3 with nothing, 1 with the grid cached."""
    work = grid(visibilities=1e6, support=support, reuse=reuse)

    assert work.flop == 8e6 * support**2
    assert work.intensity == pytest.approx(intensity, rel=2e-3)


def test_gridding_with_a_real_kernel():
    """By hand, of 40 in 8 planes each: 64 cells of 4 flop, and 2 rows of 8 values of 10 FMA.

    The grid is read and written, and there is no traffic for the kernel.
    """
    work = grid(visibilities=10, polarisations=4, support=8, kernel="real", planes=8, degree=10)

    assert work.flop == 40 * 8 * (64 * 4 + 2 * 8 * 10 * 2)
    assert work.moved_bytes == 40 * (16 * 64 * 8 + 20)
    assert grid(visibilities=1, support=8, kernel="real", reuse="all").moved_bytes == 20


@pytest.mark.parametrize(
    ("size", "complex_bytes", "intensity"), [(4096, 8, 3.75), (8192, 8, 4.0625), (4096, 16, 1.875)]
)
def test_a_transform_of_two_passes(size, complex_bytes, intensity):
    """10 N^2 log2 N over 32 N^2 bytes; half the bytes per flop in single precision."""
    work = fft(size=size, complex_bytes=complex_bytes)

    assert work.flop == 10 * size**2 * math.log2(size)
    assert work.intensity == intensity
    assert fft(size=size, real=1).flop == work.flop / 2


def test_the_published_load_of_the_transform():
    """SKA1-Low DPrepA: 2.5 n log2 n for n pixels, every 600 s, is .0113404 Pflop/s."""
    cell = fft(size=18357.59, real=1).flop
    # 64.7943 w-stacks and snapshots of 600 s; 11 major cycles, 2 polarisations, 200 parts.
    assert cell * 64.7943 / 600 * 11 * 2 * 200 * 1e-15 == pytest.approx(0.0113404, rel=1e-5)


def test_hogbom_s_clean():
    """0.25 flop/byte where the patch is the image; the update alone a sixth."""
    work = hogbom(size=512, psf=512, iterations=3)

    assert work.flop == 3 * 4 * 512**2
    assert work.intensity == 0.25
    assert hogbom(size=1e-9, psf=512).intensity == pytest.approx(1 / 6)


def test_multi_scale_clean_is_the_audited_count():
    """4 scales, 3 terms, 2048 and 512 pixels."""
    work = msmfs(size=2048, psf=512, scales=4, terms=3)

    assert work.flop == 413401088
    assert work.moved_bytes is None
    assert work.demand("fp32") is None


def test_image_domain_gridding_counts_fused_operations():
    """17 FMA are 34 flop; no bytes are known."""
    assert idg(visibilities=2, subgrid=24).flop == 34 * 2 * 576
    assert idg(visibilities=2, subgrid=24).intensity is None


@pytest.mark.parametrize(
    ("cycles", "counts"), [(5, (8, 7, 6)), (2, (5, 4, 3)), (1, (3, 2, 1)), (0, (3, 2, 1))]
)
def test_the_major_cycles_of_the_reference_library(cycles, counts):
    """Invert, predict, deconvolve; no number of cycles gives two deconvolutions."""
    assert major_cycles(cycles) == MajorCycles(
        invert=counts[0], predict=counts[1], deconvolve=counts[2]
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: grid(visibilities=1, support=4, kernel="odd"), "kernel must be"),
        (lambda: grid(visibilities=1, support=4, reuse="some"), "reuse must be"),
        (lambda: grid(visibilities=1, support=4, degree=4), "real kernel"),
        (lambda: fft(size=8, complex_bytes=4), "complex_bytes must be"),
        (lambda: fft(size=8, real=2), "real must be"),
        (lambda: fft(size=1), "size must be"),
    ],
)
def test_what_no_formula_knows_is_refused(make, said):
    """Each with the reason."""
    with pytest.raises(ValueError, match=said):
        make()
