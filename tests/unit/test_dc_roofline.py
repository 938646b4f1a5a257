"""The DC-Roofline against the paper's own numbers, and where its arithmetic does not hold."""

import numpy as np
import pytest

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.models.dc_roofline import ceiling_bop_per_s, efficiency, intensity, peak_bop_per_s
from ridgepoint.models.roofline import DCRoofline
from ridgepoint.published.machines import load

E5645 = DCRoofline(machine=load("e5645"))
FLOP = DCRoofline(machine=load("e5645"), work="fp64")


@pytest.mark.parametrize(
    ("cores", "frequency_hz", "bop_per_cycle", "peak"),
    [(6, 2.4e9, 6, 86.4e9), (4, 1.6e9, 6, 38.4e9), (4, 1.6e9, 2, 12.8e9), (2, 1.6e9, 4, 12.8e9)],
)
def test_peaks_are_those_of_table_9(cores, frequency_hz, bop_per_cycle, peak):
    """E5645, E5310, and D510 in both readings: 4 cores (Table 8) or the 2 that the part has."""
    found = peak_bop_per_s(
        cpus=1, cores=cores, frequency_hz=frequency_hz, bop_per_cycle=bop_per_cycle
    )

    assert found == pytest.approx(peak, rel=1e-12)


def test_sort_of_table_7_reaches_15_per_cent_of_the_peak():
    """529e9 BOPs in 40 s are 13.225e9 BOP/s of 86.4e9."""
    assert efficiency(529e9 / 40, peak=E5645.peak) == pytest.approx(0.15307, abs=5e-6)


def test_intensity_is_bops_over_bytes():
    """142e9 BOPs of Grep over the 15 GB of its text alone."""
    assert intensity(142e9, dram_bytes=15e9) == pytest.approx(9.4667, abs=5e-5)


def test_ceilings_of_equation_8_are_those_of_the_paper():
    """Half of the ports, IPC 2 of 4: 21.6 GBOP/s; SIMD doubles it."""
    ilp, simd = ceiling_bop_per_s(
        86.4e9, port_efficiency=0.5, ilp_efficiency=2 / 4, simd_scale=[1, 2]
    )

    assert (ilp, simd) == pytest.approx((21.6e9, 43.2e9), rel=1e-12)


@pytest.mark.parametrize(
    ("workload_intensity", "attainable", "bottleneck"),
    [
        (11.7, 86.4e9, "calculation"),
        (1.2, 15.84e9, "memory access"),
        (3.2, 42.24e9, "memory access"),
        (51, 86.4e9, "calculation"),
        (25, 86.4e9, "calculation"),
        (9.57, 86.4e9, "calculation"),
    ],
)
def test_bounds_and_bottlenecks_of_table_12(workload_intensity, attainable, bottleneck):
    """Sort, Grep, WordCount, Bayes, K-means, RankServ: 13.2e9 x OI by hand, or the peak."""
    assert E5645.attainable(workload_intensity) == pytest.approx(attainable, rel=1e-12)
    assert E5645.bottleneck(workload_intensity) == bottleneck


def test_bounds_of_table_2_are_all_of_memory():
    """In flop all six are bound by 13.2e9 x OI, far below the ridge at 57.6 / 13.2."""
    intensities = [0.01, 0.002, 0.01, 0.2, 0.5, 0.6]

    assert FLOP.attainable(intensities) == pytest.approx(
        [0.132e9, 0.0264e9, 0.132e9, 2.64e9, 6.6e9, 7.92e9], rel=1e-12
    )
    assert list(FLOP.bottleneck(intensities)) == ["memory access"] * 6
    assert FLOP.ridge == pytest.approx(4.3636, abs=5e-5)


def test_ridge_points_of_the_peak_with_and_without_prefetching():
    """86.4 / 13.2 and 86.4 / 13.8 BOP/byte."""
    prefetching = DCRoofline(machine=load("e5645-prefetch"))

    assert E5645.ridge == pytest.approx(6.5455, abs=5e-5)
    assert prefetching.ridge == pytest.approx(6.2609, abs=5e-5)


def test_under_the_ilp_ceiling_word_count_is_bound_by_calculation():
    """Of untuned code the paper's label flips: the ridge is at 21.6 / 13.2, below 3.2."""
    untuned = DCRoofline(machine=load("e5645"), ceiling="ILP")

    assert untuned.ridge == pytest.approx(1.6364, abs=5e-5)
    assert untuned.bottleneck(3.2) == "calculation"
    assert untuned.bottleneck(1.2) == "memory access"


def test_labels_of_table_15_need_a_slow_memory_of_the_d510():
    """The paper gives no bandwidth: for its labels it must be below 12.8 / OI, 1.97 GB/s of Sort.

    On the E5310, Sort's label asks for more than 38.4 / 10.8, the others' for less.
    """
    d510, e5310 = (DCRoofline(machine=load(name)) for name in ("d510", "e5310"))
    of_sort, of_grep, of_words = d510.balanced_bytes_per_s([6.5, 3, 5])

    assert (of_sort, of_grep, of_words) == pytest.approx((1.969e9, 4.267e9, 2.56e9), rel=5e-4)
    assert e5310.balanced_bytes_per_s([10.8, 0.7, 3.5]) == pytest.approx(
        [3.556e9, 54.86e9, 10.97e9], rel=5e-4
    )
    with pytest.raises(UnknownCeiling, match="dram"):
        d510.attainable(6.5)


def test_many_designs_are_one_call():
    """Amounts may be arrays."""
    peaks = peak_bop_per_s(cpus=1, cores=np.arange(1, 4), frequency_hz=1e9, bop_per_cycle=2)

    assert list(peaks) == [2e9, 4e9, 6e9]


@pytest.mark.parametrize("share", [0, 1.01, float("nan")])
def test_efficiencies_of_equation_8_are_shares(share):
    """More than all ports cannot work."""
    with pytest.raises(ValueError, match="port_efficiency must be"):
        ceiling_bop_per_s(1e9, port_efficiency=share, ilp_efficiency=0.5)


def test_a_scale_of_simd_below_one_is_refused():
    """A vector has one lane at least."""
    with pytest.raises(ValueError, match="simd_scale must be >= 1"):
        ceiling_bop_per_s(1e9, port_efficiency=1, ilp_efficiency=1, simd_scale=0.5)


def test_an_unknown_ceiling_lists_the_known():
    """A slip costs one look."""
    with pytest.raises(UnknownCeiling, match="known: peak, ILP, SIMD"):
        DCRoofline(machine=load("e5645"), ceiling="IPC")
