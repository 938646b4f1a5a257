"""What scripted arenas and copies amount to, worked out by hand: no compiler, no process."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from native_files import BLOCK, ITERATIONS, MASK, ArenaFile, copy_file

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.doctor.selftest.elf import START, executable
from ridgepoint.kernels.tiles import TileConfiguration
from ridgepoint.meters.native import contents as events
from ridgepoint.meters.native.arena import Arena
from ridgepoint.meters.native.collector import Collector
from ridgepoint.meters.native.contents import read_contents
from ridgepoint.meters.native.copy_file import read_copy
from ridgepoint.meters.native.coverage import coverage_of, surely_less
from ridgepoint.meters.native.history import history_of
from ridgepoint.meters.native.profiles import profiles_of
from ridgepoint.meters.object_file import CodeStore
from ridgepoint.meters.profile.counts import count

FIRST = bytes.fromhex(
    "f20f58c1"  # addsd %xmm1,%xmm0
    "62f1ed4958d9"  # vaddpd %zmm1,%zmm2,%zmm3{%k1}
    "f3aa"  # rep stosb
    "75fe"  # jne
)
SECOND = bytes.fromhex("c4e2725cda c3")  # tdpbf16ps %tmm1,%tmm2,%tmm3; ret
MASKED, REPEATED = START + 4, START + 10
ROWS = [
    (START, len(FIRST), BLOCK),
    (START + len(FIRST), len(SECOND), BLOCK),
    (MASKED, 8, MASK),
    (REPEATED, 2, ITERATIONS),
]
INSTRUCTIONS = [START + at for at in (0, 4, 10, 12, 14, 19)]
PLACES = [(4096 + 9 * n, address) for n, address in enumerate(INSTRUCTIONS)]
# 4 rows of 8 fp32, times 8 bf16 of each of these: 2 x 4 x 8 x 8 = 512 flop.
TILES = TileConfiguration(rows=(0, 4, 4, 4, 0, 0, 0, 0), row_bytes=(0, 32, 16, 32, 0, 0, 0, 0))


@pytest.fixture
def program(tmp_path):
    """Write an executable of two blocks, and its copy."""
    path = tmp_path / "program"
    path.write_bytes(executable(FIRST + SECOND, constants=b"1", arrays_bytes=0))
    return str(path), copy_file(tmp_path / "program.copy", ROWS, places=PLACES)


def began(number=0, pid=100, parent=1):
    """Return a script of one program that begins."""
    script = ArenaFile()
    script.event(events.BEGAN, number, a=pid, b=parent, name="/bin/program")
    return script


def contents(script, tmp_path):
    """Return what is read of a script."""
    fd = os.open(script.write(tmp_path / "arena"), os.O_RDONLY)
    try:
        return read_contents(fd)
    finally:
        os.close(fd)


def totals(script, tmp_path, **options):
    """Return what the programs of a script did."""
    found = contents(script, tmp_path)
    programs = history_of(found.events).programs
    return count(profiles_of(found, programs, files=CodeStore()), **options)


def test_blocks_become_instructions(tmp_path, program):
    """Two threads pass the first block 15 times: 60 instructions, 15 of them branches."""
    script = began()
    script.module(*program, first=40, n=4)
    script.bank(0, {40: 10, 42: 33, 43: 90})
    script.bank(0, {40: 5, 42: 7, 43: 10})
    whole = totals(script, tmp_path).counts

    assert (whole.instructions, whole.branches, whole.undecoded) == (60, 15, 0)
    assert (whole.stores, whole.store_bytes) == (15, 100)
    assert whole.work == {"fp64": 15 + 15 * 8}
    assert (whole.masked_flop, whole.useful_flop) == (120, 15 + 40)


def test_blocks_and_masks_may_share_a_counter(tmp_path, program):
    """The second block is executed as often as the first, and a mask is that of another row."""
    rows = [
        (START, len(FIRST), BLOCK),
        (START + len(FIRST), len(SECOND), BLOCK, 0),
        (MASKED, 8, MASK, 3),
        (REPEATED, 8, MASK),
    ]
    shared = copy_file(tmp_path / "shared.copy", rows, places=PLACES)
    script = began()
    script.module(program[0], shared, first=0, n=4)
    script.bank(0, {0: 10, 3: 33})
    whole = totals(script, tmp_path).counts

    assert whole.instructions == 10 * (4 + 2)
    assert (whole.masked_flop, whole.useful_flop) == (80, 10 + 33)


def test_blocks_may_be_known_by_others(tmp_path, program):
    """The second block is executed whenever the first is and the masked one is not."""
    rows = [
        (START, len(FIRST), BLOCK),
        (START + len(FIRST), len(SECOND), BLOCK),
        (REPEATED, 8, MASK),
    ]
    known = copy_file(tmp_path / "known.copy", rows, places=PLACES, sums=[(1, 1), (1, -3)])
    script = began()
    script.module(program[0], known, first=0, n=3)
    script.bank(0, {0: 10, 2: 4})
    script.bank(0, {0: 1, 2: 1})
    whole = totals(script, tmp_path).counts

    assert whole.instructions == 11 * 4 + (11 - 5) * 2


def test_mask_that_leaves_nothing_on_is_known_too(tmp_path, program):
    """A counter of 0 is not there to be read, and says that no flop was useful."""
    script = began()
    script.module(*program, first=0, n=4)
    script.bank(0, {0: 10, 3: 90})
    whole = totals(script, tmp_path).counts

    assert (whole.masked_flop, whole.useful_flop) == (80, 10)


def test_products_of_tiles_count_by_the_configuration_of_their_bank(tmp_path, program):
    """Three with one configuration, and one in another bank, where it is not known."""
    script = began()
    script.module(*program, first=0, n=4)
    script.bank(0, {1: 3}, tiles=TILES.encoded)
    script.bank(0, {1: 1})
    whole = totals(script, tmp_path).counts

    assert whole.work == {"bf16": 3 * 512}
    assert (whole.instructions, whole.undecoded) == (8, 1)


def test_regions_are_told_apart(tmp_path, program):
    """Inner ones count for those around them, and one can be counted alone."""
    script = began()
    script.module(*program, first=0, n=4)
    script.bank(0, {0: 1})
    script.bank(0, {0: 2}, regions=("solve",))
    script.bank(0, {0: 4}, regions=("solve", "sweep"))
    found = totals(script, tmp_path)
    alone = totals(script, tmp_path, selects=lambda name: name == "sweep")

    assert {one.name: one.counts.instructions for one in found.regions} == {
        "solve": 24,
        "sweep": 16,
    }
    assert (found.counts.instructions, alone.counts.instructions) == (28, 16)


def test_functions_have_the_names_of_their_symbols(tmp_path, program):
    """And the path of their file."""
    script = began()
    script.module(*program, first=0, n=4)
    script.bank(0, {0: 1, 1: 1})
    (function,) = totals(script, tmp_path).functions

    assert (function.name, function.object) == ("_start", program[0])
    assert function.counts.instructions == 6


def test_lines_are_those_of_the_copy(tmp_path, program):
    """Each holds from its address up to the next one's; before the first there is none."""
    names = b"\0/src/a.c\0/src/b.h\0"
    lines = [
        *((START + 4, 1, 7), (START + 10, 10, 3), (START + 14, 1, 9)),
        *((START + 19, 0, 0), (START + 30, 1, 11)),
    ]
    copy = copy_file(tmp_path / "lines.copy", ROWS, places=PLACES, lines=lines, names=names)
    script = began()
    script.module(program[0], copy, first=0, n=4)
    script.bank(0, {0: 1, 1: 1})
    (function,) = totals(script, tmp_path).functions

    assert {(one.source, one.line): one.counts.instructions for one in function.lines} == {
        ("/src/a.c", 7): 1,
        ("/src/b.h", 3): 2,
        ("/src/a.c", 9): 1,
    }


