"""The cases of the snapshots: command lines, and calls for what no command shows without measuring.

A name is that of the file below tests/snapshots/shown, without its ending; the ``.svg`` that a
command is told to write is kept as what the picture says.
"""

from __future__ import annotations

from pathlib import Path

import kept_records
import snapshot_calls

from ridgepoint.cli.main import COMMANDS as _COMMANDS
from ridgepoint.cli.suite import SUITES

COMMANDS = (
    *(name for name in _COMMANDS if name not in ("cc", "c++")),
    *(f"suite {name}" for name in SUITES),
)
_MEASUREMENTS = (
    *(name for names in kept_records.MEASURED.values() for name in names),
    *(name for _, programs in kept_records.LITERAL.values() for name in programs),
)
_NOT_DRAWN = ("native", "counted", "many", "one-sample", "single", "few-flop", "no-flop")
"""Drawn like others."""
_AS_JSON = (
    "matmul", "heat", "norm", "stopped", "three-ranks", "mixed", "untimed", "doubtful",
    "arrays", "bench", "gpu", "three-nodes", "e5645",
)  # fmt: skip
_REPORTED = (
    "heat", "sort", "crowded", "untimed", "stopped", "three-ranks", "arrays", "cluster", "bench",
)  # fmt: skip
_MACHINES = ("vm", "gpu", "bench", "small", "networked", "cluster", "three-nodes")
_JOBS = "--core-rate 8Gflop/s --cores 8 --memory 16GB/s --link 2GB/s"
_STEPS = "ridgeline --operators 2=step-2 --operators 8=step-8"
_PUBLISHED = ("cascade-lake", "e5645", "h200")


_POINTS = (
    "--point 'daxpy W=2Gflop, Q=16GB+-10%, T=1.2s+-5%, cores=1' "
    "--point 'dgemm W=2 Tflop, Q=24 GB, T=20..24 s' --point 'new W=1e10, Q=1e10'"
)
_EXPLAINED = (
    *("matmul", "heat", "norm", "sort", "many", "ranks", "untimed", "two-cores", "doubtful"),
    *("three-ranks", "stopped", "vm", "gpu", "cluster", "three-nodes", "e5645"),
)
_EXPLAINED_AS = ("heat", "three-ranks", "stopped", "gpu", "three-nodes", "e5645")
_GIVEN = {
    "run/given": f"plot --machine csb {_POINTS}",
    "run/given-drawn": f"plot --machine csb {_POINTS} -o {{written}}.svg",
    "run/given-as": f"plot --machine csb {_POINTS} --json",
    "run/given-beside": f"plot matmul --machine csb --machine xsb {_POINTS}",
    "run/given-bops": "plot --machine e5645 --work bops --point 'sort BOP=3G, Q=1GB, T=0.12s'",
    "machine/given": "plot --machine 'pi=2 flop/cycle, beta=1 B/cycle'",
    "machine/given-drawn": (
        "plot --machine 'pi=2 flop/cycle, beta=1 B/cycle' -o {written}.svg "
        "--point 'a W=1e9, Q=2e9, T=3 Gcycle'"
    ),
}


def _help() -> dict[str, str]:
    of_commands = {f"help/{name.replace(' ', '-')}": f"{name} --help" for name in COMMANDS}
    return {"help/ridgepoint": "--help", **of_commands}


