"""Operators of a program as text, picture, document and tables."""

import io
import json
import re
from dataclasses import fields, replace

import pytest
from chart_reading import rates_of
from json_schemas import complaints
from operator_inputs import (
    MACHINE,
    MLP,
    TRAINED,
    custom,
    linear,
    operator,
    profile,
    relu,
    tensor,
    view,
)
from rich.console import Console

from ridgepoint.core.documents import decode, encode, render
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import CheckedCall, OperatorProfile
from ridgepoint.models.operators import analyse_operators
from ridgepoint.models.operators.shown import modules_shown
from ridgepoint.show.charts.operators import operators_chart
from ridgepoint.show.data_tables.operators import operators_tables
from ridgepoint.show.operators_report import operators_report
from ridgepoint.show.operators_text import unknown_sentences
from ridgepoint.show.tables.operators_table import operators


def printed(value, machine=MACHINE, *, width=100, **options):
    """Return the lines of the report of a profile."""
    console = Console(width=width, record=True, highlight=False, file=io.StringIO())
    console.print(operators(analyse_operators(value, machine), **options))
    return [line.rstrip() for line in console.export_text().splitlines()]


def row_of(lines, name):
    """Return the only line that begins with a name, its cells apart."""
    (line,) = (line for line in lines if re.match(rf"{re.escape(name)}\s\s", line.strip()))
    return re.split(r"\s{2,}", line.strip())


def test_equal_calls_are_one_row_the_longest_first():
    """Two layers of 2 x 512^3 flop in 2 ms each: 134 Gflop/s, a third of 400 Gflop/s."""
    lines = printed(MLP)
    assert row_of(lines, "aten.addmm") == [
        "aten.addmm", "512, 512×512, 512×512", "2", "4 ms", "55 %", "85.3", "134 G",
        "34 % of fp32 peak",
    ]  # fmt: skip
    names = [line.split()[0] for line in lines if line.startswith(("aten.", "mine."))]
    assert names == ["aten.addmm", "aten.relu", "aten.add", "mine.fancy"]


def test_operator_without_flop_has_no_rate_but_a_roof():
    """2 MiB in 1 ms are 7 % of 30 GB/s."""
    cells = row_of(printed(MLP), "aten.relu")
    assert cells[-3:] == ["–", "–", "7.0 % of DRAM"]


def test_unknown_is_said_with_its_share_of_the_time_and_why():
    """0.3 ms of 7.301 ms."""
    lines = printed(MLP)
    assert row_of(lines, "mine.fancy")[-3:] == ["unknown"] * 3
    assert "  mine.fancy (4.1 % of the time): no rule says what mine.fancy asks for" in lines
    assert any("of operators with 4.1 % of the time is unknown" in line for line in lines)


def test_what_is_left_out_is_summed():
    """All but the longest two take 1.301 ms of 7.301."""
    lines = printed(MLP, most_operators=2)
    assert row_of(lines, "3 more")[1:4] == ["4", "1.3 ms", "18 %"]


def test_layers_that_are_alike_are_one_row():
    """Twelve layers with one product each, and a thirteenth with two."""
    deep = profile(
        *(linear(f"h.{layer}.up") for layer in range(12)),
        *(linear("h.12.up"), linear("h.12.down")),
        view("head"),
    )
    analysis = analyse_operators(deep, MACHINE)
    shown, hidden = modules_shown(analysis, most=16)
    assert [(group.name, group.calls) for group in shown] == [
        ("", 15), ("h", 14), ("h.0-11", 12), ("h.0-11.up", 12), ("h.12", 2), ("h.12.up", 1),
        ("h.12.down", 1), ("head", 1),
    ]  # fmt: skip
    assert hidden == 0


def test_modules_stand_below_the_one_around_them():
    """Also one that is called last, as by an optimizer."""
    late = profile(linear("a.x"), linear("b"), view("a.y"))
    names = [g.name for g in modules_shown(analyse_operators(late, MACHINE), most=9)[0]]
    assert names == ["", "a", "a.x", "a.y", "b"]


def test_time_outside_of_operators_is_unknown_where_these_seem_to_take_longer():
    """Timing each of many short operators takes longer than running them."""
    lines = printed(profile(linear("a"), timed=(1e-3,) * 3))
    assert any("outside" in line and "unknown: timed one by one" in line for line in lines)


def test_layers_with_numbers_behind_their_names_are_one_row_too():
    """As Flax names them; a number that belongs to the name does not count."""
    named = [f"Block_{at}.Dense_0" for at in range(3)] + ["fc1", "fc2"]
    analysis = analyse_operators(profile(*map(linear, named)), MACHINE)
    names = [group.name for group in modules_shown(analysis, most=16)[0]]
    assert names == ["", "Block_0-2", "Block_0-2.Dense_0", "fc1", "fc2"]


