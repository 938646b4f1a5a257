"""Names of functions are matched as Python matches them, where both know the pattern."""

import ctypes
import re
from re import _constants as sre
from re._parser import parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_code import library

from ridgepoint.models.symbol_names import original_name, selects, why_no_pattern

LETTERS = "ab_1:"
ATOMS = st.one_of(
    st.sampled_from(LETTERS),
    st.just("."),
    st.sampled_from(["\\.", "\\*", "\\(", "\\)", "\\[", "\\|", "\\+", "\\?", "\\\\"]),
    st.sampled_from(
        ["[ab]", "[^ab]", "[a-z]", "[^a-z]", "[]a]", "[^]a]", "[a\\]]", "[1:_]", "[a-]"]
    ),
)


def _repeated(parts):
    """Let parts repeat; Python refuses to repeat what repeats, and so does the engine."""
    return st.tuples(parts, st.sampled_from(["", "", "*", "+", "?"])).map("".join)


def _sequences(parts):
    return st.lists(_repeated(parts), min_size=0, max_size=4).map("".join)


PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.lists(_sequences(inner), min_size=1, max_size=3).map(
        lambda alternatives: f"({'|'.join(alternatives)})"
    ),
    max_leaves=8,
)
WHOLE = st.lists(_sequences(PATTERNS), min_size=1, max_size=2).map("|".join).filter(bool)
NAMES = st.text(alphabet=LETTERS + "().[]|*+?\\-z", max_size=8)


def made_from(draw, tree):
    """Draw a name that matches a pattern, along the tree as which Python reads it.

    Hypothesis' own `from_regex` looks whether Python matches what it made, and that may take
    exponentially long.
    """
    return "".join(_MADE[operation](draw, argument) for operation, argument in tree)


def _of_class(draw, items):
    """Draw one of ASCII, but for the end of a C string, that a class has or has not."""
    listed = set()
    for operation, argument in items:
        if operation is sre.LITERAL:
            listed.add(argument)
        elif operation is sre.RANGE:
            listed.update(range(argument[0], argument[1] + 1))
    is_negated = items[0][0] is sre.NEGATE
    return chr(draw(st.sampled_from([c for c in range(1, 128) if (c in listed) != is_negated])))


def _repeats(draw, argument):
    least, most, tree = argument
    return "".join(made_from(draw, tree) for _ in range(draw(st.integers(least, min(most, 3)))))


_MADE = {
    sre.LITERAL: lambda draw, code: chr(code),
    sre.NOT_LITERAL: lambda draw, code: _of_class(draw, [(sre.NEGATE, None), (sre.LITERAL, code)]),
    sre.ANY: lambda draw, _: _of_class(draw, [(sre.NEGATE, None)]),
    sre.IN: _of_class,
    sre.BRANCH: lambda draw, argument: made_from(draw, draw(st.sampled_from(argument[1]))),
    sre.SUBPATTERN: lambda draw, argument: made_from(draw, argument[-1]),
    sre.MAX_REPEAT: _repeats,
}


@pytest.fixture(scope="module")
def pattern():
    """Load the matcher."""
    code = library("portable", ("pattern.c",), "")
    for function in (code.pattern_is_valid, code.pattern_matches):
        function.restype = ctypes.c_bool
    return code


@given(WHOLE, NAMES)
def test_a_name_matches_where_python_matches_it_whole(pattern, expression, name):
    """Alternatives, groups, classes and repetitions, nested."""
    assert pattern.pattern_is_valid(expression.encode())
    matches = pattern.pattern_matches(expression.encode(), name.encode())

    assert matches == (re.fullmatch(expression, name, re.DOTALL) is not None)


@given(WHOLE, st.data())
def test_names_made_from_a_pattern_match_it(pattern, expression, data):
    """Random names seldom match: these always do."""
    name = made_from(data.draw, parse(expression, re.DOTALL))

    assert pattern.pattern_matches(expression.encode(), name.encode())


