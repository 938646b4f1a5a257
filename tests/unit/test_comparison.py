"""Which ceilings fell: literal samples whose intervals are read off by eye."""

from dataclasses import replace

import pytest
from core_inputs import ceiling, machine_of
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.models.comparing.machines import compare

# With six samples the 95 % interval of the median is their whole range.
TIGHT = (99.9, 100.0, 100.0, 100.0, 100.0, 100.1)
WIDE = (80.0, 90.0, 100.0, 100.0, 110.0, 120.0)


def bench(*samples, **facts):
    """Return a machine with one ceiling of these samples."""
    return machine_of(replace(ceiling("dram", 1.0), rate=Estimate(samples)), **facts)


def scaled(samples, factor):
    """Return samples times a factor."""
    return tuple(sample * factor for sample in samples)


def verdict(baseline, machine, **options):
    """Return the verdict on the only ceiling."""
    (change,) = compare(baseline, machine, **options).ceilings
    return change.verdict


@pytest.mark.parametrize(
    ("before", "now", "tolerance", "expected"),
    [
        (TIGHT, scaled(TIGHT, 0.8), 0.05, "fell"),
        (TIGHT, scaled(TIGHT, 1.25), 0.05, "rose"),
        (TIGHT, TIGHT, 0.05, "same"),
        (TIGHT, scaled(TIGHT, 0.97), 0.05, "same"),
        (TIGHT, scaled(TIGHT, 0.97), 0.02, "fell"),
        (WIDE, scaled(WIDE, 0.8), 0.05, "same"),
        (TIGHT, scaled(TIGHT[:5], 0.5), 0.05, "unknown"),
        (TIGHT[:5], scaled(TIGHT, 0.5), 0.05, "unknown"),
    ],
)
def test_verdict_needs_both_disjoint_intervals_and_a_fall_beyond_the_tolerance(
    before, now, tolerance, expected
):
    """Neither noise nor a small fall counts, and unknown is never a fall."""
    assert verdict(bench(*before), bench(*now), tolerance=tolerance) == expected


def test_ceiling_without_a_rate_is_unknown():
    """It could not be measured, which is not a fall."""
    doubt = (Caution("refused", "not run", "none"),)
    unmeasured = machine_of(replace(ceiling("dram", 1.0), rate=None, cautions=doubt))

    assert verdict(bench(*TIGHT), unmeasured) == "unknown"


def test_ceiling_of_one_side_only_is_missing_or_new():
    """The same name on other threads is another ceiling."""
    before, now = machine_of(ceiling("fp64", 1.0)), machine_of(ceiling("fp64", 1.0, threads=2))

    assert [c.verdict for c in compare(before, now).ceilings] == ["missing", "new"]


def test_other_machine_is_compared_with_a_caution():
    """Cores are named with both numbers; the verdict stands."""
    compared = compare(bench(*TIGHT, cores=4), bench(*scaled(TIGHT, 0.5), cores=2))

    assert compared.count("fell") == 1
    assert [c.code for c in compared.cautions] == ["other-cores"]


def test_comparison_without_anything_comparable_says_so():
    """A published machine has no samples, and no fall must not read as a pass."""
    compared = compare(bench(1.0), bench(*TIGHT))

    assert [c.code for c in compared.cautions] == ["nothing-compared"]


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_impossible_tolerance_is_refused(tolerance):
    """By its name."""
    with pytest.raises(ValueError, match="tolerance"):
        compare(bench(*TIGHT), bench(*TIGHT), tolerance=tolerance)


SAMPLES = st.lists(st.floats(1.0, 1e12), min_size=1, max_size=12)
TOLERANCES = st.floats(0.0, 0.99)


@given(SAMPLES, TOLERANCES)
def test_machine_beside_itself_never_changed(samples, tolerance):
    """Whatever its noise."""
    assert verdict(bench(*samples), bench(*samples), tolerance=tolerance) in {"same", "unknown"}


@given(SAMPLES, SAMPLES, TOLERANCES)
def test_swapping_sides_swaps_fell_and_rose(one, other, tolerance):
    """The rule prefers no side."""
    swapped = {"fell": "rose", "rose": "fell"}
    there = verdict(bench(*one), bench(*other), tolerance=tolerance)
    back = verdict(bench(*other), bench(*one), tolerance=tolerance)

    assert back == swapped.get(there, there)
