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

CROWD = (
    ("waves", 200, 201, 1),
    ("alive", 200, 201, 1),
    ("exits", 5, 5, 1),
    ("fork", 20, 21, 21),
    ("rawfork", 5, 6, 6),
    ("rawclone", 5, 6, 6),
    ("suicide", 5, 6, 6),
    ("vfork", 2, 3, 3),
    ("spawn", 2, 3, 3),
    ("together", 20, 21, 21),
    ("grandchild", 5, 11, 11),
    ("execfails", 10, 11, 1),
    ("execthread", 1, 4, 1),
    ("chain", 3, 4, 1),
)
"""Of tests/programs/crowd.c: mode, n, how often it works, and its processes."""

PARTS_N = 6
"""How often tests/programs/parts.cpp does its work, for `PARTS_FUNCTIONS`."""

PARTS_FUNCTIONS = (
    ("factorial", "factorial", 2 * PARTS_N),
    ("thrown", "thrown", 4 * PARTS_N),
    ("jumped", "jumped", 4 * PARTS_N),
    ("tail", "tail", (3 + 6) * PARTS_N),
    ("tail", "tail_target", 6 * PARTS_N),
    ("inthread", "inthread", 8 * PARTS_N),
    ("handled", "handled", 9 * PARTS_N),
    ("entered", "entered", 5 * PARTS_N),
    ("mutual", "mutual", 1 * PARTS_N // 2 + 2 * PARTS_N // 2),
    ("mutual", "mutual_other", 1 * (PARTS_N // 2 - 1) + 2 * PARTS_N // 2),
    ("both", "first", PARTS_N),
    ("both", "second|first", 11 * PARTS_N),
    ("both", "(fir|seco)[a-z]+", 11 * PARTS_N),
    ("both", "sec.*", 10 * PARTS_N),
    ("both", "adds", 2000 + 11 * PARTS_N),
)
"""Of that program: mode, the function that is counted, and the flop that it does."""
