"""Points that are given: drawn, printed, as JSON, from files; and refused with one line."""

import json
import re
import shlex
from pathlib import Path

import pytest

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.kept.points import read_given

FIRST_FIGURE = "pi=2 flop/cycle, beta=1 B/cycle"
# As likwid-perfctr 5 -m -o FILE.csv -g MEM_DP writes it, rows of other metrics left out.
LIKWID = """TABLE,Region triad,Group 1 Raw,MEM_DP,3,,
Event,Counter,HWThread 0,HWThread 1,,,
FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE,PMC0,1000,2000,,,
TABLE,Region triad,Group 1 Metric,MEM_DP,5,,
Metric,HWThread 0,HWThread 1,,,,
Runtime (RDTSC) [s],0.5,2.0,,,,
DP [MFLOP/s],1000,3000,,,,
Memory bandwidth [MBytes/s],8000,0,,,,
Memory data volume [GBytes],16.0,0,,,,
Operational intensity [FLOP/Byte],0.1,inf,,,,
TABLE,Region triad,Group 1 Metric STAT,MEM_DP,5,,
Metric,Sum,Min,Max,Avg,,
Runtime (RDTSC) [s] STAT,2.5,0.5,2.0,1.25,,
DP [MFLOP/s] STAT,4000,1000,3000,2000,,
Memory data volume [GBytes] STAT,16.0,0,16.0,8.0,,
Operational intensity [FLOP/Byte] STAT,inf,0.1,inf,inf,,
TABLE,Region init,Group 1 Metric,MEM_DP,5,,
Metric,HWThread 0,,,,,
Runtime (RDTSC) [s],1.0,,,,,
SP [MFLOP/s],500,,,,,
Memory read data volume [GBytes],1.0,,,,,
Memory write data volume [GBytes],3.0,,,,,
Memory data volume [GBytes],4.0,,,,,
"""


CAPTURE = Path(__file__).parents[1] / "data" / "ncu" / "saxpy.csv"
PAGE = (Path(__file__).parents[2] / "docs" / "placing.md").read_text()
SHOWN = re.findall(r"^\$ ridgepoint ((?:[^\n]*\\\n)*[^\n]*)", PAGE, flags=re.MULTILINE)


def refused(result, *words):
    """Check that a command said in one line what is wrong, and that its status is 2."""
    status, out, err = result
    lines = [line for line in err.splitlines() if line.startswith(("Error:", "ridgepoint:"))]
    assert status == 2
    assert out == ""
    assert len(lines) == 1
    for word in words:
        assert word in lines[0]


def test_the_first_figure_of_the_roofline_paper_is_one_command(cli):
    """Its axes are in flop/cycle, and its ridge is at 2 flop/byte; nothing is kept yet."""
    status, out, err = cli("plot", "--machine", FIRST_FIGURE)

    assert (status, err) == (0, "")
    assert "[flop/cycle]" in out
    assert "ridge points [flop/byte]: DRAM 2" in out
    assert "flop/s" not in out


def test_a_published_machine_is_drawn_alone(cli):
    """Whatever is kept."""
    cli.run("--", "true")
    status, out, err = cli("plot", "csb", "--per-cycle")

    assert (status, err) == (0, "")
    assert out.startswith("csb, Core i7-3930K\n")
    assert "DRAM copy 10.4 B/cycle" in " ".join(out.split())
    assert "true" not in out


def test_points_are_placed_without_any_record(cli):
    """By hand: 2 Gflop over 16 GB on 19.84 GB/s are at most 2.48 Gflop/s; 2 in 1 s are 81 %."""
    status, out, err = cli(
        "plot", "--machine", "csb", "--point", "daxpy W=2 Gflop, Q=16 GB, T=1 s, cores=1",
        "--point", "new W=32e9, Q=16e9, cores=1",
    )  # fmt: skip

    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith(("daxpy", "new"))]
    assert rows[0] == ["daxpy", "0.125", "2", "Gflop/s", "2.48", "Gflop/s", "DRAM", "81", "%"]
    assert rows[1] == ["new", "2", "unknown", "25.6", "Gflop/s", "fp64", "peak", "unknown"]
    assert "time unknown" in out


@pytest.mark.parametrize("line", [line for line in SHOWN if not line.startswith("run ")])
def test_the_commands_of_the_page_work(cli, line):
    """As they are written; the table of the first is the page's."""
    words = shlex.split(line.replace("\\\n", " "))
    status, out, err = cli(*words)

    assert (status, err) == (0, "")
    if line == SHOWN[0]:
        table = out[out.index("point ") :].rstrip("\n")
        assert [row.rstrip() for row in table.splitlines()] == re.search(
            r"```\n(point .*?)\n```", PAGE, flags=re.DOTALL
        )[1].splitlines()


