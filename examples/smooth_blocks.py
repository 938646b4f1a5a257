"""Smooths a signal as smooth.py does, block by block: smooth_blocks.py N TIMES.

A block is smoothed as often as asked while it is in a cache. It begins with as many values more at
either side as their neighbours' neighbours reach in all.
"""

import sys

import numpy as np
from smooth import smooth

BLOCK = 8192
"""Values of a block: with its copies they fit into an L2 cache."""


def smooth_by_blocks(signal, times):
    """Return the signal, smoothed this number of times; its ends stay as they are."""
    result = np.empty_like(signal)
    for begin in range(0, len(signal), BLOCK):
        low = max(begin - times, 0)
        part = smooth(signal[low : begin + BLOCK + times], times)
        result[begin : begin + BLOCK] = part[begin - low : begin - low + BLOCK]
    return result


if __name__ == "__main__":
    n, times = int(sys.argv[1]), int(sys.argv[2])
    smoothed = smooth_by_blocks(np.sin(np.arange(n) / 50.0), times)
    print(f"smooth: the value in the middle is {smoothed[n // 2]:.6f}")
