"""What to doubt in what Nsight Compute counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Traffic
from ridgepoint.core.resources import PRECISIONS
from ridgepoint.core.units import format_si
from ridgepoint.meters.ncu.counts import Amounts, time_s
from ridgepoint.meters.ncu.metrics import OPERATIONS, TENSOR, tensor_name


def kernels_alone(launches: Sequence[Amounts]) -> Iterator[Caution]:
    """Yield what the counts are of, and the time in kernels where it is known."""
    in_kernels = time_s(launches)
    lasted = (
        ""
        if in_kernels is None
        else f", which take {format_si(in_kernels, 's')} one after the other under Nsight Compute"
    )
    yield Caution(
        "kernels-alone",
        f"work and traffic are those of {len(launches)} launches of kernels{lasted}; the runtime "
        "is the program's, with its work on the CPU and its copies",
        "give the program enough work that its kernels take most of the time",
    )


def cold_caches() -> Iterator[Caution]:
    """Yield a caution: kernels are counted with other caches than they run with."""
    yield Caution(
        "caches-emptied",
        "each kernel is counted with empty caches, because Nsight Compute empties them: data "
        "that the previous kernel left in L2 is counted as read from DRAM, and data that stays "
        "in L2 is not counted as written",
        "for kernels whose data fits into L2, take the DRAM traffic as a rough figure",
    )


def tensor_cores(launches: Sequence[Amounts]) -> Iterator[Caution]:
    """Yield a caution if work of tensor cores is not known, or of a format without a roof."""
    unknown = [
        precision
        for precision in TENSOR
        if any(launch.count(tensor_name(precision)) is None for launch in launches)
    ]
    if unknown:
        yield Caution(
            "tensor-unknown",
            f"the work of tensor cores in {', '.join(unknown)} is not known: this Nsight "
            "Compute, or this GPU, does not count it",
            "if the program multiplies matrices in these formats, W is too low; update Nsight "
            "Compute",
        )
    for precision in TENSOR:
        done = sum(launch.count(tensor_name(precision)) or 0 for launch in launches)
        if done and precision not in PRECISIONS:
            yield Caution(
                "left-out",
                f"W does not include {format_si(done, 'flop')} of tensor cores in {precision}: "
                "machines have no roof for that format",
                "compute in fp32 (NVIDIA_TF32_OVERRIDE=0) to place this work, or add it by hand",
            )


def packed_numbers(launches: Sequence[Amounts]) -> Iterator[Caution]:
    """Yield a caution if instructions work on pairs of which one number may not matter."""
    kinds = [operation for operation in OPERATIONS if operation.precision == "fp16"]
    if any(launch.count(operation.kind) for launch in launches for operation in kinds):
        yield Caution(
            "packed",
            "each half-precision instruction counts as two numbers, as in Nsight Compute's own "
            "roofline; bf16 instructions count as fp16, since no metric tells them apart",
            "for code that uses one half of each pair, half of that work was not useful",
        )


def traffic_unknown(traffic: Sequence[Traffic]) -> Iterator[Caution]:
    """Yield a caution if the memory traffic is not known."""
    if all(part.level != "dram" for part in traffic):
        yield Caution(
            "traffic-unknown",
            "the memory traffic is not known: this Nsight Compute, or this GPU, does not count it",
            "update Nsight Compute; GPUs that share memory with the CPU have no such counter",
        )


def several_runs(n_runs: int) -> Iterator[Caution]:
    """Yield a caution if the program was run again for metrics that were not known."""
    if n_runs > 1:
        yield Caution(
            "metrics-replaced",
            f"the program was started {n_runs} times, until Nsight Compute knew all metrics",
            "do nothing if its runs are alike",
        )
