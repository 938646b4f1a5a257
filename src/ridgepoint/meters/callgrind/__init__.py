"""Counts what a program does with Valgrind's callgrind and a decoder, without any build.

callgrind says how often each address was executed and simulates two levels of cache; the bytes
at these addresses, from the object files, say what was done there. Work, instructions, loads
and stores are exact. What it cannot do: AVX-512 (refused by name), more than two cache levels,
prefetching, and code made at run time (its bytes are not recorded; reported as undecoded).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, Traffic
from ridgepoint.core.machine import Cache
from ridgepoint.host.scratch import scratch_folder
from ridgepoint.meters import Launch, Meter, Selection, Unavailable
from ridgepoint.meters.callgrind import cautions as doubts
from ridgepoint.meters.callgrind.counts import count_functions, merged
from ridgepoint.meters.callgrind.files import Written, collecting, options
from ridgepoint.meters.callgrind.geometry import Geometry, simulated
from ridgepoint.meters.callgrind.refusals import check
from ridgepoint.meters.simulated.cautions import apart
from ridgepoint.meters.valgrind import cautions as valgrind_cautions
from ridgepoint.meters.valgrind.host import (
    Valgrind,
    check_startable,
    valgrind,
    why_unavailable,
)

# A forked child inherits the costs of its parent and would write them again; a process that
# becomes another program by exec loses its own. Both are prevented by writing, and thereby
# zeroing, the costs on entry to whatever forks or execs. These are the names in glibc and musl.
_DUMP_BEFORE = (
    *("fork", "_Fork", "__libc_fork", "vfork", "posix_spawn", "posix_spawnp"),
    *("execve", "execveat", "fexecve"),
)
_OPTIONS = (
    "--tool=callgrind",
    "--command-line-only=yes",  # options of a user's own are meant for other tools
    "--dump-instr=yes",
    "--dump-line=no",
    "--cache-sim=yes",
    "--simulate-wb=yes",
    "--trace-children=yes",
    "--separate-threads=yes",  # the only way to learn that there were threads
    "--separate-recs=1",  # else a function that calls itself appears twice
    "--skip-plt=no",  # it would count the stub of a library call as one more call instruction
    *(f"--dump-before={name}" for name in _DUMP_BEFORE),
    "--fair-sched=try",  # else a spinning thread may starve the one that it waits for
    "--vgdb=no",  # it leaves pipes in the temporary directory
    "--run-libc-freeres=no",  # both would count work that is not the program's
    "--run-cxx-freeres=no",
)


class CallgrindMeter:
    """Counts with callgrind; see the module."""

    name = "callgrind"
    slowdown = "25 to 500"
    selection: Selection | None = None
    stand_in: Meter | None = None
    without_traffic: Meter | None = None

    def why_unavailable(self) -> Unavailable | None:
        """Return why callgrind cannot count here, or None."""
        return why_unavailable(
            lambda: valgrind(tool=self.name),
            cost="work, traffic and the instruction mix cannot be counted with callgrind",
        )

    def count(self, command: Sequence[str], *, launch: Launch, caches: Sequence[Cache]) -> Counted:
        """Count one run of a command; see `ridgepoint.meters.Meter`.

        Raises
        ------
        MeterUnavailable
            If Valgrind does not work here.
        CannotStart
            If the program is not there or not for x86-64.
        UnsupportedInstruction
            If it executed an instruction that Valgrind cannot, even if it survived that.
        CannotMeasure
            If it was killed, or the profiles are damaged or missing.
        """
        found = valgrind(tool=self.name)
        check_startable(command)
        geometry = simulated(caches)
        with scratch_folder() as name:
            directory = Path(name).resolve()  # the program may change its own
            with collecting(directory):
                run = launch(
                    (
                        *(*found.command, *_OPTIONS, *geometry.options, *options(directory)),
                        *("--", *command),
                    )
                )
            written = Written.read(directory)
        check(written, command, run, version=found.version)
        return _counted(written, geometry=geometry, found=found)


def _counted(written: Written, *, geometry: Geometry, found: Valgrind) -> Counted:
    functions = count_functions(merged(written.profiles), code=written.code, geometry=geometry)
    counts = Counts.total(function.counts for function in functions)
    traffic = Traffic.total(chain.from_iterable(function.traffic for function in functions))
    n_processes = len(written.pids)
    return Counted(
        meter=f"callgrind ({found.name})",
        counts=counts,
        traffic=traffic,
        functions=functions,
        caches=(geometry.instruction, geometry.data, geometry.last),
        processes=n_processes,
        cautions=(
            *found.cautions,
            *geometry.cautions,
            *valgrind_cautions.undecoded(counts),
            *valgrind_cautions.wider_path(functions),
            *doubts.non_temporal(counts),
            *apart(n_processes),
            *valgrind_cautions.lost_processes(written.lost),
            *doubts.threads(max(profile.thread for profile in written.profiles)),
            *doubts.pending_writes(traffic, geometry=geometry, n_processes=n_processes),
        ),
    )
