"""Ranks in threads whose clocks are counted, not read: every time can be worked out by hand.

A message leaves when the ones before it to the same rank have, needs its bytes over the link's rate
to leave, and arrives a latency later. An operation of all ends for all when it should.
"""

import queue
import threading
from collections import defaultdict

import numpy as np

_PATIENCE_S = 20


class Fabric:
    """What connects the ranks.

    Parameters
    ----------
    size : int
    latency_s, bytes_per_s : float
    slow : dict of (int, int) to float
        Rates of links, by sender and receiver, that differ.
    collective_s : callable or None
        Returns the time of an operation of all from its bytes.
    """

    def __init__(self, size, *, latency_s=1e-5, bytes_per_s=1e8, slow=None, collective_s=None):
        self.size, self.latency_s, self.bytes_per_s = size, latency_s, bytes_per_s
        self.slow, self.collective_s = slow or {}, collective_s
        self.lanes = defaultdict(queue.Queue)
        self.meeting = threading.Barrier(size)
        self.shared = [None] * size

    def run(self, work):
        """Call work(rank) on every rank, each in a thread; return what they return."""
        ranks = [VirtualRank(self, rank) for rank in range(self.size)]
        results, errors = [None] * self.size, []

        def one(rank):
            try:
                results[rank.rank] = work(rank)
            except BaseException as error:  # shown by the test
                errors.append(error)
                self.meeting.abort()

        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in ranks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE_S)
        if errors:
            raise errors[0]
        assert not any(thread.is_alive() for thread in threads), "ranks wait for each other"
        return results


class VirtualRank:
    """One end."""

    def __init__(self, fabric, rank):
        self.fabric, self.rank, self.size = fabric, rank, fabric.size
        self.clock_s = 0.0
        self.free_s = defaultdict(float)

    def now(self):
        """Return this rank's own time."""
        return self.clock_s

    def interruptions(self):
        """Return that nobody else is here."""
        return 0

    def _leave(self, out, to):
        fabric = self.fabric
        rate = fabric.slow.get((self.rank, to), fabric.bytes_per_s)
        left_s = max(self.clock_s, self.free_s[to]) + len(out) / rate
        self.free_s[to] = left_s
        fabric.lanes[self.rank, to].put((left_s + fabric.latency_s, np.array(out)))
        return left_s

    def send(self, out, to):
        """Send, and go on when it has left."""
        self.clock_s = self._leave(out, to)

    def receive(self, into, source):
        """Wait until it is there."""
        arrived_s, message = self.fabric.lanes[source, self.rank].get(timeout=_PATIENCE_S)
        into[:] = message
        self.clock_s = max(self.clock_s, arrived_s)

    def swap(self, out, into, *, to, source):
        """Send all, then wait for all."""
        left_s = [self._leave(part, to) for part in out]
        for part in into:
            self.receive(part, source)
        self.clock_s = max([self.clock_s, *left_s])

    def _meet(self, value):
        self.fabric.shared[self.rank] = value
        self.fabric.meeting.wait(_PATIENCE_S)
        everyone = list(self.fabric.shared)
        self.fabric.meeting.wait(_PATIENCE_S)
        return everyone

    def barrier(self):
        """Go on together, at no cost."""
        self.clock_s = max(self._meet(self.clock_s))

    def most(self, values):
        """Return the largest of all, at no cost."""
        return np.max(self._meet(np.array(values)), axis=0)

    def _together(self, size):
        self.barrier()
        self.clock_s += self.fabric.collective_s(size)

    def all_reduce(self, out, into):
        """Add up."""
        into[:] = np.sum(self._meet(np.array(out)), axis=0)
        self._together(out.nbytes)

    def all_gather(self, out, into):
        """Bring together."""
        into[:] = np.concatenate(self._meet(np.array(out)))
        self._together(into.nbytes)

    def all_to_all(self, out, into):
        """Hand out."""
        part = len(out) // self.size
        everyone = self._meet(np.array(out))
        into[:] = np.concatenate(
            [one[self.rank * part : (self.rank + 1) * part] for one in everyone]
        )
        self._together(out.nbytes)
