"""Time one call of an operator of PyTorch, on the host or on a device."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any, Protocol

import torch

HOSTS = ("cpu", "meta")
"""Types of devices whose work is done when a call returns."""

_MOST_PENDING = 4096


class Times(Protocol):
    """Takes the time of a call, which belongs to a run."""

    def add(self, run: int, elapsed_s: float) -> None:
        """Add a call's time to those of a run."""


class Clock:
    """Times calls: on the host by its clock, on a device by events around them.

    Notes
    -----
    A device works while the host goes on, so its times are known later: `collect` waits for them.
    Where it had nothing left to do, the time of a call on a device begins before the host has
    launched it, so that of a short call includes its launch.
    """

    def __init__(self) -> None:
        self._pending: list[tuple[Any, Any, Times, int]] = []

    def now(self, device: torch.device | None) -> Any:
        """Return this moment, of the host or in what a device has to do."""
        if device is None or device.type in HOSTS:
            return perf_counter_ns()
        event = torch.Event(device, enable_timing=True)
        event.record()
        return event

    def add(self, begun: Any, ended: Any, times: Times, run: int) -> None:
        """Add the time between two moments, now or once the device has finished."""
        if isinstance(begun, int):
            times.add(run, (ended - begun) / 1e9)
            return
        self._pending.append((begun, ended, times, run))
        if len(self._pending) >= _MOST_PENDING:
            self.collect()

    def collect(self) -> None:
        """Wait for devices, and add the times of all calls on them."""
        for begun, ended, times, run in self._pending:
            ended.synchronize()
            times.add(run, begun.elapsed_time(ended) / 1e3)
        self._pending.clear()


def finish(device: torch.device | None) -> None:
    """Wait until a device has nothing left to do."""
    if device is not None and device.type not in HOSTS:
        torch.accelerator.synchronize(device)


def processor_of(device: torch.device) -> str:
    """Return the model name of a device; empty: the host's processor, or not known."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else ""
