"""Tables of raw values, and their CSV, read back by Python's own reader."""

import csv
import io
import math
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import tables_reference
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgepoint.core import frames
from ridgepoint.core.csv_text import csv_text, text_of_cell
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.table import Column, Table
from ridgepoint.show.html_table import html_table

NAME = Column(key="name", title="name")
RUNTIME = Column(key="runtime_s", title="runtime", kind="number", unit="s")
WORK = Column(key="work_flop", title="work", kind="count", unit="flop")
SHARE = Column(key="share", title="share", kind="share")
IS_PARTIAL = Column(key="is_partial", title="partial", kind="flag")
COLUMNS = (NAME, *RUNTIME.ends(), WORK, SHARE, IS_PARTIAL)


def read(text: str) -> list[list[str]]:
    """Return the rows of a CSV text, by Python's reader."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_an_estimate_fills_its_interval() -> None:
    """The median stands in the column itself, and the ends of the interval beside it."""
    table = Table.of(
        "runs", COLUMNS, [{"runtime_s": Estimate([2.0], interval=(1.5, 3.0)), "name": "a"}]
    )

    assert table.rows == (("a", 2.0, 1.5, 3.0, None, None, None),)
    assert [column.end for column in table.columns[1:4]] == [None, "low", "high"]
    assert table.columns[2].of == "runtime_s"
    assert table.units["runtime_s_high"] == "s"


def test_an_estimate_of_few_samples_has_no_interval() -> None:
    """Below six samples the ends are unknown."""
    table = Table.of("runs", COLUMNS, [{"runtime_s": Estimate([2.0])}])

    assert table.records()[0]["runtime_s_low"] is None


def test_values_of_numpy_become_plain() -> None:
    """No scalar of NumPy stays in a table, and the count keeps every digit."""
    row = {"work_flop": np.int64(2**62 + 1), "share": np.float64(0.25), "is_partial": np.True_}
    table = Table.of("runs", COLUMNS, [row])

    assert table.rows[0][4:] == (2**62 + 1, 0.25, True)
    assert [type(cell) for cell in table.rows[0][4:]] == [int, float, bool]


def test_infinite_and_empty_are_unknown() -> None:
    """Infinite values are unknown as in JSON, and a text without a character is none."""
    table = Table.of("runs", COLUMNS, [{"runtime_s": math.inf, "share": math.nan, "name": ""}])

    assert set(table.rows[0]) == {None}
    with pytest.raises(ValueError, match=r"runtime_s cannot be nan"):
        Table(name="runs", title="runs", columns=(RUNTIME,), rows=((math.nan,),))


@pytest.mark.parametrize(
    "row",
    [
        {"runtime_s": "1 s"},
        {"runtime_s": True},
        {"work_flop": 1.5},
        {"is_partial": 1},
        {"name": 3},
        {"name": ["a"]},
        {"unheard_of": 1},
    ],
)
def test_a_cell_of_another_kind_is_refused(row: dict[str, object]) -> None:
    """Nothing is converted that could be a mistake."""
    with pytest.raises(ValueError, match=r"cannot be|no columns"):
        Table.of("runs", COLUMNS, [row])


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("runtime", "s"),
        ("dram", "byte"),
        ("peak_flops", "flop/s"),
        ("Runtime_s", "s"),
        ("a b", ""),
        ("from", ""),
    ],
)
def test_a_key_says_its_unit(key: str, unit: str) -> None:
    """A key without the unit of its column, or not in snake_case, is refused."""
    with pytest.raises(ValueError, match=r"must end with|snake_case"):
        Column(key=key, title=key, unit=unit, kind="number")


def test_a_table_refuses_two_columns_of_one_key_and_short_rows() -> None:
    """Readers find a column by its key, and a cell by its place."""
    with pytest.raises(ValueError, match="have one key"):
        Table.of("runs", [NAME, NAME], [])
    with pytest.raises(ValueError, match="has 1 cells"):
        Table(name="runs", title="runs", columns=(NAME, WORK), rows=(("a",),))


def test_csv_as_written_by_hand() -> None:
    """Keys first, an empty cell for each unknown, every digit of the numbers."""
    rows = [
        {"name": 'say "hi", you', "runtime_s": 0.1 + 0.2, "work_flop": 10**20, "is_partial": True},
        {"share": 1.0},
    ]

    assert csv_text(Table.of("runs", COLUMNS, rows)) == (
        "name,runtime_s,runtime_s_low,runtime_s_high,work_flop,share,is_partial\r\n"
        '"say ""hi"", you",0.30000000000000004,,,100000000000000000000,,true\r\n'
        ",,,,,1.0,\r\n"
    )


def test_a_formula_is_text_to_a_spreadsheet() -> None:
    """What a spreadsheet would take for a formula gets an apostrophe; numbers do not."""
    names = ["=1+1", "+1", "-O3", "@sum", "\t=1", "'=1", "'s", "a=b"]
    table = Table.of("t", [NAME, SHARE], [{"name": name, "share": -1.5} for name in names])

    cells = [row[0] for row in read(csv_text(table))[1:]]

    assert cells == ["'=1+1", "'+1", "'-O3", "'@sum", "'\t=1", "''=1", "'s", "a=b"]
    assert [text_of_cell(cell) for cell in cells] == names
    assert {row[1] for row in read(csv_text(table))[1:]} == {"-1.5"}


NAMES = st.text(min_size=1) | st.text("'=+-@\t\r\n\", ;<&\u202e\u05d0[/]", min_size=1)


@given(st.lists(st.tuples(NAMES, st.none() | st.floats(allow_nan=False, allow_infinity=False))))
def test_every_name_and_number_is_read_back(rows: list[tuple[str, float | None]]) -> None:
    """Quotes, newlines, commas and right-to-left marks survive, and so does every digit."""
    table = Table.of("t", [NAME, RUNTIME], [{"name": a, "runtime_s": b} for a, b in rows])

    text = csv_text(table)

    back = read(text.encode().decode())
    assert back[0] == ["name", "runtime_s"]
    assert [text_of_cell(row[0]) for row in back[1:]] == [name for name, _ in rows]
    numbers = [float(row[1]) if row[1] else None for row in back[1:]]
    assert numbers == [number for _, number in rows]
    assert not any(row[0][:1] in tuple("=+-@\t\r") for row in back[1:])


def test_bytes_that_are_not_text_are_escaped() -> None:
    """A file name may hold any bytes; the CSV is UTF-8."""
    table = Table.of("t", [NAME], [{"name": b"caf\xe9".decode("utf-8", "surrogateescape")}])

    assert csv_text(table).encode() == b"name\r\ncaf\\udce9\r\n"


def test_columns_of_which_nothing_is_known_can_be_left_out() -> None:
    """For people to look at; a file always has them all."""
    table = Table.of("t", COLUMNS, [{"name": "a", "share": 0.0}])

    assert table.without_empty_columns().keys == ("name", "share")


def test_the_page_lists_every_column() -> None:
    """Whoever changes a column runs tests/tools/tables_reference.py."""
    page = tables_reference.PAGE.read_text(encoding="utf-8")

    assert page.partition(tables_reference.MARK)[2].strip() == tables_reference.reference().strip()


def test_every_column_says_what_it_is() -> None:
    """In a sentence, and with a name that is taken once."""
    for tables in tables_reference.SUBJECTS.values():
        for name, columns in tables.items():
            assert all(column.help.strip().endswith((".", "...")) for column in columns), name
            assert not Table(name=name, title=name, columns=tuple(columns), rows=()).rows


@settings(max_examples=30, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=70))
def test_html_holds_texts_as_texts(names: list[str]) -> None:
    """Whatever a name holds, there are no elements but those of the table."""
    table = Table.of("t", [NAME, RUNTIME], [{"name": name, "runtime_s": 0.5} for name in names])
    tags, texts = set(), []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.add(tag)  # type: ignore[method-assign]
    parser.handle_data = texts.append  # type: ignore[method-assign]
    parser.feed(html_table(table))

    assert tags <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert texts.count("500\N{NO-BREAK SPACE}ms") == min(len(names), 60)
    assert (len(names) > 60) == any("more rows" in text for text in texts)


def test_html_leaves_out_what_nobody_knows_and_joins_intervals() -> None:
    """What a reader of a notebook sees."""
    runtime = Estimate([2.0], interval=(1.5, 3.0))
    html = html_table(Table.of("runs", COLUMNS, [{"runtime_s": runtime, "name": "a"}, {}]))

    assert "2 s (1.5 s to 3 s)".replace(" ", "\N{NO-BREAK SPACE}") in html
    assert "partial" not in html
    assert html.count("<th ") == 2
    assert html.count(">–<") == 2


def test_a_table_without_rows_is_a_sentence() -> None:
    """And not an empty frame."""
    assert html_table(Table.of("runs", COLUMNS, [])) == "<p>runs: –</p>"


@settings(max_examples=30, deadline=None)
@given(st.lists(NAMES), st.sampled_from(["frame", "parquet", "read_csv"]))
def test_names_pass_through_frames_and_files(names: list[str], way: str) -> None:
    """As they are: only CSV guards them."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    table = Table.of("t", [NAME, WORK], [{"name": name, "work_flop": 2**53 + 1} for name in names])
    if way == "frame":
        frame = frames.frame(table)
        back, counts = frame["name"].tolist(), frame["work_flop"].tolist()
    elif way == "parquet":
        read = pyarrow.read_table(io.BytesIO(frames.parquet(table)))
        back, counts = read["name"].to_pylist(), read["work_flop"].to_pylist()
    else:
        file = io.StringIO(csv_text(table), newline="")
        read = pandas.read_csv(file, dtype={"name": "string"}, keep_default_na=False)
        back, counts = [text_of_cell(name) for name in read["name"]], read["work_flop"].tolist()

    assert back == names
    assert counts == [2**53 + 1] * len(names)


def test_a_count_beyond_64_bits_is_refused_where_it_does_not_fit() -> None:
    """It would be another number; CSV holds it."""
    pytest.importorskip("pyarrow")
    table = Table.of("t", [WORK], [{"work_flop": 2**63}])

    with pytest.raises(RidgepointError, match="write CSV or JSON"):
        frames.parquet(table)
    assert "9223372036854775808" in csv_text(table)


def test_a_table_is_saved_by_the_ending_of_its_file(tmp_path: Path) -> None:
    """Or refused."""
    table = Table.of("t", [NAME], [{"name": "a"}])
    table.save(tmp_path / "a.csv")

    assert (tmp_path / "a.csv").read_bytes() == b"name\r\na\r\n"
    with pytest.raises(RidgepointError, match=r"ends in \.csv or \.parquet"):
        table.save(tmp_path / "a.xlsx")
