"""Base of all suites: cases that are measured one after the other, with their results.

A case that cannot be measured stops no other: its reason is kept in place of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.presenting import Presentable, amount, quoted

Case = TypeVar("Case")
Value = TypeVar("Value")


class Study(Presentable):
    """The results of a suite; each suite has a subclass of its own."""

    __slots__ = ()

    results: Sequence[object]

    @property
    def where(self) -> str:
        """Where the cases were measured, for the headline."""
        raise NotImplementedError

    @property
    def unmeasured(self) -> Mapping[str, str]:
        """Why cases could not be measured, by the cases' names."""
        raise NotImplementedError

    @property
    def n_cases(self) -> int:
        """Number of cases, measured or not."""
        return len(self.results)

    @property
    def headline(self) -> str:
        """Description in one line."""
        failed = len(self.unmeasured)
        return (
            f"on {self.where}: {amount(self.n_cases, 'case')}"
            f"{f', {failed} of them could not be measured' if failed else ''}"
        )


class MachineStudy(Study):
    """The results of a suite on a machine whose roofs bound them."""

    __slots__ = ()

    machine: Machine

    @property
    def where(self) -> str:
        """The name of the machine."""
        return quoted(self.machine.name)


def attempt(
    measure: Callable[[Case], Value],
    case: Case,
    *,
    stops: type[RidgepointError] | tuple[type[RidgepointError], ...] = (),
) -> Value | RidgepointError:
    """Measure a case; return the result, or the error that prevented it.

    Parameters
    ----------
    measure : callable
    case : object
    stops : type or tuple of type
        Errors that concern every case: they are raised.
    """
    try:
        return measure(case)
    except stops:
        raise
    except RidgepointError as error:
        return error
