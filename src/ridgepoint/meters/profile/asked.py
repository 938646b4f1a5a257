"""What is asked of an engine of ours, and what it answers once it has the profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

from ridgepoint.core.caution import Caution
from ridgepoint.core.counted import Counted
from ridgepoint.core.errors import CannotMeasure, InvalidDocument
from ridgepoint.core.machine import Cache
from ridgepoint.meters import Selection
from ridgepoint.meters.profile import Profile
from ridgepoint.meters.profile.counts import Totals, count
from ridgepoint.meters.profile.naming import Naming
from ridgepoint.meters.profile.selected import is_function, never_ran, selects
from ridgepoint.meters.simulated import cautions as doubts
from ridgepoint.meters.simulated.geometry import MOST_GEOMETRIES, Geometry, simulated


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of an engine, whichever it is.

    Parameters
    ----------
    cpus : int
        Simulated CPUs, over which threads are spread.
    simulate : bool
        Whether caches are simulated; counts alone take a fraction of the time.
    region : str or None
        Count only in regions of this name; None: everywhere.
    function : str or None
        Count only in functions whose symbol is this or matches it as a regular expression, and in
        what they call; None: everywhere.
    all_threads : bool
        Count what all threads of a process do while one of them is in the region or function.
    cold : bool
        Empty the caches whenever the region or function begins, and when it ends: what it leaves
        dirty is written back by then, and its own.
    alternatives : tuple of tuple of Cache
        Other caches to simulate in the same run.
    ends : tuple of tuple of Cache
        The least and the most that a program may get of the caches, if they vary: they are
        simulated too, as far as the engine has room for them beside the alternatives.
    miss_curve : bool
        Whether to find the traffic over the size of the cache.
    report : callable or None
        Is told when the engine has to be built first.
    """

    cpus: int = 1
    simulate: bool = True
    region: str | None = None
    function: str | None = None
    all_threads: bool = False
    cold: bool = False
    alternatives: tuple[tuple[Cache, ...], ...] = ()
    ends: tuple[tuple[Cache, ...], ...] = ()
    miss_curve: bool = False
    report: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.region is not None and self.function is not None:
            raise ValueError("region and function cannot both be given")
        if self.selection is None:
            for name in ("cold", "all_threads"):
                if getattr(self, name):
                    raise ValueError(f"{name} can only be used with a region or a function")
        if len(self.alternatives) >= MOST_GEOMETRIES:
            raise ValueError(f"there can be at most {MOST_GEOMETRIES - 1} alternatives")

    @property
    def selection(self) -> Selection | None:
        """What is counted alone; None: everything."""
        if self.region is not None:
            return Selection(kind="region", name=self.region, all_threads=self.all_threads)
        if self.function is not None:
            return Selection(kind="function", name=self.function, all_threads=self.all_threads)
        return None

    def counting_alone(self) -> Self:
        """Return the same without caches."""
        return replace(self, simulate=False, cold=False, alternatives=(), ends=(), miss_curve=False)

    def geometries(self, caches: Sequence[Cache]) -> tuple[Geometry, ...]:
        """Return what is simulated: these caches first, then the others that are asked for."""
        if not self.simulate:
            return ()
        others = (*self.alternatives, *self.ends)[: MOST_GEOMETRIES - 1]
        return tuple(simulated(geometry, cpus=self.cpus) for geometry in (caches, *others))

    def totals(
        self,
        what: str,
        profiles: Sequence[Profile],
        *,
        entered: Iterable[Sequence[str]],
        geometries: Sequence[Geometry],
        naming: Naming,
    ) -> Totals:
        """Return what all processes did together, of what is counted.

        Parameters
        ----------
        what : str
            That cannot be counted, for messages.
        profiles : sequence of Profile
        entered : iterable of sequence of str
            The names of regions that were, looked at only if none is that which is counted.
        geometries : sequence of Geometry
        naming : Naming

        Raises
        ------
        CannotMeasure
            If the profiles are damaged, or what was to be counted alone never ran.
        """
        belongs = selects(self.selection)
        try:
            totals = count(
                profiles,
                alternatives=[geometry.caches for geometry in geometries[1:]],
                selects=belongs,
                naming=naming,
            )
        except InvalidDocument as error:
            raise CannotMeasure(what, reason=error.reason, remedy=error.remedy) from error
        selection = self.selection
        if selection and belongs and not any(belongs(region.name) for region in totals.regions):
            raise never_ran(what, selection, chain.from_iterable(entered))
        return totals

    def answer(self, totals: Totals, geometries: Sequence[Geometry], **facts: Any) -> Counted:
        """Return the result of a run.

        Parameters
        ----------
        totals : Totals
        geometries : sequence of Geometry
        **facts
            What the engine alone knows, as `Counted` has it.
        """
        return Counted(
            counts=totals.counts,
            traffic=totals.traffic,
            functions=totals.functions,
            caches=geometries[0].caches if geometries else (),
            alternatives=totals.alternatives[: len(self.alternatives)],
            ends=totals.alternatives[len(self.alternatives) :],
            miss_curve=totals.miss_curve,
            regions=tuple(region for region in totals.regions if not is_function(region.name)),
            selected=None if self.selection is None else str(self.selection),
            **facts,
        )

    def doubts_of_traffic(self, totals: Totals) -> Iterator[Caution]:
        """Yield what to doubt in the traffic, whoever simulated the caches."""
        yield from doubts.pending_writes(totals.traffic)
        if self.selection is not None and not self.cold:
            yield from doubts.selected(self.selection)


def doubts_of_geometry(geometries: Sequence[Geometry]) -> Iterator[Caution]:
    """Yield, each once, where the caches that were simulated are not those of the machine."""
    yield from dict.fromkeys(doubt for geometry in geometries for doubt in geometry.cautions)
