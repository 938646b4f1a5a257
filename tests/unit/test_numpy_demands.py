"""What functions of NumPy ask for, against counting each operation on numbers that count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators import asked_of
from ridgepoint.profiling.operators.arrays.calls import Recording
from ridgepoint.profiling.operators.arrays.seen_numpy import seen


class Counting:
    """A number that counts the operations done with it."""

    products = sums = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _multiplied(self, other: object) -> Counting:
        Counting.products += 1
        return Counting(self.value * getattr(other, "value", other))

    def _added(self, other: object) -> Counting:
        Counting.sums += 1
        return Counting(self.value + getattr(other, "value", other))

    __mul__ = __rmul__ = __truediv__ = _multiplied
    __add__ = __radd__ = __sub__ = __rsub__ = _added

    def conjugate(self) -> Counting:
        """Return the number itself."""
        return self


def counted(function, *arrays) -> tuple[int, int]:
    """Return how many products and sums a function does with arrays of numbers that count."""
    Counting.products = Counting.sums = 0
    function(*(np.vectorize(Counting, otypes=[object])(one) for one in arrays))
    return Counting.products, Counting.sums


def asked(function, *arguments) -> list[tuple[Call, Asked]]:
    """Return what each recorded call of a function asks for."""
    recording = Recording()
    shown = seen(arguments, recording)
    with recording.run():
        function(*shown)
    return [(one.call, one.asked) for one in recording.operators()]


def asked_once(function, *arguments) -> Asked:
    """Return what the only call of a function asks for."""
    ((_, found),) = asked(function, *arguments)
    return found


def numbers(*shape: int, dtype: str = "f8") -> np.ndarray:
    """Return numbers that are not zero."""
    return (np.arange(1, 1 + np.prod(shape)).reshape(shape) / 7).astype(dtype)


PRODUCTS = {
    "matmul": (np.matmul, [(3, 4), (4, 5)]),
    "matmul of a vector": (np.matmul, [(3, 4), (4,)]),
    "matmul of many": (np.matmul, [(2, 1, 3, 4), (5, 4, 2)]),
    "dot": (np.dot, [(3, 4), (4, 5)]),
    "dot of vectors": (np.dot, [(6,), (6,)]),
    "inner": (np.inner, [(3, 4), (5, 4)]),
    "vdot": (np.vdot, [(3, 4), (3, 4)]),
    "tensordot": (np.tensordot, [(2, 3, 4), (3, 4, 5)]),
    "tensordot along named axes": (
        lambda a, b: np.tensordot(a, b, axes=([0], [1])),
        [(3, 4), (5, 3)],
    ),
    "einsum": (lambda a, b: np.einsum("ij,kj->ik", a, b), [(3, 4), (5, 4)]),
    "einsum without arrow": (lambda a, b: np.einsum("ij,jk", a, b), [(3, 4), (4, 2)]),
    "einsum of many": (lambda a, b: np.einsum("...ij,...jk->...ik", a, b), [(2, 3, 4), (2, 4, 5)]),
    "convolve": (np.convolve, [(7,), (3,)]),
    "convolve, same": (lambda a, b: np.convolve(a, b, "same"), [(7,), (4,)]),
    "convolve, valid": (lambda a, b: np.convolve(a, b, "valid"), [(7,), (3,)]),
    "correlate": (np.correlate, [(7,), (3,)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_that_is_summed_is_two_flop(name):
    """Each multiplication that NumPy does comes with an addition."""
    function, shapes = PRODUCTS[name]
    arrays = [numbers(*shape) for shape in shapes]

    products, _ = counted(function, *arrays)

    assert asked_once(function, *arrays).work == {"fp64": 2 * products}


SUMS = {
    "sum": (np.sum, [(3, 4)]),
    "sum along an axis": (lambda a: np.sum(a, axis=1), [(3, 4)]),
    "the method": (lambda a: a.sum(axis=0), [(3, 4)]),
    "add.reduce": (np.add.reduce, [(5, 2)]),
    "prod": (np.prod, [(3, 4)]),
    "cumsum": (lambda a: np.cumsum(a, axis=1), [(3, 4)]),
    "cumsum of all": (np.cumsum, [(3, 4)]),
    "add.accumulate": (np.add.accumulate, [(3, 4)]),
    "mean": (lambda a: np.mean(a, axis=0), [(3, 4)]),
    "add": (np.add, [(3, 4), (4,)]),
    "multiply.outer": (np.multiply.outer, [(3,), (4,)]),
    "outer": (np.outer, [(3,), (4,)]),
    "a difference": (lambda a, b: a - b, [(3, 4), (3, 1)]),
    "trace": (np.trace, [(4, 4)]),
}


@pytest.mark.parametrize("name", SUMS)
def test_each_addition_multiplication_and_division_is_one_flop(name):
    """As many as NumPy does with numbers that count."""
    function, shapes = SUMS[name]
    arrays = [numbers(*shape) for shape in shapes]

    done = sum(counted(function, *arrays))

    assert sum(asked_once(function, *arrays).work.values()) == done


def test_a_sum_over_indices_alone_and_a_product_without_sums():
    """Rows of four are summed by three additions; an outer product has no sum."""
    summed = asked_once(lambda a: np.einsum("ij->i", a), numbers(3, 4))
    outer = asked_once(lambda a, b: np.einsum("i,j->ij", a, b), numbers(3), numbers(4))

    assert summed.work == {"fp64": 3 * 3}
    assert outer.work == {"fp64": 12}


def test_a_variance_is_four_operations_per_element():
    """Mean, difference, square and sum: 4 n in all, with the divisions and without the first."""
    found = asked_once(np.var, numbers(100))

    assert found.work == {"fp64": (100 - 1) + 1 + 100 + 100 + (100 - 1) + 1}


def test_bytes_are_those_of_distinct_elements():
    """A row that is broadcast is read once, and so is an array that is used twice."""
    row = asked_once(np.add, numbers(3, 4), numbers(4))
    twice = asked_once(lambda a: np.multiply(a, a), numbers(3, 4))

    assert (row.read_bytes, row.write_bytes) == ((12 + 4) * 8, 12 * 8)
    assert (twice.read_bytes, twice.write_bytes) == (12 * 8, 12 * 8)


def test_in_place_arithmetic_reads_and_writes_its_array():
    """The statement a += b reads both."""

    def function(a, b):
        a += b

    found = asked_once(function, numbers(5), numbers(5))

    assert (found.read_bytes, found.write_bytes) == (80, 40)


def test_a_result_that_is_given_is_not_read():
    """The argument out is only written."""
    found = asked_once(lambda a, b, c: np.add(a, b, out=c), numbers(5), numbers(5), numbers(5))

    assert (found.read_bytes, found.write_bytes) == (80, 40)


VIEWS = {
    "transposed": lambda a: a.T,
    "a method": lambda a: a.transpose(1, 0),
    "reshaped": lambda a: a.reshape(6, 2),
    "rows": lambda a: a[1:3],
    "every second": lambda a: a[::2, ::2],
    "new axis": lambda a: a[:, None],
    "broadcast": lambda a: np.broadcast_to(a, (5, 3, 4)),
    "diagonal": lambda a: a.diagonal(),
    "swapped": lambda a: np.swapaxes(a, 0, 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_asks_for_nothing(name):
    """No work and no bytes."""
    found = asked_once(VIEWS[name], numbers(3, 4))

    assert (found.kind, found.work, found.read_bytes, found.write_bytes) == ("view", {}, 0, 0)


def test_a_reshape_that_must_copy_is_a_copy():
    """A transposed array has no other shape without moving its elements."""
    transposed = numbers(3, 4).T

    found = asked_once(lambda a: a.reshape(12), transposed)

    assert (found.kind, found.read_bytes, found.write_bytes) == ("copy", 96, 96)


def test_elements_that_are_taken_or_set_are_counted_and_no_others():
    """Two rows of four are taken by their numbers, and set."""
    rows = np.array([0, 2])

    def put(a, i):
        a[i] = 1.0

    taken = asked_once(lambda a, i: a[i], numbers(100, 4), rows)
    placed = asked_once(put, numbers(100, 4), rows)

    assert (taken.read_bytes, taken.write_bytes) == (2 * 4 * 8 + 2 * 8, 2 * 4 * 8)
    assert (placed.read_bytes, placed.write_bytes) == (2 * 8, 2 * 4 * 8)


@pytest.mark.parametrize(
    ("exponent", "flop", "functions"), [(2, 1, 0), (3, 2, 0), (0.5, 1, 0), (1.7, 0, 1)]
)
def test_powers_cost_what_their_exponent_needs(exponent, flop, functions):
    """A square is one multiplication, a root one square root, and others are functions."""
    found = asked_once(lambda a: np.power(a, exponent), numbers(10))

    assert (sum(found.work.values()), found.functions) == (10 * flop, 10 * functions)


def test_half_precision_is_worked_on_in_single():
    """NumPy converts elements of fp16 to fp32, and adds these."""
    assert asked_once(np.add, *[numbers(8, dtype="f2")] * 2).work == {"fp32": 8}


def test_complex_numbers_are_worked_out_in_real_ones():
    """A product is six flop, a multiply-add eight; the modulus has no flop that we state."""
    z = numbers(6).astype(complex)

    assert asked_once(np.multiply, z, z + 1).work == {"fp64": 36}
    assert asked_once(np.vdot, z, z + 1).work == {"fp64": 48}


def test_integers_have_no_flop():
    """Sums of integers are no flop; their quotient is computed in fp64."""
    i = np.arange(1, 9)

    assert asked_once(np.add, i, i).work == {}
    assert asked_once(np.sum, i).work == {}
    assert asked_once(np.divide, i, i).work == {"fp64": 8}


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (np.linalg.svd, "converges"),
        (lambda a: np.add(a, a, where=a > 1, out=a), "mask"),
        (lambda a: np.interp(a[0], a[0], a[0]), "no rule"),
    ],
)
def test_what_no_rule_knows_is_unknown_and_says_why(function, why):
    """Never 0."""
    found = [one for _, one in asked(function, numbers(4, 4)) if one.work is None]

    assert len(found) == 1
    assert why in found[0].unknown


def test_elements_that_are_no_numbers_are_unknown():
    """Python objects do what they like."""
    assert asked_once(np.add, np.array([1, 2], object), np.array([1, 2], object)).work is None


def test_functions_that_no_rule_knows_are_told_by_their_parts():
    """The median selects, takes the middle and averages it, and its parts are known."""
    names = [call.name for call, _ in asked(np.median, numbers(9))]

    assert "numpy.partition" in names
    assert "numpy.mean" in names
    assert "numpy.median" not in names


def test_results_are_those_of_numpy():
    """Recording changes no value, no type that a program sees, and keeps named results."""
    recording = Recording()
    a, b = numbers(4, 4) + np.eye(4), numbers(4)
    shown, other = seen((a.copy(), b), recording)

    with recording.run():
        q, r = np.linalg.qr(shown)
        shown[1:3] *= 2.0
        result = np.where(shown > 1, shown @ other, 0.0).T

    expected = a.copy()
    expected[1:3] *= 2.0
    np.testing.assert_allclose(np.asarray(q @ r), a)
    np.testing.assert_allclose(np.asarray(result), np.where(expected > 1, expected @ b, 0.0).T)
    assert isinstance(result, np.ndarray)


@given(st.integers(1, 6), st.integers(1, 6))
def test_factorisations_are_the_sums_of_their_steps(n, sides):
    """Gaussian elimination and substitution of a system, one operation at a time."""
    steps = 0
    for k in range(n):
        below = n - k - 1
        steps += below + 2 * below * below
    for _ in range(sides):
        steps += 2 * sum(range(n)) + 2 * sum(range(n)) + n
    a = Tensor(shape=(n, n), dtype="fp64", nbytes=8 * n * n)
    b = Tensor(shape=(n, sides), dtype="fp64", nbytes=8 * n * sides)

    found = asked_of(Call(name="numpy.linalg.solve", arguments=(a, b), outputs=(b,)))

    assert found.work.get("fp64", 0) == steps


@pytest.mark.parametrize(
    ("function", "flop"),
    [
        (np.fft.fft, 3 * 456),
        (np.fft.ifft, 3 * 456),
        (np.fft.rfft, 3 * 228),
        (lambda a: np.fft.fft(a, n=8), 3 * 56),
        (lambda a: np.fft.fft(a[:2], axis=0), 32 * 4),
    ],
)
def test_transforms_have_the_flop_of_split_radix(function, flop):
    """Of 2, 8 and 32 points: 4, 56 and 456 real operations; of real numbers half of that."""
    found = asked(function, numbers(3, 32))[-1][1]

    assert found.work == {"fp64": flop}
