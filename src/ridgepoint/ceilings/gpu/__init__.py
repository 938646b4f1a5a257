"""Measure a GPU: bandwidth of its memory, peaks by precision, each with its samples.

Access to the device is behind `ridgepoint.ceilings.gpu.device.Device`; only `cupy_device`
imports CuPy, when it is asked for a device.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.ceilings.gpu import cautions
from ridgepoint.ceilings.gpu.device import Device, Facts, Prepared, Sizes
from ridgepoint.ceilings.gpu.kernels import Chain, Product, Stream
from ridgepoint.ceilings.gpu.plan import Entry, entries, sizes_for, theory
from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Host, Machine
from ridgepoint.core.notebook import shows_progress
from ridgepoint.core.resources import resource_named
from ridgepoint.core.units import format_size
from ridgepoint.core.version import release

Progress = Callable[[str, int, int], None]
"""Called with what is being done, steps done, and steps in all."""

_ROUNDS, _QUICK_ROUNDS = 25, 7
_SAMPLE_S = 0.02
_WARMING_S = 0.5
_MOST_REPEATS = 100_000


def open_device(index: int = 0) -> Device:
    """Return a GPU of this host.

    Parameters
    ----------
    index : int
        Number of the device, as CUDA counts the devices that this process may use.

    Raises
    ------
    MeterUnavailable
        If CuPy, the driver or the device is missing; the message tells which.
    """
    from ridgepoint.ceilings.gpu.cupy_device import open_cupy_device

    return open_cupy_device(index)


@dataclass(slots=True, kw_only=True)
class _Trial:
    """One ceiling during its measurement.

    Parameters
    ----------
    entry : Entry
    prepared : Prepared or None
        None: the device refused; `refusal` says why.
    repeats : int
        Repetitions in one sample.
    """

    entry: Entry
    prepared: Prepared | None
    refusal: Caution | None = None
    repeats: int = 1
    rates: list[float] = field(default_factory=list)
    clocks_hz: list[float] = field(default_factory=list)

    def take(self, device: Device) -> None:
        """Take one sample, and the clock right after it."""
        if self.prepared is None:
            return
        self.rates.append(self.prepared.work * self.repeats / self.prepared.time_s(self.repeats))
        clock_hz = device.clock_hz()
        if clock_hz is not None:
            self.clocks_hz.append(clock_hz)


@shows_progress("fraction")
def characterize_gpu(
    device: Device,
    *,
    name: str,
    progress: Progress | None = None,
    quick: bool = False,
    only: Collection[tuple[str, str]] | None = None,
) -> Machine:
    """Measure a GPU's ceilings.

    Parameters
    ----------
    device : Device
        Device, as `open_device` returns it.
    name : str
        Name of the machine, for example the host's name with the device's number.
    progress : callable or None
    quick : bool
        Whether to take fewer samples of each ceiling.
    only : collection of (str, str) or None
        Resources and names of the ceilings to measure; None: all.

    Returns
    -------
    Machine
        One "core" stands for the whole device, as in published machines of GPUs.

    Raises
    ------
    CannotMeasure
        If the device is too old, or has too little free memory.

    Notes
    -----
    Each sample is enough launches to fill about 20 ms, timed by the device's events. All
    ceilings are measured 25 times, one sample per round, so that any drift shows in every
    interval. Before that each runs for half a second.
    """
    started = time.perf_counter()
    facts = device.facts
    sizes = sizes_for(facts)
    planned = [
        entry for entry in entries(facts) if only is None or (entry.resource, entry.name) in only
    ]
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    report = progress or (lambda what, done, total: None)
    n_steps = len(planned) + rounds
    trials = []
    for number, entry in enumerate(planned):
        report(f"{entry.resource} {entry.name}", number, n_steps)
        trials.append(_ready(entry, device, sizes))
    held_before = device.held_back_s()
    for number in range(rounds):
        report(f"round {number + 1} of {rounds}", len(planned) + number, n_steps)
        for trial in trials:
            trial.take(device)
    clocks_hz = [clock for trial in trials for clock in trial.clocks_hz]
    return Machine(
        name=name,
        host=Host(
            cpu=facts.name,
            microarchitecture=facts.generation,
            cores=1,
            frequency_hz=statistics.median(clocks_hz) if clocks_hz else None,
            virtualized=None,
            memory_bytes=facts.memory_bytes,
        ),
        caches=(),
        ceilings=tuple(_ceiling(trial, facts, sizes) for trial in trials),
        cautions=(
            *cautions.of_effort(quick=quick),
            *cautions.of_clock(clocks_hz),
            *cautions.of_restraint(held_before, device.held_back_s()),
            *cautions.of_memory(facts),
            *cautions.of_partition(facts),
        ),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=time.perf_counter() - started,
        fingerprint=gpu_fingerprint(facts, quick=quick) if only is None else None,
    )


def measured_again(
    machine: Machine,
    only: Collection[tuple[str, str]],
    device: Device,
    *,
    progress: Progress | None = None,
) -> Machine:
    """Return a machine with some of its ceilings measured a second time: the faster counts.

    Parameters
    ----------
    machine : Machine
        This device, as `characterize_gpu` measured it.
    only : collection of (str, str)
        Resources and names of the ceilings to measure again.
    device, progress
        As for `characterize_gpu`.
    """
    measured = characterize_gpu(device, name=machine.name, progress=progress, only=only)
    again = {ceiling.key: ceiling for ceiling in measured.ceilings}
    faster = tuple(
        max((ceiling, again.get(ceiling.key, ceiling)), key=_median) for ceiling in machine.ceilings
    )
    return replace(machine, ceilings=faster)


def _median(ceiling: Ceiling) -> float:
    return 0.0 if ceiling.rate is None else ceiling.rate.median


def gpu_fingerprint(facts: Facts, *, quick: bool = False) -> str:
    """Return a digest of all conditions for which measured ceilings are valid."""
    parts = [
        release(__version__),
        facts.name,
        facts.identity,
        facts.multiprocessors,
        facts.memory_bytes,
        facts.software,
        facts.ecc,
    ]
    return "gpu-" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16] + "-quick" * quick


def _ready(entry: Entry, device: Device, sizes: Sizes) -> _Trial:
    """Return a warm trial with a correct result and samples that last long enough."""
    try:
        prepared = device.prepare(entry.task, sizes)
    except CannotMeasure as error:
        refusal = Caution("kernel-refused", error.reason, error.remedy)
        return _Trial(entry=entry, prepared=None, refusal=refusal)
    repeats = _calibrated(prepared)
    wrong = prepared.why_wrong()
    if wrong is not None:
        refusal = Caution(
            "result-wrong",
            f"the kernel computed a wrong result: {wrong}",
            "do not trust this device or its library; report this with the versions of both",
        )
        return _Trial(entry=entry, prepared=None, refusal=refusal)
    return _Trial(entry=entry, prepared=prepared, repeats=repeats)


def _calibrated(prepared: Prepared) -> int:
    """Return the repetitions that fill a sample, and warm the device up with them."""
    repeats, warmed_s = 1, 0.0
    while warmed_s < _WARMING_S:
        took_s = prepared.time_s(repeats)
        warmed_s += took_s
        wanted = round(repeats * _SAMPLE_S / max(took_s, _SAMPLE_S / _MOST_REPEATS))
        repeats = min(max(1, wanted), _MOST_REPEATS)
    return repeats


def _ceiling(trial: _Trial, facts: Facts, sizes: Sizes) -> Ceiling:
    entry, rate = trial.entry, Estimate(trial.rates) if trial.rates else None
    clock_hz = statistics.median(trial.clocks_hz) if trial.clocks_hz else None
    expected = None if rate is None else theory(entry, facts, clock_hz)
    shares = entry.task.shares if isinstance(entry.task, Stream) else (None, None)
    return Ceiling(
        resource=entry.resource,
        name=entry.name,
        threads=1,
        unit=f"{resource_named(entry.resource).unit}/s",
        rate=rate,
        read_share=shares[0],
        write_share=shares[1],
        theoretical=None if expected is None else expected[0],
        theory=None if expected is None else expected[1],
        cautions=_doubts(trial, rate),
        detail=_detail(entry, sizes),
        part=entry.part,
        frequency_hz=clock_hz,
    )


def _doubts(trial: _Trial, rate: Estimate | None) -> tuple[Caution, ...]:
    if rate is None:
        return () if trial.refusal is None else (trial.refusal,)
    return tuple(cautions.of_rate(rate))


def _detail(entry: Entry, sizes: Sizes) -> str:
    """Return a description of what ran."""
    match entry.task:
        case Stream():
            return f"128-bit, {format_size(sizes.buffer_bytes)} per buffer"
        case Chain():
            return "multiply-adds in registers, 8 chains per thread"
        case Product():
            return f"{entry.task.precision} by cuBLAS, {sizes.matrix} x {sizes.matrix}"
