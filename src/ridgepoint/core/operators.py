"""Operators of an array program: what each call is given, asks for and takes.

An operator is a call of an array library: a matrix product of PyTorch, a fused computation of XLA,
a function of NumPy. What it asks of a machine follows from the shapes and types of its arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ridgepoint.core.caution import Caution
from ridgepoint.core.demand import Demand
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Context
from ridgepoint.core.presenting import Presentable, amount, presenter, quoted
from ridgepoint.core.timed import Timed
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ridgepoint.core.machine import Machine

Phase = Literal["forward", "backward", "optimizer"]
"""Part of a training step in which an operator is called; inference is all ``forward``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An array as an operator sees it; its data are not kept.

    Parameters
    ----------
    shape : tuple of int
        Sizes of its dimensions.
    dtype : str
        Type of its elements: ``fp32``, ``bf16``, ``complex64``, ``int64``, ``bool``, ...
    nbytes : int
        Bytes of memory that its elements occupy; an element that broadcasting repeats is counted
        once.
    layout : str
        ``strided``, or the name of a format for sparse arrays.
    key : int
        The same for arrays that share memory, within one call; 0: not known. Arrays that an
        operator writes in place have the key of its input.
    strides : tuple of int or None
        Elements between neighbours along each dimension; None: not known, or without gaps.
    start : int
        Byte at which it begins in the memory of its key, from the first array of the call there.
    """

    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    layout: str = "strided"
    key: int = field(default=0, compare=False)
    strides: tuple[int, ...] | None = None
    start: int = field(default=0, compare=False)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


Plain = Tensor | str | bool | int | float | None
"""What one argument can be: arrays are described, and all else is as a document can hold it."""

Argument = Plain | tuple[Plain | tuple[Plain, ...], ...]
"""Also lists of these, and lists of lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of an operator, with its arrays described and all else as given.

    Parameters
    ----------
    name : str
        Library's name without overload: ``aten.addmm``, ``hlo.dot``, ``numpy.matmul``.
    arguments : tuple
        Positional arguments; each array is a `Tensor`, also within lists.
    options : mapping of str to object
        Arguments by name.
    outputs : tuple of Tensor
    overload : str
        ``default``, ``out``, ``Tensor``, ...; empty: none.
    """

    name: str
    arguments: tuple[Argument, ...]
    options: Mapping[str, Argument] = field(default_factory=dict)
    outputs: tuple[Tensor, ...] = ()
    overload: str = ""

    @property
    def inside(self) -> str:
        """What a compiled kernel fuses, or which function of a library it calls; empty: neither."""
        known = (self.options.get(option) for option in ("fuses", "target"))
        return next((text for text in known if isinstance(text, str) and text), "")

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Every array among the arguments, in their order, those in lists included."""
        return tuple(_tensors((*self.arguments, *self.options.values())))

    @property
    def sharing(self) -> tuple[tuple[int, int], ...]:
        """Which of its arrays share memory, and where: equal calls can differ in this.

        For each input and output, the position of the first array in the same memory, and the
        bytes between the beginnings of both. An array of unknown memory shares none.
        """
        arrays = (*self.inputs, *self.outputs)
        first: dict[int, int] = {}
        shared = []
        for at, array in enumerate(arrays):
            earliest = first.setdefault(array.key, at) if array.key else at
            shared.append((earliest, array.start - arrays[earliest].start))
        return tuple(shared)


