"""The machine that bounds a program: one that nobody measured yet is measured when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.cli.progress import Progress
    from ridgepoint.cli.view_options import Viewing
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.kept.archive import Archive


class Bounding:
    """The machine that a user chose, or this host's.

    Parameters
    ----------
    archive : Archive
    chosen : Machine or None
        None: this host's.
    shown : Progress

    Attributes
    ----------
    id : int or None
    machine : Machine or None
        None: it was not measured yet.
    """

    def __init__(self, archive: Archive, chosen: Machine | None, shown: Progress) -> None:
        from ridgepoint.ceilings.this_host import machine_of_this_host_if_kept
        from ridgepoint.kept.keeping import keep_once

        self._archive, self._shown = archive, shown
        self.id: int | None = None
        self.machine: Machine | None = None
        if chosen is not None:
            self.id, self.machine = keep_once(archive, chosen), chosen
        elif (kept := machine_of_this_host_if_kept(archive)) is not None:
            self.id, self.machine = kept

    def measure(self) -> None:
        """Measure this host and keep it, unless the machine is known."""
        if self.machine is None:
            self.id, self.machine = common.machine_of_this_host(self._archive, self._shown)

    def require_cores(self, cores: float | None) -> None:
        """Refuse more cores than the machine has, or this host where it was not measured yet.

        Raises
        ------
        click.BadParameter
        """
        from ridgepoint.host import usable_cpus

        name, most = "this machine", len(usable_cpus())
        if self.machine is not None:
            name, most = self.machine.name, self.machine.cores
        if cores is not None and cores > most:
            raise click.BadParameter(f"{name} has only {most} cores", param_hint="'--cores'")

    def show(
        self,
        measurement: Measurement,
        *,
        as_json: bool,
        plot: bool,
        outputs: Sequence[Path],
        viewing: Viewing,
    ) -> None:
        """Bound a measurement as it was asked for, print it and write it to files."""
        from ridgepoint.cli.counting import show_meters
        from ridgepoint.cli.output import show_run, write_run
        from ridgepoint.models.analysis import analyse

        analysis = analyse(measurement, self.machine)
        show_run(analysis, viewing, as_json=as_json, plot=plot)
        show_meters(measurement.counted)
        write_run(analysis, outputs, viewing)
