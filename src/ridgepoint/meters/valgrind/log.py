"""Reads what Valgrind logs of one process: where it came from and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_HEAD = re.compile(r"(?:==|--)(?P<pid>\d+)(?:==|--) ?(?P<text>.*)")
_BYTES = re.compile(r"unhandled instruction bytes:((?: 0x[0-9A-Fa-f]{1,2})+)")
_UNRECOGNISED = re.compile(r"valgrind: Unrecognised instruction at address (0x[0-9a-fA-F]+)")
_FRAME = re.compile(r"\s+at 0x[0-9A-Fa-f]+: (?P<function>.+) \((?P<place>in )?(?P<object>.*)\)$")
_INITIALISED = "For interactive control, run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unhandled:
    """An instruction that the program executed and Valgrind could not.

    Parameters
    ----------
    address : int
        Where it lay at run time.
    code : bytes
        The bytes there, as far as they were logged.
    function, object : str or None
        None: the log does not say.
    """

    address: int
    code: bytes
    function: str | None
    object: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What Valgrind logged of one process.

    Parameters
    ----------
    pid : int
    parent_pid : int or None
    forked : bool
        Whether the process went on from a fork without starting a program of its own.
    unhandled : tuple of Unhandled
    ended_by : str or None
        What Valgrind says of the signal that ended the process; None: none did.
    text : str
    """

    pid: int
    parent_pid: int | None
    forked: bool
    unhandled: tuple[Unhandled, ...]
    ended_by: str | None
    text: str


def lost(logs: Iterable[Log], counted: Collection[int]) -> tuple[int, ...]:
    """Return the processes that ran under Valgrind and left no counts."""
    return tuple(sorted({log.pid for log in logs} - set(counted)))


def main_process(logs: Collection[Log]) -> frozenset[int]:
    """Return the process that was launched: the one whose parent was not under Valgrind."""
    pids = {log.pid for log in logs}
    return frozenset(log.pid for log in logs if log.parent_pid not in pids)


def parse_log(lines: Iterable[str], *, pid: int) -> Log:
    """Parse the log of one process."""
    parent: int | None = None
    forked = True
    unhandled: list[Unhandled] = []
    ended: list[str] = []
    code = b""
    messages: list[str] = []
    for line in lines:
        head = _HEAD.match(line)
        text = head["text"].rstrip() if head else line.rstrip()
        messages.append(text)
        if match := _BYTES.search(text):
            code = bytes(int(byte, 16) for byte in match[1].split())
        elif match := _UNRECOGNISED.search(text):
            # Bytes alone are no proof: Valgrind translates code that is never reached.
            unhandled.append(
                Unhandled(address=int(match[1], 16), code=code, function=None, object=None)
            )
        elif (match := _FRAME.match(text)) and len(unhandled) > 0 and len(messages) > 1:
            if "Unrecognised instruction" in messages[-2]:
                unhandled[-1] = _placed(unhandled[-1], match)
        elif text.startswith("Parent PID:"):
            parent = int(text.split(":")[1])
        elif text.startswith(_INITIALISED):
            forked = False
        elif text.startswith("Process terminating with"):
            ended = [text]
        elif len(ended) == 1:
            ended.append(text.strip())
    return Log(
        pid=pid,
        parent_pid=parent,
        forked=forked,
        unhandled=tuple(unhandled),
        ended_by=": ".join(part for part in ended if part) or None,
        text="\n".join(messages),
    )


def _placed(seen: Unhandled, frame: re.Match[str]) -> Unhandled:
    function = None if frame["function"] == "???" else frame["function"]
    # With debug information the frame names a source line in place of the object.
    object_ = frame["object"] if frame["place"] else None
    return Unhandled(address=seen.address, code=seen.code, function=function, object=object_)
