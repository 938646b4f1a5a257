"""The page of records: what is in its document, and that nothing in it can do harm."""

import base64
import hashlib
import json
import math
from dataclasses import MISSING, fields, is_dataclass, replace

import kept_records
import msgspec
import pytest
from core_inputs import MACHINE, MEASUREMENT, ceiling, machine_of, measured
from page_as_text import PageParser

import ridgepoint
from ridgepoint.cli.report import shown_records
from ridgepoint.core.counted import Coverage, Uncounted
from ridgepoint.core.counts import FunctionCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.kept.archive import Archive
from ridgepoint.models.analysis import analyse
from ridgepoint.models.every_roof import every_bandwidth, every_peak, measured_cores
from ridgepoint.show.page.assemble import page_html
from ridgepoint.show.page.build import page_of
from ridgepoint.show.page.encode import in_script, page_json
from ridgepoint.show.page.records import ShownRecord
from ridgepoint.show.report import report

HOSTILE = (
    "</script><img src=x onerror=alert(1)>", "<!--<script>", "a'b\"c&amp;d", "two\nlines",
    "\u202eright to left", "[/bold] rich", "line\u2028separator", "\udcff not UTF-8", "",
)  # fmt: skip


SHOWN = (
    "heat", "sort", "stopped", "triad", "mixed", "crowded", "reads-only",
    "no-flop", "untimed", "three-ranks", "ranks", "bench", "cluster", "three-nodes", "gpu",
)  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Yield an archive of every kind of record."""
    path = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    kept_records.fill(path)
    with Archive(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(archive):
    """Return a page of each record alone, and one of several."""
    alone = {name: page_of(shown_records(archive, (name,), metric=None)) for name in SHOWN}
    together = ("triad", "two-cores", "sort", "stopped", "vm", "cluster")
    return {**alone, "all": page_of(shown_records(archive, together, metric=None))}


def page(*measurements, machine=MACHINE, **options):
    """Return the page of measurements on a machine."""
    records = [
        ShownRecord(key=str(number), value=analyse(each, machine))
        for number, each in enumerate(measurements)
    ]
    return page_of(records, **options)


def roofline(*measurements, machine=MACHINE):
    """Return the first chart of the first view, with that view."""
    shown = page(*measurements, machine=machine)
    if not measurements:
        shown = page_of([ShownRecord(key="m", value=machine)])
    view = shown.views[0]
    return view.charts[0], view


def test_what_is_left_out_is_among_the_defaults(pages):
    """A reader that puts the defaults back has all fields, as msgspec writes them."""
    for document in pages.values():
        read = json.loads(page_json(document))
        assert _complete(read, document, read["defaults"]) == json.loads(
            msgspec.json.encode({"defaults": read["defaults"], **msgspec.to_builtins(document)})
        )


def _complete(read, value, defaults):
    """Return JSON with the fields of each class put back, along the value that it is of."""
    if is_dataclass(value):
        known = defaults.get(type(value).__name__, {})
        parts = {**known, **read}
        for one in fields(value):
            own = getattr(value, one.name)
            if one.name in read:
                parts[one.name] = _complete(read[one.name], own, defaults)
            assert one.name in parts, (type(value).__name__, one.name)
        return parts
    if isinstance(value, tuple):
        return [_complete(each, own, defaults) for each, own in zip(read, value, strict=True)]
    return read


def test_each_default_is_one_of_its_class():
    """Every class of the document that has a default is listed with all of them."""
    document = page(MEASUREMENT)
    defaults = json.loads(page_json(document))["defaults"]
    seen = set()

    def visit(value):
        if is_dataclass(value):
            seen.add(type(value))
            for one in fields(value):
                visit(getattr(value, one.name))
        elif isinstance(value, tuple):
            for each in value:
                visit(each)

    visit(document)
    for kind in seen - {type(document)}:
        optional = {
            one.name
            for one in fields(kind)
            if one.default is not MISSING or one.default_factory is not MISSING
        }
        assert set(defaults.get(kind.__name__, {})) == optional, kind


def test_keys_are_unique_and_lead_somewhere(pages):
    """Marks, bars, lines and rows speak of subjects of their view, cells of facts of theirs."""
    for document in pages.values():
        keys = [view.key for view in document.views]
        assert len(keys) == len(set(keys))
        for view in document.views:
            subjects = {subject.key: subject for subject in view.subjects}
            assert len(subjects) == len(view.subjects)
            assert {subject.parent for subject in view.subjects} <= {None, *subjects} or (
                view.kind == "ranks"
            )
            for chart in view.charts:
                for part in (*chart.lines, *chart.marks, *chart.bars, *chart.areas, *chart.key):
                    assert part.subject in {"", *subjects}
            for row in view.table.rows if view.table else ():
                assert row.subject in {"", *subjects}
                facts = {fact.key for fact in subjects[row.subject].facts} if row.subject else set()
                assert {cell.fact for cell in row.cells} <= {"", *facts}
            for subject in view.subjects:
                names = [fact.key for fact in subject.facts]
                assert len(names) == len(set(names))


def test_every_tag_can_be_chosen_and_every_choice_shows_something(pages):
    """A tag has a control with this value; a value of a control is one that something has."""
    for document in pages.values():
        for view in document.views:
            controls = {control.tag: control for control in view.controls}
            values = {}
            for chart in view.charts:
                for part in (*chart.lines, *chart.marks, *chart.key):
                    for tag, value in part.tags.items():
                        values.setdefault(tag, set()).add(value)
            for tag, found in values.items():
                assert found <= {option.value for option in controls[tag].options}
            for tag, control in controls.items():
                options = [option.value for option in control.options]
                assert set(options) <= values[tag], (document.title, tag)
                assert set(control.initial) <= set(options)
                assert len(control.initial) == 1 or not control.exclusive


def test_numbers_are_those_of_the_json_report(pages, archive):
    """The raw data is what --json prints, and the table's values are found in it."""
    for name in ("heat", "triad", "crowded"):
        document = pages[name]
        (record,) = document.records
        analysis = shown_records(archive, (name,), metric=None)[0].value
        printed = json.loads(msgspec.json.encode(report(analysis)))
        assert record.report == printed
        table = document.views[0].table
        row = dict(zip([column.key for column in table.columns], table.rows[0].cells, strict=True))
        assert row["runtime_s"].value == printed["runtime_s"]["median"]
        assert row["work_flop"].value == printed["work_flop"]
        assert row["performance_per_s"].value == printed["performance_flop_per_s"]
        assert row["efficiency"].value == printed["bound"]["efficiency"]
        dram = next(level for level in printed["levels"] if level["level"] == "dram")
        assert row["dram_bytes"].value == dram["read_bytes"] + dram["write_bytes"]
        assert row["intensity_dram"].value == printed["intensity_flop_per_byte"]


