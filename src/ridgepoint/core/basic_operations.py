"""Basic operations (BOPs): the work that a program's source defines, floating point or not."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicOperations:
    """Numbers of basic operations by class; all are 0 or more.

    Parameters
    ----------
    arithmetic : int
        Additions, subtractions, multiplications and divisions of integers and pointers.
    fp_arithmetic : int
        Additions, subtractions, multiplications and divisions of floating-point numbers.
    logic : int
        Bitwise and logical operations.
    compare : int
        Comparisons of integers and pointers.
    fp_compare : int
        Comparisons of floating-point numbers.
    addressing : int
        Address calculations for elements of arrays: 1 for each dimension.

    References
    ----------
    .. [1] L. Wang et al., "BOPS, Not FLOPS! A New Metric and Roofline Performance Model For
       Datacenter Computing", ACS/SSL-2018-2, Tables 4 to 6.
    """

    arithmetic: int = 0
    fp_arithmetic: int = 0
    logic: int = 0
    compare: int = 0
    fp_compare: int = 0
    addressing: int = 0

    @property
    def total(self) -> int:
        """Operations of all classes: each counts 1, whatever its width and delay (Table 5)."""
        return sum(getattr(self, field.name) for field in fields(self))

    @property
    def fp(self) -> int:
        """Operations on floating-point numbers."""
        return self.fp_arithmetic + self.fp_compare

    def __add__(self, other: BasicOperations) -> BasicOperations:
        return BasicOperations(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    def __sub__(self, other: BasicOperations) -> BasicOperations:
        return BasicOperations(
            **{f.name: getattr(self, f.name) - getattr(other, f.name) for f in fields(self)}
        )

    def __mul__(self, times: int) -> BasicOperations:
        """Return the operations of this many executions."""
        return BasicOperations(**{f.name: getattr(self, f.name) * times for f in fields(self)})
