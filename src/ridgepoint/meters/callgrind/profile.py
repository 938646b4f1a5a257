"""Reads what callgrind writes: costs per object, function and address.

The format is "Callgrind Format Specification", Valgrind User Manual, section 'cl-format'.
Only profiles of instruction addresses (``--dump-instr=yes --dump-line=no``) are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ridgepoint.core.errors import InvalidDocument

UNKNOWN_OBJECT = "???"

_COST_STARTS = frozenset("0123456789+-*")
_REMEDY = "count the program again, with room left on the disk of the temporary directory"


@dataclass(slots=True, kw_only=True)
class FunctionCosts:
    """What one function did itself, without the functions that it called.

    Parameters
    ----------
    executions : dict of int to int
        How often the instruction at an address was executed.
    events : list of int
        Sum of every event over these instructions, in the order of `Profile.events`.
    """

    executions: dict[int, int] = field(default_factory=dict)
    events: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One file that callgrind wrote.

    Parameters
    ----------
    pid : int
    command : str
    thread : int
        Callgrind's number of the thread, from 1; 1 where threads were not kept apart.
    first_block : int or None
        Basic blocks that the process had executed when the costs began; None: not said.
    trigger : str
        Why it was written.
    events : tuple of str
        Names, ``Ir`` (instructions executed) first.
    functions : dict of (str or None, str) to FunctionCosts
        By object (None: not in any file) and function.
    calls_out : set of (str, int, int)
        Calls from an object to code that callgrind places in none: object, address of the call
        as the file states it, and address of its target at run time.
    """

    pid: int
    command: str
    thread: int
    first_block: int | None
    trigger: str
    events: tuple[str, ...]
    functions: dict[tuple[str | None, str], FunctionCosts]
    calls_out: frozenset[tuple[str, int, int]] = frozenset()


def parse_profile(lines: Iterable[str], *, source: str) -> Profile:
    """Parse a profile and check it against the totals that it states.

    Parameters
    ----------
    lines : iterable of str
        Of the file, with or without their ends.
    source : str
        Name of the file, for messages.

    Raises
    ------
    InvalidDocument
        If it is no such profile, is cut short, or its parts do not add up to its totals.
    """
    reader = _Reader(source)
    try:
        reader.read(lines)
    except (ValueError, IndexError, KeyError) as error:
        raise reader.refuse(
            f"line {reader.line} cannot be read ({error}); it may have been cut short"
        ) from error
    return reader.profile()


