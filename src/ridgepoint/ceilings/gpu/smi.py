"""What nvidia-smi, which comes with the driver, tells of a device; unknown where it does not."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.host.process import output_of

_PATIENCE_S = 20.0

_RESTRAINTS = {
    "sw_power_cap": "the power limit",
    "sw_thermal_slowdown": "heat",
    "hw_thermal_slowdown": "too much heat",
    "hw_power_brake_slowdown": "the power supply",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How a device is set.

    Parameters
    ----------
    ecc, partitioned : bool or None
        As `ridgepoint.ceilings.gpu.device.Facts` has them.
    """

    ecc: bool | None
    partitioned: bool | None


def state(bus: str) -> State:
    """Return how the device at this address of the bus is set."""
    return State(
        ecc=_switch(_told(bus, ("ecc.mode.current",))),
        partitioned=_switch(_told(bus, ("mig.mode.current",))),
    )


def held_back_s(bus: str) -> dict[str, float] | None:
    """Return for how long each reason held the clock back since the driver was loaded, s.

    None: this driver does not tell (those before 2024 do not).
    """
    answer = _told(bus, tuple(f"clocks_event_reasons_counters.{name}" for name in _RESTRAINTS))
    return None if answer is None else parse_held_back(answer)


def parse_held_back(answer: tuple[str, ...]) -> dict[str, float] | None:
    """Return the same from what nvidia-smi printed, in microseconds; None: nothing known.

    Examples
    --------
    >>> parse_held_back(("2500000", "0", "[N/A]", "0"))
    {'the power limit': 2.5, 'heat': 0.0, 'the power supply': 0.0}
    """
    held = {
        words: float(text.split()[0]) / 1e6
        for words, text in zip(_RESTRAINTS.values(), answer, strict=True)
        if text.split()[:1] and text.split()[0].isdecimal()
    }
    return held or None


def _switch(answer: tuple[str, ...] | None) -> bool | None:
    return None if answer is None else {"Enabled": True, "Disabled": False}.get(answer[0])


def _told(bus: str, fields: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what nvidia-smi says of these fields; None: it is not there, or knows one not."""
    command = [
        "nvidia-smi",
        f"--id={bus}",
        f"--query-gpu={','.join(fields)}",
        "--format=csv,noheader,nounits",
    ]
    try:
        text = output_of(command, limit_s=_PATIENCE_S)
    except OSError:
        return None
    values = tuple(part.strip() for part in text.strip().split(","))
    return values if len(values) == len(fields) else None
