"""Formulas that a user types: what they are worth, and what is none."""

import numpy as np
import pytest

from ridgepoint.kept.expressions import Expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8*n^2*(p-1)", 8 * 9 * 3),
        ("2**3**2", 512),
        ("-(-5) + +1", 6),
        ("16*n^2*(sqrt(p)-1)", 144),
        ("48*n*(p-1)/p", 108),
        ("5*n*log2(p)", 30),
        ("max(n, p) - min(n, p)", 1),
        ("ceil(n/2) + floor(n/2)", 3),
        ("1e3", 1000),
    ],
)
def test_formulas_are_arithmetic(text, value):
    """With n = 3 and p = 4; ^ binds as a power."""
    assert Expression(text, ("n", "p")).value(n=3.0, p=4.0) == pytest.approx(value)


def test_arrays_broadcast():
    """A formula of many sizes and nodes at once."""
    found = Expression("n*p", ("n", "p")).value(n=np.array([[1.0], [2.0]]), p=np.array([1.0, 3.0]))

    assert found.tolist() == [[1, 3], [2, 6]]


@pytest.mark.parametrize(
    "text",
    ["", "n +", "import os", "m", "n.real", "n[0]", "'n'", "[n]", "lambda: 1", "n if p else 1",
     "n < p", "n and p", "True", "1j", "sqrt(n, p)", "max(n)", "sqrt(x=n)", "sqrt(*n)", "exec(n)",
     "__import__('os')", "n // p", "n % p", "(n := 1)", "f'{n}'", "1" * 300,
     "(" * 150, "\0", "1if"],
)  # fmt: skip
def test_what_is_no_arithmetic_is_refused(text):
    """Nothing is called, looked up or compared."""
    with pytest.raises(ValueError, match=r"formula|characters"):
        Expression(text, ("n", "p"))


@pytest.mark.parametrize("text", ["1-n", "1/(n-n)", "9^9^9^9", "log(0)", "sqrt(0-n)", "1e400"])
def test_values_that_are_negative_or_not_finite_are_refused(text):
    """And it is said for which variables; huge powers end at once."""
    with pytest.raises(ValueError, match="must be finite and >= 0"):
        Expression(text, ("n",)).value(n=np.array([1.0, 3.0]))
    with pytest.raises(ValueError, match=r"got -2 for n = 3"):
        Expression("1-n", ("n",)).value(n=np.array([1.0, 3.0]))
