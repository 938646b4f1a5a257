"""Calls of functions of arrays as they come: counted, timed, and described without their data."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import Call, Operator, Tensor
from ridgepoint.demands.operators import asked_of
from ridgepoint.demands.operators.numpy.elementwise import COSTS, POWERS
from ridgepoint.profiling.operators.checking import Maker

_NAMES = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_ITEM_BYTES = {"bool": 1, "complex64": 8, "complex128": 16, "fp64": 8, "fp32": 4, "fp16": 2}
_DEPTH = 2  # of lists in arguments; what is deeper is named by its type alone
_HOST = 1  # the host's memory in DLPack

Key = tuple[object, ...]
Values = Literal["none", "whole", "all"]
_KEPT: Mapping[Values, tuple[type, ...]] = {
    "none": (bool, str, type(None)),
    "whole": (bool, str, type(None), int),
    "all": (bool, str, type(None), int, float),
}


class Recording:
    """Aggregates calls by the function that makes them, their arguments and results.

    Notes
    -----
    Numbers among the arguments of arithmetic count by their types, since their values change no
    work; whole numbers are kept, since they can be axes and sizes.

    Parameters
    ----------
    keeps : bool
        Whether the arguments of the first of equal calls are kept, to make it again.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self.run_s: list[float] = []
        self.unseen_shares: list[float] = []
        self._inside_s = self._noting_s = 0.0
        self._keeps = keeps
        self._found: dict[Key, _Found] = {}
        self._path = threading.local()

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        """Record one run of the program."""
        for found in self._found.values():
            found.begin()
        self._inside_s = self._noting_s = 0.0
        begun = perf_counter()
        yield
        run_s = perf_counter() - begun
        self.run_s.append(run_s)
        self.unseen_shares.append(1 - self._inside_s / (run_s - self._noting_s))
        for found in self._found.values():
            found.end()

    @property
    def calls(self) -> int:
        """Number of calls recorded so far."""
        return sum(found.calls + found.calls_now for found in self._found.values())

    @property
    def path(self) -> tuple[str, ...]:
        """Names of the functions around what is called now, outermost first."""
        return getattr(self._path, "names", ())

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Record calls as those of a function."""
        outer = self.path
        self._path.names = (*outer, name)
        try:
            yield
        finally:
            self._path.names = outer

    def call(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        *,
        elements: int | None = None,
    ) -> Any:
        """Call a function of plain arrays, and note the call.

        Parameters
        ----------
        name : str
            Name of the operator.
        function : callable
        arguments : tuple
        options : mapping of str to object
        elements : int or None
            Number of elements that an index names, where that is not seen in the result.
        """
        begun = perf_counter()
        result = function(*arguments, **options)
        ended = perf_counter()
        time_s = ended - begun
        self._note(name, arguments, options, result, time_s=time_s, elements=elements)
        self._inside_s += time_s
        self._noting_s += perf_counter() - ended
        return result

    def _note(
        self,
        name: str,
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        result: Any,
        *,
        time_s: float,
        elements: int | None,
    ) -> None:
        described = _Described(values=_values(name))
        given = tuple(described.value(one) for one in arguments)
        named = {key: described.value(one) for key, one in options.items() if one is not None}
        if elements is not None:
            named["elements"] = elements
        call = Call(
            name=name,
            arguments=given,
            options=named,
            outputs=tuple(described.arrays(result)),
            overload="out" if "out" in named else "",
        )
        path = ".".join(self.path)
        key = path, name, given, tuple(named.items()), call.outputs, call.sharing
        found = self._found.get(key)
        if found is None:
            given_again = partial(_dense, arguments, options) if self._keeps else None
            found = self._found[key] = _Found(call, path, given_again)
        found.calls_now += 1
        found.now_s += time_s

    def operators(self) -> tuple[Operator, ...]:
        """Return what was called, in the order of first calls."""
        return tuple(found.operator(len(self.run_s)) for found in self._found.values())

    def makers(self) -> tuple[Maker | None, ...]:
        """Return what gives each operator's arguments again, in their order; None: not kept."""
        return tuple(found.maker for found in self._found.values())

    def cautions(self) -> Iterator[Caution]:
        """Yield what is doubtful: whether runs differed."""
        runs, found = len(self.run_s), self._found.values()
        varying = sum(not one.is_alike(runs) for one in found)
        if varying:
            yield Caution(
                "work-varies",
                f"{varying} of {len(found)} operators were not called equally often in all {runs} "
                "runs: the program changes its work, or its shapes, from run to run",
                "give it the same data and state every time; the calls are those of the first run "
                "that made them",
            )


