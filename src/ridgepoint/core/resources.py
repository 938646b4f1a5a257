"""The one table of resources that programs ask for and machines offer.

A resource belongs to a *path*: within a path times add up or share a limit, different paths
may overlap. Compute resources of one *metric* (flop, op, BOP) share the path ``compute``;
metrics are alternatives, since they count the same work. Instructions of any kind are on the path
``issue``: they are not work, but a core starts only a limited number per cycle.
"""

from dataclasses import dataclass
from typing import Literal

from ridgepoint.core.units import format_si

Direction = Literal["read", "write"]

_DIRECTIONS: dict[str, Direction | None] = {"": None, "_read": "read", "_write": "write"}

LEVELS = ("l1", "l2", "l3", "dram")
"""Memory levels, each named by what is measured there: ``l1`` is between core and L1, ``dram``
between the last cache and memory."""

PRECISIONS = ("fp64", "fp32", "fp16", "bf16", "fp80")
"""Floating-point precisions; ``fp80`` is x87."""

LINKS = ("network", "remote", "storage")
"""What a node reaches over one link or device, which is no faster for more cores behind it: other
nodes, memory outside of the node (``remote``: disaggregated or pooled), and ``storage``."""

_LABELS = {"bop": "BOP", "remote": "remote memory"}

INTEGERS = ("int8", "int32", "int64")
"""Integers, whose work is in op: one operation of one lane; each multiplication and each addition
of a dot product is one. Of products that are summed in wider lanes, the factors' width counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource.

    Parameters
    ----------
    name : str
        Name in demands and ceilings.
    unit : str
        Base unit of an amount: ``flop``, ``op``, ``BOP`` or ``byte``.
    path : str
        Which unit or path serves it: ``compute``, ``issue``, a memory level, or one of `LINKS`.
    direction : {"read", "write"} or None
        Direction of traffic, seen from the core; None: both together.
    """

    name: str
    unit: str
    path: str
    direction: Direction | None = None

    @property
    def label(self) -> str:
        """The usual name of the resource: ``DRAM read``, ``fp64``, ``BOP``."""
        if self.path not in LEVELS:
            return _LABELS.get(self.name, self.name)
        return f"{self.path.upper()}{f' {self.direction}' if self.direction else ''}"

    @property
    def rate_unit(self) -> str:
        """The unit of a rate in print: ``flop/s``, ``B/s``."""
        return f"{self.unit.replace('byte', 'B')}/s"

    def shown_rate(self, rate: float) -> str:
        """Return a rate with the resource's name, for print: ``DRAM 105 GB/s``."""
        return f"{self.label} {format_si(rate, self.rate_unit)}"


RESOURCES: dict[str, Resource] = {
    resource.name: resource
    for resource in (
        *(Resource(name=name, unit="flop", path="compute") for name in PRECISIONS),
        *(Resource(name=name, unit="op", path="compute") for name in INTEGERS),
        Resource(name="bop", unit="BOP", path="compute"),
        *(
            Resource(name=f"{level}{suffix}", unit="byte", path=level, direction=direction)
            for level in LEVELS
            for suffix, direction in _DIRECTIONS.items()
        ),
        *(Resource(name=name, unit="byte", path=name) for name in LINKS),
        Resource(name="issue", unit="instruction", path="issue"),
    )
}


def resource_named(name: str) -> Resource:
    """Return the resource of this name.

    Raises
    ------
    ValueError
        If there is none.
    """
    try:
        return RESOURCES[name]
    except KeyError:
        known = ", ".join(RESOURCES)
        raise ValueError(f"{name!r} is not a resource; the resources are {known}") from None
