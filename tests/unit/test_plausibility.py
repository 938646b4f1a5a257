"""Counts that do not fit the time: numbers of real programs, and code that really is that slow."""

from dataclasses import replace

import pytest
from core_inputs import COUNTS, MACHINE, measured

from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Protocol
from ridgepoint.core.timed import Timed
from ridgepoint.meters.valgrind import cautions
from ridgepoint.models.analysis import place
from ridgepoint.models.plausibility import by_instructions_per_cycle, by_slowdown

CACHES = (Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8),)


def at(clock_hz):
    """Return the machine on which all of this ran."""
    return replace(MACHINE, host=replace(MACHINE.host, frequency_hz=clock_hz))


def seen(instructions, cpu_s, *, system_s=0.0, read_bytes=0, caches=CACHES):
    """Return a program of so many instructions, and so many bytes from beyond L1."""
    counts = replace(COUNTS, instructions=instructions)
    moved = Traffic(level="l2", read_bytes=read_bytes, write_bytes=0)
    whole = measured(counts=counts, traffic=(moved,), wall_s=(cpu_s,))
    return replace(
        whole,
        counted=replace(whole.counted, caches=caches),
        timed=replace(whole.timed, system_s=Estimate([system_s])),
    )


@pytest.mark.parametrize(
    ("one", "words"),
    [
        # openssl dgst -sha256 at 4.0 GHz: SHA-NI natively, AVX2 counted
        (seen(1_414_000_000, 0.037), ["1.41 G", "37 ms", "9.6 per cycle at 4 GHz", "than 8"]),
        # openssl speed -seconds 1: a fixed time, 1557 times less work under Valgrind
        (seen(71_000_000, 1.005), ["71 M", "0.018 per cycle", "amount of work"]),
    ],
    ids=["other code", "fixed time"],
)
def test_instructions_that_do_not_fit_the_time_are_doubted(one, words):
    """Also where no flop are done; and in the placement, so that every report has it."""
    (caution,) = by_instructions_per_cycle(one, at(4e9))

    assert caution.code == "other-work"
    for word in words:
        assert word in caution.seen + caution.remedy
    assert caution in place(one, at(4e9)).cautions


@pytest.mark.parametrize(
    "one",
    [
        seen(7_500_000_000, 1.115),  # gzip: 1.7 in a cycle
        seen(20_000_000_000, 0.9),  # 5.6 in a cycle: a wide core at its best
        # 10 M loads that each wait 300 ns for memory: 0.0025 in a cycle, and true
        seen(30_000_000, 3.0, read_bytes=640_000_000),
        seen(30_000_000, 1.0, system_s=0.99),  # dd: the kernel's instructions are not counted
        seen(1_000_000, 0.003),  # starts and ends: its time is that of the kernel
        seen(30_000_000, 3.0, caches=()),  # no traffic simulated: whether it waits is not known
    ],
    ids=["gzip", "wide", "chase", "kernel", "short", "no traffic"],
)
def test_instructions_that_fit_the_time_are_not_doubted(one):
    """Waiting for memory and for the kernel is no other work."""
    assert list(by_instructions_per_cycle(one, at(4e9))) == []


def test_nothing_is_said_where_the_clock_is_not_known_or_another_machine_s():
    """No guess."""
    one = seen(71_000_000, 1.005)
    elsewhere = replace(one, context=replace(one.context, cpu="another"))

    assert list(by_instructions_per_cycle(one, MACHINE)) == []
    assert list(by_instructions_per_cycle(elsewhere, at(4e9))) == []
    assert list(by_instructions_per_cycle(replace(one, timed=None), at(4e9))) == []


def test_call_that_is_short_is_judged_too():
    """Its time is the mean of many: 20 k instructions in 0.5 us are 10 in a cycle at 4 GHz."""
    protocol = Protocol(
        state="warm", calls=1000, replicas=1, data_bytes=None, overhead_s=0.0, counted_calls=16
    )
    (caution,) = by_instructions_per_cycle(replace(seen(20_000, 5e-7), protocol=protocol), at(4e9))

    assert "10 per cycle" in caution.seen


def test_counting_that_takes_as_long_as_the_native_run_is_doubted():
    """1.67 s of a fixed time natively, 1.95 s under Valgrind: the same work takes ten times it."""
    timed = Timed(runtime_s=Estimate([1.7]), cpu_s=Estimate([1.7]), system_s=Estimate([0.03]))
    counted = seen(10**9, 1.0).counted
    waits = seen(10**9, 1.0, read_bytes=64_000_000).counted  # 1 M lines, a second at most
    (caution,) = by_slowdown(counted, 1.95, timed)

    assert caution.code == "other-work"
    assert "1.95 s" in caution.seen
    assert "1.67 s" in caution.seen
    assert list(by_slowdown(counted, 16.7, timed)) == []
    assert list(by_slowdown(waits, 1.95, timed)) == []


def test_other_work_is_said_once():
    """What is known from the slowdown is not found again by the clock."""
    one = seen(71_000_000, 1.005)
    (caution,) = by_slowdown(one.counted, 1.1, one.timed)

    assert list(by_instructions_per_cycle(replace(one, cautions=(caution,)), at(4e9))) == []


def function(path, instructions, flop=0):
    """Return a function of a library."""
    kinds = (FlopCount(precision="fp32", width_bits=256, fma=True, flop=flop, instructions=1),)
    counts = Counts(
        instructions=instructions,
        branches=0,
        loads=0,
        stores=0,
        load_bytes=0,
        store_bytes=0,
        flop=kinds if flop else (),
    )
    return FunctionCounts(name="f", object=path, counts=counts)


@pytest.fixture
def _wide_libraries(monkeypatch):
    """Let every library but the program itself hold AVX-512 code."""
    monkeypatch.setattr(cautions, "has_avx512", lambda: True)
    monkeypatch.setattr(cautions, "holds_avx512", lambda path: path != "/bin/prog")


@pytest.mark.usefixtures("_wide_libraries")
def test_libraries_that_could_use_avx512_are_named_without_flop_too(monkeypatch):
    """Libcrypto does a digest; the loader does little of it."""
    functions = [
        function("/lib/libcrypto.so", 900),
        function("/lib/ld.so", 60),
        function("/bin/prog", 40),
    ]
    (caution,) = cautions.wider_path(functions)

    assert caution.code == "avx2-path"
    assert "libcrypto" in caution.seen
    assert "ld.so" not in caution.seen
    assert "trust the work" not in caution.remedy


@pytest.mark.usefixtures("_wide_libraries")
@pytest.mark.parametrize(("low", "trusted"), [(True, False), (False, True)])
def test_work_is_not_to_be_trusted_where_tiles_may_do_it(monkeypatch, low, trusted):
    """bf16 in AMX is counted as fp32."""
    monkeypatch.setattr(cautions, "has_low_precision", lambda: low)
    (caution,) = cautions.wider_path([function("/lib/libtorch.so", 900, flop=900)])

    assert ("trust the work" in caution.remedy) is trusted
    assert ("AMX" in caution.remedy) is low
