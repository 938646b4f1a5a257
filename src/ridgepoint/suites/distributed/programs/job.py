"""What the programs share: the ranks, how they wait, what they time, and the line they print."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ridgepoint.profiling.repeats import wants_another
from ridgepoint.regions import region

if TYPE_CHECKING:
    from mpi4py import MPI

REGION = "measured"
"""The region that each program marks: its steps, without making data or checking results."""


@dataclass(slots=True)
class Clock:
    """What a rank's steps took, part by part.

    Parameters
    ----------
    parts_s : dict of str to list of float
        Seconds of each step in each part.
    steps_s : list of float
    """

    parts_s: dict[str, list[float]] = field(default_factory=dict)
    steps_s: list[float] = field(default_factory=list)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time a part of the step that is under way; parts of one name add up."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = self.parts_s.setdefault(name, [])
            spent.extend([0.0] * (len(self.steps_s) + 1 - len(spent)))
            spent[-1] += time.perf_counter() - begin


class Job:
    """The ranks of one job, as the programs use them.

    Parameters
    ----------
    comm : MPI.Comm
    options : argparse.Namespace
        What `parser` takes.
    """

    def __init__(self, comm: MPI.Comm, options: argparse.Namespace) -> None:
        # To import it is to begin an MPI job, which only a program that runs shall do.
        from mpi4py import MPI

        self._mpi = MPI
        self.comm, self.options = comm, options
        self.rank, self.ranks = comm.Get_rank(), comm.Get_size()
        self.sent_bytes = 0
        self.clock = Clock()
        if options.pin:
            usable = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {usable[self.rank % len(usable)]})
        from threadpoolctl import threadpool_limits

        threadpool_limits(options.threads, user_api="blas")

    def wait(self, *requests: MPI.Request) -> None:
        """Wait for all requests: without pause, or with naps that leave the CPU to others."""
        pause_s = self.options.nap
        if pause_s == 0:
            self._mpi.Request.Waitall(list(requests))
            return
        while not self._mpi.Request.Testall(list(requests)):
            time.sleep(pause_s)

    def send(self, data: npt.NDArray[Any], to: int, comm: MPI.Comm | None = None) -> MPI.Request:
        """Begin to send an array, and count its bytes."""
        self.sent_bytes += data.nbytes
        return (comm or self.comm).Isend(data, dest=to)

    def sum_of(self, value: float) -> float:
        """Return the sum of a number over all ranks: every rank but one sends, and gets it."""
        total = np.array([value])
        self.sum_array(total)
        return float(total[0])

    def sum_array(self, data: npt.NDArray[Any]) -> None:
        """Replace an array by its sum over all ranks, as the MPI library does it."""
        self.wait(self.comm.Iallreduce(self._mpi.IN_PLACE, data, op=self._mpi.SUM))

    def sum_on_first(self, value: float) -> float:
        """Return the sum of a number over all ranks on rank 0, and 0 elsewhere."""
        part, total = np.array([value]), np.zeros(1)
        self.wait(self.comm.Ireduce(part, total, op=self._mpi.SUM, root=0))
        return float(total[0])

    @contextlib.contextmanager
    def computing(self, flop: float) -> Iterator[None]:
        """Time what computes, so many operations on this rank."""
        with self.clock.part("compute"), self.at_its_pace(flop):
            yield

    @contextlib.contextmanager
    def at_its_pace(self, flop: float) -> Iterator[None]:
        """Rest after what computes, on a node that is to be slower than it is."""
        begin = time.perf_counter()
        yield
        if self.options.pace is not None:
            left_s = flop / self.options.pace - (time.perf_counter() - begin)
            time.sleep(max(0.0, left_s))

    @contextlib.contextmanager
    def communicating(self) -> Iterator[None]:
        """Time what goes over the network, and waits for others."""
        with self.clock.part("network"):
            yield

    def repeat(self, step: Callable[[], None]) -> None:
        """Do the steps, each begun by all ranks at once; warm-up steps are not kept."""
        slowest_s: list[float] = []
        for _ in range(self.options.warm_up):
            self._timed(step)
        self.clock, self.sent_bytes = Clock(), 0
        while self._wants_another(slowest_s):
            with region(REGION):
                own_s = self._timed(step)
            # All ranks must end at the same step: each of them judges the same times.
            slowest_s.append(self.comm.allreduce(own_s, op=self._mpi.MAX))
        for times in self.clock.parts_s.values():
            times.extend([0.0] * (self.steps - len(times)))

    @property
    def steps(self) -> int:
        """Number of steps that were timed so far."""
        return len(self.clock.steps_s)

    def _timed(self, step: Callable[[], None]) -> float:
        self.wait(self.comm.Ibarrier())
        begin = time.perf_counter()
        step()
        self.clock.steps_s.append(time.perf_counter() - begin)
        return self.clock.steps_s[-1]

    def _wants_another(self, slowest_s: Sequence[float]) -> bool:
        if not self.options.until_tight:
            return len(slowest_s) < int(self.options.steps)
        return wants_another(slowest_s, elapsed_s=sum(slowest_s), repeat=None)

    def report(
        self,
        name: str,
        *,
        sizes: Mapping[str, Any],
        work: Mapping[str, int],
        dram_bytes: int,
        exchanged_bytes: int | None,
        check: Mapping[str, Any] | None,
        ceilings: Mapping[str, Any] | None = None,
    ) -> int:
        """Print what was found, on rank 0 alone, as one line of JSON; return the exit status.

        Parameters
        ----------
        name : str
        sizes : mapping
        work : mapping of str to int
            Operations of one step by precision, of all ranks.
        dram_bytes : int
            What one step moves between memory and caches at least, of all ranks.
        exchanged_bytes : int or None
            What one step exchanges, of all ranks; None: the MPI library decides.
        check : mapping or None
            None: not asked for.
        ceilings : mapping or None
        """
        every = self.comm.gather((self.clock.steps_s, self.clock.parts_s), root=0)
        hosts = self.comm.gather(self._mpi.Get_processor_name(), root=0)
        passed = check is None or bool(check["passed"])
        if check is not None and not math.isfinite(check["error"]):
            check = {**check, "error": None}
        if every is None:
            return 0 if passed else 1
        fields = {
            "program": name,
            "ranks": self.ranks,
            "hosts": hosts,
            "threads": self.options.threads,
            "sizes": dict(sizes),
            "steps_s": _largest([steps for steps, _ in every]),
            "parts_s": _parts([parts for _, parts in every]),
            "work": dict(work),
            "dram_bytes": dram_bytes,
            "exchanged_bytes": exchanged_bytes,
            "check": check,
            "ceilings": ceilings,
        }
        print(json.dumps(fields, allow_nan=False), flush=True)
        return 0 if passed else 1


def _largest(times: Sequence[Sequence[float]]) -> list[float]:
    return [float(one) for one in np.max(np.asarray(times), axis=0)]


def _parts(parts: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Return each part's time in each step, on the rank that tells it best.

    What computes takes as long as on the slowest rank. In the network all but the last to arrive
    wait: its time is the shortest.
    """
    return {
        name: [
            float(one)
            for one in (np.min if name == "network" else np.max)(
                np.asarray([own[name] for own in parts]), axis=0
            )
        ]
        for name in parts[0]
    }


