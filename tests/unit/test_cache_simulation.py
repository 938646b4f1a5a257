"""The engine's caches against a brute-force simulation, and against numbers found by hand."""

import ctypes
import math
from collections.abc import Iterator

import numpy as np
import pytest
from brute_force_caches import BruteForce, Geometry, Shape
from hypothesis import given
from hypothesis import strategies as st
from native_code import FLAGS, library

LOAD, STORE, NT_STORE, T0, T1, T2, NTA, FETCH, EMPTY = range(9)
N_SITES = 3
# Where the addresses of the tests begin, since no program has memory in line 0: a multiple of all
# numbers of sets up to 16, so that what shares a set does so as if they began at 0.
MEMORY = 64 * math.lcm(*range(1, 17))
SOURCES = ("caches/cache.c", "caches/cache_setup.c")
GLUE = """
#include "cache.h"
typedef struct { uint64_t address; uint32_t bytes, kind, cpu, site; } Step;
static Moved moved[3];
static Moved *moved_of(void *context, uint32_t site) { (void)context; return &moved[site]; }
Caches *make(const CacheGeometry *geometry) {
    __builtin_memset(moved, 0, sizeof moved);
    return caches_new(geometry, take, moved_of, NULL);
}
const Moved *moved_by_sites(void) { return moved; }
void run(Caches *caches, const Step *step, size_t n, uint64_t memory) {
    for (; n; step++, n--) {
        if (step->cpu != caches->cpu) caches_select_cpu(caches, step->cpu);
        const uint64_t address = memory + step->address;
        if (step->kind > ACCESS_FETCH) caches_empty(caches, step->site);
        else if (step->kind == ACCESS_FETCH && step->bytes == 1)
            caches_fetch(caches, address, step->site);
        else caches_access(caches, address, step->bytes, step->kind, step->site);
    }
}
"""
STEP = np.dtype(
    [
        ("address", "u8"),
        ("bytes", "u4"),
        ("kind", "u4"),
        ("cpu", "u4"),
        ("site", "u4"),
    ]
)


class CShape(ctypes.Structure):
    """CacheShape of the header."""

    _fields_ = (
        ("size_bytes", ctypes.c_uint64),
        ("ways", ctypes.c_uint32),
        ("cpus", ctypes.c_uint32),
    )


class CGeometry(ctypes.Structure):
    """CacheGeometry of the header."""

    _fields_ = (
        ("n_levels", ctypes.c_uint32),
        ("line_bytes", ctypes.c_uint32),
        ("n_cpus", ctypes.c_uint32),
        ("data", CShape * 4),
        ("instruction", CShape),
    )


class Simulation:
    """The C code, driven as the engine drives it."""

    def __init__(self, c: ctypes.CDLL, geometry: Geometry) -> None:
        self.c = c
        c.make.restype = ctypes.c_void_p
        c.moved_by_sites.restype = ctypes.POINTER(ctypes.c_uint64)
        c.caches_dirty_lines.restype = ctypes.c_uint64
        c.caches_select_cpu.restype = ctypes.c_bool
        line = geometry.line_bytes
        described = CGeometry(len(geometry.data), line, geometry.n_cpus)
        for level, shape in enumerate(geometry.data[:4]):
            described.data[level] = CShape(shape.n_sets * shape.ways * line, shape.ways, shape.cpus)
        if geometry.instruction:
            shape = geometry.instruction
            described.instruction = CShape(shape.n_sets * shape.ways * line, shape.ways, shape.cpus)
        self.caches = ctypes.c_void_p(c.make(ctypes.byref(described)))

    def run(self, steps: np.ndarray, *, memory: int = MEMORY) -> None:
        """Make the accesses."""
        self.c.run(
            self.caches,
            ctypes.c_void_p(steps.ctypes.data),
            ctypes.c_size_t(len(steps)),
            ctypes.c_uint64(memory),
        )

    def moved(self) -> list[list[int]]:
        """Return, by site, lines read and written by level, then non-temporal bytes."""
        flat = self.c.moved_by_sites()[: 9 * N_SITES]
        return [flat[9 * site : 9 * site + 9] for site in range(N_SITES)]

    def total(self) -> list[int]:
        """Return what all sites moved."""
        return [sum(column) for column in zip(*self.moved(), strict=True)]

    def pending(self) -> int:
        """Return how many lines are dirty."""
        return self.c.caches_dirty_lines(self.caches)