def test_points_over_each_kind_of_bytes_by_hand():
    """W = 1 Gflop in 0.25 s over 600 MB read and 400 MB written."""
    both_ways = ceiling("dram", 5e9, shares=(0.5, 0.5))
    chart, _ = roofline(MEASUREMENT, machine=machine_of(ceiling("fp64", 10e9), both_ways))
    at = {
        mark.tags["bandwidth"]: mark.at
        for mark in chart.marks
        if mark.subject == "0" and mark.shape == "circle"
    }

    assert at["both"] == pytest.approx((1.0, 4e9))
    assert at["read"] == pytest.approx((1 / 0.6, 4e9))
    assert at["write"] == pytest.approx((2.5, 4e9))


def test_roofs_by_hand():
    """Of 4 cores: 40 Gflop/s and 8 GB/s meet at 5 flop/byte; of one core: 10 and 5 at 2."""
    chart, _ = roofline(MEASUREMENT)
    ends = {
        (line.tags["cores"], "roof" in line.tags): (line.places[0], line.places[-1])
        for line in chart.lines
        if line.kind == "roof" and line.label is not None and line.tags["bandwidth"] == "both"
    }

    assert ends["4", True][1] == pytest.approx((5.0, 40e9))
    assert ends["4", False][0] == pytest.approx((5.0, 40e9))
    assert ends["1", True][1] == pytest.approx((2.0, 10e9))
    # A slope of bandwidth: performance over intensity is the bandwidth, wherever it begins.
    (x, y), _ = ends["4", True]
    assert y / x == pytest.approx(8e9)