def test_json_holds_figures_bound_and_intervals(cli):
    """In base units; what is not given is null."""
    status, out, _ = cli(
        "plot", "--machine", "csb", "--json", "--point", "a W=2G Q=16G T=1s±10% cores=1"
    )
    document = json.loads(out)
    (point,) = document["points"]

    assert status == 0
    assert (document["kind"], document["unit"]) == ("plot", "flop")
    assert point["given"]["work"] == {"value": 2e9, "low": None, "high": None}
    assert point["given"]["network"] is None
    assert point["bound"]["limiter"] == ["dram"]
    assert point["bound"]["attainable_per_s"]["value"] == 2.48e9
    assert point["bound"]["efficiency"]["low"] == pytest.approx(1 / 1.1 / 1.24)
    assert point["bound"]["efficiency"]["high"] == pytest.approx(1 / 0.9 / 1.24)


def test_every_machine_has_a_row_for_each_point(cli):
    """The first machine bounds in the picture; the table has all."""
    status, out, _ = cli(
        "plot", "--machine", "csb", "--machine", "pi=1Gflop/s, beta=1GB/s", "--point", "a W=1 Q=1"
    )

    assert status == 0
    assert [line.split()[1:3] for line in out.splitlines() if line.startswith("a ")] == [
        ["csb", "1"],
        ["given", "machine"],
    ]


def test_rates_of_the_table_may_be_per_cycle(cli):
    """1.5 Gflop/s at 3.2 GHz, of at most 19.84 GB/s x 3/16; an interval has one unit."""
    point = "a W=3G, Q=16G, T=1.9..2.1 s, cores=1"
    _, out, _ = cli("plot", "--machine", "csb", "--per-cycle", "--point", point)

    rows = out[out.index("point ") :].splitlines()
    assert rows[1].split()[2:6] == ["0.469", "flop/cycle", "1.16", "flop/cycle"]
    assert rows[2].split()[:4] == ["0.446", "to", "0.493", "flop/cycle"]


def test_ends_of_an_interval_have_one_prefix(cli):
    """0.9 Gflop/s, not 900 Mflop/s, beside 1.1."""
    _, out, _ = cli("plot", "--machine", "csb", "--point", "a I=1 P=0.9..1.1 Gflop/s")

    assert "0.9 to 1.1 Gflop/s" in out
    _, out, _ = cli("plot", "--machine", "csb", "--point", "a W=1 Q=1 T=1e-12..1 s")
    assert "< 0.1 to 3005 %" in out


def test_a_point_above_its_roof_says_so(cli):
    """2 Gflop/s where one core may reach 1.24; on another machine it is not impossible."""
    arguments = ("--machine", "csb", "--machine", "h200", "--point", "a W=2G Q=32G T=1s cores=1")
    _, out, _ = cli("plot", *arguments)

    assert out.count("faster than its roof allows") == 2  # below the picture and the table


def test_basic_operations_are_placed_on_the_dc_roofline(cli):
    """E5645: 86.4 GBOP/s; 3 BOP/byte below a bandwidth of 13.2 GB/s are 39.6 GBOP/s."""
    status, out, _ = cli(
        "plot", "--machine", "e5645", "--work", "bops", "--point", "sort BOP=3G Q=1GB T=0.1s"
    )

    assert status == 0
    assert "[BOP/s]" in out
    assert "30 GBOP/s" in out


@pytest.mark.parametrize(
    "text",
    ["a W=1e30 Q=1e-30 T=1e-30", "a W=1e-30 Q=1e30 T=1e30", "a W=1e30 Q=0 T=1e-30", "a I=1e-30",
     "a W=1 Q=1 T=1e-30..1e30", "a I=1e-30..1e30 P=1e-30 flop/s"],
)  # fmt: skip
def test_points_far_from_any_roof_are_drawn(cli, tmp_path, text):
    """As text and as a picture."""
    for machine in ("csb", "pi=1e30 flop/s, beta=1e-30 B/s"):
        arguments = ("plot", "--machine", machine, "--point", text)
        assert cli(*arguments)[0] == 0
        assert cli(*arguments, "-o", tmp_path / "a.svg")[0] == 0


def test_without_any_roof_the_limit_is_unknown(cli):
    """A machine without a peak bounds no point that moves no byte."""
    status, out, _ = cli("plot", "--machine", "beta=1GB/s", "--point", "a W=1 Q=0")

    assert status == 0
    assert "a      infinite  unknown     unknown  unknown     unknown" in out
    assert "a: this machine has no ceiling of fp64" in out


def test_a_picture_is_written_beside_the_table(cli, tmp_path):
    """With -o there is no text plot."""
    picture = tmp_path / "points.svg"
    status, out, _ = cli(
        "plot", "--machine", "csb", "-o", picture, "--point", "a W=1±10% Q=1..2 T=1 ± 0.5 s"
    )

    assert status == 0
    assert out.startswith("point ")
    assert b"</svg>" in picture.read_bytes()


