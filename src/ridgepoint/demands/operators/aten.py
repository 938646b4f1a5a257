"""Rules of PyTorch's operators, in their families."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.demands.operators import (
    aten_attention,
    aten_convolutions,
    aten_elementwise,
    aten_indexing,
    aten_moving,
    aten_normalisation,
    aten_products,
    aten_reductions,
)
from ridgepoint.demands.operators.rule import Rule

RULES: Mapping[str, Rule] = {
    f"aten.{name}": rule
    for family in (
        aten_elementwise,
        aten_reductions,
        aten_products,
        aten_convolutions,
        aten_attention,
        aten_normalisation,
        aten_indexing,
        aten_moving,
    )
    for name, rule in family.RULES.items()
}
"""Rules by the operator's name without overload; those in place have the rule of the other."""