def test_pieces_of_roofs_meet():
    """Of two precisions and levels, whatever is chosen, a roof has no gap: pieces share ends."""
    machine = machine_of(
        ceiling("fp64", 10e9), ceiling("fp32", 20e9), ceiling("l1", 40e9), ceiling("dram", 5e9)
    )
    chart, _ = roofline(machine=machine)
    roofs = [line for line in chart.lines if line.tags["bandwidth"] == "both"]
    dram = [line for line in roofs if line.tags.get("roof") == "dram" and "DRAM" in line.name]
    base = next(line for line in dram if "precision" not in line.tags)
    further = {line.tags["precision"]: line for line in dram if "precision" in line.tags}
    assert base.places[-1] == pytest.approx((2.0, 10e9))  # fp64 meets it first
    assert set(further) == {"fp32"}
    assert further["fp32"].places == (pytest.approx((2.0, 10e9)), pytest.approx((4.0, 20e9)))
    peak = [line for line in roofs if line.tags.get("precision") == "fp64" and "fp64" in line.name]
    assert [line.places[0] for line in peak if "roof" not in line.tags] == [
        pytest.approx((2.0, 10e9))
    ]
    # Where L1 is chosen too, the peak begins where that meets it.
    assert [line.places for line in peak if line.tags.get("roof") == "l1"] == [
        (pytest.approx((0.25, 10e9)), pytest.approx((2.0, 10e9)))
    ]


def test_bands_are_the_intervals_of_ceilings():
    """A roof has the 95 % interval of its ceiling, and none where that does not tell."""
    rates = Estimate([9e9, 10e9, 11e9], interval=(8e9, 12e9))
    own = replace(ceiling("fp64", 10e9), rate=rates)
    machine = machine_of(own, ceiling("dram", 5e9), cores=2)
    (peak,) = every_peak(machine, cores=1.0)
    (twice,) = every_peak(machine, cores=2.0)
    (slope,) = every_bandwidth(machine, cores=1.0)

    assert (peak.rate, peak.interval) == (10e9, (8e9, 12e9))
    assert (twice.rate, twice.interval) == (20e9, None)  # at most: nothing was measured with two
    assert slope.interval is None  # one sample
    chart, _ = roofline(machine=machine)
    band = next(line for line in chart.lines if line.name.startswith("fp64") and line.low)
    assert (band.low, band.high) == ((8e9, 8e9), (12e9, 12e9))


def test_cores_are_those_measured_and_all():
    """Of parts of a machine there are no roofs."""
    part = Ceiling(
        resource="dram", name="copy", threads=3, unit="byte/s", rate=Estimate([1e9]), part="node 0"
    )
    assert measured_cores(machine_of(ceiling("fp64", 1e9, threads=2), part, cores=8)) == [2.0, 8.0]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_change_no_element(name):
    """Whatever a user calls things, the page has the elements of any other page, and no more."""
    counted = MEASUREMENT.counted
    function = FunctionCounts(name=name or "f", object=None, counts=counted.counts)
    hostile = replace(
        MEASUREMENT, command=(name or "x", name), counted=replace(counted, functions=(function,))
    )
    shown = ShownRecord(key="1", value=analyse(hostile, MACHINE), label=name or None, note=name)
    text = page_html(page_of([shown], title=name or None)).decode()
    parser = PageParser(text)
    usual = PageParser(page_html(page(MEASUREMENT)).decode())

    assert [tag for tag, _ in parser.elements] == [tag for tag, _ in usual.elements]
    document = json.loads(parser.scripts["application/json"])
    assert document["records"][0]["report"]["command"][0]
    assert parser.scripts["program"] == usual.scripts["program"]
    for separator in "\u2028\u2029":
        assert separator not in parser.scripts["application/json"]


def test_json_in_a_script_is_the_same_json():
    """Escapes change how it is written, not what it says."""
    said = {"a": "</script>&<!--\u2028\u2029", "b": [1.5, None]}
    text = in_script(json.dumps(said, ensure_ascii=False).encode())

    assert json.loads(text) == said
    assert not set("<>&\u2028\u2029") & set(text)


