"""What passes a node's network interfaces: the kernel's counters of bytes, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_WRAP = 1 << 32
_INFINIBAND_BYTES = 4
"""Of a unit in which InfiniBand's ports count."""

Counters = Mapping[str, tuple[int, int]]
"""By interface: bytes received and sent since it was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What passed the interfaces of a node in some time.

    Parameters
    ----------
    sent_bytes, received_bytes : int or None
        None: not known.
    interfaces : tuple of str
    wrapped : tuple of str
        Interfaces whose counters began again at 0, taken to have 32 bit.
    unknown : str or None
        Why it is not known.
    """

    sent_bytes: int | None
    received_bytes: int | None
    interfaces: tuple[str, ...] = ()
    wrapped: tuple[str, ...] = ()
    unknown: str | None = None


def read(root: Path = Path("/")) -> Counters:
    """Return the counters of this node; empty where the kernel shows none.

    What lies on top of other interfaces (bridges, bonds, VLANs) would count bytes twice and is
    left out; so is what only exists in software, if there is hardware beside it. InfiniBand, which
    passes the kernel by, counts in its ports.

    Parameters
    ----------
    root : Path
        Of the file system.
    """
    try:
        text = (root / "proc/net/dev").read_text(encoding="ascii", errors="replace")
    except OSError:
        text = ""
    found = parse(text)
    net = root / "sys/class/net"
    lowest = {name: each for name, each in found.items() if not _is_upper(net / name)}
    real = {name: each for name, each in lowest.items() if (net / name / "device").exists()}
    return {**(real or lowest), **_infiniband(root / "sys/class/infiniband")}


def parse(text: str) -> dict[str, tuple[int, int]]:
    """Return what ``/proc/net/dev`` says of each interface but the loopback.

    Examples
    --------
    >>> parse("  eth0: 10 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0")
    {'eth0': (10, 20)}
    """
    found = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        fields = rest.split()
        numbers = len(fields) >= 9 and fields[0].isdecimal() and fields[8].isdecimal()
        if colon and name.strip() != "lo" and numbers:
            found[name.strip()] = (int(fields[0]), int(fields[8]))
    return found


def passed(before: Counters, after: Counters) -> Passed:
    """Return what passed between two readings.

    A counter that fell has wrapped, if both readings fit in 32 bit; else it was reset, and nothing
    is known. An interface that came or went is left out.
    """
    names = tuple(sorted(set(before) & set(after)))
    if not names:
        return Passed(
            sent_bytes=None, received_bytes=None, unknown="the kernel shows no network interface"
        )
    sums, wrapped = [0, 0], []
    for name in names:
        for index in (0, 1):
            change = after[name][index] - before[name][index]
            if change < 0:
                if before[name][index] >= _WRAP:
                    return Passed(
                        sent_bytes=None,
                        received_bytes=None,
                        interfaces=names,
                        unknown=f"the counters of {name} were reset during the run",
                    )
                change += _WRAP
                wrapped.append(name)
            sums[index] += change
    return Passed(
        sent_bytes=sums[1],
        received_bytes=sums[0],
        interfaces=names,
        wrapped=tuple(dict.fromkeys(wrapped)),
    )


def _is_upper(folder: Path) -> bool:
    try:
        return any(
            entry.name in {"bridge", "bonding"} or entry.name.startswith("lower_")
            for entry in folder.iterdir()
        )
    except OSError:
        return False


def _infiniband(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for counters in sorted(folder.glob("*/ports/*/counters")):
        try:
            units = [
                int((counters / f"port_{way}_data").read_text(encoding="ascii"))
                for way in ("rcv", "xmit")
            ]
        except (OSError, ValueError):
            continue
        port = f"{counters.parents[2].name}/{counters.parent.name}"
        found[port] = (units[0] * _INFINIBAND_BYTES, units[1] * _INFINIBAND_BYTES)
    return found