@pytest.fixture(params=FLAGS)
def c(request: pytest.FixtureRequest) -> Iterator[ctypes.CDLL]:
    """Return the compiled caches."""
    loaded = library(request.param, SOURCES, GLUE)
    yield loaded
    loaded.give_all_back()


def accesses(addresses, *, kind=LOAD, n_bytes=8, cpu=0, site=0) -> np.ndarray:
    """Return accesses to the addresses, all of one kind."""
    steps = np.zeros(len(addresses), STEP)
    steps["address"] = addresses
    steps["bytes"], steps["kind"], steps["cpu"], steps["site"] = n_bytes, kind, cpu, site
    return steps


def interleaved(*streams: np.ndarray) -> np.ndarray:
    """Return the first access of each stream, then the second of each, and so on."""
    return np.stack(streams, axis=1).reshape(-1)


def doubles(n_lines: int, *, at: int = 0) -> np.ndarray:
    """Return the addresses of the doubles in so many lines, beginning at a line of that number."""
    return at * 64 + 8 * np.arange(8 * n_lines)


# ---- against brute force ----

SHARING = [(1, 1, 1), (1, 1, 4), (1, 2, 4), (2, 2, 4), (1, 1, 2), (1, 2, 2), (4, 4, 4), (1, 3, 6)]


@st.composite
def geometries(draw) -> Geometry:
    """Draw small caches, with sets that are no power of two among them, and a few wide ones."""
    narrow = st.tuples(st.integers(1, 6), st.integers(1, 5))
    shape = narrow | st.tuples(st.just(1), st.integers(6, 20))
    sharing = draw(st.sampled_from(SHARING))
    data = [Shape(*draw(shape), cpus=cpus) for cpus in sharing[: draw(st.integers(1, 3))]]
    instruction = draw(
        st.none() | st.builds(Shape, st.integers(1, 3), st.integers(1, 3), st.just(1))
    )
    return Geometry(data=data, n_cpus=draw(st.integers(1, 4)), instruction=instruction)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 40 * 64 - 1),
        st.sampled_from([1, 8, 32, 64, 100, 200]),
        st.sampled_from([*[LOAD, STORE] * 4, NT_STORE, T0, T1, T2, NTA, FETCH, EMPTY]),
        st.integers(0, 3),
        st.integers(0, N_SITES - 1),
    ),
    max_size=150,
)


def as_steps(geometry: Geometry, steps) -> np.ndarray:
    """Return the steps for the CPUs that there are; every other one begins with a line."""
    made = np.array(steps, STEP)
    made["cpu"] %= geometry.n_cpus
    made["address"][::2] &= ~np.uint64(63)
    return made


def assert_same(c: ctypes.CDLL, geometry: Geometry, steps: np.ndarray) -> None:
    """Run both simulations and compare all that they count."""
    simulation, expected = Simulation(c, geometry), BruteForce(geometry, N_SITES)
    simulation.run(steps)
    for address, n_bytes, kind, cpu, site in steps.tolist():
        expected.step(address, n_bytes, kind, cpu, site)
    expected.check_nothing_lost()

    assert simulation.moved() == expected.moved
    assert simulation.pending() == expected.pending()


@pytest.mark.parametrize("flavour", FLAGS)
@given(geometry=geometries(), steps=STEPS)
def test_every_count_is_that_of_a_brute_force_simulation(flavour, geometry, steps):
    """Lines at every boundary by site, and dirty lines, for all kinds of access and sharing."""
    c = library(flavour, SOURCES, GLUE)
    assert_same(c, geometry, as_steps(geometry, steps))
    c.give_all_back()


