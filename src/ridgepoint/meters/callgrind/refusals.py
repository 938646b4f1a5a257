"""When a run under callgrind gives no counts, and what to tell the user then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ridgepoint.errors import CannotMeasure, UnsupportedInstruction
from ridgepoint.meters import Run
from ridgepoint.meters.callgrind.files import Written
from ridgepoint.meters.callgrind.log import Unhandled
from ridgepoint.meters.decode import decode, disassemble
from ridgepoint.meters.object_file import ObjectFile

_PAGE_BYTES = 4096
_TRAPS = {"UD0", "UD1", "UD2"}  # they exist to raise SIGILL: the program's own doing
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
    for log in written.logs:
        for unhandled in log.unhandled:
            if not _is_trap(unhandled.code):
                raise _unsupported(what, unhandled, written, version=version)
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


def _is_trap(code: bytes) -> bool:
    operation = decode(code)
    return operation is not None and operation.mnemonic in _TRAPS


def _counted_twice(written: Written) -> list[int]:
    """Return forked processes whose costs begin with the first block of an ancestor.

    Costs are written, and zeroed, on entry to the functions that fork, so that a forked child
    begins at a later block; unless it was forked by a function of another name.
    """
    forked = {log.pid for log in written.logs if log.forked}
    return [p.pid for p in written.profiles if p.pid in forked and p.first_block == 0]


def _unsupported(
    what: str, unhandled: Unhandled, written: Written, *, version: str
) -> UnsupportedInstruction:
    operation = decode(unhandled.code)
    text = repr(disassemble(unhandled.code) or f"bytes {unhandled.code.hex(' ')}")
    path = unhandled.object or _holder(unhandled, written) or "code of no known file"
    function = "" if unhandled.function is None else f"function {unhandled.function!r} of "
    remedy = "rebuild that code for x86-64-v3 (-march=x86-64-v3)"
    if operation is not None and operation.needs_avx512:
        text += " (AVX-512)"
        remedy = (
            "rebuild that code without AVX-512 (-mno-avx512f, or -march=x86-64-v3 for all of it), "
            "or make the program choose its AVX2 path"
        )
    return UnsupportedInstruction(
        what,
        reason=f"it executes {text} at {unhandled.address:#x} in {function}{path}, "
        f"which Valgrind {version} cannot",
        remedy=remedy,
    )


def _holder(unhandled: Unhandled, written: Written) -> str | None:
    """Return the object that has these bytes at this place of a page, or None.

    Valgrind's log names a source line in place of the object where there is debug information;
    loading moves code by whole pages.
    """
    for file in _executed(written):
        for segment in file.segments:
            offset = segment.code.find(unhandled.code)
            while offset >= 0:
                if (segment.address + offset - unhandled.address) % _PAGE_BYTES == 0:
                    return file.path
                offset = segment.code.find(unhandled.code, offset + 1)
    return None


def _executed(written: Written) -> Iterable[ObjectFile]:
    paths = sorted({path for p in written.profiles for path, _ in p.functions if path is not None})
    return (file for path in paths if (file := written.code.get(path)) is not None)
