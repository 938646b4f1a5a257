"""Rings of recording copies replayed in simulated caches, against the brute-force caches."""

import ctypes
import random
import struct
import threading
from dataclasses import dataclass, field

import pytest
from brute_force_caches import FETCH, LOAD, NT_STORE, NTA, STORE, T0, T1, T2, BruteForce, Shape
from brute_force_caches import Geometry as Shapes
from native_code import FLAGS
from recorded_traffic import (
    BIAS,
    GATHER,
    LOWEST,
    MASKED,
    NON_TEMPORAL,
    PREFETCH,
    READ,
    REPEATED,
    TILE,
    WRITE,
    Access,
    Block,
    Process,
    geometry,
    word,
)  # fmt: skip

from ridgepoint.meters.native.traffic import Wanted

SOME = Block(0x2000, (Access(READ), Access(WRITE)))
LOOP = Block(0x3000, (Access(READ, 64),))
DATA = [(2, 2, 1), (3, 3, 2), (8, 2, 4)]
CODE = (2, 2, 1)
MEMORY = 64 * 48
TILES = bytes([1, *[0] * 15, 32, 0, 64, 0, *[0] * 28, 3, 2, *[0] * 14])


@dataclass
class Expected:
    """What the rules say of the same records, access by access."""

    cpus: int = 1
    last_fetched: int = -1
    cpu: int = 0
    sites: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shapes = [Shape(*shape) for shape in DATA]
        described = Shapes(data=shapes, n_cpus=self.cpus, instruction=Shape(*CODE))
        self.caches = BruteForce(described, 8192)

    def step(self, address, n_bytes, kind, site) -> None:
        """Make one access, unless it did not happen."""
        number = self.sites.setdefault(site, len(self.sites))
        if address:
            self.caches.step(address, n_bytes, kind, self.cpu, number)

    def record(self, block: Block, words, *, cpu=0, regions=0, module=0, bias=BIAS) -> None:
        """Make what a record stands for."""
        if cpu != self.cpu:
            self.last_fetched, self.cpu = -1, cpu
        begin, end = bias + block.address, bias + block.address + block.n_bytes
        for line in range(begin // 64, (end - 1) // 64 + 1):
            if line != self.last_fetched:
                self.last_fetched = line
                site = (regions, module, max(begin, 64 * line) - bias)
                self.step(64 * line, 1, FETCH, site)
        words, waiting = list(words), []
        for access, site in zip(block.accesses, block.sites, strict=True):
            own, words = words[: access.n_words], words[access.n_words :]
            made = elements(access, own)
            if access.bits & REPEATED and waiting and waiting[0][1] == site:
                waiting = [pair for both in zip(waiting, ((e, site) for e in made), strict=True)
                           for pair in both]  # fmt: skip
                self.flush(waiting, regions, module)
                waiting = []
                continue
            self.flush(waiting, regions, module)
            waiting = [(element, site) for element in made]
        self.flush(waiting, regions, module)

    def flush(self, waiting, regions, module) -> None:
        """Make accesses in their order."""
        for (address, n_bytes, kind), site in waiting:
            self.step(address, n_bytes, kind, (regions, module, site))

    def by_site(self) -> dict[tuple[int, int, int], list[int]]:
        """Return what every site moved that moved anything."""
        counts = {site: self.caches.moved[number] for site, number in self.sites.items()}
        return {site: moved for site, moved in counts.items() if any(moved)}


def elements(access: Access, words) -> list[tuple[int, int, int]]:
    """Return (address, bytes, kind) of what the words of an access say."""
    kind = kind_of(access)
    size, first = access.n_bytes, words[0]
    if access.bits & GATHER:
        lanes, scale = (access.shape & 15) + 1, access.shape >> 4 & 3
        raw = struct.pack("<8Q", *words[1:9])
        indices = struct.unpack("<8q" if access.shape & 64 else "<16i", raw)
        on = [n for n in range(lanes) if words[9] >> n & 1]
        return [(first + (indices[n] << scale), size, kind) for n in on]
    if access.bits & REPEATED:
        step = size if words[1] >= first else -size
        return [(at, size, kind) for at in range(first, words[1], step) if first and words[1]]
    if access.bits & MASKED:
        lanes = (access.shape & 63) + 1
        on = [n for n in range(lanes) if words[1] >> n & 1]
        if access.shape & 128:
            on = range(len(on))
        return [(first + n * size, size, kind) for n in on] if first else []
    if access.bits & TILE:
        columns = struct.unpack_from("<H", TILES, 16 + 2 * access.shape)[0]
        n_rows = TILES[48 + access.shape] if first else 0
        return [(first + n * words[1], columns, kind) for n in range(n_rows)]
    return [(first, 1 if access.bits & PREFETCH else size, kind)]


def kind_of(access: Access) -> int:
    """Return what the brute-force caches call it."""
    if access.bits & PREFETCH:
        return (T0, T1, T2, NTA)[access.shape]
    if access.bits & WRITE:
        return NT_STORE if access.bits & NON_TEMPORAL else STORE
    return LOAD


def random_access(rng: random.Random) -> Access:
    """Return any access that a block may make."""
    way = rng.choice([READ, WRITE, READ | WRITE])
    form = rng.randrange(14)
    if form < 7:
        return Access(way, rng.choice([1, 4, 8, 16, 32, 64, 100]), length=rng.randint(2, 15))
    if form == 7:
        past = Access(WRITE | NON_TEMPORAL, rng.choice([8, 32, 64]))
        return rng.choice([past, Access(PREFETCH, 64, rng.randrange(4))])
    if form < 11:
        wide = rng.random() < 0.5
        lanes = rng.choice([2, 4, 8]) if wide else rng.choice([2, 4, 8, 16])
        shape = lanes - 1 | rng.randrange(4) << 4 | 64 * wide
        return Access(rng.choice([READ, WRITE]) | GATHER, rng.choice([4, 8]), shape)
    if form == 11:
        return Access(rng.choice([READ, WRITE]) | REPEATED, rng.choice([1, 2, 4, 8]))
    if form == 12:
        shape = rng.choice([1, 4, 8, 16, 32, 64]) - 1 | 128 * rng.randrange(2)
        return Access(rng.choice([READ, WRITE]) | MASKED, rng.choice([1, 2, 4, 8]), shape)
    return Access(rng.choice([READ, WRITE]) | TILE, 64, rng.randrange(3))


def random_block(rng: random.Random, address: int) -> Block:
    """Return a block; now and then a string instruction that has two accesses."""
    accesses = [random_access(rng) for _ in range(rng.randint(0, 5))]
    joined = set()
    if rng.random() < 0.4:
        size = rng.choice([1, 4, 8])
        at = rng.randint(0, len(accesses))
        both = [Access(READ | REPEATED, size), Access(rng.choice([READ, WRITE]) | REPEATED, size)]
        accesses[at:at] = both
        joined.add(at + 1)
    return Block(address, tuple(accesses), frozenset(joined), rng.randint(1, 200))


def random_words(rng: random.Random, block: Block) -> list[int]:
    """Return the words of one record of a block."""
    words: list[int] = []
    n = 0
    for number, access in enumerate(block.accesses):
        at = MEMORY + rng.randrange(64 * 60) if rng.random() < 0.95 else 0
        words.append(at)
        if access.bits & GATHER:
            at = words[-1] = MEMORY + 64 * 30
            limit = 100
            indices = [rng.randint(-limit, limit) for _ in range(8 if access.shape & 64 else 16)]
            raw = struct.pack("<8q" if access.shape & 64 else "<16i", *indices)
            words += [*struct.unpack("<8Q", raw), rng.getrandbits(16)]
        elif access.bits & REPEATED:
            if number not in block.joined:
                n = rng.choice([0, 1, 2, 7, 40, 200]) * rng.choice([-1, 1])
            if n < 0 and at:
                at = words[-1] = at + 64 * 60
            words.append(at + n * access.n_bytes if at else 0)
            if number in block.joined and not (words[-2] and words[-4]):
                words[-4:] = [0, 0, 0, 0]
        elif access.bits & MASKED:
            words.append(rng.getrandbits(64))
        elif access.bits & TILE:
            words.append(rng.choice([64, 100, 256]))
    return words


@pytest.mark.parametrize("flavour", FLAGS)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_rings_move_what_their_accesses_move_one_by_one(flavour, seed):
    """Blocks with accesses of every form, threads on several CPUs, two sets of regions."""
    rng = random.Random(seed)
    cpus = rng.choice([1, 4])
    process = Process(Wanted(geometries=(geometry(DATA, cpus=cpus, instruction=CODE),)), flavour)
    expected = Expected(cpus)
    blocks, at = [], LOWEST
    for _ in range(20):
        blocks.append(random_block(rng, at))
        at += blocks[-1].n_bytes + rng.randint(0, 60)
    process.load(blocks)
    names = [0, process.name("one\ntwo")]
    for tid in range(cpus):
        process.c.traffic_thread_begins(tid)
    banks = [
        process.bank(2 * tid + n, tid=tid, regions=regions, tiles=TILES)
        for tid in range(cpus)
        for n, regions in enumerate(names)
    ]

    for _ in range(100):
        number = rng.randrange(len(banks))
        cpu, regions = number // 2, names[number % 2]
        if regions:
            process.switched(banks[number - 1], banks[number])
        ring = []
        for _ in range(rng.randint(1, 12)):
            n = rng.randrange(len(blocks))
            for _ in range(rng.choice([1, 1, 1, 5])):
                words = random_words(rng, blocks[n])
                ring += [word(n), *words]
                expected.record(blocks[n], words, cpu=cpu, regions=regions)
        process.replay(banks[number], ring)
        if regions:
            process.switched(banks[number], banks[number - 1])
    process.end()

    assert process.by_site() == expected.by_site()
    assert process.moved().ends[0].pending_lines == (expected.caches.pending(),)
    assert all(process.c.dropped(bank) == 0 for bank in banks)


# ---- what is in a ring and means nothing ----


def one_level(**options) -> Process:
    """Return a process with one cache of 4 lines, and one of 4 lines for code."""
    return Process(Wanted(geometries=(geometry([(1, 4, 1)], instruction=(1, 4, 1)),), **options))


@pytest.mark.parametrize(
    "ring",
    [
        [1],
        [word(0) + 4, 0, 0],
        [word(1), 0, 0],
        [word(4095), 0, 0],
        [word(4096), 0, 0],
        [2**64 - 8, 0],
        [0, 0],
        [word(0), 64 * 100],
    ],
)
def test_what_begins_no_record_is_dropped_with_what_follows(ring):
    """Words that a signal handler mixed up; what came before them counts."""
    process = one_level()
    process.load([SOME])
    bank = process.bank(0)
    good = [word(0), 64 * 50, 64 * 51]
    process.replay(bank, good + ring)

    moved = process.by_site()
    assert moved[0, 0, 0x2004][0] == 1
    assert moved[0, 0, 0x2000][0] == 2  # its code too
    assert process.c.dropped(bank) == len(ring)
    process.replay(bank, good)
    assert process.by_site() == moved


def test_a_word_that_was_not_written_is_an_access_that_did_not_happen():
    """The ring is emptied behind the replay, so nothing of earlier rounds is left in it."""
    process = one_level()
    process.load([SOME])
    bank = process.bank(0)
    process.replay(bank, [word(0), 64 * 50, 64 * 51])
    ring = ctypes.string_at(bank.value + 4096, 64)

    assert ring == bytes(64)


def test_a_huge_string_is_taken_for_a_mixed_up_word():
    """More than 4 GiB at once would be replayed for minutes."""
    process = one_level()
    process.load([Block(0x2000, (Access(WRITE | REPEATED, 1),))])
    process.replay(process.bank(0), [word(0), 64, 1 << 40])

    assert process.by_site() == {(0, 0, 0x2000): [1, 0, 0, 0, 0, 0, 0, 0, 0]}  # of code


def test_without_caches_the_ring_is_emptied_all_the_same():
    """An arena that asks for no traffic."""
    process = one_level()
    process.c.forget()
    bank = process.bank(0)
    process.replay(bank, [word(0), 64, 64])
    process.end()


def test_code_that_takes_the_place_of_other_code_is_new_code():
    """A module is unloaded, and another one gets its counters."""
    process = one_level()
    process.load([SOME], module=1)
    bank = process.bank(0)
    process.replay(bank, [word(0), 64 * 50, 64 * 51])
    process.load([LOOP], module=2, first=0)
    process.replay(bank, [word(0), 64 * 52])

    assert {(module, at) for _, module, at in process.by_site()} == {
        (1, 0x2000), (1, 0x2004), (2, 0x3000),
    }  # fmt: skip


# ---- regions ----


def test_the_selected_region_begins_and_ends_with_empty_caches():
    """Lines read before are read again in it; dirty ones are written back where they belong."""
    process = one_level(region="hot", cold=True, reuse_lines=64)
    process.load([SOME])
    hot = process.name("outer\nhot")
    near = process.name("hotter\nsho\nnothot")
    outside, inside = process.bank(0), process.bank(1, regions=hot)
    other = process.bank(2, regions=near)
    words = [word(0), 64 * 50, 64 * 51]
    process.replay(outside, words)
    process.switched(outside, other)
    process.replay(other, words)
    process.switched(other, inside)
    process.replay(inside, words)
    process.switched(inside, outside)
    process.replay(outside, words)
    process.end()

    found = process.by_site()
    last = SOME.address + SOME.n_bytes - 1
    assert found[0, 0, 0x2004] == [2, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found[near, 0, last] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert found[hot, 0, 0x2004] == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found[hot, 0, last] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    end = process.moved().ends[0]
    assert end.pending_lines == (1,)
    assert end.miss_curve is not None
    assert end.miss_curve.read_bytes[-1] == 0  # not the first touches: they were outside


def test_outside_of_a_cold_region_nothing_is_simulated_when_nothing_asks_for_it():
    """Emptied caches know nothing of what went before."""
    process = one_level(region="hot", cold=True)
    process.load([SOME])
    hot = process.name("hot")
    outside, inside = process.bank(0), process.bank(1, regions=hot)
    words = [word(0), 64 * 50, 64 * 51]
    process.replay(outside, words)
    process.switched(outside, inside)
    process.replay(inside, words)
    process.switched(inside, outside)
    process.replay(outside, words)

    assert {regions for regions, _, _ in process.by_site()} == {hot}


@pytest.mark.parametrize("all_threads", [True, False])
def test_what_other_threads_do_belongs_to_the_region_if_that_is_asked_for(all_threads):
    """While one thread is inside; not before it."""
    process = one_level(region="hot", cold=True, all_threads=all_threads)
    process.load([SOME, LOOP])
    hot = process.name("hot")
    outside, inside = process.bank(0), process.bank(1, regions=hot)
    helper = process.bank(2, tid=2)
    process.replay(helper, [word(1), 64 * 60])
    process.switched(outside, inside)
    process.replay(helper, [word(1), 64 * 61, word(1), 64 * 62])
    process.replay(inside, [word(0), 64 * 50, 64 * 51])
    process.switched(inside, outside)

    found = process.by_site()
    assert found[hot * all_threads, 0, 0x3000][0] == 3  # its code among them


def test_a_function_that_was_selected_is_a_region_with_a_marked_name():
    """Whatever its name is."""
    process = one_level(function=True, cold=True)
    process.load([SOME])
    function, region = process.name("\1f(int)"), process.name("f(int)")
    outside = process.bank(0)
    for regions in (region, function):
        inside = process.bank(1, regions=regions)
        process.switched(outside, inside)
        process.replay(inside, [word(0), 64 * 50, 64 * 51])
        process.switched(inside, outside)

    assert {regions for regions, _, _ in process.by_site()} == {function}


# ---- several caches, the miss curve, processes ----


def test_other_caches_and_the_miss_curve_come_from_the_same_pass():
    """Ten lines written in a cycle: 4 lines hold none of them, 16 all."""
    small, large = (geometry([(1, ways, 1)], instruction=(1, 4, 1)) for ways in (4, 16))
    process = Process(Wanted(geometries=(small, large), reuse_lines=64))
    process.load([Block(0x2000, (Access(READ | WRITE),))])
    bank = process.bank(0)
    process.replay(bank, [w for n in range(30) for w in (word(0), 64 * (100 + n % 10))])
    process.end()

    moved = process.moved()
    end = moved.ends[0]
    assert process.by_site()[0, 0, 0x2000] == [31, 0, 0, 0, 26, 0, 0, 0, 0]
    (row,) = moved.elsewhere
    assert (row["module"], row["read_lines"][0], row["write_lines"][0]) == (0, 11, 0)
    assert end.pending_lines == (4, 10)
    assert end.is_whole
    curve = end.miss_curve
    assert curve is not None
    four, ten = (curve.traffic_at(64 * lines) for lines in (4, 10))
    assert (four.read_bytes, four.write_bytes) == (64 * 30, 64 * 26)
    assert (ten.read_bytes, ten.write_bytes) == (64 * 10, 0)


def test_a_miss_curve_alone_needs_no_caches():
    """No lines move, and none is pending."""
    process = Process(Wanted(geometries=(), reuse_lines=64))
    process.load([LOOP])
    process.replay(process.bank(0), [word(0), 64 * 50, word(0), 64 * 51])
    process.end()

    assert process.by_site() == {}
    end = process.moved().ends[0]
    assert end.pending_lines == ()
    assert end.miss_curve is not None
    assert end.miss_curve.read_bytes[0] == 2 * 64


def test_a_child_goes_on_with_warm_caches_and_counts_of_its_own():
    """What its parent read it need not read, but what it reads is its own."""
    process = one_level()
    process.load([LOOP])
    parent, child = process.bank(0, tid=10), process.bank(1, process=1, tid=11)
    process.replay(parent, [word(0), 64 * 50])
    before = process.by_site()
    process.c.traffic_before_fork(ctypes.c_uint64(10))
    process.c.traffic_after_fork(ctypes.c_bool(True), ctypes.c_uint64(1), ctypes.c_uint64(11))
    process.replay(child, [word(0), 64 * 50, word(0), 64 * 51])
    process.end(1, is_last=False)

    assert process.by_site() == before
    assert process.by_site(1) == {(0, 0, 0x3000): [1, 0, 0, 0, 0, 0, 0, 0, 0]}
    assert set(process.moved().ends) == {1}


def test_the_end_replays_what_is_left_and_nothing_after_it():
    """Rings that were not full."""
    process = one_level()
    process.load([LOOP])
    bank = process.bank(0)
    process.note(bank, [word(0), 64 * 50])
    process.end(bank=bank)
    process.replay(bank, [word(0), 64 * 51])

    assert process.by_site() == {(0, 0, 0x3000): [2, 0, 0, 0, 0, 0, 0, 0, 0]}


def test_threads_get_the_cpus_with_the_fewest():
    """A thread that ends makes room; each has an L1 of its own, as its code has."""
    caches = geometry([(1, 4, 1), (1, 64, 3)], cpus=3, instruction=(1, 4, 1))
    process = Process(Wanted(geometries=(caches,)))
    process.load([LOOP])
    for tid in (1, 2, 3):
        process.c.traffic_thread_begins(ctypes.c_uint64(tid))
        process.replay(process.bank(tid, tid=tid), [word(0), 64 * 50])
    process.c.traffic_thread_ends(ctypes.c_uint64(2))
    process.replay(process.bank(4, tid=4), [word(0), 64 * 50])

    assert process.by_site()[0, 0, 0x3000][:2] == [6, 2]


def test_rings_of_threads_that_run_at_once_are_replayed_one_by_one():
    """Each thread has lines of its own, in a cache that holds all: each is read once."""
    caches = geometry([(64, 64, 1)], cpus=1, instruction=(1, 4, 1))
    process = Process(Wanted(geometries=(caches,)))
    process.load([LOOP])
    banks = [process.bank(n, tid=n) for n in range(4)]

    def work(number):
        for n in range(200):
            address = 64 * (1000 * (number + 1) + n)
            process.replay(banks[number], [w for _ in range(50) for w in (word(0), address)])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert process.by_site()[0, 0, 0x3000][0] == 4 * 200 + 1


def test_where_rows_run_out_sums_stay_right():
    """What cannot be said of an instruction is said of the regions."""
    process = one_level()
    process.put(4096 + 8 * 5, struct.pack("<Q", 2))  # most_moved
    process.load([Block(0x2000 + 64 * n, (Access(READ),)) for n in range(5)])
    process.replay(process.bank(0), [w for n in range(5) for w in (word(n), 64 * (100 + n))])

    moved = process.moved()
    assert len(moved.rows) == len(moved.anywhere) == 1
    total = moved.rows["read_lines"][0] + moved.anywhere["read_lines"][0]
    assert total.tolist() == [10, 0, 0, 0]