@dataclass(slots=True)
class _Found:
    """Calls that are alike."""

    call: Call
    path: str
    maker: Maker | None = None
    calls: int = 0
    calls_now: int = 0
    now_s: float = 0.0
    runs_s: list[float] = field(default_factory=list)

    def begin(self) -> None:
        self.calls_now, self.now_s = 0, 0.0

    def end(self) -> None:
        self.calls = self.calls or self.calls_now
        if self.calls_now == self.calls:
            self.runs_s.append(self.now_s)
        self.calls_now = 0

    def is_alike(self, runs: int) -> bool:
        """Return whether it was called equally often in every run."""
        return len(self.runs_s) == runs

    def operator(self, runs: int) -> Operator:
        return Operator(
            call=self.call,
            module=self.path,
            phase="forward",
            asked=asked_of(self.call),
            calls=self.calls,
            time_s=Estimate(self.runs_s) if self.is_alike(runs) else None,
        )


def _dense(
    arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Return arguments whose copies have the same layout in memory.

    Raises
    ------
    ValueError
        If one is an array with gaps.
    """
    for one in (*arguments, *options.values()):
        if isinstance(one, np.ndarray) and not (one.flags.c_contiguous or one.flags.f_contiguous):
            raise ValueError("one is an array with gaps, and a copy of it would have none")
    return arguments, options


def _named(value: Any) -> str:
    """Return a name for what is neither array nor number."""
    if isinstance(value, slice):
        return "slice"
    if isinstance(value, np.dtype | type):
        return type_name(value)
    return str(getattr(value, "__name__", None) or type(value).__name__)


def _values(name: str) -> Values:
    """Return which numbers of an operator's arguments matter."""
    short = name.removeprefix("numpy.")
    if short in POWERS:
        return "all"
    return "none" if short in COSTS else "whole"


class _Described:
    """Describes the arrays of one call, and which of them share memory."""

    def __init__(self, *, values: Values) -> None:
        self._memories: dict[int, tuple[int, int, int]] = {}
        self._kept = _KEPT[values]

    def value(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, np.generic):
            return number(value)
        if isinstance(value, self._kept):
            return value
        if isinstance(value, int | float | complex):
            return number(value)
        if _is_array(value):
            return self._tensor(value)
        if isinstance(value, list | tuple) and depth < _DEPTH:
            return tuple(self.value(one, depth + 1) for one in value)
        return _named(value)

    def arrays(self, result: Any) -> Iterator[Tensor]:
        if isinstance(result, float | complex | np.generic):
            yield number(result)
        elif _is_array(result):
            yield self._tensor(result)
        elif isinstance(result, list | tuple):
            for one in result:
                yield from self.arrays(one)

    def _tensor(self, array: Any) -> Tensor:
        plain = array if isinstance(array, np.ndarray) else _as_numpy(array)
        if plain is None:
            dtype = type_name(array.dtype)
            shape = tuple(int(size) for size in array.shape)
            nbytes = math.prod(shape) * _item_bytes(dtype)
            return Tensor(shape=shape, dtype=dtype, nbytes=nbytes)
        key, start = self._memory(plain)
        stored = math.prod(
            n for n, stride in zip(plain.shape, plain.strides, strict=True) if stride
        )
        return Tensor(
            shape=plain.shape,
            dtype=type_name(plain.dtype),
            nbytes=stored * plain.itemsize if plain.size else 0,
            key=key,
            strides=None
            if plain.flags.c_contiguous
            else tuple(stride // max(plain.itemsize, 1) for stride in plain.strides),
            start=start,
        )

    def _memory(self, array: np.ndarray[Any, Any]) -> tuple[int, int]:
        """Return the number of an array's memory in this call, and where in it it begins."""
        place = array.__array_interface__["data"][0]
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        low, high = np.lib.array_utils.byte_bounds(owner)
        for key, (begin, end, first) in self._memories.items():
            if low < end and begin < high:
                self._memories[key] = min(low, begin), max(high, end), first
                return key, place - first
        key = len(self._memories) + 1
        self._memories[key] = low, high, place
        return key, 0


def number(value: object) -> Tensor:
    """Return a number as an array of one element whose value does not matter.

    A number of Python is in no memory that an operator reads.
    """
    if isinstance(value, np.generic):
        return Tensor(shape=(), dtype=type_name(value.dtype), nbytes=value.nbytes)
    dtype = "int64" if isinstance(value, int) else "fp64"
    return Tensor(shape=(), dtype="complex128" if isinstance(value, complex) else dtype, nbytes=0)


def type_name(dtype: Any) -> str:
    """Return our name of a type of NumPy or of the array API standard.

    Examples
    --------
    >>> type_name(np.dtype("f4"))
    'fp32'
    """
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = str(name).rpartition(".")[2]
    return _NAMES.get(name, name)


def _item_bytes(dtype: str) -> int:
    digits = "".join(one for one in dtype if one.isdigit())
    return _ITEM_BYTES.get(dtype) or max(int(digits or 64) // 8, 1)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (
        hasattr(value, "__array_namespace__") and not isinstance(value, type)
    )


def _as_numpy(array: Any) -> np.ndarray[Any, Any] | None:
    """Return an array of another library in the host's memory, without copying; None: cannot."""
    try:
        if array.__dlpack_device__()[0] != _HOST:
            return None
        return np.from_dlpack(array)
    except Exception:  # whatever a library raises where it cannot hand its data over
        return None
