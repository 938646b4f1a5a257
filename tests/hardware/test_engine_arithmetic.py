"""Programs compute under the engine what they compute natively, bit by bit."""

import subprocess
import sys

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


# No norms, divisions into other than powers of two by the FFT, or long doubles: they use x87,
# which Valgrind computes with 53 bits in place of 64.
NUMPY = """
import hashlib, numpy as np
random = np.random.default_rng(1)
a, b = random.standard_normal((2, 96, 96))
v, p = a.ravel(), np.abs(b.ravel())
results = [
    a, a @ b, a @ v[:96], (a + 1j * b) @ (b - 1j * a), a.astype("f4") @ b.astype("f4"),
    np.exp(v), np.log(p), np.sin(v), np.cos(v), np.tanh(v), np.sqrt(p), p**1.7, np.arctan(v),
    np.exp(v.astype("f4")), np.log(p.astype("f4")), np.sin(v.astype("f4")),
    np.sort(v), np.argsort(v), v.sum(), v.std(), np.cumsum(v), v.astype("f2"),
    np.fft.fft(v[:4096]), np.fft.rfft(v[:1024]),
    np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.cholesky(a @ a.T + np.eye(96)),
]
for result in results: print(hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_numpy_computes_what_it_does_without_avx512(printed, monkeypatch):
    """Valgrind shows a CPU without AVX-512: natively NumPy and OpenBLAS are told to do without."""
    features = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", features)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW")
    command = (sys.executable, "-c", NUMPY)
    native = subprocess.run(command, check=True, capture_output=True).stdout
    said, _ = printed(*command)

    assert len(native.splitlines()) == 27
    assert said == native
