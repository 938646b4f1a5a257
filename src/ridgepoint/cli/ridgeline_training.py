"""The training steps that the ridgeline command is asked for, from its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import numbers
from ridgepoint.cli.ridgeline_inputs import BATCHES
from ridgepoint.core.documents import fields_of
from ridgepoint.demands.recommendation import RecommendationModel, RecommendationStep
from ridgepoint.demands.training import Step, TrainingStep

if TYPE_CHECKING:
    from ridgepoint.models.ridgeline import Ridgeline
    from ridgepoint.models.ridgeline.trajectories import Trajectory

_LAYERS = "4096,4096"
_MOST_POINTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is printed and drawn.

    Parameters
    ----------
    ridgeline : Ridgeline
    trajectories : tuple of Trajectory
    notes : tuple of str
    inputs : mapping
        For JSON: what the points were computed from.
    training : Training or None
        None: they are points of their own.
    """

    ridgeline: Ridgeline
    trajectories: tuple[Trajectory, ...]
    notes: tuple[str, ...]
    inputs: Mapping[str, Any]
    training: Training | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The steps that were asked for; of a sweep there may be several algorithms.

    Parameters
    ----------
    steps : tuple of Step
        They differ in their algorithm alone.
    batch : tuple of int
    nodes : tuple of int or None
    strong : bool
    summary : str
        What the step is, in a line.
    inputs : mapping
        What the points are computed from, as fields.
    """

    steps: tuple[Step, ...]
    batch: tuple[int, ...]
    nodes: tuple[int, ...] | None
    strong: bool
    summary: str
    inputs: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Refuse steps whose bytes grow without limit, or whose tables do not reach all nodes."""
        most = None if self.nodes is None else max(self.nodes)
        for step in self.steps:
            try:
                step.demand(batch=self.batch[0], nodes=most)
            except ValueError as error:
                said = (
                    f"{error}: give --nodes" if "nodes must be given" in str(error) else str(error)
                )
                raise click.UsageError(said) from error

    def shown_on(self, ridgeline: Ridgeline) -> Shown:
        """Return the steps on the plane.

        Raises
        ------
        click.UsageError
            If they are several algorithms, too many points, or need a number of nodes.
        """
        from ridgepoint.models.ridgeline.trajectories import training_trajectories

        if len(self.steps) > 1:
            raise click.UsageError("several algorithms of --all-reduce need --sweep")
        count = len(self.batch) * len(self.nodes or (0,))
        if count > _MOST_POINTS:
            raise click.UsageError(f"these are {count} points, too many to list: use --sweep")
        try:
            trajectories = training_trajectories(
                ridgeline, self.steps[0], batch=self.batch, nodes=self.nodes, strong=self.strong
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        return Shown(
            ridgeline=ridgeline,
            trajectories=trajectories,
            notes=(self.summary,),
            inputs=self.inputs,
            training=self,
        )


def algorithms_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the algorithms of ``--all-reduce``."""
    from ridgepoint.demands.training import ALL_REDUCES

    named = [name.strip() for name in (options["all_reduce"] or "ring").split(",")]
    if named == ["all"]:
        named = [name for name in ALL_REDUCES if name != "payload"]
    return tuple(dict.fromkeys(named))


def nodes_of(options: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the numbers of nodes; None: the limit of many.

    Raises
    ------
    click.ClickException
        If they are no numbers, or a batch is divided over no nodes.
    """
    if options["strong"] and options["nodes"] is None:
        raise click.UsageError("--strong divides the batch over nodes: give --nodes")
    nodes = options["nodes"]
    return None if nodes is None else numbers.whole_numbers(nodes, "--nodes")


def over_nodes(nodes: tuple[int, ...] | None, *, strong: bool) -> tuple[str, str]:
    """Return over how many nodes, and what the batch is of, in words."""
    over = "in the limit of many nodes"
    if nodes is not None:
        ends = dict.fromkeys((min(nodes), max(nodes)))
        over = f"over {' to '.join(map(str, ends))} node{'s' * (max(nodes) > 1)}"
    return over, "the batch is divided over the nodes" if strong else "the batch is per node"


def training_of(options: Mapping[str, Any], precision: str) -> Training:
    """Return the steps of a perceptron or a recommendation model that the options describe.

    Raises
    ------
    click.ClickException
        If an option means nothing.
    RidgepointError
        If there is no such published model, or a file of one cannot be read.
    """
    nodes, strong = nodes_of(options), options["strong"]
    what, convention = _model(options), options["convention"] or "footprint"
    algorithms = algorithms_of(options)
    steps = tuple(_step(what, options, precision, name, convention) for name in algorithms)
    return Training(
        steps=steps,
        batch=numbers.whole_numbers(options["batch"] or BATCHES, "--batch"),
        nodes=nodes,
        strong=strong,
        summary=_summary(steps, options["model"], nodes, strong=strong),
        inputs=_inputs(steps, options["model"], strong=strong),
    )


def _summary(
    steps: Sequence[TrainingStep | RecommendationStep],
    model: str | None,
    nodes: tuple[int, ...] | None,
    *,
    strong: bool,
) -> str:
    """Return what the step is, in a line."""
    step = steps[0]
    algorithms = ", ".join(step.algorithm for step in steps)
    over, batch = over_nodes(nodes, strong=strong)
    what = f"training step of {_sizes(step, model)} in {step.precision} ({step.convention})"
    if isinstance(step, RecommendationStep):
        return f"{what}; {_tables(step)}; all-reduce {algorithms} and all-to-all {over}; {batch}"
    return f"{what}, all-reduce {algorithms} {over}; {batch}"


def _inputs(
    steps: Sequence[TrainingStep | RecommendationStep], model: str | None, *, strong: bool
) -> dict[str, Any]:
    """Return what the points are computed from, as fields."""
    step = steps[0]
    sizes = (
        {"layers": list(step.layers)}
        if isinstance(step, TrainingStep)
        else {
            **fields_of(step.model, "bottom", "top", "tables", "columns", "lookups"),
            "interaction": step.model.interaction,
            "embeddings": step.placement,
            "rows_in": step.rows_in,
        }
    )
    return {
        **sizes,
        "model": model,
        "precision": step.precision,
        "all_reduce": [step.algorithm for step in steps],
        "convention": step.convention,
        "strong": strong,
    }


def _sizes(step: TrainingStep | RecommendationStep, model: str | None) -> str:
    """Return what is trained, in a word."""
    if model is not None:
        return model
    assert isinstance(step, TrainingStep)  # a recommendation model has a name, or a file's
    return "-".join(map(str, step.layers))


def _tables(step: RecommendationStep) -> str:
    """Return where the embeddings are and how many there are."""
    model = step.model
    how = "columns divided evenly" if step.placement == "even" else "whole tables on each node"
    where = "" if step.rows_in == "dram" else ", rows in remote memory"
    lookups = f"{model.lookups} lookup{'s' * (model.lookups > 1)}"
    return (
        f"{model.tables} tables of {model.columns} columns, {lookups} in each for a sample, "
        f"{how}{where}"
    )


def _model(options: Mapping[str, Any]) -> tuple[int, ...] | RecommendationModel:
    """Return the layers of the perceptron, or the recommendation model, that is asked for."""
    layers, name = options["layers"], options["model"]
    if layers is not None and name is not None:
        raise click.UsageError("--layers and --model both name a perceptron: give one of them")
    found: tuple[int, ...] | RecommendationModel
    if name is None:
        found = numbers.sizes(layers or _LAYERS, "--layers")
    elif Path(name).suffix == ".toml":
        from ridgepoint.kept.recommendation_file import read_recommendation

        found = read_recommendation(Path(name))
    else:
        from ridgepoint.published.perceptrons import model_named

        found = model_named(name)
    if isinstance(found, RecommendationModel):
        lookups = options["lookups"]
        return found if lookups is None else replace(found, lookups=lookups)
    for option in ("lookups", "embeddings", "rows_in"):
        if options[option] is not None:
            raise click.UsageError(
                f"--{option.replace('_', '-')} applies to models with embedding tables: give one "
                "with --model, such as dlrm-mlperf"
            )
    return found


def _step(
    what: tuple[int, ...] | RecommendationModel,
    options: Mapping[str, Any],
    precision: str,
    algorithm: str,
    convention: str,
) -> TrainingStep | RecommendationStep:
    how = {"precision": precision, "algorithm": algorithm, "convention": convention}
    try:
        if isinstance(what, RecommendationModel):
            return RecommendationStep(
                model=what,
                placement=options["embeddings"] or "even",
                rows_in="remote" if options["rows_in"] == "remote" else "dram",
                **how,
            )
        return TrainingStep(layers=what, **how)
    except ValueError as error:
        message = str(error)
        for name, option in (
            ("algorithm", "--all-reduce"), ("convention", "--convention"), ("layers", "--layers"),
            ("precision", "--precision"),
        ):  # fmt: skip
            message = message.replace(f"{name} must", f"{option} must")
        raise click.UsageError(message) from error
