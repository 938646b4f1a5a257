"""What kernels ask for that PyTorch's compiler generated."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.arrays import distinct_bytes
from ridgepoint.demands.operators.rule import Rule


def _fused(call: Call) -> Asked:
    """Bytes of a kernel follow from its arrays; its work from what it fuses, which is not known.

    An array is counted whole, though a kernel may read only a part of it.
    """
    return Asked(
        kind="fused",
        work=None,
        read_bytes=distinct_bytes(call.inputs),
        write_bytes=distinct_bytes(call.outputs),
        rule="arrays of a generated kernel, each once",
        unknown=f"nobody says how much work {call.overload} does, which the compiler generated",
    )


RULES: Mapping[str, Rule] = {"inductor.fused": _fused}
