"""When threads are inside of functions, from breakpoints that they reach."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.counts import Counts, FunctionCounts
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.timed import Sampled, TimedFunction
from ridgepoint.meters.sampling.event import breakpoint_attribute
from ridgepoint.meters.sampling.records import Ended, Sample, records
from ridgepoint.meters.sampling.visits import Visit, Visits, samples_inside, spans, wall_s
from ridgepoint.models.stays import time_within

F, G, BACK, ELSEWHERE = 0x1000, 0x2000, 0x3000, 0x4000
TOP = 0x7FFF0000


def entered(time_ns, *, at=F, depth=0, tid=1, returns_to=BACK):
    """Let a thread reach a function's first instruction, so many bytes down its stack."""
    return Sample(time_ns, 1, at, tid, TOP - depth, returns_to)


def returned(time_ns, *, at=BACK, depth=0, tid=1):
    """Let it reach the instruction behind a call, 8 byte further up."""
    return Sample(time_ns, 1, at, tid, TOP - depth + 8, 0)


def followed(*records):
    """Return the visits that records of breakpoints make."""
    visits = Visits(frozenset({F, G}))
    for record in records:
        visits.add(record)
    return visits


def test_a_visit_lasts_from_the_first_instruction_to_the_one_behind_the_call():
    """Twice, one after the other."""
    visits = followed(entered(10), returned(30), entered(40), returned(45))

    assert visits.done == [Visit(10, 30, 1, 1), Visit(40, 45, 1, 1)]
    assert visits.missed == 0


def test_a_function_within_itself_belongs_to_the_outermost():
    """Recursion through the same call, and another function that is asked for too."""
    visits = followed(
        entered(10),
        entered(12, depth=64),
        returned(14, depth=64),
        entered(15, at=G, depth=64, returns_to=ELSEWHERE),
        returned(17, at=ELSEWHERE, depth=64),
        returned(30),
    )

    assert visits.done == [Visit(10, 30, 1, 1)]


def test_threads_are_followed_apart():
    """What one returns from says nothing of the other."""
    visits = followed(entered(10), entered(11, tid=2), returned(15, tid=2), returned(30))

    assert sorted(visits.done) == [Visit(10, 30, 1, 1), Visit(11, 15, 1, 2)]


def test_a_thread_that_ends_inside_was_inside_until_then():
    """As `main` is that calls exit."""
    assert followed(entered(10), Ended(25, 1, 1)).done == [Visit(10, 25, 1, 1)]


def test_an_exception_past_its_end_is_noticed_when_it_is_entered_again():
    """At the same depth, or further up: it cannot be inside any more."""
    visits = followed(entered(10, depth=32), entered(50), returned(60))

    assert visits.done == [Visit(10, 50, 1, 1), Visit(50, 60, 1, 1)]
    assert visits.missed == 1


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(1, 3)), max_size=8),
    st.lists(st.tuples(st.integers(0, 80), st.integers(1, 3)), max_size=8),
)
def test_time_inside_is_that_of_every_moment_in_a_visit(stays, moments):
    """By going through all nanoseconds."""
    visits = [Visit(begin, begin + length, 1, tid) for begin, length, tid in stays]
    every = {t for v in visits for t in range(v.begin_ns, v.end_ns)}
    own = {(t, v.tid) for v in visits for t in range(v.begin_ns, v.end_ns)}
    clock = [Sample(time_ns, 1, 0, tid) for time_ns, tid in moments]

    assert wall_s(visits) == pytest.approx(len(every) * 1e-9)
    assert spans(visits) == sorted(spans(visits))
    assert samples_inside(clock, visits, all_threads=True) == sum(t in every for t, _ in moments)
    assert samples_inside(clock, visits, all_threads=False) == sum(m in own for m in moments)


def test_a_breakpoint_is_asked_for_as_the_kernel_reads_it():
    """PERF_TYPE_BREAKPOINT, executed, 8 byte; with the stack pointer and one word; 96 byte."""
    asked = breakpoint_attribute(0x401000)
    kind, size, _, period, sampled, _, bits = struct.unpack_from("<IIQQQQQ", asked)

    assert (kind, size, len(asked), period) == (5, 96, 96, 1)
    assert sampled == 1 | 2 | 4 | 1 << 12 | 1 << 13
    assert bits & (1 << 5 | 1 << 12) == 1 << 5 | 1 << 12
    assert struct.unpack_from("<IQQQQIi", asked, 52) == (4, 0x401000, 8, 0, 1 << 7, 8, 1)


def test_a_sample_of_a_breakpoint_tells_the_stack():
    """Registers: ABI and one; the stack: its size, a word, the bytes that are valid of it."""
    body = struct.pack("<QIIQ", F, 7, 8, 99) + struct.pack("<QQQQQ", 2, TOP, 8, BACK, 8)
    head = struct.pack("<IHH", 9, 2, 8 + len(body))

    assert list(records(head + body)) == [Sample(99, 7, F, 8, TOP, BACK)]


def function(name, instructions):
    """Return what a function executed."""
    counts = Counts(
        instructions=instructions, branches=0, loads=0, stores=0, load_bytes=0, store_bytes=0
    )
    return FunctionCounts(name=name, object="/bin/a", counts=counts, traffic=())


def timed(name, seconds, low, high):
    """Return the time of a function of which there are samples."""
    return TimedFunction(
        name=name,
        object="/bin/a",
        samples=100,
        runtime_s=Estimate([seconds], interval=(low, high)),
        cpu_s=seconds,
    )


def test_time_within_is_divided_as_instructions_are():
    """Its own time, a third of that of memcpy (which may be none or all), and nothing of others."""
    sampled = Sampled(
        runs=1,
        period_s=1e-3,
        samples=300,
        user_s=7.0,
        system_s=0.0,
        functions=(timed("f", 3.0, 2.9, 3.1), timed("memcpy", 1.5, 1.4, 1.6), timed("g", 2, 1, 3)),
    )
    every = [function("f", 900), function("memcpy", 300), function("g", 700)]
    within = time_within(sampled, [function("f", 900), function("memcpy", 100)], every)

    assert within.runtime_s.median == pytest.approx(3.5)
    assert (within.runtime_s.low, within.runtime_s.high) == pytest.approx((2.9, 4.7))
    assert within.cpu_s.median == pytest.approx(3.5)
    assert time_within(sampled, [function("h", 1)], every) is None
