"""A scripted ``ncu``, and tables such as it prints."""

import csv
import io
import stat
from itertools import chain

from ridgepoint.meters.ncu.metrics import first_choice

HEADER = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
)
METRIC = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")

# y = a x + y in fp32 on 1000 elements, by 1000 threads: by hand, 1 ffma each, 2 loads and a store.
SAXPY = {
    "smsp__thread_inst_executed.sum": ("inst", "12,000"),
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": ("inst", "1,000"),
    "l1tex__t_bytes.sum": ("byte", "12,000"),
    "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum": ("byte", "4,000"),
    "lts__t_bytes.sum": ("byte", "12,800"),
    "lts__t_sectors_op_read.sum": ("sector", "250"),
    "dram__bytes_read.sum": ("byte", "8,192"),
    "dram__bytes_write.sum": ("byte", "1,024"),
    "gpu__time_duration.sum": ("ns", "2,500"),
}

# A product of 64 x 64 matrices in bf16 on tensor cores: 2 x 64^3 flop.
PRODUCT = {
    "smsp__thread_inst_executed.sum": ("inst", "40,000"),
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": ("inst", "10"),
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": ("inst", "20"),
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": ("inst", "30"),
    "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": ("inst", "5"),
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum": ("", "524,288"),
    "dram__bytes_read.sum": ("byte", "16,384"),
    "dram__bytes_write.sum": ("byte", "0"),
    "gpu__time_duration.sum": ("ns", "4,000"),
}


def asked_for():
    """Return all metrics that are asked for first."""
    return [metric for metrics in first_choice().values() for metric in metrics]


def table(*launches, leaving_out=(), page="raw"):
    """Return what is printed of launches: kernel, and metrics; what is not told is 0.

    Parameters
    ----------
    *launches : tuple of (str, dict)
    leaving_out : iterable of str
        Metrics that nobody knows.
    page : str
        ``raw``, with a column for each metric, or ``details``, with a row.
    """
    names = list(dict.fromkeys(chain(asked_for(), *(values for _, values in launches))))
    names = [name for name in names if name not in leaving_out]
    rows = []
    for number, (kernel, values) in enumerate(launches):
        place = (number, 4711, "prog", "127.0.0.1", kernel, 1, 7)
        place += ("(256, 1, 1)", "(4, 1, 1)", 0, "9.0")
        told = [(name, *values.get(name, ("", "0"))) for name in names]
        if page == "details":
            rows += [(*place, "Command line profiler metrics", *each) for each in told]
        else:
            rows.append((*place, *(value for _, _, value in told)))
    units = {name: unit for _, values in launches for name, (unit, _) in values.items()}
    head = (*HEADER, *METRIC) if page == "details" else (*HEADER, *names)
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(head)
    if page == "raw":
        writer.writerow([""] * len(HEADER) + [units.get(name, "") for name in names])
    writer.writerows(rows)
    return text.getvalue()


SCRIPT = r"""#!/bin/sh
# Stands for ncu: runs the program, says what it was told to say, prints a table.
here='{folder}'
echo "$@" >> "$here/called"
for argument in "$@"; do
    case "$argument" in
        --version) echo "NVIDIA (R) Nsight Compute Command Line Profiler"
                   echo "Version 2024.3.2.0 (build 34861637) (public-release)"; exit 0 ;;
        --import=*) echo "locale $LC_ALL" >> "$here/called"; cat "$here/table"; exit 0 ;;
        --log-file=*) log=${{argument#--log-file=}} ;;
        --export=*) report=${{argument#--export=}} ;;
    esac
done
while [ "${{1#--}}" != "$1" ]; do shift; done
"$@"
status=$?
for metric in $(cat "$here/unknown"); do
    case "$(tail -n 1 "$here/called")" in
        *"$metric."*) says='==ERROR== Failed to find metric regex:^'
                      echo "$says$metric\.(sum|min)$" >> "$log"; exit 9 ;;
    esac
done
echo "==PROF== Connected to process 4711" >> "$log"
cat "$here/says" >> "$log"
[ -s "$here/table" ] && : > "$report.ncu-rep"
exit $status
"""


def install(folder, monkeypatch, *, table, says="", unknown=()):
    """Put a scripted ncu in front of PATH; return the file that holds how it was called."""
    script = folder / "ncu"
    script.write_text(SCRIPT.format(folder=folder))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (folder / "table").write_text(table)
    (folder / "says").write_text(says)
    (folder / "unknown").write_text(" ".join(unknown))
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder / "called"
