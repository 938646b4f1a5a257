"""The least time of a program's own mix: its flop by the instructions that did them.

A machine's roof is the most that any mix of instructions reaches, for instance multiply-adds with
additions in vectors of the widest kind. A program executes a mix of its own, and its bound follows
from the pipes that its instructions need. The model of a core contains only these assumptions:

1. An instruction starts on one of the pipes that can execute it and keeps that pipe busy for one
   slot. Within a width, multiplications and multiply-adds can start on the same pipes M, additions
   on the pipes A, which may be others, the same, or partly the same; all take a slot equally long.
2. Divisions and square roots start on one of the pipes M, in one slot at least, and keep one
   further unit busy, the divider D, for as long as each takes.
3. Widths and precisions use the same pipes: an instruction of one leaves no room for the other.
4. A measured ceiling is the most that instructions of its kind reach.

It proves a bound. Let r be the measured rate of a kind alone, in operations per second (a
multiply-add is one here), and n the operations that a program does of it. Every slot of time T on
the pipes of a set S serves one instruction, so the slots that the program needs on S are at most
those that S has in T. All instructions of M, of A, of A and M together, and of D give

    multiplies   T >= sum over widths and precisions of
                                  n_mul / r_mul + n_fma / r_fma + (n_div + n_sqrt) / r_mul
    additions    T >= sum of  n_add / r_add
    pipes        T >= sum of  (n_add + n_mul + n_fma + n_div + n_sqrt) / u
    divider      T >= sum of  n_div / r_div + n_sqrt / r_sqrt

where u is the rate of additions and multiplications together: that of the pipes of A or M. It is
at most r_add + r_mul, since A or M are no more pipes than both counted apart. And it is measured:
of a mix with a share m of multiplications a core starts min(r_mul / m, r_add / (1 - m), u)
operations a second, so where a measured mix stays below the first two, what it reaches is u. If
that measurement fell short and another mix reached more, u is at least what the other mix reached.

Time spent on anything else, and slots left empty, only add to T. Where a kind's operation or rate
is not known, its term is left out and what remains still holds; it counts at the best rate of its
width, where that is known, or of its precision:

    best         T >= sum of  W / (most flop/s that any mix of the width reaches)

The last term is never below the machine's own roof, so the bound of a mix never lies above it.
For multiply-adds of one width the bound is their ceiling, and so it is for additions, products,
divisions and roots.

Assumption 1 holds for the cores whose pipes are published: Intel's since Haswell (multiply-adds and
products on ports 0 and 1, additions on 1, on 0 and 1, or on 1 and 5), AMD's Zen (products on two
pipes, additions on two others), Arm's Neoverse and Fujitsu's A64FX (all on the same pipes)
[1]_ [2]_ [3]_. So does assumption 2: the divider belongs to port 0, or to one pipe. Of assumption 3
Intel's 512-bit instructions are the case in doubt, since they take ports 0 and 5 where narrower
ones take 0 and 1; but while one is under way, port 1 executes no vectors [1]_. The benchmark
``benchmarks/mix.py`` measures all of it on the machine at hand.

References
----------
.. [1] Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter 2.
.. [2] AMD, Software Optimization Guide for the AMD Zen4 Microarchitecture, 57647, on its
   floating-point unit.
.. [3] Arm Neoverse V1 Core Software Optimization Guide, on its pipelines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ridgepoint.core.counts import Counts
from ridgepoint.core.machine import Machine

Kind = tuple[str, int | None, str | None]
"""Precision, vector width in bit (0: scalar), operation; None: not known. ``single`` is an
operation of which no more is known than that it is not fused."""

Mix = Mapping[Kind, float]
"""Flop by kind."""

SINGLE = "single"

MULTIPLIES, ADDITIONS, PIPES, DIVIDER, BEST = "multiplies", "additions", "pipes", "divider", "best"
_CONSTRAINTS = (MULTIPLIES, ADDITIONS, PIPES, DIVIDER, BEST)

_ALONE = {
    "mul": MULTIPLIES,
    "fma": MULTIPLIES,
    "add": ADDITIONS,
    "div": DIVIDER,
    "sqrt": DIVIDER,
}
"""What each operation keeps busy by itself."""

_SLOW = frozenset(("div", "sqrt"))
_ON_PIPES = frozenset(("add", "mul", "fma", SINGLE, None)) | _SLOW
_PER_OPERATION = {"fma": 2.0, None: 2.0}
"""Flop of one lane, at most, where it is not one."""

_TOGETHER = (("mul+add", 1 / 2, 1.0), ("fma+add", 1 / 2, 3 / 2), ("fma+add", 2 / 3, 5 / 3))
"""Ceilings of multiplications beside additions: name, share of the multiplications, and flop of one
operation. Multiply-adds are tried in two ratios, and neither reaches more than the ceiling."""

_TILES = "amx"
"""The ceiling of products of tiles, whose registers are wider than any vector."""
_WIDEST_VECTOR = 512

# This share of a limit or more counts as reaching it: medians differ by a few per cent.
_AT = 0.95
_LEAST_NAMED = 0.01
"""Of the flop: below it what is not known of a kind changes no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixBound:
    """The least time that a machine needs for flop done by certain instructions.

    Parameters
    ----------
    constraints_s : mapping of str to float
        Seconds that each set of pipes needs: ``multiplies``, ``additions``, ``pipes`` (both
        together), ``divider``; and ``best``, which ignores the kinds of operations.
    shares : mapping of str to mapping of Kind to float
        For each constraint, the share of its seconds that each kind takes.
    unknown : tuple of str
        Quantities that were not known, and were therefore left out of all but ``best``.
    """

    constraints_s: Mapping[str, float]
    shares: Mapping[str, Mapping[Kind, float]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def time_s(self) -> float:
        """The lower bound of the time, in seconds."""
        return max(self.constraints_s.values())

    @property
    def binding(self) -> str:
        """The constraint with the most time; of equal ones the first."""
        return max(self.constraints_s, key=lambda name: self.constraints_s[name])


def mix_of(counts: Counts) -> Mix:
    """Return the counted flop of every kind."""
    mix: dict[Kind, float] = {}
    for flop_count in counts.flop:
        operation = flop_count.operation
        if operation is None and flop_count.fma is not None:
            operation = "fma" if flop_count.fma else SINGLE
        kind = flop_count.precision, flop_count.width_bits, operation
        if flop_count.flop:
            mix[kind] = mix.get(kind, 0.0) + float(flop_count.flop)
    return mix


def mix_bound(mix: Mix, machine: Machine, *, cores: float | None = None) -> MixBound | None:
    """Bound the time of a mix of instructions on a machine from below.

    Parameters
    ----------
    mix : Mix
        Flop by kind of instruction.
    machine : Machine
    cores : float or None
        Cores kept busy; None: all.

    Returns
    -------
    MixBound or None
        None: the machine has no ceiling for any of the precisions.

    Notes
    -----
    The bound and its proof are in the description of this module.

    Examples
    --------
    >>> from ridgepoint.core.estimate import Estimate
    >>> from ridgepoint.core.machine import Ceiling, Host
    >>> bench = Machine(
    ...     name="two pipes multiply, one of them adds, at 1 GHz",
    ...     host=Host(
    ...         cpu="", microarchitecture=None, cores=1, frequency_hz=1e9, virtualized=None
    ...     ),
    ...     caches=(),
    ...     ceilings=tuple(
    ...         Ceiling(
    ...             resource="fp64", name=name, threads=1, unit="flop/s", rate=Estimate([rate])
    ...         )
    ...         for name, rate in (("fma scalar", 4e9), ("add scalar", 1e9), ("mul scalar", 2e9))
    ...     ),
    ... )
    >>> mix_bound({("fp64", 0, "fma"): 4e9, ("fp64", 0, "add"): 3e9}, bench).constraints_s
    {'multiplies': 1.0, 'additions': 3.0, 'pipes': 1.666..., 'best': 1.75}
    """
    sums: dict[str, dict[Kind, float]] = {}
    unknown: dict[str, float] = {}
    known: dict[tuple[str, int | None], _Rates] = {}
    done = {kind: flop for kind, flop in mix.items() if flop}
    for kind, flop in done.items():
        precision, width_bits, operation = kind
        if not machine.knows(precision):
            _note(unknown, f"the machine has no {precision} ceiling", flop)
            continue
        if (precision, width_bits) not in known:
            known[precision, width_bits] = _Rates.of(machine, precision, width_bits, cores)
        rates = known[precision, width_bits]
        for name, rate in rates.serving(operation):
            sums.setdefault(name, {})[kind] = flop / rate
        if (gap := rates.gap(operation)) is not None:
            _note(unknown, gap, flop)
    if not sums:
        return None
    total = sum(mix.values())
    named = (n for n, flop in unknown.items() if flop >= _LEAST_NAMED * total)
    return MixBound(
        constraints_s={name: sum(sums[name].values()) for name in _CONSTRAINTS if name in sums},
        shares={
            name: {kind: part / sum(parts.values()) for kind, part in parts.items()}
            for name, parts in sums.items()
        },
        unknown=tuple(
            f"{name} ({100 * unknown[name] / total:.3g} % of the flop)" for name in named
        ),
    )


def _note(unknown: dict[str, float], what: str, flop: float) -> None:
    unknown[what] = unknown.get(what, 0.0) + flop


def rates_of(
    machine: Machine, precision: str, width_bits: int, *, cores: float | None
) -> dict[str, float]:
    """Return the rates of the ceilings of one precision and width, flop/s, by operation."""
    width = f" {width_bits}-bit" if width_bits else " scalar"
    named: dict[str, list[str]] = {}
    for ceiling in machine.ceilings:
        if ceiling.resource != precision:
            continue
        if ceiling.name.endswith(width):
            named.setdefault(ceiling.name.removesuffix(width), []).append(ceiling.name)
        elif ceiling.name == _TILES and width_bits > _WIDEST_VECTOR:
            named.setdefault("dot", []).append(ceiling.name)
    rates = {}
    for operation, own in named.items():
        if machine.knows(precision, patterns=own):
            rates[operation] = float(machine.rate(precision, cores=cores, patterns=own))
    return rates


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """Rates of one width of one precision, flop/s.

    Parameters
    ----------
    name : str
        Precision and width, for readers.
    by : mapping of str to float
        Rates by operation; empty: none of this width is known.
    most : float
        Highest rate of the precision, with any width and mix.
    """

    name: str
    by: Mapping[str, float]
    most: float

    @classmethod
    def of(
        cls, machine: Machine, precision: str, width_bits: int | None, cores: float | None
    ) -> _Rates:
        known = width_bits is not None
        width = f" {f'{width_bits}-bit' if width_bits else 'scalar'}" if known else ""
        return cls(
            name=f"{precision}{width}",
            by={} if width_bits is None else rates_of(machine, precision, width_bits, cores=cores),
            most=float(machine.rate(precision, cores=cores)),
        )

    def serving(self, operation: str | None) -> Iterator[tuple[str, float]]:
        """Yield each constraint to which an operation contributes, with its flop/s there."""
        yield BEST, self.by["dot"] if operation == "dot" and "dot" in self.by else self._best
        if operation in _ALONE and operation in self.by:
            yield _ALONE[operation], self.by[operation]
        if operation in _SLOW and self._multiplied is not None:
            yield MULTIPLIES, self._multiplied
        if operation in _ON_PIPES and self._pipes is not None:
            yield PIPES, self._pipes * _PER_OPERATION.get(operation, 1.0)

    def gap(self, operation: str | None) -> str | None:
        """Return what is unknown about an operation's time, or None."""
        if not self.by:
            return f"the machine has no {self.name} ceilings by operation"
        if operation in {None, SINGLE}:
            return f"the operations of the {self.name} instructions are not known"
        if operation not in self.by:
            return f"the machine has no {self.name} {operation} ceiling"
        return None

    @property
    def _best(self) -> float:
        """The highest rate of any mix of this width, flop/s."""
        multiplied, pipes = self._multiplied, self._pipes
        if multiplied is None or pipes is None:
            return self.most
        # Multiply-adds on every pipe that supports them, and additions on the others.
        per_multiply = 2.0 if "fma" in self.by else 1.0
        beside = min(self.by["add"], pipes - multiplied)
        return min(max(per_multiply * multiplied + beside, *self.by.values()), self.most)

    @property
    def _multiplied(self) -> float | None:
        """Multiplications or multiply-adds per second; None: neither is known."""
        rates = {"mul": 1.0, "fma": 0.5}
        return max(
            (self.by[name] * ops for name, ops in rates.items() if name in self.by), default=None
        )

    @property
    def _pipes(self) -> float | None:
        """Additions and multiplications together, per second; None: not known."""
        add, multiplied = self.by.get("add"), self._multiplied
        if add is None or multiplied is None:
            return None
        most = add + multiplied
        for name, multiplies, flop_per_operation in _TOGETHER:
            if name in self.by:
                limit = min(multiplied / multiplies, add / (1 - multiplies))
                together = self.by[name] / flop_per_operation
                if together < _AT * limit:
                    most = min(most, together)
        # The number of operations for the flop of a mix is fixed, whatever the ratio was.
        reached = {name: flop for name, _, flop in _TOGETHER}
        least = [self.by[name] / flop for name, flop in reached.items() if name in self.by]
        return max(most, add, multiplied, *least)
