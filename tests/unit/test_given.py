"""Figures that users give: their notation, points and machines made of them."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.text import Text

import ridgepoint
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.fields import fields_of
from ridgepoint.core.given import KEYS, GivenPoint
from ridgepoint.core.quantities import ByteAmount, Runtime, WorkAmount
from ridgepoint.core.uncertain import read_uncertain
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.lookup import machine_of, named_machine
from ridgepoint.models.given_machine import given_machine, is_per_cycle, looks_given
from ridgepoint.models.given_points import place_given
from ridgepoint.published.machines import load

POSITIVE = st.floats(1e-3, 1e12)
SHARE = st.floats(0.001, 0.5)


def point(text):
    """Return the point of a line."""
    return GivenPoint.of(*fields_of(text, KEYS))


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("daxpy W=2e9, Q=16GB", "daxpy", {"W": "2e9", "Q": "16GB"}),
        ("my code  W = 2 Gflop Q= 16 GB ,", "my code", {"W": "2 Gflop", "Q": "16 GB"}),
        ("gemm n=1000, W=1", "gemm n=1000", {"W": "1"}),
        ("alone", "alone", {}), ("", "", {}), ("W=1", "", {"W": "1"}),
        ("a, W=1±5%, T=1..2 s", "a", {"W": "1±5%", "T": "1..2 s"}),
    ],
)  # fmt: skip
def test_fields_follow_a_name(text, name, values):
    """Commas or blanks separate them, and a name may contain an equals sign."""
    assert fields_of(text, KEYS) == (name, values)


@pytest.mark.parametrize(
    ("text", "middle", "interval", "unit"),
    [
        ("2", 2, None, ""), ("2 s", 2, None, "s"), ("2s±25%", 2, (1.5, 2.5), "s"),
        ("2s +- 0.5s", 2, (1.5, 2.5), "s"), ("2 ± 0.5 s", 2, (1.5, 2.5), "s"),
        ("2+/-0.5", 2, (1.5, 2.5), ""), ("1s..3s", 2, (1, 3), "s"), ("1..3 s", 2, (1, 3), "s"),
        ("1 .. 3", 2, (1, 3), ""), ("500ms..1.5s", 1, (0.5, 1.5), "s"),
        ("2e0±5e-1 Mcycle", 2e6, (1.5e6, 2.5e6), "cycle"), ("1.5e0..2.5e0s", 2, (1.5, 2.5), "s"),
        ("2s±0%", 2, (2, 2), "s"), ("3..3", 3, (3, 3), ""),
    ],
)  # fmt: skip
def test_an_uncertainty_is_a_spread_or_a_range(text, middle, interval, unit):
    """A unit at the end is that of both numbers."""
    estimate, base = read_uncertain(text, Runtime)

    assert estimate.median == pytest.approx(middle)
    assert estimate.interval == (None if interval is None else pytest.approx(interval))
    assert base == unit


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2s±", "not VALUE±SPREAD"), ("±2s", "not VALUE±SPREAD"), ("1±1±1", "not VALUE±SPREAD"),
        ("2s±x%", "no percentage"), ("2s±-5%", "spread of .* is not >= 0"), ("2s±nan%", "not >= 0"),
        ("2s±100%", "leaves the numbers > 0"), ("2s±3s", "leaves the numbers > 0"),
        ("2s±1B", "two units"), ("2s±0.1", "two units"), ("1s..2", "two units"),
        ("2s..1s", "ends before it begins"), ("0..1 s", "must be > 0"),
        ("1..2..3", "not a quantity"),
        ("2s±foo", "is not a quantity"), ("nan±1", "not finite"), ("inf..inf", "not finite"),
        ("1 GB±1%", "not of time"), ("1...2", "not a quantity"),
    ],
)  # fmt: skip
def test_what_is_no_uncertainty_is_refused(text, said):
    """With what to write instead."""
    with pytest.raises(ValueError, match=said) as caught:
        read_uncertain(text, Runtime)

    assert "; " in str(caught.value)


@given(POSITIVE, SHARE)
def test_spreads_in_percent_and_in_units_agree(value, share):
    """Five per cent of 2 s are 0.1 s."""
    percent, _ = read_uncertain(f"{value!r}±{share * 100!r}%", WorkAmount)
    plain, _ = read_uncertain(f"{value!r}+-{share * value!r}", WorkAmount)

    assert percent.interval == pytest.approx(plain.interval)


@given(st.text(max_size=15))
def test_any_text_is_an_uncertain_quantity_or_refused(text):
    """Nothing but a ValueError is raised, and an interval holds its value."""
    try:
        estimate, _ = read_uncertain(text, ByteAmount)
    except ValueError:
        return

    low, high = estimate.interval or (estimate.median, estimate.median)
    assert 0 <= low <= estimate.median <= high < math.inf


@pytest.mark.parametrize(
    ("text", "resource", "work", "moved", "intensity"),
    [
        ("a W=2G Q=16GB", "fp64", 2e9, 16e9, 0.125),
        ("a W=2G Qr=1GB Qw=3GB precision=fp32", "fp32", 2e9, 4e9, 0.5),
        ("a W=2G I=0.5", "fp64", 2e9, None, 0.5), ("a I=0.5 Q=4G", "fp64", 2e9, 4e9, 0.5),
        ("a BOP=3G Q=1GB", "bop", 3e9, 1e9, 3), ("a I=2 BOP/B", "bop", None, None, 2),
        ("a P=1 GBOP/s I=2", "bop", None, None, 2), ("a W=1 Q=0", "fp64", 1, 0, None),
        ("a P=2 Gflop/s T=3s Q=12GB", "fp64", 6e9, 12e9, 0.5),
        ("a P=0.5 flop/cycle, I=1", "fp64", None, None, 1),
    ],
)  # fmt: skip
def test_two_of_work_traffic_and_intensity_give_the_third(text, resource, work, moved, intensity):
    """Work in BOP has a resource of its own."""
    made = point(text)

    assert made.resource == resource
    assert (made.work_done and made.work_done.median) == work
    assert (made.bytes_moved and made.bytes_moved.median) == moved
    assert (made.intensity_at_dram and made.intensity_at_dram.median) == intensity


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("W=1 Q=1", "no name"), ("a", "W is missing"), ("a W=1", "Q is missing"),
        ("a Q=1", "W is missing"), ("a W=1 Q=1 x=1", "no key 'x'; the keys are W, "),
        ("a W=1 Q=1 Netwrok=1", "did you mean network"), ("a W=1 W=2", "given twice"),
        ("a W= Q=1", "has no value"), ("a W=1 BOP=1 Q=1", "both state the work"),
        ("a W=1 Q=1 Qr=1", "both state the traffic"), ("a W=1 Qr=1", "Qw is missing"),
        ("a W=1 Q=1 I=1", "I follows from the other"), ("a W=0 Q=1", "without work"),
        ("a W=1 Q=1 T=1 P=1flop/s", "P follows from W and T"), ("a I=1 T=1", "T tells no perf"),
        ("a W=1 Q=0..1", "reaches 0"), ("a W=1 Q=1 P=1 BOP/s", "work is in BOP and in flop"),
        ("a W=1 Q=1 P=1", "has no unit of work rate"), ("a W=1GFLOPS Q=1", "count or a rate"),
        ("a W=1GBOP Q=1", "is in BOP, not in flop"), ("a W=1 Q=1 T=-1", "not finite and >= 0"),
        ("a W=1 Q=1 cores=0", "not a number > 0"), ("a W=1 Q=1 cores=nan", "not a number > 0"),
        ("a W=1 Q=1 precision=fp12", "use fp64"), ("a BOP=1 Q=1 precision=fp64", "no precision"),
        ("a W=1e308 Q=1", "W of 1e.308 is beyond any program; check its unit"),
        ("a W=1 Q=1 T=1e-300", "T of 1e-300 is beyond"), ("a W=1 Q=1±1e99", "leaves the numbers"),
        ("a W=1 Q=1 T=1..1e99", "T of 5e.98 is beyond"),
        ("a W=1 Q=1 T=nan", "not finite"), ("a W=1 Q=1 network=1 flop", "not of bytes"),
    ],
)  # fmt: skip
def test_a_point_that_is_none_is_refused_with_what_to_write(text, said):
    """Every refusal ends with what to do."""
    with pytest.raises(ValueError, match=said) as caught:
        point(text)

    assert "; " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "limit", "attainable", "efficiency"),
    [
        # csb, one core: 25.6 Gflop/s, copy 19.84 GB/s, so its ridge is at 1.29 flop/byte.
        ("a W=2G Q=16G T=1s cores=1", "dram", 19.84e9 / 8, 2e9 / (19.84e9 / 8)),
        ("a W=32G Q=16G T=2s cores=1", "compute", 25.6e9, 16 / 25.6),
        ("a W=2G Q=16G cores=1", "dram", 19.84e9 / 8, None),
        ("a P=2 Gflop/s I=0.125 cores=1", "dram", 19.84e9 / 8, 2e9 / (19.84e9 / 8)),
        ("a P=2 Gflop/s W=5 I=0.125 cores=1", "dram", 19.84e9 / 8, 2e9 / (19.84e9 / 8)),
        ("a W=2G Q=16G T=3.2Gcycle cores=1", "dram", 19.84e9 / 8, 2e9 / (19.84e9 / 8)),
        ("a W=2G Qr=16G Qw=0 T=1s cores=1", "dram_read", 2e9, 1.0),
        ("a W=2G Q=0 T=1s cores=1", "compute", 25.6e9, 2 / 25.6),
        # All cores: 153.6 Gflop/s, 33.28 GB/s.
        ("a W=2G Q=16G T=1s", "dram", 33.28e9 / 8, 2e9 / (33.28e9 / 8)),
    ],
)  # fmt: skip
def test_a_point_is_bounded_by_a_published_machine(text, limit, attainable, efficiency):
    """By hand, from Table III of the roofline paper: min(pi, beta I)."""
    placed = place_given(point(text), load("csb"))

    assert placed.bindings == (limit,)
    assert placed.attainable.median == pytest.approx(attainable)
    if efficiency is None:
        assert placed.efficiency is None
    else:
        assert placed.efficiency.median == pytest.approx(efficiency)


@given(POSITIVE, POSITIVE, POSITIVE, SHARE, SHARE, SHARE, st.floats(0, 1), st.floats(0, 1))
def test_intervals_hold_every_point_within_those_of_the_figures(w, q, t, dw, dq, dt, up, side):
    """A program anywhere within the given intervals is within those of the placed point."""
    machine = given_machine("pi=1e6 flop/s, beta=1e6 B/s")
    wide = place_given(
        point(f"a W={w!r}±{dw * 100!r}%, Q={q!r}±{dq * 100!r}%, T={t!r}±{dt * 100!r}%"), machine
    )
    factors = [1 + share * (2 * place - 1) for share, place in ((dw, up), (dq, side), (dt, up))]
    exact = place_given(
        point(f"a W={w * factors[0]!r}, Q={q * factors[1]!r}, T={t * factors[2]!r}"), machine
    )

    for name in ("intensity", "performance", "attainable", "efficiency"):
        outer, inner = getattr(wide, name), getattr(exact, name).median
        low, high = outer.interval or (outer.median, outer.median)
        assert low * (1 - 1e-9) <= inner <= high * (1 + 1e-9)


def test_the_first_figure_of_the_roofline_paper_per_cycle():
    """Pi = 2 flop/cycle and beta = 1 B/cycle meet at 2 flop/byte; W = 1, Q = 1 is at 1."""
    machine = given_machine("pi=2 flop/cycle, beta=1 B/cycle")
    placed = place_given(point("a W=1e6, Q=1e6, T=2 Mcycle"), machine)

    assert is_per_cycle(machine)
    assert float(machine.rate("fp64") / machine.rate("dram")) == 2
    assert placed.attainable.median == 1
    assert placed.performance.median == 0.5
    assert placed.efficiency.median == 0.5


@pytest.mark.parametrize(
    ("text", "machine", "said"),
    [
        ("a W=1 Q=1 T=1s", "pi=2 flop/cycle beta=1 B/cycle", "time is in seconds.*T in cycles"),
        ("a W=1 Q=1 P=1flop/s", "pi=2 flop/cycle beta=1 B/cycle", "time is in seconds"),
        ("a W=1 Q=1 T=1cycle", "pi=2 flop/s beta=1 B/s", "frequency of the machine is not known"),
        ("a W=1 Q=1 cores=2", "pi=2 flop/s beta=1 B/s", "2 cores busy, and the machine has 1"),
        ("a I=1 BOP/B", "pi=2 flop/s network=1 B/s", "no ceiling for any"),
    ],
)
def test_a_point_that_no_machine_places_says_why(text, machine, said):
    """Cycles and seconds are not mixed without a clock."""
    with pytest.raises(RidgepointError, match=said):
        place_given(point(text), given_machine(machine))


def test_a_point_above_its_roof_is_above_it_with_its_whole_interval():
    """One that may be below is not called impossible."""
    machine = given_machine("pi=1 Gflop/s, beta=1 GB/s")

    assert place_given(point("a W=2G Q=1M T=1s"), machine).is_above_roof
    assert not place_given(point("a W=2G Q=1M T=1.5 ± 1 s"), machine).is_above_roof
    assert not place_given(point("a W=2G Q=1M"), machine).is_above_roof


@given(POSITIVE, POSITIVE)
def test_a_given_machine_is_bounded_as_a_textbook_one(pi, beta):
    """Attainable is min(pi, beta I) at intensity 3."""
    assume(math.isfinite(pi * beta))
    machine = given_machine(f"pi={pi!r}flop/s, beta={beta!r} B/s")

    attainable = place_given(point("a I=3"), machine).attainable.median
    assert attainable == pytest.approx(min(pi, 3 * beta))


def test_given_rates_per_cycle_become_rates_by_the_frequency():
    """8 flop/cycle at 3.2 GHz are 25.6 Gflop/s; a core has its share, and memory serves one."""
    machine = given_machine(
        "name=my box, pi=8 flop/cycle, beta=10 GB/s, network=1Gbit/s, bop=1 GBOP/s, read=7 GB/s "
        "write=1 GiB/s frequency=3.2 GHz cores=4"
    )

    assert machine.name == "my box"
    assert float(machine.rate("fp64")) == 25.6e9
    assert float(machine.rate("fp64", cores=1)) == 6.4e9
    assert float(machine.rate("dram", cores=1)) == 10e9
    assert float(machine.rate("network")) == 0.125e9
    assert float(machine.rate("dram_write")) == 2.0**30
    assert not is_per_cycle(machine)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pi=", "no value"), ("cores=2", "no rate"), ("name=a", "no rate"),
        ("pi=1TFLOPS", "pi: .* count or a rate"), ("pi=1GB/s", "not of work rate"),
        ("pi=1Gflop", "a total, where a rate is needed"), ("beta=1 flop/s", "not of byte rate"),
        ("pi=2 flop/cycle beta=1GB/s", "give the frequency"), ("pi=0 flop/s", "must be > 0"),
        ("pi=1flop/s fp64=1flop/s", "two rates of fp64"), ("pi=1flop/s pi=1flop/s", "twice"),
        ("bop=1flop/s", "write it in BOP/s"), ("pi=1flop/s gamma=1", "no key 'gamma'"),
        ("pi=1flop/s cores=0", "whole number"), ("pi=1flop/s cores=1.5", "whole number"),
        ("pi=1flop/s cores=²", "whole number"), ("pi=1flop/s frequency=3", "no unit of freq"),
        ("pi=1e99 flop/s", "is beyond any machine"),
        ("x=1", "is not KEY=VALUE"), ("box pi=1flop/s", "is not KEY=VALUE"), ("pi=nan", "unit"),
    ],
)  # fmt: skip
def test_a_machine_that_is_none_is_refused_with_what_to_write(text, said):
    """Also by the commands."""
    with pytest.raises(ValueError, match=said) as caught:
        given_machine(text)

    assert "; " in str(caught.value)
    if looks_given(text):
        with pytest.raises(RidgepointError, match="cannot read the machine"):
            machine_of(text)


def test_a_machine_per_cycle_is_for_pictures_alone(tmp_path):
    """Times need a frequency."""
    text = "pi=2 flop/cycle, beta=1 B/cycle"
    with pytest.raises(RidgepointError, match=r"per cycle, .*frequency=3\.2GHz"):
        machine_of(text)
    with Archive(tmp_path / "archive") as archive:
        machine = named_machine(archive, text, may_be_per_cycle=True)

    assert is_per_cycle(machine)


def test_a_file_whose_name_has_an_equals_sign_is_still_a_file(tmp_path, monkeypatch):
    """A file goes before figures."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=1.json").write_text("{}")
    with pytest.raises(RidgepointError, match=r"a=1\.json"):
        machine_of("a=1.json")