@pytest.mark.filterwarnings("ignore:Possible (set|nested):FutureWarning")
@given(st.text(alphabet="ab()[]|*+?\\^$.{}-", max_size=12))
def test_no_text_breaks_the_matcher(pattern, text):
    """Whatever is valid here is valid in Python and means the same; nothing crashes."""
    if not pattern.pattern_is_valid(text.encode()):
        return
    for name in ("", "a", "ab", "a.b", "aaa", "-", "^"):
        expected = re.fullmatch(text, name, re.DOTALL) is not None
        assert pattern.pattern_matches(text.encode(), name.encode()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "a**",
        "(",
        ")",
        "(a",
        "[a",
        "a{2}",
        "^a",
        "a$",
        "\\",
        "a|*",
        "(*)",
        "+a",
        "\\d",
        "[\\w]",
    ],
)
def test_what_is_not_understood_is_refused(pattern, text):
    """Also what has a meaning in Python that it has not here."""
    assert not pattern.pattern_is_valid(text.encode())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ns::f<.*>::g\\(int\\)", "ns::f<a, b<c>>::g(int)"),
        ("dgemm_(kernel|beta)_[a-z0-9]+", "dgemm_kernel_haswell"),
        ("(a|b)*c", "abbac"),
        ("(a*)*b", "aaab"),
        ("(|a)+b", "aab"),
        ("L\xf6sung.*", "L\xf6sung_1"),
    ],
)
def test_names_of_functions_match(pattern, text, name):
    """As programs have them."""
    assert pattern.pattern_matches(text.encode(), name.encode())


@pytest.mark.parametrize(
    ("symbol", "original"),
    [
        ("scale.constprop.0", "scale"),
        ("scale.isra.12", "scale"),
        ("scale.part.0.constprop.1", "scale"),
        ("scale.cold", "scale"),
        ("scale.cold.3", "scale"),
        ("main._omp_fn.0", "main"),
        (".omp_outlined.", ".omp_outlined."),
        ("main.omp_outlined", "main"),
        ("main.omp_outlined_debug__.1", "main"),
        ("walk.llvm.1234567", "walk"),
        ("scale(double*) [clone .constprop.0]", "scale(double*)"),
        ("main.main", "main.main"),
        ("main.part", "main.part"),
        ("main.coldStart", "main.coldStart"),
        (".part.0", ".part.0"),
        ("", ""),
    ],
)
def test_a_copy_that_a_compiler_made_has_the_name_of_its_original(pattern, symbol, original):
    """As GCC 12, LLVM 14 and Go name functions; the engine and Python agree."""
    pattern.original_length.restype = ctypes.c_size_t

    assert symbol[: pattern.original_length(symbol.encode())] == original
    assert original_name(symbol) == original


@given(st.text(alphabet="ab.0", max_size=6), st.sampled_from([*"ab.", ".cold", ".part.", "_"]))
def test_the_engine_and_python_agree_on_originals(pattern, head, tail):
    """Whatever the name."""
    pattern.original_length.restype = ctypes.c_size_t
    symbol = head + tail + head

    assert symbol[: pattern.original_length(symbol.encode())] == original_name(symbol)


def test_a_name_stands_for_copies_of_a_function_but_for_no_other():
    """A literal name, an expression for originals, and one that is no expression."""
    assert selects("scale", "scale.constprop.0")
    assert selects("scale|sum", "sum.isra.0")
    assert selects("operator()(int)", "operator()(int)")
    assert not selects("scale", "rescale.constprop.0")
    assert not selects("scale(", "scale")


@given(st.text(alphabet="ab()[]|*+?\\^$.{}-", max_size=8))
def test_what_is_refused_at_once_is_refused_by_the_engine_and_no_valid_name_is(pattern, text):
    """One that is a name of its own, as `f(int)`, is an expression too."""
    if pattern.pattern_is_valid(text.encode()):
        assert why_no_pattern(text) is None
