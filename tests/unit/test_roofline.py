import numpy as np
import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.models.roofline import Roofline
from ridgepoint.published.machines import load

HIERARCHY = machine_of(
    ceiling("fp64", 100e9),
    ceiling("dram", 10e9, shares=(1.0, 0.5)),
    ceiling("l1", 400e9, shares=(1.0, 0.0)),
    ceiling("l2", 80e9),
)
intensities = st.floats(1e-3, 1e5)


@pytest.mark.parametrize(
    ("name", "cores", "ridge"),
    [
        ("csb", 1, 1.2903),
        ("csb", None, 4.615),
        ("xsb", 1, 1.194),
        ("xsb", None, 9.078),
        ("xw", 1, 0.597),
        ("xw", None, 3.453),
        ("e5645", None, 4.364),
    ],
)
def test_the_ridge_points_of_the_published_machines(name, cores, ridge):
    """Ofenbeck et al., Table III, one core and all; Wang et al., section 3.2.2."""
    roofline = Roofline(machine=load(name), work="fp64", cores=cores)

    assert roofline.ridge("dram") == pytest.approx(ridge, abs=6e-4)


def test_the_dc_roofline_has_its_ridge_at_6_5():
    """86.4 GBOPS over 13.2 GB/s."""
    assert Roofline(machine=load("e5645"), work="bop").ridge("dram") == pytest.approx(6.5455, 1e-4)


@pytest.mark.parametrize(("direction", "ridge"), [("read", 1.6), ("write", 8 / 3.8)])
def test_read_only_and_write_only_rooflines_turn_elsewhere(direction, ridge):
    """CSB with one core: 8 flop/cycle over 5.0 and 3.8 byte/cycle."""
    roofline = Roofline(machine=load("csb"), work="fp64", cores=1, direction=direction)

    assert roofline.ridge("dram") == pytest.approx(ridge)
    assert roofline.resource("dram") == f"dram_{direction}"


@pytest.mark.parametrize(
    ("intensity", "flop_per_cycle"), [(1 / 12, 6.2 / 12), (0.25, 1.55), (18.8125, 8.0)]
)
def test_the_kernels_of_table_1_under_the_roofline_of_csb(intensity, flop_per_cycle):
    """Daxpy, dgemv and dgemm (n = 300) on one core of 3.2 GHz."""
    roofline = Roofline(machine=load("csb"), work="fp64", cores=1)

    assert roofline.attainable(intensity) / 3.2e9 == pytest.approx(flop_per_cycle)


def test_the_roofs_are_the_peak_and_every_level_from_the_core_outwards():
    """However the ceilings are ordered in the machine's file."""
    roofs = Roofline(machine=HIERARCHY, work="fp64").roofs

    assert [(roof.resource, roof.rate, roof.is_compute) for roof in roofs] == [
        ("fp64", 100e9, True),
        ("l1", 400e9, False),
        ("l2", 80e9, False),
        ("dram", 15e9, False),
    ]


def test_a_direction_shows_only_the_levels_that_know_it():
    """The split of the L2 pattern is unknown, and the L1 pattern only reads."""
    read = Roofline(machine=HIERARCHY, work="fp64", direction="read")
    write = Roofline(machine=HIERARCHY, work="fp64", direction="write")

    assert [(level, read.bandwidth(level)) for level in read.levels] == [
        ("l1", 400e9),
        ("dram", 10e9),
    ]
    assert [(level, write.bandwidth(level)) for level in write.levels] == [("dram", 5e9)]


@pytest.mark.parametrize("direction", ["read", "write"])
def test_one_direction_is_no_faster_than_both_together(direction):
    """Where only one core's read bandwidth is known, six times that would pass the bus."""
    roofline = Roofline(machine=load("csb"), work="fp64", direction=direction)

    assert roofline.bandwidth("dram") == pytest.approx(10.4 * 3.2e9)


@given(intensities, st.sampled_from(["l1", "l2", "dram"]))
def test_the_attainable_performance_touches_a_ceiling(intensity, level):
    """It lies under both roofs, and on one of them."""
    roofline = Roofline(machine=HIERARCHY, work="fp64")
    attainable = roofline.attainable(intensity, level=level)
    roofs = [roofline.peak, roofline.bandwidth(level) * intensity]

    assert attainable == pytest.approx(min(roofs), rel=1e-12)


@given(
    st.sampled_from(["csb", "xsb", "xw"]),
    st.sampled_from([None, 1, 1.5, 6]),
    st.sampled_from([None, "read"]),
)
def test_both_roofs_meet_at_the_ridge_point(name, cores, direction):
    """There the attainable performance is the peak, and just below it is less."""
    if direction is not None:
        name = "csb"
    roofline = Roofline(machine=load(name), work="fp64", cores=cores, direction=direction)
    ridge = roofline.ridge("dram")

    assert roofline.attainable(ridge) == pytest.approx(roofline.peak, rel=1e-12)
    assert roofline.attainable(ridge / 2) == pytest.approx(roofline.peak / 2, rel=1e-12)


@given(st.lists(intensities, min_size=1, max_size=10))
def test_a_sweep_of_intensities_is_its_points_one_by_one(values):
    """Arrays give what scalars give, and performance never falls with intensity."""
    roofline = Roofline(machine=HIERARCHY, work="fp64")
    sweep = roofline.attainable(np.sort(values))

    assert sweep.tolist() == [roofline.attainable(value) for value in sorted(values)]
    assert (np.diff(sweep) >= -1e-12 * sweep[:-1]).all()


def test_what_moves_nothing_may_reach_the_peak():
    """Its intensity is infinite."""
    roofline = Roofline(machine=HIERARCHY, work="fp64")

    assert roofline.attainable(float("inf")) == roofline.peak
    assert roofline.attainable([1e-3, float("inf")])[1] == roofline.peak


@pytest.mark.parametrize("intensity", [0, -1.0, float("nan"), [1.0, 0.0]])
def test_an_impossible_intensity_is_refused(intensity):
    """An intensity is above 0; a program that does no work has no place."""
    with pytest.raises(ValueError, match="intensity must be > 0"):
        Roofline(machine=HIERARCHY, work="fp64").attainable(intensity)


def test_work_or_a_level_without_a_ceiling_is_refused():
    """No roof is drawn that was not measured or published."""
    with pytest.raises(UnknownCeiling, match="'fp32'"):
        _ = Roofline(machine=HIERARCHY, work="fp32").peak
    with pytest.raises(UnknownCeiling, match="'l3'"):
        Roofline(machine=HIERARCHY, work="fp64").bandwidth("l3")
    with pytest.raises(UnknownCeiling, match="'dram'"):
        Roofline(machine=load("e5310"), work="bop").attainable(1.0)
