"""Programs of known work under the copying engine, and against the engine in Valgrind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from known_work import CROWD

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.run import Run
from ridgepoint.meters.native.contents import BANK, EVENT, HEADER, MODULE, SAMPLE
from ridgepoint.meters.native.copy_file import HEADER as COPY_HEADER
from ridgepoint.meters.native.copy_file import LINE, PLACE, ROW
from ridgepoint.profiling.calls import measure

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

EACH = 1000  # flop
START_UP = 1 << 17  # bytes in caches that the dynamic loader left there: the other engine sees it
NATIVE = Path(__file__).parents[2] / "native" / "copying"
CPU = Path("/proc/cpuinfo").read_text()


def named(counted, *names):
    """Return the counts of the functions of these names."""
    found = {function.name: function.counts for function in counted.functions}
    return [found[name] for name in names]


LAYOUTS = {
    "ArenaHeader": ("arena.h", HEADER, ("banks_at", "region_name", "n_modules", "late_ns")),
    "ArenaModule": ("arena.h", MODULE, ("copy_name", "first_counter", "process")),
    "ArenaEvent": ("arena.h", EVENT, ("process", "d", "name2")),
    "ArenaSample": ("arena.h", SAMPLE, ("address",)),
    "Bank": ("arena.h", BANK, ("pid", "regions", "tiles", "in_copy", "dropped", "ring_index")),
    "CopyHeader": ("copy_file.h", COPY_HEADER, ("lowest", "n_left_alone", "sections")),
    "Row": ("copy_file.h", ROW, ("bytes", "kind", "first_access")),
    "Place": ("copy_file.h", PLACE, ("address",)),
    "Line": ("copy_file.h", LINE, ("file", "line")),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_those_of_the_headers(tmp_path, name):
    """Sizes and places of fields, as the C compiler has them."""
    header, kind, fields = LAYOUTS[name]
    source = tmp_path / "layout.c"
    asked = "".join(f'printf("%zu ", offsetof({name}, {field}));' for field in fields)
    source.write_text(
        f'#include <stddef.h>\n#include <stdio.h>\n#include "{header}"\n'
        f'int main(void) {{ {asked} printf("%zu", sizeof({name})); return 0; }}\n'
    )
    program = tmp_path / "layout"
    subprocess.run(["cc", f"-I{NATIVE}", source, "-o", program], check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    own = [kind.fields[field][1] for field in fields]

    assert [int(number) for number in told] == [*own, kind.itemsize]


@pytest.mark.parametrize(("mode", "n", "times", "processes"), CROWD)
def test_every_thread_and_process_counts_once(mode, n, times, processes, compiled, natively):
    """Work is the sum of all that they did, before an exec and after."""
    result = natively(compiled("crowd.c", "-O2"), mode, n)

    assert result.counts.work == {"fp64": times * EACH}
    assert (result.processes, result.partial) == (processes, None)


def test_children_that_are_killed_have_counted(compiled, natively):
    """Their counts are in memory that others hold: nothing is lost."""
    assert natively(compiled("crowd.c", "-O2"), "killed", 3).counts.work == {"fp64": 4 * EACH}


def test_a_program_that_is_killed_is_partial(compiled, natively):
    """What it did until then is there, and it is said that there is more."""

    def killing(command):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()  # its loop begins, however long copies took
            time.sleep(0.5)
            child.kill()
        return Run(exit_status=128 + signal.SIGKILL, wall_s=1.0, cpu_s=1.0)

    program = "print('begins', flush=True)\nwhile True: pass"
    result = natively(sys.executable, "-c", program, launch=killing)

    assert "status 137" in result.partial
    assert result.counts.instructions > 1e6


@pytest.mark.parametrize(
    ("mode", "flop", "outside"),
    [
        ("nested", {"a": 111, "b": 10}, 0),
        ("crossed", {"a": 10, "b": 5}, 100),
        ("loop", {"a": 10}, 5),
        ("recursive", {"r": 5}, 0),
        ("threads", {"even": 7 / 2, "odd": 3 / 2}, 0),
    ],
)
def test_regions_hold_what_was_done_in_them(mode, flop, outside, compiled, natively):
    """As under the other engine: inner ones in outer ones, and threads each have their own."""
    n = 6
    result = natively(compiled("parts.cpp", "-O2"), mode, n)
    found = {region.name: region.counts.work.get("fp64", 0) for region in result.regions}
    total = n * (flop.get("a", sum(flop.values())) + outside) + 2000

    assert found == {name: n * amount for name, amount in flop.items()}
    assert result.counts.work == {"fp64": total}


def test_a_region_can_be_counted_alone(compiled, natively):
    """And one that is not entered is refused, with those that were."""
    program = compiled("parts.cpp", "-O2")
    alone = natively(program, "nested", 6, region="b")

    assert alone.counts.work == {"fp64": 60}
    assert alone.selected == "region 'b'"
    with pytest.raises(CannotMeasure, match="'a', 'b'"):
        natively(program, "nested", 6, region="c")


def test_regions_of_python_are_counted_apart(natively, tmp_path):
    """Marked by the package's own context manager: 1000 additions of floats."""
    script = tmp_path / "marked.py"
    script.write_text(
        "from ridgepoint import region\nx = 0.0\nones = [1.0] * 1000\n"
        "with region('adds'):\n    for one in ones:\n        x += one\n"
    )
    result = natively(sys.executable, script)
    (adds,) = result.regions

    assert adds.name == "adds"
    assert 1000 <= adds.counts.work_flop <= 1010
    assert adds.counts.instructions < result.counts.instructions / 10


