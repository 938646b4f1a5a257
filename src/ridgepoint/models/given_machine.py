"""A machine of which only figures are given: ``pi=2 flop/cycle, beta=1 B/cycle``.

The figures are the rates of the whole machine, or what one of its cores does: then its peak, and
the lower ceilings of basic operations, follow by the equations of the DC-Roofline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.fields import fields_of
from ridgepoint.core.machine import Ceiling, Host, Machine
from ridgepoint.core.quantities import Bandwidth, Frequency, Performance, Quantity
from ridgepoint.core.resources import LINKS, PRECISIONS, RESOURCES
from ridgepoint.models.dc_roofline import ILP_EFFICIENCY, PORT_EFFICIENCY, ceiling_bop_per_s

_RATES: dict[str, str] = {
    "pi": "fp64",
    **{name: name for name in PRECISIONS},
    "bop": "bop",
    "beta": "dram",
    "read": "dram_read",
    "write": "dram_write",
    "l1": "l1",
    "l2": "l2",
    "l3": "l3",
    **{name: name for name in LINKS},
}
"""Resource of each rate; a ``pi`` in BOP is that of basic operations."""

_PER_CORE: dict[str, str] = {"pi_per_core": "fp64", "bop_per_core": "bop"}
"""Resource of each rate of one core; a ``pi_per_core`` in BOP is that of basic operations."""

_SHARES = ("ports", "ilp")
KEYS = (*_RATES, *_PER_CORE, *_SHARES, "simd", "frequency", "cores", "cpus", "name")
"""Names of the figures of a machine."""

NAME = "given machine"

GIVEN = "given"
"""Source of a machine, and of its ceilings, whose figures were given."""

_ALL = {**_RATES, **_PER_CORE}

_PER_CYCLE_HZ = 1.0
_LARGEST = 1e30
_MOST_CORES, _MOST_LANES = 1_000_000, 1024
_OF_CORES = ("compute", "l1", "l2")
_FORM = "write it like 'pi=2Tflop/s, beta=100GB/s'"


def is_per_cycle(machine: Machine) -> bool:
    """Return whether a machine's rates are per cycle, since its frequency was not given.

    Such a machine has a clock of 1 Hz: its seconds are cycles.
    """
    return machine.host.frequency_hz == _PER_CYCLE_HZ


def looks_given(text: str) -> bool:
    """Return whether a text states a machine's figures; its keys may be wrong.

    Examples
    --------
    >>> looks_given("pi=2 flop/cycle"), looks_given("csb"), looks_given("a/b.json")
    (True, False, False)
    """
    return text.partition("=")[0].strip().isidentifier() and "=" in text


def given_machine(text: str) -> Machine:
    """Return the machine that a text states.

    Parameters
    ----------
    text : str
        Rates of all its cores together, each with a unit: ``pi`` (fp64, or of basic operations by
        its unit) or ``fp64``, ``fp32``, ``bop``, ...; ``beta`` (the bandwidth of the memory, in
        both directions together), ``read``, ``write``, ``l1``, ``l2``, ``l3``, ``network``,
        ``remote``, ``storage``. Then ``frequency``, ``cores`` and ``name``. Each core has an equal
        share of the work and of L1 and L2; one core alone can use up the rest. Rates per cycle
        become rates per second by the frequency; without one, all rates must be per
        cycle, and the machine's clock is 1 Hz.

        In place of the rate of all cores, ``pi_per_core`` or ``bop_per_core`` states that of one:
        the peak is ``cpus`` (processors, 1 if not given) times ``cores`` (of a processor) times it
        (Eqs. (1) and (4) of the DC-Roofline). ``ports`` and ``ilp``, shares such as 0.5 and 2/4,
        and ``simd``, a number of lanes, add the ceilings ``ILP`` and ``SIMD`` of basic operations
        (Eq. (8)); the shares that are not given are the paper's.

    Raises
    ------
    ValueError
        If it states none; in the message, the text after the semicolon says what to write.

    Examples
    --------
    >>> machine = given_machine("pi=8 flop/cycle, beta=19.84 GB/s, frequency=3.2 GHz")
    >>> float(machine.rate("fp64")), float(machine.rate("dram"))
    (25600000000.0, 19840000000.0)
    >>> dc = given_machine("bop_per_core=6 BOP/cycle, cores=6, frequency=2.4GHz, simd=2")
    >>> float(dc.rate("bop")), float(dc.rate("bop", patterns=("SIMD",)))
    (86400000000.0, 43200000000.0)
    """
    before, values = fields_of(text, KEYS)
    if before:
        raise ValueError(f"{before!r} is not KEY=VALUE with the keys {', '.join(KEYS)}; {_FORM}")
    clock_hz = _clock_hz(values)
    cores = _count("cores", values) * _count("cpus", values)
    rates = _rates(values, clock_hz, cores)
    for resource, rate in rates.items():
        if not 1 / _LARGEST <= rate <= _LARGEST:
            raise ValueError(
                f"a rate of {resource} of {rate:g} is beyond any machine; check its unit"
            )
    if not rates:
        raise ValueError(f"it has no rate; {_FORM}")
    return Machine(
        name=values.get("name", NAME),
        host=Host(
            cpu="given figures",
            microarchitecture=None,
            cores=cores,
            frequency_hz=clock_hz,
            virtualized=None,
        ),
        caches=(),
        ceilings=tuple(
            _ceiling(resource, threads, rate * (threads / cores if _is_of_core(resource) else 1.0))
            for resource, rate in rates.items()
            for threads in sorted({1, cores})
        )
        + tuple(_lower_ceilings(values, rates.get("bop"), cores)),
        source=GIVEN,
    )


def _is_of_core(resource: str) -> bool:
    """Return whether each core has an equal share; the rest serves one core alone as well."""
    return RESOURCES[resource].path in _OF_CORES


def _ceiling(resource: str, threads: int, rate: float, name: str = GIVEN) -> Ceiling:
    return Ceiling(
        resource=resource,
        name=name,
        threads=threads,
        unit=f"{RESOURCES[resource].unit}/s",
        rate=Estimate([rate]),
        source=GIVEN,
    )


def _clock_hz(values: Mapping[str, str]) -> float | None:
    """Return the clock; None: it is not needed."""
    if "frequency" in values:
        return float(_read("frequency", values["frequency"], Frequency)[0])
    is_per_cycle = any(
        _read(key, values[key], _kind(key))[1].endswith("/cycle") for key in _ALL if key in values
    )
    return _PER_CYCLE_HZ if is_per_cycle else None


def _lower_ceilings(values: Mapping[str, str], peak: float | None, cores: int) -> Iterator[Ceiling]:
    """Yield the ceilings of basic operations by Eq. (8), if any of its quantities is given."""
    if not any(key in values for key in (*_SHARES, "simd")):
        return
    if peak is None:
        raise ValueError(
            "ports, ilp and simd lower the peak of basic operations, which is not given; write it "
            "like bop_per_core=6 BOP/cycle"
        )
    scales = {"ILP": 1.0}
    if "simd" in values:
        scales["SIMD"] = _lanes(values["simd"])
    for name, scale in scales.items():
        rate = ceiling_bop_per_s(
            peak,
            port_efficiency=_share("ports", values, PORT_EFFICIENCY),
            ilp_efficiency=_share("ilp", values, ILP_EFFICIENCY),
            simd_scale=scale,
        )
        yield _ceiling("bop", cores, float(rate), name)


def _rates(values: Mapping[str, str], clock_hz: float | None, cores: int) -> dict[str, float]:
    """Return the rate of each resource, in its unit per second."""
    rates: dict[str, float] = {}
    for key, named in _ALL.items():
        if key not in values:
            continue
        rate, unit = _read(key, values[key], _kind(key))
        above, _, below = unit.partition("/")
        resource = "bop" if key.startswith("pi") and above == "BOP" else named
        wanted = RESOURCES[resource].unit.replace("byte", "B")
        if above != wanted:
            raise ValueError(f"{key}: {values[key]!r} is in {unit}; write it in {wanted}/s")
        if resource in rates:
            raise ValueError(f"two rates of {resource} are given; give one")
        if below == "s" and clock_hz == _PER_CYCLE_HZ:
            raise ValueError(
                f"{key} is per second and other rates are per cycle; give the frequency, such as "
                "frequency=3.2GHz"
            )
        of_all = cores if key in _PER_CORE else 1
        rates[resource] = of_all * float(rate) * (clock_hz or 1.0 if below == "cycle" else 1.0)
    return rates


def _kind(key: str) -> type[Quantity]:
    return Performance if RESOURCES[_ALL[key]].path == "compute" else Bandwidth


def _read(key: str, text: str, kind: type[Quantity]) -> tuple[Quantity, str]:
    try:
        return kind.read(text)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from error


def _count(key: str, values: Mapping[str, str]) -> int:
    """Return a number of cores or processors; 1 if it is not given."""
    text = values.get(key, "1")
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= _MOST_CORES):
        raise ValueError(
            f"{key}: {text!r} is not a whole number from 1 to {_MOST_CORES}; write it like {key}=8"
        )
    return int(text)


def _share(key: str, values: Mapping[str, str], default: float) -> float:
    """Return a share in (0, 1] that is written as a number or a quotient."""
    if key not in values:
        return default
    above, _, below = values[key].partition("/")
    try:
        share = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        share = math.nan
    if not 0 < share <= 1:
        raise ValueError(
            f"{key}: {values[key]!r} is not a share, > 0 and at most 1; write it like {key}=2/4"
        )
    return share


def _lanes(text: str) -> float:
    """Return a number of 64-bit lanes."""
    try:
        lanes = float(text)
    except ValueError:
        lanes = math.nan
    if not 1 <= lanes <= _MOST_LANES:
        raise ValueError(
            f"simd: {text!r} is not a number of lanes from 1 to {_MOST_LANES}; write it like simd=2"
        )
    return lanes
