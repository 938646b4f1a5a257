"""Record the operators of PyTorch from now until a script ends."""

from __future__ import annotations

import torch

from ridgepoint.core.documents import encode
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.profiling.context import context_here
from ridgepoint.profiling.operators.torch_recording import Recording


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
        cautions=recording.cautions(),
    )
    return encode(profile).decode()
