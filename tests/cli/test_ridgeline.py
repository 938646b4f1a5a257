"""``ridgepoint ridgeline`` as a user runs it: the paper's case study, own points, sweeps."""

import json

import pytest

from ridgepoint.core.documents import encode
from ridgepoint.models.derived import with_network
from ridgepoint.published.machines import load

COMPUTE, MEMORY, NETWORK = "compute", "memory", "network"


@pytest.fixture
def cli(tmp_path, capfd):
    """Return the command line."""
    from ridgepoint.cli.main import main

    def run(*arguments):
        capfd.readouterr()
        status = main(["ridgeline", *map(str, arguments)])
        out, err = capfd.readouterr()
        return status, out, err

    run.folder = tmp_path
    return run


def points(result):
    """Return the points of a JSON result."""
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)["points"]


def refused(result, *words):
    """Assert one line that says what is wrong, and status 2."""
    status, out, err = result
    lines = [line for line in err.splitlines() if line and not line.startswith(("Usage", "Try"))]

    assert (status, out) == (2, "")
    assert len(lines) == 1, err
    for word in words:
        assert word in lines[0]


# --- the paper ----------------------------------------------------------------------------------


def test_without_options_it_is_the_paper_s_case_study(cli):
    """Roofline: compute-bound from 32 on; Ridgeline: network-bound below 512."""
    shown = points(cli("--json"))

    assert [point["batch"] for point in shown] == [2**power for power in range(13)]
    assert [p["roofline_limiter"] for p in shown] == [MEMORY] * 5 + [COMPUTE] * 8
    assert [p["limiter"] for p in shown] == [NETWORK] * 9 + [COMPUTE] * 4
    at_512 = shown[9]
    assert at_512["times_s"][COMPUTE] / at_512["times_s"][NETWORK] == pytest.approx(1.097, abs=1e-3)
    assert at_512["performance_per_s"] == pytest.approx(4.2e12)
    assert at_512["work"] == 51539607552


def test_the_table_names_machine_ridge_and_case(cli):
    """And what is nearest to the ridge."""
    status, out, _ = cli()

    assert status == 0
    nearest = "batch 512, whose compute takes 9.7 % longer than its network"
    for text in ("cascade-lake: fp32 4.2 Tflop/s, memory 105 GB/s, network 12 GB/s",
                 "ridge point: I_A 40 flop/byte, I_M 8.75 byte/byte, I_N 350 flop/byte",
                 "training step of 4096-4096 in fp32 (footprint)",
                 f"nearest to a ridge: {nearest}"):  # fmt: skip
        assert text in out


def test_the_document_has_its_inputs_and_rates(cli):
    """Keys are a contract."""
    _, out, _ = cli("--json", "--batch", "64", "--nodes", "2")
    document = json.loads(out)

    assert document["kind"] == "ridgeline"
    assert document["ridge"] == {
        "arithmetic_intensity": 40, "memory_intensity": 8.75, "network_intensity": 350,
    }  # fmt: skip
    assert document["machines"][0] == {
        "name": "cascade-lake", "work_per_s": 4.2e12, "memory_bytes_per_s": 105e9,
        "network_bytes_per_s": 12e9,
    }  # fmt: skip
    assert document["inputs"] == {
        "layers": [4096, 4096], "model": None, "precision": "fp32", "all_reduce": ["ring"],
        "convention": "footprint", "strong": False,
    }  # fmt: skip
    assert set(document["points"][0]) == {
        "name", "batch", "nodes", "work", "memory_bytes", "network_bytes", "arithmetic_intensity",
        "memory_intensity", "network_intensity", "time_s", "performance_per_s", "times_s",
        "limiter", "roofline_limiter", "limiters", "roofline_limiters", "slowest",
    }  # fmt: skip


