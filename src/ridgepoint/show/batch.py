"""An allocation as the lines that ask a scheduler for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ridgepoint.core.presenting import amount
from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.placements import JobShare, SharingStudy
from ridgepoint.models.scaling.study import ScalingStudy
from ridgepoint.show.sharing_text import nodes_in_words
from ridgepoint.show.words import printable

Scheduler = Literal["slurm", "pbs", "lsf", "flux", "kubernetes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a scheduler is asked for.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    cores : int
        Cores of each task.
    is_spread : bool
        Whether each task needs a node of its own.
    is_alone : bool
        Whether no other job may use these nodes.
    """

    tasks: int
    cores: int
    is_spread: bool = True
    is_alone: bool = False


def batch_lines(
    study: ScalingStudy, scheduler: Scheduler = "slurm", *, only_processors: bool = False
) -> list[str]:
    """Return the lines of a job script, or a Job of Kubernetes, that ask for what was chosen.

    Parameters
    ----------
    study : ScalingStudy
        With a chosen allocation.
    scheduler : {"slurm", "pbs", "lsf", "flux", "kubernetes"}
    only_processors : bool
        Whether the model knows processors and no nodes, as the laws of speed-up do.

    Raises
    ------
    ValueError
        If nothing was chosen.

    Notes
    -----
    All but Kubernetes' are comments: schedulers read them up to the first command of a script, so
    that more of them may follow.
    """
    chosen = study.chosen
    if chosen is None:
        raise ValueError("the study must have chosen an allocation")
    title = (
        f"# at least {format_si(chosen.time_s, 's')}, "
        f"{chosen.relative_speed_up:.4g} times one core, "
        f"parallel efficiency {chosen.parallel_efficiency:.3g}"
    )
    if only_processors:
        request = Request(tasks=chosen.nodes, cores=1, is_spread=False)
    else:
        # Beside other jobs it would get only a part of the memory's bandwidth.
        scaling = study.scaling
        is_alone = chosen.cores == scaling.machine.cores and scaling.share == 1
        request = Request(tasks=chosen.nodes, cores=chosen.cores, is_alone=is_alone)
    return [title, *_ASKED[scheduler](request)]


def job_lines(study: SharingStudy, scheduler: Scheduler = "slurm") -> list[str]:
    """Return the lines that ask for each kind of job in the best placement.

    Parameters
    ----------
    study : SharingStudy
    scheduler : {"slurm", "pbs", "lsf", "flux", "kubernetes"}

    Notes
    -----
    Jobs that are alike but for what they share have the same lines, with the longest of their
    times. Documents of Kubernetes are divided by ``---``.
    """
    kinds: dict[tuple[str, int, int], list[JobShare]] = {}
    for share in study.best.shares:
        kinds.setdefault((share.name, share.cores, len(share.nodes)), []).append(share)
    lines = [f"# jobs and their cores that should meet: {nodes_in_words(study.best)}"]
    for (name, cores, nodes), shares in kinds.items():
        slowest = max(shares, key=lambda share: share.shared_s)
        lines += [
            *(["---"] if scheduler == "kubernetes" else []),
            f"# {printable(name)}, {amount(len(shares), 'job')}: at least "
            f"{format_si(slowest.shared_s, 's')}, {slowest.slowdown:.3g} times as long as alone",
            *_ASKED[scheduler](Request(tasks=nodes, cores=cores)),
        ]
    return lines


def _slurm(request: Request) -> list[str]:
    """Return options of sbatch(1)."""
    if not request.is_spread:
        return [f"#SBATCH --ntasks={request.tasks}", f"#SBATCH --cpus-per-task={request.cores}"]
    lines = [
        f"#SBATCH --nodes={request.tasks}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --cpus-per-task={request.cores}",
    ]
    return [*lines, "#SBATCH --exclusive"] if request.is_alone else lines


def _pbs(request: Request) -> list[str]:
    """Return options of qsub(1B) of OpenPBS; pbs_resources(7B) has chunks and places."""
    chunk = f"{request.tasks}:ncpus={request.cores}:mpiprocs=1:ompthreads={request.cores}"
    place = f"#PBS -l place=scatter{':excl' if request.is_alone else ''}"
    return [f"#PBS -l select={chunk}", *([place] if request.is_spread else [])]


def _lsf(request: Request) -> list[str]:
    """Return options of bsub(1)."""
    spread = "span[ptile=1] " if request.is_spread else ""
    lines = [f"#BSUB -n {request.tasks}", f'#BSUB -R "{spread}affinity[core({request.cores})]"']
    return [*lines, "#BSUB -x"] if request.is_alone else lines


def _flux(request: Request) -> list[str]:
    """Return options of flux-batch(1)."""
    options = [
        *([f"--nodes={request.tasks}"] if request.is_spread else []),
        f"--nslots={request.tasks}",
        f"--cores-per-slot={request.cores}",
        *(["--exclusive"] if request.is_alone else []),
    ]
    return [f"# flux: {option}" for option in options]


def _kubernetes(request: Request) -> list[str]:
    """Return an indexed Job of batch/v1, whose program and image are left to be filled in.

    With equal requests and limits in whole CPUs, a kubelet with the static CPU policy gives each
    pod cores of its own.
    """
    spread = [
        "      affinity:",
        "        podAntiAffinity:",
        "          requiredDuringSchedulingIgnoredDuringExecution:",
        "          - topologyKey: kubernetes.io/hostname",
        "            labelSelector:",
        "              matchLabels: {app: NAME}",
    ]
    return [
        "apiVersion: batch/v1",
        "kind: Job",
        "metadata:",
        "  name: NAME",
        "spec:",
        f"  completions: {request.tasks}",
        f"  parallelism: {request.tasks}",
        "  completionMode: Indexed",
        "  template:",
        "    metadata:",
        "      labels: {app: NAME}",
        "    spec:",
        "      restartPolicy: Never",
        *(spread if request.is_spread else []),
        "      containers:",
        "      - name: NAME",
        "        image: IMAGE",
        "        resources:",
        f'          requests: {{cpu: "{request.cores}"}}',
        f'          limits: {{cpu: "{request.cores}"}}',
    ]


_ASKED: Mapping[Scheduler, Callable[[Request], Sequence[str]]] = MappingProxyType(
    {"slurm": _slurm, "pbs": _pbs, "lsf": _lsf, "flux": _flux, "kubernetes": _kubernetes}
)
