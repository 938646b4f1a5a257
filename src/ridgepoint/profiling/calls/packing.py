"""A function and its arguments, packed: to be replicated here, and unpacked in another process."""

from __future__ import annotations

import ctypes
import io
import multiprocessing
import multiprocessing.spawn
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls.foreign_arrays import ArgumentPickler, ForeignArray

Function = Callable[..., object]

_LINE_BYTES = 64
_PAGE_BYTES = 4096
_NAME = "ridgepoint-counted"


@dataclass(frozen=True, slots=True)
class Packed:
    """Arguments of a call, as they were when they were packed.

    Parameters
    ----------
    structure : bytes
        Everything except the data of arrays.
    data : tuple of ndarray of uint8
        The data of each array; of arrays in the same memory, as one and its transpose, once.
    places : tuple of int
        Of the line in its page that each array begins in, in bytes. Copies begin at the same
        place, since arrays that all begin at one stand in each other's way.
    order : tuple of int
        Numbers of the data in the order in which the structure has them.
    """

    structure: bytes
    data: tuple[npt.NDArray[np.uint8], ...]
    places: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Size of the arrays' data, in bytes."""
        return sum(array.nbytes for array in self.data)

    @property
    def holds_zeros_only(self) -> bool:
        """Whether any array holds zeros alone, which memory and caches may treat as nothing."""
        return any(array.nbytes and not array.any() for array in self.data)

    def unpack(self) -> tuple[Any, ...]:
        """Return a copy of the arguments, each array allocated apart, beginning with a line.

        Arrays that have the same memory have so in the copy, too: what a library does can depend
        on that.
        """
        copies = [
            _copy(array, place=place) for array, place in zip(self.data, self.places, strict=True)
        ]
        buffers = [copies[number] for number in self.order]
        arguments: tuple[Any, ...] = pickle.loads(self.structure, buffers=buffers)
        return arguments


def _copy(data: npt.NDArray[np.uint8], *, place: int) -> npt.NDArray[np.uint8]:
    room = np.empty(data.nbytes + _PAGE_BYTES, dtype=np.uint8)
    start = (place - room.ctypes.data) % _PAGE_BYTES
    copy = room[start : start + data.nbytes]
    copy[:] = data
    return copy


def pack(what: str, arguments: Sequence[object]) -> Packed:
    """Return the arguments, packed.

    Raises
    ------
    CannotMeasure
        If one cannot be pickled, or is an array that is neither C- nor Fortran-contiguous: its
        copy would lie in memory differently.
    """
    for place, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray) and not _is_dense(argument):
            raise CannotMeasure(
                what,
                reason=f"argument {place} is an array with gaps, and a copy of it would have none",
                remedy="pass the whole array, and slice it inside the function",
            )
    buffers: list[pickle.PickleBuffer] = []
    structure = io.BytesIO()
    try:
        ArgumentPickler(structure, buffers.append).dump(tuple(arguments))
    except ForeignArray as error:
        raise CannotMeasure(
            what,
            reason=str(error),
            remedy="move the tensor to the host: .cpu(), or what its library offers",
        ) from error
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise CannotMeasure(
            what,
            reason=f"its arguments cannot be copied ({error})",
            remedy="pass arrays and numbers, and create everything else inside the function",
        ) from error
    arrays = [np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers]
    memories = [(array.ctypes.data, array.nbytes) for array in arrays]
    data = dict(zip(memories, arrays, strict=True))
    numbers = {memory: number for number, memory in enumerate(data)}
    return Packed(
        structure=structure.getvalue(),
        data=tuple(array.copy() for array in data.values()),
        places=tuple(start % _PAGE_BYTES // _LINE_BYTES * _LINE_BYTES for start, _ in data),
        order=tuple(numbers[memory] for memory in memories),
    )


def _is_dense(array: npt.NDArray[Any]) -> bool:
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def pack_function(what: str, function: Function) -> bytes:
    """Return a function, packed for another process.

    Notes
    -----
    A function of a module goes by name, and its module is imported there. One of the main script
    goes with its code (by cloudpickle); where that cannot be, since it uses a library loaded by
    ctypes for example, the script is imported there, as `multiprocessing` does it.

    Raises
    ------
    CannotMeasure
        If the function cannot be packed.
    """
    preparation = multiprocessing.spawn.get_preparation_data(_NAME)
    preparation.pop("authkey", None)  # secret, and of no use there
    is_main = getattr(function, "__module__", None) == "__main__"
    has_script = "init_main_from_path" in preparation or "init_main_from_name" in preparation
    reasons = []
    for by_value in (True, False) if is_main else (False, True):
        if is_main and not by_value and not has_script:
            continue
        try:
            packed = _dumps(function, by_value=by_value)
        except Exception as error:
            reasons.append(str(error))
            continue
        if not is_main or by_value:
            for key in ("init_main_from_path", "init_main_from_name"):
                preparation.pop(key, None)
        return pickle.dumps((preparation, packed))
    raise CannotMeasure(
        what,
        reason=f"it cannot be passed to the process that counts it ({'; '.join(reasons)})",
        remedy="define it at the top level of a module or script, not inside another function",
    )


def _dumps(function: Function, *, by_value: bool) -> bytes:
    if not by_value:
        return pickle.dumps(function)
    import cloudpickle

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            # It would be pickled with its handle, an address in this process.
            if isinstance(value, ctypes.CDLL):
                raise pickle.PicklingError(f"it uses {value!r}, which was loaded in this process")
            return super().reducer_override(value)

    written = io.BytesIO()
    Pickler(written).dump(function)
    return written.getvalue()


def unpack_function(packed: bytes) -> Function:
    """Return the function that `pack_function` packed, in a process that was started for it."""
    preparation, function = pickle.loads(packed)
    multiprocessing.spawn.prepare(preparation)
    unpacked: Function = pickle.loads(function)
    return unpacked
