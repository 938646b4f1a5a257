"""What is measured on a GPU, with how much of it, and what theory says: pure."""

from __future__ import annotations

from dataclasses import dataclass

from ridgepoint.ceilings.gpu.device import Facts, Sizes
from ridgepoint.ceilings.gpu.kernels import BLOCK_THREADS, Chain, Product, Stream, Task, pass_bytes
from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.units import format_si

_BUFFER_BYTES = 2 << 30
_MOST_OF_MEMORY = 0.25
"""Share of the free memory that the two buffers of streams may take, and the matrices as much."""

_BEYOND_CACHE = 4
"""A buffer is at least so many times as large as the last cache."""

_MATRICES = (8192, 4096, 2048, 1024)
_STREAMS = ("load", "store", "copy")
_VECTOR = ("fp64", "fp32")
_PRODUCTS = ("fp64", "fp32", "tf32", "fp16", "bf16")

_TENSOR_SINCE = {"fp16": (7, 0), "tf32": (8, 0), "bf16": (8, 0)}
_FP64_TENSOR = frozenset(((8, 0), (9, 0), (10, 0)))
_LEAST_CAPABILITY = (6, 0)

# CUDA C++ Programming Guide, "Arithmetic Instructions": results per clock and multiprocessor.
_PER_CLOCK = {
    (6, 0): {"fp64": 32, "fp32": 64},
    (7, 0): {"fp64": 32, "fp32": 64},
    (7, 5): {"fp64": 2, "fp32": 64},
    (8, 0): {"fp64": 32, "fp32": 64},
    (8, 6): {"fp64": 2, "fp32": 128},
    (8, 9): {"fp64": 2, "fp32": 128},
    (9, 0): {"fp64": 64, "fp32": 128},
}
_FLOP_OF_FMA = 2
_TRANSFERS_PER_CLOCK = 2
_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One ceiling that is to be measured.

    Parameters
    ----------
    resource, name : str
        As in `ridgepoint.core.machine.Ceiling`; the published GPUs have the same names.
    task : Stream, Chain or Product
    part : str or None
        What it stands for, if not for the machine: no bound counts on it then.
    """

    resource: str
    name: str
    task: Task
    part: str | None = None


def entries(facts: Facts) -> tuple[Entry, ...]:
    """Return what is measured on a device, as far as it can do it.

    Raises
    ------
    CannotMeasure
        If the device is too old for all of it.
    """
    if facts.capability < _LEAST_CAPABILITY:
        major, minor = facts.capability
        raise CannotMeasure(
            f"cannot measure {facts.name}",
            reason=(
                f"its compute capability {major}.{minor} is too old: CuPy and CUDA 12 and "
                "later no longer support all of it"
            ),
            remedy="measure a GPU of compute capability 6.0 or later (2016)",
        )
    return (
        *(Entry(resource="dram", name=name, task=Stream(operation=name)) for name in _STREAMS),
        *(Entry(resource=name, name="vector", task=Chain(precision=name)) for name in _VECTOR),
        *(
            _product(precision, facts)
            for precision in _PRODUCTS
            if facts.capability >= _TENSOR_SINCE.get(precision, _LEAST_CAPABILITY)
        ),
    )


def _product(precision: str, facts: Facts) -> Entry:
    """Return the ceiling of a matrix product, named by the units that it runs on."""
    task = Product(precision=precision)
    if precision == "tf32":
        # Its factors are fp32 in memory, rounded to 11 bit: no work in fp32 is bounded by it.
        return Entry(resource="fp32", name="tensor", task=task, part="tensor cores in TF32")
    tensor = precision in _TENSOR_SINCE or (
        precision == "fp64" and facts.capability in _FP64_TENSOR
    )
    return Entry(resource=precision, name="tensor" if tensor else "matrix product", task=task)


def sizes_for(facts: Facts) -> Sizes:
    """Return sizes that no cache holds and that fit into the free memory together.

    Raises
    ------
    CannotMeasure
        If there is too little.
    """
    # All of them resident at once: none begins when others have ended.
    blocks = facts.multiprocessors * (facts.resident_threads // BLOCK_THREADS)
    share = _MOST_OF_MEMORY * facts.free_bytes
    round_bytes = blocks * pass_bytes()
    passes = int(min(_BUFFER_BYTES, share / 2) / round_bytes)
    matrix = next((size for size in _MATRICES if _all_matrices(size) <= share), None)
    cached = _BEYOND_CACHE * (facts.l2_bytes or 0)
    if matrix is None or passes == 0 or passes * round_bytes < cached:
        needed = max(2 * max(cached, round_bytes), _all_matrices(_MATRICES[-1])) / _MOST_OF_MEMORY
        raise CannotMeasure(
            f"cannot measure {facts.name}",
            reason=(
                f"only {format_si(facts.free_bytes, 'B')} of its memory is free, but "
                f"{format_si(needed, 'B')} is needed"
            ),
            remedy="end other programs on the device: nvidia-smi lists them",
        )
    return Sizes(buffer_bytes=passes * round_bytes, passes=passes, blocks=blocks, matrix=matrix)


def _all_matrices(size: int) -> int:
    return sum(Product(precision=name).needed_bytes(size=size) for name in _PRODUCTS)


def theory(entry: Entry, facts: Facts, clock_hz: float | None) -> tuple[float, str] | None:
    """Return what a ceiling is by theory, with how that follows; None: unknown.

    Parameters
    ----------
    entry : Entry
    facts : Facts
    clock_hz : float or None
        Of the multiprocessors, as measured.
    """
    if isinstance(entry.task, Stream):
        if facts.memory_hz is None or facts.bus_bits is None:
            return None
        width_bytes = facts.bus_bits / _BITS_PER_BYTE
        return (
            _TRANSFERS_PER_CLOCK * facts.memory_hz * width_bytes,
            f"2 transfers in each cycle of {facts.memory_hz / 1e6:.0f} MHz, {facts.bus_bits} "
            "bits wide, as the driver reports them",
        )
    per_clock = _PER_CLOCK.get(facts.capability, {})
    if not isinstance(entry.task, Chain) or clock_hz is None or entry.resource not in per_clock:
        return None
    lanes = per_clock[entry.resource]
    return (
        float(_FLOP_OF_FMA * lanes * facts.multiprocessors) * clock_hz,
        f"{lanes} multiply-adds in each cycle of each of {facts.multiprocessors} multiprocessors "
        "(CUDA C++ Programming Guide, Arithmetic Instructions)",
    )
