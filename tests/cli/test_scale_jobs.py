"""`ridgepoint scale --jobs`, through the command line."""

import json

import pytest

NODE = ("--core-rate", "8Gflop/s", "--memory", "16GB/s", "--cores", "8")
JOBS = """\
[job.product]
case = "matrix-product-1d"
size = 5000
cores = 4
count = 2

[job.triad]
op = "2*n"
bytes = "24*n"
size = 1e9
cores = 4
count = 2
"""


@pytest.fixture
def file(tmp_path):
    """Return what writes a file of jobs."""

    def write(text):
        path = tmp_path / "jobs.toml"
        path.write_text(text)
        return path

    return write


def test_the_best_mix_is_printed_with_the_worst(cli, file):
    """A product moves 0.6 GB in 7.85 s; a triad 24 GB in 1.5625 s, and two 30.72 of 16 GB/s."""
    status, out, err = cli("scale", "--jobs", file(JOBS), "--nodes", "2", *NODE)
    lines = [line.split() for line in out.splitlines()]

    assert (status, err) == (0, "")
    assert [
        "triad", "2", "4", "1.562", "s", "1.562", "s", "1", "15.36", "GB/s", "15.36", "GB/s",
        "memory", "nodes", "1,", "2",
    ] in lines  # fmt: skip
    assert "2 nodes: product 4 + triad 4" in out
    assert "2 x triad 4 | 2 x product 4" in out
    assert any(line[:4] == ["2", "3.042", "1.46", "1.92"] for line in lines)


def test_names_are_printed_as_they_are(cli, file):
    """Tables would take them for colours and pictures, or end in a traceback."""
    text = JOBS.replace("job.product", 'job."[/red]"').replace("job.triad", 'job.":smile: [bold]"')
    status, out, err = cli("scale", "--jobs", file(text), "--nodes", "2", *NODE)

    assert (status, err) == (0, "")
    assert "2 nodes: :smile: [bold] 4 + [/red] 4" in out


def test_json_has_the_best_placements_and_the_worst(cli, file):
    """In base units."""
    status, out, _ = cli("scale", "--jobs", file(JOBS), "--nodes", "2", *NODE, "--json")
    found = json.loads(out)

    assert status == 0
    assert (found["compared"], found["is_complete"]) == (2, True)
    assert found["placements"][0]["throughput"] == pytest.approx(4)
    assert found["worst"]["throughput"] == pytest.approx(2 + 16 / 15.36)
    assert found["worst"]["largest_slowdown"] == pytest.approx(2 * 15.36 / 16)
    assert {job["limiter"] for job in found["worst"]["jobs"]} == {"compute", "shared memory"}
    assert found["placements"][0]["nodes"][0]["memory_limit"] == 16e9


def test_schedulers_get_the_lines_of_each_kind_of_job(cli, file):
    """Below what should meet; one document each for Kubernetes."""
    asked = ("scale", "--jobs", file(JOBS), "--nodes", "2", *NODE, "--scheduler")
    status, out, _ = cli(*asked, "slurm")
    _, pods, _ = cli(*asked, "kubernetes")

    assert status == 0
    assert out.splitlines() == [
        "# jobs and their cores that should meet: 2 nodes: product 4 + triad 4",
        "# product, 2 jobs: at least 7.85 s, 1 times as long as alone",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --cpus-per-task=4",
        "# triad, 2 jobs: at least 1.562 s, 1 times as long as alone",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --cpus-per-task=4",
    ]
    assert pods.splitlines().count("---") == pods.count("kind: Job") == 2


def test_pictures_are_written(cli, file, tmp_path):
    """With -o and --figures."""
    asked = ("scale", "--jobs", file(JOBS), "--nodes", "2", *NODE)
    status, _, _ = cli(*asked, "-o", tmp_path / "a.png", "--figures", tmp_path / "all")

    assert status == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "Best placement" in (tmp_path / "all" / "placements.svg").read_text()


