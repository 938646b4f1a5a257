"""What the ridgeline command is asked for, from its options: machines, steps, own points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli import numbers
from ridgepoint.core.errors import UnknownCeiling
from ridgepoint.core.units import format_si

if TYPE_CHECKING:
    from ridgepoint.core.bound import Overlap
    from ridgepoint.core.machine import Machine
    from ridgepoint.demands.training import TrainingStep
    from ridgepoint.models.ridgeline import Ridgeline
    from ridgepoint.models.ridgeline.trajectories import Trajectory

BATCHES = "1,2,4,...,4096"
_LAYERS = "4096,4096"
_MACHINE = "cascade-lake"
LINK_OPTIONS = {"remote": "--remote-memory 50GB/s", "storage": "--storage 2GB/s"}
"""How the bandwidth of a link other than the network is given."""
_MOST_POINTS = 10_000


def machines_of(
    names: Sequence[str],
    rates: Sequence[float],
    links: Mapping[str, float | None],
    *,
    sweep: bool,
) -> tuple[Machine, ...]:
    """Return the machines, with the rates that are given instead of theirs.

    Parameters
    ----------
    names : sequence of str
    rates : sequence of float
        Bandwidths of the network, byte/s; without `sweep` at most one.
    links : mapping of str to (float or None)
        Bandwidth of other links, byte/s; None: the machine's own.
    sweep : bool

    Raises
    ------
    RidgepointError
        If there is no such machine, or one has no ceiling of its network.
    click.ClickException
        If several networks are given for anything but a sweep.
    """
    from ridgepoint.kept.lookup import machine_of
    from ridgepoint.models.derived import with_link, with_network

    machines = tuple(machine_of(name) for name in names or (_MACHINE,))
    for path, rate in links.items():
        if rate is not None:
            machines = tuple(with_link(machine, path, rate) for machine in machines)
        lacking = [machine.name for machine in machines if not machine.knows(path)]
        if 0 < len(lacking) < len(machines):
            raise UnknownCeiling(
                f"cannot draw the Ridgeline of {lacking[0]}",
                reason=f"it has no {path} ceiling, which another machine has",
                remedy=f"give one for all with {LINK_OPTIONS[path]}",
            )
    if len(rates) > 1 and not sweep:
        raise click.UsageError("several --network need --sweep")
    if len(rates) > 1:
        return tuple(
            replace(with_network(machine, rate), name=f"{machine.name}, {format_si(rate, 'B/s')}")
            for machine in machines
            for rate in rates
        )
    if rates:
        return tuple(with_network(machine, rates[0]) for machine in machines)
    for machine in machines:
        if not machine.knows("network"):
            raise UnknownCeiling(
                f"cannot draw the Ridgeline of {machine.name}",
                reason="the machine has no network ceiling",
                remedy="give the bandwidth of a node's link, such as --network 12GB/s",
            )
    return machines


def overlap_of(text: str) -> Overlap:
    """Return how times combine.

    Raises
    ------
    click.BadParameter
        If the text says it not.
    """
    from ridgepoint.core.bound import exponent_of

    try:
        value: Overlap = text if text in ("full", "none") else float(text)  # type: ignore[assignment]
        exponent_of(value)
    except ValueError as error:
        raise click.BadParameter(
            f"must be full, none or a number >= 1, got {text!r}", param_hint="'--overlap'"
        ) from error
    return value


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
    """The training steps that were asked for; of a sweep there may be several algorithms.

    Parameters
    ----------
    steps : tuple of TrainingStep
        They differ in their algorithm alone.
    batch : tuple of int
    nodes : tuple of int or None
    strong : bool
    model : str or None
        Name of the published perceptron.
    """

    steps: tuple[TrainingStep, ...]
    batch: tuple[int, ...]
    nodes: tuple[int, ...] | None
    strong: bool
    model: str | None

    @classmethod
    def of(cls, options: Mapping[str, Any], precision: str) -> Training:
        """Return the steps that the options describe.

        Raises
        ------
        click.ClickException
            If an option means nothing.
        RidgepointError
            If there is no such published perceptron.
        """
        from ridgepoint.demands.training import ALL_REDUCES

        nodes = options["nodes"]
        if options["strong"] and nodes is None:
            raise click.UsageError("--strong divides the batch over nodes: give --nodes")
        named = [name.strip() for name in (options["all_reduce"] or "ring").split(",")]
        if named == ["all"]:
            named = [name for name in ALL_REDUCES if name != "payload"]
        layers, convention = _layers(options), options["convention"] or "footprint"
        return cls(
            steps=tuple(
                _step(layers, precision, name, convention) for name in dict.fromkeys(named)
            ),
            batch=numbers.whole_numbers(options["batch"] or BATCHES, "--batch"),
            nodes=None if nodes is None else numbers.whole_numbers(nodes, "--nodes"),
            strong=options["strong"],
            model=options["model"],
        )

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
        self.require_nodes()
        trajectories = training_trajectories(
            ridgeline, self.steps[0], batch=self.batch, nodes=self.nodes, strong=self.strong
        )
        return Shown(
            ridgeline=ridgeline,
            trajectories=trajectories,
            notes=(self.summary,),
            inputs=self.inputs,
            training=self,
        )

    def require_nodes(self) -> None:
        """Refuse an all-reduce that grows without limit where no number of nodes is given.

        Raises
        ------
        click.UsageError
        """
        from ridgepoint.demands.training import all_reduce_bytes

        for step in self.steps if self.nodes is None else ():
            try:
                all_reduce_bytes(1.0, nodes=None, algorithm=step.algorithm)
            except ValueError as error:
                raise click.UsageError(f"{error}: give --nodes") from error

    @property
    def summary(self) -> str:
        """What the step is, in a line."""
        step = self.steps[0]
        sizes = self.model or "-".join(map(str, step.layers))
        algorithms = ", ".join(step.algorithm for step in self.steps)
        over = "in the limit of many nodes"
        if self.nodes is not None:
            ends = dict.fromkeys((min(self.nodes), max(self.nodes)))
            over = f"over {' to '.join(map(str, ends))} node{'s' * (max(self.nodes) > 1)}"
        batch = "the batch is divided over the nodes" if self.strong else "the batch is per node"
        return (
            f"training step of {sizes} in {step.precision} ({step.convention}), "
            f"all-reduce {algorithms} {over}; {batch}"
        )

    @property
    def inputs(self) -> dict[str, Any]:
        """What the points are computed from, as fields."""
        step = self.steps[0]
        return {
            "layers": list(step.layers),
            "model": self.model,
            "precision": step.precision,
            "all_reduce": [step.algorithm for step in self.steps],
            "convention": step.convention,
            "strong": self.strong,
        }


def _layers(options: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the layers of the perceptron that is asked for."""
    layers, model = options["layers"], options["model"]
    if layers is not None and model is not None:
        raise click.UsageError("--layers and --model both name a perceptron: give one of them")
    if model is not None:
        from ridgepoint.published.perceptrons import perceptron

        return perceptron(model).layers
    return numbers.sizes(layers or _LAYERS, "--layers")


def _step(layers: tuple[int, ...], precision: str, algorithm: str, convention: str) -> TrainingStep:
    from ridgepoint.demands.training import TrainingStep

    try:
        return TrainingStep(
            layers=layers, precision=precision, algorithm=algorithm, convention=convention
        )
    except ValueError as error:
        message = str(error)
        for name, option in (
            ("algorithm", "--all-reduce"), ("convention", "--convention"), ("layers", "--layers"),
            ("precision", "--precision"),
        ):  # fmt: skip
            message = message.replace(f"{name} must", f"{option} must")
        raise click.UsageError(message) from error