def test_long_names_of_sources_are_read_whole(tmp_path):
    """As long as paths may be; one at the end of the section needs no 0."""
    longest = b"/" + b"a" * 4094
    names = b"\0" + longest + b"\0/b"
    copy = read_copy(copy_file(tmp_path / "copy", ROWS, names=names))

    assert [copy.name(at) for at in (0, 1, 4097, 5000)] == ["", longest.decode(), "/b", ""]


@pytest.mark.parametrize("n", [1, 7, 100_000])
def test_instructions_of_a_large_module_are_found(n, tmp_path):
    """As NumPy finds them, which reads all of them; places of recording code come second."""
    random = np.random.default_rng(n)
    addresses = np.unique(random.integers(0, 4 * n, n))
    places = [(k, 0x400000 + a) for k, a in enumerate(addresses.tolist())]
    once = read_copy(copy_file(tmp_path / "once", ROWS, places=places))
    both = read_copy(copy_file(tmp_path / "both", ROWS, places=[*places, *places], flags=4))
    wanted = np.array([0, 1, 2 * n, 4 * n, 1 << 40, *addresses[:20]], np.uint64)

    for copy in (once, both):
        own, found = copy.places_from(wanted)
        assert own.tolist() == addresses.tolist()
        assert found.tolist() == np.searchsorted(addresses, wanted.astype(np.int64)).tolist()


