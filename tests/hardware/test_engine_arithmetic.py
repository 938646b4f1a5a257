"""Programs compute under the engine what they compute natively, bit by bit."""

import subprocess

import pytest

pytestmark = pytest.mark.valgrind


@pytest.mark.parametrize("numbers", [(), ("all",)], ids=["numbers", "NaNs too"])
@pytest.mark.parametrize("simulated", [False, True], ids=["counts", "caches"])
def test_every_fused_multiply_add_is_that_of_the_hardware(
    numbers, simulated, compiled, printed, small_caches
):
    """All forms, in registers and memory, with zeros, denormals, infinities and across pages."""
    command = (compiled("fused.c", "-O1", "-mavx2", "-mfma"), "200", *numbers)
    native = subprocess.run(command, check=True, capture_output=True).stdout
    said, _ = printed(*command, caches=small_caches if simulated else None)

    assert len(native.splitlines()) > 700
    assert said == native
