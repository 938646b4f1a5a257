"""`ridgepoint scale`, through the command line."""

import json
import re
import shlex
from pathlib import Path

import pytest

NODE = ("--core-rate", "8Gflop/s", "--memory", "16GB/s", "--link", "2GB/s", "--cores", "8")
PRODUCT = ("scale", "matrix-product-1d", "--size", "1e4", *NODE)


def runs_file(folder, *rows, header="nodes,cores,time_s"):
    """Return the path of a file with these rows."""
    path = folder / "runs.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def law_runs(folder):
    """Return runs of a tenth serial: 10 s alone, twice each, 1 % apart."""
    times = [
        (n, 10 * (0.1 + 0.9 / n) * share) for n in (1, 2, 4, 8, 16) for share in (0.995, 1.005)
    ]
    return runs_file(folder, *(f"{n},1,{t:.6f}" for n, t in times))


def test_the_table_says_what_to_allocate(cli):
    """A matrix product over one link: 9 nodes are best, 4 keep an efficiency of 0.8."""
    status, out, err = cli(*PRODUCT, "--nodes", "1..64", "--efficiency", "0.8")
    lines = [line.split() for line in out.splitlines()]

    assert (status, err) == (0, "")
    assert [
        "4",
        "8",
        "9.05",
        "s",
        "27.62",
        "86",
        "%",
        "86",
        "%",
        "221",
        "Gflop/s",
        "compute",
    ] in lines
    assert "optimum, p* = 8.86002           9      8  6.689 s     37.38" in out
    assert "parallel efficiency >= 0.8      4      8   9.05 s     27.62" in out


def test_slurm_gets_its_lines_and_nothing_else(cli):
    """They stand at the head of a job script."""
    status, out, err = cli(*PRODUCT, "--nodes", "1..64", "--efficiency", "0.8", "--slurm")

    assert (status, err) == (0, "")
    assert out == cli(*PRODUCT, "--efficiency", "0.8", "--scheduler", "slurm")[1]
    assert out.splitlines() == [
        "# at least 9.05 s, 27.64 times one core, parallel efficiency 0.864",
        "#SBATCH --nodes=4",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH --exclusive",
    ]


def test_json_has_inputs_points_and_choices(cli):
    """In base units."""
    status, out, _ = cli(*PRODUCT, "--nodes", "1,4,16,64", "--efficiency", "0.8", "--json")
    found = json.loads(out)

    assert status == 0
    assert found["problem"]["operations"] == 2e12
    assert found["machine"]["link_bytes_per_s"] == 2e9
    assert [point["speed_up"] for point in found["points"]] == pytest.approx(
        [7.9618, 27.6243, 31.3972, 9.7312], abs=5e-5
    )
    assert found["points"][0]["parts_s"] == {"compute": 31.25, "dram": 0.15, "network": 0.0}
    assert found["best"]["nodes"] == 16
    assert found["optimum"]["nodes"] == pytest.approx(8.8600, rel=5e-5)
    assert found["largest"]["nodes"] == 4
    assert found["fit"] is None


def test_an_own_problem_is_the_case_study_with_its_formulas(cli):
    """The same numbers come of --op, --bytes and --exchanged."""
    own = ("--op", "2*n^3", "--bytes", "24*n^2", "--exchanged", "8*n^2*(p-1)", "--size", "1e4")
    _, of_case, _ = cli(*PRODUCT, "--json")
    status, out, _ = cli("scale", *own, *NODE, "--json")

    assert status == 0
    assert json.loads(out)["points"] == json.loads(of_case)["points"]


def test_networks_and_overlaps_are_those_asked_for(cli):
    """Own links: 282.6855; full overlap over one link: 79.3651 GFLOP/s on 64 nodes."""
    _, parallel, _ = cli(*PRODUCT, "--network", "parallel", "--nodes", "64", "--json")
    _, full, _ = cli(*PRODUCT, "--overlap", "full", "--nodes", "64", "--json")

    assert json.loads(parallel)["best"]["speed_up"] == pytest.approx(282.6855, abs=5e-5)
    assert json.loads(parallel)["optimum"] is None
    assert json.loads(full)["best"]["performance"] == pytest.approx(79.3651e9, rel=1e-6)


def test_latency_is_counted_as_given(cli):
    """A ring of p - 1 messages of 0.1 s: p* = sqrt(31.4/0.5); 31.4/8 + 7/2 = 7.425 s on 8."""
    status, out, _ = cli(*PRODUCT, "--latency", "100ms", "--nodes", "1..64", "--json")
    found = json.loads(out)
    (on_8,) = (point for point in found["points"] if point["nodes"] == 8)

    assert status == 0
    assert found["latency_s"] == 0.1
    assert found["optimum"]["nodes"] == pytest.approx(62.8**0.5, rel=1e-6)
    assert on_8["time_s"] == pytest.approx(7.425, rel=1e-12)
    assert on_8["latency_s"] == pytest.approx(0.7, rel=1e-12)


