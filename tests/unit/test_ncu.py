"""Kernels counted by Nsight Compute: a real capture, tables by hand, and a scripted ncu."""

import os
from pathlib import Path

import pytest
from ncu_inputs import PRODUCT, SAXPY, asked_for, install, table

from ridgepoint.core.counts import Traffic
from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.host.run import Run
from ridgepoint.meters.ncu import NcuMeter
from ridgepoint.meters.ncu.metrics import first_choice, without
from ridgepoint.meters.ncu.refusals import check, missing_metrics
from ridgepoint.meters.ncu.rows import parse_launches

DATA = Path(__file__).parents[1] / "data" / "ncu"
TENSOR_BF16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"


def launch(command):
    """Run what the meter wrapped."""
    status = os.spawnvp(os.P_WAIT, command[0], [str(part) for part in command])
    return Run(exit_status=status, wall_s=1.0, cpu_s=1.0)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Give a function that counts `true` with a scripted ncu."""

    def count(**options):
        folder = tmp_path / "bin"
        folder.mkdir()
        count.calls = install(folder, monkeypatch, **options)
        return NcuMeter().count(["true"], launch=launch, caches=())

    return count


def parsed(text, *metrics):
    """Return the launches of a table, with these metrics or those that are asked for first."""
    return parse_launches(text.splitlines(keepends=True), metrics=metrics or asked_for())


def test_real_capture_is_read():
    """Of saxpy on 2^24 floats: it reads two arrays, and a store of each warp is 4 sectors."""
    metrics = (
        "dram__bytes_op_read.sum",
        "gpu__time_duration.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    )
    (kernel,) = parsed((DATA / "saxpy.csv").read_text(), *metrics)
    read = kernel.values["dram__bytes_op_read.sum"]

    assert kernel.kernel == "unnamed>::saxpy_kernel(float, const float *, float *, int)"
    assert read == 134_221_568
    assert read == pytest.approx(2 * 4 * 2**24, rel=1e-4)
    assert kernel.values["gpu__time_duration.sum"] == pytest.approx(292_928e-9)
    assert kernel.values["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] * 32 == 4 * 2**24


@pytest.mark.parametrize("page", ["raw", "details"])
def test_units_are_decimal(page):
    """A Kbyte of Nsight Compute is 1000 byte; what a device cannot count is not there."""
    values = {"dram__bytes_read.sum": ("Kbyte", "1.5"), "dram__bytes_write.sum": ("", "n/a")}
    (kernel,) = parsed(table(("k", values), page=page))

    assert kernel.values["dram__bytes_read.sum"] == 1500
    assert "dram__bytes_write.sum" not in kernel.values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no table"),
        ('"ID","Kernel Name"\n"0","k"\n', "no table"),
        (table(("k", {"lts__t_bytes.sum": ("furlong", "1")})), "'furlong'"),
        (table(("k", {"lts__t_bytes.sum": ("byte", "many")})), "'many'"),
    ],
)
def test_tables_that_are_not_understood_are_refused(text, said):
    """Never a zero in place of what could not be read."""
    with pytest.raises(InvalidDocument, match=said):
        parsed(text)


@pytest.mark.parametrize("page", ["raw", "details"])
def test_what_was_not_asked_for_is_passed_over(page):
    """Newer versions print much else, in units of its own; messages stand around the table."""
    values = SAXPY | {"sm__throughput.avg.pct": ("%", "22.3"), "device__name": ("", "NVIDIA")}
    text = table(("k", values), ("k", values), page=page)
    launches = parsed(f"==PROF== Connected\nhello, world\n{text}\n==PROF== Disconnected\n")

    assert len(launches) == 2
    assert launches[0].values["dram__bytes_read.sum"] == 8192
    assert "sm__throughput.avg.pct" not in launches[0].values


def test_work_is_counted_by_precision(counted):
    """By hand: fp64 10 + 20 + 2 x 30; fp16 4 x 5; fp32 2 x 1000; bf16 524288."""
    result = counted(table=table(("saxpy", SAXPY), ("product", PRODUCT)))

    assert result.counts.work == {"fp64": 90, "fp32": 2000, "fp16": 20, "bf16": 524_288}
    assert result.counts.instructions == 52_000
    assert result.counts.branches is None
    assert result.meter == "ncu (Nsight Compute 2024.3.2.0)"


@pytest.mark.parametrize("page", ["raw", "details"])
def test_traffic_is_split_by_direction(counted, page):
    """L1: 12000 byte, of which 4000 are stored; L2: 250 sectors of 32 byte are read."""
    result = counted(table=table(("saxpy", SAXPY), page=page))

    assert result.traffic == (
        Traffic(level="l1", read_bytes=8000, write_bytes=4000),
        Traffic(level="l2", read_bytes=8000, write_bytes=4800),
        Traffic(level="dram", read_bytes=8192, write_bytes=1024),
    )


def test_kernels_are_functions_by_work(counted):
    """All launches of a kernel together; the one with most work first."""
    result = counted(table=table(("saxpy", SAXPY), ("product", PRODUCT), ("saxpy", SAXPY)))

    assert [one.name for one in result.functions] == ["product", "saxpy"]
    assert result.functions[1].counts.work == {"fp32": 4000}
    assert result.functions[1].traffic[-1].read_bytes == 2 * 8192
    assert result.processes == 1


def test_time_in_kernels_is_said_apart(counted):
    """2.5 us + 4 us under Nsight Compute; the runtime is that of native runs."""
    result = counted(table=table(("saxpy", SAXPY), ("product", PRODUCT)))
    (caution,) = (one for one in result.cautions if one.code == "kernels-alone")

    assert "2 launches" in caution.seen
    assert "6.5 µs" in caution.seen


def test_report_is_read_in_the_c_locale_and_the_program_is_not(counted, monkeypatch):
    """So that a comma in a number parts thousands, and the program runs as ever."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    counted(table=table(("saxpy", SAXPY)))
    calls = counted.calls.read_text().splitlines()

    assert calls[-1] == "locale C"
    assert sum(line.startswith("locale") for line in calls) == 1
    assert calls[1].endswith("true")
    assert f"--metrics={','.join(asked_for())} " in calls[1]


