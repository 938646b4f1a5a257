"""Threads of OpenMP and BLAS that have nothing to do, in counted runs."""

SLEEPING = {
    "GOMP_SPINCOUNT": "0",
    "KMP_BLOCKTIME": "0",
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_THREAD_TIMEOUT": "4",  # the logarithm of cycles; there is no less
}
"""Variables with which they sleep at once: what they spin is nobody's work, and where they are
woken, it is known in which region, or on which line of Python, they are."""
