"""A process whose recording copies are made up here, and the C code that replays its rings."""

import ctypes
import mmap
from dataclasses import dataclass, field

import numpy as np
from native_code import library

from ridgepoint.core.machine import Cache
from ridgepoint.meters.native import traffic
from ridgepoint.meters.simulated.geometry import Geometry

READ, WRITE, NON_TEMPORAL, PREFETCH, GATHER, REPEATED, MASKED, TILE = (1 << n for n in range(8))
BIAS, LOWEST = 0x5555_5540_0000, 0x1000
COUNTERS_AT, RING_AT = 4096 + 2 * 65536, 4096
MOST_COUNTERS, MOST_BANKS = 4096, 16
BANK_BYTES = COUNTERS_AT + 8 * MOST_COUNTERS
TRAFFIC_AT = 4096
NAMES_AT = TRAFFIC_AT + traffic.room_bytes()
BANKS_AT = NAMES_AT + 4096
SOURCES = (
    *(f"caches/{name}.c" for name in ("cache", "cache_setup", "reuse")),
    *(
        f"copying/traffic_{name}.c"
        for name in ("thread", "block", "burst", "replay", "form", "moved")
    ),
    *("copying/traffic.c", "copying/memory.c"),
)
GLUE = (
    f"""
#define NAMES_AT {NAMES_AT}
#define MOST_COUNTERS {MOST_COUNTERS}
"""
    + """
#include "copying/traffic_state.h"
void forget(void) { __builtin_memset(&traffic, 0, sizeof traffic); }
void begin(ArenaHeader *arena, uint64_t options) {
    arena->options = options;
    arena->traffic_at = 4096;
    arena->names_at = NAMES_AT;
    arena->most_counters = MOST_COUNTERS;
    traffic_begin(arena, 0);
}
void bank_is(Bank *bank, uint64_t process, uint64_t tid, uint64_t regions, const uint8_t *tiles) {
    bank->process = process; bank->tid = tid; bank->regions = regions;
    __builtin_memcpy(bank->tiles, tiles, 64);
}
void fill(Bank *bank, const uint64_t *words, uint64_t n) {
    __builtin_memcpy((char *)bank + RING_AT + bank->ring_index, words, 8 * n);
    bank->ring_index += 8 * n;
}
uint64_t ring_index(const Bank *bank) { return bank->ring_index; }
uint64_t dropped(const Bank *bank) { return bank->not_simulated; }
uint64_t regions_of(const Bank *bank) { return bank->regions; }
static Bank *last;
static Bank *next(Bank *before) { return before ? NULL : last; }
void ends(uint64_t process, bool is_last, Bank *bank) {
    last = bank;
    traffic_ends(process, is_last, next);
}
"""
)
ROW = np.dtype(
    [
        *(("address", "<u8"), ("bytes", "<u4"), ("kind", "<u2"), ("n_words", "<u2")),
        *(("first_access", "<u4"), ("unused", "<u4")),
    ]
)
ACCESS = np.dtype([("instruction", "<u4"), ("bytes", "<u2"), ("bits", "u1"), ("shape", "u1")])
N_SECTIONS = 16
ROWS, ACCESSES = 4, 7
SECTIONS_AT = 8 * 13


@dataclass(frozen=True)
class Access:
    """One access of a block, as a copy's file describes it."""

    bits: int
    n_bytes: int = 8
    shape: int = 0
    length: int = 4  # of the instruction

    @property
    def n_words(self) -> int:
        """Words in the ring."""
        return 10 if self.bits & GATHER else 2 if self.bits & (REPEATED | MASKED | TILE) else 1


@dataclass(frozen=True)
class Block:
    """Instructions that each make one access, but those `joined` with the one before."""

    address: int  # as the module's file states it
    accesses: tuple[Access, ...]
    joined: frozenset[int] = frozenset()
    rest_bytes: int = 2  # of a last instruction without an access

    @property
    def sites(self) -> list[int]:
        """Address of the instruction of each access."""
        at, found = self.address, []
        for number, access in enumerate(self.accesses):
            if number in self.joined:
                found.append(found[-1])
            else:
                found.append(at)
                at += access.length
        return found

    @property
    def n_bytes(self) -> int:
        """Bytes of code."""
        lengths = [a.length for n, a in enumerate(self.accesses) if n not in self.joined]
        return sum(lengths) + self.rest_bytes


