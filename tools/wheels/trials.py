"""What is tried in each root file system, and what is taken away to see what happens then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sandbox import HOME, VENV, Done, Sandbox

Verdict = Literal["works", "refused in one line", "fails"]

PROGRAM = "lines.py"
PROGRAM_TEXT = """\
import numpy as np

def slow(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

matrix = np.random.default_rng(0).random((200, 200))
for _ in range(20):
    product = matrix @ matrix
    matrix = product / np.linalg.norm(product)
print(slow(500_000))
"""
"""A Python program with work in the interpreter and in NumPy."""

# What it packs is not for the terminal.
_GZIP = ("sh", "-c", "exec gzip -c /usr/bin/perl >/dev/null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A command, and what it prints when it works.

    Parameters
    ----------
    name : str
    command : tuple of str
    shows : str
        A regular expression that what it prints has to match somewhere; `run` leaves standard
        output to the program, and reports on standard error.
    """

    name: str
    command: tuple[str, ...]
    shows: str = ""

    def judged(self, done: Done) -> Verdict:
        """Return whether it worked, or what it said instead."""
        if done.status == 0 and re.search(self.shows, done.output + done.complaints):
            return "works"
        lines = [line for line in done.complaints.splitlines() if line.strip()]
        # Other lines that begin so say what is being done.
        ours = [line for line in lines if line.startswith("ridgepoint: cannot ")]
        if done.status == 2 and len(ours) == 1 and not _has_traceback(done):
            return "refused in one line"
        return "fails"


def _has_traceback(done: Done) -> bool:
    return "Traceback (most recent call last)" in done.complaints + done.output


FIRST = Trial(name="run gzip", command=("ridgepoint", "run", "--", *_GZIP), shows="attainable")
"""What follows an installation: the verdict on a real program, with the machine measured."""

DOCTOR = Trial(name="doctor", command=("ridgepoint", "doctor"), shows="copying engine")
SELFTEST = Trial(
    name="doctor --selftest", command=("ridgepoint", "doctor", "--selftest"), shows="fma"
)
LINES = Trial(
    name="run --lines",
    command=(
        *("ridgepoint", "run", "--no-plot", "--repeat", "3", "--lines", "--", "python", PROGRAM),
    ),
    shows=r"lines\.py:\d+ ",
)
MACHINE = Trial(
    name="machine --quick", command=("ridgepoint", "machine", "--quick"), shows="dram|DRAM"
)
SUITE = Trial(
    name="suite --validate",
    command=(
        *("ridgepoint", "suite", "--validate", "daxpy.llvm", "stencil.5point"),
        *("--repeat", "3", "--limit", "1"),
    ),
    shows=r"daxpy\.llvm",
)
ENGINE = Trial(
    name="run --meter engine",
    command=("ridgepoint", "run", "--no-plot", "--counts-only", "--meter", "engine", "--", *_GZIP),
    shows="traffic",
)
COUNTED = Trial(
    name="run, counted only",
    command=("ridgepoint", "run", "--no-plot", "--counts-only", "--", *_GZIP),
    shows="traffic",
)
FUNCTIONS = Trial(
    name="run --functions",
    command=("ridgepoint", "run", "--no-plot", "--repeat", "3", "--functions", "--", *_GZIP),
    shows="traffic",
)

EVERYWHERE = (DOCTOR, SELFTEST, LINES, ENGINE, MACHINE, SUITE)
"""What is tried in each root file system, after `FIRST`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """Something that a user's machine may lack or forbid.

    Parameters
    ----------
    name : str
    sandbox : Sandbox
        That lacks or forbids it.
    trials : tuple of Trial
    """

    name: str
    sandbox: Sandbox = field(default_factory=Sandbox)
    trials: tuple[Trial, ...] = (COUNTED, ENGINE)


def _with(name: str, trials: tuple[Trial, ...] = (COUNTED, ENGINE), **what: object) -> Restriction:
    return Restriction(name=name, sandbox=Sandbox(**what), trials=trials)  # type: ignore[arg-type]


def _variables(name: str, **variables: str | None) -> Restriction:
    environment: Mapping[str, str | None] = variables
    return Restriction(
        name=name, sandbox=Sandbox(environment=environment), trials=(COUNTED, ENGINE)
    )


_LIBRARIES = "/usr/lib/x86_64-linux-gnu"
# Scripts may not be executed there either; Python itself is the system's.
_AS_MODULE = Trial(
    name="python -m ridgepoint machine",
    command=("python", "-m", "ridgepoint", "machine", "--quick"),
    shows="dram|DRAM",
)
_ELSEWHERE = Trial(
    name="run on i686",
    command=("setarch", "i686", "ridgepoint", "run", "--", *_GZIP),
)
_UNTIMED_LINES = replace(LINES, shows="no time per line: the system allows its threads no timer")
_PARTS = (COUNTED, ENGINE)

RESTRICTIONS = (
    _with("seccomp as Docker's default", (*_PARTS, LINES, FUNCTIONS, MACHINE, SUITE), forbidden=()),
    _with("the same without personality", (*_PARTS, FUNCTIONS), forbidden=("personality",)),
    _with(
        "the same without ptrace",
        (*_PARTS, LINES),
        forbidden=("ptrace", "process_vm_readv", "process_vm_writev"),
    ),
    _with("without memfd_create", forbidden=("memfd_create",)),
    _with("without timer_create", (*_PARTS, _UNTIMED_LINES), forbidden=("timer_create",)),
    _with("read-only home", _PARTS, home_writable=False),
    _with("noexec cache", (*_PARTS, LINES), not_executable=(f"{HOME}/.cache",)),
    _with("noexec home", _PARTS, not_executable=(HOME,)),
    _with("noexec home and /tmp", _PARTS, not_executable=(HOME, "/tmp")),
    _with("noexec site-packages", (_AS_MODULE,), not_executable=(VENV,)),
    _with("/tmp of 1 MB", _PARTS, temporary_bytes=1 << 20),
    _with("/tmp of 64 KiB", temporary_bytes=1 << 16),
    _with("no /dev/shm", _PARTS, hidden=frozenset({"/dev/shm"})),
    _with("no /sys", (COUNTED, ENGINE, MACHINE), hidden=frozenset({"/sys"})),
    _with("no /proc", (DOCTOR, COUNTED, ENGINE, LINES), hidden=frozenset({"/proc"})),
    _with(
        "no HOME, and a user without a name",
        (DOCTOR, *_PARTS),
        user=4711,
        environment={"HOME": None, "RIDGEPOINT_ARCHIVE": None},
    ),
    _with("the same with RIDGEPOINT_ARCHIVE", user=4711, environment={"HOME": None}),
    _variables("LD_PRELOAD of another library", LD_PRELOAD=f"{_LIBRARIES}/libz.so.1"),
    _variables("LD_PRELOAD of no library", LD_PRELOAD="/nowhere/libnothing.so"),
    _variables("LD_LIBRARY_PATH", LD_LIBRARY_PATH=f"/nowhere:{_LIBRARIES}"),
    _variables("VALGRIND_LIB of nothing", VALGRIND_LIB="/nowhere"),
    _variables("no PATH to speak of", PATH=f"{VENV}/bin:/bin"),
    _with("another architecture, as uname tells it", (_ELSEWHERE,)),
)
"""What is taken away, each alone."""