# The code for wide sets depends on how many vectors hold the ways: 2, 3, 4, or others.
SHAPES = [
    [(4, 2), (3, 4), (7, 5)],
    [(1, 8), (1, 12), (2, 16)],
    [(1, 6), (2, 11), (2, 20)],
    [(2, 9), (2, 13), (1, 45)],
]


@pytest.mark.parametrize("n_cpus", [1, 4])
@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_long_runs_agree_with_a_brute_force_simulation_too(c, shapes, sharing, n_cpus):
    """Long after the caches are full; mostly loads and stores of few lines."""
    random = np.random.default_rng(sum(sharing) + n_cpus)
    n = 1500
    steps = np.zeros(n, STEP)
    steps["address"] = random.integers(0, 60 * 64, n)
    steps["bytes"] = random.choice([4, 8, 64], n)
    steps["kind"] = random.choice(8, n, p=[0.45, 0.4, 0.03, 0.02, 0.02, 0.02, 0.02, 0.04])
    steps["cpu"] = random.integers(0, n_cpus, n)
    steps["site"] = random.integers(0, N_SITES, n)
    data = [
        Shape(n_sets, ways, cpus=cpus) for (n_sets, ways), cpus in zip(shapes, sharing, strict=True)
    ]

    assert_same(c, Geometry(data=data, n_cpus=n_cpus, instruction=Shape(2, 2, cpus=1)), steps)


# ---- by hand ----

# 64, 256 and 1024 lines: each level is more than twice the one before, so that a stream leaves
# every level in the order in which it entered.
SMALL = Geometry(data=[Shape(8, 8, cpus=1), Shape(32, 8, cpus=1), Shape(64, 16, cpus=1)], n_cpus=1)
STREAM = 4096
SMALL_L1_LINES = 64


def test_a_stream_of_loads_crosses_every_boundary_once(c):
    """4096 lines are four times the last level; nothing is written."""
    simulation = Simulation(c, SMALL)
    simulation.run(accesses(doubles(STREAM)))

    assert simulation.total() == [4096, 4096, 4096, 0, 0, 0, 0, 0, 0]
    assert simulation.pending() == 0


def test_a_stream_of_stores_is_read_and_written_but_for_what_stays(c):
    """Each level keeps the newest lines that fit it: 64, 256 and 1024."""
    simulation = Simulation(c, SMALL)
    simulation.run(accesses(doubles(STREAM), kind=STORE))

    assert simulation.total() == [4096, 4096, 4096, 0, 4096 - 64, 4096 - 256, 4096 - 1024, 0, 0]
    assert simulation.pending() == 1024


def test_a_triad_reads_three_streams_and_writes_one(c):
    """A[i] = b[i] + s * c[i]: a third of each level holds a, since all three move alike."""
    n, third = 3072, 1024 // 4  # arrays lie 3072 lines apart: the same sets, 4 ways each (of 16)
    simulation = Simulation(c, SMALL)
    b, d, a = (accesses(doubles(n, at=at)) for at in (0, n, 2 * n))
    a["kind"] = STORE
    simulation.run(interleaved(b, d, a))
    moved, pending = simulation.total(), simulation.pending()

    assert moved[:3] == [3 * n] * 3
    assert moved[6] + pending == n
    assert third <= pending <= 2 * third


def test_a_copy_past_the_caches_reads_one_stream_and_keeps_nothing_dirty(c):
    """Non-temporal stores read nothing: 64 byte per line go to memory, and no line."""
    simulation = Simulation(c, SMALL)
    copied = accesses(doubles(STREAM, at=STREAM), kind=NT_STORE)
    simulation.run(interleaved(accesses(doubles(STREAM)), copied))

    assert simulation.total() == [4096, 4096, 4096, 0, 0, 0, 0, 0, 64 * 4096]
    assert simulation.pending() == 0


