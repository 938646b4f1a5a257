"""An allocation as the lines that ask Slurm for it."""

from __future__ import annotations

from ridgepoint.core.units import format_si
from ridgepoint.models.scaling.study import ScalingStudy


def slurm_lines(study: ScalingStudy, *, only_processors: bool = False) -> list[str]:
    """Return the lines of a job script that ask for what was chosen.

    Parameters
    ----------
    study : ScalingStudy
        With a chosen allocation.
    only_processors : bool
        Whether the model knows processors and no nodes, as the laws of speed-up do.

    Raises
    ------
    ValueError
        If nothing was chosen.

    Notes
    -----
    Only comments: Slurm reads ``#SBATCH`` up to the first command, so that more of them may
    follow.
    """
    chosen = study.chosen
    if chosen is None:
        raise ValueError("the study must have chosen an allocation")
    line = (
        f"# at least {format_si(chosen.time_s, 's')}, "
        f"{chosen.relative_speed_up:.4g} times one core, "
        f"parallel efficiency {chosen.parallel_efficiency:.3g}"
    )
    if only_processors:
        return [line, f"#SBATCH --ntasks={chosen.nodes}", "#SBATCH --cpus-per-task=1"]
    lines = [
        line,
        f"#SBATCH --nodes={chosen.nodes}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --cpus-per-task={chosen.cores}",
    ]
    if chosen.cores == study.scaling.machine.cores:
        # Nobody else takes part of the memory's bandwidth.
        lines.append("#SBATCH --exclusive")
    return lines