def test_every_figure_of_the_paper_is_written(cli):
    """By one command, with the table beside it."""
    status, out, _ = cli("--figures", cli.folder / "new" / "figures")

    assert status == 0
    assert "batch" in out
    assert sorted(path.name for path in (cli.folder / "new" / "figures").iterdir()) == [
        "1.svg", "2a.svg", "2b.svg", "2c.svg", "2d.svg", "2e.svg", "3.svg", "4a.svg", "4b.svg",
        "4c.svg", "6.svg", "6a.svg", "6b.svg", "I_N.svg", "network.svg",
    ]  # fmt: skip


def test_the_ridgeline_is_written_to_a_file(cli):
    """In the format of its ending."""
    picture = cli.folder / "r.png"
    status, _, _ = cli("--batch", "256,512", "-o", picture)

    assert status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


# --- training steps -----------------------------------------------------------------------------


def test_strong_scaling_goes_from_compute_to_network(cli):
    """2048 samples over 1, 2, 4 and 8 nodes: 2048, 1024, 512, 256 on each."""
    shown = points(cli("--json", "--strong", "--batch", "2048", "--nodes", "1,2,4,8"))

    assert [p["limiter"] for p in shown] == [COMPUTE] * 3 + [NETWORK]
    assert [p["nodes"] for p in shown] == [1, 2, 4, 8]
    assert shown[0]["memory_intensity"] is None
    assert shown[0]["network_bytes"] == 0


def test_algorithm_convention_precision_and_model_are_taken(cli):
    """MLPerf's top perceptron in bf16 with recursive doubling of 8 nodes: 3 times 2 bytes."""
    machine = cli.folder / "bf16.json"
    clx = load("cascade-lake")
    machine.write_bytes(encode(with_network(clx, 5e9)).replace(b'"fp32"', b'"bf16"'))
    (shown,) = points(
        cli("--json", "--model", "DLRM-mlperf-top", "--precision", "bf16", "--nodes", "8",
            "--all-reduce", "recursive-doubling", "--convention", "three-gemms", "--batch", "100",
            "--machine", machine)
    )  # fmt: skip
    weights = 479 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256

    assert shown["work"] == 600 * weights
    assert shown["network_bytes"] == 3 * 2 * weights
    ends = 479 + 1024 + 2 * 1024 + 1024 + 512 + 512 + 256 + 256 + 1
    assert shown["memory_bytes"] == 6 * (weights + 100 * ends)


def test_a_network_takes_the_place_of_the_machine_s(cli):
    """100 Gbit/s are 12.5 GB/s."""
    (shown,) = points(cli("--json", "--batch", "512", "--network", "100Gbit/s"))

    assert shown["times_s"][NETWORK] == pytest.approx(8 * 4096**2 / 12.5e9)


def test_of_several_machines_the_slowest_bounds(cli):
    """The one with the slower network, and it is named."""
    slow = cli.folder / "slow.json"
    slow.write_bytes(encode(with_network(load("cascade-lake"), 1e9)).replace(b"cascade-lake", b"b"))
    (shown,) = points(
        cli("--json", "--batch", "512", "--machine", "cascade-lake", "--machine", slow)
    )

    assert shown["slowest"] == ["b"]
    assert shown["limiter"] == NETWORK


@pytest.mark.parametrize(
    ("overlap", "seconds"), [("full", 12.2713e-3), ("none", 24.255e-3), ("1", 24.255e-3)]
)
def test_overlap_is_taken(cli, overlap, seconds):
    """12.2713 + 0.7989 + 11.1848 ms."""
    (shown,) = points(cli("--json", "--batch", "512", "--overlap", overlap))

    assert shown["time_s"] == pytest.approx(seconds, rel=1e-4)


# --- own points ---------------------------------------------------------------------------------