def test_what_fits_is_read_once(c):
    """Ten passes over 64 lines in an L1 of 64, and over 256 lines that only L2 holds."""
    simulation = Simulation(c, SMALL)
    for _ in range(10):
        simulation.run(accesses(doubles(64)))
    first = simulation.total()[:3]
    for _ in range(10):
        simulation.run(accesses(doubles(256)))

    assert first == [64, 64, 64]
    assert simulation.total()[:3] == [64 + 10 * 256 - 64, 256, 256]


def test_one_line_more_than_the_ways_of_a_set_always_misses(c):
    """True LRU drops what comes next in a cycle: 8 lines of a set stay, 9 never do."""
    one_set = 8 * 64 * np.arange(9)
    fits, does_not = Simulation(c, SMALL), None
    fits.run(accesses(np.tile(one_set[:8], 20)))
    misses_of_8 = fits.total()[0]
    does_not = Simulation(c, SMALL)
    does_not.run(accesses(np.tile(one_set, 20)))

    assert misses_of_8 == 8
    assert does_not.total()[0] == 9 * 20


def test_a_size_with_sets_that_are_no_power_of_two_is_used_whole(c):
    """105 MiB in 15 ways are 114688 sets: 1720320 lines stay, and one more costs its set."""
    big = Geometry(data=[Shape(114688, 15, cpus=1)], n_cpus=1)
    simulation = Simulation(c, big)
    everything = accesses(0x7F12_3456_7000 // 64 * 64 + 64 * np.arange(1720320))
    simulation.run(everything)
    simulation.run(everything)
    twice = simulation.total()[0]
    simulation.run(accesses(everything["address"][-1:] + np.uint64(64)))
    simulation.run(everything)

    assert twice == 1720320
    assert simulation.total()[0] == 1720320 + 1 + 15


PRIVATE_L1 = Geometry(data=[Shape(8, 8, cpus=1), Shape(32, 8, cpus=2)], n_cpus=2)


@pytest.mark.parametrize(
    ("geometry", "moved"),
    [
        (PRIVATE_L1, [100, 1, 0, 0, 99, 0, 0, 0, 0]),
        (Geometry(data=[Shape(8, 8, cpus=1)], n_cpus=2), [100, 0, 0, 0, 99, 0, 0, 0, 0]),
        (Geometry(data=[Shape(8, 8, cpus=2)], n_cpus=2), [1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ],
    ids=["through a shared L2", "through memory", "in the same L1"],
)
def test_false_sharing_moves_the_line_with_every_store(c, geometry, moved):
    """Two CPUs store to two halves of a line in turn, 100 times in all."""
    mine, yours = accesses([0] * 50, kind=STORE), accesses([32] * 50, kind=STORE, cpu=1)
    simulation = Simulation(c, geometry)
    simulation.run(interleaved(mine, yours))

    assert simulation.total() == moved
    assert simulation.pending() == 1


def test_two_readers_share_a_line_until_one_of_them_stores(c):
    """Reading costs nobody anything; a store takes the other's copy, not what else it has."""
    simulation = Simulation(c, PRIVATE_L1)
    both = [accesses([0, 64, 0, 64], cpu=cpu) for cpu in (0, 1)]
    simulation.run(np.concatenate([*both, *both]))
    read = simulation.total()[0]
    simulation.run(np.concatenate([accesses([0], kind=STORE), *both]))

    assert read == 4
    assert simulation.total() == [5, 2, 0, 0, 1, 0, 0, 0, 0]


def test_emptying_writes_every_dirty_line_to_memory_and_forgets_the_rest(c):
    """Four lines are written in L1; afterwards all six are read from memory again."""
    simulation = Simulation(c, SMALL)
    touched = np.concatenate([accesses(64 * np.arange(4), kind=STORE), accesses([256, 320])])
    simulation.run(touched)
    simulation.run(accesses([0], kind=EMPTY, site=2))
    written, pending = simulation.moved()[2], simulation.pending()
    simulation.run(accesses(64 * np.arange(6)))

    assert pending == 0
    assert written[6] == 4
    assert simulation.total()[2] == 12


def test_an_access_across_two_lines_is_two(c):
    """32 byte from byte 48 on; and one of 200 byte from there touches 4 lines."""
    simulation = Simulation(c, SMALL)
    simulation.run(accesses([48], n_bytes=32))
    two = simulation.total()[2]
    simulation.run(accesses([48], n_bytes=200))

    assert (two, simulation.total()[2]) == (2, 4)


@pytest.mark.parametrize("kind", [LOAD, STORE, NT_STORE, T0, T1, NTA, FETCH])
def test_there_is_no_memory_in_line_0(c, kind):
    """The null pointer is prefetched, and stands for an access that did not happen."""
    simulation = Simulation(c, SMALL)
    nowhere = np.concatenate([accesses([0, 32], kind=kind), accesses([0], kind=kind, n_bytes=512)])
    simulation.run(nowhere, memory=0)
    simulation.run(accesses(doubles(SMALL_L1_LINES), kind=STORE))
    simulation.run(nowhere, memory=0)
    simulation.run(accesses(doubles(SMALL_L1_LINES)))

    assert simulation.total() == [SMALL_L1_LINES] * 3 + [0] * 6
    assert simulation.pending() == SMALL_L1_LINES


@pytest.mark.parametrize(
    ("kind", "read_by_prefetch", "read_by_load"),
    [
        (T0, [1, 1, 1], [0, 0, 0]),
        (T1, [0, 1, 1], [1, 0, 0]),
        (T2, [0, 0, 1], [1, 1, 0]),
        (NTA, [1, 1, 1], [0, 0, 0]),
    ],
)
def test_a_prefetch_brings_the_line_as_near_as_it_says(c, kind, read_by_prefetch, read_by_load):
    """What the prefetch has moved, the load after it does not move again."""
    simulation = Simulation(c, SMALL)
    simulation.run(np.concatenate([accesses([640], kind=kind, site=1), accesses([640])]))
    by_load, by_prefetch, _ = simulation.moved()

    assert by_prefetch[:3] == read_by_prefetch
    assert by_load[:3] == read_by_load


def test_instructions_have_a_first_level_of_their_own(c):
    """Data that fills L1 does not displace them; the outer levels hold both."""
    geometry = Geometry(data=SMALL.data, n_cpus=1, instruction=Shape(8, 8, cpus=1))
    simulation = Simulation(c, geometry)
    code = accesses(64 * np.arange(32), kind=FETCH, site=1)
    simulation.run(np.concatenate([code, accesses(doubles(64, at=100)), code]))

    assert simulation.moved()[1] == [32, 32, 32, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "geometry",
    [
        Geometry(data=[], n_cpus=1),
        Geometry(data=[Shape(8, 8, cpus=1)] * 5, n_cpus=1),
        Geometry(data=[Shape(8, 0, cpus=1)], n_cpus=1),
        Geometry(data=[Shape(0, 8, cpus=1)], n_cpus=1),
        Geometry(data=[Shape(8, 8, cpus=0)], n_cpus=1),
        Geometry(data=[Shape(8, 8, cpus=1)], n_cpus=0),
        Geometry(data=[Shape(8, 8, cpus=2), Shape(8, 8, cpus=3)], n_cpus=6),
        Geometry(data=[Shape(8, 8, cpus=1)], n_cpus=1, line_bytes=48),
        Geometry(data=[Shape(8, 8, cpus=1)], n_cpus=1, line_bytes=2),
    ],
    ids=str,
)
def test_an_impossible_geometry_is_refused(c, geometry):
    """No caches come back, so nothing can be counted with them."""
    assert Simulation(c, geometry).caches.value is None


def test_a_cpu_that_is_not_there_is_refused(c):
    """CPUs are numbered from 0."""
    simulation = Simulation(c, PRIVATE_L1)

    assert c.caches_select_cpu(simulation.caches, 1)
    assert not c.caches_select_cpu(simulation.caches, 2)
