"""Switches and computed gotos under the copying engine count what the other engine counts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.host.run import Run
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]

SOURCES = Path(__file__).parents[1] / "programs" / "native"
OPERATORS = {"plus", "minus", "times", "over"}  # of few bytes, called by pointer
MINE = {"dense", "relative", "interpret", "wide", "sparse", "characters", "duff", "tail", "all"}


def launch(command, **options):
    """Run a command to its end."""
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, **options)
    return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)


def counted_by_both(command, names):
    """Return the instructions of functions as the copying engine and the other one count them."""
    meters = NativeMeter(), EngineMeter(simulate=False)
    results = [meter.count(command, launch=launch, caches=()) for meter in meters]
    return [
        {f.name: f.counts.instructions for f in result.functions if f.name in names}
        for result in results
    ]


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        (("gcc", "-O3"), 0),  # distances, followed from a register
        # Addresses, in the instruction; not all of its tables are sure, and labels are short.
        (("gcc", "-O2", "-fno-pie", "-no-pie"), 0.06),
        (("gcc", "-Os", "-fcf-protection"), 0),
        (("clang", "-Oz"), 0),  # labels without room for a jump
    ],
)
def test_functions_that_jump_by_tables_count_every_instruction(tmp_path, options, lost):
    """Each entry of each table is taken, also those whose labels have no five bytes."""
    if shutil.which(options[0]) is None:
        pytest.skip(f"there is no {options[0]}")
    program = tmp_path / "program"
    subprocess.run(
        [*options, "-w", "-o", program, SOURCES / "compiled.c", "-lm"], check=True, timeout=60
    )
    counts, known = counted_by_both([str(program), "all"], MINE | OPERATORS)
    assert counts == pytest.approx(known, rel=lost, abs=0)
    assert len(known) >= len(MINE) - 2  # some are made part of others


def test_what_builtin_longjmp_returns_to_counts(tmp_path):
    """The compiler keeps the address of a label, and no table has it."""
    program = tmp_path / "program"
    build = ["gcc", "-O2", "-w", "-pthread", "-o", program, SOURCES / "stacks.c", "-lm", "-ldl"]
    subprocess.run(build, check=True, timeout=60)
    counts, known = counted_by_both([str(program), "builtin"], {"builtin", "leaves", "work"})
    assert counts == known
    assert len(known) == 3
