"""A literal Python program whose lines were timed and counted."""

from dataclasses import replace

import figure_inputs as inputs

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.lines import PythonLine, PythonLines, Tracing

SCRIPT = "/home/me/arrays.py"
SOURCE = (
    "import numpy as np",
    "",
    "def stream(a, b):",
    "    # three passes",
    "    for _ in range(3):",
    "        np.add(a, b, out=b)",
    "",
    "def count(n):",
    "    total = 0.0",
    "    for i in range(n):",
    "        total += i * 0.5",
    "",
    "a, b = np.ones(10**6), np.ones(10**6)",
    "stream(a, b)",
    "count(1000)",
    "print(b[0])",
)


def line(number, cpu_s, error_s, *, native=0.0, system=0.0, others=0.0, **counted):
    """Return a line with the shares of its time that were not in the interpreter."""
    return PythonLine(
        file=SCRIPT,
        line=number,
        text=SOURCE[number - 1].strip(),
        samples=round(cpu_s * 2e5),
        cpu_s=Estimate([cpu_s], interval=(cpu_s - error_s, cpu_s + error_s)),
        interpreter_s=cpu_s * (1 - native - system - others),
        native_s=cpu_s * native,
        system_s=cpu_s * system,
        other_threads_s=cpu_s * others,
        **counted,
    )


ADD = line(
    6,
    0.006,
    0.0003,
    native=0.98,
    executions=3,
    counts=inputs.counts(inputs.flop("fp64", 3_000_000), instructions=4_000_000),
    traffic=(inputs.traffic("dram", 48_000_000, 24_000_000),),
)
TOTAL = line(
    11,
    0.001,
    0.0003,
    executions=1000,
    counts=inputs.counts(inputs.flop("fp64", 2_000), instructions=900_000),
    traffic=(inputs.traffic("dram", 0, 0),),
)
MAKING = line(13, 0.0009, 0.0003, native=0.5, system=0.4, others=0.1)
LINES = PythonLines(
    runs=30,
    samples=2000,
    lines=(ADD, TOTAL, MAKING),
    outside_s=0.0015,
    unlocated_s=0.0,
    unsampled_s=0.0002,
    tracing=Tracing(events=1010, factors={"instructions": 1.5, "flop": 1.0, "dram": 1.01}),
)
ARRAYS = replace(
    inputs.measurement(inputs.flop("fp64", 3_002_000), command=("python", "arrays.py")),
    lines=LINES,
)