def test_nothing_is_asked_from_outside_and_only_the_own_script_runs():
    """No element names another file, and the policy allows the script by its digest."""
    parser = PageParser(page_html(page(MEASUREMENT)).decode())
    policy = next(
        attributes["content"]
        for tag, attributes in parser.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )

    assert not [tag for tag, attributes in parser.elements if {"src", "href"} & set(attributes)]
    assert not [tag for tag, _ in parser.elements if tag in {"link", "iframe", "object", "base"}]
    digest = base64.b64encode(hashlib.sha256(parser.scripts["program"].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_same_records_same_bytes(archive):
    """Twice from the archive."""
    first, second = (
        page_html(page_of(shown_records(archive, ("triad", "three-ranks", "small"), metric=None)))
        for _ in range(2)
    )

    assert first == second


def test_what_is_unknown_is_said_so():
    """A program that was counted alone has no time, no performance and no share; none is 0."""
    untimed = measured(wall_s=None, traffic=(Traffic(level="l1", read_bytes=8, write_bytes=None),))
    _, view = roofline(untimed)
    subject = next(subject for subject in view.subjects if subject.key == "0")
    facts = {fact.key: fact.text for fact in subject.facts}

    for key in ("runtime", "performance", "efficiency", "bytes-l1", "bytes-dram", "intensity-l1"):
        assert facts[key].startswith("unknown"), key
    cells = dict(zip((c.key for c in view.table.columns), view.table.rows[0].cells, strict=True))
    for key in ("runtime_s", "performance_per_s", "l1_bytes", "intensity_l1", "efficiency"):
        assert cells[key].value is None
        assert cells[key].text == "unknown"


def test_infinite_intensity_is_drawn_at_the_edge_and_is_no_number():
    """No byte at DRAM."""
    nothing = (Traffic(level="dram", read_bytes=0, write_bytes=0),)
    chart, view = roofline(measured(traffic=nothing))
    mark = next(mark for mark in chart.marks if mark.subject == "0")
    read = json.loads(page_json(page(measured(traffic=nothing))))

    assert mark.edge == "right"
    assert mark.at[0] == chart.x.limits[1]
    cells = dict(zip((c.key for c in view.table.columns), view.table.rows[0].cells, strict=True))
    assert (cells["intensity_dram"].text, cells["intensity_dram"].value) == ("infinite", None)
    assert math.isfinite(read["views"][0]["charts"][0]["x"]["limits"][1])


def test_formulas_hold_with_the_numbers_in_them():
    """What a fact says it was computed from gives what it says."""
    _, view = roofline(MEASUREMENT)
    facts = {fact.key: fact for fact in view.subjects[0].facts}

    assert facts["intensity-dram"].how == "I = W / Q = 1 Gflop / 1 GB"
    assert facts["intensity-dram"].text == "1 flop/byte"
    assert facts["performance"].how == "P = W / T = 1 Gflop / 250 ms"
    assert facts["performance"].text.startswith("4 Gflop/s")
    # 1 GB at 5 GB/s on the one core that it kept busy takes 200 ms of 250 ms.
    assert facts["bound"].text == "200 ms"
    assert facts["efficiency"].text == "80 %"


def test_records_on_different_machines_can_be_told_apart():
    """Their roofs have the tag of their machine, the first one's are shown at first."""
    other = machine_of(ceiling("fp64", 1e9), ceiling("dram", 1e9), name="other")
    document = page_of(
        [
            ShownRecord(key="a", value=analyse(MEASUREMENT, MACHINE)),
            ShownRecord(key="b", value=analyse(MEASUREMENT, other)),
        ]
    )
    view = document.views[0]
    control = next(control for control in view.controls if control.tag == "machine")

    assert [option.title for option in control.options] == ["none, test bench", "none, other"]
    assert control.initial == ("machine/0",)
    roofs = [line for line in view.charts[0].lines if line.kind in {"roof", "other"}]
    assert {line.tags["machine"] for line in roofs} == {"machine/0", "machine/1"}
    # With all cores of each there are roofs of both: 4 cores and one.
    heights = {
        line.tags["machine"]: line.places[-1][1]
        for line in roofs
        if line.tags["cores"] == "all" and "fp64" in line.name and line.label is not None
    }
    assert heights == {"machine/0": 40e9, "machine/1": 1e9}


def test_of_many_functions_without_a_time_six_are_drawn():
    """Those that executed most; the table has them all."""
    counts = MEASUREMENT.counted.counts
    functions = tuple(
        FunctionCounts(
            name=f"f{number}",
            object=None,
            counts=replace(counts, instructions=counts.instructions - number),
            traffic=MEASUREMENT.counted.traffic,
        )
        for number in range(20)
    )
    many = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, functions=functions))
    chart, view = roofline(many)
    drawn = {mark.name for mark in chart.marks if mark.subject.startswith("0/function")}

    assert drawn == {f"f{number}" for number in range(6)}
    assert len(view.table.rows) == 21
    assert any("20 functions without a point" in note for note in view.notes)


