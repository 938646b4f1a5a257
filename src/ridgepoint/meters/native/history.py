"""What the events of an arena say of the programs of a run: which there were, how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ridgepoint.meters.native import contents
from ridgepoint.meters.native.contents import Event

REASONS = (
    "for an unknown reason",
    "no copy of it could be made",
    "its code in memory is not that of its file",
    "there is no room near it",
    "there are not enough counters",
    "the system does not allow its code to be made writable",
    "its code uses the register %gs",
    "it checks its own code",
    "the file of its copy is damaged",
    "the program had threads before its first module could be copied",
    "it may write into its own code at any time",
)
"""Why a module was not copied, as ``Reason`` in ``native/copying/arena.h`` numbers them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process while it is one program: from a fork, or its execution, to its end or the next.

    Parameters
    ----------
    number : int
        In the order of beginning.
    pid, parent_pid : int
    name : str
        Path of what it executed.
    forked_from : int or None
        Number of the program that it is a fork of; None: it was executed.
    became_another : bool
        Whether it executed another program in its place.
    ended : bool
        Whether it ended by itself.
    status : int or None
        With which; None: not known.
    most_threads : int
        Alive at the same time.
    threads : int
        Ever started.
    uses_gs : bool
        Whether it set the register that counters need: nothing was counted from then on.
    """

    number: int
    pid: int
    parent_pid: int
    name: str
    forked_from: int | None = None
    became_another: bool = False
    ended: bool = False
    status: int | None = None
    most_threads: int = 1
    threads: int = 1
    uses_gs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """A module that was not copied.

    Parameters
    ----------
    path : str
    reason : str
        In words.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where in a process a module was loaded.

    Parameters
    ----------
    process : int
    begin, end : int
        Addresses at run time; equal where only the load bias is known.
    bias : int
        What was added to the addresses that its file states.
    module : int or None
        Its number in the arena; None: it was left alone.
    path : str
    """

    process: int
    begin: int
    end: int
    bias: int
    module: int | None
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened in a run.

    Parameters
    ----------
    programs : tuple of Program
    not_counted : tuple of str
        Paths of programs that a counted one executed and that did not begin to be counted.
    left_alone : tuple of LeftAlone
        Each once.
    placed : tuple of Placed
    """

    programs: tuple[Program, ...]
    not_counted: tuple[str, ...]
    left_alone: tuple[LeftAlone, ...]
    placed: tuple[Placed, ...] = field(default=())

    @property
    def n_processes(self) -> int:
        """How many processes there were, whatever each became."""
        return len({program.pid for program in self.programs})

    @property
    def most_threads(self) -> int:
        """Threads of one process that were alive at the same time."""
        return max(program.most_threads for program in self.programs)


def history_of(events: Sequence[Event]) -> History:
    """Return what the events of a run say together."""
    programs = _begun(events)
    for event in events:
        if (program := programs.get(event.process)) is not None:
            programs[program.number] = _after(program, event)
    left = (
        LeftAlone(path=event.name, reason=_reason(event))
        for event in events
        if event.kind == contents.LEFT_ALONE
    )
    return History(
        programs=tuple(programs[number] for number in sorted(programs)),
        not_counted=_not_counted(events, programs),
        left_alone=tuple(dict.fromkeys(left)),
        placed=tuple(_placed(events)),
    )


def _begun(events: Iterable[Event]) -> dict[int, Program]:
    """Return the programs by number: executed ones say so themselves, forks their parents."""
    programs = {
        event.process: Program(
            number=event.process, pid=event.a, parent_pid=event.b, name=event.name
        )
        for event in events
        if event.kind == contents.BEGAN
    }
    for event in events:
        if event.kind == contents.FORKED:
            parent = programs.get(event.process)
            known = programs.get(event.a) or Program(
                number=event.a,
                pid=event.b,
                parent_pid=0 if parent is None else parent.pid,
                name="" if parent is None else parent.name,
            )
            programs[event.a] = replace(known, forked_from=event.process)
    return programs


def _after(program: Program, event: Event) -> Program:
    """Return a program as an event of its own leaves it."""
    if event.kind == contents.THREAD:
        most = max(program.most_threads, event.b)
        return replace(program, most_threads=most, threads=program.threads + 1)
    if event.kind == contents.EXECS and event.a == 0:
        return replace(program, became_another=True)
    if event.kind == contents.EXEC_FAILED:
        return replace(program, became_another=False)
    if event.kind == contents.ENDED:
        return replace(program, ended=True, status=event.a)
    if event.kind == contents.USES_GS:
        return replace(program, uses_gs=True)
    return program


def _not_counted(events: Iterable[Event], programs: dict[int, Program]) -> tuple[str, ...]:
    """Return the programs that were executed and of which nothing was seen.

    What a program becomes keeps its number of process; what a child by vfork becomes is a child
    of the program that the loader took it for.
    """
    waiting: list[tuple[Event, Program]] = []
    for event in events:
        program = programs.get(event.process)
        if program is None:
            continue
        if event.kind == contents.EXECS:
            waiting.append((event, program))
        elif event.kind == contents.EXEC_FAILED:
            own = [pair for pair in waiting if pair[1] is program]
            if own:
                waiting.remove(own[-1])
        elif event.kind == contents.BEGAN and program.forked_from is None:
            for pair in waiting:
                said, before = pair
                expected = program.parent_pid if said.a else program.pid
                if before.pid == expected:
                    waiting.remove(pair)
                    break
    return tuple(event.name for event, _ in waiting)


def _reason(event: Event) -> str:
    text = REASONS[event.a] if event.a < len(REASONS) else REASONS[0]
    return f"{text} ({event.name2})" if event.name2 else text


def _placed(events: Iterable[Event]) -> Iterable[Placed]:
    for event in events:
        if event.kind == contents.LOADED:
            yield Placed(
                process=event.process,
                begin=event.b,
                end=event.b,
                bias=event.b,
                module=event.a,
                path="",
            )
        elif event.kind == contents.LEFT_ALONE and event.d > event.c:
            yield Placed(
                process=event.process,
                begin=event.b + event.c,
                end=event.b + event.d,
                bias=event.b,
                module=None,
                path=event.name,
            )