def test_own_points_come_from_the_command_line_and_from_a_file(cli):
    """With prefixes in both."""
    file = cli.folder / "points.toml"
    file.write_text('[spmv]\nwork = "2G"\nmemory_bytes = 12e9\nnetwork_bytes = 80000000\n')
    shown = points(cli("--json", "--demand", file, "--point", "gemm=1T,1G,0"))

    assert [p["name"] for p in shown] == ["spmv", "gemm"]
    assert [p["limiter"] for p in shown] == [MEMORY, COMPUTE]
    assert shown[0]["memory_intensity"] == 150
    assert shown[1]["network_intensity"] is None


def test_work_may_be_basic_operations(cli):
    """On a machine that has a ceiling of them, and a network that is given."""
    (shown,) = points(
        cli("--json", "--work", "bops", "--machine", "e5645", "--network", "1GB/s",
            "--point", "grep=1.2G,1G,2G")
    )  # fmt: skip

    assert shown["limiter"] == NETWORK
    assert shown["times_s"][COMPUTE] == pytest.approx(1.2 / 86.4)


# --- sweeps -------------------------------------------------------------------------------------


def test_a_sweep_prints_the_front(cli):
    """2048 samples pay off up to 6 nodes (see the unit test): a tree does not change that."""
    _, out, _ = cli("--sweep", "--strong", "--batch", "2048", "--nodes", "1:64",
                    "--all-reduce", "ring,tree", "--json")  # fmt: skip
    document = json.loads(out)

    assert document["designs"] == 128
    assert [design["nodes"] for design in document["front"]] == [1, 2, 3, 4, 5, 6]
    assert {design["all_reduce"] for design in document["front"]} == {"ring"}


def test_a_sweep_over_networks_names_the_one_that_pays(cli):
    """A table, with speed-up and efficiency."""
    status, out, _ = cli("--sweep", "--strong", "--batch", "2048", "--nodes", "1,2,4,8,16",
                         "--network", "12GB/s", "--network", "50GB/s",
                         "--all-reduce", "all")  # fmt: skip

    assert status == 0
    assert "30 designs, 5 on the Pareto front" in out
    assert "cascade-lake, 50 GB/s" in out
    assert "100 %" in out


def test_a_long_front_is_shown_in_part(cli):
    """Both ends and what lies between, evenly."""
    _, out, _ = cli("--sweep", "--strong", "--batch", "1048576", "--nodes", "1:512")

    assert "are shown (all: --json)" in out
    assert len(out.splitlines()) < 32


def test_storage_and_remote_memory_are_resources_too(cli):
    """30 GB at 2 GB/s take 15 s, 40 GB at 50 GB/s take 0.8 s; from the file as from the option."""
    (cli.folder / "points.toml").write_text(
        '[far]\nwork = "1 Tflop"\nmemory_bytes = "6 GB"\nnetwork_bytes = 0\n'
        'remote_bytes = "40 GB"\n'
    )
    far, read = points(
        cli("--json", "--storage", "2GB/s", "--remote-memory", "400Gbit/s", "--demand",
            cli.folder / "points.toml", "--point", "read=2T,12G,1G, storage=30G")
    )  # fmt: skip

    assert (read["limiter"], read["time_s"], read["storage_intensity"]) == (
        "storage", 15.0, pytest.approx(2e12 / 30e9),
    )  # fmt: skip
    assert (far["limiter"], far["times_s"]["remote memory"]) == ("remote memory", 0.8)
    assert far["storage_intensity"] is None


def test_points_are_written_as_for_plot(cli):
    """2 Gflop, 12 GB and 80 MB in either form; 12 GB at 4.8 TB/s take half of the 5 ms given."""
    text = "new W=2 Gflop±5%, Q=12GB, network=80 MB, T=5ms"
    arguments = ("--machine", "h200", "--network", "50GB/s", "--point", "old=2G,12G,80M")
    old, new = points(cli("--json", *arguments, "--point", text))
    _, out, _ = cli(*arguments, "--point", text)

    for key in ("work", "memory_bytes", "network_bytes", "time_s"):
        assert new[key] == old[key]
    assert (old["runtime_s"], new["runtime_s"], new["efficiency"]) == (None, 5e-3, 0.5)
    assert any(line.split()[:1] == ["new"] and "5 ms" in line and "50 %" in line
               for line in out.splitlines())  # fmt: skip
    assert "new: its uncertainty is shown by 'ridgepoint plot' only" in out


