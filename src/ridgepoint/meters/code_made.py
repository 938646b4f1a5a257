"""Names of code that a program makes at run time, where its compiler writes them down.

Two conventions of Linux's perf: a text file ``/tmp/perf-PID.map``, and jitdump, a binary file
``jit-PID.dump`` that holds a record for each function.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ridgepoint.meters.symbols import Symbols

_MAPS = Path("/tmp")  # where compilers at run time leave perf-PID.map, by convention
_MAGIC = 0x4A695444  # "JiTD" of tools/perf/Documentation/jitdump-specification.txt
_HEADER = "IIIIIIQQ"
_RECORD = "IIQ"
_LOAD = "IIQQQQ"  # pid, tid, vma, address, size, index; then the name, then the code
_MOVE = "IIQQQQQ"  # pid, tid, vma, old address, new address, size, index
_IS_LOAD, _IS_MOVE = 0, 1
_LARGEST = 1 << 30
# A file's time is that of the kernel's last tick, which may be before that of the clock.
_TICK_S = 0.02

Found = dict[int, tuple[int, str]]
"""End and name of functions, by their beginning: where one came over another the later counts."""


def from_now_s() -> float:
    """Return a time that no file has which is written from now on; seconds since 1970."""
    return time.time() - _TICK_S


def read_code_made(pids: Iterable[int], *, since_s: float) -> dict[int, Symbols]:
    """Return what processes wrote of the code that they made, where they did.

    Parameters
    ----------
    pids : iterable of int
    since_s : float
        Seconds since 1970; what is older is of another process that had the same number.
    """
    made = {}
    for pid in pids:
        found: Found = {}
        for path in _dumps(pid):
            if (content := _written_since(path, since_s)) is not None:
                found |= _functions_of_dump(content)
        content = _written_since(_MAPS / f"perf-{pid}.map", since_s)
        if content is not None:
            found |= _functions_of_map(content.decode("utf-8", "surrogateescape"))
        if found:
            made[pid] = _symbols(found)
    return made


def parse_code_made(text: str) -> Symbols:
    """Return the functions of a ``perf-PID.map``: beginning, size (hexadecimal) and name per line.

    Where one came over another the later counts; a line that says something else says nothing.
    """
    return _symbols(_functions_of_map(text))


def parse_jitdump(content: bytes) -> Symbols:
    """Return the functions of a ``jit-PID.dump``; of one that is cut short those before the cut."""
    return _symbols(_functions_of_dump(content))


def _dumps(pid: int) -> Iterator[Path]:
    """Yield where programs leave their jitdump: the folder they run in, /tmp, one of LLVM's."""
    name = f"jit-{pid}.dump"
    yield Path(name)
    yield _MAPS / name
    for folder in (os.environ.get("JITDUMPDIR"), os.environ.get("HOME")):
        if folder:
            yield from sorted(Path(folder, ".debug", "jit").glob(f"*/{name}"))


def _written_since(path: Path, since_s: float) -> bytes | None:
    try:
        status = path.stat()
        if status.st_mtime < since_s or status.st_size > _LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _functions_of_map(text: str) -> Found:
    found: Found = {}
    for line in text.splitlines():
        begin, _, rest = line.partition(" ")
        size, _, name = rest.partition(" ")
        try:
            found[int(begin, 16)] = (int(begin, 16) + int(size, 16), name)
        except ValueError:
            continue
    return found


def _functions_of_dump(content: bytes) -> Found:
    order = next((o for o in "<>" if content[:4] == struct.pack(f"{o}I", _MAGIC)), None)
    if order is None or len(content) < struct.calcsize(order + _HEADER):
        return {}
    found: Found = {}
    at = struct.unpack_from(order + _HEADER, content)[2]  # how long the header is
    head = struct.calcsize(order + _RECORD)
    while at + head <= len(content):
        kind, size, _ = struct.unpack_from(order + _RECORD, content, at)
        record = content[at + head : at + size]
        if size < head or at + size > len(content):
            break
        at += size
        try:
            if kind == _IS_LOAD:
                *_, begin, n_bytes, _ = struct.unpack_from(order + _LOAD, record)
                name = record[struct.calcsize(order + _LOAD) :].partition(b"\0")[0]
                found[begin] = (begin + n_bytes, name.decode("utf-8", "surrogateescape"))
            elif kind == _IS_MOVE:
                *_, old, begin, n_bytes, _ = struct.unpack_from(order + _MOVE, record)
                if old in found:
                    found[begin] = (begin + n_bytes, found[old][1])
        except struct.error:
            break
    return found


def _symbols(found: Found) -> Symbols:
    begins = sorted(found)
    return Symbols(
        begins=begins,
        ends=[found[begin][0] for begin in begins],
        names=tuple((found[begin][1],) for begin in begins),
    )