def test_unknown_numbers_of_calls_are_neither_one_nor_none():
    """In the table, the document, the tables of data and the headline."""
    value = profile(linear("a"), replace(custom("b"), calls=None))
    analysis = analyse_operators(value, MACHINE)
    lines, document = printed(value), operators_report(analysis)
    assert row_of(lines, "mine.fancy")[-6:-4] == ["unknown", "300 µs"]
    assert any("in at least 1 call of 2 operators" in line for line in lines)
    assert "at least 1 operator call" in value.headline
    calls = {each["name"]: each["calls"] for each in document["operators"]}
    assert calls == {"aten.addmm": 1, "mine.fancy": None}
    assert (document["whole"]["calls"], document["modules"][1]["calls"]) == (None, 1)
    assert not complaints(json.loads(render(document)))
    rows = operators_tables(analysis)[0].records()
    assert [row["calls"] for row in rows if row["operator"] == "mine.fancy"] == [None]
    assert any("an unknown number of calls of unknown demand" in doubt.seen
               for doubt in analysis.doubts)  # fmt: skip
    assert decode(encode(value), OperatorProfile, origin="a test").operators == value.operators


def test_numbers_of_modules_that_differ_stay_apart():
    """A sequence of a product and an activation is no pair of layers."""
    analysis = analyse_operators(profile(linear("mlp.0"), relu("mlp.1"), linear("mlp.2")), MACHINE)
    names = [group.name for group in modules_shown(analysis, most=16)[0]]
    assert names == ["", "mlp", "mlp.0-2", "mlp.1"]


def test_modules_are_shown_to_the_depth_for_which_there_is_room():
    """Of the next depths there is none."""
    deep = profile(*(linear(f"{name}.{name}") for name in "abcdef"), view("head"))
    analysis = analyse_operators(deep, MACHINE)
    shown, hidden = modules_shown(analysis, most=10)
    # The whole, seven of the first depth, and two of the six inside.
    assert (len(shown), hidden) == (10, 4)
    assert [group.name for group in modules_shown(analysis, most=1)[0]] == [""]


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_number_is_cut_where_there_is_little_room(width):
    """Only names are: a cut number would be another one."""
    for value in (MLP, TRAINED):
        lines = printed(value, width=max(width, 80))
        assert all(len(line) <= max(width, 80) for line in lines)
        assert any(line.rstrip().endswith("34 % of fp32 peak") for line in lines)


def test_phases_are_told_apart_where_there_are_several():
    """Forward and backward of one product are two rows."""
    lines = printed(TRAINED)
    assert [line.split()[1] for line in lines if line.startswith("addmm")] == ["fwd", "bwd"]
    assert row_of(lines, "optimizer")[:2] == ["optimizer", "200 µs"]
    assert not any(line.startswith("phase") for line in printed(MLP))


def test_without_times_and_machine_nothing_reads_as_zero():
    """What is unknown says so."""
    lines = printed(profile(linear("a", time_s=None), timed=None, attached=None), machine=None)
    assert any("unknown (not timed)" in line for line in lines)
    assert row_of(lines, "addmm")[-5:] == ["unknown", "unknown", "85.3", "unknown", "unknown"]
    assert not re.search(r"\b0 (s|%)", "\n".join(lines))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (profile(linear("a", time_s=None)), "unknown"),
        (profile(linear("a", time_s=None), custom()), "unknown"),
        (profile(linear("a"), linear("b", time_s=None)), "34 % of the roofs, over the time in"),
    ],
)
def test_an_efficiency_is_of_the_roofs_where_it_is_known_and_else_just_unknown(value, expected):
    """2 x 512^3 flop take 0.67 ms at 400 Gflop/s, and took 2; nothing is "unknown of the roofs"."""
    (line,) = (line for line in printed(value) if line.strip().startswith("efficiency"))
    said = re.split(r"\s{2,}", line.strip())[1]
    assert said == expected if expected == "unknown" else said.startswith(expected)


def test_a_sentence_does_not_begin_with_the_name_of_a_machine():
    """Which may begin with a small letter."""
    text = analyse_operators(profile(linear("a", time_s=None)), MACHINE).summary()
    assert f"On {MACHINE.name} the operators need at least" in text


def test_names_from_outside_cannot_act_on_the_terminal():
    """Names of modules and operators are the user's."""
    evil = operator("mine.\x1b[2J", (tensor(2),), (tensor(2),), module="a\x1b]0;x", time_s=(1.0,))
    assert "\x1b" not in "\n".join(printed(profile(evil, program="x\x1b[31m")))


