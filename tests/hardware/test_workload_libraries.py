"""Libraries of one process that have functions of the same names."""

import shutil
import subprocess
import sys

import pytest

NAMES = ("fftw_execute", "fftw_execute_dft", "fftw_plan_guru_dft", "fftw_plan_guru64_dft")
PROGRAM = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
from ridgepoint.suites.kernels import find
find("fft.fftw").check(64)
print("as NumPy")
"""


def test_fftw_is_not_replaced_by_a_library_with_its_interface(tmp_path):
    """MKL has it, and makes it known to the process; here its functions end the program."""
    pytest.importorskip("pyfftw")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    source = "#include <stdlib.h>\n" + "".join(
        f"void {name}(void) {{ abort(); }}\n" for name in NAMES
    )
    library = tmp_path / "libother.so"
    command = ["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library]
    subprocess.run(command, input=source, text=True, check=True)
    done = subprocess.run([sys.executable, "-c", PROGRAM, library], capture_output=True, text=True)

    assert done.stdout == "as NumPy\n"
