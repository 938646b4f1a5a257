"""The circumstances of a measurement: this host and this process, now."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

from ridgepoint import __version__
from ridgepoint.core.measurement import Context
from ridgepoint.host import System, hostname, kernel, usable_cpus

_TELLING_VARIABLES = (
    "GLIBC_TUNABLES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
)


def context_here() -> Context:
    """Return the circumstances of a measurement made now."""
    system = System()
    return Context(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        hostname=hostname(),
        cpu=system.cpu,
        kernel=kernel(),
        affinity=usable_cpus(),
        directory=os.getcwd(),
        versions={"ridgepoint": __version__, "python": platform.python_version()},
        environment={k: os.environ[k] for k in _TELLING_VARIABLES if k in os.environ},
        frequency_hz=system.reported_frequency_hz,
    )
