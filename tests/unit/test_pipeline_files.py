"""Where keys stand in TOML, and quantities with units: literal texts, and the reader as oracle."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.quantities import (
    ByteRate,
    Bytes,
    Intensity,
    Seconds,
    SecondsOrNone,
    Work,
    WorkRate,
)
from ridgepoint.core.toml_lines import line_of, lines_of

TEXT = '''\
# a comment with [brackets] and x = 1
name = "one # not a comment"   # [stages.nothing]

[stages.grid]
time = [
    "4 s",   # a = 5
    "[5 s",
]
note = """
size = 3
[stages.hidden]
"""
other = { a = "x", b = [1, 2] }
'literal key' = 'C:\\'
last.dotted.key = 1

[[points]]
x = 1
["a.b"."c"]
y = "\\"z = 3"
z = 2
'''


def test_every_key_has_the_line_that_it_stands_on():
    """Strings, comments and lists over several lines hold no keys."""
    tomllib.loads(TEXT)
    found = lines_of(TEXT)

    assert dict(found) == {
        ("name",): 2,
        ("stages",): 4,
        ("stages", "grid"): 4,
        ("stages", "grid", "time"): 5,
        ("stages", "grid", "note"): 9,
        ("stages", "grid", "other"): 13,
        ("stages", "grid", "literal key"): 14,
        ("stages", "grid", "last"): 15,
        ("stages", "grid", "last", "dotted"): 15,
        ("stages", "grid", "last", "dotted", "key"): 15,
        ("points",): 17,
        ("points", 0): 17,
        ("points", 0, "x"): 18,
        ("a.b",): 19,
        ("a.b", "c"): 19,
        ("a.b", "c", "y"): 20,
        ("a.b", "c", "z"): 21,
    }


def test_a_key_that_is_not_found_has_the_line_of_what_holds_it():
    """Of an inline table; of what is missing; of a file without any."""
    found = lines_of(TEXT)

    assert line_of(found, ("stages", "grid", "other", "b")) == 13
    assert line_of(found, ("stages", "grid", "missing")) == 4
    assert line_of(found, ("nothing",)) is None


names = st.text("abcxyz_-", min_size=1, max_size=4)


@given(
    st.dictionaries(names, st.dictionaries(names, st.integers(), min_size=1), min_size=1),
    st.data(),
)
def test_keys_of_generated_files_are_found_where_they_were_written(tables, data):
    """With comments and empty lines between them, whose number is drawn."""
    lines, expected = [], {}
    for table, keys in tables.items():
        lines += ["# [x]"] * data.draw(st.integers(0, 3)) + [f"[{table}]"]
        expected[table,] = len(lines)
        for key, value in keys.items():
            lines += [""] * data.draw(st.integers(0, 2)) + [f"{key} = {value}"]
            expected[table, key] = len(lines)
    text = "\n".join(lines)

    assert tomllib.loads(text) == tables
    assert dict(lines_of(text)) == expected


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("4 s", Seconds, 4), ("20ms", Seconds, 0.02), ("6 h", Seconds, 21600),
        ("2 min", Seconds, 120), ("1 d", Seconds, 86400), ("0 s", SecondsOrNone, 0),
        ("6.4 Tflop", Work, 6.4e12), ("6.4 TFLOP", Work, 6.4e12),
        ("3 GBOP", Work, 3e9), ("415 Tflop/s", WorkRate, 415e12), ("0 B", Bytes, 0),
        ("320 GB", Bytes, 320e9), ("5 Mbyte", Bytes, 5e6), ("250 GB/s", ByteRate, 250e9),
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
        ("4 TFLOPS", WorkRate, "flops is no unit"), ("-4 s", Seconds, "not finite and >= 0"),
        ("nan s", Seconds, "not finite"), ("inf GB", Bytes, "not finite"),
        ("1e999 s", Seconds, "not finite"), ("4 GiB", Bytes, "no unit of bytes"),
        (None, Seconds, "not text"), (["4 s"], Seconds, "not text"), ("", Seconds, "no unit"),
    ],
)  # fmt: skip
def test_what_is_no_quantity_says_what_it_is(value, kind, said):
    """Every refusal shows how to write it."""
    with pytest.raises(ValueError, match=said):
        kind.of(value)
