"""Arrays of other libraries as data of a call: PyTorch's, the array API's, Python's own."""

import array
import importlib.util

import array_api_strict
import fake_torch
import numpy as np
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls import subject
from ridgepoint.profiling.calls.packing import pack

WHAT = "cannot measure 'f'"


def test_tensors_that_share_memory_share_one_copy(monkeypatch):
    """Every second byte of ten is a view: it is packed once, and a copy of it sees the other's."""
    fake_torch.install(monkeypatch)
    whole = fake_torch.tensor(range(10))
    view = fake_torch.Tensor(whole.untyped, 1, (5,), (2,))
    packed = pack(WHAT, [whole, view])
    first, second = packed.unpack()
    first.numpy()[1] = 77

    assert packed.nbytes == 10
    assert second.numpy().tolist() == [77, 3, 5, 7, 9]
    assert second.strides == (2,)
    assert whole.numpy().tolist() == list(range(10))
    assert not np.shares_memory(first.numpy(), packed.unpack()[0].numpy())


def test_parameters_of_a_module_are_data_of_a_call(monkeypatch):
    """Whether the module is called, or a method of it, or it is an argument."""
    fake_torch.install(monkeypatch)
    layer = fake_torch.Module(fake_torch.tensor([1, 2, 3]))

    for function, arguments in (
        (layer, (2,)),
        (layer.scale, (2,)),
        (fake_torch.Module.scale, (layer, 2)),
    ):
        call = subject(function, *arguments, name="f")
        assert call.arguments.nbytes == 3
        assert call.function(*call.arguments.unpack()).tolist() == [2, 4, 6]


def test_tensors_elsewhere_are_refused(monkeypatch):
    """Their data are not in the memory of the host."""
    fake_torch.install(monkeypatch)

    with pytest.raises(CannotMeasure, match=r"device .*cuda.*\.cpu\(\)"):
        pack(WHAT, [fake_torch.tensor([1], device="cuda")])


def test_arrays_of_the_array_api_come_back_as_they_were():
    """Their data lie beside the pickled bytes; each copy is another."""
    given = array_api_strict.asarray(np.arange(6.0).reshape(2, 3).T)
    packed = pack(WHAT, [given])
    first, second = packed.unpack()[0], packed.unpack()[0]
    first[0, 0] = 9.0

    assert packed.nbytes == 48
    assert type(second) is type(given)
    assert np.asarray(second).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_arrays_of_the_standard_library_are_data():
    """Two numbers of 8 byte."""
    given = array.array("d", [1.0, 2.0])
    packed = pack(WHAT, [given])

    assert packed.nbytes == 16
    assert packed.unpack() == (given,)


def test_an_array_that_does_not_give_its_data_away_is_refused():
    """As one on a GPU, which neither DLPack nor NumPy can read here."""

    class Hidden:
        def __array_namespace__(self):
            return np

        def __array__(self, *_, **__):
            raise TypeError("implicit conversion is not allowed")

    with pytest.raises(CannotMeasure, match="implicit conversion is not allowed"):
        pack(WHAT, [Hidden()])


def test_no_library_is_loaded_for_that():
    """Packing arrays of NumPy does not import PyTorch."""
    pack(WHAT, [np.arange(3.0)])

    assert "torch" not in __import__("sys").modules


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_real_tensors_come_back_as_they_were():
    """Types, gradients and memory that is shared; parameters of a layer are data too."""
    import torch

    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    layer = torch.nn.Linear(4, 2)
    given = (x, x[:, ::2], torch.ones(3, dtype=torch.bfloat16))
    packed = pack(WHAT, given)
    first, view, narrow = packed.unpack()
    with torch.no_grad():
        first.mul_(2)

    assert packed.nbytes == 48 + 6
    assert first.requires_grad
    assert torch.equal(view, first[:, ::2])
    assert torch.equal(narrow, given[2])
    assert x.sum() == 66
    assert subject(layer, x).arguments.nbytes == 48 + 32 + 8
    call = subject(layer, x)
    assert torch.equal(call.function(*call.arguments.unpack()), layer(x))
