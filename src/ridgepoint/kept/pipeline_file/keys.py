"""The keys of a pipeline's file, with their permitted values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec import Meta, Struct

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.quantities import (
    ByteRate,
    Bytes,
    Intensity,
    Quantity,
    Seconds,
    SecondsOrZero,
    Word,
    Work,
    WorkRate,
)
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.toml import Table
from ridgepoint.core.uncertain import read_uncertain
from ridgepoint.core.units import read_quantity
from ridgepoint.demands.formulas import FORMULAS
from ridgepoint.published.sdp_loads import products

_Tables = dict[str, dict[str, Any]]
_Number = Annotated[float, Meta(gt=0, le=1e300)]
_Share = Annotated[float, Meta(gt=0, le=1)]
_Shares = Annotated[list[_Share], Meta(min_length=1)]
_Name = Annotated[str, Meta(min_length=1)]
_ENDS = {"median", "low", "high"}


class Fraction(float):
    """A number in (0, 1]."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Return a number, which has no unit."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{value!r} is not a number; write a number such as 0.4")
        if not 0 < value <= 1:
            raise ValueError(f"a share must be > 0 and at most 1, got {value!r}; correct it")
        return cls(value)


class Precision(Word):
    """The kind of work: a compute resource."""

    __slots__ = ()
    known = tuple(name for name, resource in RESOURCES.items() if resource.path == "compute")


class Formula(Word):
    """The name of a formula."""

    __slots__ = ()
    known = tuple(FORMULAS)


class ProductName(Word):
    """The name of a product whose loads are published."""

    __slots__ = ()
    known = tuple(products())


class Spread(Estimate):
    """A value, several of them, or with an interval: ``4 s ± 5%``, ``{ median, low, high }``."""

    __slots__ = ()
    unit: ClassVar[type[Seconds | Fraction]]

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the estimate that a file states.

        Raises
        ------
        ValueError
        """
        if isinstance(value, list):
            if not value:
                raise ValueError("it is empty; give at least one value")
            return cls(map(cls.unit.of, value))
        if isinstance(value, str) and issubclass(cls.unit, Quantity):
            estimate, _ = read_uncertain(value, cls.unit)
            return cls(estimate.samples, interval=estimate.interval)
        if not isinstance(value, dict):
            return cls([cls.unit.of(value)])
        if set(value) != _ENDS:
            raise ValueError("it is not exactly median, low and high; give these three")
        low, median, high = (float(cls.unit.of(value[end])) for end in ("low", "median", "high"))
        try:
            return cls([median], interval=(low, high))
        except ValueError as error:
            raise ValueError(f"{error}; let low <= median <= high") from error


class Time(Spread):
    """A time > 0."""

    __slots__ = ()
    unit = Seconds


class HostTime(Spread):
    """A time >= 0."""

    __slots__ = ()
    unit = SecondsOrZero


class Share(Spread):
    """A share in (0, 1]."""

    __slots__ = ()
    unit = Fraction


class Figures(Struct, forbid_unknown_fields=True):
    """A machine by its figures."""

    compute: WorkRate
    bandwidth: ByteRate
    other_node: ByteRate | None = None
    name: _Name = "machine"


class _Shared(Struct, forbid_unknown_fields=True, kw_only=True):
    """Settings at the head of a file, for one pipeline or for all of an observation."""

    name: _Name | None = None
    machine: int | _Name | Figures | None = None
    machines: list[int | _Name | Figures] = []
    link: ByteRate | None = None
    precision: Precision = Precision("fp32")
    cores: _Number | None = None
    load: WorkRate | None = None
    sdp: ProductName | None = None
    host_time: HostTime | None = None
    major_cycles: Annotated[int, Meta(ge=1)] | None = None
    used: _Shares | _Share | None = None


SHARED = _Shared.__struct_fields__


class PipelineKeys(_Shared, kw_only=True):
    """A pipeline; its stages are taken one by one, since a stage may be like another."""

    stages: _Tables = {}


class MemberKeys(PipelineKeys, kw_only=True):
    """A pipeline of an observation, within the observation's file."""

    weight: _Share


class FileKeys(Struct, forbid_unknown_fields=True, kw_only=True):
    """A pipeline of an observation, in a file of its own."""

    weight: _Share
    file: _Name


class ObservationKeys(_Shared, kw_only=True):
    """Several pipelines that share an observation."""

    pipelines: _Tables
    period: Seconds | None = None


class Like(Struct):
    """The name of the stage that a stage resembles, whatever other keys there are."""

    like: _Name | None = None


class StageKeys(Struct, forbid_unknown_fields=True, kw_only=True):
    """A stage, without the sizes of its formula."""

    work: Work | None = None
    bytes: Bytes | None = None
    intensity: Intensity | None = None
    formula: Formula | None = None
    sdp: Literal["grid", "ifft", "deconvolve", "fft", "degrid"] | None = None
    measurement: int | _Name | None = None
    region: _Name | None = None
    function: _Name | None = None
    time: Time | None = None
    efficiency: Share | None = None
    repeat: _Number | Literal["invert", "predict", "deconvolve"] = 1.0
    output: Bytes | None = None
    kind: Literal["copy", "compute"] | None = None
    precision: Precision | None = None
    like: _Name | None = None


def sizes_of(formula: object) -> Mapping[str, inspect.Parameter]:
    """Return the sizes that a formula takes, by name; none if it is not a formula."""
    known = isinstance(formula, str) and formula in FORMULAS
    return inspect.signature(FORMULAS[str(formula)]).parameters if known else {}


def stage_keys(table: Table) -> StageKeys:
    """Return a stage, with the sizes of its formula.

    Raises
    ------
    InvalidDocument
        If it has any other key.
    """
    sizes = [
        (name, (_Name if parameter.annotation == "str" else _Number) | None, None)
        for name, parameter in sizes_of(table.values.get("formula")).items()
    ]
    kind = msgspec.defstruct(
        "Stage", sizes, bases=(StageKeys,), forbid_unknown_fields=True, kw_only=True
    )
    keys = table.take(kind)
    assert isinstance(keys, StageKeys)
    return keys


def require_kind_of_work(table: Table, key: str, written: object, precision: str) -> None:
    """Refuse a quantity in another unit of work than the precision has: a BOP is no flop.

    Parameters
    ----------
    table : Table
    key : str
        Where the quantity stands.
    written : object
        As it was written; nothing is said of what is no text.
    precision : str
        The compute resource that it is of.

    Raises
    ------
    InvalidDocument
    """
    if not isinstance(written, str):
        return
    unit, wanted = read_quantity(written)[1].partition("/")[0], RESOURCES[precision].unit
    if unit != wanted:
        raise table.wrong(
            key,
            f"{written!r} counts {unit}, but work in {precision!r} is counted in {wanted}",
            f"write it in {wanted}, or correct the precision",
        )
