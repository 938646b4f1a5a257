r"""Messages of ranks to the driver, through the launcher's standard error.

Launchers pass on what ranks write in pieces of one to a few KiB, as they come, so that lines of
several ranks mix. A frame is one line, shorter than such a piece; it is written when the one before
has been read, where that can be told, so that a piece holds one frame. What is damaged all the same
is found out by its checksum, and is missing then.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import os
import re
import struct
import termios
import time
import zlib

FRAME_BYTES = 696
"""Of a line's payload; with its head a line stays under 1024, the pieces of Slurm's srun."""

_PATIENCE_S = 5.0
_FRAME = re.compile(rb"@ridgepoint ([0-9a-f]+) (\d+) (\d+)/(\d+) ([0-9a-f]{8}) ([A-Za-z0-9+/=]*)@")


def lines(token: str, rank: int, message: bytes) -> list[bytes]:
    """Return a message as lines.

    Parameters
    ----------
    token : str
        Hexadecimal; tells this job's frames from all else.
    rank : int
    message : bytes
    """
    packed = zlib.compress(message)
    parts = [packed[i : i + FRAME_BYTES] for i in range(0, len(packed), FRAME_BYTES)]
    return [
        b"@ridgepoint %s %d %d/%d %08x %s@\n"
        % (token.encode(), rank, index, len(parts), zlib.crc32(part), base64.b64encode(part))
        for index, part in enumerate(parts)
    ]


def send(fd: int, token: str, rank: int, message: bytes) -> None:
    """Write a message to a file descriptor, a frame at a time."""
    for line in lines(token, rank, message):
        _wait_until_read(fd)
        left = line
        while left:
            left = left[os.write(fd, left) :]
    _wait_until_read(fd)


def _wait_until_read(fd: int) -> None:
    """Wait until nothing is left in a pipe; in anything else, not at all."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            waiting = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]
        except OSError:
            return
        if not waiting:
            return
        time.sleep(0.0005)


class Receiver:
    """Takes messages out of a stream.

    Parameters
    ----------
    token : str
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._rest = b""
        self._parts: dict[int, dict[int, bytes]] = {}

    def feed(self, data: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
        """Take in what came, and return what is no frame, and messages that are complete.

        Parameters
        ----------
        data : bytes
            Empty: the stream has ended.
        """
        head, newline, tail = (self._rest + data).rpartition(b"\n")
        if not data:
            head, newline, tail = self._rest, b"", b""
        self._rest = tail
        passed, complete = [], []
        for line in (head + newline).splitlines(keepends=True):
            match = _FRAME.search(line)
            if match is None or match[1] != self._token:
                passed.append(line)
                continue
            # A program may end without ending its line.
            if rest := line[: match.start()] + line[match.end() :].rstrip(b"\r\n"):
                passed.append(rest + b"\n")
            complete += self._add(match)
        return b"".join(passed), complete

    def _add(self, match: re.Match[bytes]) -> list[tuple[int, bytes]]:
        rank, index, total = (int(match[number]) for number in (2, 3, 4))
        try:
            part = base64.b64decode(match[6], validate=True)
        except binascii.Error:
            return []
        if zlib.crc32(part) != int(match[5], 16):
            return []
        parts = self._parts.setdefault(rank, {})
        parts[index] = part
        if len(parts) < total:
            return []
        del self._parts[rank]
        return [(rank, zlib.decompress(b"".join(parts[i] for i in range(total))))]
