"""What `ridgepoint scale` is asked: the problem, the node, the cores and nodes to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

from ridgepoint.cli import numbers
from ridgepoint.cli.ridgeline_inputs import overlap_of
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.presenting import amount
from ridgepoint.core.quantities import Seconds
from ridgepoint.core.resources import RESOURCES

if TYPE_CHECKING:
    from ridgepoint.core.bound import Overlap
    from ridgepoint.core.machine import Machine
    from ridgepoint.core.measured_cluster import MeasuredCluster
    from ridgepoint.core.rates import Network
    from ridgepoint.core.runs import Run
    from ridgepoint.kept.problems import MakesProblem
    from ridgepoint.models.scaling import Problem, Scaling
    from ridgepoint.models.scaling.fits import Fit
    from ridgepoint.models.scaling.law_fits import Law


_LAWS: dict[str, Law] = {"amdahl": "amdahl", "usl": "usl"}
_DOTS = re.compile(r"(?<!\.)\.\.(?!\.)")
_FORMULAS = ("op", "bytes", "exchanged", "messages")
_MOST_CORES = 4096
_MOST_NODES = 1 << 20
_DEFAULT_NODES = range(1, 65)
_PATTERNS: tuple[Literal["ping-pong", "stream"], ...] = ("ping-pong", "stream")
"""Patterns of a measured cluster whose smallest messages tell a latency; the first by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What is said of a node and its network on the command line; None: nothing.

    Parameters
    ----------
    machine : Machine or None
    core_rate, memory_bytes_per_s, link_bytes_per_s : float or None
    network : {"shared", "parallel"}
    overlap : {"none", "full"} or float
    latency_s : float or None
    share : float or None
    """

    machine: Machine | None
    core_rate: float | None
    memory_bytes_per_s: float | None
    link_bytes_per_s: float | None
    network: Network
    overlap: Overlap
    latency_s: float | None
    share: float | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Node:
        """Return what the options of these names say.

        Raises
        ------
        click.ClickException, RidgepointError
            If one is impossible, or a machine is given twice.
        """
        from ridgepoint.core.measured_cluster import MeasuredCluster
        from ridgepoint.kept.lookup import hardware_of

        name = options["machine"]
        if name is not None and (options["core_rate"] or options["memory"]):
            raise click.UsageError("--machine cannot be combined with --core-rate or --memory")
        found = None if name is None else hardware_of(name)
        cluster = found if isinstance(found, MeasuredCluster) else None
        return cls(
            machine=found.slowest() if isinstance(found, MeasuredCluster) else found,
            core_rate=options["core_rate"],
            memory_bytes_per_s=options["memory"],
            link_bytes_per_s=options["link"],
            network=options["network"],
            overlap=overlap_of(options["overlap"]),
            latency_s=_latency(options["latency"], cluster),
            share=options["share"],
        )

    def require_latency(self, problem: Problem, options: Mapping[str, Any]) -> None:
        """Refuse messages without a latency, and a given latency without messages.

        Raises
        ------
        click.UsageError
        """
        from ridgepoint.models.scaling import nothing

        if options["messages"] and problem.messages is not nothing and self.latency_s is None:
            raise click.UsageError(
                "--messages cost time by the latency of the network, which is not known: give "
                "--latency 2us"
            )
        if options["latency"] and problem.messages is nothing:
            raise click.UsageError(
                "--latency needs the number of messages that follow one another on p nodes: give "
                "--messages 'log2(p)'"
            )

    def scaling(self, problem: Problem, cores: int) -> Scaling:
        """Return the scaling of a problem where nothing is fitted.

        Raises
        ------
        RidgepointError
            If neither a machine nor a core's rate is given.
        """
        from ridgepoint.core.rates import ideal_machine
        from ridgepoint.models.scaling import Scaling

        machine = self.machine
        if machine is None:
            if self.core_rate is None:
                raise RidgepointError(
                    "cannot bound the problem",
                    reason="the speed of a node is not known",
                    remedy="give --machine FILE|NAME, or --core-rate 8Gflop/s with --memory and "
                    "--link, or measured runs with --fit",
                )
            if self.memory_bytes_per_s is None and np.any(np.asarray(problem.dram_bytes) > 0):
                raise RidgepointError(
                    "cannot bound the problem",
                    reason="the memory bandwidth of a node is not known",
                    remedy="give --memory 16GB/s",
                )
            machine = ideal_machine(
                core_rate=self.core_rate,
                memory_bytes_per_s=self.memory_bytes_per_s,
                cores=cores,
                work=problem.work,
            )
        return Scaling(
            problem=problem,
            machine=machine,
            network=self.network,
            link_bytes_per_s=self.link_bytes_per_s,
            overlap=self.overlap,
            latency_s=self.latency_s,
            share=1.0 if self.share is None else self.share,
        )

    def fit(self, runs: Sequence[Run], problem: MakesProblem, *, size: float, cores: int) -> Fit:
        """Return the rates that were not given, from runs."""
        from ridgepoint.models.scaling.fits import fit_rates

        return fit_rates(
            runs,
            problem,
            size=size,
            core_rate=self.core_rate,
            memory_bytes_per_s=self.memory_bytes_per_s,
            link_bytes_per_s=self.link_bytes_per_s,
            machine=self.machine,
            cores=cores,
            network=self.network,
            overlap=self.overlap,
            latency_s=self.latency_s,
        )


def law_named(name: str | None) -> Law | None:
    """Return a law of speed-up, or None if the name is of no law."""
    return None if name is None else _LAWS.get(name.lower())


def cases() -> tuple[str, ...]:
    """Return the names of the problems that are built in, and of the laws."""
    from ridgepoint.models.scaling.case_studies import CASE_STUDIES

    return (*CASE_STUDIES, *_LAWS)


def problem_of(
    case: str | None, options: Mapping[str, Any], *, precision: str
) -> tuple[MakesProblem, bool]:
    """Return what makes the problem for a size, and whether it needs one.

    Raises
    ------
    click.ClickException
        If the case is unknown, a formula wrong, or neither or both are given.
    """
    own = {name: options[name] for name in _FORMULAS if options[name] is not None}
    if case is None:
        from ridgepoint.kept.problems import own_problem

        if "op" not in own:
            raise click.UsageError("give a CASE, or your own demand with --op; see --help")
        return own_problem(own, _refused, work=precision)
    if own:
        raise click.UsageError(
            "--op, --bytes, --exchanged and --messages replace a CASE: give one or the other"
        )
    from ridgepoint.models.scaling.case_studies import CASE_STUDIES

    study = CASE_STUDIES.get(case.lower())
    if study is None:
        raise click.BadParameter(
            f"there is no {case!r}; there are {', '.join(cases())}",
            param_hint="'CASE'",
        )
    make = study.make
    return (lambda n: replace(make(n), work=precision)), True


def _refused(name: str, message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint=f"'--{name}'")


def size_of(text: str | None) -> float | None:
    """Return the size of the problem: a number, or a formula such as 2^28; None: not given."""
    from ridgepoint.kept import problems

    return None if text is None else problems.size_of(text, partial(_refused, "size"))


def _latency(text: str | None, cluster: MeasuredCluster | None) -> float | None:
    """Return the latency in seconds: given, or measured by one of the patterns of a cluster.

    Raises
    ------
    click.BadParameter
        If it is neither a time nor a pattern that was measured.
    """
    pattern = _PATTERNS[0] if text is None else text
    if pattern in _PATTERNS:
        measured = None if cluster is None else cluster.latency(pattern)
        if text is not None and measured is None:
            raise click.BadParameter(
                f"{text!r} was not measured: --machine must name a cluster of two nodes or more",
                param_hint="'--latency'",
            )
        return None if measured is None else measured.median
    try:
        return float(Seconds.of(pattern))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--latency'") from error


def precision_of(text: str) -> str:
    """Return the resource that the work is of."""
    known = [name for name, resource in RESOURCES.items() if resource.path == "compute"]
    if text not in known:
        raise click.BadParameter(
            f"there is no {text!r}; there are {', '.join(known)}", param_hint="'--precision'"
        )
    return text


def cores_of(
    text: str | None, machine: Machine | None, runs: Sequence[Run], share: float | None = None
) -> tuple[int, ...]:
    """Return the cores of a node to choose from: given, or all of the machine's or of the runs'.

    Of a machine that is shared, a job gets its share of the cores, unless their number is given.
    """
    if text is None and machine is not None and share is not None:
        cores = int(machine.cores * share * (1 + 1e-12))
        if cores == 0:
            raise click.BadParameter(
                f"{share:g} of {amount(machine.cores, 'core')} is less than a core; give --cores",
                param_hint="'--share'",
            )
        return (cores,)
    if text is None:
        return (max((run.cores for run in runs), default=1) if machine is None else machine.cores,)
    listed = _listed(text, "--cores", _MOST_CORES)
    if machine is not None and listed[-1] > machine.cores:
        raise click.BadParameter(
            f"{machine.name} has {amount(machine.cores, 'core')}, not {listed[-1]}",
            param_hint="'--cores'",
        )
    return listed


def nodes_of(text: str | None) -> Sequence[int]:
    """Return the nodes to choose from: given, or 1 to 64."""
    return _DEFAULT_NODES if text is None else _listed(text, "--nodes", _MOST_NODES)


def nodes_of_problem(text: str | None, scaling: Scaling) -> Sequence[int]:
    """Return the nodes to choose from: given, 1 to 64, or one alone where no network is known.

    Raises
    ------
    RidgepointError
        If the nodes exchange data over a link whose rate is not known, and one node alone was not
        asked for.
    """
    from ridgepoint.models.scaling import nothing

    if text is not None:
        return nodes_of(text)
    if scaling.problem.exchanged_bytes is not nothing and not scaling.knows_link:
        raise RidgepointError(
            "cannot bound the data that the nodes exchange",
            reason="the rate of a link is not known",
            remedy="give --link 2GB/s, or --nodes 1 for a node alone, which exchanges nothing",
        )
    return nodes_of(None) if scaling.knows_network else (1,)


def _listed(text: str, option: str, most: int) -> tuple[int, ...]:
    listed = tuple(sorted(numbers.whole_numbers(_DOTS.sub(":", text), option)))
    if listed[-1] > most:
        raise click.BadParameter(
            f"must be at most {most}, got {listed[-1]}", param_hint=f"'{option}'"
        )
    return listed
