"""Literal inputs that tests of several meters share."""

# Kernel of tests/programs/blas.c, its size, and the flop that its source says.
BLAS_WORK = [
    ("daxpy", 1003, {"fp64": 2006}),
    ("saxpy", 1003, {"fp32": 2006}),
    ("mixed", 1000, {"fp64": 2000, "fp32": 1000}),
    ("copy", 1000, {}),
    ("dgemv", 101, {"fp64": 2 * 101**2}),
    ("dgemm", 45, {"fp64": 2 * 45**3}),
    ("stencil", 67, {"fp64": 5 * 65**2}),
    ("spmv", 500, {"fp64": 2 * (3 * 500 - 2)}),
    ("sort", 300, {}),
]
