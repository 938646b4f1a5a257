"""Identify the CPU by its number, and by its features where they contradict the number.

A hypervisor may hide a CPU's number behind another's, and may take features away; it cannot add
vector units that are not there. So the number is believed as long as its processor can have
every feature shown. Otherwise the CPU is one of the processors that have all of these features, and
only what holds for each of them is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.core.units import format_size

_HYPERVISORS_OWN = re.compile(
    r"\b(QEMU|KVM|kvm64|qemu64)\b"  # QEMU Virtual CPU version 2.5+, Common KVM processor
    r"|\bAMD EPYC(-\w+)? Processor\b"  # AMD EPYC-Rome Processor; real ones have a number between
    r"|\bIntel (Xeon|Core) Processor \("  # Intel Xeon Processor (Skylake, IBRS)
    r"|\b(Nehalem|Westmere) ?[A-Z]?\w*/|\(Nehalem(-C| Class Core i7)\)"
    r"|\bXeon E312xx|\bXeon E3-12xx v2"
)
"""Names of CPU models that QEMU makes up: they say what it pretends, not what is beneath."""

_CACHES = ("L1 data cache", "L1 instruction cache", "L2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """One kind of processor, as the package's table describes it.

    Parameters
    ----------
    title : str
        Common name.
    name : str
        LLVM's name.
    vendor : str
        As in /proc/cpuinfo; on Arm the implementer.
    numbers : tuple of tuple of int
        x86: family, first and last model, optionally first and last stepping. Arm: one part each.
    year : int
        Release year of the first product.
    server : bool
        Whether clouds offer it.
    features, early : frozenset of str
        By the kernel's names: all features that it can have, and further ones of early products.
    caches_kib : tuple of int
        L1 data, L1 instruction and L2 cache of one core; empty: unknown, or not one per core.
    """

    title: str
    name: str
    vendor: str
    numbers: tuple[tuple[int, ...], ...]
    year: int
    server: bool
    features: frozenset[str]
    early: frozenset[str]
    caches_kib: tuple[int, ...]

    def has_number(self, number: tuple[int, ...]) -> bool:
        """Return whether a family, model and stepping, or a part, is one of this processor's."""
        return any(_is_within(number, row) for row in self.numbers)

    def has_caches(self, caches_kib: tuple[int, ...]) -> bool:
        """Return whether a core of this processor has these caches."""
        return bool(caches_kib) and self.caches_kib == caches_kib


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The CPU as a host describes it.

    Parameters
    ----------
    model : str
        The model's name.
    vendor : str or None
        As in `Processor`; None: not reported.
    number : tuple of int or None
        x86: family, model, stepping. Arm: the part. None: not reported.
    features : frozenset of str
    caches_kib : tuple of int
        L1 data, L1 instruction and L2 cache of one core; empty: not reported.
    called : str or None
        LLVM's name of the CPU, used for numbers that the table does not have.
    """

    model: str
    vendor: str | None = None
    number: tuple[int, ...] | None = None
    features: frozenset[str] = frozenset()
    caches_kib: tuple[int, ...] = ()
    called: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which CPU this is, as far as that can be determined.

    Parameters
    ----------
    reported : str or None
        Processor that the number stands for; None: the number is not known.
    title : str or None
        Its name, such as ``Zen 4``; if inferred, such as ``Sapphire Rapids or later``. None: it
        cannot be determined.
    names : tuple of str
        The possible microarchitectures, by LLVM's names, oldest first.
    inferred : bool
        Whether it follows from features, since the number is that of another CPU or of none.
    reasons : tuple of str
        Why the number is not believed.
    by_caches : str or None
        The candidates whose caches match the reported ones; None: all match, none does, or the
        caches are unknown.
    """

    reported: str | None
    title: str | None
    names: tuple[str, ...] = ()
    inferred: bool = False
    reasons: tuple[str, ...] = ()
    by_caches: str | None = None

    def __str__(self) -> str:
        """Return it in words."""
        if not self.inferred:
            return self.title or "unknown"
        verdict = "its features do not tell which CPU it is"
        if self.title is not None:
            verdict = f"its features are those of {self.title}"
            if self.by_caches is not None:
                verdict += f", its caches those of {self.by_caches}"
        return verdict if self.reported is None else f"reported as {self.reported}; {verdict}"


