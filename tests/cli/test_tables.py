"""Options for tables: CSV and Parquet beside the report, with the numbers of the JSON."""

import csv
import importlib
import io
import json
from pathlib import Path

import click
import pytest
import snapshot_calls
from core_inputs import MACHINE
from kept_records import fill

from ridgepoint.cli import tables
from ridgepoint.cli.main import group as command_line
from ridgepoint.cli.main import main
from ridgepoint.core.csv_text import text_of_cell
from ridgepoint.core.documents import encode
from ridgepoint.show.data_tables import (
    machine,
    others,
    pipeline,
    ridgeline,
    run,
    scaling,
    transformer,
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Return an archive of records of every kind."""
    path = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    return path, fill(path)


@pytest.fixture
def cli(archive, capfdbinary, monkeypatch):
    """Return a command line on that archive: status, standard output and standard error."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(archive[0]))

    def call(*arguments):
        capfdbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def rows_of(text):
    """Return the rows of a CSV text by key; an empty cell is None."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [{key: cell or None for key, cell in row.items()} for row in reader]


def numbers(row, *keys):
    """Return cells of a row as numbers."""
    return [None if row[key] is None else float(row[key]) for key in keys]


@pytest.mark.parametrize("name", ["heat", "matmul", "native", "norm", "sort", "untimed", "ranks"])
def test_a_run_has_the_numbers_of_its_json(cli, name):
    """Nothing is rounded on either way, and what is null there is an empty cell here."""
    document = json.loads(cli("show", name, "--json")[1])
    status, out, err = cli("show", name, "--csv", "-")
    program = rows_of(out)[0]

    assert (status, err) == (0, "")
    runtime = document["runtime_s"] or dict.fromkeys(("median", "low", "high"))
    assert numbers(program, "runtime_s", "runtime_s_low", "runtime_s_high") == [
        runtime[key] for key in ("median", "low", "high")
    ]
    assert numbers(program, "work_flop", "eq3_bop", "instructions", "refined_bop") == [
        document["work_flop"],
        document["bops"]["eq3"],
        document["instructions"]["total"],
        (document["bops"]["refined"] or {}).get("total"),
    ]
    for level in document["levels"]:
        keys = [f"{level['level']}_{way}_bytes" for way in ("read", "write")]
        assert numbers(program, *keys) == [level["read_bytes"], level["write_bytes"]]
    bound = document["bound"] or dict.fromkeys(("time_s", "efficiency", "limiter"))
    assert numbers(program, "bound_s", "efficiency") == [bound["time_s"], bound["efficiency"]]
    assert program["limiter"] == bound["limiter"]
    for key in ("intensity_flop_per_byte", "performance_flop_per_s", "performance_bop_per_s"):
        assert numbers(program, key) == [document[key]]


@pytest.mark.parametrize("name", ["matmul", "many", "tensors"])
def test_functions_and_regions_are_rows(cli, name):
    """Each function of the JSON is a row with its time and its work, and so is each region."""
    document = json.loads(cli("show", name, "--json")[1])
    rows = rows_of(cli("show", name, "--csv", "-")[1])

    listed = {function["name"]: function for function in document["functions"]}
    found = {
        text_of_cell(row["name"]): row for row in rows if row["part"] in ("function", "remainder")
    }
    assert listed.keys() <= found.keys()
    for function in listed.values():
        row = found[function["name"]]
        time = (function.get("runtime_s") or {}).get("median")
        assert numbers(row, "runtime_s", "work_flop") == [time, function["work_flop"]]
    regions = [row for row in rows if row["part"] == "region"]
    assert [text_of_cell(row["name"]) for row in regions] == [
        region["name"] for region in document["regions"]
    ]
    assert [numbers(row, "bound_s") for row in regions] == [
        [region["bound"] and region["bound"]["time_s"]] for region in document["regions"]
    ]


def test_a_machine_has_the_ceilings_of_its_json(cli):
    """Each with every sample in a table of its own."""
    document = json.loads(cli("show", "vm", "--json")[1])
    ceilings = rows_of(cli("show", "vm", "--csv", "-")[1])
    samples = rows_of(cli("show", "vm", "--csv", "-", "--table", "ceiling_samples")[1])

    assert len(ceilings) == len(document["ceilings"])
    for row, ceiling in zip(ceilings, document["ceilings"], strict=True):
        rate = ceiling["rate"] or dict.fromkeys(("median", "low", "high", "n"))
        assert (row["resource"], row["name"]) == (ceiling["resource"], ceiling["name"])
        assert numbers(row, "rate", "rate_low", "rate_high", "samples", "theoretical") == [
            *(rate[key] for key in ("median", "low", "high", "n")),
            ceiling["theoretical"],
        ]
    used = [float(row["rate"]) for row in samples if row["used"] == "true"]
    assert used == [
        sample for one in document["ceilings"] if one["rate"] for sample in one["rate"]["samples"]
    ]


def test_a_cluster_has_its_exchanges(cli):
    """The network comes first; the nodes and the slowest of them have tables too."""
    document = json.loads(cli("show", "three-nodes", "--json")[1])
    network = rows_of(cli("show", "three-nodes", "--csv", "-")[1])

    assert [numbers(row, "size_bytes", "time_s") for row in network] == [
        [exchange["size_bytes"], exchange["time_s"]["median"]] for exchange in document["network"]
    ]
    assert cli("show", "three-nodes", "--csv", "-", "--table", "nodes")[0] == 0


def test_causes_and_advice_of_a_run_are_rows(cli):
    """What 'explain' says, and the advice of the JSON."""
    causes = rows_of(cli("show", "heat", "--csv", "-", "--table", "causes")[1])
    advice = rows_of(cli("show", "heat", "--csv", "-", "--table", "advice")[1])
    document = json.loads(cli("show", "heat", "--json")[1])

    assert {row["standing"] for row in causes} >= {"limits", "ruled out"}
    assert [(row["code"], row["about"]) for row in advice] == [
        (each["code"], each["about"]) for each in document["advice"]
    ]


def test_the_list_is_a_table(cli):
    """A row for each record, with what its summary says."""
    records = json.loads(cli("list", "--json")[1])["records"]
    rows = rows_of(cli("list", "--csv", "-")[1])

    assert [int(row["id"]) for row in rows] == [record["id"] for record in records]
    assert [numbers(row, "efficiency") for row in rows] == [
        [(record["summary"] or {}).get("efficiency")] for record in records
    ]


def test_an_empty_archive_is_a_header(cli, tmp_path):
    """A script gets a table without rows, and not a sentence."""
    status, out, _ = cli("list", "--csv", "-", "--archive", tmp_path / "none.sqlite3")

    assert (status, len(out.splitlines())) == (0, 1)
    assert out.startswith("id,kind,")


def test_several_records_say_whose_each_row_is(cli):
    """The first column names the record as it was given."""
    rows = rows_of(cli("show", "heat", "matmul", "--csv", "-")[1])

    assert {row["record"] for row in rows} == {"heat", "matmul"}
    status, out, err = cli("show", "heat", "vm", "--csv", "-")
    assert (status, out) == (2, "")
    assert "they are of different kinds" in err


def test_a_file_gets_the_table_and_the_report_is_still_printed(cli, tmp_path):
    """What -o is for pictures, --csv is for tables."""
    plain = cli("show", "heat")[1]
    status, out, _ = cli("show", "heat", "--csv", tmp_path / "a.csv", "--csv", tmp_path / "b.csv")

    assert (status, out) == (0, plain)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_text().startswith("part,name,")


def test_a_folder_gets_every_table(cli, tmp_path):
    """Each in a file of its name; some, if they are named."""
    assert cli("show", "heat", "--csv", f"{tmp_path}/new/")[0] == 0
    assert cli("show", "heat", "--csv", tmp_path, "--table", "mix", "--table", "lines")[0] == 0

    every = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"parts.csv", "levels.csv", "samples.csv", "miss_curve.csv"} <= every
    assert {path.name for path in tmp_path.glob("*.csv")} == {"mix.csv", "lines.csv"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--json", "--csv", "-"), "--json and --csv - both print on standard output"),
        (("--table", "mix"), "--table applies only with --csv or --parquet"),
        (("--csv", "-", "--table", "ceilings"), "this result has no such table; use one of parts"),
        (("--csv", "-", "--table", "nonsense"), "'nonsense' is not one of"),
        (("--csv", "-", "--table", "mix", "--table", "lines"), "a file holds one table"),
        (("--csv", "a.csv", "--parquet", "a.csv"), "'a.csv' is given twice"),
        (("--csv", ""), "empty"),
        (("--csv", "/no/such/folder/x.csv"), "there is no folder '/no/such/folder'"),
        (("--csv", "/dev/full"), "no space left on device"),
        (("--parquet", "-"), "Parquet cannot be printed"),
    ],
)
def test_what_cannot_be_written_is_refused(cli, arguments, words):
    """In one line that says why, with status 2."""
    status, _, err = cli("show", "heat", *arguments)

    assert status == 2
    assert words in " ".join(err.split())


def test_a_list_of_what_there_is_has_no_table(cli):
    """It would be ignored without a word."""
    status, _, err = cli("suite", "--list", "--csv", "-")

    assert status == 2
    assert "--list says what there is" in err


def test_without_pyarrow_a_line_says_what_to_install(cli, tmp_path, monkeypatch):
    """Before anything is measured."""
    monkeypatch.setattr("ridgepoint.core.frames.find_spec", lambda name: None)
    status, out, err = cli("show", "heat", "--parquet", tmp_path / "a.parquet")

    assert (status, out) == (2, "")
    assert err.endswith("install it with: pip install 'ridgepoint[parquet]'\n")


def test_a_measured_program_writes_its_tables(cli, meter, tmp_path):
    """Its own output moves to standard error, as with --json."""
    (tmp_path / "m.json").write_bytes(encode(MACHINE))
    path = tmp_path / "new.sqlite3"
    status, out, err = cli(
        *("run", "--machine", tmp_path / "m.json", "--repeat", "1", "--archive", path),
        *("--csv", "-", "--", "echo", "hello"),
    )

    assert status == 0
    assert rows_of(out)[0]["name"] == "echo hello"
    assert "hello\n" in err
    assert "kept as 2" in err


@pytest.mark.parametrize("module", ["pandas", "pyarrow"])
def test_frames_and_files_hold_the_same_table(cli, tmp_path, module):
    """Read back by pandas and by Arrow: every number, and a null for each unknown."""
    library = pytest.importorskip(module)
    assert cli("show", "matmul", "--csv", tmp_path / "a.csv")[0] == 0
    rows = rows_of((tmp_path / "a.csv").read_bytes().decode())
    if module == "pandas":
        read = library.read_csv(tmp_path / "a.csv").astype(object)
        records = read.where(read.notna(), None).to_dict("records")
    else:
        parquet = importlib.import_module("pyarrow.parquet")
        assert cli("show", "matmul", "--parquet", tmp_path / "a.parquet")[0] == 0
        table = parquet.read_table(tmp_path / "a.parquet")
        assert table.schema.field("runtime_s").metadata[b"unit"] == b"s"
        assert cli("show", "matmul", "--parquet", tmp_path / "b.parquet")[0] == 0
        assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
        records = table.to_pylist()

    for row, record in zip(rows, records, strict=True):
        assert row.keys() == record.keys()
        assert numbers(row, "runtime_s", "work_flop", "efficiency") == [
            record[key] for key in ("runtime_s", "work_flop", "efficiency")
        ]


DATA = Path(__file__).parents[1] / "data" / "scaling"
PIPELINES = Path(__file__).parents[2] / "src" / "ridgepoint" / "data" / "pipelines"


@pytest.mark.parametrize(
    ("arguments", "table", "rows_in_json", "same"),
    [
        (("scale", "linpack", "--size", "8000", "--machine", "h200", "--link", "1GB/s"),
         "points", "points", ("nodes", "cores", "time_s", "performance", "speed_up")),
        (("scale", "usl", "--fit", DATA / "fft_made_up.csv"), "points", "points",
         ("nodes", "time_s", "parallel_efficiency")),
        (("ridgeline",), "points", "points",
         ("batch", "work", "memory_bytes", "network_intensity", "time_s", "performance_per_s")),
        (("ridgeline", "--sweep", "--nodes", "1:4"), "front", "front",
         ("nodes", "batch", "time_s", "time_per_sample_s")),
        (("pipeline", PIPELINES / "imaging.toml"), "stages", "stages",
         ("work", "moved_bytes", "intensity", "time_s", "weight", "attainable_per_s")),
        (("pipeline", PIPELINES / "imaging.toml"), "advice", "advice", ("gain", "pipeline_gain")),
        (("doctor",), "findings", "findings", ()),
    ],
)  # fmt: skip
def test_every_row_of_the_json_is_a_row(cli, arguments, table, rows_in_json, same):
    """Of the models too, with the same numbers."""
    status, text, err = cli(*arguments, "--json")
    assert status == 0, err
    document = json.loads(text)[rows_in_json]
    status, text, err = cli(*arguments, "--csv", "-", "--table", table)
    rows = rows_of(text)

    assert (status, err) == (0, "")
    assert [numbers(row, *same) for row in rows] == [[row[key] for key in same] for row in document]


def test_points_of_a_plot_are_rows(cli):
    """Given ones and measured ones, each with what bounds it."""
    arguments = ("plot", "heat", "--point", "a W=1Gflop Q=1GB T=1s")
    document = json.loads(cli(*arguments, "--json")[1])
    given, measured = rows_of(cli(*arguments, "--csv", "-")[1])

    assert numbers(given, "intensity", "performance_per_s", "attainable_per_s") == [
        1.0,
        1e9,
        document["points"][0]["bound"]["attainable_per_s"]["value"],
    ]
    assert numbers(measured, "efficiency") == [document["programs"][0]["bound"]["efficiency"]]


def test_curves_of_a_plot_are_rows(cli):
    """Those that --latency and --miss-curve draw."""
    latency = rows_of(cli("plot", "vm", "--latency", "--csv", "-")[1])
    curve = rows_of(cli("plot", "heat", "--miss-curve", "--csv", "-")[1])
    document = json.loads(cli("show", "heat", "--json")[1])["miss_curve"]

    assert {"size_bytes", "access_s"} <= latency[0].keys()
    assert [int(row["capacity_bytes"]) for row in curve] == document["capacities_bytes"]
    assert [int(row["read_bytes"]) for row in curve] == document["read_bytes"]


def test_results_of_a_suite_are_rows(cli, tmp_path):
    """Read from their file; a case that failed says why."""
    study = snapshot_calls.kernel_study()
    (tmp_path / "suite.json").write_bytes(encode(study))
    rows = rows_of(cli("suite", "--from", tmp_path / "suite.json", "--csv", "-")[1])

    assert len(rows) == len(study.results)
    assert rows[-1]["failure"] == "no memory"
    assert rows[-1]["runtime_s"] is None
    assert [row["work_flop"] for row in rows[:-1]] == [
        str(result.measurement.counted.counts.work_flop) for result in study.results[:-1]
    ]


def test_steps_of_a_suite_and_their_gains_are_rows(cli, tmp_path):
    """By BOPs, as the suite counts them."""
    study = snapshot_calls.datacenter_study()
    (tmp_path / "dc.json").write_bytes(encode(study))
    call = ("suite", "datacenter", "--from", tmp_path / "dc.json", "--csv", "-")
    cases, gains = rows_of(cli(*call)[1]), rows_of(cli(*call, "--table", "gains")[1])

    assert [row["source_bop"] for row in cases] == ["2500000000", "1875000000", None, "500000000"]
    assert [numbers(row, "gain") for row in gains] == [[gain.time.ratio] for gain in study.gains]


def test_the_options_name_the_tables_that_there_are():
    """The commands know names before anything that makes tables is imported."""
    assert tuple(run.COLUMNS) == tables.OF_RUN
    assert tuple(machine.COLUMNS) == tables.OF_MACHINE
    for command, module in (
        ("scale", scaling),
        ("ridgeline", ridgeline),
        ("pipeline", pipeline),
        ("transformer", transformer),
    ):
        assert names_of(command) == tuple(module.COLUMNS)
    assert names_of("bops") == tuple(others.COLUMNS["bops"])
    assert names_of("doctor") == tuple(others.COLUMNS["doctor"])


def commands(within, context):
    """Yield every command of the command line, those of groups too."""
    for name in within.list_commands(context):
        command = within.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, context)
        else:
            yield name, command


def test_wherever_there_is_json_there_are_tables():
    """Except for a diagnosis, which is prose, and schemas, which are documents themselves."""
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands(
            command_line, click.Context(command_line, **command_line.context_settings)
        )
    }

    with_json = {name for name, given in options.items() if "--json" in given}
    assert len(with_json) > 15
    assert with_json - {"explain", "schema"} == {
        name for name, given in options.items() if "--csv" in given
    }


def test_times_of_a_program_that_was_not_counted_are_rows(cli):
    """All else is unknown."""
    document = json.loads(cli("show", "stopped", "--json")[1])
    program = rows_of(cli("show", "stopped", "--csv", "-")[1])[0]

    assert numbers(program, "runtime_s", "work_flop") == [document["runtime_s"]["median"], None]


def test_an_import_is_a_table(cli, tmp_path):
    """A row for each record, with its numbers here and its name there."""
    assert cli("export", "heat", "-o", tmp_path / "heat.json")[0] == 0
    call = ("import", tmp_path / "heat.json", "--archive", tmp_path / "b.sqlite3", "--csv", "-")
    rows = rows_of(cli(*call)[1])

    assert {row["kind"] for row in rows} == {"machine", "measurement"}
    assert {row["is_new"] for row in rows} == {"true"}
    assert {row["is_new"] for row in rows_of(cli(*call)[1])} == {"false"}


def names_of(command):
    """Return the tables that a command's --table names."""
    module = importlib.import_module(f"ridgepoint.cli.{command}")
    option = next(each for each in module.command.params if each.name == "table_names")
    return tuple(option.type.choices)