def test_a_share_of_a_node_is_a_node_with_less_bandwidth(cli):
    """20 flop/byte on 2 cores of 0.5 Gflop/s, a quarter of 4 GB/s: x = 40 as on 1 GB/s."""
    own = ("scale", "--op", "20e9", "--bytes", "1e9", "--core-rate", "500Mflop/s", "--cores", "2")
    status, out, _ = cli(*own, "--memory", "4GB/s", "--share", "0.25", "--json")
    _, small, _ = cli(*own, "--memory", "1GB/s", "--json")
    _, table, _ = cli(*own, "--memory", "4GB/s", "--share", "0.25")
    found = json.loads(out)

    assert status == 0
    assert found["intensity"] == 40
    assert found["best"]["time_s"] == json.loads(small)["best"]["time_s"] == 21
    assert found["unshared"]["time_s"] == pytest.approx(20.25)
    assert found["best"]["parallel_efficiency"] == pytest.approx(40.25 / 42)
    assert "25 % of each bandwidth" in table
    assert "the same with its nodes to itself" in table


def test_a_share_of_a_machine_has_its_share_of_the_cores(cli):
    """A third of six; a part of a core is none."""
    e5645 = ("scale", "--op", "1e9", "--machine", "e5645")
    _, third, _ = cli(*e5645, "--share", "0.3333333333333333", "--json")
    _, given, _ = cli(*e5645, "--share", "0.5", "--cores", "4", "--json")
    status, out, err = cli(*e5645, "--share", "0.1")

    assert json.loads(third)["best"]["cores"] == 2
    assert json.loads(given)["best"]["cores"] == 4
    assert (status, out) == (2, "")
    assert "0.1 of 6 cores is less than a core; give --cores" in err


def test_a_shared_node_is_not_asked_for_alone(cli):
    """With all cores, yet a part of the bandwidth."""
    _, out, _ = cli(*PRODUCT, "--share", "0.5", "--slurm")

    assert "--cpus-per-task=8" in out
    assert "--exclusive" not in out


def test_messages_without_bytes_need_no_link(cli):
    """1/8 s of work, and log2(p) messages of 1 ms: 125/64 + 6 ms; the latency limits."""
    own = ("--op", "1e9", "--messages", "log2(p)", "--latency", "1ms", "--core-rate", "8Gflop/s")
    status, out, _ = cli("scale", *own, "--json")
    found = json.loads(out)

    assert status == 0
    assert found["best"]["time_s"] == pytest.approx(7.953125e-3, rel=1e-12)
    assert found["best"]["limiter"] == "latency"
    assert found["optimum"]["nodes"] == pytest.approx(125 * 0.69314718056, rel=1e-6)


def test_a_machine_of_the_library_with_a_link_that_is_given(cli):
    """Of the Cascade Lake machine, in fp32; 100 Gbit/s are 12.5 GB/s."""
    status, out, _ = cli(
        "scale", "fft", "--size", "2^20", "--machine", "cascade-lake", "--precision", "fp32",
        "--link", "100Gbit/s", "--json",
    )  # fmt: skip
    found = json.loads(out)["machine"]

    assert status == 0
    assert (found["core_rate"], found["link_bytes_per_s"]) == (4.2e12, 12.5e9)


def test_one_node_needs_no_network(cli):
    """One node that was asked for, or a problem without an exchange."""
    fft = ("scale", "fft", "--size", "2^20", "--machine", "e5645", "--cores", "1..6")
    status, out, _ = cli(*fft, "--nodes", "1")
    own, _, _ = cli("scale", "--op", "1e9", "--machine", "e5645")
    refused, _, err = cli("scale", "fft", "--size", "1e6", "--machine", "e5645", "--nodes", "2")

    assert (status, own) == (0, 0)
    assert "no optimum" not in out
    assert refused == 2
    assert "the machine has no ceiling of its network; give the rate of a link" in err


def test_a_share_is_refused_with_a_fit(cli, tmp_path):
    """The runs had their nodes alone."""
    runs = runs_file(tmp_path, "1,1,1", "1,2,0.6", "1,4,0.4")
    status, _, err = cli("scale", "--op", "1e9", "--share", "0.5", "--fit", runs)

    assert status == 2
    assert "--share does not apply to --fit" in err


