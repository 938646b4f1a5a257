"""Tables that users exported with ``ncu --csv``, as given points: one for each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.given import GivenPoint
from ridgepoint.meters.ncu.counts import Amounts, amounts_of, functions_of, time_s
from ridgepoint.meters.ncu.metrics import DRAM_READ, DRAM_WRITE, OPERATIONS, QUANTITIES, Choice
from ridgepoint.meters.ncu.rows import Launch, parse_launches

_HEADER = '"ID","Process ID"'
_REMEDY = (
    "export smsp__sass_thread_inst_executed_op_{dadd,dmul,dfma,fadd,fmul,ffma}_pred_on.sum, "
    "dram__bytes_read.sum, dram__bytes_write.sum and gpu__time_duration.sum"
)


def is_table(text: str) -> bool:
    """Return whether a text holds a table of ``ncu --csv``."""
    return any(line.startswith(_HEADER) for line in text.splitlines())


def points_of(text: str, path: Path) -> tuple[GivenPoint, ...]:
    """Return a point for each kernel that does flop, of all its launches together.

    Parameters
    ----------
    text : str
        What ``ncu --csv`` printed, on the page ``raw`` or ``details``.
    path : Path
        For messages.

    Returns
    -------
    tuple of GivenPoint
        Work is that of the precisions whose additions, products and multiply-adds are all in the
        table, and of the tensor cores; the precision with most of it bounds.

    Raises
    ------
    InvalidDocument
        If it is not understood, or no kernel has work and bytes.
    """
    metrics = frozenset(chain.from_iterable(chain(*(q.alternatives for q in QUANTITIES))))
    launches = parse_launches(text.splitlines(keepends=True), metrics=metrics)
    choice = _choice(launches)
    amounts = [_counted(amounts_of(launch, choice)) for launch in launches]
    if not any({DRAM_READ, DRAM_WRITE} <= launch.known.keys() for launch in amounts):
        raise _refused(path, "it has no bytes of DRAM")
    points = tuple(_points(amounts))
    if not points:
        raise _refused(path, "no kernel in it has flop")
    return points


def _choice(launches: Sequence[Launch]) -> Choice:
    """Return the metrics of each quantity that every launch has."""
    common = set.intersection(*(set(launch.values) for launch in launches)) if launches else set()
    return {
        quantity.name: next(
            (names for names in quantity.alternatives if common.issuperset(names)), ()
        )
        for quantity in QUANTITIES
    }


def _counted(launch: Amounts) -> Amounts:
    """Return the quantities without operations of precisions that are known only in part."""
    unknown = {
        operation.precision
        for operation in OPERATIONS
        # Pairs of fp32 are only on some devices.
        if operation.kind not in launch.known and not operation.kind.endswith("2")
    }
    dropped = {operation.kind for operation in OPERATIONS if operation.precision in unknown}
    known = {name: value for name, value in launch.known.items() if name not in dropped}
    return Amounts(kernel=launch.kernel, known=known)


def _points(amounts: Sequence[Amounts]) -> Iterable[GivenPoint]:
    for function in functions_of(amounts):
        work = function.counts.work
        dram = next((part for part in function.traffic if part.level == "dram"), None)
        if not function.counts.work_flop or dram is None or dram.write_bytes is None:
            continue
        seconds = time_s(launch for launch in amounts if launch.kernel == function.name)
        yield GivenPoint(
            name=function.name,
            resource=max(work, key=lambda precision: work[precision]),
            work=Estimate([function.counts.work_flop]),
            read=Estimate([dram.read_bytes]),
            write=Estimate([dram.write_bytes]),
            runtime=Estimate([seconds]) if seconds else None,
        )


def _refused(path: Path, reason: str) -> InvalidDocument:
    return InvalidDocument(f"cannot read the points of {path}", reason=reason, remedy=_REMEDY)
