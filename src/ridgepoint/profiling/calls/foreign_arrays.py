"""Arrays that are not NumPy's, pickled so that their data can be replicated and counted.

NumPy's arrays hand their data over beside the pickled bytes (PEP 574). Tensors of PyTorch and
arrays of other libraries put it among them, where nobody can tell data from structure. Here they
are taken apart into NumPy's arrays and what makes the same objects of these again. No library is
imported for that: an object of one can only be there if its library is.
"""

from __future__ import annotations

import array
import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_TORCH = "torch"


class ForeignArray(Exception):
    """The data of an argument cannot be reached from here."""


class ArgumentPickler(pickle.Pickler):
    """Pickles arguments with the data of every array beside them."""

    def __init__(self, file: Any, buffer_callback: Callable[[pickle.PickleBuffer], object]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffer_callback)
        self._storages: dict[int, _Storage] = {}

    def reducer_override(self, value: Any) -> Any:
        """Return how an array of another library is made again; all else goes the usual way."""
        if isinstance(value, np.ndarray | np.generic):
            return NotImplemented
        if isinstance(value, array.array):
            return _buffer_of, (value.typecode, np.frombuffer(value, np.uint8))
        if _is_of(value, _TORCH):
            typed = sys.modules[_TORCH].storage.TypedStorage
            return self._reduced(value) if isinstance(value, typed) else NotImplemented
        namespace = getattr(value, "__array_namespace__", None)
        if namespace is None or isinstance(value, type):
            return NotImplemented
        return _array_of, (namespace().__name__, _on_host(value))

    def _reduced(self, typed: Any) -> tuple[Any, ...]:
        """Return how a storage of PyTorch is made again, once for all tensors that share it."""
        untyped = typed._untyped_storage
        if untyped.device.type != "cpu":
            raise ForeignArray(
                f"a tensor is on the device {untyped.device}, but only tensors in the memory "
                "of the host are measured"
            )
        place = untyped.data_ptr()
        if place not in self._storages:
            torch = sys.modules[_TORCH]
            self._storages[place] = _Storage(
                torch.empty(0, dtype=torch.uint8).set_(untyped).numpy()
            )
        return _typed_storage, (self._storages[place], typed.dtype)


class _Storage:
    """Memory of PyTorch that tensors share.

    Parameters
    ----------
    data : ndarray of uint8
    """

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.data = data
        self.untyped: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Storage, (self.data,)


def _typed_storage(storage: _Storage, dtype: object) -> Any:
    """Return memory as tensors of one type have it."""
    torch = importlib.import_module(_TORCH)
    if storage.untyped is None:
        storage.untyped = torch.from_numpy(storage.data).untyped_storage()
    return torch.storage.TypedStorage(wrap_storage=storage.untyped, dtype=dtype, _internal=True)


def _buffer_of(type_code: str, data: npt.NDArray[np.uint8]) -> array.array[Any]:
    return array.array(type_code, data.tobytes())


def _array_of(namespace: str, data: npt.NDArray[Any]) -> object:
    """Return an array of a library that follows the standard of array APIs."""
    return importlib.import_module(namespace).asarray(data, copy=True)


def _on_host(value: Any) -> npt.NDArray[Any]:
    """Return an array's data as NumPy's.

    Raises
    ------
    ForeignArray
        If they are not in the memory of the host.
    """
    try:
        return np.asarray(np.from_dlpack(value), order="C")
    except (AttributeError, BufferError, RuntimeError, TypeError):
        pass
    try:
        return np.asarray(value, order="C")
    except Exception as error:
        raise ForeignArray(
            f"the data of an array of {type(value).__module__} cannot be read ({error})"
        ) from error


def _is_of(value: object, library: str) -> bool:
    return library in sys.modules and type(value).__module__.partition(".")[0] == library


def with_own_data(
    function: Callable[..., object], arguments: tuple[object, ...]
) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Return a call whose arguments hold all its data.

    A module of PyTorch, or a method of one, has parameters: they are data of the call like its
    arguments, so it becomes the first of these.
    """
    owner = getattr(function, "__self__", function)
    module = getattr(sys.modules.get("torch.nn"), "Module", None)
    if module is None or not isinstance(owner, module):
        return function, arguments
    if owner is function:
        return _called, (owner, *arguments)
    return function.__func__, (owner, *arguments)  # type: ignore[attr-defined]


def _called(module: Callable[..., object], *arguments: object) -> object:
    return module(*arguments)
