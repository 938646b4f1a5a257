"""Smooths a signal: smooth.py N TIMES. A value becomes a weighted mean of it and its neighbours.

It is written as NumPy is often written, a pass over the whole signal for every operation: slow, on
purpose. docs/tutorial_python.md makes it faster; smooth_blocks.py is the result.
"""

import sys

import numpy as np


def smooth(signal, times):
    """Return the signal, smoothed this number of times; its ends stay as they are."""
    for _ in range(times):
        result = signal.copy()
        result[1:-1] = 0.25 * signal[:-2] + 0.5 * signal[1:-1] + 0.25 * signal[2:]
        signal = result
    return signal


if __name__ == "__main__":
    n, times = int(sys.argv[1]), int(sys.argv[2])
    smoothed = smooth(np.sin(np.arange(n) / 50.0), times)
    print(f"smooth: the value in the middle is {smoothed[n // 2]:.6f}")