@pytest.mark.parametrize("options", [("-O2",), ("-O3", "-march=x86-64-v3")], ids=" ".join)
@pytest.mark.parametrize(
    ("source", "arguments"),
    [("strings.c", (7,)), ("parts.cpp", ("nested", 6)), ("basic.c", ())],
)
def test_functions_and_lines_are_those_of_the_other_engine(
    source, arguments, options, compiled, natively, counted
):
    """To the instruction, for all of the program's own code that ran since its beginning."""
    program = compiled(source, *options, "-g")

    def own(result):
        return [
            function
            for function in result.functions
            if function.object == program and not function.name.startswith(("_", "0x", "(below"))
        ]

    here, there = own(natively(program, *arguments)), own(counted(program, *arguments))
    lines, others = (
        {(f.name, one.source, one.line): one.counts for f in each for one in f.lines}
        for each in (here, there)
    )
    start_up = {"deregister_tm_clones", "register_tm_clones", "frame_dummy"}
    functions = [
        {f.name: f.counts for f in each if f.name not in start_up} for each in (here, there)
    ]

    assert functions[0] == functions[1]
    # Which lines are told depends on the whole, of which the other engine sees more.
    assert {key: lines[key] for key in others} == others


@pytest.mark.skipif("avx512f" not in CPU, reason="this CPU has no AVX-512")
def test_work_under_masks_is_known_lane_by_lane(compiled, natively):
    """Of 1003 numbers 126 FMAs of 8 lanes: executed 2016 flop, useful 2006; and so on."""
    times = 50
    result = natively(compiled("masked.c", "-O2"), 1003, times)
    fma, add, none = named(result, "fma_tail", "add_where", "add_none")
    on = sum(1 for i in range(1003 // 16 * 16) if i % 3 == 0)

    assert (fma.work_flop, fma.masked_flop, fma.useful_flop) == (
        126 * 16 * times,
        126 * 16 * times,
        2 * 1003 * times,
    )
    assert (add.work_flop, add.useful_flop) == (62 * 16 * times, on * times)
    assert (none.work_flop, none.useful_flop) == (8 * times, 0)


@pytest.mark.skipif("amx_bf16" not in CPU, reason="this CPU has no tiles of bf16")
def test_products_of_tiles_are_as_large_as_they_were_configured(compiled, natively):
    """2 x 3 x 5 x 8 flop of one, 2 x 16 x 16 x 32 of the other, each ten times.

    Left factors of 3 x 16 byte, right ones of 4 x 20, and a sum of 3 x 20; then three of 1024.
    """
    program = compiled("tiles.c", "-O2")
    if subprocess.run([program], check=False).returncode == 77:
        pytest.skip("the kernel gives no tiles")
    result = natively(program, 10)

    (product,) = named(result, "product")

    assert result.counts.work == {"bf16": 10 * (2 * 3 * 5 * 8 + 2 * 16 * 16 * 32)}
    assert result.counts.undecoded == 0
    assert product.load_bytes > 3 * 16 + 4 * 20 + 2 * 1024
    assert product.store_bytes > 3 * 20 + 1024


@pytest.mark.parametrize(
    "kernel", ["readonly", "triad", "update", "nontemporal", "prefetched", "ahead", "strided"]
)
def test_traffic_is_that_of_the_other_engine(
    kernel, compiled, natively, counted, small_caches, of_function
):
    """Of each function of the program itself: what it moved at every level."""
    program = compiled("streams.c", "-O2", "-mavx2")
    command = (program, kernel, "60000", "3", "256")
    here = natively(*command, caches=small_caches)
    there = counted(*command, caches=small_caches)

    for function in there.functions:
        if function.object == program and not function.name.startswith(("_", "0x", "(below")):
            same = of_function(here, function.name)
            for ours, theirs in zip(same.traffic, function.traffic, strict=True):
                assert ours.read_bytes == pytest.approx(theirs.read_bytes, rel=0.02, abs=START_UP)
                assert ours.write_bytes == pytest.approx(theirs.write_bytes, rel=0.02, abs=START_UP)


def test_a_function_is_measured_in_one_thread():
    """Work is that of the AVX-512 path where there is one: 2 n^3 and a little."""
    numpy = pytest.importorskip("numpy")
    ones = numpy.ones((96, 96))
    result = measure(numpy.matmul, ones, ones, meter="native", threads=1, repetitions=2)

    assert 2 * 96**3 <= result.counted.counts.work_flop <= 2.1 * 96**3
    assert [part.level for part in result.counted.traffic][-1] == "dram"


def test_a_program_of_some_length_says_how_much_was_counted(natively):
    """A loop in Python: samples are where its interpreter is, in copies."""
    result = natively(sys.executable, "-c", "print(sum(i * i for i in range(3_000_000)))")

    assert result.coverage.share > 0.95
    assert result.coverage.samples >= 20


def test_output_and_status_are_those_of_a_plain_run(natively, tmp_path):
    """A compressed file, bit for bit, and a status."""
    data = Path(sys.executable).read_bytes()[:300_000]
    packed, statuses = [], []

    def keeping(command):
        done = subprocess.run(command, check=False, input=data, capture_output=True)
        packed.append(done.stdout)
        statuses.append(done.returncode)
        return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)

    natively("gzip", "-n", launch=keeping)
    natively("sh", "-c", "exit 3", launch=keeping)
    plain = subprocess.run(["gzip", "-n"], check=True, input=data, capture_output=True).stdout

    assert packed[0] == plain
    assert statuses == [0, 3]


def test_static_programs_are_refused_by_name(compiled, natively):
    """Before they start; one that a counted program executes makes the counts partial."""
    program = compiled("crowd.c", "-O2", "-static")

    def never(command):
        raise AssertionError(command)

    with pytest.raises(CannotMeasure, match="is static") as refused:
        natively(program, "waves", 1, launch=never)
    assert "--meter engine" in refused.value.remedy
    partial = natively("sh", "-c", f"{program} waves 1; true").partial
    assert os.path.basename(program) in partial


def test_sanitized_programs_are_refused_by_name(tmp_path, natively):
    """Their run-time library must be loaded first."""
    program = tmp_path / "checked"
    source = tmp_path / "checked.c"
    source.write_text("int main(void) { return 0; }\n")
    made = subprocess.run(
        ["gcc", "-fsanitize=address", source, "-o", program], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("this compiler has no sanitizer")

    with pytest.raises(CannotMeasure, match="sanitizer"):
        natively(program)
