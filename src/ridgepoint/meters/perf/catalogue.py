"""What each CPU can count, as files of this package say: events, weights, how far to trust them.

One file per microarchitecture lies in ``data/counters``, reduced from the vendors' and the kernel's
tables, each metric with its source. ``docs/counters.md`` describes the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Literal

import msgspec

from ridgepoint.meters.perf.host import Identity
from ridgepoint.published.documents import read_shipped

_FOLDER = files("ridgepoint") / "data" / "counters"

Quality = Literal[
    "documented",
    "approximate",
    "overcount_on_cache_miss",
    "precision_merged",
    "speculative",
    "speculative_precision_merged",
    "assumes_one_precision",
    "validate_on_hardware",
]
"""How far a metric is to be trusted; ``documented``: the vendor or the kernel states the encoding
and the weight."""


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One event of a metric.

    Parameters
    ----------
    name : str
        The vendor's.
    event, umask, rdwrmask : int or None
        Fields of its encoding; the host's ``format`` files say which bits they are.
    weight : int
        Of one count, in the metric's unit.
    width_bits : int or None
        Of the vectors that it counts, 0 for scalars; None: it does not tell them apart.
    cost : int
        General-purpose counters that it takes; 0: it has one of its own.
    """

    name: str
    weight: int
    event: int
    umask: int | None = None
    rdwrmask: int | None = None
    width_bits: int | None = None
    cost: int = 1

    @property
    def fields(self) -> dict[str, int]:
        """The fields of the encoding that it states."""
        stated = {"event": self.event, "umask": self.umask, "rdwrmask": self.rdwrmask}
        return {name: value for name, value in stated.items() if value is not None}


class Metric(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A sum of weighted events of one kind of PMU.

    Parameters
    ----------
    name : str
        A precision, ``flop`` (all precisions together), ``instructions``, ``branches``, ``loads``,
        ``stores``, or a memory and a direction: ``dram_read``.
    pmu : str
        Regular expression of the PMU's name; a number may follow, for each of its instances.
    quality : str
    confidence : str
    source : str
    events : tuple of Event
    part_of : str or None
        The metric of which it is a share: that of its own events in these and `rest` together.
    rest : tuple of Event
    note : str or None
    """

    name: str
    pmu: str
    quality: Quality
    source: str
    events: tuple[Event, ...]
    confidence: Literal["high", "medium", "low"] = "high"
    part_of: str | None = None
    rest: tuple[Event, ...] = ()
    note: str | None = None


class Core(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A kind of core: its PMU and how many general-purpose counters that has."""

    pmu: str
    counters: int


class _X86(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    vendor: str
    family: int
    models: tuple[int, int]
    steppings: tuple[int, int] = (0, 255)


class _Arm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    implementer: int
    part: int


class Microarchitecture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What CPUs of one microarchitecture can count."""

    name: str
    confidence: Literal["high", "medium", "low"]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    core: tuple[Core, ...]
    metric: tuple[Metric, ...] = ()
    x86: tuple[_X86, ...] = ()
    arm: tuple[_Arm, ...] = ()

    def metrics(self, name: str) -> tuple[Metric, ...]:
        """Return the metrics of a name: one for each kind of core that has it."""
        return tuple(metric for metric in self.metric if metric.name == name)

    def core_of(self, metric: Metric) -> Core | None:
        """Return the core whose PMU counts a metric; None: a PMU of the whole machine does."""
        return next((core for core in self.core if core.pmu == metric.pmu), None)


def find(wanted: Identity) -> Microarchitecture | None:
    """Return what a CPU can count; None: no file describes it."""
    return next(
        (
            microarchitecture
            for _, microarchitecture in load_all()
            if _is_of(wanted, microarchitecture)
        ),
        None,
    )


def load_all() -> Iterator[tuple[str, Microarchitecture]]:
    """Yield every microarchitecture with the name of its file.

    Raises
    ------
    InvalidDocument
        If a file is not what it should be.
    """
    for entry in sorted(_FOLDER.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            counters = read_shipped(entry, Microarchitecture, what="the counters")
            yield entry.name.removesuffix(".toml"), counters


def _is_of(wanted: Identity, microarchitecture: Microarchitecture) -> bool:
    if wanted.x86 is not None:
        vendor, family, model, stepping = wanted.x86
        return any(
            (vendor, family) == (row.vendor, row.family)
            and row.models[0] <= model <= row.models[1]
            and row.steppings[0] <= stepping <= row.steppings[1]
            for row in microarchitecture.x86
        )
    return any((row.implementer, row.part) == wanted.arm for row in microarchitecture.arm)
