"""How long a run of a suite takes: from how long its pieces took before."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.kept.durations import Took


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a run whose duration is kept.

    Parameters
    ----------
    key : str
        The name under which its duration is kept.
    words : str
        The text by which the steps of a run are recognised as its own.
    kind : str
        Pieces of one kind differ only in size.
    size : float
        For example the work of one call.
    is_shared : bool
        Whether it serves the other pieces, such as the start of a process: alone it says nothing.
    """

    key: str
    words: str
    kind: str
    size: float = 1.0
    is_shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """How long pieces will take together.

    Parameters
    ----------
    seconds : float
        Of the pieces of which that can be told.
    unknown : int
        Number of the others: none of their kind ever ran.
    known : int
        Number of pieces of which it can be told, without what they share.
    """

    seconds: float
    unknown: int
    known: int


def forecast(pieces: Sequence[Piece], known: Mapping[str, Took]) -> Forecast:
    """Return how long pieces will take, by how long they or others of their kind took.

    Parameters
    ----------
    pieces : sequence of Piece
    known : mapping of str to Took
        By key.

    Notes
    -----
    A piece that never ran takes as long as the one of its kind whose size is nearest, and longer in
    proportion if it is larger: what does not depend on the size is then counted too often.
    """
    seconds, unknown, told = 0.0, 0, 0
    for piece in pieces:
        took = known.get(piece.key) or _nearest(piece, known)
        if took is None:
            unknown += not piece.is_shared
        else:
            told += not piece.is_shared
            seconds += took.seconds * max(1.0, piece.size / took.size)
    return Forecast(seconds=seconds, unknown=unknown, known=told)


def _nearest(piece: Piece, known: Mapping[str, Took]) -> Took | None:
    alike = [took for took in known.values() if took.kind == piece.kind]
    return min(alike, key=lambda took: abs(math.log(took.size / piece.size)), default=None)


class Stopwatch:
    """Sums how long the steps of each piece take, as a run reports them.

    Parameters
    ----------
    pieces : sequence of Piece
    report : callable
        Called with each step, too.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pieces, self._report, self._clock = pieces, report, clock
        self._running: Piece | None = None
        self._since_s = clock()
        self._seconds: dict[Piece, float] = {}

    def step(self, what: str) -> None:
        """Report what begins now: the time since the last step is that of its piece."""
        self._stop()
        # The longest, since a name may be part of another one.
        own = [piece for piece in self._pieces if piece.words in what]
        self._running = max(own, key=lambda piece: len(piece.words), default=None)
        self._report(what)

    def took(self) -> dict[str, Took]:
        """Return how long each piece took that had a step, by key; the last step ends now."""
        self._stop()
        self._running = None
        return {
            piece.key: Took(seconds=seconds, kind=piece.kind, size=piece.size)
            for piece, seconds in self._seconds.items()
        }

    def _stop(self) -> None:
        now_s = self._clock()
        if self._running is not None:
            before_s = self._seconds.get(self._running, 0.0)
            self._seconds[self._running] = before_s + now_s - self._since_s
        self._since_s = now_s
