"""Demand of a training step of a recommendation model (DLRM) on each node.

Perceptrons are data-parallel: every node holds all their weights, and gradients are summed by an
all-reduce. Embedding tables are model-parallel: every node holds some of them, gathers rows for
the samples of all nodes, and sends the pooled rows to the nodes of the samples by an all-to-all;
their gradients come back by another. The optimizer is left out, as for perceptrons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from ridgepoint.core.amounts import Array
from ridgepoint.core.demand import Demand
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.demands.training import CONVENTIONS, ELEMENT_BYTES, TrainingStep, most_samples

INTERACTIONS = {
    "dot": "the products of all pairs of vectors, and the bottom perceptron's output",
    "cat": "all vectors, one after the other",
}
"""What the top perceptron gets of the embeddings and of the bottom perceptron's output, by name."""

PLACEMENTS = {
    "even": "every node holds an equal share of the columns of every table",
    "tables": "every node holds whole tables, the first nodes one more than the others",
}
"""How embedding tables are divided over the nodes, by name."""

MEMORIES = ("dram", "remote")
"""Where the rows of the tables may be: in a node's memory, or outside of it."""

_INDEX_BYTES = 8.0
"""A row is named by an integer of 64 bits."""


def outputs_of(interaction: str, *, dense: int, tables: int, columns: int) -> int:
    """Return the numbers that an interaction gives the top perceptron for a sample.

    Parameters
    ----------
    interaction : str
        One of `INTERACTIONS`.
    dense : int
        Outputs of the bottom perceptron.
    tables, columns : int
        As for `RecommendationModel`.

    Examples
    --------
    >>> outputs_of("dot", dense=128, tables=26, columns=128)
    479
    """
    return dense + ((tables + 1) * tables // 2 if interaction == "dot" else tables * columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationModel:
    """A deep learning recommendation model: two perceptrons, and embeddings between them.

    Parameters
    ----------
    bottom : tuple of int
        Layer sizes of the perceptron of dense features, input first.
    top : tuple of int
        Layer sizes of the perceptron above the interaction, input first.
    tables : int
        Number of embedding tables, one for each sparse feature.
    columns : int
        Length of a row of each table.
    lookups : int
        Rows of each table that a sample gathers; they are summed (pooled).
    interaction : str
        One of `INTERACTIONS`.

    Raises
    ------
    ValueError
        If a number is not whole and > 0, or the sizes do not fit together.

    References
    ----------
    .. [1] M. Naumov et al., "Deep learning recommendation model for personalization and
       recommendation systems", :arxiv:`1906.00091`.

    Examples
    --------
    >>> model = RecommendationModel(
    ...     bottom=(13, 512, 256, 128), top=(479, 1024, 1), tables=26, columns=128
    ... )
    >>> model.vectors, model.interaction_outputs
    (27, 479)
    """

    bottom: tuple[int, ...]
    top: tuple[int, ...]
    tables: int
    columns: int
    lookups: int = 1
    interaction: str = "dot"

    def __post_init__(self) -> None:
        require_whole(tables=self.tables, columns=self.columns, lookups=self.lookups)
        if self.interaction not in INTERACTIONS:
            known = ", ".join(INTERACTIONS)
            raise ValueError(f"interaction must be one of {known}, got {self.interaction!r}")
        for name in ("bottom", "top"):
            try:
                TrainingStep(layers=getattr(self, name))
            except ValueError as error:
                raise ValueError(str(error).replace("layers must", f"{name} must")) from error
        if self.bottom[-1] != self.columns and self.interaction == "dot":
            raise ValueError(
                f"bottom must end with the {self.columns} columns of the tables, with which its "
                f"output is multiplied, got {self.bottom[-1]}"
            )
        if self.top[0] != self.interaction_outputs:
            raise ValueError(
                f"top must begin with the {self.interaction_outputs} outputs of the interaction "
                f"({self.interaction}), got {self.top[0]}"
            )

    @property
    def vectors(self) -> int:
        """Vectors that interact: one of each table, and the bottom perceptron's output."""
        return self.tables + 1

    @property
    def interaction_outputs(self) -> int:
        """Numbers that the interaction gives the top perceptron for a sample."""
        return outputs_of(
            self.interaction, dense=self.bottom[-1], tables=self.tables, columns=self.columns
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationStep:
    """One step of training a recommendation model.

    Parameters
    ----------
    model : RecommendationModel
    precision, algorithm, convention : str
        As for `ridgepoint.demands.training.TrainingStep`.
    placement : str
        How tables are divided over the nodes: one of `PLACEMENTS`.
    rows_in : str
        Where the rows are: one of `MEMORIES`.

    Raises
    ------
    ValueError
        If a parameter is not one of its choices.

    Notes
    -----
    With T tables of rows of d numbers of e bytes, L lookups, n = T + 1 vectors, B samples of a
    node, and the convention ``footprint``:

    - embeddings: (L - 1) d T B flop, for the sums; (L d e + d e + 8 L) T B bytes of memory: rows,
      sums, and indices of 64 bits. Where the convention counts weights or activations more than
      once, rows and sums count as often.
    - interaction ``dot``: 6 n^2 d B flop, since forward and backward multiply whole matrices, as
      the published program does; its inputs and outputs cross memory once.
    - exchange: with ``even`` placement 2 (p-1)/p T B d e bytes, of vectors forward and of
      gradients backward. With whole tables, the busiest direction of the busiest link counts.

    References
    ----------
    .. [1] M. Naumov et al., :arxiv:`1906.00091`.
    .. [2] https://github.com/facebookresearch/dlrm: ``interact_features`` of dlrm_s_pytorch.py,
       ``get_split_lengths`` and ``alltoall`` of extend_distributed.py.

    Examples
    --------
    >>> step = RecommendationStep(
    ...     model=RecommendationModel(bottom=(2, 4), top=(7, 1), tables=2, columns=4)
    ... )
    >>> {name: dict(part.amounts) for name, part in step.parts(batch=10).items()}["embeddings"]
    {'fp32': 0.0, 'dram': 800.0, 'network': 640.0}
    """

    model: RecommendationModel
    precision: str = "fp32"
    algorithm: str = "ring"
    convention: str = "footprint"
    placement: str = "even"
    rows_in: str = "dram"

    def __post_init__(self) -> None:
        for name, known in (("placement", tuple(PLACEMENTS)), ("rows_in", MEMORIES)):
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")
        _ = self.perceptrons

    @property
    def perceptrons(self) -> tuple[TrainingStep, TrainingStep]:
        """The steps of the bottom and of the top perceptron."""
        bottom = TrainingStep(
            layers=self.model.bottom,
            precision=self.precision,
            algorithm=self.algorithm,
            convention=self.convention,
        )
        # The top's input gradient is what the embeddings learn from.
        convention = "footprint" if self.convention == "no-input-gradient" else self.convention
        return bottom, replace(bottom, layers=self.model.top, convention=convention)

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that a step asks for."""
        remote = () if self.rows_in == "dram" else (self.rows_in,)
        return (self.precision, "dram", "network", *remote)

    def demand(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Demand:
        """Return the demand of one step on the fullest node: the sum of its parts."""
        return reduce(Demand.__add__, self.parts(batch=batch, nodes=nodes, strong=strong).values())

    def parts(
        self, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None = None, strong: bool = False
    ) -> Mapping[str, Demand]:
        """Return the demand of each part of one step, on the node that has most of it.

        Parameters
        ----------
        batch, nodes, strong
            As for `ridgepoint.demands.training.TrainingStep.demand`.

        Returns
        -------
        mapping of str to Demand
            ``bottom``, ``embeddings``, ``interaction`` and ``top``, in the order of the forward
            pass.

        Raises
        ------
        ValueError
            If a number is not whole and > 0, `strong` is given without `nodes`, or whole tables
            are placed without `nodes` or on more nodes than there are tables.
        """
        bottom, top = self.perceptrons
        samples = most_samples(batch, nodes, strong=strong)
        division = _Division.of(batch=batch, nodes=nodes, strong=strong, samples=samples)
        return {
            "bottom": bottom.demand(batch=batch, nodes=nodes, strong=strong),
            "embeddings": self._embeddings(division),
            "interaction": self._interaction(samples),
            "top": top.demand(batch=batch, nodes=nodes, strong=strong),
        }

    def _embeddings(self, division: _Division) -> Demand:
        how, model = CONVENTIONS[self.convention], self.model
        vector = model.columns * ELEMENT_BYTES[self.precision]
        if self.placement == "even":
            pooled = division.pooled_evenly(model.tables)
            sent = division.sent_evenly(model.tables)
        else:
            pooled, sent = division.by_tables(model.tables)
        rows = how.weights * model.lookups * vector * pooled
        beside = (how.activations * vector + _INDEX_BYTES * model.lookups) * pooled
        in_memory = rows + beside if self.rows_in == "dram" else beside
        adds = (model.lookups - 1) * model.columns * pooled if how.has_forward else 0.0 * pooled
        exchanges = int(how.has_forward) + int(how.has_backward)
        amounts = {
            self.precision: adds, "dram": in_memory, "network": exchanges * vector * sent,
        }  # fmt: skip
        return Demand(amounts if self.rows_in == "dram" else {**amounts, self.rows_in: rows})

    def _interaction(self, samples: Array) -> Demand:
        how, model = CONVENTIONS[self.convention], self.model
        products = model.vectors**2 * model.columns if model.interaction == "dot" else 0
        inputs = model.bottom[-1] + model.tables * model.columns
        moved = how.activations * ELEMENT_BYTES[self.precision]
        return Demand(
            {
                self.precision: how.flop_per_weight * products * samples,
                "dram": moved * (inputs + model.interaction_outputs) * samples,
                "network": 0.0 * samples,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Division:
    """How samples are divided over nodes; all numbers broadcast.

    Parameters
    ----------
    total : ndarray or None
        Samples of all nodes; None: the limit of many nodes.
    nodes : ndarray or None
    most : ndarray
        Samples of the fullest node.
    """

    total: Array | None
    nodes: Array | None
    most: Array

    @classmethod
    def of(
        cls, *, batch: npt.ArrayLike, nodes: npt.ArrayLike | None, strong: bool, samples: Array
    ) -> _Division:
        """Return the division of a batch, as `TrainingStep.demand` takes it."""
        if nodes is None:
            return cls(total=None, nodes=None, most=samples)
        count = np.asarray(nodes, dtype=np.float64)
        size = np.asarray(batch, dtype=np.float64)
        return cls(total=size if strong else size * count, nodes=count, most=samples)

    def pooled_evenly(self, tables: int) -> Array:
        """Return the vectors that a node pools, in vectors of full length."""
        if self.total is None or self.nodes is None:
            return tables * self.most
        return np.asarray(tables * self.total / self.nodes)

    def sent_evenly(self, tables: int) -> Array:
        """Return the vectors that the fullest node gets from all others in one exchange."""
        share = 1.0 if self.nodes is None else (self.nodes - 1.0) / self.nodes
        return np.asarray(tables * self.most * share)

    def by_tables(self, tables: int) -> tuple[Array, Array]:
        """Return the vectors that the fullest node pools, and those over the busiest link.

        Raises
        ------
        ValueError
        """
        if self.total is None or self.nodes is None:
            raise ValueError("nodes must be given where each node holds whole tables")
        if (self.nodes > tables).any():
            raise ValueError(
                f"nodes must be at most the {tables} tables where each node holds whole tables, "
                f"got {np.max(self.nodes):g}"
            )
        (few, more_tables), (least, more_samples) = (
            np.divmod(amount, self.nodes) for amount in (np.float64(tables), self.total)
        )
        busiest = np.zeros(())
        # The first nodes have one more: of tables, of samples, or of both. No node has any other.
        for own, samples in (
            (few + (more_tables > 0), least + (more_samples > 0)),
            (few + (more_tables > more_samples), least + (more_samples > more_tables)),
            (few, least),
        ):
            sent, got = own * (self.total - samples), (tables - own) * samples
            busiest = np.maximum(busiest, np.maximum(sent, got))
        return np.asarray((few + (more_tables > 0)) * self.total), busiest
