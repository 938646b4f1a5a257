"""What a self-test found: values."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.machine import Cache
from ridgepoint.meters import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One quantity of one program, counted by one meter.

    Parameters
    ----------
    quantity : str
        ``fp64_flop`` and so on, ``flop`` where there are none of any precision,
        ``instructions``, ``branches``, ``loads``, ``stores``, ``undecoded``,
        ``non_temporal_store_bytes``, ``dram_read_bytes``, ``dram_write_bytes``, and
        ``dram_dirtied_bytes``: written, or left dirty in the caches at the end.
    expected : int
        From this meter, which may be known not to see all.
    measured : int or None
        None: the meter does not know.
    tolerance : float
        Largest deviation, as a share of `expected`; 0: none.
    """

    quantity: str
    expected: int
    measured: int | None
    tolerance: float = 0.0

    @property
    def ratio(self) -> float | None:
        """Measured over expected; None if not measured, or nothing is expected."""
        return None if self.measured is None or not self.expected else self.measured / self.expected

    @property
    def holds(self) -> bool | None:
        """Whether it is as expected; None: not measured."""
        if self.measured is None:
            return None
        return abs(self.measured - self.expected) <= self.tolerance * self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One program, counted by one meter.

    Parameters
    ----------
    program, does : str
        Its name, and what it executes.
    meter : str
    checks : tuple of Check
        Empty if it could not be counted.
    failure : str or None
        Why it could not be counted; None: it was.
    """

    program: str
    does: str
    meter: str
    checks: tuple[Check, ...] = ()
    failure: str | None = None

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """Those that are not as expected."""
        return tuple(check for check in self.checks if check.holds is False)

    @property
    def holds(self) -> bool:
        """Whether it was counted, and all that is known is as expected."""
        return self.failure is None and not self.failed_checks


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTested:
    """A meter that does not work here.

    Parameters
    ----------
    meter : str
    lack : Unavailable
    """

    meter: str
    lack: Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A program that this CPU cannot run.

    Parameters
    ----------
    program : str
    reason : str
    """

    program: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selftest:
    """What every meter said of every program.

    Parameters
    ----------
    caches : tuple of Cache
        That were to be simulated.
    trials : tuple of Trial
        By program, and for each in the order of the meters.
    not_tested : tuple of NotTested
    not_run : tuple of NotRun
    """

    caches: tuple[Cache, ...]
    trials: tuple[Trial, ...]
    not_tested: tuple[NotTested, ...] = ()
    not_run: tuple[NotRun, ...] = ()

    @property
    def holds(self) -> bool | None:
        """Whether all that is known is as expected; None: nothing was counted."""
        return all(trial.holds for trial in self.trials) if self.trials else None
