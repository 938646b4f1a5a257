"""Refuses a run in which Valgrind met an instruction that it cannot execute."""

from __future__ import annotations

from collections.abc import Iterable

from ridgepoint.errors import UnsupportedInstruction
from ridgepoint.meters.decode import decode, disassemble
from ridgepoint.meters.object_file import ObjectFile
from ridgepoint.meters.valgrind.log import Log, Unhandled

_PAGE_BYTES = 4096
_TRAPS = {"UD0", "UD1", "UD2"}  # they exist to raise SIGILL: the program's own doing


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
        reason=f"it executes {text} at {unhandled.address:#x} in {function}{path}, "
        f"which Valgrind {version} cannot",
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