def test_unknown_metric_of_tensor_cores_is_unknown_work(counted):
    """It is asked for by its later names, then no more; W is not said to be 0 there."""
    result = counted(
        table=table(("saxpy", SAXPY), leaving_out=[TENSOR_BF16]),
        unknown=[TENSOR_BF16[:-4], f"{TENSOR_BF16[:-4]}_sparsity_off"],
    )
    by_code = {caution.code: caution.seen for caution in result.cautions}

    assert "bf16" in by_code["tensor-unknown"]
    assert "fp64" not in by_code["tensor-unknown"]
    assert "3 times" in by_code["metrics-replaced"]
    assert "bf16" not in result.counts.work


def test_tf32_is_left_out_aloud(counted):
    """No roof is kept for it, and as fp32 it would stand above that roof."""
    work = SAXPY | {"sm__ops_path_tensor_src_tf32_dst_fp32.sum": ("", "1,000,000")}
    result = counted(table=table(("k", work)))
    (caution,) = (one for one in result.cautions if one.code == "left-out")

    assert result.counts.work == {"fp32": 2000}
    assert "1 Mflop of tensor cores in tf32" in caution.seen


def test_packed_numbers_are_doubted_only_where_there_are_any(counted):
    """Half precision works on pairs; nothing else does."""
    result = counted(table=table(("saxpy", SAXPY)))

    assert {one.code for one in result.cautions} == {"kernels-alone", "caches-emptied"}


def test_traffic_that_one_kernel_does_not_tell_is_unknown(counted):
    """A sum without it would be too low."""
    silent = PRODUCT | {"dram__bytes_read.sum": ("", "n/a")}
    result = counted(table=table(("saxpy", SAXPY), ("product", silent)))

    assert [part.level for part in result.traffic] == ["l1", "l2"]
    assert "traffic-unknown" in {one.code for one in result.cautions}


def test_work_that_one_kernel_does_not_tell_is_refused(counted):
    """Without it nothing is known."""
    silent = SAXPY | {"smsp__thread_inst_executed.sum": ("", "n/a")}
    with pytest.raises(CannotMeasure, match=r"smsp__thread_inst_executed\.sum of 'k'"):
        counted(table=table(("k", silent)))


def test_blackwell_names_its_memory_otherwise():
    """As in the real capture: dram__bytes_op_read in place of dram__bytes_read."""
    choice = without(first_choice(), frozenset(("dram__bytes_read",)))

    assert choice["dram_read"] == ("dram__bytes_op_read.sum",)
    assert choice["dram_write"] == ("dram__bytes_write.sum",)


def test_metric_that_nothing_replaces_is_refused(counted):
    """By its name."""
    with pytest.raises(CannotMeasure, match="no metric smsp__sass_thread_inst_executed_op_dfma"):
        counted(
            table=table(("saxpy", SAXPY)),
            unknown=["smsp__sass_thread_inst_executed_op_dfma_pred_on"],
        )


def test_missing_metrics_are_found_in_what_it_says():
    """Two ways in which versions put it."""
    said = (
        "==ERROR== Failed to find metric regex:^flop_count_sp\\.(sum|min|max)$\n"
        "==ERROR== Failed to find metric dram__bytes_read.sum\n"
    )

    assert missing_metrics(said) == {"flop_count_sp", "dram__bytes_read"}


@pytest.mark.parametrize(
    ("says", "said"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
            "Performance Counters on the target device 0. For instructions on enabling "
            "permissions and to get more information see "
            "https://developer.nvidia.com/ERR_NVGPUCTRPERM\n",
            "may not read the GPU's counters",
        ),
        ("==WARNING== No kernels were profiled.\n", "ran no kernel on a GPU"),
        (
            "==ERROR== An error was reported by the driver\n\n==ERROR== Profiling failed because a "
            "driver resource was unavailable. Ensure that no other tool (like DCGM) is "
            "concurrently collecting profiling data.\n",
            "another tool has the GPU's counters",
        ),
        (
            "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] "
            "on path?).\n==ERROR== The application returned an error code (1).\n",
            "finds no NVIDIA driver",
        ),
        (
            "==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that a "
            "compatible driver library is loaded.\n",
            "does not match",
        ),
        ('==ERROR== Failed to profile "gemm" in process 7\n', 'Failed to profile "gemm"'),
    ],
)
def test_what_it_says_becomes_one_line(says, said):
    """Real words of several versions: what is wrong and what to do."""
    with pytest.raises(CannotMeasure, match=said) as caught:
        check("cannot count", says)

    assert "\n" not in str(caught.value)


def test_status_of_the_program_is_no_failure_of_counting():
    """Whoever measures it says what status it had."""
    check("cannot count", "==ERROR== The application returned an error code (3).\n")


def test_no_report_is_refused(counted):
    """Whatever happened to it."""
    with pytest.raises(CannotMeasure, match="wrote no report"):
        counted(table="")


def test_ncu_that_is_not_there(monkeypatch, tmp_path):
    """What to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    lack = NcuMeter().why_unavailable()

    assert "no ncu in PATH" in lack.reason
    assert "Nsight Compute" in lack.remedy