def _kept() -> dict[str, str]:
    """Return what shows and draws kept records."""
    of_runs = {f"run/{name}": f"show {name}" for name in (*_MEASUREMENTS, "stopped")}
    pictures = {
        f"run/{name}-drawn": f"plot {name} -o {{written}}.svg"
        for name in _MEASUREMENTS
        if name not in _NOT_DRAWN
    }
    machines = {f"machine/{name}": f"show {name}" for name in (*_MACHINES, *_PUBLISHED)}
    drawn = {
        f"machine/{name}-drawn": f"plot --machine {name} -o {{written}}.svg"
        for name in (*_PUBLISHED, "networked")
    }
    documents = {
        f"{'machine' if name in (*_MACHINES, *_PUBLISHED) else 'run'}/{name}": f"show {name} --json"
        for name in _AS_JSON
    }
    return {
        "list": "list",
        "list-as": "list --json",
        **of_runs,
        **pictures,
        **{f"{name}-as": words for name, words in documents.items()},
        **machines,
        **drawn,
        **{f"explain/{name}": f"explain {name}" for name in _EXPLAINED},
        **{f"explain/{name}-as": f"explain {name} --json" for name in _EXPLAINED_AS},
        "explain/elsewhere": "explain matmul --machine cascade-lake",
        "explain/bops": "explain matmul --work bops",
        "explain/last": "explain",
        "machine/vm-cautions": "show vm --cautions",
        "machine/vm-drawn": "plot vm -o {written}.svg",
        "machine/vm-terminal": "plot vm",
        "machine/design": "show 'cores=6, frequency=2.4GHz, bop_per_core=6 BOP/cycle, "
        "pi_per_core=4 flop/cycle, beta=13.2GB/s, ilp=2/4, simd=2, name=by-design'",
        "machine/latency": "plot --machine vm --latency",
        "machine/latency-drawn": "plot --machine vm --latency -o {written}.svg",
        "run/arrays-lines": "show arrays --lines",
        "run/heat-miss-curve": "plot heat --miss-curve",
        "run/heat-miss-curve-drawn": "plot heat --miss-curve -o {written}.svg",
        "run/matmul-cautions": "show matmul --cautions",
        "run/matmul-bops": "show matmul --work bops",
        "run/matmul-elsewhere": "plot matmul --machine cascade-lake",
        "run/machines": "show matmul --machine vm --machine e5645 --machine h200",
        "run/machines-as": "show heat --machine vm --machine bench --json",
        "run/machines-drawn": "plot matmul heat solver --machine vm --machine e5645"
        " --machine h200 -o {written}.svg",
        "run/bandwidths": "show heat --bandwidth read --bandwidth write --bandwidth copy",
        "run/bandwidths-drawn": "plot matmul heat solver --bandwidth copy --bandwidth read"
        " --bandwidth write -o {written}.svg",
        "run/per-cycle": "show matmul --per-cycle --machine vm --machine e5645",
        "run/per-cycle-drawn": "plot matmul heat --per-cycle -o {written}.svg",
        "run/sort-flop": "show sort --work flop",
        "run/together": "plot matmul heat solver",
        **_GIVEN,
        "run/together-drawn": "plot matmul heat solver triad -o {written}.svg",
        "run/bops-drawn": "plot sort tensors --work bops -o {written}.svg",
        **{f"operators/{name}": f"show {name}" for name in kept_records.OPERATORS},
        "operators/training-as": "show training --json",
        "operators/training-drawn": "plot training -o {written}.svg",
        "operators/elsewhere": "show mlp --machine h200",
        "operators/elsewhere-drawn": "plot mlp --machine h200 -o {written}.svg",
        "report/operators": "report training -o {written}.html",
        "run/records-as": "show single cached --json",
        **{f"report/{name}": f"report {name} -o {{written}}.html" for name in _REPORTED},
        "report/together": "report two-cores triad mixed -o {written}.html",
        "report/drawn": "plot single --machine small -o {written}.html",
    }


def _compared() -> dict[str, str]:
    """Return what compares kept records."""
    gates = "--fail-if 'runtime > 1.05x' --fail-if 'dram > 1.02x' --fail-if 'network > 1x'"
    return {
        "compare/pair": "compare heat solver",
        "compare/pair-as": "compare triad functions --json",
        "compare/pair-drawn": "compare heat solver -o {written}.svg",
        "compare/markdown": f"compare heat solver --markdown {gates}",
        "compare/gates": f"compare triad two-cores {gates}",
        "compare/several": "compare triad two-cores mixed cached",
        "compare/many": "compare triad two-cores mixed untimed cached functions",
        "compare/unknown": "compare triad untimed",
        "compare/uncounted": "compare matmul stopped",
        "compare/ranks": "compare ranks three-ranks",
        "compare/machines": "compare small bench",
        "compare/history": "history triad untimed two-cores two-cores --of runtime --of work",
        "compare/history-as": "history triad two-cores --of dram --json",
        "compare/history-drawn": "history triad untimed two-cores mixed -o {written}.svg",
        "compare/table": "compare triad two-cores --csv -",
        "compare/machines-as": "compare bench small bench --json",
    }


