import bisect
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.ceilings.driver import plateau
from ridgepoint.ceilings.latency import PER_OCTAVE, sizes_to_visit
from ridgepoint.ceilings.places import Place
from ridgepoint.ceilings.trial import Windows
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.machine import Cache
from ridgepoint.kernels.bandwidth import CACHE_PATTERNS, bandwidth
from ridgepoint.kernels.jit import Function
from ridgepoint.kernels.kernel import VECTOR_ALIGNMENT

MIB = 1 << 20
STATED = {
    1: Cache(level=1, kind="data", size_bytes=48 << 10, line_bytes=64, ways=12),
    2: Cache(level=2, kind="unified", size_bytes=2 * MIB, line_bytes=64, ways=16),
    3: Cache(level=3, kind="unified", size_bytes=480 * MIB, line_bytes=64, ways=15, cores=60),
}
ALONE = Place(cpus=(0,), cores=1, siblings=1)
SIXTY = Place(cpus=tuple(range(60)), cores=60, siblings=60)


def test_sizes_go_from_half_of_l1_to_twice_the_last_cache():
    """Four to an octave, in pages."""
    sizes = sizes_to_visit(STATED, ALONE, available_bytes=None, longest_bytes=4 << 30)

    assert sizes[0] == 24 << 10
    assert 2 ** (1 / PER_OCTAVE) * sizes[-1] > 960 * MIB >= sizes[-1]
    assert all(size % 4096 == 0 for size in sizes)
    assert len(sizes) == pytest.approx(PER_OCTAVE * 15.3, abs=2)


@given(
    available=st.none() | st.integers(0, 1 << 40),
    longest=st.integers(1 << 20, 1 << 34),
    place=st.sampled_from([ALONE, SIXTY]),
    stated=st.sampled_from([STATED, {}]),
)
def test_sizes_keep_to_a_quarter_of_the_memory(available, longest, place, stated):
    """Of all threads together; and they ascend."""
    sizes = sizes_to_visit(stated, place, available_bytes=available, longest_bytes=longest)

    assert list(sizes) == sorted(set(sizes))
    if available is not None and len(sizes) > 1:
        assert sizes[-1] * len(place.cpus) <= available / 4


def test_cores_that_share_a_cache_look_past_it_together():
    """Sixty of them have 16 MiB each, which is 960: twice 480."""
    sizes = sizes_to_visit(STATED, SIXTY, available_bytes=None, longest_bytes=4 << 30)

    assert 960 * MIB >= 60 * sizes[-1] > 700 * MIB


def job(**fields):
    """Return a job of no function."""
    function = Function(architecture="x86_64", machine_code=b"", assembly="", address=0)
    return Job(function=function, **{"size_bytes": 0, "extent_bytes": 0, "repeats": 1, **fields})


@given(
    pattern=st.sampled_from(CACHE_PATTERNS),
    extent=st.integers(8 * MIB, 64 * MIB),
    wanted=st.lists(st.integers(1, 16 * MIB), min_size=2, max_size=40),
)
def test_windows_lie_in_the_buffer_and_follow_each_other(pattern, extent, wanted):
    """Aligned, and no two in a row have a byte in common."""
    kernel = bandwidth(pattern, width_bits=256)
    windows = Windows(kernel=kernel, extent_bytes=extent, flush_bytes=extent // 4)
    spans = []
    for number in wanted:
        size = windows.size_for(number)
        at = windows.next(job(size_bytes=size))
        length = kernel.streams * (size + kernel.padding_bytes) - kernel.padding_bytes
        spans.append((at.offset_bytes, at.offset_bytes + length))

        assert size % kernel.quantum_bytes == 0
        assert at.offset_bytes % VECTOR_ALIGNMENT == 0
        assert at.offset_bytes + length <= extent
    for (begin, end), (next_begin, next_end) in itertools.pairwise(spans):
        is_wrapped = next_begin == 0
        assert next_begin >= end or next_end <= begin or is_wrapped


LOOKS = st.lists(st.floats(5.0, 9.0), min_size=30, max_size=200)


@given(shared=LOOKS, slips=st.lists(st.floats(11.0, 20.0), max_size=3))
def test_unshared_core_is_a_plateau_and_not_a_slip_of_the_clock(shared, slips):
    """A quarter of all looks within 1 % of 9.9; a few far above are slips."""
    alone = [9.9 - 0.002 * (n % 40) for n in range(max(len(shared) // 3, 40))]
    looks = sorted([*shared, *alone, *slips])

    assert 9.8 <= plateau(looks) <= 9.9


def test_looks_of_a_noisy_clock_do_not_make_a_free_core_shared():
    """As seen: quartiles of 9.85 and 9.90, and one look in fifty at 12 and above (D3)."""
    looks = [9.85 + 0.05 * n / 960 for n in range(960)]
    for n in range(40):
        bisect.insort(looks, 12.0 + 0.05 * n)

    assert plateau(looks) == pytest.approx(9.9, rel=0.01)
