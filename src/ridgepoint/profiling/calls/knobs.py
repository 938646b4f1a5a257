"""What a user can change of a measurement of calls, by the names that a message must use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """How messages name what the user can change, where the user reads them.

    Parameters
    ----------
    samples : str
        For more samples of a runtime.
    time : str
        For more time for all samples together.
    memory : str or None
        For more memory for replicas of the data; None: the user cannot change that.
    warm : str
        For warm caches instead of cold ones.
    engine : str
        For counting with Valgrind's engine.
    """

    samples: str = "repetitions=, limit_s="
    time: str = "limit_s="
    memory: str | None = "memory_bytes="
    warm: str = "state='warm'"
    engine: str = "meter='engine'"


IN_PYTHON = Knobs()

OF_THE_COMMAND = Knobs(
    samples="--repeat, --limit",
    time="--limit",
    memory=None,
    warm="--caches warm",
    engine="--meter engine",
)
"""The options of ``ridgepoint suite``."""
