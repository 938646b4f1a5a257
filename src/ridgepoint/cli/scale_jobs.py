"""Several jobs on shared nodes: `ridgepoint scale --jobs FILE.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ridgepoint.cli import common
from ridgepoint.cli import scale_inputs as inputs
from ridgepoint.cli.tables import beside
from ridgepoint.core.documents import fields_of, report
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.placements import Placement, SharingStudy
from ridgepoint.models.scaling.placing import sharing_study
from ridgepoint.show.data_tables.scaling import sharing_tables

_OF_ONE_PROBLEM = (
    "case", "size", "op", "bytes", "exchanged", "messages", "share", "efficiency", "runs_file",
)  # fmt: skip
_NAMES = {"case": "CASE", "runs_file": "--fit"}
_MOST_NODES = 1024
_MOST_SHOWN = 20
"""Placements in JSON, the best first, besides the worst."""


def share_nodes(
    path: Path,
    options: Mapping[str, Any],
    *,
    as_json: bool,
    outputs: Sequence[Path],
    folder: Path | None,
) -> None:
    """Print, draw and write which jobs should share which nodes.

    Raises
    ------
    click.ClickException, RidgepointError
        If an option, the file or a job is impossible.
    """
    for name in _OF_ONE_PROBLEM:
        if options[name] is not None:
            raise click.UsageError(
                f"{_NAMES.get(name, f'--{name}')} is about a single problem, and does not apply to "
                "--jobs"
            )
    study = _study(path, options)
    if outputs or folder is not None:
        _draw(study, outputs, folder)
    with beside(lambda: sharing_tables(_fields(study))) as is_shown:
        if as_json:
            common.print_json(_fields(study))
        elif options["scheduler"] is not None and is_shown:
            from ridgepoint.show.batch import job_lines

            print("\n".join(job_lines(study, options["scheduler"])))
        elif is_shown:
            from ridgepoint.show.tables.sharing_table import sharing_table

            common.console().print(sharing_table(study))


def _study(path: Path, options: Mapping[str, Any]) -> SharingStudy:
    from ridgepoint.kept.jobs import read_jobs

    node = inputs.Node.of(options)
    precision = inputs.precision_of(options["precision"])
    if node.machine is None and options["cores"] is None:
        raise click.UsageError("--jobs needs the number of cores of a node: give --cores 8")
    cores = inputs.cores_of(options["cores"], node.machine, ())
    if len(cores) > 1 or (node.machine is not None and options["cores"] is not None):
        raise click.UsageError(
            "--cores with --jobs is the number of cores of a node without --machine; the jobs' own "
            "cores are in their file"
        )
    nodes = (1,) if options["nodes"] is None else inputs.nodes_of(options["nodes"])
    if len(nodes) > 1 or nodes[0] > _MOST_NODES:
        raise click.UsageError(f"--nodes with --jobs is one number, at most {_MOST_NODES}")

    def scaling_of(problem: Problem) -> Scaling:
        return node.scaling(problem, cores[0])

    return sharing_study(read_jobs(path, scaling_of, work=precision), nodes=nodes[0])


def _draw(study: SharingStudy, outputs: Sequence[Path], folder: Path | None) -> None:
    from ridgepoint.cli.pictures import save_picture
    from ridgepoint.show.charts.sharing import sharing_page
    from ridgepoint.show.draw_mpl import save

    page = sharing_page(study)
    save_picture(page, outputs)
    if folder is not None:
        save(page, common.made_folder(folder) / "placements.svg")


def _fields(study: SharingStudy) -> dict[str, Any]:
    scaling = study.jobs[0].scaling
    return report(
        "sharing",
        {
            "machine": {
                **fields_of(scaling.machine, "name", "cores"),
                "memory_bytes_per_s": scaling.machine.rate("dram")
                if scaling.machine.knows("dram")
                else None,
            },
            **fields_of(scaling, "network", "overlap"),
            **fields_of(study, "nodes", "compared", "is_complete"),
            "jobs": [{**fields_of(job, "name", "cores", "nodes", "count")} for job in study.jobs],
            "placements": [_placement(placement) for placement in study.placements[:_MOST_SHOWN]],
            "worst": _placement(study.worst),
        },
    )


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        **fields_of(placement, "throughput", "mean_slowdown", "largest_slowdown"),
        "jobs": [
            {
                **fields_of(
                    share, "name", "cores", "nodes", "alone_s", "shared_s", "slowdown",
                    "wanted_bytes_per_s", "memory_bytes_per_s", "limiter",
                )
            }
            for share in placement.shares
        ],
        "nodes": [
            fields_of(load, "node", "cores", "memory_bytes_per_s", "memory_limit")
            for load in placement.loads
        ],
    }  # fmt: skip