def test_no_operator_at_all():
    """A script that calls none is said to have none."""
    lines = printed(profile())
    assert any("0 calls of 0 operators" in line for line in lines)


def test_points_are_at_work_over_least_bytes_and_over_time():
    """2 x 512^3 flop over 3 x 512^2 x 4 + 2048 bytes, and over 2 ms."""
    chart = operators_chart(analyse_operators(MLP, MACHINE))
    marks = {mark.name.split()[0]: mark for mark in chart.marks if mark.name.startswith("aten")}
    assert set(marks) == {"aten.addmm", "aten.add"}
    assert [mark.label.text for mark in marks.values()] == ["1", "2"]
    assert [entry.lead for entry in chart.key if entry.is_part] == ["1", "2"]
    at = (2 * 512**3 / (12 * 512**2 + 2048), 512**3 / 1e-3)
    assert marks["aten.addmm"].at == pytest.approx(at)
    assert marks["aten.addmm"].size > marks["aten.add"].size
    assert rates_of(chart, "roof") == {"fp32": 400e9, "DRAM": pytest.approx(30e9)}


def test_picture_says_what_has_no_point():
    """Relu does no flop: 2 of 7.301 ms; mine.fancy is unknown: 0.3."""
    notes = operators_chart(analyse_operators(MLP, MACHINE)).notes
    assert any("no flop" in note and "27 % of the time" in note for note in notes)
    assert any("unknown demand" in note and "4.1 % of the time" in note for note in notes)


def test_operator_above_its_roof_is_alarming():
    """3 MiB in 0.1 ms are 31 GB/s, above 30."""
    chart = operators_chart(analyse_operators(TRAINED, MACHINE))
    assert [mark.name.split()[0] for mark in chart.marks if mark.is_alarming] == ["add"]


def test_untimed_operators_are_hollow_at_their_roofs():
    """Nothing is drawn as if it were measured."""
    untimed = profile(linear("a", time_s=None), timed=None, attached=None)
    chart = operators_chart(analyse_operators(untimed, MACHINE))
    (mark,) = (mark for mark in chart.marks if mark.name.startswith("addmm"))
    assert (mark.face, mark.at[1]) == ("hollow", pytest.approx(400e9))
    assert any("not timed" in note for note in chart.notes)


@pytest.mark.parametrize("machine", [MACHINE, None])
@pytest.mark.parametrize(
    "value", [MLP, TRAINED, profile(), profile(custom(time_s=None), timed=None, attached=None)]
)
def test_document_has_the_schema_that_ships(value, machine):
    """And it is strict JSON."""
    document = json.loads(render(operators_report(analyse_operators(value, machine))))
    assert document["kind"] == "operator-report"
    assert not complaints(document)


def test_document_has_null_for_what_is_unknown():
    """And every operator, also those that the table leaves out."""
    document = operators_report(analyse_operators(MLP, MACHINE))
    by_name = {each["name"]: each for each in document["operators"]}
    assert len(document["operators"]) == 8
    fancy = by_name["mine.fancy"]
    assert (fancy["asked"]["work"], fancy["bound"], fancy["efficiency"]) == (None, None, None)
    assert document["whole"]["unknown_share"] == pytest.approx(0.3 / 7.301)


def test_tables_hold_totals_of_all_calls():
    """Two thirds of the bytes of a product are read."""
    tables = {table.name: table for table in operators_tables(analyse_operators(MLP, MACHINE))}
    rows = tables["operators"].records()
    product = next(row for row in rows if row["operator"] == "aten.addmm")
    assert product["work_flop"] == 2 * 512**3
    assert product["inputs"] == "512 fp32, 512×512 fp32, 512×512 fp32"
    assert product["read_bytes"] == 2 * 4 * 512**2 + 2048
    fancy = next(row for row in rows if row["operator"] == "mine.fancy")
    assert (fancy["work_flop"], fancy["read_bytes"], fancy["least_s"]) == (None, None, None)
    modules = {row["module"]: row for row in tables["modules"].records()}
    assert modules[None]["calls"] == 8
    assert modules["layers"]["work_flop"] == 4 * 512**3 + 2 * 512**2
    assert len(tables["operator_samples"].rows) == 9