def test_a_table_of_points_is_read(cli):
    """A CSV file with units in its titles, and TOML with the keys of --point."""
    (cli.folder / "p.csv").write_text("name,W [Gflop],Q [GB],network [MB]\na,2,12,80\n")
    (cli.folder / "p.toml").write_text('[a]\nW = "2 Gflop"\nQ = "12 GB"\nnetwork = 80e6\n')
    machine = ("--machine", "h200", "--network", "50GB/s", "--json")
    found = [points(cli(*machine, "--demand", cli.folder / f"p.{end}")) for end in ("csv", "toml")]

    assert found[0] == found[1]
    assert found[0][0]["network_bytes"] == 80e6


@pytest.mark.parametrize("plane", ["I_M", "I_N", "I_R", "I_S"])
def test_every_plane_is_drawn(cli, plane):
    """To a file."""
    status, _, err = cli(
        "--plane",
        plane,
        "--storage",
        "2GB/s",
        "--remote-memory",
        "50GB/s",
        "-o",
        cli.folder / "p.svg",
    )

    assert (status, err) == (0, "")
    assert "compute-bound" in (cli.folder / "p.svg").read_text()


def test_a_whole_model_has_its_embeddings(cli):
    """On 8 nodes: 64.27 MB over the network, of which embeddings exchange 47.71."""
    model = ("--model", "dlrm-mlperf", "--nodes", "8", "--batch", "2048")
    (shown,) = points(cli("--json", *model))
    status, out, _ = cli(*model)

    assert shown["network_bytes"] == pytest.approx(64.27e6, rel=1e-4)
    assert shown["parts"]["embeddings"]["network_bytes"] == 2 * 7 / 8 * 26 * 2048 * 512
    assert shown["parts"]["top"]["limiters"] == [COMPUTE]
    assert status == 0
    assert "parts of the step on 8 nodes, each alone:" in out


