"""Workloads of the reference suite: results, data, names; what they count is a hardware test."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.calls.loops import loop_over
from ridgepoint.suites.kernels import Expected, all_workloads, find, missing
from ridgepoint.suites.kernels.mkl import _library, _path
from ridgepoint.suites.kernels.native import slices

HANDWRITTEN = tuple(one for one in all_workloads() if one.is_handwritten)
LIBRARIES = tuple(one for one in all_workloads() if not one.is_handwritten)


def sizes_of(workload):
    """Return sizes around vectors, their unrolling and blocks, that the family has."""
    if workload.family == "fft":
        return (2, 4, 8, 32, 4096)
    smallest = 3 if workload.family == "stencil" else 1
    return tuple(n for n in (1, 2, 3, 5, 31, 32, 33, 50, 51, 100, 103) if n >= smallest)


@pytest.mark.parametrize("workload", all_workloads(), ids=lambda one: one.name)
def test_results_are_those_of_numpy(workload):
    """Also where vectors, blocks and columns leave a remainder."""
    for n in sizes_of(workload):
        workload.check(n)


@pytest.mark.parametrize(
    "workload", [one for one in LIBRARIES if one.parallel], ids=lambda one: one.name
)
def test_results_do_not_depend_on_the_number_of_threads(workload):
    """Where there can be several."""
    n = 1 << 10 if workload.family == "fft" else 300
    workload.check(n, threads=2)
    workload.check(n, threads=1)


def test_a_wrong_result_is_found():
    """A copy does not pass for a scaled one."""
    from dataclasses import replace

    wrong = replace(find("stream.scale"), compile=find("stream.copy").compile)

    with pytest.raises(CannotMeasure, match=r"stream\.scale of size 100: its result is off by"):
        wrong.check(100)


def test_a_copy_by_hand_is_the_result():
    """Numbers in full, not compared with NumPy's own loops."""
    a = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    b, c = np.array([1.0, 0.5, 0.25, 0.125, 2.0]), np.zeros(5)
    results = {}
    for kind in ("copy", "scale"):
        find(f"stream.{kind}").prepare(5)(a, c)
        results[kind] = c.tolist()
    for kind in ("add", "triad"):
        find(f"stream.{kind}").prepare(5)(a, b, c)
        results[kind] = c.tolist()

    assert results == {
        "copy": [1, 2, 4, 8, 16],
        "scale": [3, 6, 12, 24, 48],
        "add": [2, 2.5, 4.25, 8.125, 18],
        "triad": [4, 3.5, 4.75, 8.375, 22],
    }


def test_a_transform_by_hand_is_the_result():
    """Of an impulse at 1: the n-th roots of unity, clockwise."""
    x, y = np.zeros(4, complex), np.empty(4, complex)
    x[1] = 1
    find("fft.radix2").prepare(4)(x, y)

    assert y == pytest.approx([1, -1j, -1, 1j], abs=1e-15)


@pytest.mark.parametrize("n", [1 << 16, 1 << 20])
def test_twiddle_factors_stay_exact_over_long_recurrences(n):
    """A complex exponential has one line in its spectrum."""
    workload = find("fft.radix2")
    x, y = workload.make(n)
    x[:] = np.exp(2j * np.pi * 3 * np.arange(n) / n)
    workload.prepare(n)(x, y)
    y[3] -= n

    assert np.max(np.abs(y)) < 1e-10 * n


@pytest.mark.parametrize("workload", all_workloads(), ids=lambda one: one.name)
def test_numbers_stay_normal_over_many_calls(workload):
    """Thousands of calls on the same arrays; the smallest normal number is 2.2e-308."""
    n = 32
    arrays = workload.make(n)
    loop_over(workload.prepare(n), [arrays])(3000)
    numbers = np.abs(arrays[workload.result].view("f8"))

    assert 1e-6 < numbers.max() < 1e6
    assert numbers[numbers > 0].min() > 1e-200


