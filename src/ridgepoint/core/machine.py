"""A machine's ceilings, measured or published, independent of any program."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain
from ridgepoint.core.cache_capacity import Capacity, LatencyCurve
from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.identity import Identity
from ridgepoint.core.presenting import Presentable, amount, quoted
from ridgepoint.core.resources import LEVELS, LINKS, RESOURCES, Resource, resource_named

CHASE = "chase"
"""Name of the pattern whose every load waits for the one before."""

CHAIN = "chain"
"""How a ceiling of computing is that is reached by operations that wait for each other."""

OTHER_NODE = "other node"
"""Name of the ceiling of ``dram`` for memory that belongs to another node of the same machine."""

_DIVIDER = frozenset(("div", "sqrt"))
"""Operations that a core does not start in every cycle."""

_FLOP_OF_FMA = 2.0

_TELLING = ("fp64", "dram")
"""Resources whose rates tell most of a machine."""

_MOST_MOVED = 256
"""Bytes that one byte counted can move: the longest line that any machine has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """One cache as a core sees it.

    Parameters
    ----------
    level : int
    kind : str
        ``data``, ``instruction`` or ``unified``.
    size_bytes, line_bytes : int
    ways : int or None
        Associativity; None: unknown.
    cores : int
        Number of logical CPUs that share one such cache.
    """

    level: int
    kind: str
    size_bytes: int
    line_bytes: int
    ways: int | None
    cores: int = 1

    def __post_init__(self) -> None:
        for name in ("level", "size_bytes", "line_bytes", "cores"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be > 0, got {getattr(self, name)!r}")
        if self.ways is not None and self.ways <= 0:
            raise ValueError(f"ways must be > 0, got {self.ways!r}")
        if self.kind not in {"data", "instruction", "unified"}:
            raise ValueError(f"kind must be data, instruction or unified, got {self.kind!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Description of the hardware.

    Parameters
    ----------
    cpu : str
        Model name.
    microarchitecture : str or None
        As LLVM names it (znver4, sapphirerapids), by its number alone; None: unknown.
    cores : int
        CPUs that a program may use here: affinity and CPU limits respected.
    frequency_hz : float or None
        Core clock: measured under load, or published; None: unknown.
    virtualized : bool or None
        Whether a hypervisor is underneath; None: unknown.
    memory_bytes : int or None
    identity : Identity or None
        Which CPU it is, by its features too; None: not determined (published machines, GPUs).
    """

    cpu: str
    microarchitecture: str | None
    cores: int
    frequency_hz: float | None
    virtualized: bool | None
    memory_bytes: int | None = None
    identity: Identity | None = None

    def __post_init__(self) -> None:
        for name in ("cores", "frequency_hz", "memory_bytes"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be > 0, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The best rate that one pattern of use reached for one resource.

    Parameters
    ----------
    resource : str
        For example ``fp64``, ``l1``, ``dram``, ``dram_read``, ``network``.
    name : str
        The pattern, for example ``fma 512-bit`` or ``copy``.
    threads : int
        Number of busy CPUs, one thread on each.
    unit : str
        Unit of the rate: ``flop/s``, ``BOP/s`` or ``byte/s``.
    rate : Estimate or None
        None: could not be measured; a caution says why. For a memory level these are bytes as
        the program counts them (its loads and stores), as peers print them.
    read_share, write_share : float or None
        Bytes moved at this level per byte of `rate`. Below L1 a store moves its line twice (a
        write-allocate read and a write-back), so a store stream has (1, 1), a copy (1, 0.5),
        a triad (1, 1/3), a load (1, 0), a non-temporal store (0, 1), an 8-byte load from a
        line otherwise unused (8, 0). None: the split is not known and `rate` is the total
        traffic.
    theoretical : float or None
        Theoretical maximum, in `unit`; None: not known.
    theory : str or None
        How `theoretical` is derived, and from which document.
    cautions : tuple of Caution
    source : str or None
        Where a published figure comes from; None: it was measured.
    detail : str or None
        What ran: vector width and size of the data.
    disturbed : tuple of float
        Rates of samples that were left out of `rate`, in `unit`; a caution says why.
    part : str or None
        The part of the machine that was measured: a NUMA node, a kind of core; None: the whole
        machine. Bounds only use ceilings of the whole machine.
    frequency_hz : float or None
        Median core clock right after the samples; None: not measured.
    """

    resource: str
    name: str
    threads: int
    unit: str
    rate: Estimate | None
    read_share: float | None = None
    write_share: float | None = None
    theoretical: float | None = None
    theory: str | None = None
    cautions: tuple[Caution, ...] = ()
    source: str | None = None
    detail: str | None = None
    disturbed: tuple[float, ...] = ()
    part: str | None = None
    frequency_hz: float | None = None

    def __post_init__(self) -> None:
        expected = f"{resource_named(self.resource).unit}/s"
        if self.unit != expected:
            raise ValueError(f"unit of {self.resource} must be {expected!r}, got {self.unit!r}")
        if self.threads <= 0:
            raise ValueError(f"threads must be > 0, got {self.threads!r}")
        if self.rate is not None and min(self.rate.samples) <= 0:
            raise ValueError(f"rate must be > 0, got {min(self.rate.samples)!r}")
        if self.rate is None and not self.cautions:
            raise ValueError("a ceiling without a rate needs a caution that says why")
        shares = (self.read_share, self.write_share)
        if any(share is not None and not 0 <= share <= _MOST_MOVED for share in shares):
            raise ValueError(
                f"read_share and write_share must be in [0, {_MOST_MOVED}], got {shares!r}"
            )
        if (self.read_share is None) != (self.write_share is None):
            raise ValueError("read_share and write_share must be known together or not at all")
        if self.read_share is not None and self.resource not in LEVELS:
            raise ValueError(f"read_share and write_share have no meaning for {self.resource}")
        for name in ("theoretical", "frequency_hz"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be > 0, got {value!r}")

    @property
    def key(self) -> tuple[str, str, int, str | None]:
        """Resource, name, threads and part: unique among the ceilings of a machine."""
        return self.resource, self.name, self.threads, self.part

    @property
    def bounds_some_work_alone(self) -> bool:
        """Whether it measures divisions, square roots, or a chain of dependent operations.

        Other work runs faster, so figures do not draw it among the roofs.
        """
        operation, _, how = self.name.partition(" ")
        return operation in _DIVIDER or how == CHAIN

    @property
    def latency_s(self) -> float | None:
        """Time of one load in a chain of dependent loads [s]; None: this pattern does not tell.

        A chase has one load of 8 byte under way on each of its threads.
        """
        if self.name != CHASE or self.rate is None:
            return None
        return 8.0 * self.threads / self.rate.median

    @property
    def operation_s(self) -> float | None:
        """Time of one operation in a dependent chain [s]; None: this pattern is no chain."""
        operation, _, how = self.name.partition(" ")
        if how != CHAIN or self.rate is None:
            return None
        return (_FLOP_OF_FMA if operation == "fma" else 1.0) / self.rate.median

    @property
    def moved_share(self) -> float | None:
        """Bytes moved per byte of its rate, both ways; None: not known, or not of memory."""
        if self.read_share is None or self.write_share is None:
            return None
        return self.read_share + self.write_share

    def rate_of(self, resource: Resource) -> Estimate | None:
        """Return how fast this pattern moves a resource, or None if it does not tell.

        A copy tells how fast ``dram`` moves, and ``dram_read`` and ``dram_write`` too. The
        ceiling of a part of the machine tells nothing about the machine.
        """
        own = RESOURCES[self.resource]
        if self.rate is None or self.part is not None or own.path != resource.path:
            return None
        if own.name == resource.name and self.read_share is None:
            return self.rate
        if self.read_share is None or self.write_share is None or own.direction is not None:
            return None
        moved = {
            "read": self.read_share,
            "write": self.write_share,
            None: self.read_share + self.write_share,
        }[resource.direction]
        return self.rate.map(lambda rate: rate * moved) if moved > 0 else None


class _Rated:
    """Has room for the rates that a machine was asked for, which are no part of its value."""

    __slots__ = ("_rated",)

    _rated: dict[str, tuple[tuple[str, int, float], ...]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Machine(_Rated, Presentable):
    """A machine and its ceilings.

    Parameters
    ----------
    name : str
    host : Host
    caches : tuple of Cache
        The caches that a program gets here: as the system describes them where measurement
        agrees, as measured where it does not, or as the user gave them. Ceilings were measured
        with them, and a program's traffic is simulated with them.
    ceilings : tuple of Ceiling
    cautions : tuple of Caution
        Doubts about the machine as a whole.
    created : str or None
        When it was measured, ISO 8601 in UTC.
    elapsed_s : float or None
        How long the measurement took.
    fingerprint : str or None
        Identifies the conditions for which the ceilings are valid; None for published machines.
    source : str or None
        Publication that describes the machine; None: it was measured here.
    stated_caches : tuple of Cache or None
        Caches as the system describes them; None: no different from `caches`.
    capacities : tuple of Capacity
        Measured capacity of each level: for one core alone, then for all together.
    latency_curves : tuple of LatencyCurve
        The measurements from which `capacities` are derived.
    """

    name: str
    host: Host
    caches: tuple[Cache, ...]
    ceilings: tuple[Ceiling, ...]
    cautions: tuple[Caution, ...] = ()
    created: str | None = None
    elapsed_s: float | None = None
    fingerprint: str | None = None
    source: str | None = None
    stated_caches: tuple[Cache, ...] | None = None
    capacities: tuple[Capacity, ...] = ()
    latency_curves: tuple[LatencyCurve, ...] = ()

    def __post_init__(self) -> None:
        seen = set()
        for ceiling in self.ceilings:
            if ceiling.key in seen:
                raise ValueError(f"two ceilings have the name {ceiling.key!r}")
            seen.add(ceiling.key)

    @property
    def headline(self) -> str:
        """Description in one line."""
        known = [name for name in _TELLING if self.knows(name)]
        rates = [RESOURCES[name].shown_rate(float(self.rate(name))) for name in known]
        return (
            f"{quoted(self.name)}: {self.host.cpu}, {amount(self.cores, 'core')}, "
            f"{amount(len(self.ceilings), 'ceiling')}{': ' if rates else ''}{', '.join(rates)}"
        )

    @property
    def cores(self) -> int:
        """Number of cores that a bound may use."""
        return self.host.cores

    def best(self, resource: str, *, threads: int) -> Ceiling | None:
        """Return the ceiling that moves a resource fastest with this many threads, or None."""
        wanted = resource_named(resource)
        rated = [
            (rate.median, ceiling)
            for ceiling in self.ceilings
            if ceiling.threads == threads and (rate := ceiling.rate_of(wanted)) is not None
        ]
        return max(rated, key=lambda pair: pair[0])[1] if rated else None

    def knows(self, resource: str, *, patterns: Collection[str] | None = None) -> bool:
        """Return whether any ceiling gives a rate for a resource; see `rate`."""
        return any(True for _ in self._rates(resource, patterns))

    def rate(
        self,
        resource: str,
        *,
        cores: npt.ArrayLike | None = None,
        patterns: Collection[str] | None = None,
    ) -> Amount:
        """Return the capacity for a resource, in its unit per second.

        Parameters
        ----------
        resource : str
        cores : array_like or None
            Cores kept busy, > 0 and at most the machine's; may be fractional (CPU time over
            wall time). None: all of them.
        patterns : collection of str or None
            Names of the ceilings to use; None: all.

        Returns
        -------
        float or ndarray
            The median of the best ceiling with at most `cores` threads. For other numbers of
            cores than the measured ones, the least that these allow: ``min(q x one core, all
            cores)`` of one node. It never falls as `cores` grows. A node's link is no faster for
            more cores behind it: its rate is that of the best ceiling, whatever `cores` is.

        Raises
        ------
        UnknownCeiling
            If the machine has no ceiling for the resource.
        ValueError
            If `cores` is not > 0, or exceeds the machine's cores.
        """
        wanted = resource_named(resource)
        best: dict[int, float] = {}
        for threads, rate in sorted(self._rates(resource, patterns)):
            # Whatever fewer threads reached, more reach too, since some may idle.
            best[threads] = max(rate, *best.values(), 0.0)
        if not best:
            known = ", ".join(name for name in RESOURCES if self.knows(name)) or "none"
            raise UnknownCeiling(
                f"cannot bound by {resource!r} on {self.name}",
                reason=f"the machine has no such ceiling (known: {known})",
                remedy="measure it with 'ridgepoint machine', or add it to its file or figures",
            )
        q = np.asarray(self.cores if cores is None else cores, dtype=np.float64)
        if not ((q > 0) & (q <= max(self.cores, *best))).all():
            raise ValueError(f"cores must be > 0 and at most {self.cores}, got {cores!r}")
        if wanted.path in LINKS:
            # It is one link, however many cores feed it.
            best, q = {1: max(best.values())}, np.ones_like(q)
        # A rate measured with t threads bounds fewer (capacity does not fall with cores) and,
        # times q/t, bounds more (it does not grow faster than they do).
        allowed = [most * np.maximum(q / threads, 1.0) for threads, most in best.items()]
        capacity = np.minimum.reduce(allowed)
        for threads, most in best.items():
            capacity = np.where(q >= threads, np.maximum(capacity, most), capacity)
        return plain(capacity)

    def _rates(
        self, resource: str, patterns: Collection[str] | None
    ) -> Iterator[tuple[int, float]]:
        """Yield the threads and the rate of every ceiling that moves a resource."""
        for name, threads, rate_per_s in self._rated_for(resource):
            if patterns is None or name in patterns:
                yield threads, rate_per_s

    def _rated_for(self, resource: str) -> tuple[tuple[str, int, float], ...]:
        """Return name, threads and rate of every ceiling that moves a resource.

        They are kept, since a program with hundreds of functions asks for them thousands of times.
        """
        if not hasattr(self, "_rated"):
            object.__setattr__(self, "_rated", {})
        if resource not in self._rated:
            wanted = resource_named(resource)
            self._rated[resource] = tuple(
                (ceiling.name, ceiling.threads, rate.median)
                for ceiling in self.ceilings
                if (rate := ceiling.rate_of(wanted)) is not None
            )
        return self._rated[resource]


def caches_of(machine: Machine | None) -> tuple[Cache, ...] | None:
    """Return the caches to simulate for a machine; None: they are not known."""
    return None if machine is None else machine.caches or None
