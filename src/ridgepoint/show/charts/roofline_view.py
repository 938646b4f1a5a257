"""What of a roofline is drawn: which machines, over which bytes, and in which units."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.core.machine import Machine
from ridgepoint.models.given_machine import is_per_cycle
from ridgepoint.models.one_bandwidth import Bandwidth

_RATIOS: dict[Bandwidth | None, str] = {
    None: "", "read": "W/Qr, reads only ", "write": "W/Qw, writes only ",
    "copy": "W/Q ",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineView:
    """How a roofline is drawn.

    Parameters
    ----------
    others : tuple of Machine
        Machines whose outer roofs are drawn beside those of the one that bounds the programs.
    bandwidth : {"read", "write", "copy"} or None
        Bandwidth of main memory that alone is drawn, over the bytes that it moves; None: all
        levels, over the bytes of both directions.
    in_cycles : bool
        Whether rates are per cycle of each machine's own clock, where all clocks are known. Those
        of a machine that is given by rates per cycle always are.
    """

    others: tuple[Machine, ...] = ()
    bandwidth: Bandwidth | None = None
    in_cycles: bool = False

    def intensity_label(self, unit: str) -> str:
        """Return what the axis of intensities is called."""
        return f"Operational intensity {_RATIOS[self.bandwidth]}[{unit}/byte]"

    def clock_hz(self, machine: Machine) -> float | None:
        """Return the clock to whose cycles rates refer; None: they are per second."""
        if not self.asks_for_cycles(machine) or self.clocks_unknown(machine):
            return None
        return machine.host.frequency_hz

    def asks_for_cycles(self, machine: Machine) -> bool:
        """Return whether rates are to be per cycle."""
        return self.in_cycles or any(is_per_cycle(each) for each in (machine, *self.others))

    def clocks_unknown(self, machine: Machine) -> list[str]:
        """Return the machines whose clock would be needed and is not known."""
        every = (machine, *self.others)
        return [each.name for each in every if each.host.frequency_hz is None]


PLAIN = RooflineView()
"""One machine, all its levels, rates per second."""
