"""``ridgepoint pipeline`` as a user runs it: the memo's numbers, examples, and bad input."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from core_inputs import COUNTS, MACHINE, MEASUREMENT, measured

from ridgepoint.core.counts import RegionCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import TimedRegion
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file import examples

MEMO = """\
name = "memo"
machine = { name = "device", compute = "4000 Gflop/s", bandwidth = "250 GB/s" }
load = "415105.57 Gflop/s"
host_time = "2 s"

[stages.grid]
work = "6400 Gflop"
intensity = "20 flop/B"
time = "4 s"

[stages.ifft]
work = "156.25 Gflop"
bytes = "125 GB"
time = "1000 ms"

[stages.deconvolve]
work = "225 Gflop"
bytes = "450 GB"
efficiency = 0.6

[stages.fft]
like = "ifft"

[stages.degrid]
like = "grid"
work = "4800 Gflop"
intensity = "20 flop/B"
"""


@pytest.fixture
def pipeline(cli):
    """Return a function that writes a file and runs the command on it."""

    def run(text, *arguments, name="p.toml"):
        path = cli.folder / name
        path.write_text(text)
        return cli("pipeline", path, *arguments)

    run.folder = cli.folder
    run.cli = cli
    return run


def shown(result):
    """Return what was printed as JSON."""
    status, out, err = result

    assert (status, err) == (0, "")
    return json.loads(out)


def refused(result, *words):
    """Assert one line that says what is wrong, and status 2."""
    status, out, err = result

    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    for word in words:
        assert word in err


# --- what it shows ------------------------------------------------------------------------------


def test_the_memo_s_numbers_from_a_file(pipeline):
    """Times, an efficiency, references and units lead to 460 devices."""
    found = shown(pipeline(MEMO, "--json"))
    composites = {one["equation"]: one for one in found["composites"]}

    assert [one["time_s"] for one in found["stages"]] == pytest.approx([4, 1, 3, 1, 4])
    assert composites["Eq. (5)"]["intensity"] == pytest.approx(9.315476, abs=5e-7)
    assert composites["Eq. (7)"]["intensity"] == pytest.approx(12.615385, abs=5e-7)
    assert composites["Eq. (8)"]["intensity"] == pytest.approx(10.153846, abs=5e-7)
    assert found["compute_efficiency"]["median"] == pytest.approx(0.225721, abs=5e-7)
    assert found["devices"]["median"] == pytest.approx(459.755, abs=5e-4)
    assert found["devices"]["whole"]["median"] == 460
    assert found["devices_if_they_wait"] == pytest.approx(459.755 * 15 / 13, abs=1e-3)
    assert found["total_time_s"]["median"] == pytest.approx(15)
    # Eq. (4): 320, 125, 450, 125 and 240 GB in 4, 1, 3, 1 and 4 s; 1260 GB in 13 s.
    assert [one["moved_bytes_per_s"] for one in found["stages"]] == pytest.approx(
        [80e9, 125e9, 150e9, 125e9, 60e9]
    )
    assert found["moved_bytes_per_s"] == pytest.approx(1260e9 / 13)
    assert [(one["used"], one["devices"]["whole"]["median"]) for one in found["legroom"]] == [
        (0.8, 575),
        (0.9, 511),
    ]


def test_the_tables_say_all_of_it(pipeline):
    """Devices, legroom, host time, why composites differ."""
    status, out, err = pipeline(MEMO)

    assert (status, err) == (0, "")
    assert "415.1 Tflop/s, Eq. (10): 460 (no interval: single values)" in out
    assert "with a legroom of 20 %, 80 % used: 575\n" in out
    assert "with a legroom of 10 %, 90 % used: 511\n" in out
    assert "Eq. (8): weighted by measured and assumed times: deconvolve" in out
    assert "compute gains more" in out
    assert "902.9 Gflop/s and 96.92 GB/s, Eqs. (3) and (4)" in out


@pytest.mark.parametrize("name", examples())
def test_every_example_works_as_it_is(pipeline, name):
    """Printed, written to a file, and run; it draws its figures, too."""
    status, text, err = pipeline.cli("pipeline", "--example", name)
    assert (status, err) == (0, "")

    folder = pipeline.folder / "figures"
    found = shown(pipeline(text, "--json", "--figures", folder))
    drawn = {path.name for path in folder.rglob("*.svg")}
    assert found["kind"] == ("observation" if name == "observation" else "pipeline")
    assert {"pipeline.svg", "roofline.svg", "time.svg", "devices.svg", "sensitivity.svg"} <= drawn


def test_the_example_without_a_name_is_the_imaging_pipeline(cli):
    """And one that is not there says which are."""
    assert "continuum imaging" in cli("pipeline", "--example")[1]
    refused(cli("pipeline", "--example", "nothing"), "imaging, memo, observation, sdp-low")


def test_the_legroom_is_what_the_file_leaves(pipeline):
    """Of 459.755 devices that are used to a half; and a bare legroom is ambiguous."""
    found = shown(pipeline("used = 0.5\n" + MEMO, "--json"))["legroom"]

    assert [(one["used"], one["devices"]["whole"]["median"]) for one in found] == [(0.5, 920)]
    refused(pipeline("legroom = 0.2\n" + MEMO), "p.toml:1, legroom", "spare or used", "used = ")


def test_equal_gains_are_a_tie(pipeline):
    """Half the time at each roof: a tenth more of either saves the same."""
    text = (
        'machine = { compute = "1 Gflop/s", bandwidth = "1 GB/s" }\n'
        '[stages.a]\nwork = "10 Gflop"\nbytes = "1 GB"\n'
        '[stages.b]\nwork = "1 Gflop"\nbytes = "10 GB"\n'
    )

    assert "compute: 1.0476x; bandwidth: 1.0476x, so both gain the same" in pipeline(text)[1]
    assert shown(pipeline(text, "--json"))["sensitivity"]["device"]["better"] is None


def test_a_stage_at_the_ridge_is_limited_by_both(pipeline):
    """At exactly 16 flop/byte; a tenth less intensity is memory's alone."""
    text = MEMO.replace('intensity = "20 flop/B"', 'intensity = "16 flop/B"', 1)
    stages = shown(pipeline(text, "--json"))["stages"]

    assert [one["is_at_the_ridge"] for one in stages] == [True, False, False, False, False]
    assert re.search(r"^grid .* both *$", pipeline(text)[1], re.M)


