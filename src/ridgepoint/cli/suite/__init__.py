"""Run suites of reference programs: one module per suite, each with options of its own."""

from __future__ import annotations

import click

from ridgepoint.cli import examples
from ridgepoint.cli.lazy import LazyGroup

SUITES = {
    "kernels": "Kernels of known work: measured over expected, and the figures.",
    "datacenter": "Sort, grep and the like: basic operations, and the DC-Roofline.",
    "distributed": "MPI programs over several ranks: their steps compared with the model.",
    "imaging": "A radio-astronomical imaging pipeline, stage by stage.",
}
_DEFAULT = "kernels"


@click.command(
    "suite",
    cls=LazyGroup,
    package=__name__,
    summaries=SUITES,
    examples=examples.SUITES,
    default=_DEFAULT,
    options_metavar="",
    subcommand_metavar="[SUITE] [OPTIONS] [NAME]...",
)
def command() -> None:
    """Run a suite of reference programs on this machine.

    Without the name of a suite, the kernels run: 'ridgepoint suite dgemm' is 'ridgepoint suite
    kernels dgemm'. 'ridgepoint suite SUITE --help' lists the options of a suite.
    """
