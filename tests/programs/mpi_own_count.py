"""A program of mpi4py that counts the bytes that it sends itself, and prints them."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
sent = np.zeros(world.size, dtype=np.int64)
for step in range(1, 4):
    block = np.full(1000 * step, world.rank, dtype=np.float64)
    room = np.empty_like(block)
    for distance in range(1, world.size):
        to, source = (world.rank + distance) % world.size, (world.rank - distance) % world.size
        world.Sendrecv(block, to, recvbuf=room, source=source)
        sent[to] += block.nbytes
        assert room[0] == source
print(" ".join(map(str, [world.rank, *sent])))
sys.stdout.flush()
