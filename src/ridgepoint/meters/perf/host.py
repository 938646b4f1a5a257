"""What the host's files say of its counters: which CPU, which settings stand in the way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.identity import first_processor, identify, seen_in
from ridgepoint.published.processors import processors

_MIDR = "sys/devices/system/cpu/cpu0/regs/identification/midr_el1"


@dataclass(frozen=True, slots=True)
class Host:
    """Files of /proc and /sys under a root: the host's own, or a captured tree in tests."""

    root: Path = Path("/")

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if it is not there or may not be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """Return a file's number, or None."""
        try:
            return int(self.read(path) or "")
        except ValueError:
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; none where there is no such folder."""
        base = self.root / folder
        return sorted(entry.name for entry in base.iterdir()) if base.is_dir() else []

    @property
    def paranoid(self) -> int | None:
        """``kernel.perf_event_paranoid``: 2 lets a user count their own programs; None: unknown."""
        return self.number("proc/sys/kernel/perf_event_paranoid")

    @property
    def has_watchdog(self) -> bool:
        """Whether the NMI watchdog keeps a counter of each core for itself."""
        return self.number("proc/sys/kernel/nmi_watchdog") == 1

    @property
    def is_filtered(self) -> bool:
        """Whether a seccomp filter judges this process's system calls."""
        return "Seccomp:\t2" in (self.read("proc/self/status") or "")

    @property
    def is_virtual(self) -> bool:
        """Whether the CPU's flags name a hypervisor; x86 alone tells."""
        flags = re.search(r"^flags\s*:(.*)$", self.read("proc/cpuinfo") or "", re.M)
        return flags is not None and "hypervisor" in flags[1].split()

    @property
    def contradiction(self) -> str | None:
        """Why the CPU is not the one that its number says; None: it is, or nothing tells."""
        fields = first_processor(self.read("proc/cpuinfo") or "")
        identity = identify(seen_in(fields), processors())
        return str(identity) if identity.inferred and identity.reported is not None else None

    @property
    def identity(self) -> Identity:
        """Which CPU this is."""
        midr = self.read(_MIDR)
        if midr:
            register = int(midr, 16)
            return Identity(arm=(register >> 24 & 0xFF, register >> 4 & 0xFFF))
        first = (self.read("proc/cpuinfo") or "").split("\n\n", 1)[0]
        stated = dict(re.findall(r"^(vendor_id|cpu family|model|stepping)\s*: (\S+)$", first, re.M))
        try:
            family, model, stepping = (
                int(stated[key]) for key in ("cpu family", "model", "stepping")
            )
            return Identity(x86=(stated["vendor_id"], family, model, stepping))
        except (KeyError, ValueError):
            return Identity()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which CPU this is.

    Parameters
    ----------
    x86 : tuple or None
        Vendor, family, model, stepping.
    arm : tuple or None
        Implementer and part, of the MIDR.
    """

    x86: tuple[str, int, int, int] | None = None
    arm: tuple[int, int] | None = None

    def __str__(self) -> str:
        if self.x86 is not None:
            vendor, family, model, stepping = self.x86
            return f"{vendor} family {family} model {model:#x} stepping {stepping}"
        if self.arm is not None:
            return f"Arm implementer {self.arm[0]:#x} part {self.arm[1]:#x}"
        return "a CPU that does not identify itself"
