"""Symbols that a name stands for: a function, and the copies of it that compilers make."""

from __future__ import annotations

import re
import warnings
from functools import cache

# Suffixes that GCC and LLVM add when they make another function: a copy for some arguments, a
# part, the rarely executed half, the body of a parallel region; as in `native/pattern.c`.
_MADE = re.compile(
    r"(?<=.)\.(?:(?:constprop|isra|part|lto_priv|llvm|clone|_omp_fn|_omp_cpyfn|specialized)\.[0-9]"
    r"|(?:cold|localalias|omp_outlined|omp_outlined_debug__)(?:\.|$)).*",
    re.DOTALL,
)
_MADE_IN_CPP = " [clone "
_COLD = re.compile(r"\.cold(\.[0-9]+)?\]?$")
_PARALLEL = re.compile(r"\.(_omp_fn|omp_outlined)\b")


def original_name(symbol: str) -> str:
    """Return the name of the function from which a compiler made a symbol, or the symbol itself.

    Examples
    --------
    >>> original_name("scale.constprop.0.isra.0")
    'scale'
    >>> original_name("f(int) [clone .part.0]")
    'f(int)'
    >>> original_name("main.main")
    'main.main'
    """
    return _MADE.sub("", symbol.partition(_MADE_IN_CPP)[0], count=1) or symbol


def is_cold_part(symbol: str) -> bool:
    """Return whether a symbol is the rarely executed half of a function, which nothing calls."""
    return _COLD.search(symbol) is not None


def is_parallel_body(symbol: str) -> bool:
    """Return whether a symbol is the body of a parallel region of OpenMP."""
    return _PARALLEL.search(symbol) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        # On syntax that may come to mean a set of sets.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern, re.DOTALL)


def why_no_pattern(pattern: str) -> str | None:
    r"""Return why a text is not a name or expression that the engine accepts, or None.

    It accepts literal characters, ``.``, ``[...]``, ``(...)``, ``|``, ``*``, ``+``, ``?``, and
    ``\`` before a character that is not a letter or digit.

    Examples
    --------
    >>> why_no_pattern("f(")
    'missing ), unterminated subpattern at position 1'
    >>> why_no_pattern("step|main") is None
    True
    """
    if not pattern:
        return "it is empty"
    try:
        _compiled(pattern)
    except re.error as error:
        return str(error)
    bare = re.sub(r"\\[^A-Za-z0-9]|\[\^?\]?[^\]]*\]", "", pattern)
    if unknown := re.search(r"\\|[{^$]", bare):
        return f"{unknown[0]!r} has no meaning here"
    return None


def selects(pattern: str, symbol: str) -> bool:
    """Return whether a name or a regular expression stands for a symbol, or for its original.

    Parameters
    ----------
    pattern : str
        Pattern as given to ``--function``.
    symbol : str
        Symbol, demangled as C++ writes it.
    """
    names = {symbol, original_name(symbol)}
    if pattern in names:
        return True
    try:
        expression = _compiled(pattern)
    except re.error:
        return False
    return any(expression.fullmatch(name) for name in names)
