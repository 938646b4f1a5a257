"""Switches and computed gotos under the copying engine count what the other engine counts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.meters import Run
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter

pytestmark = [
    pytest.mark.valgrind,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]

SOURCE = Path(__file__).parents[1] / "programs" / "native" / "compiled.c"
OPERATORS = {"plus", "minus", "times", "over"}  # of few bytes, called by pointer
MINE = {"dense", "relative", "interpret", "wide", "sparse", "characters", "duff", "tail", "all"}


def launch(command, **options):
    """Run a command to its end."""
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, **options)
    return Run(exit_status=done.returncode, wall_s=1.0, cpu_s=1.0)


@pytest.mark.parametrize(
    "options",
    [
        ("gcc", "-O3"),  # distances, followed from a register
        ("gcc", "-O2", "-fno-pie", "-no-pie"),  # addresses, in the instruction
        ("gcc", "-Os", "-fcf-protection"),
        ("clang", "-Oz"),  # labels without room for a jump
    ],
    ids=" ".join,
)
def test_functions_that_jump_by_tables_count_every_instruction(tmp_path, options):
    """Each entry of each table is taken, also those whose labels have no five bytes."""
    if shutil.which(options[0]) is None:
        pytest.skip(f"there is no {options[0]}")
    program = tmp_path / "program"
    subprocess.run([*options, "-w", "-o", program, SOURCE, "-lm"], check=True, timeout=60)
    command = [str(program), "all"]
    natively = NativeMeter().count(command, launch=launch, caches=())
    other = EngineMeter(simulate=False).count(command, launch=launch, caches=())
    counts, known = (
        {f.name: f.counts.instructions for f in result.functions if f.name in MINE | OPERATORS}
        for result in (natively, other)
    )
    assert counts == known
    assert len(known) >= len(MINE) - 2  # some are made part of others
