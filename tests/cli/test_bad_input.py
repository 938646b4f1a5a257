"""Every input that a user can get wrong: one line, status 2, no traceback, nothing lost."""

import json
import os
import re

import click
import pytest

from ridgepoint.cli.main import group
from ridgepoint.core.identity import Identity
from ridgepoint.kept.archive import Archive


def refused(result, *words):
    """Assert one line on standard error with these words, and status 2."""
    status, out, err = result
    lines = [
        line
        for line in err.splitlines()
        if not line.startswith(("Usage", "Try", "ridgepoint: running"))
    ]

    assert status == 2
    assert out == ""
    assert "Traceback" not in err
    assert len([line for line in lines if line]) == 1, err
    for word in words:
        assert word in lines[-1], err


@pytest.mark.usefixtures("meter")
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("no-such-program-anywhere", "no such program in PATH"),
        ("./no-such-file", "no such file"),
        ("/", "it is a directory"),
        ("/etc/passwd", "it is not executable"),
        ("", "no such program"),
    ],
)
def test_program_that_cannot_be_run(cli, program, words):
    """Said before anything is measured."""
    refused(cli.run("--", program), words)


@pytest.mark.usefixtures("meter")
def test_no_program_at_all(cli):
    """The usage says what is missing."""
    status, _, err = cli("run")

    assert status == 2
    assert "PROGRAM" in err


@pytest.mark.usefixtures("meter")
def test_program_that_hangs_is_ended_at_the_timeout(cli):
    """One line that names the limit; nothing is kept but the machine."""
    refused(cli.run("--timeout", "0.3", "--", "sleep", "60"), "longer than 0.3 s", "--timeout")
    with Archive(cli.archive) as archive:
        assert archive.records("measurement") == []


@pytest.mark.usefixtures("no_meter")
def test_meter_that_does_not_work_is_explained_before_the_program_runs(cli):
    """Not after minutes of timing."""
    marker = cli.folder / "ran"
    refused(cli.run("--", "touch", marker), "there is no valgrind", "install it")

    assert not marker.exists()


@pytest.mark.usefixtures("meter")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "{", "truncated"),
        (lambda text: "", "as a machine"),
        (lambda text: "\xff", "as a machine"),
        (lambda text: "[1, 2]", "expected"),
        (lambda text: text.replace('"schema":1', '"schema":99'), "schema is 99"),
        (lambda text: text.replace('"schema":1', '"schema":"x"'), "schema"),
        (lambda text: re.sub(r'"host":\{.*?\},', "", text, count=1), "host"),
        (lambda text: text.replace("10000000000.0", "NaN"), "malformed"),
        (lambda text: text.replace("10000000000.0", "-1.0"), "must be > 0"),
        (lambda text: text.replace("10000000000.0", "0"), "must be > 0"),
        (lambda text: text.replace("10000000000.0", "1e999"), "as a machine"),
        (lambda text: text.replace('"fp64"', '"fp65"'), "fp65"),
        (lambda text: text.replace('"flop/s"', '"byte/s"'), "unit of fp64"),
        (lambda text: text.replace('"cores":4', '"cores":0'), "cores must be > 0"),
    ],
    ids=range(14),
)
def test_machine_file_with_a_fault(cli, change, words):
    """The fault is named, and no program is run."""
    broken = cli.folder / "broken.json"
    broken.write_text(change(cli.machine.read_text()), encoding="latin-1")
    marker = cli.folder / "ran"
    result = cli("run", "--machine", broken, "--", "touch", marker)

    refused(result, "broken.json", *([words] if words != "expected" else []))
    assert not marker.exists()


@pytest.mark.usefixtures("meter")
def test_machine_that_is_not_there(cli):
    """A file that does not exist, a directory, an unknown name."""
    refused(cli("run", "--machine", "/no/such.json", "--", "true"), "/no/such.json")
    refused(cli("run", "--machine", f"{cli.folder}/", "--", "true"), "directory")
    refused(cli("run", "--machine", "cascade-lak", "--", "true"), "cascade-lake")


@pytest.mark.usefixtures("meter")
@pytest.mark.parametrize("text", ["nonsense", "l1=32k", "l2=1m:8", "l1=32k:7", "l1=-1k:8", ""])
def test_cache_nonsense(cli, text):
    """The message shows how to write it."""
    status, out, err = cli.run("--cache", text, "--", "true")

    assert status == 2
    assert out == ""
    assert "--cache" in err


@pytest.mark.usefixtures("meter")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--repeat", "0"),
        ("--repeat", "x"),
        ("--timeout", "-1"),
        ("--timeout", "nan"),
        ("--limit", "nan"),
        ("--cores", "nan"),
        ("--cores", "0"),
        ("--function", "f("),
        ("--bogus",),
    ],
)
def test_impossible_options(cli, arguments):
    """Refused by name."""
    status, out, err = cli.run(*arguments, "--", "true")

    assert status == 2
    assert out == ""
    assert arguments[0] in err


@pytest.mark.usefixtures("meter")
def test_more_cores_than_the_machine_has(cli):
    """There is no roof for 64 cores of a machine with 4."""
    status, _, err = cli.run("--cores", "64", "--", "true")

    assert status == 2
    assert "4 cores" in err