def test_a_model_may_come_from_a_file(cli):
    """With its lookups, or others; sizes that do not fit are refused with the file's name."""
    file = cli.folder / "own.toml"
    text = "bottom = [4, 8]\ntop = [16, 1]\ntables = 3\ncolumns = {}\nlookups = 2\n"
    file.write_text(text.format(8) + 'interaction = "dot"\n')
    two, five = (
        points(cli("--json", "--model", file, "--batch", "10", *more))[0]["parts"]["embeddings"]
        for more in ((), ("--lookups", "5"))
    )

    assert (two["work"], five["work"]) == (1 * 8 * 30, 4 * 8 * 30)
    file.write_text(text.format(7) + 'interaction = "dot"\n')
    refused(cli("--model", file), "own.toml: bottom must end with the 7 columns")
    file.write_text(text.format(8))
    refused(cli("--model", file), "interaction")


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--layers", "0,5"], "0 is not > 0"),
        (["--layers", "5"], "is only one size"),
        (["--layers", "a,b"], "not a whole number"),
        (["--batch", "0"], "0 is not > 0"),
        (["--batch", "nan"], "not a whole number"),
        (["--nodes", "-1"], "not a whole number"),
        (["--machine", "nosuch"], "cannot find 'nosuch': no kept record has this name"),
        (["--machine", "e5645"], "such as --network 12GB/s"),
        (["--machine", "e5645", "--network", "1GB/s"], "cannot bound by 'fp32' on e5645"),
        (["--network", "12"], "12GB/s or 100Gbit/s"),
        (["--network", "1GB/s", "--network", "2GB/s"], "need --sweep"),
        (["--model", "dlrm"], "dlrm-mlperf-top"),
        (["--model", "dlrm-mlperf-top", "--layers", "3,3"], "give one of them"),
        (["--all-reduce", "star"], "--all-reduce must be one of ring"),
        (["--all-reduce", "tree"], "give --nodes"),
        (["--all-reduce", "ring,tree", "--nodes", "4"], "need --sweep"),
        (["--convention", "mine"], "--convention must be one of footprint"),
        (["--precision", "fp8"], "fp8"),
        (["--overlap", "0.5"], "a number >= 1"),
        (["--overlap", "nan"], "a number >= 1"),
        (["--strong"], "give --nodes"),
        (["--point", "a"], "NAME=F,B_M,B_N"),
        (["--point", "a=1,2"], "NAME=F,B_M,B_N"),
        (["--point", "a=1,2,x"], "not a quantity of bytes"),
        (["--point", "a W=1GFLOPS Q=1"], "count or a rate"),
        (["--point", "a W=1 Q=1 precision=fp64"], "use --precision fp64"),
        (["--point", "a BOP=1 Q=1"], "use --work bops"),
        (["--point", "a W=1 Q=1", "--work", "bops"], "leave out --work bops"),
        (["--point", "a I=1 P=1flop/s"], "needs W, Q and network"),
        (["--point", "a W=1 Q=1"], "add network=80MB, or network=0"),
        (["--point", "a W=1 Q=1 network=0 cores=2"], "no use for cores= of 'a'"),
        (["--point", "a W=1 Q=1 network=0 T=5 cycles"], "no use for a time in cycles of 'a'"),
        (["--point", "a W=1 Q=1 network=0 storage=1"], "such as --storage 2GB/s"),
        (["--point", "a=1,-2,3"], "not finite and >= 0"),
        (["--point", "a=0,0,0"], "has no demand"),
        (["--point", "a=1,1,1", "--point", "a=2,2,2"], "given twice"),
        (["--point", "a=1,1,1", "--batch", "5"], "--batch applies to training steps"),
        (["--point", "a=1,1,1", "--sweep"], "--sweep applies to training steps"),
        (["--work", "bops"], "applies only with --point"),
        (["--point", "a=1,1,1", "--work", "bops", "--precision", "fp64"], "have no precision"),
        (["--demand", "/no/such/file"], "no such file"),
        (["--sweep"], "--nodes 1:1024"),
        (["--sweep", "--nodes", "4", "-o", "x.svg"], "draws no figure"),
        (["--nodes", "1:200", "--batch", "1:200"], "use --sweep"),
        (["-o", "x.gif"], "does not name a format"),
        (["-o", "/no/such/folder/x.svg"], "no folder"),
        (["--figures", "/proc/x"], "cannot create the folder"),
        (["extra"], "extra"),
        (["--model", "dlrm-mlper"], "did you mean 'dlrm-mlperf'"),
        (["--model", "/no/such/model.toml"], "no such file"),
        (["--model", "dlrm-mlperf-top", "--lookups", "2"], "applies to models with embedding"),
        (["--embeddings", "tables"], "applies to models with embedding"),
        (["--rows-in", "remote"], "applies to models with embedding"),
        (["--model", "dlrm-mlperf", "--lookups", "0"], "lookups"),
        (["--model", "dlrm-mlperf", "--embeddings", "rows"], "rows"),
        (["--model", "dlrm-mlperf", "--embeddings", "tables"], "give --nodes"),
        (["--model", "dlrm-mlperf", "--embeddings", "tables", "--nodes", "27"], "26 tables"),
        (["--model", "dlrm-mlperf", "--rows-in", "remote"], "--remote-memory"),
        (["--point", "a=1,1,1", "--lookups", "5"], "--lookups applies to training steps"),
        (["--storage", "2"], "write it like"),
        (["--storage", "0GB/s"], "0GB/s"),
        (["--remote-memory", "nan"], "nan"),
        (["--plane", "I_S", "-o", "x.svg"], "give --storage 2GB/s"),
        (["--plane", "I_R", "-o", "x.svg"], "give --remote-memory 50GB/s"),
        (["--plane", "I_N"], "give its file with -o"),
        (["--plane", "I_N", "--sweep", "--nodes", "4"], "give its file with -o"),
        (["--plane", "I_X"], "I_X"),
        (["--point", "a=1,2,3,storage=4"], "such as --storage 2GB/s"),
        (["--point", "a=1,2,3,disk=4"], "storage=1G or remote=1G"),
        (["--point", "a=1,2,3,storage=x", "--storage", "1GB/s"], "'x'"),
        (["--point", "a=1,2,3,storage=1,storage=2", "--storage", "1GB/s"], "twice"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(cli, arguments, words):
    """With what to do."""
    refused(cli(*arguments), words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it holds no point"),
        ("[a", "it is not TOML"),
        ("a = 1", "points.toml:1, a: 1 is not a table"),
        ("[a]\nwork = 1\n", "points.toml:1, a: it lacks memory_bytes"),
        ("[a]\nwork = true\nmemory_bytes = 1\nnetwork_bytes = 1\n", "not a number"),
        (
            "[a]\nwork = [1]\nmemory_bytes = 1\nnetwork_bytes = 1\n",
            "points.toml:2, a.work: [1] is not a number",
        ),
        ("[a]\nwork = nan\nmemory_bytes = 1\nnetwork_bytes = 1\n", "not finite and >= 0"),
        ("\xff", "it is not TOML"),
    ],
)
def test_a_file_of_points_that_is_none_says_why(cli, content, words):
    """And what it should hold."""
    file = cli.folder / "points.toml"
    file.write_bytes(content.encode("latin-1"))

    refused(cli("--demand", file), words)


