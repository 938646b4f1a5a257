"""What starts the ranks: mpirun, srun, or what a user names."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import CannotStart, reason_of
from ridgepoint.host.process import ask

_PLACE = "{ranks}"
_VERSION_LIMIT_S = 20.0
_OPEN_MPI = "Open MPI"
# What a launcher tells its ranks; a launcher within would take itself for one of them. What users
# set for all of Open MPI (OMPI_MCA_pml, PRTE_MCA_plm, ...) stays.
_OF_RANKS = (
    *("OMPI_", "PMIX_", "PMI_", "PMI2_", "PRTE_", "MPI_LOCAL", "MV2_COMM_WORLD_", "HYDI_", "OPAL_"),
    *("SLURM_STEP", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_TASK", "SLURM_GTIDS"),
)
_KEPT = ("OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "OMPI_ALLOW_", "PRTE_ALLOW_")
_NOT_A_USERS = ("OMPI_MCA_initial_wdir", "OMPI_MCA_num_procs", "OMPI_MCA_cpu_type")
_ALLOCATIONS = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """How ranks are started.

    Parameters
    ----------
    command : tuple of str
        Before what each rank executes; the program is a path.
    shown : tuple of str
        The same as a user writes it.
    name : str
        With its version.
    ranks : int
    """

    command: tuple[str, ...]
    shown: tuple[str, ...]
    name: str
    ranks: int

    @property
    def folder(self) -> str:
        """The folder of its program."""
        return str(Path(self.command[0]).parent)


def find_launcher(
    ranks: int,
    *,
    text: str | None = None,
    hosts: Mapping[str, int] | None = None,
    cores: int | None = None,
) -> Launcher:
    """Return what starts so many ranks.

    Parameters
    ----------
    ranks : int
        > 0.
    text : str or None
        A command, in which ``{ranks}`` is replaced; None: mpirun, that beside the running Python
        before that in ``PATH``.
    hosts : mapping of str to int or None
        Ranks by host, to start them as others were; None: as the launcher does by itself.
    cores : int or None
        Of this host; None: ask. Open MPI refuses more ranks, unless it is told to.

    Raises
    ------
    ValueError
        If `ranks` is not > 0.
    CannotStart
        If there is no such launcher, or it does not run.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be > 0, got {ranks!r}")
    words = ("mpirun", "-n", str(ranks)) if text is None else _words(text, ranks)
    path = _path(words[0])
    version = _version(path)
    more: list[str] = []
    if text is None and _OPEN_MPI in version:
        if hosts is not None:
            more += ["--host", ",".join(f"{host}:{count}" for host, count in hosts.items())]
        elif not any(name in os.environ for name in _ALLOCATIONS):
            known = cores if cores is not None else len(os.sched_getaffinity(0))
            if ranks > known:
                more.append("--oversubscribe")
        if os.geteuid() == 0:
            more.append("--allow-run-as-root")
    return Launcher(
        command=(path, *words[1:], *more),
        shown=words,
        name=version or Path(words[0]).name,
        ranks=ranks,
    )


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what a launcher told this process as its rank."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_OF_RANKS) or (name.startswith(_KEPT) and name not in _NOT_A_USERS)
    }


def _words(text: str, ranks: int) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CannotStart(
            f"cannot start ranks with {text!r}",
            reason=f"it is not a command ({str(error).lower()})",
            remedy="write it as in a shell: 'mpirun -n {ranks}'",
        ) from error
    if not words or not any(_PLACE in word for word in words):
        raise CannotStart(
            f"cannot start ranks with {text!r}",
            reason=f"it does not say where the number of ranks belongs ({_PLACE})",
            remedy="write, for example, 'srun -n {ranks}'",
        )
    return tuple(word.replace(_PLACE, str(ranks)) for word in words)


def _path(name: str) -> str:
    beside = Path(sys.executable).parent / name
    if name and os.sep not in name and os.access(beside, os.X_OK):
        return str(beside)
    path = shutil.which(name)
    if path is None:
        raise CannotStart(
            "cannot start ranks",
            reason=f"there is no {name!r} beside {sys.executable} or in PATH",
            remedy="load the cluster's MPI, pip install 'ridgepoint[mpi]', or name a launcher: "
            "--launcher 'srun -n {ranks}'",
        )
    return os.path.abspath(path)


def _version(path: str) -> str:
    """Return what a launcher says of itself; empty: nothing."""
    try:
        answer = ask(
            [path, "--version"],
            limit_s=_VERSION_LIMIT_S,
            environment=clean_environment(os.environ),
        )
    except OSError as error:
        raise CannotStart(
            f"cannot start ranks with {path}",
            reason=reason_of(error),
            remedy="check whether it runs by itself",
        ) from error
    if answer.status:
        return ""
    lines: Sequence[str] = [line.strip() for line in answer.output.splitlines() if line.strip()]
    numbers = [line.split()[-1] for line in lines if line.startswith("Version:")]
    if lines and lines[0].startswith("HYDRA") and numbers:
        return f"Hydra of MPICH {numbers[0]}"
    return lines[0] if lines else ""