def test_a_copy_needs_only_bytes_and_a_loop_only_work(pipeline):
    """Their kinds say what they lack."""
    text = (
        HEAD
        + STAGE
        + (
            '[stages.c]\nkind = "copy"\nbytes = "2 GB"\n'
            '[stages.l]\nkind = "compute"\nwork = "1 flop"\n'
        )
    )
    stages = shown(pipeline(text, "--json"))["stages"]

    assert [(one["work"], one["moved_bytes"]) for one in stages[1:]] == [(0, 2e9), (1, 0)]
    refused(pipeline(HEAD + '[stages.c]\nkind = "copy"\n'), "p.toml:2, stages.c", "bytes")


def test_names_of_stages_are_printed_as_they_are(pipeline):
    """They may look like the markup of tables."""
    text = HEAD + '[stages."[/red]"]\nwork = "1 Tflop"\nbytes = "1 GB"\ntime = "4 s"\n'
    status, out, _ = pipeline(text)

    assert status == 0
    assert any(line.startswith("[/red]  1 Tflop") for line in out.splitlines())


FIGURES = '{{ name = "{}", compute = "{}", bandwidth = "{}" }}'


def test_machines_by_figures_stand_beside_each_other(pipeline):
    """Gridding on the one that computes twice as fast, copying where memory is ten times faster."""
    text = (
        f"machine = {FIGURES.format('one', '1 Tflop/s', '1 TB/s')}\n"
        f"machines = [{FIGURES.format('two', '2 Tflop/s', '100 GB/s')}]\n"
        'load = "1 Tflop/s"\n'
        '[stages.grid]\nwork = "8 Tflop"\nbytes = "1 GB"\nefficiency = 0.5\n'
        '[stages.fft]\nwork = "1 Gflop"\nbytes = "1 TB"\nefficiency = 0.5\n'
    )
    found = shown(pipeline(text, "--json"))["assignment"]

    assert [one["machine"] for one in found["stages"]] == ["two", "one"]
    assert found["time_s"] == pytest.approx(8 + 2)
    assert [one["time_s"] for one in found["alone"]] == pytest.approx([16 + 2, 8 + 20])
    assert [one["devices"] for one in found["alone"]] == pytest.approx([18 / 8.001, 28 / 8.001])
    refused(pipeline(text.replace("[{", "[{ x = 1,")), "p.toml:2, machines[0].x", "no such key")
    # Neither is dropped as if it were the other.
    for named in ('"one"', '"two"'):
        text = text.replace(f"name = {named}, ", "")
    refused(pipeline(text), "p.toml:2, machines: two machines have one name", 'name = "NAME"')


