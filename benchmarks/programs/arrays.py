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
elif name == "svd":
    a = generator.random((n, n))
    for _ in range(repeats):
        s = np.linalg.svd(a)
elif name == "sort":
    x = generator.random(n)
    for _ in range(repeats):
        y = np.sort(x)
elif name == "exp":
    x = generator.random(n)
    for _ in range(repeats):
        y = np.exp(x) + np.sin(x)
elif name == "loop":
    total = 0
    for _ in range(repeats):
        for i in range(n):
            total += i % 7 * 3
else:
    sys.exit(2)
