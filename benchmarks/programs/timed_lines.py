"""A program that measures the CPU time of four of its lines itself, and writes it as JSON.

python timed_lines.py ROUNDS FILE
"""

import json
import sys
import zlib
from time import thread_time

import numpy as np


def square(value):
    """Return the square of a number."""
    return value * value


def main(rounds, path):
    """Execute each line so often, in turn."""
    values = list(range(8000))
    matrix = np.random.default_rng(1).random((256, 256))
    block = np.random.default_rng(2).bytes(60_000)
    times = [0.0] * 4
    for _ in range(rounds):
        began_s = thread_time()
        total = sum([value * 3 % 7 for value in values])  # line: interpreter
        times[0] += (first_s := thread_time()) - began_s
        product = matrix @ matrix  # line: BLAS
        times[1] += (second_s := thread_time()) - first_s
        packed = zlib.compress(block)  # line: zlib
        times[2] += (third_s := thread_time()) - second_s
        squares = list(map(square, values))  # line: callbacks
        times[3] += thread_time() - third_s
    with open(path, "w", encoding="utf-8") as file:
        json.dump(
            {"times_s": times, "done": [total, len(packed), len(squares), product.shape]}, file
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