def test_several_machines_of_the_command_line_replace_those_of_the_file(pipeline):
    """The first one bounds."""
    found = shown(pipeline(MEMO, "--machine", "h200", "--machine", "a100", "--json"))

    assert found["machine"]["name"] == "h200"
    assert [one["machine"] for one in found["assignment"]["alone"]] == ["h200", "a100"]
    status, _, err = pipeline(MEMO, "--machine", "h200", "--machine", "H200")
    assert status == 2
    assert "two machines are called 'h200'" in err
    given = (
        "--machine",
        "fp32=8Tflop/s, beta=500GB/s, name=one",
        "--machine",
        "fp32=1Tflop/s, beta=1TB/s",
    )
    found = shown(pipeline(MEMO, *given, "--json"))["assignment"]["alone"]
    assert [(one["machine"], one["peak"]) for one in found] == [
        ("one", 8e12),
        ("given machine", 1e12),
    ]


def test_memory_affinity_follows_from_the_bandwidth_of_another_node(pipeline):
    """At 30 % of its roof; memory of the other node gives 40 %: at most 2.5 times as fast."""
    text = (
        'machine = { compute = "4 Tflop/s", bandwidth = "250 GB/s", other_node = "100 GB/s" }\n'
        + STAGE
        + "efficiency = 0.3\n"
    )
    advice = shown(pipeline(text, "--json"))["advice"]
    (found,) = (one for one in advice if one["kind"] == "affinity")

    assert found["gain"] == pytest.approx(2.5)
    assert "gives 40 %" in found["seen"]
    refused(
        pipeline(text.replace("100 GB", "300 GB")), "p.toml:1, machine", "300 GB/s", "less than"
    )


def test_pipelines_are_drawn_in_folders_of_their_names(pipeline):
    """Names that differ only for a file system's eyes included."""
    (pipeline.folder / "one.toml").write_text(MEMO)
    text = "".join(
        f'[pipelines."{name}"]\nweight = {weight}\nfile = "one.toml"\n'
        for name, weight in (("Low/DPrepA", 0.5), ("low dprepa", 0.25), ("..", 0.25))
    )
    status, _, err = pipeline(text, "--figures", pipeline.folder / "drawn")

    assert (status, err) == (0, "")
    assert {path.name for path in (pipeline.folder / "drawn").iterdir()} == {
        "low-dprepa",
        "low-dprepa-2",
        "pipeline",
        "observation.svg",
    }


def test_long_times_are_in_minutes_and_hours(pipeline):
    """As people say them."""
    out = pipeline(MEMO.replace('"4 s"', '"2.5 h"').replace('"2 s"', '"1500 s"'))[1]

    assert re.search(r"^grid .* 2\.5 h ", out, re.M)
    assert "with the host's 25 min" in out


def test_memo_10_is_estimated_by_aggregates(pipeline):
    """11737.5 Gflop over 1260 GB, times 250 GB/s or the 96.92 GB/s that are reached."""
    found = shown(pipeline(MEMO, "--json"))["aggregate"]

    assert found["at_the_machine"]["compute_efficiency"] == pytest.approx(9.315476 / 16, abs=1e-7)
    assert found["at_the_machine"]["devices"] == pytest.approx(415105.57 / 250 / 9.315476, rel=1e-6)
    assert found["at_what_is_reached"]["compute_efficiency"] == pytest.approx(0.225721, abs=5e-7)


def test_published_loads_become_devices_of_another_machine(pipeline):
    """Loads are rates: work of one second; the sum of times is the number for the stages."""
    text = pipeline.cli("pipeline", "--example", "sdp-low")[1]
    found = shown(pipeline(text, "--machine", "h200", "--json"))
    imaging = sum(one["work"] for one in found["stages"])

    assert found["machine"]["name"] == "h200"
    assert found["load_per_s"] == pytest.approx(0.415106e15)
    assert imaging / found["load_per_s"] == pytest.approx(0.175, abs=5e-4)
    assert found["devices"]["median"] == pytest.approx(
        found["time_s"]["median"] * found["load_per_s"] / imaging
    )


def test_published_loads_are_listed(cli):
    """With what is not published."""
    status, out, _ = cli("pipeline", "--published")

    assert status == 0
    assert "low-dprepa   24.98  11.34" in out
    assert "memory traffic, efficiencies, weights: not published" in out
    found = shown(cli("pipeline", "--published", "--json"))
    assert found["products"]["low-dprepa"]["stages_flop_per_s"]["grid"] == pytest.approx(24.9761e12)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--published", "-o", "x.svg"], "--output"),
        (["--published", "--figures", "x"], "--figures"),
        (["--published", "--machine", "h200"], "--machine"),
        (["--published", "p.toml"], "a file"),
        (["--example", "memo", "--json"], "--json"),
        (["--example", "--published"], "--published"),
    ],
)
def test_what_only_prints_refuses_what_it_would_ignore(cli, arguments, word):
    """By name."""
    status, out, err = cli("pipeline", *arguments)

    assert (status, out) == (2, "")
    assert f"only prints: it cannot be combined with {word}" in err


