import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.units import (
    AmbiguousUnit,
    format_duration,
    format_si,
    format_size,
    parse_size,
    read_quantity,
)

PREFIXES = {
    "p": 1e-12, "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "K": 1e3,
    "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24,
}  # fmt: skip


@pytest.mark.parametrize(("prefix", "factor"), PREFIXES.items())
def test_prefixes_are_the_si_ones(prefix, factor):
    """One tera is 1e12 and one peta 1e15: a round trip cannot see a wrong table."""
    value, unit = read_quantity(f"3 {prefix}flop/s")

    assert value == pytest.approx(3 * factor, rel=1e-15)
    assert unit == "flop/s"


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12e9B/s", 12e9, "B/s"), ("1000B/s", 1e3, "B/s"), ("12 GB/s", 12e9, "B/s"),
        ("0.5 Gflop/s", 5e8, "flop/s"), ("1.5Tflop/s", 1.5e12, "flop/s"),
        ("4.2 TFLOP/sec", 4.2e12, "flop/s"), ("4.2 TFLOPS/s", 4.2e12, "flop/s"),
        ("12 GiB/s", 12 * 1024.0**3, "B/s"), ("2 KiB", 2048.0, "B"), ("3TiB", 3 * 1024.0**4, "B"),
        ("100Gbit/s", 12.5e9, "B/s"), ("8 bits", 1.0, "B"), ("5 Mbyte", 5e6, "B"),
        ("16 bytes", 16.0, "B"), ("2 GByte/sec", 2e9, "B/s"), ("3 GBOP", 3e9, "BOP"),
        ("2 kop", 2e3, "op"), ("7 ops", 7.0, "op"), ("7 Mops/s", 7e6, "op/s"),
        ("2 flop/cycle", 2.0, "flop/cycle"), ("1B/cycle", 1.0, "B/cycle"),
        ("2 flops / cycle", 2.0, "flop/cycle"), ("5 Mcycle", 5e6, "cycle"),
        ("3.2 GHz", 3.2e9, "Hz"), ("4 s", 4.0, "s"), ("20ms", 0.02, "s"), ("3 sec", 3.0, "s"),
        ("6 h", 21600.0, "s"), ("2 min", 120.0, "s"), ("1 d", 86400.0, "s"),
        ("1.25 flop/B", 1.25, "flop/B"), ("20 FLOP/byte", 20.0, "flop/B"), ("2G", 2e9, ""),
        ("1.5e9", 1.5e9, ""), ("-2.5e-1Gflop/s", -0.25e9, "flop/s"),
        ("  1 Eflop/s ", 1e18, "flop/s"),
        ("+.5 B", 0.5, "B"), ("2E", 2e18, ""), ("1e3E", 1e21, ""), ("4 m", 0.004, ""),
    ],
)  # fmt: skip
def test_quantities_are_read_with_and_without_blanks(text, value, unit):
    """A number, a prefix, a unit; what it is per, after a slash."""
    read, base = read_quantity(text)

    assert read == pytest.approx(value, rel=1e-15)
    assert base == unit


@given(
    st.floats(1e-11, 9e26) | st.floats(-9e26, -1e-11),
    st.sampled_from(
        ["flop", "flop/s", "BOP", "BOP/s", "op", "op/s", "B", "B/s", "s", "cycle", "Hz", "flop/B",
         "BOP/B", "flop/cycle", "B/cycle", ""]
    ),
)  # fmt: skip
def test_text_round_trip_keeps_four_digits(value, unit):
    """What is printed is read: the value to four digits, and the unit."""
    read, base = read_quantity(format_si(value, unit))

    assert read == pytest.approx(value, rel=1e-3)
    assert base == unit


@given(st.floats(0.01, 1e9))
def test_durations_are_read_as_they_are_printed(seconds):
    """Minutes and hours too."""
    read, base = read_quantity(format_duration(seconds))

    assert read == pytest.approx(seconds, rel=0.06)
    assert base == "s"


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text):
    """Nothing else is raised, and a number that is read has a unit from the list."""
    try:
        _, unit = read_quantity(text)
    except ValueError:
        return

    assert unit.partition("/")[0] in {"flop", "BOP", "op", "B", "s", "cycle", "Hz", ""}


@pytest.mark.parametrize("text", ["4 GFLOPS", "4GFLOPs", "4 gflops", "4 Gflops", "3 flops"])
def test_flops_are_asked_about(text):
    """FLOPS is a rate to some, and several flop to others; neither is guessed."""
    with pytest.raises(AmbiguousUnit, match=r"a count or a rate; write G?flop for a count"):
        read_quantity(text)


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


@pytest.mark.parametrize(
    "text",
    ["1 Xflop/s", "flop/s", "1 G flop", "1..2 flop/s", "", "1,5 GB", "1 kflop/min", "1 s/s",
     "1 B/B", "2 flop/h", "1 Gimin", "1 Giflop", "1 mmin", "1 gB", "١ B", "0x10 B", "1_0 B", "1 S",
     "1 B/b", "1 flop/", "1 /s", "1 flop/s/s"],
)  # fmt: skip
def test_a_text_of_another_unit_or_prefix_is_refused(text):
    """X and g are no prefixes, binary prefixes are for data, and only work and data are rates."""
    with pytest.raises(ValueError, match=r"."):
        read_quantity(text)


@pytest.mark.parametrize(("text", "said"), [("1 Gb/s", "Gbit or GB"), ("100Gbps", "Gbit or GB")])
def test_bits_and_bytes_are_asked_about(text, said):
    """A small b is a bit to some and a byte to others."""
    with pytest.raises(AmbiguousUnit, match=f"may mean bits or bytes; write {said}"):
        read_quantity(text)


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
