"""Runs that do not come to their end: what was measured until then is shown and kept."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from core_inputs import MACHINE, MEASUREMENT

from ridgepoint.core.errors import Interrupted, UnsupportedInstruction
from ridgepoint.kept.archive import Archive
from ridgepoint.meters.scripted import ScriptedMeter

REFUSED = UnsupportedInstruction(
    "cannot count './prog' with the engine",
    reason="it executes 'vaddpd zmm0,zmm1,zmm2' (AVX-512), which Valgrind cannot",
    remedy="rebuild it for x86-64-v3",
)


class Stopped(ScriptedMeter):
    """A meter that runs the program, and is then stopped by what it was given."""

    def __init__(self, error):
        super().__init__(MEASUREMENT.counted)
        self.error = error

    def count(self, command, *, launch, caches):
        """Raise after the run."""
        launch(command)
        raise self.error


class Slow(ScriptedMeter):
    """A meter under which a program runs for a minute, whatever it is, behind another command."""

    slowdown = "2 to 200"

    def count(self, command, *, launch, caches):
        """Run something else."""
        launch(("/usr/bin/env", "sleep", "60"))
        return self.counted


@pytest.fixture
def stopped(monkeypatch):
    """Return what puts a meter in the engine's place."""

    def put(meter):
        monkeypatch.setattr("ridgepoint.meters.first_choice.first_choice", lambda **options: meter)

    return put


def test_time_of_a_program_that_cannot_be_counted_is_shown_and_kept(cli, stopped):
    """AVX-512 code: T and its quartiles, work unknown and why, status 2; again with 'show'."""
    stopped(Stopped(REFUSED))
    status, out, err = cli.run("--", "echo", "hello")

    assert status == 2
    assert out == "hello\n"
    for words in ("T  runtime", "(n = 1)", "W  work          unknown", "zmm0", "x86-64-v3"):
        assert words in err
    assert "W  work          0" not in err
    status, out, _ = cli("show")
    assert status == 0
    assert "T  runtime" in out
    assert "zmm0" in out


def test_json_of_a_program_that_was_not_counted_has_the_same_keys(cli, stopped, monkeypatch):
    """What a reader of the contract looks for is there, and null, never 0."""
    _, counted, _ = _with(stopped, ScriptedMeter(MEASUREMENT.counted), cli)
    status, timed, _ = _with(stopped, Stopped(REFUSED), cli)
    counted, timed = json.loads(counted), json.loads(timed)

    assert status == 2
    assert set(timed) == set(counted)
    assert timed["runtime_s"]["n"] == 1
    assert timed["cores_busy"] > 0
    for key in ("work", "work_flop", "instructions", "traffic", "bound", "meter"):
        assert timed[key] is None
    assert "zmm0" in timed["uncounted"]["seen"]
    assert counted["uncounted"] is None


def _with(stopped, meter, cli):
    stopped(meter)
    return cli.run("--json", "--", "true")


def test_report_is_written_and_a_figure_is_said_to_be_missing(cli, stopped):
    """The .json holds the time; nothing pretends to be a figure."""
    stopped(Stopped(REFUSED))
    report, figure = cli.folder / "r.json", cli.folder / "r.svg"
    _, _, err = cli.run("-o", report, "-o", figure, "--", "true")

    assert json.loads(report.read_text())["runtime_s"]["n"] == 1
    assert not figure.exists()
    assert "r.svg' is not drawn" in err


def test_plot_of_a_program_that_was_not_counted_says_what_is_missing(cli, stopped):
    """One line with the reason, and how to see what there is."""
    stopped(Stopped(REFUSED))
    cli.run("--", "true")
    status, out, err = cli("plot", "2")

    assert status == 2
    assert out == ""
    for words in ("work and traffic are unknown", "zmm0", "ridgepoint show 2"):
        assert words in err


def test_counting_ends_at_its_limit_and_the_time_stays(cli, stopped):
    """--limit names the program, not what the meter put around it."""
    stopped(Slow(MEASUREMENT.counted))
    status, _, err = cli.run("--limit", "0.3", "--", "true")

    assert status == 2
    assert "T  runtime" in err
    assert "cannot count 'true'" in " ".join(err.split())
    assert "longer than 0.3 s" in " ".join(err.split())
    assert "--limit" in err


def test_timeout_of_counting_names_the_program_and_that_it_was_counted(cli, stopped):
    """Not "cannot measure 'env'"."""
    stopped(Slow(MEASUREMENT.counted))
    status, _, err = cli.run("--timeout", "0.5", "--limit", "50", "--", "true")
    said = " ".join(err.split())

    assert status == 2
    assert "cannot count 'true': counting took longer than 0.5 s" in said
    assert "natively) and was stopped" in said
    assert "'env'" not in said


