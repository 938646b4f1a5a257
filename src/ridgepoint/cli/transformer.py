"""Say how fast devices can generate text with a transformer, and how many are needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ridgepoint.cli import common, completing
from ridgepoint.cli.numbers import NumberRange, QuantityType, WholeNumber
from ridgepoint.cli.tables import beside, tables_option
from ridgepoint.core.quantities import Bytes, LinkRate, Seconds, SecondsOrZero

if TYPE_CHECKING:
    from ridgepoint.models.transformer.report import TransformerReport

_Command = TypeVar("_Command", bound=Callable[..., Any])
_WORK = ("fp64", "fp32", "fp16", "bf16")
_STORED = (*_WORK, "fp8", "int8", "int4")
_ALL_REDUCES = ("ring", "tree", "recursive-doubling", "payload")


def _names() -> tuple[str, ...]:
    from ridgepoint.published.transformers import transformers

    return tuple(transformers())


def _dimension(name: str, what: str) -> Callable[[_Command], _Command]:
    return click.option(name, type=WholeNumber(), metavar="N", help=what)


@click.command("transformer")
@click.argument("model", required=False, shell_complete=completing.words(_names))
@_dimension("--layers", "Layers.")
@_dimension("--width", "Length of a token's vector (the hidden size).")
@_dimension("--heads", "Query heads of attention.")
@_dimension("--kv-heads", "Heads of keys and values.  [default: as many as query heads]")
@_dimension("--head-width", "Length of a head's vectors.  [default: width / heads]")
@_dimension("--feed-forward", "Inner width of the feed-forward network, or of an expert.")
@_dimension("--vocabulary", "Tokens that there are.")
@_dimension("--experts", "Experts of a layer.  [default: 1]")
@_dimension("--active-experts", "Experts that a token uses.  [default: 1]")
@_dimension("--window", "Tokens to which a token attends at most.  [default: all]")
@click.option("--ungated", is_flag=True, help="The feed-forward network has two matrices, not 3.")
@click.option("--tied", is_flag=True, help="The output uses the weights of the embedding.")
@click.option(
    "--precision",
    type=click.Choice(_WORK),
    default="bf16",
    show_default=True,
    help="Precision of the work and of activations.",
)
@click.option(
    "--weights",
    type=click.Choice(_STORED),
    help="Type in which weights are stored.  [default: that of --precision]",
)
@click.option(
    "--cache",
    type=click.Choice(_STORED),
    help="Type in which keys and values are stored.  [default: that of --precision]",
)
@click.option(
    "--prompt",
    type=WholeNumber(),
    default=1024,
    show_default=True,
    metavar="N",
    help="Tokens of a prompt.",
)
@click.option(
    "--generate",
    type=WholeNumber(),
    default=256,
    show_default=True,
    metavar="N",
    help="Tokens of an answer.",
)
@click.option(
    "--context",
    type=WholeNumber(0),
    metavar="N",
    help="Tokens in the cache while tokens are generated.  [default: on average over the answer]",
)
@click.option(
    "--batch",
    metavar="LIST",
    help="Sequences of one copy of the model: 8, 1,2,4,...,256 or 1:64.  [default: powers of two "
    "that the memory holds]",
)
@click.option(
    "--machine",
    multiple=True,
    metavar="FILE|NAME|ID",
    shell_complete=completing.machines,
    help="A device: a published machine, a file of 'ridgepoint machine --json', or a number or a "
    "name of 'ridgepoint list'. Repeat it to compare several.  [default: h200]",
)
@click.option(
    "--tensor",
    metavar="LIST",
    help="Devices over which every matrix is divided. Of several, the first that fits is reported "
    "in full, and all are compared.  [default: 1; with --target and a network: 1,2,4,8]",
)
@click.option(
    "--pipeline",
    default="1",
    show_default=True,
    metavar="LIST",
    help="Devices over which the layers are divided; as for --tensor.",
)
@click.option(
    "--network",
    type=QuantityType(LinkRate),
    metavar="RATE",
    help="Bandwidth of a device's link in each direction, instead of the machine's: 450GB/s.",
)
@click.option(
    "--latency",
    type=QuantityType(SecondsOrZero),
    metavar="TIME",
    help="Time of a message without bytes between devices: 2us.  [default: not counted]",
)
@click.option(
    "--all-reduce",
    type=click.Choice(_ALL_REDUCES),
    default="ring",
    show_default=True,
    help="Algorithm by which devices of --tensor sum their results.",
)
@click.option(
    "--memory",
    type=QuantityType(Bytes),
    metavar="BYTES",
    help="Memory of a device that the model may use: 80GB, 76GiB.  [default: the machine's]",
)
@click.option(
    "--cores",
    type=NumberRange(0, min_open=True),
    metavar="Q",
    help="Cores of a device that are kept busy.  [default: all]",
)
@click.option(
    "--efficiency",
    type=NumberRange(0, 1, min_open=True),
    default=1.0,
    metavar="SHARE",
    help="Share of the bound that programs are expected to reach, such as 0.6: all times are "
    "divided by it.  [default: 1, the bound itself]",
)
@click.option(
    "--target",
    type=NumberRange(0, min_open=True),
    metavar="TOKENS/S",
    help="Say how many devices generate so many tokens per second in all.",
)
@click.option(
    "--within",
    type=QuantityType(Seconds),
    metavar="TIME",
    help="With --target: longest time from one token of an answer to the next, such as 50ms.",
)
@click.option(
    "--first-within",
    type=QuantityType(Seconds),
    metavar="TIME",
    help="With --target: longest time to the first token of an answer, such as 1s.",
)
@click.option(
    "--overlap",
    default="full",
    metavar="full|none|K",
    help="How the times of work, memory and network combine: the largest, their sum, or "
    "(sum t^K)^(1/K).  [default: full]",
)
@click.option(
    "--in-series",
    is_flag=True,
    help="Let the parts of a pass (projections, attention, ...) follow one another, without "
    "overlap between them.",
)
@click.option(
    "--activations",
    type=click.Choice(["resident", "operators"]),
    default="resident",
    show_default=True,
    help="Keep activations in caches, or let each operator read them from memory and write them.",
)
@click.option(
    "--routing",
    type=click.Choice(["even", "least"]),
    default="even",
    show_default=True,
    help="Let tokens choose experts independently, or all choose the same.",
)
@click.option("--list", "is_list", is_flag=True, help="Print the published models.")
@common.json_option
@tables_option("points", "designs", "assumptions", "models", main="points; with --list: models")
@common.output_option("throughput over latency")
def command(
    *,
    model: str | None,
    target: float | None,
    within: float | None,
    first_within: float | None,
    is_list: bool,
    as_json: bool,
    outputs: tuple[Path, ...],
    **options: Any,
) -> int:
    """Say how fast devices can generate text with a transformer, and how many are needed.

    MODEL is a published model such as llama-3-8b (--list prints all), a model's config.json, or a
    file FILE.toml of dimensions; options give dimensions, or change those of MODEL.

    The report shows the least time to the first token and from token to token, the most tokens per
    second, what limits them, the batch from which generating is no longer limited by the memory,
    and the batch that the memory holds. All of these follow from dimensions and from the machine's
    ceilings: no program does better, and real ones reach a share (docs/transformer.md).
    """
    common.require_figure_endings(outputs)
    if is_list:
        _require_alone(model)
        return _show_list(as_json=as_json)
    if target is None and (within is not None or first_within is not None):
        raise click.UsageError("--within and --first-within limit what --target may choose from")
    from ridgepoint.cli.transformer_inputs import asked_of

    asked = asked_of(model, options, has_target=target is not None)
    from ridgepoint.models.transformer.report import Target, report_on

    goal = None
    if target is not None:
        if math.isinf(target):
            raise click.BadParameter("it must be finite", param_hint="'--target'")
        goal = Target(rate_per_s=target, within_s=within, first_within_s=first_within)
    report = report_on(
        asked.servings,
        name=asked.name,
        source=asked.source,
        batches=asked.batches,
        tensors=asked.tensors,
        pipelines=asked.pipelines,
        target=goal,
    )
    _draw(report, outputs)
    _show(report, as_json=as_json)
    return 0


def _require_alone(model: str | None) -> None:
    """Refuse what else is given with --list.

    Raises
    ------
    click.UsageError
    """
    known = {"is_list", "as_json", "csv", "parquet", "table_names"}
    others = [flag for name, flag in common.given_on_command_line().items() if name not in known]
    if others or model is not None:
        what = others[0] if model is None else repr(model)
        raise click.UsageError(f"--list prints every published model: {what} does not apply to it")


def _show_list(*, as_json: bool) -> int:
    from ridgepoint.cli.transformer_report import models_report
    from ridgepoint.published.transformers import transformers
    from ridgepoint.show.data_tables.transformer import model_tables

    models = transformers()
    with beside(lambda: model_tables(models_report(models))) as is_shown:
        if as_json:
            common.print_json(models_report(models))
        elif is_shown:
            from ridgepoint.show.tables.transformer_table import models_table

            common.console().print(models_table(models))
    return 0


def _draw(report: TransformerReport, outputs: tuple[Path, ...]) -> None:
    """Write the pictures and pages that were asked for."""
    if not outputs:
        return
    from ridgepoint.cli.pictures import save_picture
    from ridgepoint.show.charts.transformer import transformer_chart
    from ridgepoint.show.page.build import page_of
    from ridgepoint.show.page.transformer_view import transformer_view

    save_picture(
        transformer_chart(report),
        outputs,
        page=lambda: page_of([], views=[transformer_view(report)]),
    )


def _show(found: TransformerReport, *, as_json: bool) -> None:
    """Print a report, and write its tables."""
    from ridgepoint.cli.transformer_report import report
    from ridgepoint.show.data_tables.transformer import transformer_tables

    with beside(lambda: transformer_tables(report(found))) as is_shown:
        if as_json:
            common.print_json(report(found))
        elif is_shown:
            from ridgepoint.show.tables.transformer_table import transformer_table

            common.console().print(transformer_table(found))
