"""A program's standard input, the same for every run of it."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import tempfile
import threading
from collections.abc import Iterator
from typing import Protocol

_CHUNK = 1 << 16


class StandardInput(Protocol):
    """Gives each run of a program its standard input."""

    def open(self) -> int:
        """Return a file descriptor that the caller passes to the program and then closes."""

    def finish(self) -> None:
        """End what serves the run that `open` began; its program has ended."""

    def close(self) -> None:
        """Give back all that is held."""


class _Inherited:
    """A terminal or a device: every run gets it as it is."""

    def open(self) -> int:
        try:
            return os.dup(0)
        except OSError:
            return os.open(os.devnull, os.O_RDONLY)  # there is no descriptor 0

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Nothing(_Inherited):
    """There is nothing to read."""

    def open(self) -> int:
        return os.open(os.devnull, os.O_RDONLY)


class _Rewound:
    """A regular file: every run reads it from where it stood at first."""

    def __init__(self) -> None:
        self._offset = os.lseek(0, 0, os.SEEK_CUR)

    def open(self) -> int:
        # Through /proc a new open file, with an offset of its own, even if its name is gone.
        fd = os.open("/proc/self/fd/0", os.O_RDONLY)
        os.lseek(fd, self._offset, os.SEEK_SET)
        return fd

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Replayed:
    """A pipe: what the first run reads is recorded and given to the others.

    It is read only as far as a program asks, so that a pipe which nobody writes to, and which the
    program does not read, holds nothing up.
    """

    def __init__(self, source: int) -> None:
        self._source = source
        self._record = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
        self._recorded = 0
        self._ended = False
        self._feeder: threading.Thread | None = None
        self._stop_read = self._stop_write = -1
        self._error: OSError | None = None

    def open(self) -> int:
        read_end, write_end = os.pipe()
        self._stop_read, self._stop_write = os.pipe()
        self._feeder = threading.Thread(target=self._feed, args=(write_end,), daemon=True)
        self._feeder.start()
        return read_end

    def finish(self) -> None:
        if self._feeder is None:
            return
        os.close(self._stop_write)
        self._feeder.join()
        os.close(self._stop_read)
        self._feeder = None
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._record.close()

    def _feed(self, write_end: int) -> None:
        position = 0
        try:
            while True:
                chunk = os.pread(self._record.fileno(), _CHUNK, position)
                while chunk:
                    written = os.write(write_end, chunk)
                    chunk, position = chunk[written:], position + written
                if position == self._recorded and (self._ended or not self._take()):
                    return
        except BrokenPipeError:
            pass  # the program has ended, or wants no more
        except OSError as error:
            self._error = error
        finally:
            os.close(write_end)

    def _take(self) -> bool:
        """Record some more of the source; False when the run is over first."""
        ready, _, _ = select.select([self._source, self._stop_read], [], [])
        if self._stop_read in ready:
            return False
        chunk = os.read(self._source, _CHUNK)
        self._ended = not chunk
        while chunk:
            written = self._record.write(chunk) or 0
            chunk = chunk[written:]
            self._recorded += written
        return True


@contextlib.contextmanager
def own_standard_input() -> Iterator[StandardInput]:
    """Give this process's standard input in the form that several runs can have."""
    source = _form_of_own()
    try:
        yield source
    finally:
        source.close()


def no_standard_input() -> StandardInput:
    """Return a standard input that is empty."""
    return _Nothing()


def _form_of_own() -> StandardInput:
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return _Inherited()
    if stat.S_ISREG(mode):
        return _Rewound()
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return _Replayed(0)
    return _Inherited()
