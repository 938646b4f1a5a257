import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.units import format_si, format_size, parse_si, parse_size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 pflop/s", 3e-12),
        ("3 nflop/s", 3e-9),
        ("3 µflop/s", 3e-6),
        ("3 uflop/s", 3e-6),
        ("3 mflop/s", 3e-3),
        ("3 flop/s", 3.0),
        ("3 kflop/s", 3e3),
        ("3 Mflop/s", 3e6),
        ("3 Gflop/s", 3e9),
        ("3 Tflop/s", 3e12),
        ("3 Pflop/s", 3e15),
        ("3 Eflop/s", 3e18),
        ("3 Zflop/s", 3e21),
        ("3 Yflop/s", 3e24),
        ("-2.5e-1Gflop/s", -0.25e9),
        ("  1 Eflop/s ", 1e18),
    ],
)
def test_prefixes_are_the_si_ones(text, value):
    """One tera is 1e12 and one peta 1e15: a round trip cannot see a wrong table."""
    assert parse_si(text, "flop/s") == pytest.approx(value, rel=1e-15)


@given(st.floats(1e-11, 9e26) | st.floats(-9e26, -1e-11))
def test_text_round_trip_keeps_four_digits(value):
    """Formatting then parsing keeps the value to four digits."""
    assert parse_si(format_si(value, "B/s"), "B/s") == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (58.8e9, "58.8 Gflop/s"),
        (2e15, "2 Pflop/s"),
        (999.99995e6, "1 Gflop/s"),
        (999.4e6, "999.4 Mflop/s"),
        (1e-6, "1 µflop/s"),
        (0.0, "0 flop/s"),
        (-0.0, "0 flop/s"),
        (float("inf"), "inf flop/s"),
        (5e27, "5000 Yflop/s"),
    ],
)
def test_values_are_shown_with_the_prefix_that_reads_best(value, shown):
    """The prefix leaves one to three digits before the point, after rounding."""
    assert format_si(value, "flop/s") == shown


@pytest.mark.parametrize("text", ["1 GB/s", "1 Xflop/s", "flop/s", "1 G flop", "1..2 flop/s", ""])
def test_a_text_of_another_unit_or_prefix_is_refused(text):
    """One GB is not one Gflop, and X is no prefix."""
    with pytest.raises(ValueError, match=r"."):
        parse_si(text, "flop/s")


@pytest.mark.parametrize(
    ("text", "size"),
    [("48k", 49152), ("1.25 MiB", 1310720), ("32M", 33554432), ("1g", 1 << 30), ("64", 64)],
)
def test_cache_sizes_are_binary(text, size):
    """A cache of 48k has 49152 byte."""
    assert parse_size(text) == size


def test_a_size_of_many_digits_is_exact():
    """A size does not pass through a float."""
    assert parse_size("9007199254740993") == 9007199254740993
    assert parse_size("9" * 400) == int("9" * 400)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.3", "k", "1e3", "48 kilo"])
def test_what_is_no_size_is_refused(text):
    """Nothing, zero, a fraction of a byte and an unknown word are no sizes."""
    with pytest.raises(ValueError, match=r"size|whole"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "shown"),
    [(32768, "32 KiB"), (1310720, "1.25 MiB"), (33554432, "32 MiB"), (100, "100 B")],
)
def test_sizes_are_shown_in_binary_units(size, shown):
    """A cache size is shown as it is sold."""
    assert format_size(size) == shown
