"""The page cache: pages of files that the kernel keeps in memory."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path


def drop(path: Path) -> float:
    """Ask the kernel to forget a file's pages, and return which share of them it still keeps.

    Parameters
    ----------
    path : Path
        A file that this process may write; what was written to it reaches the disk first.

    Returns
    -------
    float
        0: the file will be read from its disk; 1: all of it is in memory, as files of tmpfs are.

    Raises
    ------
    OSError
        If it cannot be opened or mapped.

    Notes
    -----
    ``fsync``, since pages that are not written yet cannot be dropped; then ``posix_fadvise`` with
    ``POSIX_FADV_DONTNEED``, which is only a request; then ``mincore``, which tells what became of
    it. None of them needs a privilege.
    """
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        return _resident(handle)
    finally:
        os.close(handle)


def _resident(handle: int) -> float:
    """Return the share of a file's pages that are in memory."""
    size = os.fstat(handle).st_size
    if not size:
        return 0.0
    pages = -(-size // mmap.PAGESIZE)
    found = (ctypes.c_ubyte * pages)()
    libc = ctypes.CDLL(None, use_errno=True)
    with mmap.mmap(handle, size, access=mmap.ACCESS_COPY) as mapped:
        view = ctypes.c_char.from_buffer(mapped)  # nothing is written: no page is copied
        failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(size), found)
        del view  # a mapping that is looked at cannot be closed
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return sum(page & 1 for page in found) / pages
