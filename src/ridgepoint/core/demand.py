"""The resources that a unit of work asks for, independent of any machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Amount, plain
from ridgepoint.core.resources import RESOURCES, resource_named


class Demand:
    """Amounts of resources: flop, BOP, byte. Arrays stand for many designs at once.

    Parameters
    ----------
    amounts : mapping of str to array_like
        Resource name to amount in the resource's unit; finite and >= 0; shapes broadcast.

    Raises
    ------
    ValueError
        If a name is not a resource, or an amount is negative or not finite.

    Notes
    -----
    ``dram`` is traffic of unknown direction; ``dram_read`` and ``dram_write`` are traffic of
    known direction. They add up, so the same bytes must not be given as both. A resource that
    is not named is not asked for; an unknown amount cannot be given.

    Examples
    --------
    >>> daxpy = Demand({"fp64": 2e6, "dram_read": 16e6, "dram_write": 8e6})
    >>> (daxpy + daxpy).amounts["fp64"], (daxpy * 3).amounts["dram_write"]
    (4000000.0, 24000000.0)
    """

    __slots__ = ("amounts",)
    amounts: Mapping[str, Amount]

    def __init__(self, amounts: Mapping[str, npt.ArrayLike]) -> None:
        checked: dict[str, Amount] = {}
        for name, amount in amounts.items():
            resource_named(name)
            if isinstance(amount, float | int):  # a list of operators has thousands of demands
                if not 0 <= amount < math.inf:
                    raise ValueError(f"{name} must be finite and >= 0, got {amount!r}")
                checked[name] = float(amount)
                continue
            array = np.array(amount, dtype=np.float64)
            # Two reductions, without arrays in between; of NaN both are NaN, and no bound holds.
            if array.size and not (array.min() >= 0 and array.max() < np.inf):
                raise ValueError(f"{name} must be finite and >= 0, got {amount!r}")
            array.flags.writeable = False
            checked[name] = plain(array)
        object.__setattr__(self, "amounts", MappingProxyType(checked))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Demand is a value: {name!r} cannot be set")

    def __repr__(self) -> str:
        return f"Demand({dict(self.amounts)!r})"

    def __add__(self, other: Demand) -> Demand:
        names = [*self.amounts, *(name for name in other.amounts if name not in self.amounts)]
        return Demand(
            {
                name: np.add(self.amounts.get(name, 0.0), other.amounts.get(name, 0.0))
                for name in names
            }
        )

    def amount(self, name: str) -> Amount:
        """Return the amount of a resource, or of all resources of a path; 0: none.

        Parameters
        ----------
        name : str
            ``fp64``, ``dram_read``, ...; or a path: ``compute`` is all work, ``dram`` the traffic
            in both directions.
        """
        total: Amount = 0.0
        for resource, amount in self.amounts.items():
            if name in (resource, RESOURCES[resource].path):
                total = total + amount
        return total

    def __mul__(self, factor: npt.ArrayLike) -> Demand:
        return Demand({name: np.multiply(amount, factor) for name, amount in self.amounts.items()})
