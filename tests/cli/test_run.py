"""``ridgepoint run``, ``list``, ``show`` and ``plot``, end to end but for the meter."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import ridgepoint
from ridgepoint.host import Activity
from ridgepoint.kept.archive import Archive

pytestmark = pytest.mark.usefixtures("meter")


def test_report_goes_to_standard_error_and_the_programs_output_stays_alone(cli):
    """As with time and perf stat, a pipe behind the program sees the program only."""
    status, out, err = cli.run("--", "echo", "hello")

    assert status == 0
    assert out == "hello\n"
    assert "1 Gflop fp64" in err
    assert "kept as 2" in err


def test_json_is_alone_on_standard_output_and_holds_the_contract(cli):
    """One object; the program's output moves to standard error."""
    status, out, err = cli.run("--json", "--", "echo", "hello")
    report = json.loads(out)

    assert status == 0
    assert "hello" in err
    assert report["schema"] == 1
    assert report["command"] == ["echo", "hello"]
    assert report["work"] == {"fp64": 1_000_000_000}
    assert report["work_flop"] == 1_000_000_000
    assert report["instructions"] == {
        "total": 3_000_000_000, "branches": 10, "loads": 20, "stores": 5, "undecoded": 0,
    }  # fmt: skip
    assert report["traffic"] == {
        "level": "dram",
        "read_bytes": 600_000_000,
        "write_bytes": 400_000_000,
        "pending_write_bytes": None,
    }
    assert report["intensity_flop_per_byte"] == 1.0
    assert report["runtime_s"]["n"] == 1
    assert report["runtime_s"]["low"] is None
    assert report["functions"][0]["name"] == "f"
    assert {"code", "seen", "remedy", "matters"} <= set(report["cautions"][0])


def test_bound_is_that_of_one_busy_core(cli):
    """1 Gflop at 10 Gflop/s is 0.1 s, 1 GB at 5 GB/s is 0.2 s: DRAM bounds, at 5 Gflop/s."""
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    _, out, _ = cli.run("--json", "--", sys.executable, "-c", burn)
    bound = json.loads(out)["bound"]

    assert bound["cores"] == 1
    assert bound["limiter"] == "dram"
    assert bound["time_s"] == pytest.approx(0.2)
    assert bound["attainable_flop_per_s"] == pytest.approx(5e9)


def test_asked_for_cores_choose_the_roofs(cli):
    """Four cores: 8 GB/s, 1 GB in 0.125 s."""
    _, out, _ = cli.run("--json", "--cores", "4", "--", "true")

    assert json.loads(out)["bound"]["time_s"] == pytest.approx(0.125)


def test_counts_only_leaves_time_unknown(cli, meter):
    """No runtime, no performance, no efficiency, but a bound."""
    _, out, _ = cli.run("--counts-only", "--json", "--", "true")
    report = json.loads(out)

    assert report["runtime_s"] is None
    assert report["performance_flop_per_s"] is None
    assert report["bound"]["efficiency"] is None
    assert report["bound"]["time_s"] == pytest.approx(0.125)
    assert len(meter.commands) == 1


def test_program_is_run_as_often_as_asked_and_once_more_to_count(cli):
    """One run to warm up, three to time, one to count."""
    record = cli.folder / "runs"
    cli("run", "--machine", cli.machine, "--repeat", "3", "--", "sh", "-c", f"echo x >>{record}")

    assert record.read_text().count("x") == 5


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [("exit 3", 3, "exited with status 3"), ("kill -11 $$", 139, "SIGSEGV ended it")],
)
def test_programs_own_failure_is_passed_on_in_one_line(cli, script, status, words):
    """The status is the program's, and nothing is kept."""
    got, out, err = cli.run("--", "sh", "-c", script)

    assert got == status
    assert out == ""
    assert [words in line for line in err.splitlines() if line.startswith("ridgepoint: c")] == [
        True
    ]
    with Archive(cli.archive) as archive:
        assert archive.records("measurement") == []


def test_failing_program_is_measured_when_asked_and_its_status_passed_on(cli):
    """A grep that finds nothing is worth measuring."""
    status, _, err = cli.run("-i", "--", "sh", "-c", "exit 1")

    assert status == 1
    assert "kept as 2" in err


