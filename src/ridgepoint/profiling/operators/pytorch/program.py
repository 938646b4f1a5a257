"""One run of a program of PyTorch: forward, and backward and an optimizer's step if asked for."""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.pytorch.clock import finish


class Program:
    """What is run again and again.

    Parameters
    ----------
    function : callable
        A module, or a function.
    inputs : tuple
    options : Options

    Raises
    ------
    CannotMeasure
        If the options do not fit the function.
    """

    def __init__(
        self, function: Callable[..., Any], inputs: tuple[object, ...], options: Options
    ) -> None:
        self.function, self.inputs, self.options = function, inputs, options
        self.model = function if isinstance(function, torch.nn.Module) else None
        self.given = [one for one in pytree.tree_leaves(inputs) if isinstance(one, torch.Tensor)]
        self.device = _device_of([*self._own(), *self.given])
        self.optimizer = self._optimizer()

    def __call__(self) -> None:
        """Run it once, and wait for its device."""
        if self.options.backward is None:
            with torch.no_grad() if self.model is not None else contextlib.nullcontext():
                self.function(*self.inputs)
        else:
            self._forget_gradients()
            self._loss(self.function(*self.inputs)).backward()
            if self.optimizer is not None:
                self.optimizer.step()
        finish(self.device)

    @property
    def is_imagined(self) -> bool:
        """Whether its arrays have no data, so that nothing is computed and there is no time."""
        arrays = (*self._own(), *self.given)
        return any(one.is_meta or isinstance(one, FakeTensor) for one in arrays)

    @property
    def parameter_bytes(self) -> float | None:
        """Size of all parameters; None: a function may hold any."""
        if self.model is None:
            return None
        return float(sum(one.numel() * one.element_size() for one in self.model.parameters()))

    @property
    def gradient_bytes(self) -> float | None:
        """Size of the gradients of all parameters after a run; None: unknown."""
        if self.options.backward is None:
            return 0.0 if self.model is not None else None
        if self.model is None:
            return None
        gradients = (one.grad for one in self.model.parameters())
        return float(sum(g.numel() * g.element_size() for g in gradients if g is not None))

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Give parameters, buffers, gradients and random numbers back as they were."""
        own = self._own()
        changing = [] if self.model is None else list(self.model.buffers())
        optimizer = self.optimizer
        if optimizer is not None:
            changing += [one for group in optimizer.param_groups for one in group["params"]]
        kept = [(one, one.detach().clone()) for one in changing]
        stepped = None if optimizer is None else copy.deepcopy(optimizer.state_dict())
        leaves = [one for one in (*own, *self.given) if one.is_leaf and one.requires_grad]
        gradients = [(one, one.grad) for one in leaves]
        state = torch.get_rng_state()
        try:
            yield
        finally:
            torch.set_rng_state(state)
            with torch.no_grad():
                for one, before in kept:
                    one.copy_(before)
            if optimizer is not None:
                optimizer.load_state_dict(stepped)
            for one, gradient in gradients:
                one.grad = gradient

    def _own(self) -> list[torch.Tensor]:
        if self.model is None:
            return []
        return [*self.model.parameters(), *self.model.buffers()]

    def _forget_gradients(self) -> None:
        for one in (*self._own(), *self.given):
            if one.is_leaf:
                one.grad = None

    def _loss(self, result: Any) -> Any:
        if callable(self.options.backward):
            return self.options.backward(result)
        results = [
            one
            for one in pytree.tree_leaves(result)
            if isinstance(one, torch.Tensor) and one.requires_grad
        ]
        if not results:
            raise CannotMeasure(
                self.options.what,
                reason="no result of it has a gradient",
                remedy="give inputs or parameters that require one, or leave out backward=",
            )
        return functools.reduce(operator.add, [one.sum() for one in results])

    def _optimizer(self) -> Any:
        wanted = self.options.optimizer
        if wanted is None:
            return None
        if self.options.backward is None:
            raise CannotMeasure(
                self.options.what,
                reason="an optimizer needs gradients, and no backward pass was asked for",
                remedy="give backward='sum' or a loss function",
            )
        if callable(getattr(wanted, "step", None)) and not isinstance(wanted, type):
            return wanted
        if self.model is None or not callable(wanted):
            raise CannotMeasure(
                self.options.what,
                reason=f"optimizer={wanted!r} is no optimizer",
                remedy="give one such as torch.optim.AdamW(model.parameters()), or its class "
                "for a module",
            )
        return wanted(self.model.parameters())


def _device_of(tensors: list[torch.Tensor]) -> torch.device:
    devices = [one.device for one in tensors]
    others = [device for device in devices if device.type != "cpu"]
    return (others or devices or [torch.device("cpu")])[0]