def _models() -> dict[str, str]:
    """Return the models' commands, of published machines."""
    five = "--point c=1e12,2e9,1e8,remote=9e9,storage=1e9 --remote-memory 50GB/s --storage 2GB/s"
    own = "ridgeline --point a=1e12,2e9,1e8 --point b=1e12,9e9,4e9 --machine cascade-lake"
    node = "--core-rate 8Gflop/s --cores 8 --memory 16GB/s --link 2GB/s"
    return {
        "ridgeline/default": "ridgeline",
        "ridgeline/default-as": "ridgeline --batch 1,64,4096 --json",
        "ridgeline/default-drawn": "ridgeline -o {written}.svg",
        "ridgeline/paper": "ridgeline --figures {written}",
        "ridgeline/own": own,
        "ridgeline/five": f"{own} {five}",
        "ridgeline/five-as": f"{own} {five} --json",
        "ridgeline/five-drawn": f"{own} {five} --plane I_S -o {{written}}.svg",
        "ridgeline/network-drawn": "ridgeline --plane I_N -o {written}.svg",
        "ridgeline/own-drawn": f"{own} -o {{written}}.svg",
        "ridgeline/overlap": f"{own} --overlap none",
        "ridgeline/strong": "ridgeline --strong --batch 4096 --nodes 1,2,4,8 --all-reduce tree",
        "ridgeline/model": "ridgeline --model dlrm-mlperf-top --convention three-gemms --batch 512",
        "ridgeline/whole": "ridgeline --model dlrm-mlperf --nodes 1,8 --batch 64,2048",
        "ridgeline/whole-as": "ridgeline --model dlrm-benchmark --rows-in remote --batch 64 --json"
        " --remote-memory 50GB/s --embeddings tables --nodes 3",
        "ridgeline/transformer": "ridgeline --model llama-3-8b --sequence 4096 --tensor 8"
        " --machine h200 --network 450GB/s --precision bf16 --batch 1,8 --nodes 64",
        "ridgeline/two-machines": "ridgeline --machine h200 --machine a100 --network 50GB/s"
        " --batch 64",
        "ridgeline/cluster": "ridgeline --machine three-nodes --precision fp64 --batch 64",
        "ridgeline/operators": f"{_STEPS} --nodes 1,8 --batch 8,512 --machine h200 "
        "--network 50GB/s",
        "ridgeline/operators-as": f"{_STEPS} --machine h200 --network 50GB/s --json",
        "ridgeline/operators-fused": f"{_STEPS} --fused --network 12GB/s",
        "ridgeline/operators-sweep": f"{_STEPS} --sweep --strong --nodes 1,8,64 --batch 512 "
        "--network 12GB/s --all-reduce all",
        "ridgeline/sweep": "ridgeline --sweep --nodes 1,4,16 --batch 64,256 --all-reduce all"
        " --network 12GB/s --network 100Gbit/s",
        "ridgeline/sweep-as": "ridgeline --sweep --nodes 1,4 --batch 64,256 --json",
        **{
            f"scale/{case}": f"scale {case} --size {size} {node} --nodes 1,2,4,8,16"
            for case, size in (
                ("scalar-product", "1e8"),
                ("matrix-product-1d", "1e4"),
                ("matrix-product-2d", "1e4"),
                ("linpack", "1e4"),
                ("fft", "2^28"),
                ("conjugate-gradient", "1e7"),
            )
        },
        "scale/fft-as": f"scale fft --size 2^20 {node} --nodes 1,2,4 --json",
        "scale/fft-drawn": f"scale fft --size 2^28 {node} --nodes 1..16 -o {{written}}.svg",
        "scale/cores-drawn": f"scale fft --size 2^28 {node} --nodes 1 -o {{written}}.svg",
        "transformer/one": "transformer llama-3-8b --machine h200 --batch 1,16,256",
        "transformer/divided": "transformer llama-3-70b --tensor 4,8 --pipeline 1,2"
        " --network 450GB/s --latency 2us --target 20000 --within 30ms",
        "transformer/divided-drawn": "transformer llama-3-70b --tensor 4,8 --network 450GB/s"
        " --target 20000 --within 30ms -o {written}.svg",
        "transformer/machines": "transformer mixtral-8x7b --machine h200 --machine a100"
        " --weights int4",
        "transformer/own-as": "transformer --layers 2 --width 64 --heads 4 --feed-forward 128"
        " --vocabulary 1000 --precision fp32 --machine cascade-lake --batch 1,8 --json",
        "transformer/list": "transformer --list",
        "scale/own": f"scale --op 2*n^3 --bytes 24*n^2 --exchanged '8*n^2*(p-1)' --size 1e4 {node}"
        " --nodes 1,4,16 --network parallel --overlap full --efficiency 0.5 --slurm",
        "scale/figures": f"scale matrix-product-1d --size 10000 {node} --nodes 1..16"
        " --efficiency 0.5 --figures {written}",
        "scale/fit": "scale fft --size 2^28 --fit {folder}/runs.csv --cores 8 --nodes 1,2,4,8",
        "scale/latency": f"scale matrix-product-1d --size 500 {node} --latency 20us"
        " --network parallel --nodes 1,4,16,64",
        "scale/share": f"scale linpack --size 1e4 {node} --nodes 1,4,16 --share 0.25",
        "scale/jobs": f"scale --jobs {{folder}}/jobs.toml --nodes 2 {_JOBS}",
        "scale/jobs-drawn": f"scale --jobs {{folder}}/jobs.toml --nodes 2 {_JOBS}"
        " -o {written}.svg",
        "scale/kubernetes": f"scale fft --size 2^28 {node} --nodes 1..16 --scheduler kubernetes",
        "scale/cluster": "scale linpack --size 1e4 --machine three-nodes --nodes 1,2,3",
        **{
            f"pipeline/{name}": f"pipeline {{folder}}/{name}.toml"
            for name in snapshot_calls.PIPELINES
        },
        "pipeline/operators": "pipeline --operators step-8 --depth 2",
        "pipeline/operators-elsewhere": "pipeline --operators step-8 --by kinds --machine h200",
        "pipeline/memo-as": "pipeline {folder}/memo.toml --json",
        "pipeline/memo-drawn": "pipeline {folder}/memo.toml -o {written}.svg",
        "pipeline/memo-figures": "pipeline {folder}/memo.toml --figures {written}",
        "pipeline/elsewhere": "pipeline {folder}/imaging.toml --machine a100",
        "pipeline/kept": "pipeline {folder}/imaging.toml --machine gpu",
        "pipeline/published": "pipeline --published",
        **{
            f"pipeline/example-{name}": f"pipeline --example {name}"
            for name in snapshot_calls.PIPELINES
        },
    }


