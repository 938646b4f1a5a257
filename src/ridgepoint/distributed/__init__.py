"""Programs that run on several nodes, whose results are checked: real ones, for measuring."""

from ridgepoint.distributed.catalogue import PROGRAMS, DistributedProgram, find
from ridgepoint.distributed.prediction import NodeRates, predicted, rates_of
from ridgepoint.distributed.results import DistributedRun
from ridgepoint.distributed.running import command, run_program

__all__ = [
    "PROGRAMS",
    "DistributedProgram",
    "DistributedRun",
    "NodeRates",
    "command",
    "find",
    "predicted",
    "rates_of",
    "run_program",
]