def test_input_reaches_every_run(cli):
    """The warm-up, two timed runs and the counted one read the same lines."""
    command = [
        sys.executable, "-m", "ridgepoint", "run", "--machine", str(cli.machine), "--repeat", "2",
        "--", "sh", "-c", f"cat >>{cli.folder}/seen",
    ]  # fmt: skip
    if shutil.which("valgrind") is None:
        pytest.skip("there is no valgrind")
    subprocess.run(command, input="line\n", text=True, capture_output=True, timeout=120, check=True)

    assert (cli.folder / "seen").read_text() == "line\n" * 4


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "json"])
def test_output_is_written_in_the_format_of_its_ending(cli, ending):
    """Each kind begins as such files do."""
    path = cli.folder / f"figure.{ending}"
    begins = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{\n"}[ending]

    assert cli.run("-o", path, "--", "true")[0] == 0
    assert path.read_bytes().startswith(begins)


def test_list_show_and_plot_work_without_measuring(cli, meter):
    """What was kept is listed, shown as it was, and drawn."""
    _, first, _ = cli.run("--json", "--", "true")
    runs = len(meter.commands)
    _, listed, _ = cli("list", "--json")
    _, shown, _ = cli("show", "2", "--json")
    status, drawn, _ = cli("plot", "2")

    assert [r["kind"] for r in json.loads(listed)["records"]] == ["machine", "measurement"]
    assert json.loads(shown) == json.loads(first)
    assert status == 0
    assert "flop/byte" in drawn
    assert len(meter.commands) == runs


def test_same_machine_is_kept_once(cli):
    """A second run with the same file adds a measurement, not a machine."""
    cli.run("--", "true")
    cli.run("--", "true")
    _, listed, _ = cli("list", "--json")

    assert [r["kind"] for r in json.loads(listed)["records"]] == [
        "machine",
        "measurement",
        "measurement",
    ]


def test_published_machine_is_shown_by_name(cli):
    """The Cascade Lake of the Ridgeline paper: 4.2 Tflop/s, 105 GB/s."""
    _, out, _ = cli("show", "cascade-lake", "--json")
    rates = {c["resource"]: c["rate"]["median"] for c in json.loads(out)["ceilings"]}

    assert (rates["fp32"], rates["dram"], rates["network"]) == (4.2e12, 105e9, 12e9)


def test_empty_archive_is_no_error_to_list_and_one_to_show(cli):
    """Nothing kept is an answer; nothing to show is not."""
    assert cli("list")[0] == 0
    status, _, err = cli("show")

    assert status == 2
    assert "ridgepoint run -- ./program" in err


def test_unwritable_output_costs_neither_report_nor_record(cli):
    """A folder that vanishes while the program runs: the measurement is kept, status 2."""
    folder = cli.folder / "gone"
    folder.mkdir()
    status, _, err = cli.run("-o", folder / "f.svg", "--", "rm", "-rf", folder)

    assert status == 2
    assert "1 Gflop fp64" in err
    assert "kept as 2" in err


def test_closed_standard_output_is_no_traceback(cli):
    """As with 'ridgepoint show | head -1'."""
    cli.run("--", "true")
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "ridgepoint", "show", "2", "--json"]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=60)
    os.close(write_end)

    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk_behind_standard_output_is_one_line(cli):
    """The report cannot be written: a reason, status 2."""
    cli.run("--", "true")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "ridgepoint", "show", "2", "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)

    assert done.returncode == 2
    assert done.stderr.startswith(b"ridgepoint: cannot write the output: no space left")
    assert done.stderr.count(b"\n") == 1


def test_load_of_others_while_it_was_timed_is_said_with_numbers(cli, monkeypatch):
    """Two seconds of two CPUs, one of them ours: the other one and a tenth that was stolen."""
    began = Activity(at_s=0.0, busy_s=0.0, steal_s=0.0, own_s=0.0, processes={})
    ended = Activity(at_s=2.0, busy_s=4.0, steal_s=0.2, own_s=2.0, processes={(7, "stream"): 1.9})
    looks = iter([began, ended])
    monkeypatch.setattr("ridgepoint.host.System.activity", lambda system: next(looks))
    _, out, _ = cli.run("--json", "--", "sleep", "0.1")
    cautions = {one["code"]: one for one in json.loads(out)["cautions"]}

    assert "1 CPUs busy" in cautions["other-load"]["seen"]
    assert "'stream' (process 7) most, for 1.9 s" in cautions["other-load"]["seen"]
    assert "0.1 CPUs" in cautions["stolen-time"]["seen"]
    assert "other programs" in cautions["waiting"]["remedy"]


def test_python_says_what_the_command_line_says(cli):
    """The summary of what was kept is what 'show' prints, but for the plot below it."""
    cli.run("--", "echo", "hello")
    _, shown, _ = cli("show", "2")
    summary = ridgepoint.load(2).summary().splitlines()

    assert len(summary) > 10
    assert [line.rstrip() for line in shown.splitlines()[: len(summary)]] == summary