def _tensors(values: Iterable[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one call of an operator asks for at least, by a rule; None is unknown.

    Parameters
    ----------
    kind : str
        Family of the operator: ``matrix product``, ``convolution``, ``attention``,
        ``normalisation``, ``elementwise``, ``reduction``, ``copy``, ``view``, ...
    work : mapping of str to float or None
        Operations by resource (``fp32``: flop, ``int8``: op, ...); empty: none. None: unknown.
    read_bytes, write_bytes : float or None
        Least bytes that must reach or leave the core: every distinct byte of inputs and outputs
        once. A view has 0.
    workspace_bytes : float or None
        Bytes of scratch memory that the implementation writes and reads besides; None: unknown.
    functions : float
        Evaluations of exp, log, erf, sin and the like, which are part of no `work`: how much work
        one is depends on the library.
    rule : str
        How the work was computed, in symbols of the shapes: ``2 m n k``.
    unknown : str
        Why something is not known, as a clause; empty: all is.
    """

    kind: str
    work: Mapping[str, float] | None
    read_bytes: float | None
    write_bytes: float | None
    workspace_bytes: float | None = 0.0
    functions: float = 0.0
    rule: str = ""
    unknown: str = ""

    @property
    def moved_bytes(self) -> float | None:
        """Least bytes in both directions; None: unknown."""
        if self.read_bytes is None or self.write_bytes is None:
            return None
        return self.read_bytes + self.write_bytes

    @property
    def is_known(self) -> bool:
        """Whether its work and its bytes are, so that there is a demand."""
        return not (self.work is None or self.read_bytes is None or self.write_bytes is None)

    @property
    def demand(self) -> Demand | None:
        """Work, and the least bytes as traffic at DRAM, as if no cache held any; None: unknown."""
        if self.work is None or self.read_bytes is None or self.write_bytes is None:
            return None
        return Demand({**self.work, "dram_read": self.read_bytes, "dram_write": self.write_bytes})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCall:
    """What counting the instructions of one call said, beside its rule.

    Parameters
    ----------
    state : {"warm", "cold"}
        State of the caches when the call began.
    work : mapping of str to int
        Flop by precision that the call executed.
    read_bytes, write_bytes : int or None
        Simulated traffic at DRAM; None: not known.
    meter : str
        What counted.
    """

    state: Literal["warm", "cold"]
    work: Mapping[str, int]
    read_bytes: int | None
    write_bytes: int | None
    meter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """All calls of one operator in one module with the same shapes and types.

    Parameters
    ----------
    call : Call
    module : str
        Path of the module that called it, such as ``layers.0.mlp``; empty: the outermost.
    phase : {"forward", "backward", "optimizer"}
    asked : Asked
        By one call.
    calls : int or None
        In one run of the program; None: unknown, and so is its demand.
    time_s : Estimate or None
        Seconds in all calls of one run, without operators that it calls; a sample for each run
        that was timed. None: it could not be timed.
    checked : tuple of CheckedCall
        Counts of one call; empty: not asked for.
    unchecked : str
        Why it was not counted, though that was asked for; empty: no reason.
    """

    call: Call
    module: str
    phase: Phase
    asked: Asked
    calls: int | None
    time_s: Estimate | None
    checked: tuple[CheckedCall, ...] = ()
    unchecked: str = ""

    @property
    def name(self) -> str:
        """Name of the operator: ``aten.addmm``."""
        return self.call.name

    @property
    def demand(self) -> Demand | None:
        """Demand of all its calls; None: unknown."""
        return self.of_all(self.asked.demand)

    def of_all(self, one: Demand | None) -> Demand | None:
        """Return what all its calls ask for, by what one asks for; None: unknown."""
        return None if one is None or self.calls is None else one * self.calls


def calls_of(operators: Iterable[Operator]) -> int | None:
    """Return how many calls operators have together; None: that of some is unknown."""
    calls = [operator.calls for operator in operators]
    known = [one for one in calls if one is not None]
    return sum(known) if len(known) == len(calls) else None


def shown_calls(operators: Iterable[Operator], what: str = "call") -> str:
    """Return how many calls operators have together, in words."""
    calls = [operator.calls for operator in operators]
    known = [one for one in calls if one is not None]
    if calls and not known:
        return f"an unknown number of {what}s"
    return f"{'' if len(known) == len(calls) else 'at least '}{amount(sum(known), what)}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OperatorProfile(Presentable):
    """A program's operators, with what they ask for and how long they take.

    Parameters
    ----------
    program : str
        Name of the model, function or script.
    library : str
        With its version: ``PyTorch 2.13.0``.
    device : str
        ``cpu``, ``cuda:0``, ...
    operators : tuple of Operator
        In the order of their first calls.
    timed : Timed or None
        Runs of the whole program without anything attached; None: not timed.
    attached_s : Estimate or None
        Runs with operators timed, which take longer; None: not timed.
    threads : int or None
        Threads on which one operator runs; None: unknown.
    context : Context
    parameter_bytes : float or None
        Size of all parameters (weights), byte; None: unknown.
    gradient_bytes : float or None
        Size of the gradients that a backward pass makes, byte; 0: none. None: unknown.
    outer_bytes : float or None
        Least bytes that the operators read of arrays made before the run (parameters, inputs), each
        once; None: unknown.
    library_says : mapping of str to float
        What the library's own analysis says of one run: ``flop``, ``functions`` and ``bytes``, as
        far as it says anything.
    startup_s : float or None
        Seconds of a run of a script that its work does not take: until its interpreter runs, in
        imports (also late ones), and until its process has ended. None: there is no such part.
    processor : str
        Model of the device that ran it, as a machine's host names it; empty: the context's CPU.
    cautions : tuple of Caution
    """

    program: str
    library: str
    device: str
    operators: tuple[Operator, ...]
    timed: Timed | None
    attached_s: Estimate | None
    threads: int | None
    context: Context
    parameter_bytes: float | None = None
    gradient_bytes: float | None = None
    outer_bytes: float | None = None
    library_says: Mapping[str, float] = field(default_factory=dict)
    startup_s: float | None = None
    processor: str = ""
    cautions: tuple[Caution, ...] = ()

    @property
    def headline(self) -> str:
        """Description in one line."""
        parts = [shown_calls(self.operators, "operator call")]
        if (work := self.known_work) > 0:
            parts.append(f"at least {format_si(work, 'flop')}")
        if self.timed is not None:
            parts.append(format_si(self.timed.runtime_s.median, "s"))
        if self.cautions:
            parts.append(amount(len(self.cautions), "caution"))
        return f"{quoted(self.program)}: {', '.join(parts)}"

    @property
    def device_model(self) -> str:
        """Model of the device that ran it, as a machine's host names it."""
        return self.processor or self.context.cpu

    @cached_property
    def demand(self) -> Demand:
        """Sum of the known demands, every operator's bytes at DRAM: as on a machine of no cache."""
        total = Demand({})
        for operator in self.operators:
            if (one := operator.demand) is not None:
                total = total + one
        return total

    @property
    def known_work(self) -> float:
        """Flop and op of all operators whose work is known."""
        return float(
            sum(
                operator.calls * sum(operator.asked.work.values())
                for operator in self.operators
                if operator.asked.work is not None and operator.calls is not None
            )
        )

    def summary(self, machine: Machine | None = None) -> str:
        """Return the report that the command line prints, as text.

        Parameters
        ----------
        machine : Machine or None
            Machine that bounds it; None: the machine kept of this host.
        """
        return presenter().summary(self, machine=machine)

    def plot(self, *, machine: Machine | None = None, ax: Axes | None = None) -> Figure:
        """Draw the operators on a machine's roofline; see `ridgepoint.plot`.

        Parameters
        ----------
        machine : Machine or None
            None: the machine kept of this host.
        ax : matplotlib.axes.Axes or None
            Axes of their final size to draw on; None: new ones.
        """
        return presenter().plot(self, machine=machine, ax=ax)