def test_a_figure_is_written(pipeline):
    """By its ending; an observation needs a folder."""
    path = pipeline.folder / "p.png"
    status, _, err = pipeline(MEMO, "-o", path)

    assert (status, err) == (0, "")
    assert path.read_bytes().startswith(b"\x89PNG")
    refused(pipeline(MEMO, "-o", pipeline.folder / "p.gif"), ".gif")


def test_a_measured_stage_has_its_work_bytes_and_time_from_the_archive(pipeline):
    """1 Gflop fp64, 600 + 400 MB, 0.25 s, on the machine that it was bounded by."""
    with Archive(pipeline.cli.archive) as archive:
        number = archive.keep_machine(MACHINE)
        archive.keep_measurement(MEASUREMENT, number)
    found = shown(pipeline("[stages.run]\nmeasurement = 2\n", "--json"))
    stage = found["stages"][0]

    assert found["machine"]["name"] == MACHINE.name
    assert (stage["work"], stage["moved_bytes"], stage["time_s"]) == (1e9, 1e9, 0.25)
    assert stage["from"] == "measurement 2"
    # 600 + 400 MB at 8 GB/s: 0.125 s.
    assert stage["programming_efficiency"] == pytest.approx(0.5)


def test_a_kept_measurement_and_a_kept_machine_are_found_by_name(pipeline):
    """As by their numbers."""
    with Archive(pipeline.cli.archive) as archive:
        number = archive.keep_machine(replace(MACHINE, name="kept"), label="bench")
        archive.keep_measurement(MEASUREMENT, number, label="before")
    text = 'machine = "bench"\n[stages.run]\nmeasurement = "before"\n'
    found = shown(pipeline(text, "--json"))

    assert found["machine"]["name"] == "kept"
    assert (found["stages"][0]["work"], found["stages"][0]["time_s"]) == (1e9, 0.25)
    refused(pipeline('[stages.run]\nmeasurement = "befor"\n'), "p.toml:2", "has this name")


def test_numbers_of_records_are_doubted_and_names_are_not(pipeline):
    """Another archive has another machine of this number, and says nothing of it."""
    with Archive(pipeline.cli.archive) as archive:
        number = archive.keep_machine(MACHINE, label="bench")
        archive.keep_measurement(MEASUREMENT, number, label="before")

    def doubts(text, *options):
        cautions = shown(pipeline(text, "--json", *options))["cautions"]
        return [one["seen"] for one in cautions if one["code"] == "by-number"]

    (seen,) = doubts("machine = 1\n[stages.a]\nmeasurement = 2\n")
    assert seen.startswith("machine 1, measurement 2: ")
    assert str(pipeline.cli.archive) in seen
    assert doubts("machine = 1\n" + STAGE.replace("fp32", "fp64"), "--machine", "h200") == []
    assert len(doubts('machine = "1"\n' + STAGE.replace("work", 'precision = "fp64"\nwork'))) == 1
    assert doubts('machine = "bench"\n[stages.a]\nmeasurement = "before"\n') == []


def test_times_of_another_machine_are_doubted(pipeline):
    """A time belongs to the machine it was measured on."""
    with Archive(pipeline.cli.archive) as archive:
        archive.keep_measurement(MEASUREMENT, archive.keep_machine(MACHINE))
    text = 'machine = "h200"\n[stages.run]\nmeasurement = 2\n'
    found = shown(pipeline(text, "--json"))

    assert "other-machine" in {one["code"] for one in found["cautions"]}


def test_a_pure_copy_is_taken_where_it_is_said(pipeline):
    """It takes time and does no work."""
    text = MEMO + '[stages.turn]\nkind = "copy"\nwork = "0 flop"\nbytes = "250 GB"\ntime = "2 s"\n'
    stage = shown(pipeline(text, "--json"))["stages"][-1]

    assert (stage["intensity"], stage["bound_s"], stage["performance_per_s"]) == (0, 1, 0)


def test_a_pure_loop_makes_eq_7_infinite_and_nothing_else(pipeline):
    """Null, since JSON has no infinity."""
    text = MEMO + '[stages.loop]\nkind = "compute"\nwork = "4 Tflop"\nbytes = "0 B"\n'
    found = shown(pipeline(text, "--json", "-o", pipeline.folder / "p.svg"))

    assert found["stages"][-1]["intensity"] is None
    assert [one["intensity"] is None for one in found["composites"]] == [False, True, False, False]


