"""What other tools state of the work of programs of PyTorch, by formulas of their own."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from operator_cases import Case, inputs_of

Stated = dict[str, float]
"""Flop by tool."""


def stated_of_case(case: Case) -> dict[str, Stated]:
    """Return what tools state of a case, forward and backward.

    fvcore states forward passes only, and multiply-adds, each of which is 2 flop.
    """
    inputs = inputs_of(case)
    forward: Stated = {}
    backward: Stated = {}
    with torch.set_grad_enabled(case.backward):
        for name, stating in (("flop_counter", _by_dispatch), ("profiler", _by_profiler)):
            with stating(forward, name):
                returned = case.function(*inputs)
            if case.backward:
                gradient = torch.randn_like(returned)
                with stating(backward, name):
                    returned.backward(gradient)
    with _silent(), contextlib.suppress(Exception):  # not installed, or it cannot trace this
        forward["fvcore"] = _by_fvcore(case)
    return {"forward": forward, "backward": backward}


@contextlib.contextmanager
def _by_dispatch(stated: Stated, name: str) -> Iterator[None]:
    counter = FlopCounterMode(display=False)
    with counter:
        yield
    stated[name] = float(counter.get_total_flops())


@contextlib.contextmanager
def _by_profiler(stated: Stated, name: str) -> Iterator[None]:
    with profile(
        activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True
    ) as profiled:
        yield
    stated[name] = float(sum(event.flops or 0 for event in profiled.key_averages()))


class _Program(torch.nn.Module):
    """A case as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        torch.no_grad(),
    ):
        warnings.simplefilter("ignore")
        yield


def _by_fvcore(case: Case) -> float:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(_Program(case.function), case.inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    analysis.tracer_warnings("none")
    return float(analysis.total())
