"""NumPy kernels that are counted for their cost: ``arrays.py NAME N REPEATS``."""

import sys

import numpy as np

name, n, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
generator = np.random.default_rng(1)
if name == "matmul":
    a, b = generator.random((n, n)), generator.random((n, n))
    c = a @ b
    for _ in range(repeats):
        np.matmul(a, b, out=c)
elif name == "fft":
    x = generator.random(n) + 1j * generator.random(n)
    y = np.fft.fft(x)
    for _ in range(repeats):
        y = np.fft.fft(x)
else:
    sys.exit(2)