def test_major_cycles_give_the_repeats(pipeline):
    """Five cycles: 8, 7 and 6."""
    text = "major_cycles = 5\n" + MEMO.replace('time = "4 s"', 'time = "4 s"\nrepeat = "invert"')
    found = shown(pipeline(text, "--json"))

    assert found["stages"][0]["time_s"] == 32


def test_an_observation_of_two_files(pipeline):
    """Weights of 0.25 and 0.75; each T_j is 15 s."""
    (pipeline.folder / "one.toml").write_text(MEMO)
    text = (
        'period = "1 min"\n[pipelines.a]\nweight = 0.25\nfile = "one.toml"\n'
        '[pipelines.b]\nweight = 0.75\nfile = "one.toml"\n'
    )
    found = shown(pipeline(text, "--json"))["observation"]

    assert found["time_s"]["median"] == pytest.approx(15)
    assert found["devices"]["median"] == pytest.approx(459.755, abs=5e-4)
    assert [one["devices_to_fit"]["median"] for one in found["legroom"]] == pytest.approx(
        [15 / 60 / 0.8, 15 / 60 / 0.9]
    )


def test_devices_of_several_kinds_are_not_added_up(pipeline):
    """A number of them would be of neither kind; each pipeline's own is known."""
    (pipeline.folder / "one.toml").write_text(MEMO)
    (pipeline.folder / "two.toml").write_text(MEMO.replace('"device"', '"another"'))
    text = (
        'period = "1 min"\n[pipelines.a]\nweight = 0.25\nfile = "one.toml"\n'
        '[pipelines.b]\nweight = 0.75\nfile = "two.toml"\n'
    )
    found = shown(pipeline(text, "--json"))

    assert found["observation"]["devices"] is None
    assert found["observation"]["legroom"][0]["devices_to_fit"] is None
    assert found["observation"]["time_s"]["median"] == pytest.approx(15)
    assert found["pipelines"][0]["devices"]["whole"]["median"] == 460
    assert "of several kinds (device, another)" in pipeline(text)[1]


def test_a_region_is_a_stage_of_its_own(pipeline):
    """Its own work, bytes and time, out of a measured program."""
    moved = Traffic(level="dram", read_bytes=10**9, write_bytes=None)
    region = RegionCounts(name="fft", counts=COUNTS, traffic=(moved,))
    timed = TimedRegion(name="fft", entries=1, runtime_s=Estimate([0.5]), busy_s=Estimate([0.5]))
    counted = replace(MEASUREMENT.counted, regions=(region,))
    whole = replace(MEASUREMENT, counted=counted, timed_regions=(timed,))
    with Archive(pipeline.cli.archive) as archive:
        archive.keep_measurement(whole, archive.keep_machine(MACHINE))
    text = '[stages.fft]\nmeasurement = 2\nregion = "fft"\n'
    found = shown(pipeline(text, "--json"))

    assert found["stages"][0]["time_s"] == 0.5
    assert found["stages"][0]["moved_bytes"] == 1e9
    assert "reads-only" in {one["code"] for one in found["cautions"]}


