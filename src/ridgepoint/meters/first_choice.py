"""The engine that counts unless another is asked for: the copying engine wherever it can.

It runs a program as it is, AVX-512 and AMX included; Valgrind's engine counts what it refuses,
does not cover, or would disturb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, CannotStart, RidgepointError, TimedOut
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Run
from ridgepoint.meters import Launch, Meter, Selection, Unavailable
from ridgepoint.meters.engine import EngineMeter
from ridgepoint.meters.native import NativeMeter
from ridgepoint.meters.profile.asked import Asked

_ENDED_BY_SIGNAL = 128
_REMEDY = "see docs/copying.md for the limits of the copying engine"


def first_choice(*, estimates: bool = False, **options: Any) -> Meter:
    """Return what counts with the copying engine, or with Valgrind's where only that knows how.

    Parameters
    ----------
    estimates : bool
        Whether the copying engine estimates traffic; Valgrind's simulates all of it.
    **options
        As `ridgepoint.meters.engine.EngineMeter` has them.
    """
    engine = EngineMeter(**options)
    asked = {field.name: getattr(engine, field.name) for field in fields(Asked)}
    native = NativeMeter(estimates=estimates, **asked)
    return FirstChoice(native=native, engine=engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstChoice:
    """Counts with the copying engine, and with Valgrind's where that one cannot.

    Parameters
    ----------
    native : NativeMeter
    engine : EngineMeter
        Asked for the same.
    """

    native: NativeMeter
    engine: EngineMeter

    @property
    def name(self) -> str:
        """Name of the one that counts first."""
        return self._first.name

    @property
    def slowdown(self) -> str:
        """Of the one that counts first."""
        return self._first.slowdown

    @property
    def selection(self) -> Selection | None:
        """What is counted alone; None: everything."""
        return self.engine.selection

    @property
    def stand_in(self) -> Meter | None:
        """What may count where neither works."""
        return self.engine.stand_in

    @property
    def without_traffic(self) -> Meter | None:
        """The same without caches; None: it simulates none."""
        native, engine = self.native.without_traffic, self.engine.without_traffic
        return None if native is None else FirstChoice(native=native, engine=engine)

    @property
    def _first(self) -> Meter:
        return self.native if self.native.why_unavailable() is None else self.engine

    def with_ends(self, ends: tuple[tuple[Cache, ...], ...]) -> FirstChoice:
        """Return the same, simulating both ends of what a program may get of the caches."""
        return replace(
            self,
            native=replace(self.native, ends=ends),
            engine=replace(self.engine, ends=ends),
        )

    def why_unavailable(self) -> Unavailable | None:
        """Return why neither can count here, or None."""
        return None if self._first is self.native else self.engine.why_unavailable()

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count one run of a command, or one with each where the first is not to be trusted.

        Raises
        ------
        CannotStart
            If there is no such program.
        TimedOut
            If it takes longer than it may.
        CannotMeasure
            If neither can count it.
        """
        lack = self.native.why_unavailable()
        if lack is not None:
            counted = self.engine.count(command, launch=launch, caches=caches)
            return _with(counted, other_engine(lack.reason, lack.remedy))
        watched = _Watched(launch)
        try:
            counted = self.native.count(command, launch=watched, caches=caches)
        except (CannotStart, TimedOut):
            raise
        except CannotMeasure as error:
            return self._instead(error, command, launch=launch, caches=caches)
        if watched.status <= _ENDED_BY_SIGNAL:
            return counted
        return self._compared(counted, watched.status, command, launch=launch, caches=caches)

    def _instead(
        self,
        refused: CannotMeasure,
        command: Sequence[str],
        *,
        launch: Launch,
        caches: Sequence[Cache],
    ) -> Counted:
        """Return what Valgrind's engine counts of what the copying engine refused.

        Raises
        ------
        CannotMeasure
            If it cannot either.
        """
        try:
            counted = self.engine.count(command, launch=launch, caches=caches)
        except (CannotStart, TimedOut):
            raise
        except RidgepointError as error:
            raise CannotMeasure(
                refused.what,
                reason=f"{refused.reason}; nor can Valgrind's engine: {error.reason}",
                remedy=error.remedy,
            ) from error
        return _with(counted, other_engine(refused.reason))

    def _compared(
        self,
        counted: Counted,
        status: int,
        command: Sequence[str],
        *,
        launch: Launch,
        caches: Sequence[Cache],
    ) -> Counted:
        """Return the counts of Valgrind's engine if a program survives under that one alone."""
        watched = _Watched(launch)
        try:
            other = self.engine.count(command, launch=watched, caches=caches)
        except CannotMeasure:
            return counted
        if watched.status > _ENDED_BY_SIGNAL:
            return counted
        why = (
            f"a signal ended the program in the copying engine (status {status}), but not "
            "under Valgrind's engine"
        )
        return _with(
            other, other_engine(why, "report this, with the program, as a bug of Ridgepoint")
        )


@dataclass(slots=True)
class _Watched:
    """Runs what a meter wrapped, and knows how the last run ended."""

    launch: Launch
    status: int = 0

    def __call__(self, wrapped: Sequence[str]) -> Run:
        run = self.launch(wrapped)
        self.status = run.exit_status
        return run


def other_engine(why: str, remedy: str = _REMEDY) -> Caution:
    """Say that Valgrind's engine counted, and why."""
    return Caution(
        "other-engine",
        f"Valgrind's engine counted instead of the copying engine: {why}",
        remedy,
        effect=0.0,
    )


def _with(counted: Counted, doubt: Caution) -> Counted:
    return replace(counted, cautions=(doubt, *counted.cautions))