E5645 = (
    "cpus=1, cores=6, frequency=2.4GHz, bop_per_core=6 BOP/cycle, pi_per_core=4 flop/cycle, "
    "beta=13.2GB/s, ports=0.5, ilp=2/4, simd=2"
)


def test_a_design_has_the_peaks_and_ceilings_of_the_paper():
    """86.4, 21.6 and 43.2 GBOPS, 57.6 GFLOPS (section 4.3, 5.2.2 and Table 9 of the BOPS paper)."""
    machine, published = given_machine(E5645), load("e5645")

    assert machine.rate("bop") == pytest.approx(86.4e9)
    assert machine.rate("bop", patterns=("ILP",)) == pytest.approx(21.6e9)
    assert machine.rate("bop", patterns=("SIMD",)) == pytest.approx(43.2e9)
    assert machine.rate("fp64") == pytest.approx(57.6e9)
    for cores in (1, 6):
        for resource in ("bop", "fp64", "dram"):
            theirs = published.rate(resource, cores=cores)
            assert machine.rate(resource, cores=cores) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("text", "bop", "flop"),
    [
        ("cores=4, bop_per_core=2 BOP/cycle, pi_per_core=0.75 flop/cycle", 12.8, 4.8),
        ("cpus=2, cores=2, bop_per_core=6 BOP/cycle, pi_per_core=4 flop/cycle", 38.4, 25.6),
    ],
    ids=["D510", "E5310"],
)
def test_peaks_of_the_papers_other_machines(text, bop, flop):
    """Table 9, at 1.6 GHz; the cores of two processors count like those of one."""
    machine = given_machine(f"{text}, frequency=1.6GHz")

    assert machine.rate("bop") / 1e9 == pytest.approx(bop)
    assert machine.rate("fp64") / 1e9 == pytest.approx(flop)


