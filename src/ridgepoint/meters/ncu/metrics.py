"""What Nsight Compute is asked for, and how that makes work and traffic: one table, pure.

The counts of the CUDA cores and of traffic are those of the roofline method for NVIDIA GPUs:
C. Yang, T. Kurth, S. Williams, "Hierarchical Roofline analysis for GPUs: Accelerating
performance optimization for the NERSC-9 Perlmutter system", CCPE 32(20), 2020,
doi:10.1002/cpe.5547; half precision and tensor cores as the sections do that come with Nsight
Compute (SpeedOfLight_Hierarchical*RooflineChart).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_EXECUTED = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_TENSOR = "sm__ops_path_tensor_src_{}.sum"

INSTRUCTIONS, TIME = "instructions", "time"
DRAM_READ, DRAM_WRITE = "dram_read", "dram_write"
L1, L1_GLOBAL_STORE, L1_LOCAL_STORE = "l1", "l1_global_store", "l1_local_store"
L2, L2_READ_SECTORS = "l2", "l2_read_sectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One thing that is counted.

    Parameters
    ----------
    name : str
    alternatives : tuple of tuple of str
        Metrics whose sum it is; where a version or a device lacks one, the next alternative.
    required : bool
        Whether nothing is known without it.
    """

    name: str
    alternatives: tuple[tuple[str, ...], ...]
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Instructions of the CUDA cores that do flop.

    Parameters
    ----------
    precision : str
    kind : str
        As in the metric: ``dfma``.
    flop : int
        Of one thread's instruction.
    fma : bool
    """

    precision: str
    kind: str
    flop: int
    fma: bool

    @property
    def is_packed(self) -> bool:
        """Whether an instruction works on two numbers, of which one may not matter."""
        return self.precision == "fp16" or self.kind.endswith("2")


OPERATIONS = (
    Operation(precision="fp64", kind="dadd", flop=1, fma=False),
    Operation(precision="fp64", kind="dmul", flop=1, fma=False),
    Operation(precision="fp64", kind="dfma", flop=2, fma=True),
    Operation(precision="fp32", kind="fadd", flop=1, fma=False),
    Operation(precision="fp32", kind="fmul", flop=1, fma=False),
    Operation(precision="fp32", kind="ffma", flop=2, fma=True),
    # Pairs of fp32 in one instruction: from compute capability 10 on.
    Operation(precision="fp32", kind="fadd2", flop=2, fma=False),
    Operation(precision="fp32", kind="fmul2", flop=2, fma=False),
    Operation(precision="fp32", kind="ffma2", flop=4, fma=True),
    # Every instruction of half precision works on a pair.
    Operation(precision="fp16", kind="hadd", flop=2, fma=False),
    Operation(precision="fp16", kind="hmul", flop=2, fma=False),
    Operation(precision="fp16", kind="hfma", flop=4, fma=True),
)

TENSOR = ("fp64", "fp16", "bf16", "tf32")
"""Precisions of the factors of tensor cores; what is counted are flop."""

_SINCE_CAPABILITY_10 = frozenset(("fadd2", "fmul2", "ffma2"))

_SPARSITY = ("_sparsity_off", "_sparsity_on")


def _with_sparsity(*sources: str) -> tuple[str, ...]:
    """Return the metrics of later versions, which tell dense from sparse factors."""
    return tuple(_TENSOR.format(f"{source}{end}") for source in sources for end in _SPARSITY)


def tensor_name(precision: str) -> str:
    """Return the name of the work of tensor cores in a precision."""
    return f"tensor_{precision}"


QUANTITIES = (
    Quantity(
        name=INSTRUCTIONS,
        alternatives=(
            ("smsp__thread_inst_executed.sum",),
            ("smsp__sass_thread_inst_executed.sum",),
        ),
        required=True,
    ),
    *(
        Quantity(
            name=operation.kind,
            alternatives=((_EXECUTED.format(operation.kind),),),
            required=operation.kind not in _SINCE_CAPABILITY_10,
        )
        for operation in OPERATIONS
    ),
    Quantity(name=tensor_name("fp64"), alternatives=((_TENSOR.format("fp64"),),)),
    Quantity(
        name=tensor_name("fp16"),
        alternatives=(
            (_TENSOR.format("fp16_dst_fp16"), _TENSOR.format("fp16_dst_fp32")),
            (_TENSOR.format("fp16"),),
            _with_sparsity("fp16_dst_fp16", "fp16_dst_fp32"),
        ),
    ),
    Quantity(
        name=tensor_name("bf16"),
        alternatives=((_TENSOR.format("bf16_dst_fp32"),), _with_sparsity("bf16_dst_fp32")),
    ),
    Quantity(
        name=tensor_name("tf32"),
        alternatives=((_TENSOR.format("tf32_dst_fp32"),), _with_sparsity("tf32_dst_fp32")),
    ),
    # The second names are those of Nsight Compute 2025 for Blackwell.
    Quantity(
        name=DRAM_READ, alternatives=(("dram__bytes_read.sum",), ("dram__bytes_op_read.sum",))
    ),
    Quantity(
        name=DRAM_WRITE, alternatives=(("dram__bytes_write.sum",), ("dram__bytes_op_write.sum",))
    ),
    Quantity(name=L2, alternatives=(("lts__t_bytes.sum",),)),
    Quantity(name=L2_READ_SECTORS, alternatives=(("lts__t_sectors_op_read.sum",),)),
    Quantity(name=L1, alternatives=(("l1tex__t_bytes.sum",),)),
    Quantity(
        name=L1_GLOBAL_STORE, alternatives=(("l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum",),)
    ),
    Quantity(name=L1_LOCAL_STORE, alternatives=(("l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum",),)),
    Quantity(name=TIME, alternatives=(("gpu__time_duration.sum",),)),
)

Choice = Mapping[str, tuple[str, ...]]
"""The metrics of each quantity that are asked for; none of one that is known not to be there."""


def first_choice() -> Choice:
    """Return the metrics that are asked for first."""
    return {quantity.name: quantity.alternatives[0] for quantity in QUANTITIES}


def without(choice: Choice, missing: frozenset[str]) -> Choice | str:
    """Return what to ask for where some metrics are not known; or one that nothing replaces.

    Parameters
    ----------
    choice : mapping
    missing : frozenset of str
        Metrics, with or without what follows the point.
    """
    bare = {name.partition(".")[0] for name in missing}
    changed = {}
    for quantity in QUANTITIES:
        asked = choice[quantity.name]
        if not _lacks(asked, bare):
            changed[quantity.name] = asked
            continue
        rest = quantity.alternatives[quantity.alternatives.index(asked) + 1 :]
        left = next((one for one in rest if not _lacks(one, bare)), ())
        if not left and quantity.required:
            return asked[0]
        changed[quantity.name] = left
    return changed


def _lacks(metrics: tuple[str, ...], bare: set[str]) -> bool:
    return any(metric.partition(".")[0] in bare for metric in metrics)


def asked(choice: Choice) -> str:
    """Return the metrics as ``--metrics`` wants them."""
    return ",".join(metric for metrics in choice.values() for metric in metrics)
