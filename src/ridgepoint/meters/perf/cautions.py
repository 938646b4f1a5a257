"""What is doubtful about counts of the hardware."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.counts import Traffic
from ridgepoint.core.units import format_si
from ridgepoint.meters.perf.calibration import Calibration
from ridgepoint.meters.perf.metrics import Amount, Amounts, Unknown
from ridgepoint.meters.perf.plan import MIX, OTHER_MEMORIES, PRECISIONS, Plan

_SHORTEST_S = (
    0.1  # energy counters tick every millisecond or so, and bytes of others drown short runs
)

_MEANINGS = {
    "approximate": "an approximation",
    "overcount_on_cache_miss": (
        "too high, because work is counted again whenever an operand misses the caches"
    ),
    "speculative": (
        "some per cent too high, because instructions that were started and discarded are "
        "counted too"
    ),
    "speculative_precision_merged": (
        "all precisions together, and some per cent too high, because instructions that were "
        "started and discarded are counted too"
    ),
    "assumes_one_precision": "right only if all work is in one precision",
    "validate_on_hardware": "counted with events whose documentation leaves questions open",
}
_ENGINE = "count with --meter engine, or compare: --meter both"


def several_runs(n_runs: int) -> Iterator[Caution]:
    """Doubt counts that were put together from several runs."""
    if n_runs > 1:
        yield Caution(
            "several-runs",
            f"there were too few counters to count everything at once: {n_runs} runs were counted",
            "let every run do the same work (same input, same seeds)",
        )


def assumed_precision(known: Amounts, assumed: str) -> Iterator[Caution]:
    """Doubt the precision of work that the CPU does not tell apart."""
    flop = known.get("flop")
    if isinstance(flop, Amount) and flop.value:
        yield Caution(
            "precision-assumed",
            "this CPU counts the flop of all precisions together; all of them are shown as "
            f"{assumed}",
            "count with --meter engine, which tells precisions apart",
        )


def quality(known: Amounts, *, calibrated: Calibration | None) -> Iterator[Caution]:
    """Doubt metrics whose documents do, unless known kernels confirmed them."""
    confirmed = {} if calibrated is None else calibrated.factors
    by_quality: dict[str, list[str]] = {}
    for name in ("flop", *PRECISIONS, *MIX, "dram_read", "dram_write"):
        amount = known.get(name)
        if isinstance(amount, Amount) and amount.quality in _MEANINGS and name not in confirmed:
            by_quality.setdefault(amount.quality, []).append(name)
    for kind, names in by_quality.items():
        yield Caution("approximate-counts", f"{', '.join(names)}: {_MEANINGS[kind]}", _ENGINE)


def unknown(known: Amounts, traffic: Sequence[Traffic]) -> Iterator[Caution]:
    """Say what is not known, and why."""
    if not traffic:
        total = known.get("dram_total")
        sum_text = (
            f"; reads and writes together are {format_si(total.value, 'B')}"
            if isinstance(total, Amount)
            else ""
        )
        yield from _unknown("memory traffic", known["dram_read"], sum_text)
    elif traffic[0].write_bytes is None:
        yield from _unknown("the bytes written to memory", known["dram_write"])
    for name in ("branches", "loads", "stores"):
        yield from _unknown(name, known[name])


def _unknown(what: str, amount: Amount | Unknown, also: str = "") -> Iterator[Caution]:
    if isinstance(amount, Unknown):
        yield Caution("unknown", f"{what}: not known, because {amount.reason}{also}", _ENGINE)


def whole_machine(plan: Plan, traffic: Sequence[Traffic], *, idle_s: float) -> Iterator[Caution]:
    """Doubt traffic that memory controllers counted: they do not know whose it is."""
    metrics = plan.metrics.get("dram_read", ())
    if not traffic or plan.microarchitecture.core_of(metrics[0]) is not None:
        return
    less = f", less the traffic of the idle machine, watched for {idle_s:g} s" if idle_s else ""
    yield Caution(
        "whole-machine-traffic",
        "the memory traffic is that of all sockets during the run, including other programs, "
        f"the kernel and devices{less}",
        "run nothing else on the machine, and let the program run long",
    )


def other_memories(known: Amounts) -> Iterator[Caution]:
    """Say what went through memories that Q leaves out."""
    for memory in OTHER_MEMORIES:
        amounts = (known.get(f"{memory}_{way}") for way in ("read", "write"))
        moved = sum(amount.value for amount in amounts if isinstance(amount, Amount))
        if moved:
            yield Caution(
                "other-memory",
                f"{format_si(moved, 'B')} went through {memory.upper()} besides the DRAM traffic",
                "if this memory caches DRAM, both hold the same bytes; otherwise add them",
            )


def short(energy_j: dict[str, float] | None, wall_s: float) -> Iterator[Caution]:
    """Doubt the energy of a run that is hardly longer than the meter's tick."""
    if energy_j is not None and wall_s < _SHORTEST_S:
        yield Caution(
            "energy-of-a-short-run",
            f"the program ran for {wall_s * 1e3:.0f} ms; energy is metered in steps of a "
            "millisecond or more",
            "give the program more to do",
        )
