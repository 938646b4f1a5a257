"""The file that ``ridgepoint pipeline`` reads, from measured stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.units import format_si
from ridgepoint.demands.formulas import major_cycles
from ridgepoint.suites.imaging import gridder
from ridgepoint.suites.imaging.continuum import Plan
from ridgepoint.suites.imaging.failures import CannotImage
from ridgepoint.suites.imaging.gridder import Gridding
from ridgepoint.suites.imaging.measuring import StageResult
from ridgepoint.suites.imaging.stages import Scene, measured_cycles
from ridgepoint.suites.imaging.whole import WholeRun

_ORDER = ("grid", "ifft", "msmfs", "fft", "degrid")
_LOAD = "415.10557 Tflop/s"


def executions(plan: Plan, size: int, *, minor_cycles: int | None = None) -> Mapping[str, float]:
    """Return the executions of each measured stage in the whole pipeline for an image size.

    Parameters
    ----------
    plan : Plan
    size : int
        Pixels along a side.
    minor_cycles : int or None
        Minor cycles of a run; None: as many as the plan allows.

    Notes
    -----
    An inversion or a prediction is one image for each Taylor term; the point-spread function has
    nearly twice as many. A stage of minor cycles that was measured with more of them than a run
    takes counts as the share of it.
    """
    parts, terms = major_cycles(plan.major), plan.terms
    inverted = (parts.invert - 1) * terms + 2 * terms - 1
    predicted = parts.predict * terms
    if minor_cycles is None:
        minor_cycles = parts.deconvolve * plan.minor.iterations
    minor = max(minor_cycles, 1) / measured_cycles("msmfs", size)
    return {
        "grid": inverted, "ifft": inverted, "msmfs": minor, "fft": predicted,
        "degrid": predicted,
    }  # fmt: skip


def handed_on(scene: Scene, used: Gridding, deconvolutions: float) -> Mapping[str, float]:
    """Return the bytes that one execution of each measured stage hands to the next one.

    Grids of all w-planes to the transforms, from them an image; models once in a deconvolution;
    visibilities.
    """
    image = scene.geometry.size**2 * np.dtype(np.float64).itemsize
    grids = float(used.planes * used.grid**2 * np.dtype(np.complex128).itemsize)
    models = major_cycles(scene.plan.major).deconvolve * scene.plan.terms * image
    return {
        "grid": grids, "ifft": float(image),
        "msmfs": models / deconvolutions,
        "fft": grids, "degrid": float(scene.visibilities.nbytes),
    }  # fmt: skip


def described(
    results: Sequence[StageResult],
    scene: Scene,
    *,
    machine: str,
    on_device: Gridding | None = None,
    whole: WholeRun | None = None,
) -> str:
    """Return a pipeline's file, in TOML.

    Parameters
    ----------
    results : sequence of StageResult
        Those with cold caches count, if there are: a stage finds little that the last one left.
    scene : Scene
    machine : str
        A machine's file, beside this one, or the name of a published machine.
    on_device : Gridding or None
        How a GPU gridded; nothing is counted there, so work and bytes are those of the formulas.
        None: ducc0 gridded, and both were counted.
    whole : WholeRun or None
        Runs of the whole pipeline, for the host's time and the number of minor cycles; None: the
        file has no host time, and as many minor cycles as the plan allows.

    Raises
    ------
    CannotImage
        If a stage is missing, or its time or work is not known.
    """
    states = {result.state for result in results}
    state = "cold" if "cold" in states else "warm"
    by_name = {result.name: result for result in results if result.state == state}
    plan, size = scene.plan, scene.geometry.size
    used = on_device or gridder.gridding(scene.observation, scene.geometry)
    repeats = executions(plan, size, minor_cycles=None if whole is None else whole.minor_cycles)
    output = handed_on(scene, used, repeats["msmfs"])
    assumed = "# On a GPU. Work and bytes are not counted: they are those of formulas."
    lines = [
        f"# Measured by 'ridgepoint suite imaging': {size} x {size} pixels, "
        f"{scene.observation.visibilities} visibilities, {state} caches.",
        f"# MSMFS of {plan.terms} Taylor terms, {plan.major} major cycles of "
        f"at most {plan.minor.iterations} minor cycles.",
        *([assumed] if on_device else []),
        f'name = "continuum imaging, {size} x {size}"',
        f"machine = {_quoted(machine)}",
        'precision = "fp64"',
        f"cores = {scene.geometry.threads}",
        f'load = "{_LOAD}"  # SKA1-Low DPrepA, all of it: SDP parametric model',
        *([] if whole is None else _host(whole)),
    ]
    for name in _ORDER:
        result = by_name.get(name)
        if result is not None and on_device is not None:
            result = replace(
                result, work_flop=result.expected_flop, moved_bytes=result.expected_bytes
            )
        lines += ["", *_stage(name, result, repeats[name], output[name])]
    return "\n".join(lines) + "\n"


def _host(whole: WholeRun) -> list[str]:
    """Return the lines of the host's time, with what it consists of."""
    runs = "1 run" if whole.time_s.n == 1 else f"{whole.time_s.n} runs"
    parts = ", ".join(
        f"{part.name} {format_si(part.time_s.median, 's', digits=3)}"
        for part in whole.parts
        if not part.is_stage
    )
    return [
        "",
        f"# What the stages leave of the time of the whole pipeline, "
        f"{format_si(whole.time_s.median, 's', digits=3)} from file to files ({runs}):",
        f"# {parts}.",
        f"host_time = {_time(whole.host_s)}",
    ]


def _stage(name: str, result: StageResult | None, repeat: float, output: float) -> list[str]:
    """Return the lines of a stage.

    Raises
    ------
    CannotImage
    """
    if result is None:
        raise _unknown(
            name,
            "it was not measured",
            ("give no names of stages, so that all stages are measured"),
        )
    if result.failure is not None:
        raise _unknown(name, result.failure, "measure again")
    if result.work_flop is None or result.moved_bytes is None or result.runtime_s is None:
        raise _unknown(
            name,
            "its work, traffic or time is not known, or is too small a part of that of its "
            "transforms",
            "choose a larger size, cold caches, or a quieter machine",
        )
    # If a cache holds all its data, no bytes need reach DRAM.
    kind = [] if result.moved_bytes else ['kind = "compute"']
    return [
        f"[stages.{'deconvolve' if name == 'msmfs' else name}]  # {result.summary}",
        f'work = "{result.work_flop:.6g} flop"',
        f'bytes = "{result.moved_bytes:.6g} B"',
        f"time = {_time(result.runtime_s)}",
        f"repeat = {repeat:.6g}",
        f'output = "{output:.6g} B"',
        *kind,
    ]


def _unknown(name: str, reason: str, remedy: str) -> CannotImage:
    return CannotImage(f"cannot describe stage {name!r}", reason=reason, remedy=remedy)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _time(estimate: Estimate) -> str:
    if estimate.n > 1:
        return "[" + ", ".join(f'"{seconds:.6g} s"' for seconds in estimate.samples) + "]"
    if estimate.low is None or estimate.high is None:
        return f'"{estimate.median:.6g} s"'
    ends = {"median": estimate.median, "low": estimate.low, "high": estimate.high}
    return "{ " + ", ".join(f'{name} = "{seconds:.6g} s"' for name, seconds in ends.items()) + " }"
