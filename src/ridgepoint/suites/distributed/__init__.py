"""Programs for several nodes, with checked results: real programs to measure."""

from ridgepoint.suites.distributed.catalogue import PROGRAMS, DistributedProgram, find
from ridgepoint.suites.distributed.prediction import (
    NodeRates,
    StepBounds,
    own_bounds,
    predicted,
    rates_of,
)
from ridgepoint.suites.distributed.results import DistributedRun, DistributedStudy
from ridgepoint.suites.distributed.running import command, run_program, run_programs

__all__ = [
    "PROGRAMS",
    "DistributedProgram",
    "DistributedRun",
    "DistributedStudy",
    "NodeRates",
    "StepBounds",
    "command",
    "find",
    "own_bounds",
    "predicted",
    "rates_of",
    "run_program",
    "run_programs",
]
