"""Doubts about a machine as a whole."""

import pytest
from core_inputs import ceiling

from ridgepoint.ceilings import cautions
from ridgepoint.core.identity import Identity
from ridgepoint.core.machine import Cache
from ridgepoint.host import Activity, of_activity

CACHES = (
    Cache(level=1, kind="data", size_bytes=32768, line_bytes=64, ways=8),
    Cache(level=2, kind="unified", size_bytes=1 << 20, line_bytes=64, ways=8),
)


def activity(at, *, busy=0.0, steal=0.0, own=0.0, processes=None):
    """Return what CPUs had done at a moment."""
    return Activity(at_s=at, busy_s=busy, steal_s=steal, own_s=own, processes=processes or {})


def codes(found):
    """Return the codes of cautions."""
    return [caution.code for caution in found]


def test_a_cpu_that_was_inferred_is_doubted_with_the_reasons():
    """One that tells its number is not."""
    known = Identity(reported="Zen 4", title="Zen 4", names=("znver4",))
    masked = Identity(
        reported="Rocket Lake",
        title="Sapphire Rapids or later",
        inferred=True,
        reasons=("Rocket Lake has no amx_tile",),
    )
    (caution,) = cautions.of_identity(masked)

    assert codes(cautions.of_identity(known)) == []
    assert caution.code == "inferred-cpu"
    assert caution.seen == (
        "reported as Rocket Lake; its features are those of Sapphire Rapids or later; "
        "Rocket Lake has no amx_tile"
    )


def test_quiet_machine_is_not_doubted():
    """20 s, all of them ours."""
    before, after = activity(0.0), activity(20.0, busy=20.5, own=20.0, steal=0.1)

    assert codes(of_activity(before, after)) == []


def test_process_that_runs_meanwhile_is_named():
    """A neighbour on one of two CPUs."""
    before = activity(0.0, processes={(7, "stream"): 3.0, (8, "sshd"): 0.5})
    after = activity(20.0, busy=38.0, own=20.0, processes={(7, "stream"): 20.5, (8, "sshd"): 0.6})
    (caution,) = of_activity(before, after)

    assert caution.code == "other-load"
    assert "0.9 CPUs" in caution.seen
    assert "'stream' (process 7) most, for 17.5 s" in caution.seen


def test_few_ticks_of_the_clocks_are_no_load():
    """In 0.2 s six ticks, of 10 ms each, are 0.3 CPUs; clocks of two CPUs may be that wrong."""
    before, after = activity(0.0), activity(0.2, busy=0.26, own=0.2)

    assert codes(of_activity(before, after)) == []


def test_time_that_the_hypervisor_takes_is_said():
    """One second of twenty."""
    before, after = activity(0.0), activity(20.0, busy=20.0, own=20.0, steal=1.0)

    assert codes(of_activity(before, after)) == ["stolen-time"]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({"l1": 8e9, "l2": 2e9, "dram": 8e7}, []),
        ({"l1": 2.1e9, "l2": 2e9, "dram": 8e7}, ["caches-doubtful"]),  # both in L2
        ({"l1": 8e9, "l2": 8e7, "dram": 8e7}, ["caches-doubtful"]),  # both in memory
        ({}, []),  # nothing chased, nothing to say
    ],
)
def test_levels_that_answer_alike_make_the_sizes_doubtful(rates, expected):
    """Bytes per second of dependent loads, 8 byte each: 1 ns, 4 ns, 100 ns."""
    ceilings = [ceiling(level, rate, name="chase") for level, rate in rates.items()]

    assert codes(cautions.of_caches(CACHES, ceilings)) == expected


def test_unknown_caches_are_said():
    """And how to give them."""
    (caution,) = cautions.of_caches((), [])

    assert caution.code == "caches-unknown"
    assert "--cache l1=" in caution.remedy


@pytest.mark.parametrize(
    ("shares", "expected"), [([], []), ([1.0, 0.95], []), ([1.0, 0.0], ["small-pages"])]
)
def test_small_pages_are_said(shares, expected):
    """Of any buffer in main memory; none known, nothing to say."""
    assert codes(cautions.of_pages(shares)) == expected
