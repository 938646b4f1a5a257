"""Numbers as users write them on the command line: lists, amounts and rates."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.cli.numbers import amount, rate, sizes, whole_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("8", (8,)),
        ("3, 1,2", (3, 1, 2)),
        ("4,4,4", (4,)),
        ("1,2,4,...,64", (1, 2, 4, 8, 16, 32, 64)),
        ("3,9,27,...,243", (3, 9, 27, 81, 243)),
        ("1,2,...,5", (1, 2, 3, 4, 5)),
        ("2,4,6,…,10", (2, 4, 6, 8, 10)),
        ("1,2,4,...,4", (1, 2, 4)),
        ("5:8", (5, 6, 7, 8)),
        ("7:7", (7,)),
    ],
)
def test_lists_go_on_as_they_began(text, numbers):
    """By a factor or by a step."""
    assert whole_numbers(text, "--batch") == numbers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a whole number"),
        ("0", "not > 0"),
        ("-1", "not a whole number"),
        ("1.5", "not a whole number"),
        ("nan", "not a whole number"),
        ("²", "not a whole number"),
        ("1e3", "not a whole number"),
        ("9" * 16, "at most 15 digits"),
        ("1,,2", "not a whole number"),
        ("1,...,9", "two or more numbers before the dots"),
        ("1,2,...", "one after"),
        ("1,2,...,4,...,9", "not a whole number|one after"),
        ("2,1,...,9", "does not grow"),
        ("1,2,4,...,9", "does not reach its last number: it has 16"),
        ("4,6,9,...,99", "by a whole factor"),
        ("1,2,...,9000000", "more than 2000000"),
        ("9:1", "ends before it begins"),
        ("1:2:3", "not a range"),
        ("1:9999999", "more than 2000000"),
    ],
)
def test_what_is_no_list_is_refused_in_one_line(text, words):
    """With an example of what is."""
    with pytest.raises(click.BadParameter, match=words) as caught:
        whole_numbers(text, "--batch")

    assert caught.value.message.endswith("write 8, 1,2,4,...,4096 or 1:1024")


@given(st.lists(st.integers(1, 10**12), min_size=1, unique=True))
def test_written_numbers_are_read_again(numbers):
    """Each as it is."""
    assert whole_numbers(",".join(map(str, numbers)), "--batch") == tuple(numbers)


def test_sizes_may_repeat():
    """Layers do."""
    assert sizes("4,4,1", "--layers") == (4, 4, 1)


@pytest.mark.parametrize("text", ["", "5", "5,", "5,x", "5,0"])
def test_sizes_are_two_or_more(text):
    """One layer has an input and an output."""
    with pytest.raises(click.BadParameter):
        sizes(text, "--layers")


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("1.5e9", 1.5e9), ("1.5G", 1.5e9), (" 2 T ", 2e12), ("3k", 3e3), ("12", 12)],
)
def test_amounts_may_have_a_prefix(text, value):
    """Of the SI."""
    assert amount(text, "--point") == value


@pytest.mark.parametrize("text", ["", "-1", "nan", "inf", "1GB", "x", "1e999", "G"])
def test_an_amount_is_a_number(text):
    """Finite and not negative."""
    with pytest.raises(click.BadParameter, match="not a number >= 0"):
        amount(text, "--point")


@pytest.mark.parametrize(
    ("text", "value"),
    [("12GB/s", 12e9), ("100 Gbit/s", 12.5e9), ("1.5 Mbyte/s", 1.5e6), ("8bit/s", 1)],
)
def test_rates_are_in_bytes_or_bits(text, value):
    """Networks are sold in bits."""
    assert rate(text, "--network") == value


@pytest.mark.parametrize("text", ["", "12", "12Gb/s", "12GB", "-1GB/s", "0B/s", "nanGB/s"])
def test_a_rate_has_a_unit_and_is_positive(text):
    """Gb/s may be either, and is refused."""
    with pytest.raises(click.BadParameter, match="not a rate > 0"):
        rate(text, "--network")
