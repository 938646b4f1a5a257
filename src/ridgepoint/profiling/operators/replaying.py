"""One call of an operator again, with the arguments that it had, in a process that counts it."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ridgepoint.core.errors import CannotMeasure

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional arguments and options of one call."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Calls an operator on given arguments; another process finds it by its name.

    Parameters
    ----------
    name : str
        As `ridgepoint.core.operators.Call` has it: ``aten.addmm``, ``numpy.matmul``.
    overload : str
        Of an operator of PyTorch; empty: ``default``.
    keeps : bool
        Whether results are kept until all calls are done, so that each call writes to memory of
        its own, as cold calls have to.
    """

    name: str
    overload: str = ""
    keeps: bool = False

    def __call__(self, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> object:
        """Return what the operator returns."""
        with _without_gradients(self.name):
            return self._function()(*arguments, **options)

    def loop(self, replicas: Sequence[Arguments]) -> Callable[[int], None]:
        """Return a loop that calls the operator on each of several replicas, so many rounds."""
        function = self._function()
        kept: list[object] = []

        def calls(rounds: int) -> None:
            with _without_gradients(self.name):
                for _ in range(rounds):
                    for arguments, options in replicas:
                        result = function(*arguments, **options)
                        if self.keeps:
                            kept.append(result)

        return calls

    def _function(self) -> Callable[..., object]:
        library, _, path = self.name.partition(".")
        try:
            if library == "numpy":
                return _of_numpy(path)
            operators = getattr(importlib.import_module("torch").ops, library)
            return getattr(getattr(operators, path), self.overload or "default")  # type: ignore[no-any-return]
        except (AttributeError, ImportError) as error:
            raise CannotMeasure(
                f"cannot count {self.name}",
                reason="no operator of this name is known in the process that counts",
                remedy="register operators of your own in a module that PyTorch imports",
            ) from error


def _of_numpy(path: str) -> Callable[..., Any]:
    """Return a function of NumPy by its name, or a method of its arrays (``getitem``).

    Universal functions of SciPy have names as if they were NumPy's.

    Raises
    ------
    AttributeError
        If there is none.
    """
    for module, name in (
        ("numpy", path),
        ("numpy", f"ndarray.{path}"),
        ("numpy", f"ndarray.__{path}__"),
        ("scipy.special", path),
    ):
        with contextlib.suppress(AttributeError, ImportError):
            owner: Any = importlib.import_module(module)
            found: Callable[..., Any] = reduce(getattr, name.split("."), owner)
            return found
    raise AttributeError(f"NumPy has no {path}")


def _without_gradients(name: str) -> contextlib.AbstractContextManager[object]:
    """Return what keeps PyTorch from recording what a gradient would need."""
    if name.startswith("numpy."):
        return contextlib.nullcontext()
    torch: Any = importlib.import_module("torch")
    context: contextlib.AbstractContextManager[object] = torch.no_grad()
    return context
