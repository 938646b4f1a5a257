"""Rules of PyTorch's operators, in their families."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.demands.operators.aten import (
    attention,
    convolutions,
    elementwise,
    indexing,
    linear_algebra,
    losses,
    moving,
    normalisation,
    optimizers,
    pooling,
    products,
    recurrent,
    reductions,
)
from ridgepoint.demands.operators.rule import Rule

RULES: Mapping[str, Rule] = {
    f"aten.{name}": rule
    for family in (
        elementwise,
        reductions,
        products,
        convolutions,
        attention,
        normalisation,
        indexing,
        moving,
        pooling,
        losses,
        recurrent,
        optimizers,
        linear_algebra,
    )
    for name, rule in family.RULES.items()
}
"""Rules by the operator's name without overload; those in place have the rule of the other."""