def copy_file(blocks: list[Block]) -> np.ndarray:
    """Return the file of a copy: nothing but rows and accesses."""
    rows, accesses = np.zeros(len(blocks), ROW), []
    for row, block in zip(rows, blocks, strict=True):
        row["address"], row["bytes"] = block.address, block.n_bytes
        row["n_words"] = sum(access.n_words for access in block.accesses)
        row["first_access"] = len(accesses)
        accesses += [
            (site - LOWEST, access.n_bytes, access.bits, access.shape)
            for site, access in zip(block.sites, block.accesses, strict=True)
        ]
    table = np.array(accesses, ACCESS)
    header = np.zeros(SECTIONS_AT // 8 + 2 * N_SECTIONS, np.uint64)
    header[5] = LOWEST
    first = SECTIONS_AT // 8
    at_rows = header.nbytes
    header[first + 2 * ROWS : first + 2 * ROWS + 2] = at_rows, len(rows)
    header[first + 2 * ACCESSES : first + 2 * ACCESSES + 2] = at_rows + rows.nbytes, len(table)
    content = header.tobytes() + rows.tobytes() + table.tobytes()
    return np.frombuffer(bytearray(content.ljust(-(-len(content) // 8) * 8, b"\0")), np.uint64)


def geometry(data, *, cpus=1, instruction=(4, 2, 1), line=64) -> Geometry:
    """Return caches of (sets, ways, CPUs) each."""

    def cache(level, kind, sets, ways, sharers):
        return Cache(
            level=level, kind=kind, size_bytes=sets * ways * line, line_bytes=line,
            ways=ways, cores=sharers,
        )  # fmt: skip

    made = tuple(cache(n + 1, "data", *shape) for n, shape in enumerate(data))
    return Geometry(instruction=cache(1, "instruction", *instruction), data=made, cpus=cpus)


@dataclass
class Process:
    """A process of its own: the C code, its arena, and its rings."""

    wanted: traffic.Wanted
    flavour: str = "portable"
    kept: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.c = library(self.flavour, SOURCES, GLUE)
        size = BANKS_AT + MOST_BANKS * BANK_BYTES
        self.memory = mmap.mmap(-1, size)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.names = b"\0"
        selected = self.name(self.wanted.region) if self.wanted.region else 0
        self.put(TRAFFIC_AT, traffic.head(self.wanted, at=TRAFFIC_AT, region_name=selected))
        self.c.forget()
        self.c.begin(ctypes.c_void_p(self.at), ctypes.c_uint64(2))
        self.n_counters = 0
        for name in ("ring_index", "dropped", "regions_of"):
            getattr(self.c, name).restype = ctypes.c_uint64

    def put(self, at: int, content: bytes) -> None:
        """Write into the arena."""
        self.memory[at : at + len(content)] = content

    def name(self, text: str) -> int:
        """Return the place of a name."""
        place = len(self.names)
        self.names += text.encode() + b"\0"
        self.put(NAMES_AT, self.names)
        return place

    def load(self, blocks: list[Block], *, module: int = 0, bias: int = BIAS, first=None) -> int:
        """Load a copy; return its first counter."""
        file = copy_file(blocks)
        self.kept.append(file)
        first = self.n_counters if first is None else first
        self.c.traffic_module(
            ctypes.c_uint64(module), ctypes.c_uint64(first), ctypes.c_void_p(file.ctypes.data),
            ctypes.c_uint64(bias),
        )  # fmt: skip
        self.n_counters = max(self.n_counters, first + len(blocks))
        return first

    def bank(self, number: int, *, process=0, tid=1, regions=0, tiles=bytes(64)) -> ctypes.c_void_p:
        """Return a bank."""
        bank = ctypes.c_void_p(self.at + BANKS_AT + number * BANK_BYTES)
        self.c.bank_is(
            bank, ctypes.c_uint64(process), ctypes.c_uint64(tid), ctypes.c_uint64(regions), tiles
        )
        return bank

    def switched(self, before: ctypes.c_void_p, after: ctypes.c_void_p) -> None:
        """Let a thread go from one bank to another, into whose regions it goes itself."""
        self.c.traffic_switched(before, after, ctypes.c_uint64(self.c.regions_of(after)))

    def note(self, bank: ctypes.c_void_p, words) -> None:
        """Write words into a ring."""
        words = np.array(words, np.uint64)
        self.c.fill(bank, ctypes.c_void_p(words.ctypes.data), ctypes.c_uint64(len(words)))

    def replay(self, bank: ctypes.c_void_p, words=()) -> None:
        """Have the words, and those noted before, replayed."""
        self.note(bank, words)
        self.c.traffic_ring(bank)
        assert self.c.ring_index(bank) == 0

    def end(self, process: int = 0, *, is_last=True, bank=None) -> None:
        """End the process."""
        self.c.ends(ctypes.c_uint64(process), ctypes.c_bool(is_last), bank)

    def moved(self) -> traffic.Moved:
        """Return what was moved."""
        return traffic.moved(lambda n, at: self.memory[at : at + n], at=TRAFFIC_AT)

    def by_site(self, process: int = 0) -> dict[tuple[int, int, int], list[int]]:
        """Return what was moved by (regions, module, address): reads, writes, and past caches."""
        found: dict[tuple[int, int, int], list[int]] = {}
        for row in self.moved().rows:
            if row["process"] != process:
                continue
            key = (int(row["regions"]), int(row["module"]), int(row["address"]))
            counts = [*row["read_lines"].tolist(), *row["write_lines"].tolist(), row["nt_bytes"]]
            sums = found.setdefault(key, [0] * 9)
            found[key] = [a + int(b) for a, b in zip(sums, counts, strict=True)]
        return found


def word(counter: int) -> int:
    """Return the word that begins the record of a block."""
    return COUNTERS_AT + 8 * counter