def test_a_machine_s_file_is_looked_for_beside_the_pipeline(
    pipeline, monkeypatch, tmp_path_factory
):
    """Wherever the command is run."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    text = 'precision = "fp64"\nmachine = "machine.json"\n' + STAGE
    found = shown(pipeline(text, "--json"))

    assert found["machine"]["name"] == MACHINE.name


# --- bad input ----------------------------------------------------------------------------------

STAGE = '[stages.s]\nwork = "1 Gflop"\nbytes = "1 GB"\n'
HEAD = 'machine = "h200"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["p.toml:", "it has no stages"]),
        ("[stages]\n" + HEAD, ["p.toml:2, stages.machine", "not a table"]),
        (STAGE, ["it names no machine"]),
        (HEAD + STAGE + 'time = "0 s"\n', ["p.toml:5, stages.s.time", "must be > 0"]),
        (HEAD + STAGE + 'time = "nan s"\n', ["p.toml:5, stages.s.time", "not finite"]),
        (HEAD + STAGE + "efficiency = nan\n", ["p.toml:5, stages.s.efficiency", "must be > 0"]),
        (HEAD + STAGE + "efficiency = 1.2\n", ["p.toml:5", "at most 1"]),
        (HEAD + STAGE + "time = 4\n", ["p.toml:5", "has no unit", '"4 s']),
        (HEAD + STAGE + 'time = "4 parsec"\n', ["p.toml:5, stages.s.time", "no unit of time"]),
        (HEAD + STAGE + "time = []\n", ["p.toml:5", "empty"]),
        (HEAD + STAGE + 'time = { median = "1 s" }\n', ["p.toml:5", "median, low and high"]),
        (
            HEAD + STAGE + 'time = { median = "1 s", low = "2 s", high = "3 s" }\n',
            ["p.toml:5", "interval must hold the median"],
        ),
        (HEAD + STAGE.replace("1 Gflop", "0 flop"), ["p.toml:3, stages.s.work", "pure copy"]),
        (HEAD + STAGE.replace("1 GB", "0 B"), ["p.toml:4, stages.s.bytes", "pure compute loop"]),
        (HEAD + STAGE + 'kind = "copy"\n', ["p.toml:5, stages.s.kind", "not a pure copy"]),
        (HEAD + '[stages.s]\nwork = "1 flop"\n', ["p.toml:2, stages.s", "either bytes or int"]),
        (HEAD + STAGE + 'intensity = "1 flop/B"\n', ["p.toml:5", "either bytes or int"]),
        (HEAD + "[stages.s]\n", ["p.toml:2, stages.s", "does not say what the stage does"]),
        (HEAD + STAGE + 'formula = "fft"\n', ["p.toml:5, stages.s.formula", "both say"]),
        (HEAD + STAGE + 'tiem = "1 s"\n', ["p.toml:5, stages.s.tiem", "did you mean 'time'?"]),
        (HEAD + STAGE + "repeat = 0\n", ["p.toml:5, stages.s.repeat", "> 0"]),
        (HEAD + STAGE + 'repeat = "invert"\n', ["p.toml:5", "major cycles"]),
        (HEAD + STAGE + "repeat = true\n", ["p.toml:5", "not a number"]),
        (HEAD + STAGE + 'region = "a"\n', ["p.toml:5, stages.s.region", "only a measurement"]),
        (HEAD + STAGE.replace("Gflop", "GBOP"), ["p.toml:3, stages.s.work", "'fp32' is counted"]),
        (HEAD + STAGE + 'precision = "int8"\n', ["p.toml:3, stages.s.work", "write it in op"]),
        (HEAD + 'load = "1 TBOP/s"\n' + STAGE, ["p.toml:2, load", "counted in flop"]),
        ('machine = { compute = "1 TBOP/s", bandwidth = "1 GB/s" }\n' + STAGE,
         ["p.toml:1, machine", "counts BOP"]),
        (HEAD + 'machines = [{ compute = "1 Top/s", bandwidth = "1 GB/s" }]\n' + STAGE,
         ["p.toml:2, machines", "counts op"]),
        (HEAD + STAGE + 'precision = "fp12"\n', ["p.toml:5, stages.s.precision", "fp12"]),
        (HEAD + '[stages.s]\nwork = "1 Gflop/s"\nbytes = "1 B"\n', ["p.toml:3", "is a rate"]),
        (HEAD + '[stages.s]\nwork = "1 Gflops"\nbytes = "1 B"\n', ["p.toml:3", "count or a rate"]),
        (HEAD + 'load = "4 Tflop"\n' + STAGE, ["p.toml:2, load", "total, where a rate is needed"]),
        (HEAD + 'load = "0 flop/s"\n' + STAGE, ["p.toml:2, load", "must be > 0"]),
        (HEAD + "load = 4e12\n" + STAGE, ["p.toml:2, load", "no unit"]),
        (HEAD + "cores = 8\n" + STAGE, ["p.toml:2, cores", "h200 has 1"]),
        ('machine = "h20"\n' + STAGE, ["p.toml:1, machine", "did you mean 'h200'"]),
        ("machine = 7\n" + STAGE, ["p.toml:1, machine", "nothing is kept there yet"]),
        ("machine = 1.5\n" + STAGE, ["p.toml:1, machine", "not a whole number, text or a table"]),
        ('machine = { compute = "1 flop/s" }\n' + STAGE, ["p.toml:1, machine", "lacks"]),
        ('machine = "e5645"\n' + STAGE, ["p.toml:2, stages.s", "no such ceiling"]),
        (HEAD + "[stages.s]\nmeasurement = 7\n", ["p.toml:3, stages.s.measurement", "nothing"]),
        (HEAD + '[stages.s]\nmeasurement = "7"\n', ["p.toml:3", "neither a number of the archive"]),
        (HEAD + '[stages.a]\nlike = "b"\n[stages.b]\nlike = "a"\n',
         ["p.toml:5, stages.b.like", "circular reference: a -> b -> a"]),
        (HEAD + '[stages.a]\nlike = "a"\n', ["p.toml:3", "circular reference: a -> a"]),
        (HEAD + STAGE + '[stages.t]\nlike = "u"\n', ["p.toml:6, stages.t.like", "no stage 'u'"]),
        (HEAD + '[stages.s]\nformula = "fft"\n', ["p.toml:3, stages.s.formula", "needs size"]),
        (HEAD + '[stages.s]\nformula = "dft"\n', ["p.toml:3, stages.s.formula", "not one of its"]),
        (HEAD + '[stages.s]\nformula = "fft"\nsize = -4\n', ["p.toml:4, stages.s.size", "> 0"]),
        (HEAD + '[stages.s]\nformula = "fft"\nsize = 8\nreal = 2\n', ["p.toml:5", "0 or 1"]),
        (HEAD + '[stages.s]\nformula = "idg"\nvisibilities = 1\nsubgrid = 8\n',
         ["p.toml:3, stages.s.formula", "gives flop only"]),
        (HEAD + '[stages.s]\nsdp = "grid"\n', ["p.toml:3, stages.s.sdp", "no product is named"]),
        (HEAD + 'sdp = "mid"\n' + STAGE, ["p.toml:2, sdp", "mid1-ical"]),
        (HEAD + 'sdp = "low-ical"\n[stages.s]\nsdp = "grid"\n',
         ["p.toml:3, stages.s", "no intensity is known"]),
        (HEAD + 'sdp = "low-ical"\n' + STAGE + '[stages.g]\nsdp = "grid"\nintensity = "9 flop/B"\n',
         ["p.toml:3, stages.s", "of one second"]),
        (HEAD + 'pipelines = 3\n', ["p.toml:2, pipelines", "not a table"]),
        (HEAD + "[pipelines.a]\n[pipelines.a.stages]\n", ["p.toml:2, pipelines.a", "lacks weight"]),
        (HEAD + "period = \"1 h\"\n", ["no pipelines"]),
        (HEAD + STAGE + "[pipelines.a]\nweight = 1\n", ["p.toml:2, stages", "it has pipelines"]),
        ("[stages.s\n", ["it is not TOML", "line 1"]),
        ("a = 1\na = 2\n", ["it is not TOML"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_with_file_line_and_key(pipeline, text, words):
    """Whatever is wrong with the file."""
    refused(pipeline(text), *words)


def test_weights_that_do_not_add_up_are_refused(pipeline):
    """One line, where the weights are."""
    (pipeline.folder / "one.toml").write_text(MEMO)
    text = '[pipelines.a]\nweight = 0.5\nfile = "one.toml"\n'

    refused(pipeline(text), "p.toml:1, pipelines", "add up to 1, got 0.5")
    refused(pipeline(text.replace("0.5", "nan")), "p.toml:2, pipelines.a.weight", "> 0, got nan")


def test_files_in_a_circle_are_refused(pipeline):
    """By any way that leads back."""
    (pipeline.folder / "q.toml").write_text('[pipelines.b]\nweight = 1\nfile = "p.toml"\n')
    text = '[pipelines.a]\nweight = 1\nfile = "q.toml"\n'

    refused(pipeline(text), "q.toml:3, pipelines.b.file", "p.toml -> q.toml -> p.toml")
    refused(pipeline(text.replace("q.t", "gone.t")), "p.toml:3, pipelines.a.file", "no such file")


def test_a_measurement_without_time_or_part_is_refused(pipeline):
    """It was only counted; it has no such region."""
    with Archive(pipeline.cli.archive) as archive:
        number = archive.keep_machine(MACHINE)
        archive.keep_measurement(measured(wall_s=None), number)
    text = "[stages.s]\nmeasurement = 2\n"

    refused(pipeline(text), "p.toml:2, stages.s.measurement", "not timed")
    refused(pipeline(text + 'region = "fft"\n'), "p.toml:3, stages.s.region", "no region 'fft'")
    refused(pipeline(text + 'bytes = "1 B"\n'), "p.toml:3, stages.s.bytes", "already gives it")
    refused(pipeline(text.replace("2", "9")), "p.toml:2", "no such record")


def test_wrong_use_is_told(cli, tmp_path):
    """No file, a folder, binary nonsense, an unknown machine."""
    status, _, err = cli("pipeline")
    assert status == 2
    assert "--example" in err
    assert cli("pipeline", tmp_path)[0] == 2
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    refused(cli("pipeline", tmp_path / "x.toml"), "it is not TOML")
    refused(cli("pipeline", tmp_path / "gone.toml"), "no such file")
    refused(cli("pipeline", tmp_path / "x.toml", "--machine", "nothing"), "only a100")


# --- documentation ------------------------------------------------------------------------------

DOCUMENT = Path(__file__).parents[2] / "docs" / "pipeline.md"


def blocks():
    """Return every command of the page that prints, with what it prints."""
    found = re.findall(
        r"```console\n\$ ridgepoint (pipeline [^\n>]*)\n(.+?)```", DOCUMENT.read_text(), re.S
    )
    return [(command, shown) for command, shown in found if not shown.startswith("$")]


@pytest.mark.parametrize(("command", "printed"), blocks())
def test_the_page_shows_what_is_printed(cli, monkeypatch, command, printed):
    """Line by line, without blanks at their ends; of a piped one, its head."""
    monkeypatch.chdir(cli.folder)
    for name in examples():
        (cli.folder / f"{name}.toml").write_text(cli("pipeline", "--example", name)[1])
    arguments = command.partition(" | ")[0].split()
    status, out, _ = cli(*arguments)
    lines = [line.rstrip() for line in out.splitlines()]

    assert status == 0
    assert lines[: len(printed.splitlines())] == printed.splitlines()


def test_the_page_s_python_runs(cli, monkeypatch):
    """As it stands."""
    monkeypatch.chdir(cli.folder)
    (cli.folder / "imaging.toml").write_text(cli("pipeline", "--example")[1])
    (code,) = re.findall(r"```python\n(.+?)```", DOCUMENT.read_text(), re.S)

    exec(compile(code, str(DOCUMENT), "exec"), {})


def test_the_page_s_errors_are_what_is_said(pipeline):
    """Three of them, but for the folder."""
    for text in (
        HEAD + 'load = "4 Tflop"\n' + STAGE,
        HEAD + '[stages.a]\nlike = "b"\n[stages.b]\nlike = "a"\n',
        HEAD + STAGE.replace("1 Gflop", "0 flop"),
    ):
        said = pipeline(text)[2].replace(f"{pipeline.folder}/", "").strip()

        assert said in DOCUMENT.read_text()


PAPERS = Path(__file__).parents[2] / "docs" / "papers.md"


def test_the_page_of_the_papers_has_the_memo_s_equations_at_other_parameters(pipeline):
    """Computed here from the equations alone; in Eq. (12) the worked example weighs 0.3."""
    page = PAPERS.read_text().partition("## SDP memo 54")[2]
    (text,) = re.findall(r"```toml\n(.+?)```", page, re.S)
    found = shown(pipeline(text, "--json"))
    peak, memory, load = 9e12, 600e9, 1e15
    work, moved, times = (12e12, 300e9, 90e9), (400e9, 400e9, 450e9), (2.0, 1.6, 0.9)
    shares = [time / sum(times) for time in times]
    intensities = [w / q for w, q in zip(work, moved, strict=True)]
    least = sum(max(w / peak, q / memory) for w, q in zip(work, moved, strict=True))
    composites = (
        sum(work) / sum(moved),
        sum(w * i for w, i in zip(shares, intensities, strict=True)),
        sum(w * min(i, peak / memory) for w, i in zip(shares, intensities, strict=True)),
        sum(work) / memory / least,
    )
    efficiency = sum(work) / peak / sum(times)
    whole = 0.7 + sum(times)

    assert [one["intensity"] for one in found["composites"]] == pytest.approx(composites)
    assert [one["roofline_efficiency"]["median"] for one in found["composites"]] == pytest.approx(
        [intensity * memory / peak for intensity in composites]
    )
    assert found["compute_efficiency"]["median"] == pytest.approx(efficiency)
    assert found["devices"]["median"] == pytest.approx(load / peak / efficiency)
    assert found["total_time_s"]["median"] == pytest.approx(whole)
    for row, value in (
        ("Eq. (5)", f"{composites[0]:.4g}"),
        ("Eq. (7)", f"{composites[1]:.4g}"),
        ("Eq. (8)", f"{composites[2]:.4g}"),
        ("series sum", f"{composites[3]:.4g}"),
        ("Eq. (10)", f"{load / peak / efficiency:.4g}"),
        ("Eq. (11)", f"{whole:g} s"),
        ("Eq. (12)", f"{0.7 * whole + 0.3 * 15:g} s"),
    ):
        (line,) = (line for line in page.splitlines() if line.startswith(f"| {row} "))
        assert value in line.split("|")[5]
