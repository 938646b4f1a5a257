"""Find the caches that a program gets here, before and after their ceilings are measured.

The result decides on the size of the data for each level's kernels. A shared cache depends on
neighbours, so the curves are measured again at the end: variation widens the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.ceilings.latency import Sweep, chosen_places, sharers, sizes_to_visit
from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.pool import Pool
from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.caution import Caution
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.host import data_caches
from ridgepoint.kernels.jit import Function
from ridgepoint.models.caches.capacity import are_given, caches_here, capacity_ends, contradictions
from ridgepoint.models.caches.capacity_fit import fit_capacities


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The caches of a host.

    Parameters
    ----------
    caches : tuple of Cache
        Caches that a program gets.
    stated : tuple of Cache
        Caches as the system describes them.
    capacities : tuple of Capacity
    curves : tuple of LatencyCurve
    cautions : tuple of Caution
    """

    caches: tuple[Cache, ...]
    stated: tuple[Cache, ...]
    capacities: tuple[Capacity, ...] = ()
    curves: tuple[LatencyCurve, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def held(self, *, threads: int) -> tuple[Cache, ...]:
        """Return the caches as large as they were found with one thread busy, or with all.

        What data lies in a level follows from them: in an exclusive one more than it has itself.
        """
        if are_given(self.caches, self.stated, self.capacities):
            return self.caches
        measured = {
            capacity.level: capacity.size_bytes
            for capacity in self.capacities
            if capacity.size_bytes is not None and (capacity.threads > 1) == (threads > 1)
        }
        last = max((cache.level for cache in self.caches), default=0)
        return tuple(
            replace(cache, size_bytes=measured[cache.level])
            if cache.level == last and cache.level in measured
            else cache
            for cache in self.caches
        )

    @property
    def ends(self) -> tuple[tuple[Cache, ...], tuple[Cache, ...]]:
        """The smallest and the largest caches that a program may get."""
        varying = capacity_ends(self.caches, self.stated, self.capacities)
        return varying or (self.caches, self.caches)


def surveyed(machine: Machine) -> Survey:
    """Return the survey that a measured machine contains."""
    return Survey(
        caches=machine.caches,
        stated=machine.caches if machine.stated_caches is None else machine.stated_caches,
        capacities=machine.capacities,
        curves=machine.latency_curves,
    )


@dataclass(slots=True, kw_only=True)
class Surveyor:
    """A survey in progress.

    Parameters
    ----------
    pool : Pool
    visit, reader : Function
        As for `Sweep`.
    places : sequence of Place
    stated : tuple of Cache
        Caches as the system describes them.
    given : tuple of Cache or None
        Caches as the user describes them; None: the user did not.
    available_bytes : int or None
    longest_bytes : int
        Longest working set of one core alone.
    goes_on : callable
        Returns whether there is time left.
    """

    pool: Pool
    visit: Function
    reader: Function
    places: Sequence[Place]
    stated: tuple[Cache, ...]
    given: tuple[Cache, ...] | None
    available_bytes: int | None
    longest_bytes: int
    goes_on: Callable[[], bool]
    _sweeps: list[Sweep] = field(default_factory=list)

    def take(self, rounds: int) -> None:
        """Take some rounds of every curve, as long as there is time.

        Raises
        ------
        CannotMeasure
            If a thread cannot be pinned, or there is no memory for its buffer.
        """
        levels = data_caches(self.stated)
        if not self._sweeps:
            where = chosen_places(self.places)
            # Who shares a cache that nobody describes is not known.
            for place in where if levels else where[:1]:
                sizes = sizes_to_visit(
                    levels,
                    place,
                    available_bytes=self.available_bytes,
                    longest_bytes=self.longest_bytes,
                )
                if len(sizes) > 1:
                    self._sweeps.append(
                        Sweep(
                            pool=self.pool,
                            visit=self.visit,
                            reader=self.reader,
                            place=place,
                            sizes_bytes=sizes,
                        )
                    )
        for _ in range(rounds):
            for sweep in self._sweeps:
                sweep.take(goes_on=self.goes_on)

    @property
    def survey(self) -> Survey:
        """The results so far."""
        levels = data_caches(self.stated)
        curves = [(sweep, curve) for sweep in self._sweeps if (curve := sweep.curve) is not None]
        capacities = tuple(
            capacity
            for sweep, curve in curves
            for capacity in fit_capacities(
                curve, stated=list(levels.values()), sharers=sharers(levels, sweep.place)
            )
        )
        if self.given is not None:
            caches, cautions = self.given, contradictions(self.given, capacities)
        else:
            caches, cautions = caches_here(self.stated, capacities)
        return Survey(
            caches=caches,
            stated=self.stated,
            capacities=capacities,
            curves=tuple(curve for _, curve in curves),
            cautions=cautions,
        )