def test_rates_are_fitted_to_runs(cli, tmp_path):
    """Runs of 1 s of computing on one core, and 1 s in memory."""
    rows = [f"1,{q},{1 / q + 1}" for q in (1, 2, 4, 8)] + ["1,8,1.2", "1,8,1.05"]
    status, out, _ = cli(
        "scale", "--op", "1e9", "--bytes", "1e9", "--fit", runs_file(tmp_path, *rows), "--nodes",
        "1", "--json",
    )  # fmt: skip
    fit = json.loads(out)["fit"]

    assert status == 0
    assert [one["name"] for one in fit["parameters"]] == ["core rate", "memory bandwidth"]
    assert [one["value"] for one in fit["parameters"]] == pytest.approx([1e9, 1e9], rel=1e-5)
    assert [run["time_s"]["n"] for run in fit["runs"]] == [1, 1, 1, 3]


def test_laws_are_fitted_to_runs(cli, tmp_path):
    """A tenth is serial: at most 10 times as fast."""
    status, out, _ = cli("scale", "amdahl", "--fit", law_runs(tmp_path), "--nodes", "1,4")

    assert status == 0
    assert "serial share" in out
    assert "0.1 " in out
    assert ["4", "3.25", "s", "3.077", "77", "%"] in [line.split() for line in out.splitlines()]


def test_a_fit_that_does_not_hold_says_so(cli, tmp_path):
    """Runs that get slower with more processors are no Amdahl's law."""
    rows = [f"{n},1,{10 / n + n * share}" for n in (1, 2, 4, 8, 16) for share in (0.99, 1.01)]
    _, out, _ = cli("scale", "amdahl", "--fit", runs_file(tmp_path, *rows), "--nodes", "1,4")
    _, _, err = cli(
        "scale", "amdahl", "--fit", runs_file(tmp_path, *rows), "--nodes", "1,4", "--slurm"
    )

    assert "model-does-not-hold" in out
    assert "model-does-not-hold" in err


def test_figures_are_written(cli, tmp_path):
    """One with -o, all with --figures."""
    status, _, _ = cli(*PRODUCT, "-o", tmp_path / "a.png", "--figures", tmp_path / "all")

    assert status == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "all").glob("*.svg"))) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a CASE"),
        (("sort", "--size", "9"), "there is no 'sort'; there are scalar-product"),
        (("fft",), "give the size of the problem with --size"),
        (("fft", "--size", "0", *NODE), "must be at least 1"),
        (("fft", "--size", "nan", *NODE), "a formula may contain numbers"),
        (("fft", "--size", "-4", *NODE), "must be finite and >= 0"),
        (("fft", "--size", "9"), "speed of a node is not known"),
        (("fft", "--size", "9", "--core-rate", "8Gflop/s"), "give --memory"),
        (("fft", "--size", "9", "--core-rate", "8"), "has no unit of work rate"),
        (("fft", "--size", "9", "--core-rate", "0flop/s"), "must be > 0"),
        (("fft", "--size", "9", *NODE, "--memory", "-1GB/s"), "is not finite and >= 0"),
        (("fft", "--size", "9", *NODE, "--link", "fast"), "has no unit of byte rate"),
        (
            (
                "--op",
                "20e9",
                "--bytes",
                "1e9",
                "--core-rate",
                "500Mflop/s",
                "--memory",
                "500MB/s",
                "--cores",
                "8",
                "--exchanged",
                "p-1",
            ),
            "the rate of a link is not known; give --link 2GB/s, or --nodes 1",
        ),
        (("fft", "--size", "9", "--machine", "e5645"), "the rate of a link is not known"),
        (("fft", "--size", "9", *NODE, "--nodes", "0"), "0 is not > 0"),
        (("fft", "--size", "9", *NODE, "--nodes", "4..1"), "ends before it begins"),
        (("fft", "--size", "9", *NODE, "--nodes", "2000000"), "must be at most 1048576"),
        (("fft", "--size", "9", *NODE, "--cores", "1..4096", "--nodes", "1..9999"), "too many"),
        (("fft", "--size", "9", *NODE, "--efficiency", "80"), "'--efficiency'"),
        (("fft", "--size", "9", *NODE, "--efficiency", "nan"), "'--efficiency'"),
        (("fft", "--size", "9", *NODE, "--overlap", "0.5"), "must be full, none or a number"),
        (("fft", "--size", "9", *NODE, "--precision", "dram"), "there is no 'dram'"),
        (("fft", "--size", "9", *NODE, "--op", "1"), "replace a CASE"),
        (
            ("fft", "--size", "9", "--machine", "e5645", "--core-rate", "1Gflop/s"),
            "cannot be combined",
        ),
        (("fft", "--size", "9", "--machine", "e5645", "--cores", "7"), "e5645 has 6 cores, not 7"),
        (("fft", "--size", "9", "--machine", "none.json"), "cannot read 'none.json' as a machine"),
        (("fft", "--size", "9", *NODE, "--slurm", "--json"), "--slurm and --json both print"),
        (("fft", "--size", "9", *NODE, "--scheduler", "pbs", "--json"), "--scheduler and --json"),
        (("fft", "--size", "9", *NODE, "--scheduler", "pbs", "--slurm"), "contradict each other"),
        (("fft", "--size", "9", *NODE, "--scheduler", "cron"), "'slurm', 'pbs', 'lsf', 'flux'"),
        (("fft", "--size", "9", *NODE, "-o", "a.gif"), "does not name a format"),
        (("fft", "--size", "9", "--fit", "none.csv"), "no such file"),
        (("--op", "__import__('os')", *NODE), "a formula may contain numbers"),
        (("--op", "2*n", *NODE), "give the size"),
        (("--op", "0", *NODE), "must be > 0"),
        (("--op", "1e9", "--exchanged", "10-p", *NODE), "must be finite and >= 0"),
        (("--op", "1e9", "--messages", "p", *NODE), "give --latency 2us"),
        (("--op", "1e9", "--latency", "2us", *NODE), "give --messages 'log2(p)'"),
        (("--op", "1e9", "--messages", "2-p", "--latency", "2us", *NODE), "must be finite and >="),
        (("fft", "--size", "9", *NODE, "--messages", "p"), "replace a CASE"),
        (("fft", "--size", "9", *NODE, "--latency", "2"), "has no unit of time"),
        (("fft", "--size", "9", *NODE, "--latency", "0s"), "must be > 0"),
        (("fft", "--size", "9", *NODE, "--latency", "nan"), "has no unit of time"),
        (("fft", "--size", "9", *NODE, "--latency", "nan s"), "is not finite"),
        (("fft", "--size", "9", *NODE, "--latency", ""), "is empty"),
        (("fft", "--size", "9", *NODE, "--latency", "stream"), "'stream' was not measured"),
        (("usl", "--latency", "2us"), "--latency does not apply"),
        (("fft", "--size", "9", *NODE, "--share", "0"), "'--share'"),
        (("fft", "--size", "9", *NODE, "--share", "1.1"), "'--share'"),
        (("fft", "--size", "9", *NODE, "--share", "nan"), "'--share'"),
        (("usl", "--share", "0.5"), "--share does not apply"),
        (("usl",), "give --fit"),
        (("usl", "--size", "4"), "--size does not apply"),
    ],
)
def test_nonsense_is_refused_in_one_line(cli, arguments, said):
    """Status 2, nothing on standard output, and what to do."""
    status, out, err = cli("scale", *arguments)

    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("rows", "header", "said"),
    [
        (["1,1"], "nodes,time_s", "runs.csv:1: there is no column 'cores'"),
        (["1,1,nan"], "nodes,cores,time_s", "runs.csv:2, time_s: 'nan' is not finite"),
        (["1,1,1", "2,1,1"], "nodes,cores,time_s", "cannot fit 2 parameters"),
    ],
)
def test_runs_that_cannot_be_used_are_refused(cli, tmp_path, rows, header, said):
    """A missing column, no number, too few of them."""
    path = runs_file(tmp_path, *rows, header=header)
    status, out, err = cli("scale", "amdahl", "--fit", path)

    assert (status, out) == (2, "")
    assert said in err


