"""Patterns of communication: what each does with messages of one size, without any clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ridgepoint.cluster.channel import Bytes, Channel, Messages

Operation = Callable[[int, int], None]
"""Called with how often to do it, and the number of the sample."""

_WINDOW = 64
"""Messages of a stream that are under way at once, at most."""

WORD_BYTES = 8
"""Of the numbers that an all-reduce adds up."""


class Memory:
    """What messages are sent from and arrive in: numbers in [1, 2), never zeros.

    Parameters
    ----------
    largest : int
        Bytes of the largest message, a multiple of `WORD_BYTES`.
    """

    def __init__(self, largest: int) -> None:
        rng = np.random.default_rng(1)
        count = max(largest, WORD_BYTES) // WORD_BYTES
        self.numbers = rng.random(count) + 1.0
        self.sums = rng.random(count) + 1.0
        self.out: Bytes = self.numbers.view(np.uint8)
        self.into: Bytes = self.sums.view(np.uint8)

    def window(self, size: int) -> tuple[Sequence[Bytes], Sequence[Bytes]]:
        """Return as many messages as may be under way at once: to send, and to receive.

        They share what is sent, and no two arrive in the same place.
        """
        count = max(1, min(_WINDOW, len(self.into) // max(size, 1)))
        return (
            [self.out[:size]] * count,
            [self.into[index * size : (index + 1) * size] for index in range(count)],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Who sends to whom when all pairs are busy.

    Parameters
    ----------
    ranks_per_node : int
        Ranks are numbered node by node, so many of each.
    """

    ranks_per_node: int = 1

    def partners(self, rank: int, size: int, number: int) -> tuple[int, int]:
        """Return to whom a rank sends and from whom it receives: on another node, in turn.

        Examples
        --------
        >>> [Turn().partners(0, 4, number) for number in range(4)]
        [(1, 3), (2, 2), (3, 1), (1, 3)]
        """
        nodes = size // self.ranks_per_node
        node, local = divmod(rank, self.ranks_per_node)
        shift = 1 + number % (nodes - 1)
        return (
            (node + shift) % nodes * self.ranks_per_node + local,
            (node - shift) % nodes * self.ranks_per_node + local,
        )


def ping_pong(channel: Messages, memory: Memory, size: int) -> Operation:
    """Return the pattern: end 0 sends, end 1 answers."""
    out, into = memory.out[:size], memory.into[:size]
    other = 1 - channel.rank

    def operate(count: int, number: int) -> None:
        send, receive = channel.send, channel.receive
        if channel.rank == 0:
            for _ in range(count):
                send(out, other)
                receive(into, other)
        else:
            for _ in range(count):
                receive(into, other)
                send(out, other)

    return operate


def stream(channel: Messages, memory: Memory, size: int) -> Operation:
    """Return the pattern: end 0 sends, many at once; end 1 answers when it has all of them."""
    out, into = memory.window(size)
    token = memory.out[:1]

    def operate(count: int, number: int) -> None:
        for many in _windows(count, len(out)):
            if channel.rank == 0:
                channel.swap(out[:many], [], to=1, source=1)
            else:
                channel.swap([], into[:many], to=0, source=0)
        if channel.rank == 0:
            channel.receive(memory.into[:1], 1)
        else:
            channel.send(token, 0)

    return operate


def both_directions(channel: Messages, memory: Memory, size: int) -> Operation:
    """Return the pattern: both ends send to each other, many at once."""
    out, into = memory.window(size)
    other = 1 - channel.rank

    def operate(count: int, number: int) -> None:
        for many in _windows(count, len(out)):
            channel.swap(out[:many], into[:many], to=other, source=other)

    return operate


def all_pairs(channel: Messages, memory: Memory, size: int, *, turn: Turn) -> Operation:
    """Return the pattern: every end sends to one on another node, and all do at once."""
    out, into = memory.window(size)

    def operate(count: int, number: int) -> None:
        to, source = turn.partners(channel.rank, channel.size, number)
        for many in _windows(count, len(out)):
            channel.swap(out[:many], into[:many], to=to, source=source)

    return operate


def all_reduce(channel: Channel, memory: Memory, size: int) -> Operation:
    """Return the operation: the sum of all ends' numbers, fp64, on each."""
    out, into = memory.numbers[: size // WORD_BYTES], memory.sums[: size // WORD_BYTES]

    def operate(count: int, number: int) -> None:
        for _ in range(count):
            channel.all_reduce(out, into)

    return operate


def all_gather(channel: Channel, memory: Memory, size: int) -> Operation:
    """Return the operation: every end has all parts in the end, `size` byte together."""
    out, into = memory.out[: size // channel.size], memory.into[:size]

    def operate(count: int, number: int) -> None:
        for _ in range(count):
            channel.all_gather(out, into)

    return operate


def all_to_all(channel: Channel, memory: Memory, size: int) -> Operation:
    """Return the operation: every end sends a part of `size` byte to each."""
    out, into = memory.out[:size], memory.into[:size]

    def operate(count: int, number: int) -> None:
        for _ in range(count):
            channel.all_to_all(out, into)

    return operate


def sizes(largest: int, *, step: int, parts: int = 1, word: int = 1) -> tuple[int, ...]:
    """Return the sizes of messages: powers of `step` times 8 byte, up to the largest.

    Parameters
    ----------
    largest : int
        Byte.
    step : int
        From one size to the next.
    parts, word : int
        A size is divided into so many parts, each of a multiple of so many bytes: it is rounded
        up to such a multiple.

    Examples
    --------
    >>> sizes(2048, step=4, parts=3)
    (9, 33, 129, 513)
    """
    unit = parts * word
    wanted, found = 8, []
    while wanted <= largest:
        size = -(-wanted // unit) * unit
        if size <= largest and size not in found:
            found.append(size)
        wanted *= step
    return tuple(found)


def _windows(count: int, window: int) -> list[int]:
    """Return how many messages each window holds, full ones first."""
    return [window] * (count // window) + [count % window] * (count % window > 0)