def test_timeout_of_a_native_run_says_so(cli, stopped):
    """The other phase has its own words, and nothing is kept of it."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    status, _, err = cli.run("--timeout", "0.2", "--", "sleep", "60")

    assert status == 2
    assert "natively, it ran longer than 0.2 s" in err
    with Archive(cli.archive) as archive:
        assert archive.records("measurement") == []


@pytest.mark.parametrize(
    ("is_terminal", "words"),
    [
        (True, "its first run, on the terminal, succeeded, but in a later run, whose output goes"),
        (False, "its first run succeeded, but in a later run it exited with status 1"),
    ],
)
def test_program_that_fails_the_second_time_is_told_apart(
    cli, stopped, monkeypatch, is_terminal, words
):
    """It may need a terminal, which only the first run has; or it does not do the same again."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    monkeypatch.setattr("ridgepoint.profiling.timing.os.isatty", lambda descriptor: is_terminal)
    folder = cli.folder / "made"
    status, _, err = cli.run("--repeat", "2", "--", "mkdir", folder)

    assert status == 1
    assert words in " ".join(err.split())
    assert ("without a terminal" in err) is is_terminal


@pytest.mark.parametrize(
    ("interrupt", "expected", "words"),
    [
        (KeyboardInterrupt(), 130, "Ctrl-C"),
        (Interrupted("cannot go on: SIGTERM asks to stop", 15), 143, "SIGTERM asks to stop"),
    ],
)
def test_time_is_kept_when_counting_is_interrupted(cli, stopped, interrupt, expected, words):
    """The status is that of the signal, as a shell has it."""
    stopped(Stopped(interrupt))
    status, _, err = cli.run("--", "true")

    assert status == expected
    assert "T  runtime" in err
    assert words in err
    assert "kept as 2" in err


def test_interrupt_before_any_time_is_known_keeps_nothing(cli, stopped):
    """A program that is only counted has no time to keep."""
    stopped(Stopped(KeyboardInterrupt()))
    status, _, err = cli.run("--counts-only", "--", "true")

    assert status == 130
    assert "kept as" not in err


def test_program_that_fails_is_found_before_the_machine_is_measured(cli, stopped, monkeypatch):
    """Measuring takes a minute: nobody waits that long to read that a program does not start."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    monkeypatch.setattr("ridgepoint.ceilings.characterize", _never)
    damaged = cli.folder / "damaged"
    damaged.write_bytes(b"\x7fELF" + bytes(60))
    damaged.chmod(0o755)

    assert cli("run", "--", "false")[0] == 1
    status, _, err = cli("run", "--", damaged)
    assert status == 2
    assert "cannot execute it" in err


def test_machine_that_is_not_known_is_measured_once_the_program_ran(cli, stopped, monkeypatch):
    """And it bounds the program, and is kept with it."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    marker = cli.folder / "ran"

    def measured(**options):
        assert marker.exists()
        return MACHINE

    monkeypatch.setattr("ridgepoint.ceilings.characterize", measured)
    status, _, err = cli("run", "--repeat", "1", "--", "touch", marker)

    assert status == 0
    assert "attainable" in err
    with Archive(cli.archive) as archive:
        assert [record.kind for record in archive.records()] == ["machine", "measurement"]
        assert archive.records()[1].machine_id == 1


def test_time_is_kept_when_measuring_the_machine_fails(cli, stopped, monkeypatch):
    """Between timing and counting the machine is measured, which may be stopped too."""
    stopped(ScriptedMeter(MEASUREMENT.counted))

    def interrupted(**options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ridgepoint.ceilings.characterize", interrupted)
    status, _, err = cli("run", "--repeat", "1", "--", "true")

    assert status == 130
    assert "T  runtime" in err
    assert cli("show")[0] == 0


def test_machine_that_another_process_measured_meanwhile_is_taken(cli, stopped, monkeypatch):
    """The second of two first runs waits, and then measures nothing."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    monkeypatch.setattr("ridgepoint.ceilings.characterize", _never)
    monkeypatch.setattr(
        "ridgepoint.ceilings.this_host.fingerprint", lambda *args, **options: MACHINE.fingerprint
    )

    @contextlib.contextmanager
    def other_was_first(when_waiting, **options):
        when_waiting()
        with Archive(cli.archive) as archive:
            archive.keep_machine(MACHINE)
        yield

    monkeypatch.setattr("ridgepoint.ceilings.this_host.alone_on_this_host", other_was_first)
    status, _, err = cli("run", "--repeat", "1", "--", "sleep", "2.1")

    assert status == 0
    assert "waiting for another ridgepoint" in err
    assert "attainable" in err


def test_full_disk_is_found_before_the_program_runs(cli, stopped, monkeypatch):
    """What would be measured could not be kept."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(cli.folder / "new" / "archive"))
    full = SimpleNamespace(f_blocks=10**6, f_bavail=255, f_bfree=255, f_frsize=4096)
    monkeypatch.setattr("ridgepoint.kept.archive_file.os.statvfs", lambda path: full)
    marker = cli.folder / "ran"
    status, _, err = cli("run", "--", "touch", marker)

    assert status == 2
    assert "the disk is full" in err
    assert not marker.exists()


def test_counting_alone_measures_no_machine(cli, stopped, monkeypatch):
    """The counts need none; that the bound is unknown is said, and what to do about it."""
    stopped(ScriptedMeter(MEASUREMENT.counted))
    monkeypatch.setattr("ridgepoint.ceilings.characterize", _never)
    status, _, err = cli("run", "--counts-only", "--", "true")

    assert status == 0
    assert "1 Gflop fp64" in err
    assert "'ridgepoint machine'" in err
    status, out, _ = cli("show")
    assert status == 0
    assert "1 Gflop fp64" in out


def _never(**options):
    raise AssertionError("the machine was measured")
