"""Ridgepoint's ceilings beside likwid-bench's, in turn on the same cores, as ratios.

    python benchmarks/machine.py [ROUNDS]

Each round measures the machine and then runs likwid-bench for the same things on one core. The
table gives the medians over the rounds and the ratio, round by round. Then how long the machine
takes, how many ceilings of two rounds in a row overlap in their intervals, and how long a user
waits for --help. Without likwid-bench (Debian: likwid) that part is left out.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RIDGEPOINT = (sys.executable, "-m", "ridgepoint")

# Ours: resource and pattern; theirs: the best of some kernels, working set, which line to read.
PEERS = {
    ("fp64", "fma 256-bit"): (("peakflops_avx_fma",), "24kB", "MFlops/s"),
    ("fp64", "fma 512-bit"): (("peakflops_avx512_fma",), "24kB", "MFlops/s"),
    ("fp32", "fma 256-bit"): (("peakflops_sp_avx_fma",), "24kB", "MFlops/s"),
    ("l1", "load"): (("load_avx", "load_avx512"), "24kB", "MByte/s"),
    ("l1", "store"): (("store_avx", "store_avx512"), "24kB", "MByte/s"),
    ("l1", "copy"): (("copy_avx", "copy_avx512"), "24kB", "MByte/s"),
    ("l2", "load"): (("load_avx", "load_avx512"), "512kB", "MByte/s"),
    ("l2", "copy"): (("copy_avx", "copy_avx512"), "512kB", "MByte/s"),
    ("l3", "load"): (("load_avx", "load_avx512"), "8MB", "MByte/s"),
    ("l3", "copy"): (("copy_avx", "copy_avx512"), "8MB", "MByte/s"),
    ("dram", "load"): (("load_avx", "load_avx512"), "128MB", "MByte/s"),
    ("dram", "store"): (("store_avx", "store_avx512"), "128MB", "MByte/s"),
    ("dram", "copy"): (("copy_avx", "copy_avx512"), "128MB", "MByte/s"),
    ("dram", "store nt"): (("store_mem_avx",), "128MB", "MByte/s"),
    ("dram", "copy nt"): (("copy_mem_avx",), "128MB", "MByte/s"),
}


def ours(folder: Path) -> tuple[dict[tuple[str, str, int], dict[str, float]], float]:
    """Return the rates of one `ridgepoint machine`, and the seconds that it took in all."""
    started = time.perf_counter()
    archive = folder / "archive.sqlite3"
    command = [*RIDGEPOINT, "machine", "--json", "--archive", str(archive)]
    document = subprocess.run(command, capture_output=True, check=True).stdout
    elapsed_s = time.perf_counter() - started
    ceilings = json.loads(document)["ceilings"]
    return {(c["resource"], c["name"], c["threads"]): c["rate"] for c in ceilings}, elapsed_s


def theirs(kernels: tuple[str, ...], size: str, line: str, cpu: int) -> float:
    """Return the best rate of some likwid-bench kernels, flop/s or byte/s."""
    best = 0.0
    for kernel in kernels:
        command = ["likwid-bench", "-t", kernel, "-w", f"M0:{size}:1", "-s", "1"]
        done = subprocess.run(
            ["taskset", "-c", str(cpu), *command],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        for text in done.stdout.splitlines():
            if text.startswith(f"{line}:"):
                best = max(best, 1e6 * float(text.split(":")[1]))
    return best


def overlap(first: dict[str, float], second: dict[str, float]) -> bool:
    """Return whether two intervals have a point in common."""
    return first["low"] <= second["high"] and second["low"] <= first["high"]


def main() -> None:
    """Run the rounds and print the tables."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    has_likwid = shutil.which("likwid-bench") is not None
    cpu = 0
    runs, elapsed_s = [], []
    peers: dict[tuple[str, str], list[float]] = {key: [] for key in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
            rates, seconds = ours(Path(folder))
            runs.append(rates)
            elapsed_s.append(seconds)
            for key, (kernels, size, line) in PEERS.items():
                if has_likwid:
                    peers[key].append(theirs(kernels, size, line, cpu))
    if has_likwid:
        print(f"{'one core':22}{'ridgepoint':>12}{'likwid':>10}   ratio, median (min to max)")
        for (resource, name), rates in peers.items():
            mine = [run[resource, name, 1]["median"] for run in runs]
            ratios = [a / b for a, b in zip(mine, rates, strict=True) if b]
            if ratios:
                print(
                    f"{resource:5}{name:17}{statistics.median(mine) / 1e9:12.1f}"
                    f"{statistics.median(rates) / 1e9:10.1f}   {statistics.median(ratios):.3f}"
                    f" ({min(ratios):.3f} to {max(ratios):.3f})"
                )
        print("in Gflop/s and GB/s as the program counts them\n")
    print(f"whole command: {statistics.median(elapsed_s):.1f} s (at most {max(elapsed_s):.1f} s)")
    for first, second in itertools.pairwise(runs):
        together = sum(overlap(first[key], second[key]) for key in first)
        print(
            f"two rounds in a row: {together} of {len(first)} ceilings overlap in their intervals"
        )
    for arguments in (["-c", "import ridgepoint"], ["-m", "ridgepoint", "--help"], ["-c", "pass"]):
        times = []
        for _ in range(11):
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
            times.append(time.perf_counter() - started)
        print(f"python {' '.join(arguments)}: {statistics.median(times) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
