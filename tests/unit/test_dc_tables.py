"""The paper's tables recomputed: what holds, and each number that does not, by hand."""

import io

import pytest
from rich.console import Console

from ridgepoint.published.tables import Table, printed, recomputed
from ridgepoint.show.tables.recomputed_table import recomputed_tables
from ridgepoint.suites.datacenter.published import published_paper, published_tables

TABLES = {one.number: one for one in published_tables()}


def test_a_printed_number_stands_for_all_that_round_to_it():
    """Half a unit of the last digit either way."""
    found = printed("0.75G")

    assert (found.low, found.value, found.high) == (0.745e9, 0.75e9, 0.755e9)
    assert (printed("529E9").low, printed("40").high) == (528.5e9, 40.5)
    assert (printed("0.1%").low, printed("0.1%").high) == (0.0005, 0.0015)


@pytest.mark.parametrize("text", ["", "G", "8.8 GB", "-1", "1e9", "10E8 records"])
def test_what_is_no_printed_number_is_refused(text):
    """No guess at what a slip may mean."""
    with pytest.raises(ValueError, match="is not a number as papers print them"):
        printed(text)


def test_a_quotient_of_rounded_numbers_has_a_span():
    """Of 2 / 1 between 1.5 / 1.5 and 2.5 / 0.5."""
    found = recomputed(lambda a, b: a / b, printed("2"), printed("1"))

    assert (found.low, found.value, found.high) == (1.0, 2.0, 5.0)
    assert found.meets(printed("5"))
    assert not found.meets(printed("6"))


def test_a_row_must_have_a_cell_for_each_column():
    """A slip in the package's data shows at once."""
    with pytest.raises(ValueError, match="must have 2 cells"):
        Table(title="", columns=["a", "b"], rows={"one": ["1"]})


@pytest.mark.parametrize("number", ["2", "12"])
def test_every_bottleneck_of_tables_2_and_12_is_reproduced(number):
    """Six labels in flop, six in BOPs."""
    cells = [cells[-1] for _, cells in TABLES[number].rows]

    assert [cell.agrees for cell in cells] == [True] * 6


@pytest.mark.parametrize(
    ("number", "row", "bound"),
    [
        ("2", "Grep", "26.4 Mflop/s"),
        ("2", "RankServ", "7.92 Gflop/s"),
        ("12", "Sort", "86.4 GBOP/s"),
        ("12", "Grep", "15.84 GBOP/s"),
        ("12", "WordCount", "42.24 GBOP/s"),
    ],
)
def test_bounds_are_bandwidth_times_intensity_or_the_peak(number, row, bound):
    """13.2e9 times 0.002, 0.6, 1.2 and 3.2, and the peak."""
    assert TABLES[number].cell(row, "bound").recomputed == bound


def test_what_disagrees_is_what_the_audit_by_hand_found():
    """Each with a reason that the remarks or the documentation give."""
    found = {
        (table.number, row, column)
        for table in TABLES.values()
        for row, cells in table.rows
        for column, cell in zip(table.columns, cells, strict=True)
        if cell.agrees is False
    }

    assert found == {
        # Traffic by BOPs and by flop: 1.19 and 1.71 GB/s, 0.20 and 0.40 GB/s.
        ("3", "WordCount, optimised", "traffic [B/s] by BOP | by flop"),
        ("3", "Kmeans, optimised", "traffic [B/s] by BOP | by flop"),
        # 7.9 for 8.2 and 3.83 for 4.1; 10.2 for 9.3, 10.7 for 10; 0.06 for 0.2, 25 for 40 %.
        ("9", "E5645", "real BOPS"),
        ("9", "E5310", "real BOPS"),
        ("9", "D510", "BOPS eff."),
        ("9", "E5310", "BOPS eff."),
        ("9", "D510", "FLOPS eff."),
        ("9", "D510", "IPC eff."),
        # 0.087 for 0.04, 1.39 for 0.7; 13.9 for 18, 15.0 for 20 %.
        ("10", "Graph500", "FLOPS eff."),
        ("10", "Stream", "FLOPS eff."),
        ("10", "Graph500", "BOPS eff."),
        ("10", "Stream", "BOPS eff."),
        # 126 for 120 %; 28 for 48 % by the table's own base.
        ("13", "Kmeans", "gain"),
        ("13", "RankServ", "gain"),
        # 12.2 for 16 %, 8.1 for at most 3 %; 61 and 65 for 9.3 and 9.6 BOP/byte.
        ("14", "Grep, prefetch", "gain"),
        ("14", "Bayes, prefetch", "gain"),
        ("14", "RankServ", "OI"),
        ("14", "RankServ, prefetch", "OI"),
    }


def test_labels_without_a_bandwidth_say_what_they_ask_for():
    """12.8 / 6.5 and 38.4 / 10.8 GB/s; nothing is compared with a number that was not given."""
    table = TABLES["15"]
    sort_d510, sort_e5310 = (table.cell(f"Sort, {m}", "bottleneck") for m in ("D510", "E5310"))

    assert sort_d510.recomputed == "if memory gives below 1.97 GB/s"
    assert sort_e5310.recomputed == "if memory gives from 3.56 GB/s"
    assert (sort_d510.agrees, sort_e5310.agrees) == (None, None)
    assert table.cell("Sort, E5645", "bottleneck").agrees is True


def test_the_paper_s_improvement_of_325_per_cent_is_a_ratio():
    """28.6 / 8.8 is 3.25, a gain of 225 %; 5.5 / 4.6 is 1.196."""
    said = " ".join(TABLES["14"].remarks)

    assert "120% (Grep) to 325% (Sort with SIMD)" in said
    assert "a gain of 20% to 225%" in said


def test_the_tables_fit_a_terminal_and_name_their_source():
    """No line is folded at 100 columns, and the mark is explained."""
    file = io.StringIO()
    Console(file=file, width=100).print(recomputed_tables(published_paper()))
    said = file.getvalue()

    assert "arXiv:1801.09212" in said
    assert "disagree by more than rounding" in said
    assert sum(line.startswith("Table ") for line in said.splitlines()) == 9
    assert TABLES["12"].title in said


def test_rows_of_some_workloads_alone():
    """Stream is in Table 10 alone; Sort in every table but 9, of machines, and 10."""
    assert [one.number for one in published_paper(["Stream"]).tables] == ["10"]
    assert [one.number for one in published_paper(["Sort"]).tables] == [
        "2", "3", "7", "12", "13", "14", "15",
    ]  # fmt: skip
    assert [name for name, _ in published_paper(["Sort"]).tables[-1].rows] == [
        "Sort, E5310", "Sort, E5645", "Sort, D510",
    ]  # fmt: skip
