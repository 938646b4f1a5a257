"""What a user asks of ``run``, for one process and for ranks alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ridgepoint.cli import common

if TYPE_CHECKING:
    from ridgepoint.cli.view_options import Viewing
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measurement import Measurement
    from ridgepoint.models.one_bandwidth import Bandwidth
    from ridgepoint.models.work import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of ``ridgepoint run``, whose help says what they mean."""

    program: tuple[str, ...] = ()
    repeat: int | None = None
    count_runs: int | None = None
    timeout_s: float | None = None
    limit_s: float | None = None
    machine_names: tuple[str, ...] = ()
    geometry: str | None = None
    what_if: tuple[str, ...] = ()
    miss_curve: bool = False
    region: str | None = None
    function: str | None = None
    all_threads: bool = False
    cold: bool = False
    cores: float | None = None
    meter_name: str | None = None
    metric: Metric | None = None
    no_traffic: bool = False
    traffic_how: str | None = None
    counts_only: bool = False
    functions: bool = False
    lines: bool = False
    operators: bool = False
    ignore_status: bool = False
    no_plot: bool = False
    bandwidths: tuple[Bandwidth, ...] = ()
    per_cycle: bool = False
    label: str | None = None
    note: str | None = None
    as_json: bool = False
    outputs: tuple[Path, ...] = ()
    archive_path: Path | None = None

    def chosen_machine(self) -> Machine | None:
        """Return the machine that bounds the program; None: this host."""
        from ridgepoint.kept.lookup import machine_of

        names = self.machine_names
        return machine_of(names[0], self.archive_path) if names else None

    def viewing(self) -> Viewing:
        """Return what of the roofline is shown.

        Raises
        ------
        RidgepointError
            If one of the other machines does not exist, is damaged, or is not a machine.
        """
        from ridgepoint.cli.view_options import Viewing, other_machines

        return Viewing(
            others=other_machines(self.machine_names, self.archive_path),
            bandwidths=self.bandwidths,
            per_cycle=self.per_cycle,
        )

    def asked_of(self, measurement: Measurement, machine: Machine | None) -> Measurement:
        """Return a measurement that holds what was asked of it."""
        from ridgepoint.core.measurement import Asked
        from ridgepoint.models.work import yardstick_on

        metric = self.metric or yardstick_on(machine, measurement)
        asked = Asked(cores=self.cores, metric=metric, options=common.options_asked())
        return replace(measurement, asked=asked)
