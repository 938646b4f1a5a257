"""What pickling meets in PyTorch: tensors over storages, which they may share, and modules.

The names and the shape of what ``__reduce_ex__`` returns are those of PyTorch 2.13.
"""

from types import ModuleType, SimpleNamespace

import numpy as np


class Untyped:
    """Memory."""

    def __init__(self, data, device="cpu"):
        self.data, self.device = data, SimpleNamespace(type=device)

    def data_ptr(self):
        """Return its address."""
        return self.data.ctypes.data


class TypedStorage:
    """Memory as tensors of one type see it; as PyTorch's, one is made whenever it is asked for."""

    def __init__(self, *, wrap_storage, dtype, _internal):
        self._untyped_storage, self.dtype = wrap_storage, dtype


class Tensor:
    """A view of a storage."""

    def __init__(self, untyped, offset, shape, strides):
        self.untyped, self.offset, self.shape, self.strides = untyped, offset, shape, strides

    def set_(self, untyped):
        """Become a view of all of some memory, as bytes."""
        return Tensor(untyped, 0, untyped.data.shape, (1,))

    def untyped_storage(self):
        """Return the memory."""
        return self.untyped

    def numpy(self):
        """Return it as an array that shares its memory."""
        return np.lib.stride_tricks.as_strided(
            self.untyped.data[self.offset :], self.shape, self.strides
        )

    def __reduce_ex__(self, protocol):
        typed = TypedStorage(wrap_storage=self.untyped, dtype="uint8", _internal=True)
        return _rebuild_tensor_v2, (typed, self.offset, self.shape, self.strides)


class Module:
    """A layer with parameters."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, factor):
        """Call the layer."""
        return self.scale(factor)

    def scale(self, factor):
        """Return the parameters times a number."""
        return self.weight.numpy() * factor


def _rebuild_tensor_v2(typed, offset, shape, strides):
    return Tensor(typed._untyped_storage, offset, shape, strides)


def from_numpy(array):
    """Return a tensor over an array's memory."""
    return Tensor(Untyped(array), 0, array.shape, array.strides)


def tensor(values, device="cpu"):
    """Return a tensor of bytes."""
    made = from_numpy(np.array(values, dtype=np.uint8))
    made.untyped.device.type = device
    return made


def install(monkeypatch):
    """Let it be what ``import torch`` finds; return it."""
    torch, storage, nn = (ModuleType(name) for name in ("torch", "torch.storage", "torch.nn"))
    storage.TypedStorage, nn.Module = TypedStorage, Module
    torch.storage, torch.nn, torch.from_numpy, torch.uint8 = storage, nn, from_numpy, "uint8"
    torch.empty = lambda n, dtype: Tensor(None, 0, (n,), (1,))
    for kind in (TypedStorage, Tensor):
        monkeypatch.setattr(kind, "__module__", "torch.fake")
    for module in (torch, storage, nn):
        monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
    return torch
