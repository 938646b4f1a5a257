import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.core.machine import Cache
from ridgepoint.profiling.calls.replicas import least_cold_bytes, plan

MIB = 1 << 20


def cache(size_bytes, ways, *, level=3, kind="unified"):
    """Return a cache with lines of 64 byte."""
    return Cache(level=level, kind=kind, size_bytes=size_bytes, line_bytes=64, ways=ways, cores=1)


CACHES = (cache(32 << 10, 8, level=1), cache(64 << 10, 8, level=4, kind="instruction"))
LAST = cache(8 * MIB, 16)


def planned(data_bytes, *, caches=(*CACHES, LAST), memory_bytes=1 << 40, calls_affordable=1e9):
    """Return the replicas of a plan and the codes of its cautions."""
    made = plan(
        "cannot measure 'f'",
        data_bytes,
        caches=caches,
        memory_bytes=memory_bytes,
        calls_affordable=calls_affordable,
    )
    return made.replicas, [caution.code for caution in made.cautions]


@pytest.mark.parametrize(
    ("data_bytes", "replicas"),
    [
        (MIB, 128),  # 8 MiB in 16 ways: 128 MiB
        (3 * MIB, 43),  # 42.7, rounded up
        (256 * MIB, 2),  # one call's data evict themselves; two replicas at least all the same
        (64 * MIB, 2),
        (8000, 16778),  # 134217728 / 8000 = 16777.2
    ],
)
def test_replicas_fill_the_last_cache_as_often_as_it_has_ways(data_bytes, replicas):
    """Ofenbeck et al.: size of the data times runs >= size of the cache times associativity."""
    assert planned(data_bytes) == (replicas, [])


def test_a_huge_cache_is_filled_four_times_however_short_the_calls_are():
    """480 MiB in 15 ways would be 7 GiB; filling four times leaves less than 2 % at random."""
    assert planned(MIB, caches=[cache(480 * MIB, 15)]) == (1920, [])


def test_the_least_data_for_cold_caches_fill_them_twice():
    """131072 replicas of 7680 bytes are 960 MiB."""
    assert least_cold_bytes([*CACHES, cache(480 * MIB, 15)]) == 7680
    assert least_cold_bytes([]) == 0


def test_unknown_ways_are_taken_for_sixteen():
    """As most last-level caches have."""
    assert planned(MIB, caches=[cache(8 * MIB, None)]) == (128, [])


def test_little_memory_limits_replicas_and_leaves_a_doubt():
    """24 replicas of 1 MiB fill 8 MiB three times: less than four."""
    assert planned(MIB, memory_bytes=24 * MIB) == (24, ["few-replicas"])
    assert planned(MIB, memory_bytes=32 * MIB) == (32, [])


def test_too_little_memory_is_refused_with_the_numbers():
    """Two fillings are needed: 16 MiB."""
    with pytest.raises(CannotMeasure, match=r"16 replicas of 1\.049 MB need 16\.78 MB") as caught:
        planned(MIB, memory_bytes=15 * MIB)

    assert "memory_bytes=" in caught.value.remedy


def test_little_time_allows_four_fillings_all_the_same():
    """Time for 5 calls a sample, and 32 are needed; with time for 50, 50 are made."""
    assert planned(MIB, calls_affordable=5) == (32, [])
    assert planned(MIB, calls_affordable=50) == (50, [])


def test_tiny_data_are_refused():
    """100 byte: 2 * 8 MiB would be 167773 replicas."""
    with pytest.raises(CannotMeasure, match="131072 replicas of 100 B"):
        planned(100)


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"caches": CACHES[1:]}, "caches of this host are unknown"), ({}, "no arrays")],
)
def test_what_cannot_be_cold_is_refused(options, reason):
    """Without a known cache, or without data."""
    with pytest.raises(CannotMeasure, match=reason):
        planned(0, **options)


@given(
    data_bytes=st.integers(1, 1 << 32),
    size_bytes=st.integers(1 << 10, 1 << 30),
    ways=st.none() | st.integers(1, 32),
    memory_bytes=st.integers(0, 1 << 40),
    calls_affordable=st.floats(0.01, 1e9),
)
def test_no_plan_leaves_data_in_the_cache_or_exceeds_the_memory(
    data_bytes, size_bytes, ways, memory_bytes, calls_affordable
):
    """It fills the cache twice at least, four times without a doubt, or is refused."""
    try:
        replicas, doubts = planned(
            data_bytes,
            caches=[cache(size_bytes, ways)],
            memory_bytes=memory_bytes,
            calls_affordable=calls_affordable,
        )
    except CannotMeasure:
        assert memory_bytes < max(2 * data_bytes, 2 * size_bytes + data_bytes) or (
            2 * size_bytes > data_bytes << 17
        )
        return
    in_all_bytes = replicas * data_bytes

    assert replicas >= 2
    assert in_all_bytes <= memory_bytes
    assert in_all_bytes >= 2 * size_bytes
    assert doubts or in_all_bytes >= min(4, ways or 16) * size_bytes