def test_module_that_two_processes_loaded_at_once_is_one(tmp_path, program):
    """It has two rows in the arena, and one function in the result."""
    script = began()
    script.event(events.BEGAN, 1, a=101, b=100, name="/bin/program")
    script.module(*program, first=0, n=4)
    script.module(*program, first=4, n=4)
    script.bank(0, {0: 1})
    script.bank(1, {4: 2})
    found = totals(script, tmp_path)

    assert [one.counts.instructions for one in found.functions] == [12]


def test_code_without_a_file_is_read_from_its_copy(tmp_path):
    """As of a compiler at run time: an addition, and a jump that is longer in the copy."""
    code = bytes(16) + bytes.fromhex("f20f58c1 0f8500000000")
    copy = copy_file(
        tmp_path / "made.copy",
        [(0x7000, 6, BLOCK)],
        lowest=0x7000,
        highest=0x8000,
        code=code,
        places=[(16, 0x7000), (20, 0x7004)],
    )
    script = began()
    script.module("", copy, first=0, n=1, process=0)
    script.bank(0, {0: 3})
    whole = totals(script, tmp_path).counts

    assert (whole.instructions, whole.branches, whole.work_flop) == (6, 3, 3)


def test_half_written_rows_are_passed_over(tmp_path, program):
    """Of a process that was killed while it appended."""
    script = began()
    script.event(0, 0, a=9)
    script.module(*program, first=0, n=4, ready=0)
    script.bank(0, {0: 1})
    found = contents(script, tmp_path)

    assert found.modules == ()
    assert [event.kind for event in found.events] == [events.BEGAN]


def test_counters_are_read_from_wherever_they_are(tmp_path):
    """Page by page, without the holes between."""
    script = ArenaFile(most_counters=1 << 16)
    script.bank(3, {0: 1, 1: 2, 5_000: 3, (1 << 16) - 1: 4}, regions=("a", "b"))
    (bank,) = contents(script, tmp_path).banks

    assert bank.counters.tolist() == [0, 1, 5_000, (1 << 16) - 1]
    assert bank.counts.tolist() == [1, 2, 3, 4]
    assert (bank.process, bank.regions, bank.tiles) == (3, ("a", "b"), b"")


def test_programs_are_told_from_events(tmp_path):
    """A shell executes a program after a fork, and ends; the program has two threads."""
    script = began()
    script.event(events.FORKED, 0, a=1, b=101)
    script.event(events.EXECS, 1, name="/bin/other")
    script.event(events.BEGAN, 2, a=101, b=100, name="/bin/other")
    script.event(events.THREAD, 2, a=102, b=2)
    script.event(events.ENDED, 2, a=3)
    script.event(events.ENDED, 0, a=3)
    history = history_of(contents(script, tmp_path).events)

    first, fork, other = history.programs
    assert (first.pid, first.ended, first.status) == (100, True, 3)
    assert (fork.pid, fork.forked_from, fork.became_another) == (101, 0, True)
    assert (other.name, other.most_threads, other.threads) == ("/bin/other", 2, 2)
    assert history.not_counted == ()


def test_program_of_which_nothing_is_seen_is_named(tmp_path):
    """It was executed, and no library was preloaded; one that could not be executed is none."""
    script = began()
    script.event(events.EXECS, 0, name="/bin/gone")
    script.event(events.EXEC_FAILED, 0, a=2)
    script.event(events.EXECS, 0, name="/bin/child", a=1)
    script.event(events.BEGAN, 1, a=101, b=100, name="/bin/child")
    script.event(events.EXECS, 0, name="/bin/static")
    history = history_of(contents(script, tmp_path).events)

    assert history.not_counted == ("/bin/static",)
    assert history.programs[0].became_another


def test_coverage_is_that_of_the_programs_own_time(tmp_path, program):
    """980 of 1000 samples are in copies, 10 of the others in _start; the kernel's do not count."""
    script = began()
    module = script.module(*program, first=0, n=4)
    script.event(events.LOADED, 0, a=module, b=0x10000)
    script.event(events.FORKED, 0, a=1, b=101)
    script.bank(0, {0: 1}, samples=(980, 10, 5, 300, 5))
    script.bank(1, {0: 1}, samples=(0, 5, 0, 0, 0))
    for _ in range(10):
        script.sample(0, 0x10000 + START + 1)
    for _ in range(5):
        script.sample(0, 0x123)
    for _ in range(5):
        script.sample(1, 0x10000 + START + 2)
    found = contents(script, tmp_path)
    covered = coverage_of(found, history_of(found.events))

    assert (covered.share, covered.samples) == (0.98, 1000)
    names = [(one.name, one.object, round(one.share, 6)) for one in covered.uncounted]
    assert names == [("_start", program[0], 0.015), ("code that no file holds", None, 0.005)]