@pytest.mark.parametrize("workload", all_workloads(), ids=lambda one: one.name)
def test_arrays_are_aligned_apart_and_never_zero(workload):
    """Indices alone may be zero."""
    n = 64
    arrays = workload.make(n)
    others = workload.make(n, seed=1)

    assert sum(array.nbytes for array in arrays) == workload.data_bytes(n)
    assert [array.ctypes.data % 64 for array in arrays] == [0] * len(arrays)
    assert len({array.ctypes.data // 64 for array in (*arrays, *others)}) == 2 * len(arrays)
    assert all(array.all() for array in arrays if array.dtype.kind != "i")
    assert not np.array_equal(arrays[workload.result], others[workload.result])


def test_large_arrays_do_not_begin_at_one_place_of_a_page():
    """A store would stand in the way of loads at the same address modulo 4096."""
    places = [array.ctypes.data % 4096 for array in find("stream.triad").make(1 << 20)]

    assert np.diff(sorted([*places, min(places) + 4096])).min() >= 256


@pytest.mark.parametrize("workload", all_workloads(), ids=lambda one: one.name)
def test_a_loop_does_what_as_many_calls_do(workload):
    """Two rounds over three replicas; and none at all."""
    n = 32
    given, *others = (workload.make(n) for _ in range(4))
    call = workload.prepare(n)
    loop = loop_over(call, others)
    call(*given)
    call(*given)
    loop(2)
    loop(0)

    for other in others:
        assert np.array_equal(given[workload.result], other[workload.result])


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("n", [1, 7, 8, 100, 1003])
@pytest.mark.parametrize(
    "workload",
    [one for one in HANDWRITTEN if one.parallel],
    ids=lambda one: one.name,
)
def test_threads_that_share_a_call_leave_what_one_leaves(workload, n, threads):
    """Bit by bit, also where there are fewer lines than threads."""
    alone, shared = workload.make(n), workload.make(n)
    loop_over(workload.prepare(n), [alone])(3)
    loop_over(workload.prepare(n, threads=threads), [shared])(3)

    assert np.array_equal(alone[workload.result], shared[workload.result])


@given(n=st.integers(1, 10_000), threads=st.integers(1, 64), multiple=st.integers(1, 16))
def test_slices_cover_all_elements_once_in_whole_lines(n, threads, multiple):
    """And are no more than the threads."""
    parts = slices(n, threads, multiple=multiple)

    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert len(parts) <= threads
    assert all(part.start % multiple == 0 and part.stop > part.start for part in parts)


def test_a_loop_keeps_its_arrays():
    """The caller may drop them."""
    import gc
    import weakref

    workload = find("stream.copy")
    arrays = workload.make(10)
    watched = weakref.ref(arrays[0])
    loop = loop_over(workload.prepare(10), [arrays])
    del arrays
    gc.collect()

    assert watched() is not None
    loop(1)
    del loop
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("workload", LIBRARIES, ids=lambda one: one.name)
def test_libraries_write_where_they_are_told(workload):
    """A wrapper that copied its arrays would leave the result where it was."""
    n = 32
    arrays = workload.make(n)
    before = arrays[workload.result].copy()
    workload.prepare(n)(*arrays)

    assert not np.array_equal(arrays[workload.result], before)


# Table I of Ofenbeck et al. at n = 100: 2 n^2 + 2 n and so on, by hand.
@pytest.mark.parametrize(
    ("name", "n", "flop", "read", "written"),
    [
        ("daxpy.llvm", 100, 200, 1600, 800),
        ("dgemv.llvm", 100, 20_200, 81_600, 800),
        ("dgemm.naive", 100, 2_000_000, 240_000, 80_000),
        ("dgemm.blocked", 100, 2_000_000, 240_000, 80_000),
        ("stream.copy", 100, 0, 1600, 800),
        ("stream.scale", 100, 100, 1600, 800),
        ("stream.add", 100, 100, 2400, 800),
        ("stream.triad", 100, 200, 2400, 800),
        # 2 x 2 points inside; 12 are read (4 inside, 8 beside them), 4 written and read first.
        ("stencil.5point", 4, 24, 96 + 32, 32),
        # 20 rows of 16: 320 of 12 byte, 21 begins of 4, x and y.
        ("spmv.csr", 20, 640, 3840 + 84 + 320, 160),
        # 1 stage: 1 butterfly of 10, 1 step of 8, 1 half of 6.
        ("fft.radix2", 2, 24, 64, 32),
        # 3 stages of 4 butterflies; steps 1 + 2 + 4.
        ("fft.radix2", 8, 120 + 56 + 18, 256, 128),
    ],
)
def test_expected_counts_by_hand(name, n, flop, read, written):
    """Arrays that are only written are read first."""
    expected = find(name).expected(n)

    assert (expected.work_flop, expected.read_bytes, expected.write_bytes) == (flop, read, written)


def test_intensities_are_those_of_the_paper():
    """Table I, and 6.3125 of dgemm at n = 100."""
    pytest.importorskip("scipy")

    def intensity(name, n):
        expected = find(name).expected(n)
        return expected.work_flop / (expected.read_bytes + expected.write_bytes)

    assert intensity("daxpy.blas", 10_000_000) == pytest.approx(1 / 12)
    assert intensity("dgemv.blas", 100) == pytest.approx(0.245146, abs=1e-6)
    assert intensity("dgemm.blas", 100) == pytest.approx(6.3125)
    assert intensity("dgemm.blas", 600) == pytest.approx(37.5625)


def test_pseudo_flop_are_those_of_transforms_alone():
    """5 n log2 n; a good code does 0.68 of them at 1024 points (0.6802 without rounding)."""
    pytest.importorskip("ducc0")
    expected = find("fft.ducc0").expected(1024)

    assert expected.pseudo_flop == 51_200
    assert expected.work_flop == 34_824
    assert find("daxpy.llvm").expected(10).pseudo_flop is None
    assert find("fft.ducc0").expected(100).work_flop is None


@pytest.mark.parametrize("workload", all_workloads(), ids=lambda one: one.name)
def test_a_workload_is_pickled_by_its_name(workload):
    """A child process makes it anew."""
    assert pickle.loads(pickle.dumps(workload)) is workload
    assert workload.name == f"{workload.family}.{workload.implementation}"
    assert set(workload.quick_sizes) <= set(workload.sizes)
    assert list(workload.sizes) == sorted(set(workload.sizes))
    assert isinstance(workload.expected(workload.quick_sizes[0]), Expected)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("dgemm.naiv", "dgemm.naive"), ("fft.radix", "fft.radix2"), ("", "daxpy.llvm, ")],
)
def test_an_unknown_name_is_answered_with_near_ones(name, remedy):
    """Or with all of them."""
    with pytest.raises(CannotMeasure, match="of that name") as refused:
        find(name)

    assert remedy in refused.value.remedy


