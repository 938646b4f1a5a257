"""Fortran is refused; with a flang there, its own IR shows why."""

import re
import shutil
import subprocess

import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters.source import built

FLANG = next((name for name in ("flang-new-16", "flang-new", "flang") if shutil.which(name)), None)


@pytest.mark.parametrize("ending", [".f90", ".F90", ".f", ".f03"])
def test_fortran_is_refused_with_the_reason(tmp_path, ending):
    """Whatever its ending, and before a compiler is looked for."""
    source = tmp_path / f"program{ending}"
    source.write_text("end\n")

    with (
        pytest.raises(CannotMeasure, match="flang's IR") as raised,
        built([str(source)], [], say=print),
    ):
        pass

    assert "ridgepoint run --work bops" in str(raised.value)


@pytest.mark.skipif(FLANG is None, reason="there is no flang in PATH")
@pytest.mark.parametrize(
    ("line", "operation", "written", "in_ir"),
    [
        ("y(1) = (a + b) * (a + b)", r"fadd", 2, 1),  # shared
        ("y(k) = y(k) + a", r"getelementptr", 2, 1),  # one address
        ("y(k - 1) = a", r"sub i64 %\d+, 1", 1, 0),  # it subtracts 2, with the lower bound
        ("y(k) = a", r"sub i64 %\d+, 1", 0, 1),  # the lower bound alone
        ("y(k) = mod(k, 3_8)", r"srem", 0, 1),  # a function in place
    ],
)
def test_flang_says_other_things_than_the_source(tmp_path, line, operation, written, in_ir):
    """If this fails, a newer flang may be worth another look."""
    source = tmp_path / "program.f90"
    source.write_text(
        f"subroutine t(a, b, y, k)\nreal(8) :: a, b, y(9)\ninteger(8) :: k\n{line}\nend\n"
    )
    command = [FLANG, "-S", "-emit-llvm", "-O0", str(source), "-o", str(tmp_path / "out.ll")]
    subprocess.run(command, check=True)
    found = re.findall(f" = {operation}", (tmp_path / "out.ll").read_text())

    assert len(found) == in_ir != written