def test_read_and_write_rooflines_take_points(cli):
    """Csb reads at most 16 GB/s alone; a point without Qr has no place there."""
    status, out, _ = cli(
        "plot", "--machine", "csb", "--bandwidth", "read", "--point",
        "a W=2G Qr=16G Qw=8G T=2s cores=1", "--point", "b W=2G Q=16G T=2s cores=1",
    )  # fmt: skip

    assert status == 0
    assert "a (given): 1 Gflop/s, 0.125 flop/byte, 50 % of DRAM read roof" in out
    assert "b: its reads and writes are not given apart" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--point", "a W=1GFLOPS Q=1"], ["count or a rate; write Gflop for a count"]),
        (["--point", "W=1 Q=1"], ["it has no name"]),
        (["--point", ""], ["'--point'"]),
        (["--point", "a W=1"], ["Q is missing"]),
        (["--point", "a W=1 Q=1", "--point", "a W=2 Q=1"], ["two points are called 'a'"]),
        (["--point", "a W=1 Q=1", "--point", "b BOP=1 Q=1"], ["in BOP", "in flop"]),
        (["--work", "bops", "--point", "a W=1 Q=1"], ["--work bops", "give BOP"]),
        (["--work", "flop", "--point", "a BOP=1 Q=1"], ["--work flop", "give W"]),
        (["--point", "a W=1 Q=1 cores=99"], ["99 cores busy", "has 6"]),
        (["--point", "a W=1 Q=1 T=5 cycle", "--machine", "e5645-none"], ["e5645-none"]),
        (["--machine", FIRST_FIGURE, "--point", "a W=1 Q=1 T=1s"], ["per cycle"]),
        (["--machine", "pi=1TFLOPS"], ["count or a rate"]),
        (["--machine", FIRST_FIGURE, "--machine", "h200"], ["frequency"]),
        (["--points", "/nonexistent.csv"], ["no such file"]),
        (["--points", "/"], ["/"]),
        (["--point", "a W=1 Q=1", "--miss-curve"], ["of rooflines, not of --miss-curve"]),
        (["--point", "a W=1 Q=1", "--latency"], ["of rooflines, not of --latency"]),
        (["--json", "--latency"], ["of rooflines, not of --latency"]),
        (["--point", "a W=1 Q=1", "-o", "a.gif"], [".gif"]),
        (["--point", "a W=1 Q=1", "7"], ["7"]),
    ],
)
def test_a_wrong_point_is_refused_in_one_line(cli, arguments, words):
    """With what to write, and nothing is drawn."""
    if "--machine" not in arguments:
        arguments = ["--machine", "csb", *arguments]
    refused(cli("plot", *arguments), *words)


def test_without_a_machine_one_must_be_named(cli):
    """In an empty archive, no host was measured."""
    refused(cli("plot", "--point", "a W=1 Q=1"), "no machine is named", "--machine csb")


def test_a_table_has_units_in_titles_or_cells(tmp_path):
    """Other columns, empty cells and comments are passed over."""
    path = tmp_path / "points.csv"
    path.write_text(
        "# by hand\nRegion, W [Gflop], Q (GB), Time [ms], comment, Cores\n"
        "a, 2, 16, 500, x, 1\n\nb, 3 Tflop, 1e-3, , y,\n",
        encoding="utf-8-sig",
    )
    a, b = read_given(path)

    assert (a.name, a.work.median, a.traffic.median, a.runtime.median) == ("a", 2e9, 16e9, 0.5)
    assert (a.cores, b.cores, b.runtime) == (1, None, None)
    assert (b.work.median, b.traffic.median) == (3e12, 1e6)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_spreadsheets_may_separate_by_other_marks(tmp_path, mark):
    """A decimal comma is refused all the same."""
    path = tmp_path / "points.csv"
    path.write_text(f"name{mark}W{mark}Q\na{mark}2.5G{mark}5 GB\n")
    (point,) = read_given(path)

    assert point.intensity_at_dram.median == 0.5
    path.write_text(f"name{mark}W{mark}Q\na{mark}2,5{mark}5\n")
    with pytest.raises(InvalidDocument, match="'2,5' is not a quantity"):
        read_given(path)


def test_what_a_table_states_twice_follows_from_work_traffic_and_time(tmp_path):
    """A spreadsheet has W, Q, I, T and P."""
    path = tmp_path / "points.csv"
    path.write_text("name,W,Q,Qr,Qw,I,T,P\na,6,3,1,2,2.01,2,3.01 flop/s\n")
    (point,) = read_given(path)

    assert point.intensity_at_dram.median == 2
    assert (point.intensity, point.performance) == (None, None)


