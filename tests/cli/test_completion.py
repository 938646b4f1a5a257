"""What a shell completes, asked as the shell asks; in bash by a real one."""

import os
import shlex
import shutil
import subprocess
import sys

import click
import pytest
from core_inputs import MACHINE, MEASUREMENT

from ridgepoint.cli.main import group, main
from ridgepoint.kept.archive import Archive
from ridgepoint.published.machines import names


@pytest.fixture
def offered(tmp_path, monkeypatch, capfd):
    """Return what is offered after words, by value, with its kind; with two records kept."""
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(tmp_path / "archive.sqlite3"))
    with Archive() as archive:
        id = archive.keep_machine(MACHINE, label="bench")
        archive.keep_measurement(MEASUREMENT, id, label="before")
        archive.keep_measurement(MEASUREMENT, id, label="before")
        archive.keep_measurement(MEASUREMENT, id)

    def ask(*words):
        line = ["ridgepoint", *words]
        monkeypatch.setenv("COMP_WORDS", " ".join(line))
        monkeypatch.setenv("COMP_CWORD", str(len(line) - 1))
        monkeypatch.setenv("_RIDGEPOINT_COMPLETE", "bash_complete")
        capfd.readouterr()
        with pytest.raises(SystemExit):
            main([])
        out, err = capfd.readouterr()
        assert err == ""
        return {value: kind for kind, _, value in (line.partition(",") for line in out.split())}

    return ask


def test_commands_and_suites_are_offered(offered):
    """All of them, or those that begin so."""
    assert set(offered("")) >= {"run", "show", "machine", "completion"}
    assert list(offered("ridge")) == ["ridgeline"]
    assert set(offered("suite", "")) == {"kernels", "datacenter", "distributed", "imaging"}


def test_options_and_their_choices_are_offered(offered):
    """Of the command that was named; a suite's too."""
    assert set(offered("run", "--miss")) == {"--miss-curve"}
    assert set(offered("run", "--bandwidth", "")) == {"read", "write", "copy"}
    assert "--stack" in offered("suite", "datacenter", "--")


def test_records_are_offered_by_name(offered):
    """Each once; those of the archive that the command line names."""
    assert set(offered("plot", "")) == {"bench", "before"}
    assert set(offered("delete", "be")) == {"bench", "before"}
    assert offered("name", "--archive", "/nowhere/at/all.sqlite3", "") == {}


def test_machines_are_offered_with_published_ones_and_files(offered):
    """Measurements are none; the shell looks for files itself."""
    assert offered("run", "--machine", "") == {
        "bench": "plain",
        **dict.fromkeys(names(), "plain"),
        "": "file",
    }
    assert offered("show", "bef") == {"bef": "file", "before": "plain"}


def test_names_of_workloads_are_offered(offered):
    """And the problems that scale knows."""
    assert list(offered("suite", "datacenter", "gr")) == ["grep"]
    assert "linpack" in offered("scale", "lin")


def test_a_damaged_archive_offers_nothing(offered, tmp_path):
    """And says nothing, in the middle of a line that is being typed."""
    (tmp_path / "archive.sqlite3").write_bytes(b"SQLite format 3\0 and no more")

    assert offered("plot", "") == {}


def every_parameter(command, context):
    """Give each command with each of its parameters."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from every_parameter(command.get_command(context, name), context)
    else:
        yield from ((command.name, one) for one in command.params)


def test_whatever_names_a_record_or_a_machine_is_completed():
    """Told by what stands for it in the help."""
    context = click.Context(group, **group.context_settings)
    naming = [
        (name, one)
        for name, one in every_parameter(group, context)
        if {"ID", "TARGET", "RECORD", "BASELINE"}
        & set((one.metavar or "").replace("|", " ").replace(".", " ").strip("[]").split())
    ]

    assert len(naming) >= 8
    assert [f"{name}: {one.name}" for name, one in naming if not one._custom_shell_complete] == []


_TYPES = """
source {script}
COMP_WORDS=({words})
COMP_CWORD={last}
_ridgepoint_completion ridgepoint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_bash_completes_by_the_printed_script(offered, tmp_path):
    """The script that the command prints, in a shell that finds the command in its path."""
    if not shutil.which("bash"):
        pytest.skip("there is no bash")
    script, command = tmp_path / "script", tmp_path / "ridgepoint"
    printed = subprocess.run(
        [sys.executable, "-m", "ridgepoint", "completion", "bash"], capture_output=True, check=True
    )
    script.write_bytes(printed.stdout)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ridgepoint "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment.pop("_RIDGEPOINT_COMPLETE", None)
    done = subprocess.run(
        ["bash", "-c", _TYPES.format(script=script, words="ridgepoint plot be", last=2)],
        env=environment,
        capture_output=True,
        text=True,
    )

    assert (done.stdout.split(), done.stderr) == (["before", "bench"], "")


@pytest.mark.parametrize(("shell", "part"), [("zsh", "#compdef ridgepoint"), ("fish", "complete ")])
def test_other_shells_have_a_script_too(shell, part, capfd):
    """Made by click, whose tests run it."""
    assert main(["completion", shell]) == 0
    assert part in capfd.readouterr().out
