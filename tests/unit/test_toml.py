"""What is wrong in a TOML file, on which line, whatever stands there; never a traceback."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.core.quantities import Seconds
from ridgepoint.core.toml import open_table, read
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file import read_pipeline
from ridgepoint.kept.points import read_points


class Row(Struct, forbid_unknown_fields=True):
    """A row of the file."""

    size: Annotated[int, Meta(gt=0)]
    time: Seconds | None = None
    kind: Literal["copy", "compute"] | None = None
    marks: tuple[float, ...] = ()


class File(Struct, forbid_unknown_fields=True):
    """The whole file."""

    named: dict[str, Row] = {}
    rows: tuple[Row, ...] = ()
    widths: dict[Literal["128", "256"], float] = {}
    ends: tuple[int, int] | None = None
    title: Annotated[str, Meta(min_length=1)] = "x"


def refusal(text, kind=File):
    """Return what is said of a text, but for the folder of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.toml")
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidDocument) as caught:
            read(path, kind, what="the file", remedy="correct it")
    return str(caught.value).replace(f"{folder}/", "").removeprefix("cannot read the file of ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\ntitle = 3", "f.toml:2, title: 3 is not text; write text in quotes"),
        ('title = ""', "f.toml:1, title: it is empty; "
                       "write text that is not empty, or leave this key out"),
        ("titel = 'x'", "f.toml:1, titel: there is no such key; did you mean 'title'?"),
        ("ends = [1, 2, 3]", "f.toml:1, ends: it must be a list of length 2, got [1, 2, 3]; "
                             "correct it"),
        ("ends = [1, 'x']", "f.toml:1, ends[1]: 'x' is not a whole number; "
                            "write a whole number such as 4"),
        ("[widths]\n128 = 1\n512 = 2", "f.toml:3, widths.512: '512' is not one of its values; "
                                       "use 128, 256"),
        ("[named.a]\nsize = 1\n[named.b]\nsize = -1", "f.toml:4, named.b.size: it must be >= 1, "
                                                      "got -1; write a number >= 1"),
        ("[named.a]\nsize = 1\n[named.b]", "f.toml:3, named.b: it lacks size; add size"),
        ("[named.a]\nsize = 1\ntime = '1 GB'", "f.toml:3, named.a.time: '1 GB' is a quantity of "
                                               "bytes, not of time; write it like "
                                               '"4 s, 20 ms or 6 h"'),
        ("[named.a]\nsize = 1\nkind = 'x'", "f.toml:3, named.a.kind: 'x' is not one of its values; "
                                            "use compute, copy"),
        ("[[rows]]\nsize = 1\n\n[[rows]]\nsize = 1\nmarks = [\n1,\n'x']",
         "f.toml:6, rows[1].marks[1]: 'x' is not a number; write a number such as 0.4"),
        ("named = 1979-05-27", "f.toml:1, named: datetime.date(1979, 5, 27) is not a table; "
                               "write a table of keys and values"),
        ("a = ", "f.toml: it is not TOML: Invalid value (at end of document); correct it"),
    ],
)  # fmt: skip
def test_what_is_wrong_where_and_what_to_write(text, said):
    """Literally."""
    assert refusal(text) == said


names = st.text("abcxyz_-", min_size=1, max_size=4)
GOOD = ["size = 1", "size = 7 # time = 4", 'size = 2\ntime = "4 s"', "size = 1\nmarks = [\n1,\n]"]
BAD = [
    ("size = 0", "size"), ('size = "x"', "size"), ("size = 1\ntime = 4", "time"),
    ('size = 1\ntime = "4"', "time"), ("size = 1\nkind = 2", "kind"),
    ("size = 1\nsiez = 1", "siez"),
    ("size = 1\nmarks = [1, '']", "marks[1]"), ("size = 1\nmarks = {}", "marks"),
]  # fmt: skip


@given(
    st.lists(st.tuples(names, st.sampled_from(GOOD)), unique_by=lambda row: row[0]),
    st.sampled_from(BAD),
    st.data(),
)
def test_a_fault_is_on_the_line_where_it_was_put(rows, fault, data):
    """In a table by name or in a list of tables, among others that are right."""
    in_list = data.draw(st.booleans())
    place = data.draw(st.integers(0, len(rows)))
    body, key = fault
    tables = [*rows[:place], ("fault", body), *rows[place:]]
    lines = []
    for name, keys in tables:
        lines += [""] * data.draw(st.integers(0, 2)) + ["# [fault]"]
        lines += ["[[rows]]" if in_list else f"[named.{name}]", *keys.split("\n")]
        if name == "fault":
            line = len(lines)
    where = f"rows[{place}]" if in_list else "named.fault"

    assert refusal("\n".join(lines)).startswith(f"f.toml:{line}, {where}.{key}: ")


KEYS = [
    "stages", "pipelines", "machine", "machines", "load", "cores", "link", "name", "work", "bytes",
    "intensity", "time", "formula", "size", "like", "repeat", "measurement", "sdp", "efficiency",
    "output", "precision", "major_cycles", "host_time", "weight", "file", "used", "period",
]  # fmt: skip
WORDS = ["h200", "1 Gflop", "4 s", "3 GB", "1 GB/s", "grid", "fft", "low-ical", "x", "a", "f.toml"]
plain = (
    st.sampled_from(WORDS)
    | st.text(max_size=5)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "median", "low", "high", *KEYS]), inner, max_size=4)
    ),
    max_leaves=12,
)


def written(value):
    """Return a value as TOML, on one line; strings of JSON are strings of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {written(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def said(reader):
    """Return what a reader says against a file; nothing where it takes it."""
    try:
        reader()
    except RidgepointError as error:
        return str(error)
    return ""


@given(st.dictionaries(st.sampled_from(KEYS), values, max_size=5), st.text(max_size=20))
def test_whatever_stands_in_a_file_is_read_or_refused_in_one_line(content, rest):
    """Right keys with wrong values, or no TOML at all."""
    text = "\n".join(f"{key} = {written(value)}" for key, value in content.items())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.toml")
        archive = Archive(Path(folder, "archive"))
        for written_text in (text, f"{text}\n{rest}"):
            path.write_bytes(written_text.encode("utf-8", "surrogatepass"))
            for reader in (lambda: read_pipeline(path, archive=archive), lambda: read_points(path)):
                assert said(reader).count("\n") == 0


@given(st.dictionaries(st.sampled_from(["a", "b", "work"]), values, max_size=3))
def test_what_is_written_on_a_line_is_found_there(content):
    """By its key, whatever its value is: the reader of the standard library says what is there."""
    lines = [f"{key} = {written(value)}" for key, value in content.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.toml")
        path.write_text("\n".join(lines), encoding="utf-8")
        table = open_table(path, what="the file", remedy="correct it")
        for number, key in enumerate(content, start=1):
            assert f"f.toml:{number}, {key}" in table.wrong(key, "x", "y").what
