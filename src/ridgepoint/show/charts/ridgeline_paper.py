"""All figures of the Ridgeline paper, drawn to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ridgepoint.core.demand import Demand
from ridgepoint.models.ridgeline import Ridgeline
from ridgepoint.models.ridgeline.plane import planes_of
from ridgepoint.models.ridgeline.trajectories import Trajectory
from ridgepoint.show.charts.ridgeline import ridgeline_page
from ridgepoint.show.charts.ridgeline_case import case_study
from ridgepoint.show.charts.ridgeline_explained import explained
from ridgepoint.show.charts.ridgeline_surface import surfaces
from ridgepoint.show.draw_mpl import save
from ridgepoint.show.draw_surface import save as save_surface

_FIRST_BATCH = 256
"""From which on the paper's Fig. 6 shows the case study."""
_LEAST = 3


def save_all(
    ridgeline: Ridgeline,
    trajectories: Sequence[Trajectory],
    notes: Sequence[str],
    folder: Path,
) -> None:
    """Write Figs. 1, 2a to 2e, 3, 4a to 4c, 6a, 6b and 6, and what the paper only describes.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : sequence of Trajectory
        At least one; the last is the case study of Fig. 4.
    notes : sequence of str
        Notes below Fig. 6.
    folder : Path
        Files are called ``1.svg``, ``2a.svg``, ...; ``network.svg`` is the compute-network
        roofline, ``I_N.svg`` the plane over network intensity. With a ceiling of remote memory or
        of storage there are ``I_R.svg`` and ``I_S.svg`` too.
    """
    for name, surface in surfaces(ridgeline).items():
        save_surface(surface, folder / f"{name}.svg")
    last = trajectories[-1]
    for name, figure in (explained(ridgeline) | case_study(ridgeline, last)).items():
        save(figure, folder / f"{name}.svg")
    for plane in planes_of(ridgeline)[1:]:
        page = ridgeline_page(ridgeline, trajectories, notes=notes, plane=plane)
        save(page, folder / f"{plane.name}.svg")
    both = ridgeline_page(
        ridgeline, [_larger(ridgeline, trajectory) for trajectory in trajectories], notes=notes
    )
    save(both, folder / "6.svg")
    for name, chart in zip(("6a", "6b"), both.charts, strict=True):
        save(replace(both, charts=(chart,), columns=1), folder / f"{name}.svg")


def _larger(ridgeline: Ridgeline, trajectory: Trajectory) -> Trajectory:
    """Return the part shown in Fig. 6: batches from 256 on, if there are several."""
    if trajectory.variable != "batch" or trajectory.batch is None:
        return trajectory
    kept = [index for index, batch in enumerate(trajectory.batch) if batch >= _FIRST_BATCH]
    if len(kept) < _LEAST:
        return trajectory
    return replace(
        trajectory,
        labels=tuple(trajectory.labels[index] for index in kept),
        placed=ridgeline.place_demand(
            Demand(
                {
                    name: np.broadcast_to(amount, len(trajectory.batch))[kept]
                    for name, amount in trajectory.placed.bound.demand.amounts.items()
                }
            )
        ),
        batch=tuple(trajectory.batch[index] for index in kept),
        nodes=None
        if trajectory.nodes is None
        else tuple(trajectory.nodes[index] for index in kept),
    )
