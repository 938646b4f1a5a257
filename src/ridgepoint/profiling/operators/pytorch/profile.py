"""Profile the operators of a program of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ridgepoint.core.caution import Caution
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.timed import Timed
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.operators.checking import checked
from ridgepoint.profiling.operators.options import Options
from ridgepoint.profiling.operators.pytorch.clock import processor_of
from ridgepoint.profiling.operators.pytorch.events import traced
from ridgepoint.profiling.operators.pytorch.matching import times_of
from ridgepoint.profiling.operators.pytorch.program import Program
from ridgepoint.profiling.operators.pytorch.recording import Recording
from ridgepoint.profiling.operators.pytorch.survey import Survey
from ridgepoint.profiling.operators.repeating import (
    refusing_failures,
    timed_in_turn,
    warm_up,
)

_UNMATCHED = Caution(
    "calls-unmatched",
    "PyTorch's profiler was in use, or is none that is known here, or saw other calls than were "
    "recorded, or in another order, so that operators were timed around their calls from Python",
    "end other profilers; give the program the same data and state every time, if its work changes",
)


def profile(
    function: Callable[..., Any], inputs: tuple[object, ...], options: Options
) -> OperatorProfile:
    """Return the operators of ``function(*inputs)``.

    Parameters
    ----------
    function : callable
        A module or a function of PyTorch.
    inputs : tuple
    options : Options

    Raises
    ------
    CannotMeasure
        If it raises, or takes longer than the time limit.
    """
    with refusing_failures(options):
        program = Program(function, inputs, options)
    context = context_here()
    with program.unchanged():
        if not program.is_imagined:
            options.report(f"warming up {options.name}")
            warm_up(program, options)
        survey = Survey(keeps_examples=options.check)
        recording = _surveyed(program, survey, options)
        timed: Timed | None = None
        doubts: tuple[Caution, ...] = ()
        if not program.is_imagined:
            timed, doubts = _timed(program, recording, options)
        gradient_bytes = program.gradient_bytes
    device = recording.device or program.device
    operators = recording.operators()
    if options.check:
        makers = [None if one is None else one.build for one in recording.examples(survey)]
        operators, disagreements = checked(operators, makers, options, device=str(device))
        doubts += disagreements
    return OperatorProfile(
        program=options.name,
        library=f"PyTorch {torch.__version__}",
        device=str(device),
        operators=operators,
        timed=timed,
        attached_s=None if timed is None else Estimate(recording.run_s),
        threads=torch.get_num_threads(),
        context=context,
        parameter_bytes=program.parameter_bytes,
        gradient_bytes=gradient_bytes,
        outer_bytes=survey.outer_bytes,
        library_says=survey.library_says,
        processor=processor_of(device),
        cautions=(*_mode_cautions(program), *recording.cautions(), *doubts),
    )


def _surveyed(program: Program, survey: Survey, options: Options) -> Recording:
    """Return the program's calls, from a run that is not timed."""
    options.report(f"recording the operators of {options.name}")
    recording = Recording(program.model, survey=survey)
    with recording, refusing_failures(options):
        program()
    recording.survey = None
    return recording


def _timed(
    program: Program, recording: Recording, options: Options
) -> tuple[Timed, tuple[Caution, ...]]:
    """Time the program, and in turn what was recorded: by PyTorch's profiler, or from Python."""
    expected, device = recording.expected, recording.device or program.device
    recording.forget()
    is_matched = True

    def attached() -> int:
        nonlocal is_matched
        seen = traced(program, device) if is_matched else None
        times_s = None if seen is None else times_of(expected, seen[0])
        if seen is not None and times_s is not None:
            recording.add_run(times_s, seen[1])
        else:
            if is_matched:
                is_matched = False
                recording.forget()
            with recording:
                program()
        return len(recording.run_s)

    options.report(f"timing {options.name} and its operators, in turn")
    timed = timed_in_turn(program, attached, options)
    return timed, () if is_matched else (_UNMATCHED,)


def _mode_cautions(program: Program) -> tuple[Caution, ...]:
    if program.model is None or program.options.backward is not None or not program.model.training:
        return ()
    return (
        Caution(
            "training-mode",
            "the model is in training mode, without a backward pass: dropout and the statistics "
            "of batches are computed",
            "call model.eval() for inference, or ask for a backward pass: backward='sum'",
        ),
    )