def parser(summary: str, *, steps: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs take."""
    made = argparse.ArgumentParser(description=summary, prog=_name())
    made.add_argument("--steps", type=positive, default=steps, help="default: %(default)s")
    made.add_argument(
        "--until-tight", action="store_true",
        help="instead of --steps: until their time is known to 2 %%, 10 to 30 steps, for 30 s",
    )  # fmt: skip
    made.add_argument("--warm-up", type=natural, default=1, help="steps before those, not kept")
    made.add_argument("--threads", type=positive, default=1, help="of BLAS, on each rank")
    made.add_argument("--seed", type=natural, default=1)
    made.add_argument(
        "--check", action="store_true", help=("check the result; exit with status 1 if it is wrong")
    )
    made.add_argument(
        "--ceilings", action="store_true",
        help="before and after the steps, measure the best rates of BLAS, memory and network",
    )  # fmt: skip
    made.add_argument(
        "--pin", action="store_true",
        help="bind rank r to the r-th usable CPU: for hosts that share one machine",
    )  # fmt: skip
    made.add_argument(
        "--nap", type=seconds, default=0.0, metavar="SECONDS",
        help="pause while waiting, for ranks that share CPUs; 0: do not pause",
    )  # fmt: skip
    made.add_argument(
        "--pace", type=rate, metavar="FLOP/S",
        help="pause after computing, so that a rank has at most this rate: a slower node",
    )  # fmt: skip
    return made


def run(make_parser: Callable[[], argparse.ArgumentParser], program: Callable[[Job], int]) -> None:
    """Run a program on this rank and exit; an error on one rank ends all of them.

    Parameters
    ----------
    make_parser : callable
    program : callable
        From the job to the exit status.
    """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    # Every rank would say the same.
    errors = contextlib.nullcontext() if comm.Get_rank() == 0 else _silence()
    with errors:
        options = make_parser().parse_args()
    try:
        status = program(Job(comm, options))
    except Refused as refused:
        # All ranks refuse alike, since sizes are the same for all.
        if comm.Get_rank() == 0:
            print(f"{_name()}: error: {refused}", file=sys.stderr)
        sys.exit(2)
    except BaseException:
        _abort(comm)
    sys.exit(status)


def _name() -> str:
    return Path(sys.argv[0]).stem


class Refused(Exception):
    """What was asked for cannot be done with these ranks."""


def _abort(comm: MPI.Comm) -> NoReturn:
    print(f"rank {comm.Get_rank()} on {socket.gethostname()} failed:", file=sys.stderr)
    traceback.print_exc()
    sys.stderr.flush()
    comm.Abort(1)
    raise SystemExit(1)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stderr(nowhere),
        contextlib.redirect_stdout(nowhere),
    ):
        yield


def positive(text: str) -> int:
    """Return a whole number > 0."""
    return _checked(int(text), least=1)


def natural(text: str) -> int:
    """Return a whole number >= 0."""
    return _checked(int(text), least=0)


def _checked(number: int, *, least: int) -> int:
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}, got {number}")
    return number


def seconds(text: str) -> float:
    """Return a time >= 0, s."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be >= 0 and less than 1 s, got {text}")
    return value


def rate(text: str) -> float:
    """Return a finite number > 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be > 0, got {text}")
    return value


def bounds(size: int, parts: int) -> list[int]:
    """Return where each of the even parts of a range begins, and where the last ends.

    Parts differ by one at most.
    """
    return [size * index // parts for index in range(parts + 1)]
