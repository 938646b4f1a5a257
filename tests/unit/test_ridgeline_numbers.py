"""Numbers as users write them on the command line: lists and quantities."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.cli.numbers import QuantityType, sizes, whole_numbers
from ridgepoint.core.quantities import ByteAmount, Duration, LinkRate, WorkAmount, WorkRate


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


OPTION = click.Option(["--network"])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (LinkRate, "12GB/s", 12e9), (LinkRate, "100 Gbit/s", 12.5e9),
        (LinkRate, "1.5 Mbyte/s", 1.5e6), (LinkRate, "8bit/s", 1),
        (WorkRate, "0.5 Gflop/s", 5e8), (Duration, "5min", 300), (Duration, "30", 30),
        (WorkAmount, "0", 0), (WorkAmount, " 2 T ", 2e12), (ByteAmount, "3kB", 3e3),
    ],
)  # fmt: skip
def test_an_option_takes_a_quantity(kind, text, value):
    """It has the value in the base unit, and keeps it when it is converted again."""
    option = QuantityType(kind)
    read = option.convert(text, OPTION, None)

    assert read == value
    assert type(read) is float
    assert option.convert(read, OPTION, None) == value


@pytest.mark.parametrize("text", ["", "12", "12Gb/s", "12GB", "-1GB/s", "0B/s", "nan B/s", "x"])
def test_an_option_names_itself_in_its_error(text):
    """Gb/s may mean bits or bytes, and a rate has a unit and is > 0."""
    with pytest.raises(click.BadParameter, match=r"; write ") as caught:
        QuantityType(LinkRate).convert(text, OPTION, None)

    assert "--network" in caught.value.format_message()