def test_python_writes_what_the_command_line_does(tmp_path):
    """`ridgepoint.report` refuses what it cannot show, and writes the rest."""
    path = tmp_path / "page.html"
    ridgepoint.report(analyse(MEASUREMENT, MACHINE), MACHINE, path=path, title="mine")
    ridgepoint.report(MEASUREMENT, machine=MACHINE, path=tmp_path / "page.json")

    assert "<title>mine</title>" in path.read_text()
    assert json.loads((tmp_path / "page.json").read_text())["schema"] == 1
    with pytest.raises(TypeError, match="cannot report a str"):
        ridgepoint.report("heat", path=path)
    with pytest.raises(TypeError, match="nothing to report"):
        ridgepoint.report(path=path)
    with pytest.raises(ridgepoint.RidgepointError, match=r"let its name end in \.html"):
        ridgepoint.report(MACHINE, path=tmp_path / "page.txt")


@pytest.mark.parametrize(
    ("meter", "coverage", "share", "said"),
    [
        ("engine (Valgrind 3.19.0)", None, 1.0, "every instruction"),
        ("native (4aab)", None, None, "unknown which share of its time"),
        ("native (4aab)", Coverage(share=0.9, samples=10), None, "10 samples are too few"),
        (
            "native (4aab)",
            Coverage(
                share=0.97,
                samples=400,
                uncounted=(Uncounted(name="f", object=None, share=0.03),),
            ),
            0.97,
            "97 % of its time was in counted code; not counted: f 3.0 %",
        ),
    ],
)
def test_coverage_is_known_or_said_to_be_unknown(meter, coverage, share, said):
    """Of a program whose counts may not be of all of it."""
    counted = replace(MEASUREMENT.counted, meter=meter, coverage=coverage)
    covered = roofline(replace(MEASUREMENT, counted=counted))[1].coverage

    assert covered.share == share
    assert said in covered.text


def test_coverage_of_several_is_the_least():
    """What is not known of one is not known of all."""
    shares = [
        replace(
            MEASUREMENT,
            counted=replace(MEASUREMENT.counted, coverage=Coverage(share=share, samples=400)),
        )
        for share in (0.99, 0.5)
    ]
    unknown = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, partial="a time limit"))

    assert roofline(*shares)[1].coverage.share == 0.5
    assert roofline(*shares, unknown)[1].coverage.share is None


def test_scaling_of_records_by_hand():
    """One second on one core and 0.6 s on two: 1.67 times as fast, an efficiency of 83 %."""
    alone, both = (
        ShownRecord(key=f"{cores}", value=analyse(measured(wall_s=(wall,)), MACHINE, cores=cores))
        for cores, wall in ((1, 1.0), (2, 0.6))
    )
    other = replace(measured(wall_s=(9.0,)), command=("./other",))
    third = ShownRecord(key="3", value=analyse(other, MACHINE, cores=4))
    views = page_of([alone, both, third]).views
    (view,) = [view for view in views if view.kind == "scaling"]
    rows = [[cell.value for cell in row.cells[1:]] for row in view.table.rows]

    assert rows == [
        [1, 1.0, None, None],
        [2, 0.6, pytest.approx(1 / 0.6), pytest.approx(1 / 1.2)],
    ]
    assert [mark.at for mark in view.charts[0].marks] == [
        (1.0, 1.0),
        (2.0, pytest.approx(1 / 0.6)),
    ]


def test_no_scaling_where_there_is_one_number_of_cores():
    """Of one record, or of several on as many cores."""
    document = page(MEASUREMENT, MEASUREMENT)

    assert "scaling" not in {view.kind for view in document.views}


def test_of_very_many_functions_those_that_hardly_did_anything_are_left_out(monkeypatch):
    """And a note says how many; in the view of the other unit of work they always are."""
    monkeypatch.setattr("ridgepoint.show.page.roofline._MOST_FUNCTIONS", 3)
    counts = MEASUREMENT.counted.counts
    little = replace(counts, instructions=10, flop=())
    functions = (
        FunctionCounts(name="main", object=None, counts=counts),
        *(FunctionCounts(name=f"f{number}", object=None, counts=little) for number in range(3)),
    )
    many = replace(MEASUREMENT, counted=replace(MEASUREMENT.counted, functions=functions))
    _, view = roofline(many)

    assert [subject.name for subject in view.subjects] == ["prog 'an argument'", "main"]
    assert any("3 functions that hardly did anything left out" in note for note in view.notes)
