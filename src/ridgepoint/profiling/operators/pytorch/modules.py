"""Where in a program an operator of PyTorch is called: its module, and the phase of a step."""

from __future__ import annotations

import bisect
import threading
import warnings
import weakref
from typing import Any

import torch
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils.weak import WeakTensorKeyDictionary

from ridgepoint.core.operators import Phase

_ACCUMULATES = 2**64 - 1  # the sequence number of nodes that add to a parameter's gradient
_COMPILED = "_orig_mod."  # around a compiled module is another one
_HOOKED = r"Using `torch.compile\(module\)` when there are global hooks"  # ours
_MOST_CHANGES = 100_000


class Place:
    """Follows calls of modules and steps of optimizers; begins and ends with a recording.

    Parameters
    ----------
    model : torch.nn.Module or None
        Module whose path is empty; None: each outermost module begins with its class's name.

    Notes
    -----
    A node of the graph of gradients has a number, taken in the order in which a thread makes them.
    So the module in which a node was made is known from the numbers at which modules were entered
    and left, and what the node calls in the backward pass belongs to that module.
    """

    def __init__(self, model: torch.nn.Module | None = None) -> None:
        self._paths: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()
        self._parameters = WeakTensorKeyDictionary()
        self._roots: dict[str, int] = {}
        self._stack: list[str] = []
        self._stepping: int | None = None  # modules around the optimizer's step; None: outside
        self._numbers, self._at = [0], [""]
        self._thread = threading.get_ident()
        self._hooks: list[Any] = []
        if model is not None:
            self._learn(model, "")

    def begin(self) -> None:
        """Watch modules and optimizers from now on."""
        self._thread = threading.get_ident()
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.filterwarnings("ignore", message=_HOOKED)
        self._hooks = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
            register_optimizer_step_pre_hook(self._step),
            register_optimizer_step_post_hook(self._stepped),
        ]

    def end(self) -> None:
        """Watch no more."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._warnings.__exit__(None, None, None)
        self._stack.clear()
        self._stepping = None

    def now(self) -> tuple[str, Phase]:
        """Return the module that is calling, and the phase."""
        node = torch._C._current_autograd_node()
        if node is not None:
            return self._stack[-1] if self._stack else self._of_node(node), "backward"
        if self._stepping is not None and len(self._stack) <= self._stepping:
            return "", "optimizer"
        return self._stack[-1] if self._stack else "", "forward"

    def _of_node(self, node: Any) -> str:
        number = node._sequence_nr()
        if number == _ACCUMULATES:
            variable = getattr(node, "variable", None)
            return "" if variable is None else self._parameters.get(variable, "")
        return self._at[bisect.bisect_right(self._numbers, number) - 1]

    def _enter(self, module: torch.nn.Module, _inputs: object) -> None:
        if threading.get_ident() != self._thread:
            return
        path = self._paths.get(module)
        if path is None:
            path = self._new(module)
        self._stack.append(path)
        self._changed(path)

    def _leave(self, _module: object, _inputs: object, _outputs: object) -> None:
        if threading.get_ident() == self._thread and self._stack:
            self._stack.pop()
            self._changed(self._stack[-1] if self._stack else "")

    def _changed(self, path: str) -> None:
        number = torch._C._autograd._get_sequence_nr()
        if number == self._numbers[-1]:
            self._at[-1] = path
            return
        self._numbers.append(number)
        self._at.append(path)
        if len(self._numbers) > _MOST_CHANGES:  # of graphs that are long gone
            del self._numbers[: _MOST_CHANGES // 2], self._at[: _MOST_CHANGES // 2]

    def _new(self, module: torch.nn.Module) -> str:
        """Return the path of a module that was not seen before, and learn those inside."""
        name = type(module).__name__
        if self._stack:  # made by the module that calls it
            path = ".".join(part for part in (self._stack[-1], name) if part)
        else:
            self._roots[name] = self._roots.get(name, 0) + 1
            path = name if self._roots[name] == 1 else f"{name}#{self._roots[name]}"
        self._learn(module, path)
        return path

    def _learn(self, module: torch.nn.Module, path: str) -> None:
        for name, one in module.named_modules():
            own = ".".join(part for part in (path, name.replace(_COMPILED, "")) if part)
            self._paths.setdefault(one, own)
            for parameter in one.parameters(recurse=False):
                self._parameters.setdefault(parameter, own)

    def _step(self, *_: object) -> None:
        if threading.get_ident() == self._thread:
            self._stepping = len(self._stack)

    def _stepped(self, *_: object) -> None:
        if threading.get_ident() == self._thread:
            self._stepping = None
