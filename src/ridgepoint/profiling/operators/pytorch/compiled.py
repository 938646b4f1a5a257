"""Kernels that ``torch.compile`` generated for the host: seen when they are called.

Compiled functions call the libraries' operators, which a recording sees, and generated kernels,
which no dispatcher sees. These are functions in modules of Python that the compiler wrote; they are
wrapped there for as long as a program is recorded or traced.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from ridgepoint.demands.operators.inductor import options_of

_KERNEL = re.compile(
    r"^(\w+) = async_compile\.cpp_pybinding\(.*?'''(.*?)^'''", re.DOTALL | re.MULTILINE
)
_SIGNATURE = re.compile(r"void\s+kernel\((.*?)\)\s*\{", re.DOTALL)
_NAME = "inductor::fused"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated kernel, in the place of an operator's function.

    Parameters
    ----------
    overload : str
        Its name, which says what it fuses: ``cpp_fused_gelu_native_layer_norm_0``.
    reads, writes : tuple of int
        Positions of the arrays that it reads and writes.
    options : mapping
        What its source says of its work.
    """

    overload: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    options: Mapping[str, str | float | None] = field(default_factory=dict, compare=False)

    is_view = False
    _schema = SimpleNamespace(name=_NAME, arguments=())

    @property
    def _overloadname(self) -> str:
        return self.overload


Call = Callable[[Kernel, tuple[Any, ...], Callable[[], Any]], Any]
"""Calls a kernel that reads these arrays; the callable returns the arrays that it wrote."""


class Kernels:
    """Wraps generated kernels between `begin` and `end`; not those that are compiled meanwhile.

    Parameters
    ----------
    call : callable
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._wrapped: list[tuple[ModuleType, str, Any]] = []

    def begin(self) -> None:
        """Wrap what is there."""
        cache = _code_cache()
        if cache is None:
            return
        for module in cache.modules:
            self._wrap(module)

    def end(self) -> None:
        """Give all kernels back."""
        for module, name, kernel in self._wrapped:
            setattr(module, name, kernel)
        self._wrapped.clear()

    def _wrap(self, module: ModuleType) -> None:
        for kernel in kernels_of(Path(module.__file__ or "").read_text()):
            function = vars(module).get(kernel.overload)
            if callable(function):
                self._wrapped.append((module, kernel.overload, function))
                setattr(module, kernel.overload, self._instead(kernel, function))

    def _instead(self, kernel: Kernel, function: Callable[..., Any]) -> Callable[..., None]:
        def called(*arguments: Any) -> None:
            def run() -> Any:
                function(*arguments)
                return [arguments[at] for at in kernel.writes]

            self._call(kernel, tuple(arguments[at] for at in kernel.reads), run)

        return called


def compiled_graphs() -> int:
    """Return how many graphs were compiled in this process so far."""
    cache = _code_cache()
    return 0 if cache is None else len(cache.modules)


def traced_call(kernel: Kernel, reads: tuple[Any, ...], run: Callable[[], Any]) -> Any:
    """Call a kernel so that PyTorch's profiler sees it."""
    record = torch.autograd._record_function_with_args_enter(_NAME, *reads)
    try:
        return run()
    finally:
        torch.autograd._record_function_with_args_exit(record)


def kernels_of(source: str) -> Iterator[Kernel]:
    """Yield the kernels that a module written by the compiler defines.

    Parameters
    ----------
    source : str
        Text of the module.

    Notes
    -----
    A pointer to constant data is read, any other is written. Of those named ``in_out_ptr`` one that
    only has another name as an output (``auto out_ptr0 = in_out_ptr0``) holds nothing before.
    """
    for found in _KERNEL.finditer(source):
        name, body = found.groups()
        signature = _SIGNATURE.search(body)
        if signature is None:
            continue
        parameters = [one.split() for one in signature[1].split(",")]
        pointers = [at for at, one in enumerate(parameters) if "*" in "".join(one[:-1])]
        constant = {at for at in pointers if parameters[at][0] == "const"}
        read = [
            at
            for at in pointers
            if at in constant
            or (
                parameters[at][-1].startswith("in_out")
                and not re.search(rf"auto out_ptr\d+ = {parameters[at][-1]};", body)
            )
        ]
        yield Kernel(
            overload=name,
            reads=tuple(read),
            writes=tuple(at for at in pointers if at not in constant),
            options=options_of(body),
        )


def _code_cache() -> Any:
    """Return the compiler's cache of modules; None: nothing was compiled."""
    module = sys.modules.get("torch._inductor.codecache")
    return None if module is None else module.PyCodeCache