class _Reader:
    """The state of reading one file: names seen so far, the function and address at hand."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.line = 0
        self.header: dict[str, str] = {}
        self.events: tuple[str, ...] = ()
        self.functions: dict[tuple[str | None, str], FunctionCosts] = {}
        self.stated: list[int] = []
        self.finished = False
        self._objects: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self.calls_out: set[tuple[str, int, int]] = set()
        self._object: str | None = None
        self._callee_object: str | None = None
        self._target: int | None = None
        self._name: str | None = None

    def refuse(self, reason: str) -> InvalidDocument:
        return InvalidDocument(
            f"cannot use callgrind's profile {self.source!r}", reason=reason, remedy=_REMEDY
        )

    def read(self, lines: Iterable[str]) -> None:
        address = 0
        lines = iter(lines)
        self._command(lines)
        skip = False  # the line after "calls=" and "jump=" holds no cost of the function itself
        costs: FunctionCosts | None = None
        first = self.line + 1
        for self.line, line in enumerate(lines, first):
            if line[:1] in _COST_STARTS:
                fields = line.split()
                address = _moved(address, fields[0])
                if skip:
                    skip = False
                    if self._target is not None and self._object is not None:
                        self.calls_out.add((self._object, address, self._target))
                    continue
                if costs is None:
                    costs = self._costs()
                n = int(fields[1])
                costs.executions[address] = costs.executions.get(address, 0) + n
                costs.events[0] += n
                if len(fields) > 2:
                    events = costs.events
                    for index in range(2, len(fields)):
                        events[index - 1] += int(fields[index])
                continue
            key, equals, value = line.rstrip("\n").partition("=")
            if not equals or ":" in key:
                self._state(line)
            elif key in {"calls", "jump", "jcnd"}:
                skip = True
                outwards = key == "calls" and self._callee_object == UNKNOWN_OBJECT
                self._target = _moved(address, value.split()[1]) if outwards else None
                self._callee_object = None
            else:
                self._name_of(key, value)
                costs = None

    def profile(self) -> Profile:
        if not self.events:
            raise self.refuse("it is empty or not a profile")
        if not self.finished:
            raise self.refuse(f"it is cut short after line {self.line}: it states no totals")
        sums = [
            sum(part) for part in zip(*(f.events for f in self.functions.values()), strict=True)
        ]
        if (sums or [0] * len(self.events)) != self.stated:
            raise self.refuse(f"its parts add up to {sums}, but it states {self.stated}")
        first = self.header.get("desc: Timerange", "").partition("Basic block ")[2].split(" ")[0]
        return Profile(
            pid=int(self.header["pid"]),
            command=self.header.get("cmd", ""),
            thread=int(self.header.get("thread", "1")),
            first_block=int(first) if first else None,
            trigger=self.header.get("desc: Trigger", ""),
            events=self.events,
            functions=self.functions,
            calls_out=frozenset(self.calls_out),
        )

    def _command(self, lines: Iterator[str]) -> None:
        """Take in the header up to the number of the part, with the command that precedes it.

        An argument may hold line ends, and callgrind writes them as they are.
        """
        command: list[str] = []
        for self.line, line in enumerate(lines, 1):
            if line.startswith("part:"):
                break
            if command:
                command.append(line.rstrip("\n"))
            elif line.startswith("cmd:"):
                command.append(line.removeprefix("cmd:").strip())
            else:
                self._state(line)
        self.header["cmd"] = "\n".join(command)

    def _costs(self) -> FunctionCosts:
        if self._name is None or not self.events:
            raise self.refuse(f"line {self.line} has a cost that belongs to no function")
        key = (None if self._object in {None, UNKNOWN_OBJECT} else self._object, self._name)
        if key not in self.functions:
            self.functions[key] = FunctionCosts(events=[0] * len(self.events))
        return self.functions[key]

    def _name_of(self, key: str, value: str) -> None:
        """Take in a line that names a function or an object, of the costs or of a callee."""
        if key == "fn":
            self._name = _expanded(value, self._names)
        elif key == "ob":
            self._object = _expanded(value, self._objects)
        elif key == "cfn":
            _expanded(value, self._names)
        elif key == "cob":
            self._callee_object = _expanded(value, self._objects)

    def _state(self, line: str) -> None:
        """Take in one line of the header or the totals."""
        key, colon, value = line.partition(":")
        value = value.strip()
        if key == "desc":
            subject, _, value = value.partition(":")
            key, value = f"desc: {subject}", value.strip()
        if key == "totals":
            parts = [int(part) for part in value.split()]
            parts += [0] * (len(self.events) - len(parts))
            before = self.stated or [0] * len(self.events)
            self.stated = [a + b for a, b in zip(before, parts, strict=True)]
            self.finished = True
        elif key == "part":
            self.finished = False
        elif key == "positions" and value != "instr":
            raise self.refuse(f"its positions are {value!r}, not instruction addresses")
        elif key == "events":
            self.events = tuple(value.split())
            if self.events[:1] != ("Ir",):
                raise self.refuse(f"its events are {value!r}, without instructions first")
        elif not colon and line.strip() and not line.startswith("#"):
            raise self.refuse(f"line {self.line} is not of the format: {line.strip()!r}")
        self.header.setdefault(key, value)


def _moved(address: int, position: str) -> int:
    """Return the address that a position means; it may be relative to the last one."""
    if position[0] in "+-":
        return address + int(position, 0)
    return address if position == "*" else int(position, 0)


def _expanded(value: str, known: dict[str, str]) -> str:
    """Return a name that may be stated once as "(id) name" and then as "(id)" alone."""
    identifier, closing, name = value.partition(")")
    if not closing or not identifier[1:].isdecimal():
        return value  # a name in full may itself begin with "(": "(below main)"
    if name:
        known[identifier] = name[1:]
    return known[identifier]
