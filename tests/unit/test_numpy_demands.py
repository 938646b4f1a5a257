"""What functions of NumPy ask for, against counting each operation on numbers that count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators import asked_of
from ridgepoint.demands.operators.numpy.elementwise import SPECIAL
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
        (lambda a: np.polyfit(a[0], a[0], 1), "no rule"),
        (lambda a: np.histogram(a, "auto"), "in the data"),
        (lambda a: np.histogram(a, weights=a), "weights"),
        (lambda a: np.interp(a[0], a[0], a[0], period=2.0), "period"),
        (lambda a: np.cov(a, aweights=a[0]), "weights"),
        (lambda a: np.corrcoef(a + 1j), "complex"),
    ],
)
def test_what_no_rule_knows_is_unknown_and_says_why(function, why):
    """Never 0."""
    found = [one for _, one in asked(function, numbers(4, 4)) if one.work is None]

    assert len(found) == 1
    assert why in found[0].unknown


def test_bytes_are_known_where_work_depends_on_convergence():
    """A least-squares solution reads 12 and 4 numbers, and writes 3, 1, 3 and a rank."""
    found = asked_once(np.linalg.lstsq, numbers(4, 3) ** 2, numbers(4))

    assert found.work is None
    assert found.read_bytes == (12 + 4) * 8
    assert found.write_bytes >= (3 + 1 + 3) * 8


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


def multiply_adds_of_one_triangle(rows: int, inner: int) -> int:
    """Count the multiply-adds of all pairs of rows, each pair once."""
    return sum(inner for one in range(rows) for other in range(one + 1))


OWN_PRODUCTS = {
    "columns": (lambda x: x.T @ x, (7, 3), 3, 7),
    "rows": (lambda x: x @ x.T, (7, 3), 7, 3),
    "of some rows": (lambda x: x[2:5] @ x[2:5].T, (7, 3), 3, 3),
    "by dot": (lambda x: np.dot(x.T, x), (7, 3), 3, 7),
    "by inner": (lambda x: np.inner(x, x), (7, 3), 7, 3),
    "of many": (lambda x: x @ x.swapaxes(-1, -2), (2, 7, 3), 7, 3),
}


@pytest.mark.parametrize("name", OWN_PRODUCTS)
def test_a_product_of_a_matrix_and_its_transpose_has_one_half(name):
    """The other half is the same; NumPy copies it."""
    function, shape, rows, inner = OWN_PRODUCTS[name]
    pairs = multiply_adds_of_one_triangle(rows, inner) * (shape[0] if len(shape) == 3 else 1)

    (found,) = (one for call, one in asked(function, numbers(*shape)) if one.kind != "view")

    assert found.work == {"fp64": 2 * pairs}


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (lambda x: x @ x, "f8"),
        (lambda x: x.T @ x.copy(), "f8"),
        (lambda x: x[1:, 1:].T @ x[:-1, :-1], "f8"),
        (lambda x: np.inner(x, x.T), "f8"),
        (lambda x: x.T @ x, "i8"),
    ],
)
def test_other_products_of_one_memory_have_both_halves(function, dtype):
    """Not transposed, elsewhere in memory, or of a type that BLAS does not know."""
    *_, (call, found) = asked(function, numbers(5, 5, dtype=dtype))
    n = call.outputs[0].shape[0]

    assert list(found.work.values()) == [2 * n**3]


def test_a_covariance_subtracts_means_and_multiplies_with_itself():
    """Three variables of eight samples, by hand.

    Means: 7 additions and a division each; 24 differences; 6 pairs of 8 products that are added to
    8 sums; 9 results scaled. Correlations besides: 3 roots, and 9 results divided twice.
    """
    by_hand = 3 * (7 + 1) + 24 + 6 * 2 * 8 + 9
    x = numbers(3, 8)

    assert asked_once(np.cov, x).work == {"fp64": by_hand}
    assert asked_once(lambda x: np.cov(x, rowvar=False), x.T).work == {"fp64": by_hand}
    assert asked_once(np.cov, x[:2], x[2]).work == {"fp64": by_hand}
    assert asked_once(np.corrcoef, x).work == {"fp64": by_hand + 3 + 18}
    assert asked_once(np.cov, numbers(8)).work == {"fp64": 8 + 8 + 16 + 1}


def test_counts_of_integers_have_flop_only_with_weights():
    """One addition for each."""
    counts = np.array([0, 2, 2, 5])

    assert asked_once(np.bincount, counts).work == {}
    assert asked_once(lambda i, w: np.bincount(i, weights=w), counts, numbers(4)).work == {
        "fp64": 4
    }


def test_a_histogram_computes_the_bin_of_each_value_in_its_range():
    """A difference, a quotient and a product for each; edges are products and sums."""
    values = np.arange(10.0)

    assert asked_once(lambda a: np.histogram(a, 4), values).work == {"fp64": 3 * 10 + 2 * 5}
    within = asked_once(lambda a: np.histogram(a, 4, range=(2.0, 6.0)), values)
    assert within.work == {"fp64": 3 * 5 + 2 * 5}
    searched = asked_once(np.histogram, values, np.array([0.0, 1.0, 5.0]))
    assert (searched.work, searched.write_bytes) == ({}, 2 * 8)


def test_only_values_between_points_are_interpolated():
    """Four of seven: one is below, one upon a point, one above all; two slopes serve all."""
    x = np.array([-1.0, 0.5, 0.7, 1.0, 1.5, 1.6, 9.0])
    points = np.array([0.0, 1.0, 2.0])

    found = asked_once(lambda x, p: np.interp(x, p, p), x, points)
    few = asked_once(lambda x, p: np.interp(x, p, p), x[:2], points)

    assert found.work == {"fp64": 2 * 3 + 4 * 3}
    assert few.work == {"fp64": 1 * 3 + 1 * 3}


def test_the_logarithm_of_a_determinant_has_one_for_each_pivot():
    """Of 3 by 3: 3 quotients, 5 multiply-adds, two additions, and three logarithms."""
    found = asked_once(np.linalg.slogdet, numbers(3, 3) ** 2)

    assert (found.work, found.functions) == ({"fp64": 3 + 2 * 5 + 2}, 3)


@pytest.mark.parametrize(
    ("name", "flop"), [("erf", 0), ("gammaln", 0), ("j0", 0), ("ndtr", 0), ("expit", 2)]
)
def test_functions_of_scipy_are_evaluations_of_functions(name, flop):
    """One each; that of expit is an exp, with a sum and a quotient."""
    special = pytest.importorskip("scipy.special")

    found = asked_once(getattr(special, name), numbers(12))

    assert (sum(found.work.values()), found.functions) == (12 * flop, 12)


def test_the_functions_of_scipy_that_rules_name_are_there():
    """A misspelt name would never be used."""
    special = pytest.importorskip("scipy.special")
    missing = {name for name in SPECIAL if not isinstance(getattr(special, name, None), np.ufunc)}

    assert missing == set()