def test_a_machine_of_the_library_serves_jobs_too(cli, file):
    """The cores are its own."""
    text = '[job.a]\nop = "1 Gflop"\nbytes = "1 GB"\ncores = [1, 2, 4]\ncount = 2\n'
    status, out, _ = cli("scale", "--jobs", file(text), "--machine", "e5645", "--json")
    found = json.loads(out)

    assert status == 0
    assert found["machine"]["cores"] == 6
    assert found["jobs"][0]["cores"] == [1, 2, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it holds no job; give a table [job.NAME]"),
        ("[job]\n", "it holds no job"),
        ("[jobs.a]\ncores = 1\n", "jobs.toml:1, jobs: there is no"),
        ("job = 1\n", "job: "),
        ("[job.a]\n[job.a]\n", "it is not TOML"),
        ("[job.a]\ncores = 1\n", "it asks for no work"),
        ('[job.a]\nop = "1e9"\n', "cores"),
        ('[job.a]\nop = "1e9"\ncores = 0\n', "cores"),
        ('[job.a]\nop = "1e9"\ncores = []\n', "cores"),
        ('[job.a]\nop = "1e9"\ncores = 9\n', "a node has 8 cores, not 9"),
        ('[job.a]\nop = "1e9"\ncores = 1\ncount = -1\n', "count"),
        ('[job.a]\nop = "1e9"\ncores = 1\nfast = 1\n', "fast"),
        ('[job.a]\nop = "2*n"\ncores = 1\n', "its formulas contain n; give size"),
        ('[job.a]\nop = "0"\ncores = 1\n', "jobs.toml:2, job.a.op: must be > 0"),
        ('[job.a]\nop = "1 GB"\ncores = 1\n', "job.a.op: "),
        ("[job.a]\nop = nan\ncores = 1\n", "job.a.op: "),
        ('[job.a]\nop = "x"\ncores = 1\n', "a formula may contain numbers"),
        ('[job.a]\ncase = "sort"\nsize = 9\ncores = 1\n', "job.a.case: "),
        ('[job.a]\ncase = "fft"\ncores = 1\n', "its case has no size"),
        ('[job.a]\ncase = "fft"\nsize = 9\nop = "1"\ncores = 1\n', "it replaces the case"),
        ('[job.a]\ncase = "fft"\nsize = -9\ncores = 1\n', "job.a.size: "),
        ('[job.a]\ncase = "fft"\nsize = 64\ncores = 1\nnodes = 2\n', "the rate of a link is not"),
        ('[job.a]\nop = "1e9"\ncores = 5\ncount = 2\n', "10 cores are asked for in all"),
    ],
)
def test_wrong_files_are_refused_in_one_line(cli, file, text, said):
    """Status 2, nothing on standard output, where and what to do."""
    status, out, err = cli("scale", "--jobs", file(text), *NODE)

    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fft",), "CASE is about a single problem"),
        (("--op", "1"), "--op is about a single problem"),
        (("--share", "0.5"), "--share is about a single problem"),
        (("--efficiency", "0.5"), "--efficiency is about a single problem"),
        (("--slurm", "--json"), "both print on standard output"),
        (("--fit", "runs.csv"), "--fit is about a single problem"),
        (("--nodes", "1,2"), "--nodes with --jobs is one number"),
        (("--nodes", "5000"), "at most 1024"),
        (("--cores", "1..4"), "--cores with --jobs is the number of cores of a node"),
    ],
)
def test_options_of_a_single_problem_are_refused(cli, file, arguments, said):
    """They would be forgotten."""
    status, out, err = cli("scale", "--jobs", file(JOBS), *NODE, *arguments)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (("--core-rate", "1Gflop/s", "--memory", "1GB/s"), "give --cores 8"),
        (("--machine", "e5645", "--cores", "6"), "a node without --machine"),
        (("--cores", "8"), "the speed of a node is not known"),
        (("--core-rate", "1Gflop/s", "--cores", "8"), "give --memory"),
    ],
)
def test_a_node_must_be_known(cli, file, node, said):
    """Its cores, its rates."""
    status, out, err = cli("scale", "--jobs", file(JOBS), *node)

    assert (status, out) == (2, "")
    assert said in err


def test_a_missing_file_or_a_folder_is_refused(cli, tmp_path):
    """In one line."""
    for path in (tmp_path / "none.toml", tmp_path, "/dev/null"):
        status, out, err = cli("scale", "--jobs", path, *NODE)

        assert (status, out) == (2, "")
        assert "Traceback" not in err
