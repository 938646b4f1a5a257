"""When a run under callgrind gives no counts, and what to tell the user then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.host.run import Run
from ridgepoint.meters.callgrind.files import Written
from ridgepoint.meters.object_file import ObjectFile
from ridgepoint.meters.valgrind.refusals import (
    check_ended_by_itself,
    check_main_is_counted,
    check_supported,
)


def check(written: Written, command: Sequence[str], run: Run, *, version: str) -> None:
    """Refuse a run whose counts would be wrong or are not there.

    Raises
    ------
    UnsupportedInstruction
        If any process executed an instruction that Valgrind cannot, even if it survived.
    CannotMeasure
        If the program was killed, left no profile, or forked in a way that callgrind counts twice.
    """
    what = f"cannot count {command[0]!r} with callgrind"
    check_supported(what, written.logs, executed=_executed(written), version=version)
    check_main_is_counted(what, written.logs, written.pids, run)
    check_ended_by_itself(what, written.logs, run)
    twice = _counted_twice(written)
    if twice:
        raise CannotMeasure(
            what,
            reason=f"process {twice[0]} was forked past the C library's functions, and its profile "
            "repeats what its parent had done",
            remedy="link the program with the C library dynamically, or do not strip it",
        )


def _counted_twice(written: Written) -> list[int]:
    """Return forked processes whose costs begin with the first block of an ancestor.

    Costs are written, and zeroed, on entry to the functions that fork, so that a forked child
    begins at a later block; unless it was forked by a function of another name.
    """
    forked = {log.pid for log in written.logs if log.forked}
    return [p.pid for p in written.profiles if p.pid in forked and p.first_block == 0]


def _executed(written: Written) -> Iterable[ObjectFile]:
    paths = sorted({path for p in written.profiles for path, _ in p.functions if path is not None})
    return (file for path in paths if (file := written.code.get(path)) is not None)