@pytest.mark.usefixtures("meter")
def test_output_that_cannot_be_written_is_refused_before_the_program_runs(cli):
    """An unknown ending, and a folder that is not there."""
    marker = cli.folder / "ran"
    refused(cli.run("-o", cli.folder / "a.bmp", "--", "touch", marker), ".bmp", ".svg")
    refused(cli.run("-o", "/no/such/a.svg", "--", "touch", marker), "/no/such")

    assert not marker.exists()


@pytest.mark.usefixtures("meter")
def test_damaged_archive_is_refused_before_the_program_runs_and_left_untouched(cli):
    """Not after the measurement, when there is something to lose."""
    cli.archive.write_bytes(b"SQLite format 3\0" + b"\x17" * 5000)
    before = cli.archive.read_bytes()
    marker = cli.folder / "ran"

    refused(cli.run("--", "touch", marker), "archive.sqlite3")
    assert cli.archive.read_bytes() == before
    assert not marker.exists()


@pytest.mark.usefixtures("meter")
def test_archive_in_a_read_only_folder_is_refused_before_the_program_runs(cli, monkeypatch):
    """Root may write anywhere but on a read-only file system, so the system's answer is set."""
    monkeypatch.setattr(
        "ridgepoint.kept.archive_file.os.access", lambda path, mode: mode != os.W_OK
    )
    marker = cli.folder / "ran"

    refused(cli.run("--", "touch", marker), "archive.sqlite3", "cannot be written")
    assert not marker.exists()


@pytest.mark.parametrize("command", [("show", "7"), ("plot", "7"), ("show", "no-such-machine")])
def test_record_that_is_not_there(cli, command):
    """Its number or name is said."""
    refused(cli(*command), command[1])


@pytest.mark.usefixtures("meter")
def test_unknown_subcommand(cli):
    """Said with its name."""
    status, _, err = cli("rum")

    assert status == 2
    assert "rum" in err


def test_doctor_names_what_each_lack_costs(cli):
    """Whatever does not work has a remedy and a cost; whatever works has neither."""
    status, out, _ = cli("doctor", "--json")
    findings = json.loads(out)["findings"]

    assert status == 0
    assert {"clock", "callgrind", "hardware counters", "archive"} <= {f["what"] for f in findings}
    assert all((f["remedy"] is None) == f["works"] for f in findings)
    assert all((f["cost"] is None) == f["works"] for f in findings)


def test_doctor_asks_for_no_file_of_a_cpu_that_is_none(cli, monkeypatch):
    """Of a masked CPU it says what it may be and why, and what is known of it."""
    masked = Identity(
        reported="Rocket Lake",
        title="Sapphire Rapids or later",
        names=("sapphirerapids", "graniterapids"),
        inferred=True,
        reasons=("Rocket Lake has no amx_tile",),
    )
    hidden = Identity(reported="Common KVM processor", title=None, inferred=True)
    monkeypatch.setattr("ridgepoint.doctor.processor.identity_of", lambda system: masked)
    _, out, _ = cli("doctor", "--json")
    of_masked = {f["what"]: f for f in json.loads(out)["findings"]}
    monkeypatch.setattr("ridgepoint.doctor.processor.identity_of", lambda system: hidden)
    _, out, _ = cli("doctor", "--json")
    (theory,) = [f for f in json.loads(out)["findings"] if f["what"] == "theory"]

    assert "reported as Rocket Lake; its features are" in of_masked["processor"]["detail"]
    assert "Rocket Lake has no amx_tile" in of_masked["processor"]["detail"]
    assert of_masked["theory"]["works"]
    assert of_masked["theory"]["detail"].startswith("Sapphire Rapids or later: ")
    assert not theory["works"]
    assert ".toml" not in theory["remedy"]


def test_doctor_says_where_a_file_of_theory_is_wrong(cli, monkeypatch):
    """Of the user's own; the other lines stand."""
    folder = cli.folder / "microarchitectures"
    folder.mkdir()
    monkeypatch.setenv("RIDGEPOINT_MICROARCHITECTURES", str(folder))
    example = Identity(reported="examplecore", title="examplecore", names=("examplecore",))
    monkeypatch.setattr("ridgepoint.doctor.processor.identity_of", lambda system: example)
    _, out, _ = cli("doctor", "--json")
    (unknown,) = [f for f in json.loads(out)["findings"] if f["what"] == "theory"]
    (folder / "examplecore.toml").write_text("name = 7")
    status, out, _ = cli("doctor", "--json")
    (wrong,) = [f for f in json.loads(out)["findings"] if f["what"] == "theory"]

    assert status == 0
    assert not unknown["works"]
    assert "examplecore.toml" in unknown["remedy"]
    assert not wrong["works"]
    assert "name" in wrong["detail"]


def options_of(command, words=()):
    """Yield every option of a command that takes a value, and of the commands below it."""
    context = click.Context(command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        yield from options_of(command.get_command(context, name), (*words, name))
    for option in command.params if words else ():
        if isinstance(option, click.Option) and not (option.is_flag or option.count):
            yield pytest.param((*words, option.opts[-1]), id=" ".join((*words, option.opts[-1])))


@pytest.mark.parametrize("words", list(options_of(group)))
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_of_an_option_is_refused(cli, words, value):
    """It is neither the default nor the current folder."""
    *command, option = words

    refused(cli(*command, f"{option}={value}"), option, "the value is empty")
