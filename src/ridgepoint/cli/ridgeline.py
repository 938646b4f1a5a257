"""Say what bounds distributed programs: compute, memory or network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import QuantityType, WholeNumber
from ridgepoint.cli.ridgeline_inputs import (
    BATCHES,
    LINK_OPTIONS,
    machines_of,
    overlap_of,
    require_link,
)
from ridgepoint.cli.ridgeline_sense import require_one_kind, require_recorded, require_sense
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.core.quantities import LinkRate

if TYPE_CHECKING:
    from ridgepoint.cli.ridgeline_training import Shown, Training
    from ridgepoint.core.bound import Overlap
    from ridgepoint.core.machine import Machine
    from ridgepoint.models.work import Metric

_PRECISIONS = ("fp64", "fp32", "fp16", "bf16")


@click.command("ridgeline")
@click.option(
    "--machine",
    "machine_names",
    multiple=True,
    metavar="FILE|NAME|ID",
    shell_complete=completing.machines,
    help="The nodes' machine: a file of 'ridgepoint machine --json', a published "
    "machine, or a number or a name of 'ridgepoint list' (of a cluster: its slowest "
    "node). Repeat it for nodes that differ: the slowest bounds.  "
    "[default: cascade-lake, the paper's]",
)
@click.option(
    "--network",
    "network",
    type=QuantityType(LinkRate),
    multiple=True,
    metavar="RATE",
    help=(
        "Bandwidth of a node's link in each direction, instead of the machine's: 12GB/s, "
        "100Gbit/s. With --sweep it may be repeated."
    ),
)
@click.option(
    "--remote-memory",
    "remote",
    type=QuantityType(LinkRate),
    metavar="RATE",
    help="Bandwidth of memory outside of the node (pooled, disaggregated): a fourth resource.",
)
@click.option(
    "--storage",
    type=QuantityType(LinkRate),
    metavar="RATE",
    help="Bandwidth of a node's storage: one more resource.",
)
@click.option(
    "--layers",
    metavar="SIZES",
    help="Sizes of the perceptron, input first.  [default: 4096,4096]",
)
@click.option(
    "--model",
    metavar="NAME|FILE.toml",
    help="A published perceptron (dlrm-mlperf-top, ...), a whole recommendation model, with its "
    "embeddings (dlrm-mlperf, ...), a transformer ('ridgepoint transformer --list'), or a file of "
    "a recommendation model or a transformer.",
)
@click.option(
    "--sequence",
    type=WholeNumber(),
    metavar="N",
    help="Tokens of each sequence of a transformer; a sample is a sequence.  [default: 2048]",
)
@click.option(
    "--tensor",
    type=WholeNumber(),
    metavar="N",
    help="Devices over which each matrix of a transformer is divided; --nodes are copies of it.  "
    "[default: 1]",
)
@click.option(
    "--lookups",
    type=click.IntRange(min=1),
    help="Rows of each embedding table that a sample looks up, instead of the model's.",
)
@click.option(
    "--embeddings",
    type=click.Choice(["even", "tables"]),
    help="How embedding tables are divided over the nodes: their columns evenly, or whole tables.  "
    "[default: even]",
)
@click.option(
    "--rows-in",
    type=click.Choice(["memory", "remote"]),
    help="Where the rows of embedding tables are: in a node's memory, or in remote memory.  "
    "[default: memory]",
)
@click.option(
    "--batch",
    metavar="LIST",
    help=f"Samples on each node: 256, {BATCHES}, 1:1024.  [default: {BATCHES}]",
)
@click.option(
    "--nodes",
    metavar="LIST",
    help="Number of nodes.  [default: the limit of many nodes]",
)
@click.option("--strong", is_flag=True, help="Divide the batch over the nodes.")
@click.option(
    "--all-reduce",
    metavar="NAME",
    help="ring, tree, recursive-doubling or payload; with --sweep a list, or all.  [default: ring]",
)
@click.option(
    "--convention",
    metavar="NAME",
    help=(
        "What a step counts: footprint (the paper's), no-input-gradient, "
        "weights-and-gradients, three-gemms, forward or backward."
    ),
)
@click.option(
    "--precision",
    type=click.Choice(_PRECISIONS),
    help="Precision of the work and of a perceptron's numbers.  [default: fp32]",
)
@click.option(
    "--point",
    "points",
    multiple=True,
    metavar="'NAME W=..., Q=..., network=...'",
    help=(
        "Your own program instead of a perceptron: work W (or BOP), memory bytes Q and network "
        "bytes of a node, where needed remote and storage bytes, and its time T. Or "
        "NAME=F,B_M,B_N, and after it ',remote=BYTES' and ',storage=BYTES'. May be repeated."
    ),
)
@click.option(
    "--demand",
    "demand_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=(
        "Your own programs from a file: a table [NAME] with the keys of --point, or work, "
        "memory_bytes and network_bytes, for each; or a .csv file with a row for each."
    ),
)
@click.option(
    "--record",
    "records",
    multiple=True,
    metavar="NUMBER|NAME",
    shell_complete=completing.measurements,
    help=(
        "A kept measurement instead of a perceptron: a point for each node of a program of "
        "'ridgepoint run --mpi', or of one machine. May be repeated.  [machine: the first one's]"
    ),
)
@click.option(
    "--operators",
    "operators",
    multiple=True,
    metavar="BATCH=RECORD",
    help=(
        "The kept operators of a program (or the file of a record), and the batch with which they "
        "were recorded, instead of a perceptron: 8=NAME. Records of two batches tell what any "
        "other batch needs."
    ),
)
@click.option(
    "--fused",
    is_flag=True,
    help="With --operators: no array between two operators reaches memory, as if all were fused.",
)
@click.option(
    "--work",
    type=click.Choice(["flop", "bops", "bop"]),
    default="flop",
    help="Kind of work in --point, --demand and --record.  [default: flop]",
)
@click.option(
    "--overlap",
    default="full",
    metavar="full|none|K",
    help="How the times combine: the largest, their sum, or (sum t^K)^(1/K).  [default: full]",
)
@click.option(
    "--plane",
    "axis",
    type=click.Choice(["I_M", "I_N", "I_R", "I_S"]),
    help=(
        "Horizontal axis of the picture: bytes of memory per byte over the network (I_M), or work "
        "per byte over the network (I_N), of remote memory (I_R) or of storage (I_S).  "
        "[default: I_M]"
    ),
)
@click.option(
    "--sweep",
    is_flag=True,
    help=(
        "Try every machine, network, number of nodes, batch and all-reduce; print the fastest "
        "design for each number of nodes."
    ),
)
@common.figures_option("Draw all figures of the paper in FOLDER.")
@common.output_option("the Ridgeline and the projected times")
@common.json_option
@tables_option("points", "parts", "front", main="points; with --sweep: front")
def command(
    *,
    machine_names: tuple[str, ...],
    network: tuple[float, ...],
    remote: float | None,
    storage: float | None,
    axis: str | None,
    points: tuple[str, ...],
    demand_file: Path | None,
    records: tuple[str, ...],
    operators: tuple[str, ...],
    fused: bool,
    precision: str | None,
    work: str,
    overlap: str,
    sweep: bool,
    folder: Path | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    **training: Any,
) -> int:
    """Say what bounds distributed programs: compute, memory or network.

    Without options, the command shows the paper's case study, a data-parallel training step of one
    layer of 4096 x 4096 in FP32 on Cascade Lake sockets. Every node does the same work. Its times
    are flop over peak, memory bytes over memory bandwidth, and network bytes over the bandwidth of
    its link. The roofline sees the first two, the Ridgeline all three.
    """
    common.require_figure_endings(outputs)
    resource = "bop" if work != "flop" else precision or "fp32"
    from ridgepoint.cli.ridgeline_operators import kept_operators
    from ridgepoint.cli.ridgeline_points import own_points, points_shown, require_ceilings
    from ridgepoint.cli.ridgeline_records import kept_programs, records_shown

    own = own_points(points, demand_file, resource=resource)
    require_one_kind(
        own=bool(own),
        records=bool(records),
        operators=bool(operators),
        fused=fused,
        precision=precision,
    )
    is_own = bool(own or records)
    require_sense(training, own=is_own, sweep=sweep, work=work, precision=precision)
    require_recorded(training, operators=bool(operators))
    links = {"remote": remote, "storage": storage}
    kept, recorded = kept_programs(records), kept_operators(operators)
    default = kept.machine if recorded is None else recorded.machine
    machines = machines_of(machine_names, network, links, sweep=sweep, default=default)
    require_ceilings(own, machines)
    if axis is not None and not outputs:
        raise click.UsageError("--plane says what the picture shows: give its file with -o")

    def asked() -> Training:
        if recorded is None:
            return _training(training, resource, machines)
        from ridgepoint.cli.ridgeline_operators import recorded_training

        return recorded_training(recorded, training, machines, fused=fused)

    if sweep:
        if outputs or folder is not None:
            raise click.UsageError("--sweep prints a table and draws no figure")
        return _sweep(machines, asked(), overlap_of(overlap), as_json=as_json)
    if records:
        metric: Metric = "bop" if work != "flop" else "flop"
        shown = records_shown(kept.programs, machines, metric=metric, overlap=overlap_of(overlap))
    else:
        from ridgepoint.models.ridgeline import Ridgeline

        steps = None if own else asked()
        main_work = resource if recorded is None or steps is None else steps.steps[0].precision
        ridgeline = Ridgeline(machines=machines, work=main_work, overlap=overlap_of(overlap))
        shown = points_shown(ridgeline, own) if steps is None else steps.shown_on(ridgeline)
    _draw(shown, outputs=outputs, folder=folder, axis=axis)
    _print(shown, as_json=as_json)
    return 0


def _training(options: dict[str, Any], resource: str, machines: tuple[Machine, ...]) -> Training:
    """Return the training steps, if the machines have the links that they ask for."""
    from ridgepoint.cli.ridgeline_training import training_of
    from ridgepoint.cli.ridgeline_transformer import names_transformer, transformer_training

    is_transformer = names_transformer(options)
    asked = (transformer_training if is_transformer else training_of)(options, resource)
    for path in LINK_OPTIONS:
        if any(path in step.resources for step in asked.steps):
            require_link(path, machines, "gather rows from remote memory")
    return asked


def _sweep(
    machines: tuple[Machine, ...], asked: Training, overlap: Overlap, *, as_json: bool
) -> int:
    """Print what is fastest for each number of nodes."""
    from ridgepoint.models.ridgeline.sweep import sweep

    if asked.nodes is None:
        raise click.UsageError("--sweep needs the numbers of nodes to try: --nodes 1:1024")
    try:
        front = sweep(
            machines,
            asked.steps,
            nodes=asked.nodes,
            batch=asked.batch,
            strong=asked.strong,
            overlap=overlap,
        )
    except ValueError as error:  # a batch that is not known
        raise click.UsageError(str(error)) from error
    from ridgepoint.cli.ridgeline_report import sweep_report
    from ridgepoint.show.data_tables.ridgeline import front_tables

    def document() -> dict[str, Any]:
        return sweep_report(front, machines, asked.steps, asked.inputs, overlap)

    with beside(lambda: front_tables(document())) as is_shown:
        if as_json:
            common.print_json(document())
        elif is_shown:
            from ridgepoint.show.tables.ridgeline_table import front_table

            common.console().print(front_table(front, machines, asked.steps, asked.summary))
    return 0


def _draw(
    shown: Shown, *, outputs: tuple[Path, ...], folder: Path | None, axis: str | None
) -> None:
    """Write the figures that were asked for.

    Raises
    ------
    click.UsageError
        If the machines have no ceiling for the plane.
    """
    from ridgepoint.models.ridgeline.placed import REGIONS
    from ridgepoint.models.ridgeline.plane import PLANES

    plane = PLANES[axis or "I_M"]
    if plane.link not in shown.ridgeline.regions:
        option = LINK_OPTIONS[REGIONS[plane.link]]
        raise click.UsageError(f"--plane {axis} needs the bandwidth of {plane.link}: give {option}")
    if not outputs and folder is None:
        return
    from ridgepoint.cli.pictures import save_picture
    from ridgepoint.show.charts.ridgeline import ridgeline_page

    figure = ridgeline_page(shown.ridgeline, shown.trajectories, notes=shown.notes, plane=plane)
    save_picture(figure, outputs)
    if folder is not None:
        from ridgepoint.show.charts.ridgeline_paper import save_all

        save_all(shown.ridgeline, shown.trajectories, shown.notes, common.made_folder(folder))


def _print(shown: Shown, *, as_json: bool) -> None:
    from ridgepoint.cli.ridgeline_report import report
    from ridgepoint.show.data_tables.ridgeline import ridgeline_tables

    def document() -> dict[str, Any]:
        return report(shown.ridgeline, shown.trajectories, shown.inputs)

    with beside(lambda: ridgeline_tables(document())) as is_shown:
        if as_json:
            common.print_json(document())
        elif is_shown:
            from ridgepoint.show.tables.ridgeline_table import ridgeline_table

            table = ridgeline_table(shown.ridgeline, shown.trajectories, shown.notes)
            common.console().print(table)
