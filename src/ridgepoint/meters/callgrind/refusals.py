"""When a run under callgrind gives no counts, and what to tell the user then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ridgepoint.errors import CannotMeasure
from ridgepoint.meters import Run
from ridgepoint.meters.callgrind.files import Written
from ridgepoint.meters.object_file import ObjectFile
from ridgepoint.meters.valgrind.refusals import check_supported

_SAID_BYTES = 500


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
    ended = [log.ended_by for log in written.logs if log.ended_by is not None]
    main_is_lost = not written.pids or bool(written.main & set(written.lost))
    if run.exit_status > 128 and (ended or main_is_lost):
        raise CannotMeasure(
            what,
            reason=f"it ended with status {run.exit_status}; "
            f"Valgrind says: {'; '.join(ended) or 'nothing, it was killed'}",
            remedy="see whether it runs without Valgrind; if it does, give it more memory",
        )
    if main_is_lost:
        said = written.logs[0].text[-_SAID_BYTES:].strip() if written.logs else "nothing"
        raise CannotMeasure(
            what,
            reason=f"Valgrind wrote no profile of it (exit status {run.exit_status}) and says: "
            f"{said}",
            remedy="look for room in the temporary directory, and whether the program is one "
            "that Valgrind may run (not setuid, not 32-bit)",
        )
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
