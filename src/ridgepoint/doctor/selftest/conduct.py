"""What meters are known not to see, so that they are held to what they do say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ridgepoint.doctor.selftest.assembly import LINE_BYTES, assemble
from ridgepoint.doctor.selftest.program import EXIT, Expected, Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How a meter counts.

    Parameters
    ----------
    last_block : bool
        Whether it counts the instructions that end the process, after the last branch.
    non_temporal : bool
        Whether its caches know non-temporal stores from ordinary ones.
    preloads : bool
        Whether it needs the dynamic loader: its programs have one, and what counts of them is
        their own code.
    """

    last_block: bool = True
    non_temporal: bool = True
    preloads: bool = False


_EXCEPTIONS = {
    # It adds a block's executions up when the next block begins, and none comes after the last;
    # its cache simulator is not told what kind of store it sees.
    "callgrind": Conduct(last_block=False, non_temporal=False),
    "native": Conduct(preloads=True),
}


def preloads(meter: str) -> bool:
    """Return whether a meter counts programs of the dynamic loader alone."""
    return _EXCEPTIONS.get(meter, Conduct()).preloads


def expected_of(program: Program, meter: str) -> Expected:
    """Return what a meter has to say of a program.

    Parameters
    ----------
    program : Program
    meter : str
        Its name; of one that is not known here everything is expected.
    """
    conduct = _EXCEPTIONS.get(meter, Conduct())
    expected = program.expected
    if program.if_ordinary is not None and not conduct.non_temporal:
        expected = program.if_ordinary
    if conduct.last_block:
        return expected
    unseen = _lines(len(assemble(program.code))) - _lines(len(assemble(program.code[: -len(EXIT)])))
    return replace(
        expected,
        instructions=expected.instructions - len(EXIT),
        dram_read_bytes=expected.dram_read_bytes - LINE_BYTES * unseen,
    )


def _lines(n_bytes: int) -> int:
    return -(-n_bytes // LINE_BYTES)
