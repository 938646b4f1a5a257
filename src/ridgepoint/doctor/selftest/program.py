"""What a built-in program is: its code, and what it does, known without running it.

Every program is framed alike: it loads constants (1 instruction, 1 load), does its work, and ends
the process (3 instructions). So it reads, beside what its work moves, one line of constants and
the lines of its own code, each once: the code stays in the first level for instructions.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ridgepoint.doctor.selftest.assembly import LINE_BYTES, Code, Loop, assemble
from ridgepoint.doctor.selftest.elf import executable

CONSTANTS = struct.pack("<4d8f", *[1.0] * 12)
"""One line: four numbers of fp64, eight of fp32."""

EXIT: Code = ("mov eax, 60", "xor edi, edi", "syscall")
FRAME = 4
"""Instructions before and after the work; one of them is a load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a program does.

    Parameters
    ----------
    work : mapping of str to int
        Flop by precision; empty: none.
    instructions, branches, loads, stores : int
    non_temporal_store_bytes : int
    dram_read_bytes : int
        Write-allocate reads and the program's own code included.
    dram_write_bytes : int
        Written back before the end, and non-temporal stores.
    pending_write_bytes : int
        Dirty, and still in the caches at the end.
    """

    work: Mapping[str, int]
    instructions: int
    branches: int
    loads: int
    stores: int
    non_temporal_store_bytes: int = 0
    dram_read_bytes: int
    dram_write_bytes: int = 0
    pending_write_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A built-in program.

    Parameters
    ----------
    name : str
    does : str
        What it executes, for readers.
    code : Code
    arrays_bytes : int
        Memory that it uses.
    needs : tuple of str
        Features of a CPU, as the kernel's list names them, without which it cannot run.
    expected : Expected
    if_ordinary : Expected or None
        What caches move that take its non-temporal stores for ordinary ones; None: it has none.
    """

    name: str
    does: str
    code: Code
    arrays_bytes: int = 0
    needs: tuple[str, ...] = ()
    expected: Expected
    if_ordinary: Expected | None = None

    @property
    def executable(self) -> bytes:
        """The file to run."""
        return self.built(interpreted=False)

    def built(self, *, interpreted: bool) -> bytes:
        """Return the file to run, with or without the dynamic loader."""
        return executable(
            assemble(self.code),
            constants=CONSTANTS,
            arrays_bytes=self.arrays_bytes,
            interpreted=interpreted,
        )


def framed(constants: str, *work: str | Loop) -> tuple[str | Loop, ...]:
    """Return the code of a whole program."""
    return (constants, *work, *EXIT)


def frame_read_bytes(code: Code) -> int:
    """Return what the frame reads from memory: the lines of the code, and one of constants."""
    code_lines = -(-len(assemble(code)) // LINE_BYTES)
    return LINE_BYTES * (code_lines + 1)