def first_processor(cpuinfo: str) -> dict[str, str]:
    """Return the fields of the first processor in the text of /proc/cpuinfo."""
    first = cpuinfo.split("\n\n", maxsplit=1)[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def seen_in(
    fields: Mapping[str, str], *, caches_kib: tuple[int, ...] = (), called: str | None = None
) -> Seen:
    """Return the description of a CPU in fields of /proc/cpuinfo; other arguments as for `Seen`."""
    keys = ("cpu family", "model", "stepping") if "vendor_id" in fields else ("CPU part",)
    return Seen(
        model=fields.get("model name", ""),
        vendor=fields.get("vendor_id", fields.get("CPU implementer")),
        number=_numbers([fields.get(key) for key in keys]),
        features=frozenset(fields.get("flags", fields.get("Features", "")).split()),
        caches_kib=caches_kib,
        called=called,
    )


def _numbers(texts: Sequence[str | None]) -> tuple[int, ...] | None:
    """Return numbers as the kernel prints them, decimal or with 0x; None: one is missing."""
    try:
        return tuple(int(text or "", 0) for text in texts)
    except ValueError:
        return None


def identify(seen: Seen, processors: Sequence[Processor]) -> Identity:
    """Return which CPU this is.

    Parameters
    ----------
    seen : Seen
    processors : sequence of Processor
        All known processors.

    Notes
    -----
    The number is believed if its processor can have every feature that is seen, and the
    model's name is not one that hypervisors make up. Otherwise the CPU is one of its vendor's
    processors that can have all these features. It is named after the oldest of them that is
    made for servers, "or later". If even the vendor's oldest processor has every feature seen,
    the features tell nothing.

    Caches contradict nothing on their own, since hypervisors make them up too; they are
    reported beside the features.
    """
    of_vendor = [processor for processor in processors if processor.vendor == seen.vendor]
    if not of_vendor:
        return _as_called(seen.called)
    features = seen.features & frozenset[str]().union(
        *(processor.features for processor in of_vendor)
    )
    reported = _reported(seen, of_vendor)
    made_up = _HYPERVISORS_OWN.search(seen.model) is not None
    if not made_up:
        if reported is not None and features <= reported.features | reported.early:
            return Identity(reported=reported.title, title=reported.title, names=(reported.name,))
        if reported is None and seen.called is not None:
            return _as_called(seen.called)
    possible = sorted(
        (processor for processor in of_vendor if features <= processor.features),
        key=lambda processor: processor.year,
    )
    known = seen.model if made_up else (None if reported is None else reported.title)
    reasons = tuple(_reasons(seen, features, reported, made_up=made_up))
    if not possible or len(possible) == len(of_vendor):
        return Identity(reported=known, title=None, inferred=True, reasons=reasons)
    oldest = next((processor for processor in possible if processor.server), possible[0])
    return Identity(
        reported=known,
        title=f"{oldest.title} or later",
        names=tuple(dict.fromkeys(processor.name for processor in possible)),
        inferred=True,
        reasons=reasons,
        by_caches=_by_caches(seen, possible),
    )


def _as_called(called: str | None) -> Identity:
    """Return the identity that LLVM's name gives a CPU that is not in the table."""
    return Identity(reported=called, title=called, names=() if called is None else (called,))


def _reported(seen: Seen, processors: Sequence[Processor]) -> Processor | None:
    """Return the processor with this number; without a number, the one that LLVM names."""
    if seen.number is not None:
        for processor in processors:
            if processor.has_number(seen.number):
                return processor
    return next((processor for processor in processors if processor.name == seen.called), None)


def _is_within(number: tuple[int, ...], row: tuple[int, ...]) -> bool:
    """Return whether a number lies within a row of the table."""
    if len(row) == 1:
        return number == row
    if len(number) != 3:
        return False
    family, model, stepping = number
    first_stepping, last_stepping = row[3:] or (stepping, stepping)
    return (
        family == row[0]
        and row[1] <= model <= row[2]
        and first_stepping <= stepping <= last_stepping
    )


def _reasons(
    seen: Seen, features: frozenset[str], reported: Processor | None, *, made_up: bool
) -> list[str]:
    """Return why a number is not believed, one clause per reason."""
    if made_up:
        return ["this model is one that hypervisors invent"]
    if reported is None:
        return ["its model number is not known"]
    more = sorted(features - reported.features - reported.early)
    caches = zip(_CACHES, seen.caches_kib, reported.caches_kib, strict=False)
    return [
        f"{reported.title} has no {', '.join(more)}",
        *(
            f"the {name} has {format_size(kib * 1024)} and {reported.title}'s has "
            f"{format_size(usual * 1024)}"
            for name, kib, usual in caches
            if kib != usual
        ),
    ]


def _by_caches(seen: Seen, possible: Sequence[Processor]) -> str | None:
    """Return which candidates have the caches that are seen, if that narrows them down."""
    alike = [processor for processor in possible if processor.has_caches(seen.caches_kib)]
    if not alike or len(alike) == len(possible):
        return None
    return " or ".join(dict.fromkeys(processor.title for processor in alike))
