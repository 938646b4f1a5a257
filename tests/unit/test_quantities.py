"""Quantities with units, as files have them: literal texts."""

import pytest

from ridgepoint.core.quantities import (
    ByteAmount,
    ByteRate,
    Bytes,
    Duration,
    Intensity,
    Seconds,
    SecondsOrZero,
    Work,
    WorkAmount,
    WorkRate,
)
from ridgepoint.kept.pipeline_file.keys import Share, Time


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("4 s", Seconds, 4), ("20ms", Seconds, 0.02), ("6 h", Seconds, 21600),
        ("2 min", Seconds, 120), ("1 d", Seconds, 86400), ("0 s", SecondsOrZero, 0),
        ("6.4 Tflop", Work, 6.4e12), ("6.4 TFLOP", Work, 6.4e12),
        ("3 GBOP", Work, 3e9), ("415 Tflop/s", WorkRate, 415e12), ("0 B", Bytes, 0),
        ("320 GB", Bytes, 320e9), ("5 Mbyte", Bytes, 5e6), ("250 GB/s", ByteRate, 250e9),
        ("2G", WorkAmount, 2e9), (2e9, WorkAmount, 2e9), ("2 GBOP", WorkAmount, 2e9),
        (0, ByteAmount, 0), ("12 GiB", ByteAmount, 12 * 2**30), (5, Duration, 5),
        ("5min", Duration, 300), ("100Gbit/s", ByteRate, 12.5e9),
        ("1.25 flop/B", Intensity, 1.25), ("20 FLOP/byte", Intensity, 20),
    ],
)  # fmt: skip
def test_quantities_are_in_base_units(text, kind, value):
    """SI prefixes are powers of a thousand; minutes, hours and days have none."""
    assert kind.of(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ("0 s", Seconds, "must be > 0"), (4, Seconds, "has no unit"),
        (True, Seconds, "not text"), ("4", Seconds, "has no unit"),
        ("4 m", Seconds, "no unit of time"), ("4 mmin", Seconds, "no unit of time"),
        ("four s", Seconds, "no unit of time"), ("4 GB", Seconds, "is a quantity of bytes"),
        ("4 Tflop", WorkRate, "a total, where a rate is needed"),
        ("4 GB", ByteRate, "a total, where a rate is needed"),
        ("4 Tflop/s", Work, "a rate, where a total is needed"),
        ("4 TFLOPS", WorkRate, "write Tflop for a count, Tflop/s for a rate"),
        ("-4 s", Seconds, "not finite and >= 0"),
        ("nan s", Seconds, "not finite"), ("inf GB", Bytes, "not finite"),
        ("1e999 s", Seconds, "not finite"), ("4 Giflop", Work, "no unit of work"),
        ("4 TFLOPS", Bytes, "a count or a rate"), ("4 Gb/s", ByteRate, "bits or bytes"),
        ("4 B/cycle", ByteRate, "is per cycle, and no frequency is known"),
        ("4", WorkRate, "has no unit of work rate"), ("4 B", WorkAmount, "quantity of bytes"),
        ("nan", WorkAmount, "not finite"), (-1, WorkAmount, "not finite and >= 0"),
        (10**400, WorkAmount, "not finite"), (0, Duration, "must be > 0"),
        (None, Seconds, "not text"), (["4 s"], Seconds, "not text"), ("", Seconds, "no unit"),
    ],
)  # fmt: skip
def test_what_is_no_quantity_says_what_it_is(value, kind, said):
    """Every refusal shows how to write it."""
    with pytest.raises(ValueError, match=said):
        kind.of(value)


def test_times_of_pipelines_have_intervals_in_two_notations():
    """As text, and as a table of three; an efficiency is a plain number."""
    assert Time.of("4 s ± 25%").interval == (3.0, 5.0)
    assert Time.of({"low": "3 s", "median": "4 s", "high": "5 s"}) == Time.of("4±1 s")
    with pytest.raises(ValueError, match="is not a number"):
        Share.of("0.4 ± 5%")