def test_coverage_of_a_region_is_that_of_its_own_time(tmp_path):
    """What ran outside of it, copied or not, says nothing of it."""
    script = began()
    script.bank(0, {0: 1}, samples=(900, 0, 0, 0, 0))
    script.bank(0, {0: 1}, regions=("solve",), samples=(10, 0, 0, 0, 30))
    found = contents(script, tmp_path)
    history = history_of(found.events)

    assert coverage_of(found, history).share == pytest.approx(910 / 940)
    assert coverage_of(found, history, selects=lambda name: name == "solve").share == 0.25


@pytest.mark.parametrize(
    ("inside", "outside", "refused"),
    [(19, 0, False), (10, 2, False), (0, 1, False), (0, 2, False), (0, 3, True), (1, 4, True)],
)
def test_coverage_of_few_samples_is_refused_only_if_it_is_hopeless(
    tmp_path, inside, outside, refused
):
    """A program of a few milliseconds: 0.05**3 is one in 8000, 0.05**2 one in 400."""
    script = began()
    script.bank(0, {0: 1}, samples=(inside, outside, 0, 0, 0))
    found = contents(script, tmp_path)
    covered = coverage_of(found, history_of(found.events))

    assert not covered.is_known
    assert surely_less(covered, 0.95) is refused


@pytest.mark.parametrize(("samples", "refused"), [(20, False), (2000, True)])
def test_coverage_is_refused_where_chance_is_no_excuse(tmp_path, samples, refused):
    """92.5 % or so: of 20 samples that may be 95 %, of 2000 hardly (five standard deviations)."""
    script = began()
    missed = samples * 75 // 1000
    script.bank(0, {0: 1}, samples=(samples - missed, missed, 0, 0, 0))
    found = contents(script, tmp_path)

    assert surely_less(coverage_of(found, history_of(found.events)), 0.95) is refused


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: path.write_bytes(b"RPCOPY01"), "cut short"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "cut short"),
        (lambda path: path.write_bytes(b"x" + path.read_bytes()[1:]), "not a copy"),
        (lambda path: path.unlink(), "No such file"),
    ],
)
def test_damaged_copy_is_refused(tmp_path, change, reason):
    """What a full disk or a killed copier may leave."""
    path = copy_file(tmp_path / "one.copy", ROWS)
    change(path)

    with pytest.raises(InvalidDocument, match=reason):
        read_copy(path)


def test_tiles_are_read_as_they_are_configured():
    """What LDTILECFG loads, there and back; zeros are no configuration."""
    assert TileConfiguration.decoded(TILES.encoded) == TILES
    assert TileConfiguration.decoded(bytes(64)) is None
    assert np.frombuffer(TILES.encoded, np.uint8)[0] == 1


def test_banks_of_processes_that_are_gone_are_added_up_and_given_back(tmp_path):
    """Two of three are: what all did stays, and their pages are there no more."""
    script = began()
    script.bank(0, {0: 1, 900: 2}, samples=(5, 0, 0, 0, 0))
    script.bank(1, {0: 10})
    script.bank(2, {0: 100, 7: 1}, samples=(7, 1, 0, 0, 0))
    path = script.write(tmp_path / "arena")
    fd = os.open(path, os.O_RDWR)
    arena = SimpleNamespace(
        descriptor=fd,
        banks=lambda **options: Arena.banks(SimpleNamespace(_fd=fd), **options),
        bank=lambda number: Arena.bank(SimpleNamespace(_fd=fd), number),
        extent_of_counters=lambda n: Arena.extent_of_counters(SimpleNamespace(_fd=fd), n),
    )
    before = os.fstat(fd).st_blocks
    collector = Collector(arena, enough_bytes=0, is_gone=lambda pid: pid != 101)
    collector.collect()
    collector.collect()
    banks = collector.banks()

    assert [(bank.counters.tolist(), bank.counts.tolist()) for bank in banks] == [
        ([0, 7, 900], [101, 1, 2]),
        ([0], [10]),
    ]
    assert (banks[0].in_copy, banks[0].in_original, banks[0].process) == (12, 1, 0)
    assert os.fstat(fd).st_blocks < before
    os.close(fd)
