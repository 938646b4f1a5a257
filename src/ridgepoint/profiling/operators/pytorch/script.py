"""Record the operators of PyTorch from now until a script ends."""

from __future__ import annotations

import torch

from ridgepoint.core.caution import Caution
from ridgepoint.core.documents import encode
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.presenting import amount
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.operators.pytorch.compiled import compiled_graphs
from ridgepoint.profiling.operators.pytorch.recording import Recording


def begin() -> Recording:
    """Return a recording of all that this thread calls from now on."""
    recording = Recording()
    recording.__enter__()
    return recording


def end(recording: Recording) -> str:
    """Return what was recorded, as the document of a profile."""
    recording.__exit__(None, None, None)
    profile = OperatorProfile(
        program="",
        library=f"PyTorch {torch.__version__}",
        device=str(recording.device or "cpu"),
        operators=recording.operators(),
        timed=None,
        attached_s=Estimate(recording.run_s),
        threads=torch.get_num_threads(),
        context=context_here(),
        cautions=(*recording.cautions(), *_compiled()),
    )
    return encode(profile).decode()


def _compiled() -> tuple[Caution, ...]:
    """Return that kernels of ``torch.compile`` are missing, if there are any."""
    graphs = compiled_graphs()
    if not graphs:
        return ()
    return (
        Caution(
            "compiled-kernels",
            f"torch.compile compiled {amount(graphs, 'graph')} while the script ran, whose "
            "generated kernels are not among the operators: their time is outside of these",
            "profile the compiled function by itself, ridgepoint.operators(function, *inputs), "
            "which sees them, or run the script without torch.compile",
            on="time",
        ),
    )
