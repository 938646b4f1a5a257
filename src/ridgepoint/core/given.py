"""A program of which only figures are given: by another tool, a paper or a colleague."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ridgepoint.core.estimate import Estimate, product, quotient, total
from ridgepoint.core.fields import unknown_key
from ridgepoint.core.quantities import (
    BareIntensity,
    BasicOperations,
    ByteAmount,
    Flop,
    Performance,
    Quantity,
    Runtime,
)
from ridgepoint.core.resources import LINKS, PRECISIONS
from ridgepoint.core.uncertain import read_uncertain

_KINDS: dict[str, type[Quantity]] = {
    "W": Flop,
    "BOP": BasicOperations,
    "Q": ByteAmount,
    "Qr": ByteAmount,
    "Qw": ByteAmount,
    "network": ByteAmount,
    "remote": ByteAmount,
    "storage": ByteAmount,
    "T": Runtime,
    "P": Performance,
    "I": BareIntensity,
}
KEYS = (*_KINDS, "precision", "cores")
"""Names of the figures of a point."""

_FORM = "NAME W=2Gflop, Q=16GB, T=1.2s"
_CYCLE = "cycle"
_LARGEST = 1e30


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPoint:
    """Figures of a program, each with its interval if one is stated.

    What is not given is None, and so is what no other figures tell. Between them, `work`,
    `traffic` (or both directions) and `intensity` give an intensity.

    Parameters
    ----------
    name : str
    resource : str
        Resource that does the work: ``fp64``, ..., or ``bop``.
    work : Estimate or None
        W, flop or BOP.
    traffic : Estimate or None
        Q at DRAM in both directions, byte.
    read, write : Estimate or None
        Q_r and Q_w, byte.
    network, remote, storage : Estimate or None
        Bytes over the links of a node, by the names of `ridgepoint.core.resources.LINKS`.
    intensity : Estimate or None
        I, flop/byte or BOP/byte, where work or traffic is not given.
    runtime : Estimate or None
        T, second, or cycles (see `is_in_cycles`).
    performance : Estimate or None
        P, flop/s or BOP/s, or per cycle, where work or runtime is not given.
    is_in_cycles : bool
        Whether runtime or performance counts cycles of the clock in place of seconds.
    cores : float or None
        Cores that it kept busy; None: all.

    Raises
    ------
    ValueError
        If two figures state the same thing, or they determine no intensity; in the message, the
        text after the semicolon says what to give.
    """

    name: str
    resource: str = "fp64"
    work: Estimate | None = None
    traffic: Estimate | None = None
    read: Estimate | None = None
    write: Estimate | None = None
    network: Estimate | None = None
    remote: Estimate | None = None
    storage: Estimate | None = None
    intensity: Estimate | None = None
    runtime: Estimate | None = None
    performance: Estimate | None = None
    is_in_cycles: bool = False
    cores: float | None = None

    def __post_init__(self) -> None:
        for name, figure in self._figures.items():
            extremes = (figure.median, *(figure.interval or ()))
            if any(value and not 1 / _LARGEST <= value <= _LARGEST for value in extremes):
                raise ValueError(
                    f"{name} of {figure.median:g} is beyond any program; check its unit"
                )
        if self.traffic is not None and (self.read is not None or self.write is not None):
            raise ValueError("Q and Qr or Qw both state the traffic; give Q, or Qr and Qw")
        if (self.read is None) != (self.write is None):
            missing = "Qw" if self.write is None else "Qr"
            raise ValueError(f"{missing} is missing, so Q is not known; give it, if need be as 0")
        done, moved = self.work_done, self.bytes_moved
        if self.runtime is not None and self.performance is not None and self.work is not None:
            raise ValueError("P follows from W and T; leave out one of the three")
        if done is not None and moved is not None and self._is_given_twice:
            raise ValueError("I follows from the other figures; leave out I")
        if self.intensity is None and (done is None or moved is None):
            missing = "W" if done is None else "Q"
            raise ValueError(f"{missing} is missing, so the intensity is not known; give W and Q, "
                             "or I")  # fmt: skip
        if done is not None and done.median == 0:
            raise ValueError("without work there is no point on a roofline; give W or BOP > 0")
        if moved is not None and moved.median and moved.low == 0:
            raise ValueError("the interval of Q reaches 0, so that of the intensity has no end; "
                             "give a lower end > 0")  # fmt: skip
        if self.runtime is not None and done is None:
            raise ValueError("T tells no performance without W; give W, or P in place of T")

    @classmethod
    def of(
        cls, name: str, values: Mapping[str, str | float], *, precision: str = "fp64"
    ) -> GivenPoint:
        """Return the point that texts state.

        Parameters
        ----------
        name : str
        values : mapping of str to str
            By the names of `KEYS`; amounts with a unit or in the base unit, also as numbers, all
            with or without an uncertainty (see `ridgepoint.core.uncertain.read_uncertain`).
        precision : str
            That of the work, where none is given.

        Raises
        ------
        ValueError
            If a text is wrong, or the figures do not fit together; in the message, the text after
            the semicolon says what to write.

        Examples
        --------
        >>> daxpy = GivenPoint.of("daxpy", {"W": 2e9, "Q": "16 GB", "T": "1.2 s±5%"})
        >>> daxpy.intensity_at_dram.median, daxpy.runtime.interval
        (0.125, (1.14, 1.26))
        """
        if not name:
            raise ValueError(f"it has no name; write {_FORM}")
        if unknown := [key for key in values if key not in KEYS]:
            raise ValueError(unknown_key(unknown[0], KEYS))
        if "W" in values and "BOP" in values:
            raise ValueError("W and BOP both state the work; give one of them")
        texts = {
            key: value if isinstance(value, str) else repr(float(value))
            for key, value in values.items()
        }
        figures, units = _figures(texts)
        cores = texts.get("cores")
        return cls(
            name=name,
            resource=_resource(texts, units, precision),
            work=figures.get("W", figures.get("BOP")),
            traffic=figures.get("Q"),
            read=figures.get("Qr"),
            write=figures.get("Qw"),
            **{link: figures.get(link) for link in LINKS},
            intensity=figures.get("I"),
            runtime=figures.get("T"),
            performance=figures.get("P"),
            is_in_cycles=_is_in_cycles(units),
            cores=None if cores is None else _cores(cores),
        )

    @property
    def is_uncertain(self) -> bool:
        """Whether any figure has an interval."""
        return any(figure.interval is not None for figure in self._figures.values())

    @property
    def _figures(self) -> dict[str, Estimate]:
        """The figures that are given, by their keys."""
        figures = {
            "BOP" if self.resource == "bop" else "W": self.work,
            **{"Q": self.traffic, "Qr": self.read, "Qw": self.write},
            **{link: getattr(self, link) for link in LINKS},
            **{"I": self.intensity, "T": self.runtime, "P": self.performance},
        }
        return {name: figure for name, figure in figures.items() if figure is not None}

    @property
    def bytes_moved(self) -> Estimate | None:
        """Q as given, or Q_r + Q_w; None: not given."""
        if self.read is not None and self.write is not None:
            return total(self.read, self.write)
        return self.traffic

    @property
    def work_done(self) -> Estimate | None:
        """W as given, or P T, or I Q; None: none is known, and figures are relative to the work."""
        if self.work is not None:
            return self.work
        if self.performance is not None and self.runtime is not None:
            return product(self.performance, self.runtime)
        if self.intensity is None or self.bytes_moved is None:
            return None
        return product(self.intensity, self.bytes_moved)

    @property
    def _is_given_twice(self) -> bool:
        """Whether the intensity is given, though work and bytes already tell it."""
        is_known = self.performance is not None and self.runtime is not None
        return self.intensity is not None and (self.work is not None or is_known)

    @property
    def intensity_at_dram(self) -> Estimate | None:
        """I as given, or W/Q; None: no byte was moved, so it is infinite."""
        if self.intensity is not None:
            return self.intensity
        work, moved = self.work_done, self.bytes_moved
        assert work is not None  # checked at the beginning
        assert moved is not None
        return None if not moved.median else quotient(work, moved)


def _figures(values: Mapping[str, str]) -> tuple[dict[str, Estimate], dict[str, str]]:
    """Return the figures and their base units."""
    figures, units = {}, {}
    for key, kind in _KINDS.items():
        if key in values:
            try:
                figures[key], units[key] = read_uncertain(values[key], kind)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from error
    return figures, units


def _resource(values: Mapping[str, str], units: Mapping[str, str], precision: str) -> str:
    """Return the resource of the work, as units and precision tell."""
    stated = {key: unit.partition("/")[0] for key, unit in units.items() if key in ("P", "I")}
    works = {work for work in stated.values() if work}
    if "W" in values:
        works.add("flop")
    if "BOP" in values:
        works.add("BOP")
    if len(works) > 1:
        raise ValueError(f"its work is in {' and in '.join(sorted(works))}; give one of them")
    named = values.get("precision", precision)
    if works == {"BOP"} or (not works and named == "bop"):
        if "precision" in values:
            raise ValueError("basic operations have no precision; leave out precision")
        return "bop"
    named = "fp64" if named == "bop" else named
    if named not in PRECISIONS:
        raise ValueError(f"there is no precision {named!r}; use {', '.join(PRECISIONS)}")
    return named


def _is_in_cycles(units: Mapping[str, str]) -> bool:
    stated = {key: _CYCLE in unit for key, unit in units.items() if key in ("T", "P")}
    if len(set(stated.values())) > 1:
        raise ValueError("one of T and P is in seconds, the other in cycles; use one of the two")
    return True in stated.values()


def _cores(text: str) -> float:
    try:
        cores = float(text)
    except ValueError:
        cores = 0.0
    if not 0 < cores < float("inf"):
        raise ValueError(f"cores: {text!r} is not a number > 0; write it like cores=1")
    return cores
