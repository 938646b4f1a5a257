"""When Nsight Compute counts nothing, and what to tell the user then."""

from __future__ import annotations

import re

from ridgepoint.core.errors import CannotMeasure

_MISSING = re.compile(r"Failed to find metric\s+(?:regex:\^)?(\w+)")
_ERROR = re.compile(r"==ERROR== (.+)")

# Not its own failure: the measurement says what status the program had.
_OF_THE_PROGRAM = "The application returned an error code"

_KNOWN = (
    (
        "ERR_NVGPUCTRPERM",
        "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
        "run it as root, or load the driver with 'options nvidia "
        "NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d; in a container add "
        "--cap-add SYS_ADMIN",
    ),
    (
        "driver resource was unavailable",
        "another tool has the GPU's counters",
        "stop the program that monitors the GPU, such as DCGM: dcgmi profile --pause",
    ),
    (
        "connect to the CUDA driver",
        "Nsight Compute finds no NVIDIA driver",
        "check the output of nvidia-smi; in a container give it the GPU: docker run --gpus all",
    ),
    (
        "Failed to initialize the profiler",
        "this version of Nsight Compute does not match the NVIDIA driver",
        "install a version as old as the driver: 'ncu --version' and nvidia-smi print both "
        "versions",
    ),
    (
        "is not supported",
        "this version of Nsight Compute does not count on this GPU",
        "use a GPU of compute capability 7.0 or later, and a version of Nsight Compute that "
        "supports it: see 'ncu --version'",
    ),
)


def missing_metrics(log: str) -> frozenset[str]:
    """Return the metrics that this version, or this device, does not know."""
    return frozenset(_MISSING.findall(log))


def check(what: str, log: str) -> None:
    """Refuse a run that was not counted, or not to its end.

    Parameters
    ----------
    what : str
        What cannot be done then.
    log : str
        What Nsight Compute said.

    Raises
    ------
    CannotMeasure
    """
    for sign, reason, remedy in _KNOWN:
        if sign in log:
            raise CannotMeasure(what, reason=reason, remedy=remedy)
    own = [line for line in _ERROR.findall(log) if not line.startswith(_OF_THE_PROGRAM)]
    if own:
        raise CannotMeasure(
            what,
            reason=f"Nsight Compute says: {own[0].strip()}",
            remedy="check whether 'ncu' alone can profile this program",
        )
    if "No kernels were profiled" in log:
        raise no_kernels(what)


def no_kernels(what: str) -> CannotMeasure:
    """Return the error of a program that has nothing to count."""
    return CannotMeasure(
        what,
        reason="it ran no kernel on a GPU",
        remedy=(
            "check whether the program finds the GPU; count its work on the CPU with --meter engine"
        ),
    )
