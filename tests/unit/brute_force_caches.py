"""Caches simulated the slow way, from the rules alone, with the data that they would hold.

Every store gives its line a new version, and copies carry the version that they hold: a rule by
which a load saw old data, or by which a write was lost, fails here by itself.
"""

from dataclasses import dataclass, field

LOAD, STORE, NT_STORE, T0, T1, T2, NTA, FETCH, EMPTY = range(9)


@dataclass(frozen=True, slots=True)
class Shape:
    """Caches of one level: their size, and how many neighbouring CPUs share each."""

    n_sets: int
    ways: int
    cpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The levels from the core outwards."""

    data: list[Shape]
    n_cpus: int
    line_bytes: int = 64
    instruction: Shape | None = None


@dataclass(slots=True)
class Copy:
    """What a cache holds of a line."""

    version: int
    dirty: bool = False


@dataclass(slots=True)
class OneCache:
    """Sets of lines, the one used longest ago first."""

    shape: Shape
    sets: dict[int, dict[int, Copy]] = field(default_factory=dict)

    def set_of(self, line: int) -> dict[int, Copy]:
        """Return the set that the line belongs to."""
        return self.sets.setdefault(line % self.shape.n_sets, {})

    def peek(self, line: int) -> Copy | None:
        """Return the copy, if there is one."""
        return self.set_of(line).get(line)

    def use(self, line: int) -> Copy | None:
        """Return the copy, which is then the one used last."""
        copy = self.set_of(line).pop(line, None)
        if copy:
            self.set_of(line)[line] = copy
        return copy

    def add(self, line: int, copy: Copy) -> tuple[int, Copy] | None:
        """Take the line in; return the one that has to leave."""
        lines = self.set_of(line)
        assert line not in lines
        oldest = next(iter(lines)) if len(lines) == self.shape.ways else None
        leaving = None if oldest is None else (oldest, lines.pop(oldest))
        lines[line] = copy
        return leaving

    def drop(self, line: int) -> Copy | None:
        """Let go of the line; return the copy that there was."""
        return self.set_of(line).pop(line, None)

    def copies(self) -> list[tuple[int, Copy]]:
        """Return all lines and what is held of them."""
        return [item for lines in self.sets.values() for item in lines.items()]


class BruteForce:
    """All caches of a machine, its memory, and what every site moved."""

    def __init__(self, geometry: Geometry, n_sites: int) -> None:
        self.geometry, self.shapes = geometry, geometry.data
        self.n = len(self.shapes)
        cpus = range(geometry.n_cpus)
        self.levels = [{c // s.cpus: OneCache(s) for c in cpus} for s in self.shapes]
        self.code = {c: OneCache(geometry.instruction) for c in cpus if geometry.instruction}
        self.moved = [[0] * 9 for _ in range(n_sites)]
        self.memory: dict[int, int] = {}
        self.newest: dict[int, int] = {}
        self.cpu, self.counts = 0, self.moved[0]

    def step(self, address: int, n_bytes: int, kind: int, cpu: int, site: int) -> None:
        """Make one access by a CPU, or empty the caches."""
        self.cpu, self.counts = cpu, self.moved[site]
        if kind == EMPTY:
            self._empty()
            return
        size = self.geometry.line_bytes
        for line in range(address // size, (address + n_bytes - 1) // size + 1):
            first, end = max(address, line * size), min(address + n_bytes, (line + 1) * size)
            self._access(line, end - first, kind)

    def _access(self, line: int, n_bytes: int, kind: int) -> None:
        if kind == LOAD:
            assert self._bring(line, 0) == self.newest.get(line, 0)
        elif kind == STORE:
            self._store(line)
        elif kind == NT_STORE:
            self._store_past_caches(line, n_bytes)
        elif kind == FETCH:
            self._fetch(line)
        else:
            self._prefetch(line, kind)

    def _path(self, level: int) -> OneCache:
        return self.levels[level][self.cpu // self.shapes[level].cpus]

    def _read(self, level: int) -> None:
        self.counts[level] += 1

    def _written(self, level: int) -> None:
        self.counts[4 + level] += 1

    def _write_into(self, level: int, line: int, version: int) -> None:
        """Let a dirty line arrive at a level of the path, or at memory, from inside."""
        if level == self.n:
            self.memory[line] = version
            return
        copy = self._path(level).use(line)
        if copy:
            copy.version, copy.dirty = version, True
        else:
            self._make_room(level, self._path(level).add(line, Copy(version, dirty=True)))

    def _make_room(self, level: int, leaving: tuple[int, Copy] | None) -> None:
        if leaving and leaving[1].dirty:
            self._written(level)
            self._write_into(level + 1, leaving[0], leaving[1].version)

    def _same(self, cpu: int, level: int) -> bool:
        """Tell whether this CPU and the one at work share their cache of the level."""
        if level == self.n:
            return True
        return cpu // self.shapes[level].cpus == self.cpu // self.shapes[level].cpus

    def _others(self, meeting: int) -> list[tuple[int, OneCache]]:
        """Return caches whose way to memory meets the path at this level, inner ones first."""
        found = []
        for level in range(meeting):
            for index, cache in self.levels[level].items():
                cpu = index * self.shapes[level].cpus
                if self._same(cpu, meeting) and not self._same(cpu, meeting - 1):
                    found.append((level, cache))
        return found

    def _settle(self, line: int, meeting: int, *, removing: bool) -> None:
        """Have others' dirty data written to where they meet; clean or remove all copies."""
        innermost = None
        for level, cache in self._others(meeting):
            copy = cache.peek(line)
            if copy and copy.dirty and innermost is None:
                innermost = level, copy.version
            if copy and innermost:
                copy.version = innermost[1]
            if copy:
                copy.dirty = False
            if removing:
                cache.drop(line)
        if innermost:
            for level in range(innermost[0], meeting):
                self._written(level)
            self._write_into(meeting, line, innermost[1])

    def _bring(self, line: int, to: int, *, start=0, removing=False, skip_middle=False) -> int:
        """Fill from where the line is down to a level; return the version that was found."""
        found, version = self.n, self.memory.get(line, 0)
        for level in range(start, self.n):
            if level:
                self._settle(line, level, removing=removing)
            cache = self._path(level)
            copy = cache.use(line) if level >= to else cache.peek(line)
            if copy:
                found, version = level, copy.version
                break
        if found == self.n:
            self._settle(line, self.n, removing=removing)
            version = self.memory.get(line, 0)
        for level in reversed(range(to, found)):
            self._read(level)
            if level == to or not skip_middle:
                self._make_room(level, self._path(level).add(line, Copy(version)))
        return version

    def _store(self, line: int) -> None:
        self._bring(line, 0, removing=True)
        for meeting in range(1, self.n + 1):
            self._settle(line, meeting, removing=True)
        self.newest[line] = self.newest.get(line, 0) + 1
        copy = self._path(0).peek(line)
        assert copy
        copy.version, copy.dirty = self.newest[line], True

    def _store_past_caches(self, line: int, n_bytes: int) -> None:
        copies = [(k, c.drop(line)) for k, level in enumerate(self.levels) for c in level.values()]
        dirty = [level for level, copy in copies if copy and copy.dirty]
        if dirty and n_bytes < self.geometry.line_bytes:
            for level in range(min(dirty), self.n):
                self._written(level)
        self.newest[line] = self.memory[line] = self.newest.get(line, 0) + 1
        self.counts[8] += n_bytes

    def _prefetch(self, line: int, kind: int) -> None:
        to = min({T0: 0, T1: 1, T2: 2, NTA: 0}[kind], self.n - 1)
        if to == 0 or not self._path(0).peek(line):
            self._bring(line, to, skip_middle=kind == NTA)

    def _fetch(self, line: int) -> None:
        nearest = self._code_cache()
        if nearest.use(line) if nearest else self.n == 1:
            return
        written = self._path(0).peek(line)
        if written and written.dirty:
            written.dirty = False
            self._written(0)
            self._write_into(1, line, written.version)
        version = self._bring(line, 1, start=1)
        assert version == self.newest.get(line, 0)
        if nearest:
            self._read(0)
            nearest.add(line, Copy(version))

    def _code_cache(self) -> OneCache | None:
        shape = self.geometry.instruction
        return self.code[self.cpu // shape.cpus] if shape else None

    def _dirty(self) -> dict[int, int]:
        """Return the innermost level at which each dirty line is dirty."""
        levels = [
            (line, k)
            for k, level in enumerate(self.levels)
            for cache in level.values()
            for line, copy in cache.copies()
            if copy.dirty
        ]
        return {line: level for line, level in reversed(levels)}

    def _empty(self) -> None:
        for line, level in self._dirty().items():
            for crossed in range(level, self.n):
                self._written(crossed)
            self.memory[line] = self.newest[line]
        for cache in [c for level in self.levels for c in level.values()] + [*self.code.values()]:
            cache.sets.clear()

    def pending(self) -> int:
        """Return how many lines are newer in some cache than in memory."""
        return len(self._dirty())

    def check_nothing_lost(self) -> None:
        """Check that what is newest is in memory or dirty in a cache, for every line."""
        dirty = {
            (line, copy.version)
            for level in self.levels
            for cache in level.values()
            for line, copy in cache.copies()
            if copy.dirty
        }
        for line, version in self.newest.items():
            assert self.memory.get(line, 0) == version or (line, version) in dirty