def test_a_table_of_likwid_has_a_point_for_each_region(tmp_path):
    """By hand: the sum of the rates times the longest time; 4 Gflop/s x 2 s over 16 GB."""
    path = tmp_path / "likwid.csv"
    path.write_text(LIKWID)
    triad, init = read_given(path)

    assert (triad.name, init.name) == ("triad", "init")
    assert triad.work_done.median == 8e9
    assert (triad.bytes_moved.median, triad.runtime.median) == (16e9, 2.0)
    assert init.resource == "fp32"
    assert (init.read.median, init.write.median, init.work_done.median) == (1e9, 3e9, 5e8)


def capture(folder, *, without=""):
    """Write a real capture of traffic and time, with rows of work added as they are printed."""
    lines = CAPTURE.read_text().splitlines(keepends=True)
    row = next(line for line in lines if '"dram__bytes_op_read.sum"' in line)
    for kind, count in (("fadd", "0"), ("fmul", "0"), ("ffma", "16,777,216")):
        metric = f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum"
        own = row.replace("dram__bytes_op_read.sum", metric).replace('"byte"', '"inst"')
        lines.append(own.replace("134,221,568", count))
    path = folder / "ncu.csv"
    path.write_text("".join(line for line in lines if not without or without not in line))
    return path


def test_a_table_of_nsight_compute_has_a_point_for_each_kernel(cli, tmp_path):
    """By hand: 2^24 FMA of fp32; 134.2 MB read, 43.63 MB written, 292.9 us."""
    status, out, err = cli("plot", "--machine", "h200", "--json", "--points", capture(tmp_path))
    (point,) = json.loads(out)["points"]

    assert (status, err) == (0, "")
    assert "saxpy_kernel" in point["name"]
    assert point["resource"] == "fp32"
    assert point["given"]["work"]["value"] == 2 * 2**24
    assert point["given"]["read"]["value"] == 134_221_568
    assert point["given"]["write"]["value"] == 43_631_104
    assert point["given"]["runtime"]["value"] == pytest.approx(292_928e-9)


@pytest.mark.parametrize(
    ("without", "said"),
    [("dram__bytes_op_read", "no bytes of DRAM"), ("op_ffma_pred", "no kernel in it has flop"),
     ("op_fadd_pred", "no kernel in it has flop"), ("sum", "it has no bytes of DRAM")],
)  # fmt: skip
def test_a_table_of_nsight_compute_that_lacks_metrics_says_which(cli, tmp_path, without, said):
    """Unknown work and bytes are not 0."""
    path = capture(tmp_path, without=without)

    refused(cli("plot", "--machine", "h200", "--points", path), said, "gpu__time_duration.sum")


def test_toml_has_a_table_for_each_point(tmp_path):
    """Numbers are in base units."""
    path = tmp_path / "points.toml"
    path.write_text('[a]\nW = "2 Gflop±5%"\nQ = 16e9\nT = 1\n[b]\nBOP = 1\nQ = 1\n')
    a, b = read_given(path)

    assert a.work.interval == pytest.approx((1.9e9, 2.1e9))
    assert (a.traffic.median, a.runtime.median, b.resource) == (16e9, 1.0, "bop")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.csv", "", "it contains no point"), ("p.csv", "name,W,Q\n", "it contains no point"),
        ("p.csv", "W,Q\n1,2\n", "names no point and figures"),
        ("p.csv", "name,W,flop,Q\na,1,2,3\n", "two columns hold W"),
        ("p.csv", "name,W,Q\na,1,x\n", "p.csv:2: Q: 'x' is not a quantity"),
        ("p.csv", "name,W,Q\na,1,2\n,1,2\n", "p.csv:3: it has no name"),
        ("p.csv", "name,W,Q\na,1,1\na,2,2\n", "p.csv:3: 'a' is there twice"),
        ("p.csv", "name,W,Q\na,1,nan\n", "not finite"),
        ("p.csv", "name,W,Q\na,1,-2\n", "not finite and >= 0"),
        ("p.csv", "name,W,Q\na,1\n", "Q is missing"),
        ("p.csv", "name,W,Q\na,1,5,2\n", "4 cells"),
        ("p.csv", "name,W,Q [GFLOPS]\na,1,2\n", "count or a rate"),
        ("p.csv", b"\xff\xfe\x00", "UTF-8"),
        ("p.toml", "", "holds no point"), ("p.toml", "a = 1\n", "p.toml:1, a"),
        ("p.toml", "[a]\nW = 1\nX = 2\n", "no key 'X'"), ("p.toml", "[a]\nW = true\n", "p.toml:2"),
        ("p.toml", "[a]\nW = 1\nQ = inf\n", "not finite"), ("p.toml", "[", "not TOML"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_points_says_where(tmp_path, name, content, words):
    """File and line, and what to write."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidDocument) as caught:
        read_given(path)

    assert words in str(caught.value)
    assert caught.value.remedy
