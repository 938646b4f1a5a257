"""Where keys stand in TOML: literal texts, and the reader as oracle."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

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
