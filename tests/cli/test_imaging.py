"""The imaging pipeline by its command: what is listed, refused, drawn and written."""

import json
import sys
import tomllib

import pytest

from ridgepoint.core.estimate import Estimate
from ridgepoint.suites.imaging.measuring import StageResult

pytest.importorskip("ducc0")


@pytest.fixture
def measured(monkeypatch):
    """Put literal results in the place of clocks and Valgrind; return what they were asked for."""
    asked = {}

    def results(stages, *, states, threads, report, **others):
        asked.update(others)
        names = [one.name for one in stages] + ["grid", "degrid"]
        return tuple(
            StageResult(
                name=name, summary="of a test", state=state, threads=threads, visibilities=1000,
                expected_flop=2e9, expected_bytes=1e9, work_flop=3e9, moved_bytes=1e9,
                runtime_s=Estimate([0.5]),
            )
            for state in states
            for name in names
        )  # fmt: skip

    monkeypatch.setattr("ridgepoint.suites.imaging.measuring.measure_stages", results)
    monkeypatch.setattr("ridgepoint.suites.imaging.whole.MOST_RUNS", 1)
    return asked


def test_samples_and_time_are_as_asked(cli, measured):
    """Advice names the options of the command."""
    cli("suite", "imaging", "ifft", "--size", 64, "--repeat", 7, "--limit", 2)

    assert (measured["repetitions"], measured["limit_s"]) == (7, 2.0)
    assert measured["knobs"].samples == "--repeat, --limit"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["imaging", "gridd"], "there is no 'gridd'; there are invert, ifft, predict"),
        (["imaging", "--size", "65"], "size must be even, 64 to 16384, got 65"),
        (["imaging", "--size", "20000"], "size must be even, 64 to 16384"),
        (["imaging", "--size", "0"], "'--size'"),
        (["imaging", "--gain", "0"], "'--gain'"),
        (["imaging", "--gain", "1.5"], "'--gain'"),
        (["imaging", "--gain", "nan"], "'--gain'"),
        (["imaging", "--gain", "x"], "'--gain'"),
        (["imaging", "--threads", "99999"], "CPUs may be used"),
        (["imaging", "hogbom", "-o", "p.toml"], "a pipeline needs all stages"),
        (["imaging", "hogbom", "--scratch", "."], "only the whole pipeline has files"),
        (["imaging", "--stages-only", "--scratch", "."], "only the whole pipeline has files"),
        (["imaging", "-o", "missing/p.toml"], "there is no folder 'missing'"),
        (["imaging", "--validate"], "--validate"),
        (["imaging", "--mpi", "2"], "--mpi"),
        (["dgemm", "--gain", "0.1"], "--gain"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(words, said, cli, monkeypatch):
    """It says what is wrong, and measures nothing."""
    monkeypatch.chdir(cli.folder)
    status, out, err = cli("suite", *words)
    assert (status, out) == (2, "")
    assert said in err.replace("\n", " ")
    assert "Traceback" not in err


def test_without_ducc_it_says_what_to_install(cli, monkeypatch):
    """In one line."""
    monkeypatch.setitem(sys.modules, "ducc0", None)
    status, _, err = cli("suite", "imaging", "--size", "64")
    assert status == 2
    assert "ducc0 is not installed; pip install 'ridgepoint[suite]'" in err


def test_list_says_what_each_stage_does(cli):
    """With the flop that formulas give it."""
    status, out, _ = cli("suite", "imaging", "--size", "64", "--list")
    assert status == 0
    for said in ("hogbom", "9 FFTs of 132 x 132", "20 minor cycles", "1.64 M"):
        assert said in out


def test_figures_are_an_image_of_the_sky(cli, measured):
    """And a table of the sources."""
    folder = cli.folder / "figures"
    status, out, err = cli("suite", "imaging", "--size", "64", "--figures", folder)
    assert status == 0
    assert (folder / "imaging.png").read_bytes().startswith(b"\x89PNG")
    assert "invert 8, predict 7, deconvolve 6" in err.replace("\n", " ")
    assert "extended" in err
    assert "6 Gflop/s" not in out
    assert "3 Gflop" in out


def test_the_whole_pipeline_is_run_from_file_to_files(cli, measured):
    """Its parts add up; the host's are those that no stage stands for; the files are gone."""
    status, text, _ = cli("suite", "imaging", "--size", "64", "--scratch", cli.folder, "--json")
    whole = json.loads(text)["whole"]
    seconds = {part["name"]: part["time_s"]["median"] for part in whole["parts"]}

    assert status == 0
    assert sum(seconds.values()) == pytest.approx(whole["time_s"]["median"])
    assert whole["host_s"]["median"] == pytest.approx(
        sum(seconds.values()) - seconds["invert"] - seconds["predict"] - seconds["deconvolve"]
    )
    assert min(seconds.values()) > 0
    assert whole["read_bytes"] > 22464 * 16
    assert list(cli.folder.glob("ridgepoint-run-*")) == []
    out = cli("suite", "imaging", "--size", "64")[1]
    assert "the whole pipeline" in out
    assert "on one core only" in out


def test_stages_can_be_measured_without_the_whole_pipeline(cli, measured, monkeypatch):
    """Which is not run; then no host time is known."""
    monkeypatch.setattr("ridgepoint.suites.imaging.places.run_whole", None)
    status, text, _ = cli("suite", "imaging", "--size", "64", "--stages-only", "--json")
    assert status == 0
    assert json.loads(text).get("whole") is None


def test_a_file_in_memory_is_not_said_to_be_read_from_a_disk(cli, measured, monkeypatch):
    """Nor one from a disk to be in memory."""
    for share, said, unsaid in ((1.0, "from memory", "dropped"), (0.0, "dropped", "from memory")):
        monkeypatch.setattr("ridgepoint.host.page_cache.drop", lambda path, share=share: share)
        out = cli("suite", "imaging", "--size", "64")[1]
        assert said in out
        assert unsaid not in out


def test_a_folder_that_cannot_hold_the_files_costs_no_stage(cli, measured, monkeypatch):
    """The stages are measured; the reason is told, and the status is 2."""

    def full(path, arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ridgepoint.suites.imaging.whole.write_arrays", full)
    status, out, _ = cli("suite", "imaging", "--size", "64")
    assert status == 2
    assert "no space left on" in out
    assert "grid" in out
    status, _, err = cli("suite", "imaging", "--scratch", cli.folder / "none", "--size", "64")
    assert status == 2
    assert "does not exist" in err


def test_json_is_one_object(cli, measured):
    """With all that is known of each stage."""
    status, out, _ = cli("suite", "imaging", "fft", "--size", "64", "--caches", "warm", "--json")
    document = json.loads(out)
    assert status == 0
    assert (document["kind"], document["size"], document["visibilities"]) == ("imaging", 64, 22464)
    first = document["results"][0]
    assert (first["name"], first["state"], first["work_flop"]) == ("fft", "warm", 3e9)


def test_a_pipeline_is_written_that_the_other_command_composes(cli, measured, monkeypatch):
    """From measured stages to devices in one command."""
    from core_inputs import MACHINE

    monkeypatch.setattr(
        "ridgepoint.cli.common.machine_of_this_host",
        lambda archive, shown: (archive.keep_machine(MACHINE), MACHINE),
    )
    path = cli.folder / "p.toml"
    words = ("--archive", cli.archive)
    status, text, err = cli("suite", "imaging", "--size", "64", "-o", path, "--json", *words)
    assert status == 0
    minor_cycles = json.loads(text)["whole"]["minor_cycles"]
    assert f"ridgepoint pipeline {path}" in err.replace("\n", "")
    status, out, err = cli("pipeline", path, *words)
    assert status == 0, err
    stages = tomllib.loads(path.read_text())["stages"]
    assert 20 * stages["deconvolve"]["repeat"] == pytest.approx(minor_cycles)
    assert f"deconvolve x {minor_cycles / 20:.4g} " in out
    assert "with the host's" in out
    assert "devices for 415.1 Tflop/s" in out
    assert cli("pipeline", path, "--archive", cli.folder / "another.sqlite3")[:2] == (0, out)
    moved = cli.folder / "moved"
    moved.mkdir()
    for file in (path, cli.folder / "p.machine.json"):
        file.rename(moved / file.name)
    assert cli("pipeline", moved / "p.toml")[:2] == (0, out)
