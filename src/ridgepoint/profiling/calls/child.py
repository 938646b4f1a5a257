"""The process in which calls are counted: ``python -m ridgepoint.profiling.calls.child FOLDER``."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.collecting import not_collecting
from ridgepoint.core.errors import RidgepointError
from ridgepoint.profiling.calls.loops import loop_over
from ridgepoint.profiling.calls.packing import Function, Packed, unpack_function
from ridgepoint.profiling.sleeping import SLEEPING
from ridgepoint.regions import region

REGION = "ridgepoint: calls"
TASKS = "tasks.pickle"
BEGUN = "begun"
"""The file that is there once everything is prepared and counting has begun."""
FEW = 1

_IS_COUNTED = "RIDGEPOINT_IS_COUNTED"
_THREAD_VARIABLES = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
# mallopt(3): where glibc maps what is large, each call gets it at another address, and simulated
# caches, which know addresses alone, take it for other memory. Natively it is the same pages again.
_REUSING = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Calls to be counted.

    Parameters
    ----------
    name : str
        Of the region that holds them, and of the file that says how they ended.
    function : bytes
        By `ridgepoint.profiling.calls.packing.pack_function`.
    arguments : Packed
    cold : bool
        Whether every call has a replica of the arguments; else all use one, in turn.
    calls : int
        Calls that `many` has more than `few`: what these have in common, all that surrounds calls
        and what they do once only, is nobody's work. 0: the few alone are counted.
    """

    name: str
    function: bytes
    arguments: Packed
    cold: bool
    calls: int

    @property
    def few(self) -> str:
        """The region of `FEW` calls."""
        return f"{self.name}, few"

    @property
    def many(self) -> str:
        """The region of `calls` more."""
        return f"{self.name}, many"


def is_counted() -> bool:
    """Return whether this process counts calls for another one that measures them."""
    return _IS_COUNTED in os.environ


def environment(threads: int | None) -> dict[str, str]:
    """Return the variables of a process that counts, with so many threads of linear algebra."""
    limits = {} if threads is None else dict.fromkeys(_THREAD_VARIABLES, str(threads))
    return {_IS_COUNTED: "1", **_REUSING, **SLEEPING, **limits}


def prepare(task: Task) -> Function:
    """Return its function, called before: what only a first call does is not its work.

    Such as compiling or loading. That is fast as long as nothing was counted yet.
    """
    function = unpack_function(task.function)
    with not_collecting():
        loop_over(function, [task.arguments.unpack()])(2)
    return function


def count(task: Task, function: Function) -> None:
    """Make the calls, marked to be counted."""
    with not_collecting():
        # All data are there before the first call: were they made in between, what calls allocate
        # would lie elsewhere in the many than in the few, and its traffic would remain.
        regions = []
        numbers = {task.few: FEW} | ({task.many: FEW + task.calls} if task.calls else {})
        for name, calls in numbers.items():
            replicas = [task.arguments.unpack() for _ in range(calls if task.cold else 1)]
            regions.append((name, loop_over(function, replicas), 1 if task.cold else calls))
        for name, loop, rounds in regions:
            # Caches are emptied when the inner region begins, and when it ends: what it writes back
            # then belongs to both. Warm calls are those that follow the few.
            with region(name), region(REGION):
                loop(rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the calls of a task ended.

    Parameters
    ----------
    reason, remedy : str or None
        Why they failed, and what to do; None: they did not.
    """

    reason: str | None = None
    remedy: str | None = None

    def write(self, folder: Path, task: Task) -> None:
        """Leave it where the other process finds it."""
        (folder / task.name).write_text(json.dumps([self.reason, self.remedy]))

    @classmethod
    def read(cls, folder: Path, task: Task) -> Ending | None:
        """Return what was left; None: nothing, since the process ended before."""
        try:
            reason, remedy = json.loads((folder / task.name).read_text())
        except FileNotFoundError:
            return None
        return cls(reason=reason, remedy=remedy)

    @staticmethod
    def forget(folder: Path, task: Task) -> None:
        """Remove what an earlier run left."""
        (folder / task.name).unlink(missing_ok=True)

    @classmethod
    def by(cls, error: BaseException) -> Ending:
        """Return how an error ended a task."""
        if isinstance(error, RidgepointError):
            return cls(reason=error.reason, remedy=error.remedy)
        return cls(
            reason=f"in the process that counts them, they raised {type(error).__name__}: {error}",
            remedy=(
                "let the function depend only on its arguments, and on nothing that was set up "
                "before"
            ),
        )


def _nothing() -> None:
    """Do nothing."""


@contextlib.contextmanager
def _telling(folder: Path, task: Task) -> Iterator[None]:
    """Leave a failure where the other process finds it, whatever it is."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        Ending.by(error).write(folder, task)


def main(folder: Path) -> None:
    """Count what a folder describes, and leave there how each task ended."""
    with (folder / TASKS).open("rb") as file:
        tasks: Sequence[Task] = pickle.load(file)
    functions: dict[str, Function] = {}
    for task in tasks:
        with _telling(folder, task):
            functions[task.name] = prepare(task)
    (folder / BEGUN).touch()
    # What surrounds the very first calls finds less in the caches than ever after.
    with region("ridgepoint: first"), region(REGION):
        loop_over(_nothing, [()])(FEW)
    for task in tasks:
        if task.name in functions:
            with _telling(folder, task):
                count(task, functions[task.name])
                Ending().write(folder, task)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)  # what ends with an interpreter is nobody's work here
