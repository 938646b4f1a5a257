"""Whether this process is one of several that a launcher started, told without any MPI."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

# By launcher: its name, and the variables that hold the number of ranks and this one's.
_LAUNCHERS = (
    ("mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("mpirun of MVAPICH", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("mpirun of MPICH or Intel MPI", "PMI_SIZE", "PMI_RANK"),
)

# Steps that Slurm numbers from here on are not of srun: a batch script, an interactive shell.
_SLURM_SPECIAL_STEPS = 0xFFFFFF00


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """What a launcher says of this process.

    Parameters
    ----------
    launcher : str
        Its name, for messages.
    rank, size : int
    """

    launcher: str
    rank: int
    size: int


def launched(environment: Mapping[str, str] | None = None) -> Launched | None:
    """Return what launched this process as a rank of MPI, or None if nothing did.

    Parameters
    ----------
    environment : mapping of str to str or None
        None: this process's.

    Notes
    -----
    Slurm sets its variables in a batch script too, which is no rank: only in a step of `srun` do
    they count. A step of one task is no MPI job.

    Examples
    --------
    >>> launched({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2"}).rank
    2
    >>> launched({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}) is None
    True
    """
    known = os.environ if environment is None else environment
    for launcher, size_name, rank_name in _LAUNCHERS:
        size, rank = _number(known, size_name), _number(known, rank_name)
        if size is not None and rank is not None and rank < size:
            return Launched(launcher=launcher, rank=rank, size=size)
    step = _number(known, "SLURM_STEP_ID")
    size, rank = _number(known, "SLURM_STEP_NUM_TASKS"), _number(known, "SLURM_PROCID")
    if step is None or size is None or rank is None:
        return None
    if step >= _SLURM_SPECIAL_STEPS or size < 2 or rank >= size:
        return None
    return Launched(launcher="srun of Slurm", rank=rank, size=size)


def _number(known: Mapping[str, str], name: str) -> int | None:
    text = known.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() else None
