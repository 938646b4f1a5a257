"""When a run under Valgrind gives no counts, and what to tell the user then."""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable

from ridgepoint.core.errors import CannotMeasure, UnsupportedInstruction
from ridgepoint.host.run import Run
from ridgepoint.meters.decode import decode, disassemble
from ridgepoint.meters.object_file import ObjectFile
from ridgepoint.meters.valgrind.log import Log, Unhandled, lost, main_process

_PAGE_BYTES = 4096
_TRAPS = {"UD0", "UD1", "UD2"}  # they exist to raise SIGILL: the program's own doing
_SAID_BYTES = 500


def check_supported(
    what: str, logs: Iterable[Log], *, executed: Iterable[ObjectFile], version: str
) -> None:
    """Refuse a run in which any process executed what Valgrind cannot, even if it survived.

    Parameters
    ----------
    what : str
        What cannot be done then, for the message.
    logs : iterable of Log
    executed : iterable of ObjectFile
        Objects whose code ran, among which the one at fault is looked for; read only if needed.
    version : str
        Of Valgrind.

    Raises
    ------
    UnsupportedInstruction
    """
    for log in logs:
        for unhandled in log.unhandled:
            if not _is_trap(unhandled.code):
                raise _unsupported(what, unhandled, executed, version=version)


def _is_trap(code: bytes) -> bool:
    operation = decode(code)
    return operation is not None and operation.mnemonic in _TRAPS


def _unsupported(
    what: str, unhandled: Unhandled, executed: Iterable[ObjectFile], *, version: str
) -> UnsupportedInstruction:
    operation = decode(unhandled.code)
    text = repr(disassemble(unhandled.code) or f"bytes {unhandled.code.hex(' ')}")
    path = unhandled.object or _holder(unhandled, executed) or "code of no known file"
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
        reason=(
            f"it executes {text} at {unhandled.address:#x} in {function}{path}, which Valgrind "
            f"{version} cannot execute"
        ),
        remedy=remedy,
    )


def _holder(unhandled: Unhandled, executed: Iterable[ObjectFile]) -> str | None:
    """Return the object that has these bytes at this place of a page, or None.

    Valgrind's log names a source line in place of the object where there is debug information;
    loading moves code by whole pages.
    """
    for file in executed:
        for segment in file.segments:
            offset = segment.code.find(unhandled.code)
            while offset >= 0:
                if (segment.address + offset - unhandled.address) % _PAGE_BYTES == 0:
                    return file.path
                offset = segment.code.find(unhandled.code, offset + 1)
    return None


def check_main_is_counted(
    what: str, logs: Collection[Log], counted: Collection[int], run: Run
) -> None:
    """Refuse a run of which the launched process itself left no counts.

    Raises
    ------
    CannotMeasure
    """
    if counted and not main_process(logs) & set(lost(logs, counted)):
        return
    if run.exit_status == 128 + signal.SIGKILL:
        raise CannotMeasure(
            what,
            reason="it was killed (SIGKILL) while it was counted, as the kernel does when memory "
            "runs out",
            remedy=(
                "give the process more memory, or less to do: counting needs more memory than "
                "a native run"
            ),
        )
    message = next(iter(logs)).text[-_SAID_BYTES:].strip() if logs else "nothing"
    raise CannotMeasure(
        what,
        reason=f"Valgrind wrote no counts of it (exit status {run.exit_status}) and says: "
        f"{message}",
        remedy=(
            "check the free space of the temporary directory, and whether Valgrind may run the "
            "program (not if it is setuid or 32-bit)"
        ),
    )


def ended_by_signal(logs: Iterable[Log], run: Run) -> str | None:
    """Return what is known of the signal that ended a counted run, or None if none did."""
    if run.exit_status <= 128:
        return None
    message = "; ".join(log.ended_by for log in logs if log.ended_by is not None)
    return f"it ended with status {run.exit_status}; Valgrind says: {message}" if message else None


def check_ended_by_itself(what: str, logs: Iterable[Log], run: Run) -> None:
    """Refuse a run that a signal ended while it was counted.

    Raises
    ------
    CannotMeasure
    """
    if (reason := ended_by_signal(logs, run)) is not None:
        raise CannotMeasure(
            what,
            reason=reason,
            remedy=(
                "check whether the program runs without Valgrind; if it does, give it more memory"
            ),
        )
