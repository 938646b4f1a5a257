"""Profiles of functions of NumPy and of array API code, run here."""

import itertools
import time

import numpy as np
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.profiling.operators import operators

N = 60


def numbers(*shape: int) -> np.ndarray:
    """Return numbers between 0 and 1."""
    return np.random.default_rng(2).random(shape)


def test_a_function_of_numpy_is_told_call_by_call():
    """Names, calls and times in each run; the work is that of both products."""

    def function(a, b):
        for _ in range(3):
            a = np.tanh(a @ b)
        return a.sum()

    profile = operators(function, numbers(N, N), numbers(N, N), repetitions=2)

    calls = {one.name: one.calls for one in profile.operators}
    assert calls == {"numpy.matmul": 3, "numpy.tanh": 3, "numpy.sum": 1}
    assert profile.known_work == 3 * 2 * N**3 + N * N - 1
    assert all(one.time_s.n == 2 for one in profile.operators)
    assert profile.library == f"NumPy {np.__version__}"


def test_time_that_is_not_seen_is_said():
    """A loop over elements is Python's own time."""

    def function(a):
        total = 0.0
        for _ in range(20_000):
            total += 1.5
        return a + total

    profile = operators(function, numbers(N), repetitions=2)

    (caution,) = [one for one in profile.cautions if one.code == "time-unseen"]
    assert "no call that was seen" in caution.seen


def test_operators_that_take_longer_than_a_plain_run_are_said():
    """Here since the function waits only if its arrays are of a class of their own."""

    def function(a):
        return np.vectorize(lambda one: time.sleep(0.02 * (type(a) is not np.ndarray)) or one)(a)

    profile = operators(function, numbers(3), repetitions=2)

    (caution,) = [one for one in profile.cautions if one.code == "operators-longer"]
    assert caution.effect > 1


def test_work_that_changes_from_run_to_run_is_said():
    """Each recorded run works on other sizes than the one before."""
    sizes = itertools.count(10)

    def function(a):
        return np.tanh(a[: 10 if type(a) is np.ndarray else next(sizes)])

    profile = operators(function, numbers(N), repetitions=3)

    assert "work-varies" in {caution.code for caution in profile.cautions}
    assert all(one.time_s is None for one in profile.operators)


def test_code_of_the_standard_gets_numpy_with_its_functions_recorded():
    """Arrays that the namespace makes are seen, too."""

    def function(x):
        xp = x.__array_namespace__()
        return xp.sum(x + xp.ones(x.shape))

    profile = operators(function, numbers(N, N), repetitions=2)

    assert [one.name for one in profile.operators] == ["numpy.ones", "numpy.add", "numpy.sum"]


def test_another_library_of_the_standard_is_told_by_the_same_names():
    """Operators, functions, attributes and parts of the namespace."""
    strict = pytest.importorskip("array_api_strict")

    def function(x):
        xp = x.__array_namespace__()
        h = x @ x.T
        h += xp.eye(N) * 100.0
        return xp.linalg.cholesky(h)[1:, :], h.mT

    profile = operators(function, strict.asarray(numbers(N, N)), repetitions=2)

    found = {one.name: one.asked for one in profile.operators}
    assert found["numpy.matmul"].work == {"fp64": N * (N + 1) * N}  # x times its transpose
    assert found["numpy.linalg.cholesky"].work["fp64"] == pytest.approx(N**3 / 3 + N**2 / 2 + N / 6)
    assert found["numpy.getitem"].kind == "view"
    assert profile.library.startswith("array_api_strict")


@pytest.mark.parametrize(
    ("function", "inputs", "why"),
    [
        (lambda: np.ones(3) + 1, (), "none of its inputs is an array"),
        (lambda a: np.asarray(a) + 1, (numbers(3),), "could be seen"),
        (lambda a: a @ numbers(4), (numbers(3),), "ValueError"),
    ],
)
def test_what_cannot_be_profiled_says_why(function, inputs, why):
    """One clear reason."""
    with pytest.raises(CannotMeasure, match=why):
        operators(function, *inputs, repetitions=2)


def test_a_function_that_wants_plain_arrays_says_so():
    """It runs by itself, and fails with arrays that are recorded."""

    def function(a):
        if type(a) is not np.ndarray:
            raise TypeError("plain arrays only")
        return a + 1

    with pytest.raises(CannotMeasure, match=r"class of their own.*plain arrays only"):
        operators(function, numbers(3), repetitions=2)


def test_a_backward_pass_needs_a_library_that_differentiates():
    """NumPy has none."""
    with pytest.raises(CannotMeasure, match="differentiates"):
        operators(np.tanh, numbers(3), backward="sum")
