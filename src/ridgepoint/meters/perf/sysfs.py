"""The PMUs that the kernel shows: their numbers, how events are encoded, on which CPUs to open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters.perf.host import Host

_DEVICES = "sys/bus/event_source/devices"
_ENERGY = "energy-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """The three configuration words of an event."""

    config: int = 0
    config1: int = 0
    config2: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pmu:
    """One device that counts.

    Parameters
    ----------
    name : str
    type : int
        Number by which perf_event_open knows it.
    formats : mapping of str to str
        Field of an event to its bits, for example ``config:0-7,32-35``.
    cpus : tuple of int
        CPUs on which a counter of the whole machine is opened (one per package or die), or those
        whose cores it counts; empty: it does not say.
    """

    name: str
    type: int
    formats: Mapping[str, str]
    cpus: tuple[int, ...] = ()

    def is_instance_of(self, pattern: str) -> bool:
        """Return whether a file of the catalogue means this device."""
        return re.fullmatch(rf"(?:{pattern})(?:_\d+)?", self.name) is not None

    def encode(self, fields: Mapping[str, int]) -> Encoding:
        """Return the words of an event.

        Parameters
        ----------
        fields : mapping of str to int
            For example ``{"event": 0xc7, "umask": 0x10}``.

        Raises
        ------
        CannotMeasure
            If this PMU has no such field, or not so many bits of it.
        """
        words = {"config": 0, "config1": 0, "config2": 0}
        for field, value in fields.items():
            if field not in self.formats:
                if value == 0:
                    continue  # the field of an older or newer PMU, of which nothing is asked
                raise self._cannot(field, value, "it has no such field")
            word, bits = _bits(self.formats[field])
            if value >> len(bits) or word not in words:
                raise self._cannot(field, value, f"its bits are {self.formats[field]!r}")
            for index, bit in enumerate(bits):
                words[word] |= (value >> index & 1) << bit
        return Encoding(**words)

    def _cannot(self, field: str, value: int, reason: str) -> CannotMeasure:
        return CannotMeasure(
            f"cannot encode {field} = {value:#x} for the PMU {self.name!r}",
            reason=reason,
            remedy="count with the engine: --meter engine",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyDomain:
    """A domain whose energy is metered: its name, its event, and the joules of one count."""

    name: str
    pmu: Pmu
    encoding: Encoding
    joule: float


def pmus(host: Host) -> tuple[Pmu, ...]:
    """Return the PMUs of a host, by name."""
    units = (_pmu(host, name) for name in host.names(_DEVICES))
    return tuple(unit for unit in units if unit is not None)


def energy_domains(host: Host) -> tuple[EnergyDomain, ...]:
    """Return the energy domains of the RAPL PMU, as far as this kernel names them in joules."""
    power = next((pmu for pmu in pmus(host) if pmu.name == "power"), None)
    if power is None:
        return ()
    events = f"{_DEVICES}/power/events"
    return tuple(
        EnergyDomain(
            name=name.removeprefix(_ENERGY),
            pmu=power,
            encoding=power.encode(_fields(host.read(f"{events}/{name}") or "")),
            joule=float(host.read(f"{events}/{name}.scale") or 1),
        )
        for name in host.names(events)
        if name.startswith(_ENERGY) and host.read(f"{events}/{name}.unit") == "Joules"
    )


def _fields(text: str) -> dict[str, int]:
    """Return the fields of an event such as ``event=0x02``."""
    return {key: int(value, 0) for key, value in re.findall(r"(\w+)=(0x[0-9a-f]+|\d+)", text)}


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a list of the kernel's.

    Examples
    --------
    >>> numbers("0-2,8")
    (0, 1, 2, 8)
    """
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def _pmu(host: Host, name: str) -> Pmu | None:
    folder = f"{_DEVICES}/{name}"
    number = host.number(f"{folder}/type")
    if number is None:
        return None
    return Pmu(
        name=name,
        type=number,
        formats={
            field: host.read(f"{folder}/format/{field}") or ""
            for field in host.names(f"{folder}/format")
        },
        cpus=numbers(host.read(f"{folder}/cpumask") or host.read(f"{folder}/cpus") or ""),
    )


def _bits(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the word and the bits of a format such as ``config:0-7,32-35``."""
    word, _, bits = text.partition(":")
    return word, numbers(bits)