def test_kept_profile_comes_back_as_it_was():
    """Arrays among the arguments of a call included, in lists, too."""
    a = tensor(2, 3)
    mixed = operator("aten.cat", ((a, a), 1, "x", (a, None), (1, 2), True), (a,))
    value = profile(mixed, custom(), relu("act"), cautions=MLP.cautions)
    again = decode(encode(value), OperatorProfile, origin="a test")
    assert again.operators == value.operators
    for each in fields(value):
        if each.name not in {"timed", "attached_s"}:
            assert getattr(again, each.name) == getattr(value, each.name)
    assert again.timed.runtime_s.samples == value.timed.runtime_s.samples


def test_unknown_operators_of_most_time_are_named_first():
    """And the rest is summed."""
    several = profile(
        *(
            operator(f"mine.op{index}", (), (), time_s=(index * 1e-3,), unknown="no rule")
            for index in range(1, 5)
        )
    )
    assert unknown_sentences(analyse_operators(several), most=2) == [
        "mine.op4 (40 % of the time): no rule",
        "mine.op3 (30 % of the time): no rule",
        "2 more operators (30 % of the time)",
    ]


def test_operators_of_other_shapes_or_phases_are_not_alike():
    """Each is another point."""
    groups = analyse_operators(TRAINED).alike
    assert [(group.name, group.calls) for group in groups] == [
        ("aten.addmm", 1), ("aten.addmm", 1), ("aten.relu", 1), ("aten._foreach_add_", 1),
        ("aten.add", 1),
    ]  # fmt: skip


def checked(stated, counted, *, read=None, functions=0.0):
    """Return an operator of which one call was counted with cold and with warm caches."""
    one = linear("a")
    asked = replace(one.asked, work={"fp32": stated}, functions=functions)
    counts = [
        CheckedCall(state=state, work={"fp32": counted}, read_bytes=read, write_bytes=1048576,
                    meter="by hand")
        for state in ("warm", "cold")
    ]  # fmt: skip
    return replace(one, asked=asked, checked=tuple(counts))


def test_counts_stand_beside_what_rules_state():
    """Of one call; what differs by more than the tolerance is said to."""
    lines = printed(profile(checked(1e9, 2_000_000_000, read=2100000)), width=120)
    more = next(line for line in lines if "2 Gflop" in line)
    assert re.search(r"1 Gflop\s+2 Gflop\s+more\s+3.15 MB\s+3.15 MB\s+agrees", more)
    assert not any("counted" in line for line in printed(MLP, machine=None)[:20])


def test_what_was_not_counted_says_why():
    """Each reason once."""
    one = replace(linear("a"), unchecked="it needs a GPU")
    lines = printed(profile(one, one))
    assert lines.count("not counted, such as aten.addmm: it needs a GPU") == 1


def test_what_the_library_says_of_itself_stands_beside_ours():
    """XLA's cost analysis, for example."""
    lines = printed(replace(MLP, library_says={"flop": 1e9, "bytes": 2e6}))
    assert any("library says" in line and "1 Gflop, 2 MB" in line for line in lines)


def test_notebook_and_python_show_the_same():
    """As every other result."""
    text = MLP.summary(machine=MACHINE)
    assert "aten.addmm" in text
    assert "<svg" not in text
    assert analyse_operators(MLP, MACHINE).summary() == text
    assert MLP.table("modules").name == "modules"
    assert "aten.addmm" in analyse_operators(MLP, MACHINE)._repr_html_()


def test_start_up_of_a_script_is_not_outside_of_its_operators():
    """Of 10 s, 6 are imports and 3 are in operators: 1 s is left for Python."""
    script = profile(linear("a", time_s=(3.0,)), timed=(10.0,) * 3)
    script = replace(script, startup_s=6.0, attached_s=Estimate([12.0]))
    lines = printed(script)
    assert any(line.startswith("   start, end") and "6 s, 60 % of a run" in line for line in lines)
    assert any(line.startswith("   outside") and "1 s, 10 % of a run" in line for line in lines)


def test_what_is_outside_is_unknown_where_runs_differ_by_more():
    """1 s is left of 10 s, and half of all runs are more than 2 s apart."""
    script = profile(linear("a", time_s=(3.0,)), timed=(8.0, 10.0, 12.5))
    script = replace(script, startup_s=6.0, attached_s=Estimate([12.0]))
    assert analyse_operators(script, MACHINE).outside_s is None
    assert any("unknown: less than equal runs" in line for line in printed(script))


def test_a_start_that_took_longer_than_a_plain_run_is_no_share_of_it():
    """It was timed in runs of its own, on a machine that others use."""
    script = replace(profile(linear("a", time_s=(3.0,)), timed=(10.0,) * 3), startup_s=11.0)
    lines = printed(script)
    assert any(line.startswith("   start, end    11 s: imports") for line in lines)
    assert any("start, operators and end took longer, in other runs" in line for line in lines)