def test_shares_that_are_not_given_are_the_papers():
    """Half of the ports, two of four instructions per cycle: a quarter of the peak."""
    machine = given_machine("bop=8 BOP/cycle, simd=4")

    assert machine.rate("bop", patterns=("ILP",)) == pytest.approx(2)
    assert machine.rate("bop", patterns=("SIMD",)) == pytest.approx(8)
    assert given_machine("bop=8 BOP/cycle, ilp=1/4").rate("bop", patterns=("ILP",)) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pi=3Gflop/s, simd=2", "lower the peak of basic operations"),
        ("bop=3GBOP/s, simd=0", "number of lanes"),
        ("bop=3GBOP/s, simd=nan", "number of lanes"),
        ("bop=3GBOP/s, ilp=3/2", "at most 1"),
        ("bop=3GBOP/s, ports=1/0", "at most 1"),
        ("bop=3GBOP/s, ports=nan", "at most 1"),
        ("bop=3GBOP/s, bop_per_core=1GBOP/s", "two rates of bop"),
        ("bop_per_core=1GB/s", "work rate"),
        ("cpus=0, bop=3GBOP/s", "cpus"),
        ("cores=1.5, bop=3GBOP/s", "cores"),
    ],
)
def test_a_design_that_cannot_be_is_refused(text, said):
    """What is wrong, and what to write."""
    with pytest.raises(ValueError, match=said):
        given_machine(text)


def test_a_placed_point_presents_itself():
    """In one line, as a table, in a notebook and as a picture; also on another machine."""
    placed = place_given(point("daxpy W=2G Q=16G T=1s±10% cores=1"), load("csb"))

    assert placed.headline == (
        "of 'daxpy', given: limited by DRAM, attainable 2.48 Gflop/s, reached 2 Gflop/s, "
        "efficiency 80.6%"
    )
    assert "1.82 to 2.22 Gflop/s" in placed.summary()
    assert "<img" in placed._repr_html_()
    drawn = ridgepoint.plot(placed, machine=load("xsb")).findobj(Text)
    assert any("daxpy (given): 2 Gflop/s" in text.get_text() for text in drawn)


def test_figures_may_be_numbers():
    """In base units, as a program has them."""
    numbers = GivenPoint.of("a", {"W": 2e9, "Q": 16_000_000_000, "T": 1})

    assert numbers == point("a W=2G Q=16GB T=1s")