def _suites() -> dict[str, str]:
    return {
        "suite/kernels": "suite --from {folder}/suite.json",
        "suite/validation": "suite --from {folder}/suite.json --validate",
        "suite/figures": "suite --from {folder}/suite.json --figures {written}",
        "suite/per-cycle": "suite --from {folder}/few.json --per-cycle --figures {written}",
        "suite/list": "suite --list daxpy.llvm stream.triad",
        "suite/datacenter": "suite datacenter --from {folder}/datacenter.json",
        "suite/datacenter-figures": "suite datacenter --from {folder}/datacenter.json"
        " --figures {written}",
        "suite/datacenter-hosts": "suite datacenter --from {folder}/datacenter.json"
        " --from {folder}/datacenter-other.json --figures {written}",
        "suite/datacenter-published": "suite datacenter --published",
        "suite/datacenter-published-sort": "suite datacenter --published sort --figures {written}",
        "suite/datacenter-list": "suite datacenter --list",
        "suite/distributed-list": "suite distributed --list",
    }


def _fleet() -> dict[str, str]:
    machines = "vm bench e5645 csb --price vm=0.9USD/h --price csb=0.4USD/h"
    return {
        "fleet/machines": f"fleet {machines}",
        "fleet/machines-as": f"fleet {machines} --by fp64 --by dram --json",
        "fleet/machines-drawn": "fleet vm csb e5645 --by fp64 --by dram -o {written}.svg",
        "fleet/every": "fleet --all --by network --by dram",
        "fleet/heat": f"fleet {machines} --program heat",
        "fleet/heat-cheapest": f"fleet {machines} --program heat --cheapest",
        "fleet/heat-as": f"fleet {machines} --program heat --by fp64 --json",
        "fleet/heat-drawn": f"fleet {machines} --program heat -o {{written}}.svg",
        "fleet/ranks": "fleet cluster networked --program ranks",
    }


def _refused() -> dict[str, str]:
    """Return wrong uses: what is said of them is part of what users read."""
    return {
        f"refused/{name}": words
        for name, words in {
            "nothing-named": "show nothing-of-this-name",
            "explain-nothing": "explain nothing-of-this-name",
            "explain-ending": "explain heat -o heat.html",
            "explain-machine": "explain vm --work bops",
            "no-curve": "plot matmul --miss-curve",
            "no-latency": "plot --machine h200 --latency",
            "mixed-work": "plot sort matmul",
            "stopped": "plot stopped",
            "machine-by-work": "show vm --work bops",
            "ending": "plot matmul -o picture.gif",
            "all-threads": "run --all-threads -- true",
            "no-traffic": "run --no-traffic --region r --cold -- true",
            "cold": "run --cold -- true",
            "pipeline": "pipeline",
            "pipeline-file": "pipeline {folder}/missing.toml",
            "scale": "scale linpack",
            "transformer": "transformer",
            "transformer-model": "transformer llama",
            "transformer-network": "transformer gpt2 --tensor 2",
            "ridgeline": "ridgeline --point a=1",
            "ridgeline-model": "ridgeline --model nothing",
            "suite-name": "suite datacenter quicksort",
            "suite-late": "suite --list datacenter",
            "suite-from": "suite --from {folder}/memo.toml",
            "suite-from-another": "suite --from {folder}/datacenter.json",
            "label": "name matmul 12",
            "delete": "delete vm",
        }.items()
    }


CASES = {
    **_help(), **_kept(), **_compared(), **_models(), **_suites(), **_fleet(), **_refused(),
    **snapshot_calls.CALLS
}  # fmt: skip


def write_files(folder: Path) -> None:
    """Write the files that command lines name."""
    snapshot_calls.write_files(folder)