def test_an_efficiency_that_nothing_keeps_leaves_slurm_without_lines(cli):
    """A scalar product never reaches half of the peak."""
    asked = ("scale", "scalar-product", "--size", "1e6", *NODE, "--efficiency", "0.5")
    status, out, err = cli(*asked, "--against", "peak", "--slurm")
    _, table, _ = cli(*asked, "--against", "peak")

    assert (status, out) == (2, "")
    assert "no allocation keeps an efficiency of 0.5" in err
    assert "peak efficiency >= 0.5: none, not even the smallest" in table


def test_the_documented_tables_are_what_is_printed(cli, tmp_path, monkeypatch):
    """The first two blocks of docs/scaling.md and its jobs, word by word, and its Python."""
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
    table, lines = re.findall(r"```console\n(.*?)```", page, re.DOTALL)[:2]
    (tables,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (shared,) = re.findall(r"```console\n(\$ ridgepoint scale --jobs.*?)```", page, re.DOTALL)
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(table.replace("\\\n", "").splitlines()[0])[2:]
    _, printed, _ = cli(*arguments)
    _, asked, _ = cli(*arguments[:-2], "--slurm")
    Path("jobs.toml").write_text(tables)
    _, placed, _ = cli(*shlex.split(shared.splitlines()[0])[2:])
    names = {}
    exec(script, names)

    documented = table.replace("\\\n", "").splitlines()[1:]
    assert [line.rstrip() for line in printed.splitlines()] == documented
    assert [line.rstrip() for line in placed.splitlines()] == shared.splitlines()[1:]
    assert asked.splitlines() == lines.partition("job.sh\n$ cat job.sh\n")[2].splitlines()
    assert names["study"].largest.nodes == 4
