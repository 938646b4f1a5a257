"""Programs that run on several nodes, whose results are checked: real ones, for measuring."""

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