def test_a_transformer_is_trained_by_its_name(cli):
    """64 copies of Llama 3 8B, a sequence each: 6 flop for each weight and token, and attention."""
    asked = (
        "--model", "llama-3-8b", "--sequence", "4096", "--machine", "h200", "--network", "50GB/s",
        "--precision", "bf16", "--batch", "1,4", "--nodes", "64",
    )  # fmt: skip
    status, out, _ = cli(*asked, "--json")
    document = json.loads(out)
    first, last = document["points"]

    assert status == 0
    products = 32 * (4096 * 6144 + 4096**2 + 3 * 4096 * 14336) + 128256 * 4096
    pairs = 4096 * 4097 // 2
    assert first["work"] == 3 * (2 * products * 4096 + 32 * 4 * 4096 * pairs)
    assert first["network_bytes"] == 2 * 63 / 64 * 2 * 8_030_261_248
    assert (first["limiter"], last["limiter"]) == ("network", "compute")
    assert sum(part["work"] for part in first["parts"].values()) == first["work"]
    swept = (*asked[:-4], "--batch", "4", "--nodes", "1,8,64", "--sweep", "--json")
    assert len(json.loads(cli(*swept)[1])["front"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sequence", "4"), "--sequence and --tensor apply to transformers"),
        (("--model", "dlrm-mlperf", "--sequence", "4"), "cannot take the transformer"),
        (("--model", "gpt2", "--layers", "4,4"), "--layers does not apply to transformers"),
        (("--model", "gpt2", "--convention", "forward"), "--convention does not apply"),
        (("--model", "gpt2", "--tensor", "13"), "--tensor must be a whole number from 1 to the 12"),
        (("--model", "missing.json"), "no such file"),
        (("--point", "a=1,1,1", "--sequence", "4"), "--sequence applies to training steps"),
    ],
)
def test_transformers_that_cannot_be_trained_are_refused(cli, words, message):
    """In one line that names the option."""
    status, out, err = cli(*words)

    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