def test_what_is_not_installed_says_what_to_do():
    """An interpreter that finds no SciPy and no MKL."""
    code = """
import sys
sys.modules["scipy"] = None
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "scipy" else find_spec(name)
from ridgepoint.suites.kernels import all_workloads, find, missing
print(missing()["dgemm.blas"], "dgemm.blas" in [one.name for one in all_workloads()])
try:
    find("fft.pocketfft")
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [
        "('scipy not installed', \"pip install 'ridgepoint[suite]'\") False",
        "cannot find the workload 'fft.pocketfft': scipy not installed; "
        "pip install 'ridgepoint[suite]'",
    ]


def test_mkl_is_found_where_it_says(tmp_path, monkeypatch):
    """In $MKLROOT; a library that is none cannot be used."""
    library = tmp_path / "lib" / "libmkl_rt.so.3"
    library.parent.mkdir()
    library.write_text("no library")
    monkeypatch.setenv("MKLROOT", os.fspath(tmp_path))
    monkeypatch.setattr(sys, "prefix", os.fspath(tmp_path / "nowhere"))
    for cached in (_path, _library):
        cached.cache_clear()
    try:
        assert "fft.mkl" not in missing()
        with pytest.raises(CannotMeasure, match="cannot use MKL"):
            find("fft.mkl").prepare(8)
    finally:
        for cached in (_path, _library):
            cached.cache_clear()


@pytest.mark.parametrize(
    ("name", "n", "threads", "message"),
    [
        ("daxpy.llvm", 0, 1, "must be > 0"),
        ("dgemv.llvm", 10, 2, r"dgemv\.llvm runs in one thread"),
        ("fft.radix2", 12, 1, "power of two"),
        ("stencil.5point", 2, 1, "3 or more"),
    ],
)
def test_sizes_and_threads_that_cannot_be_are_refused(name, n, threads, message):
    """Before anything is compiled."""
    with pytest.raises(ValueError, match=message):
        find(name).prepare(n, threads=threads)


def test_the_example_of_the_documentation_prints_what_it_says(capsys):
    """docs/workloads.md."""
    text = (Path(__file__).parents[2] / "docs" / "workloads.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(code, {})

    assert capsys.readouterr().out == "2006\n"
