"""Names of functions and of files of source as figures and tables write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from ridgepoint.show.words import printable

_LONGEST_SYMBOL = 40
_LONGEST_FILE = 24
# An address in place of a symbol, with the zeros that fill it up.
_ZEROS = re.compile(r"^0x0+(?=[0-9a-fA-F])")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}")
# Brackets of a symbol, each alone; what is no bracket though it looks so stays in one piece.
_BRACKETS = re.compile(
    r"(operator(?:\(\)|->\*?|<=>|<<=?|>>=?|[<>]=?)|\(anonymous namespace\)|[()<>])"
)


def shown_symbol(name: str, object: str | None = None) -> str:
    """Return a function's name; of a long one of C++ without types of arguments and templates.

    Parameters
    ----------
    name : str
        A symbol; or an address, where there is none.
    object : str or None
        The file that holds its code: an address there is shown with it. None: not known.

    Examples
    --------
    >>> shown_symbol("saxpy(float, float*)")
    'saxpy(float, float*)'
    >>> shown_symbol("void kernels::scale<double, 4>(std::vector<double>&, double) [clone .isra.0]")
    'void kernels::scale<…>(…) [clone .isra.0]'
    >>> shown_symbol("0x0000000000001a20", "/usr/lib/algos.cpython-311.so")
    'algos.cpython-311.so+0x1a20'
    """
    if object is not None and _ADDRESS.fullmatch(name):
        return f"{printable(object.rpartition('/')[2])}+{int(name, 16):#x}"
    short = printable(_ZEROS.sub("0x", name))
    for opening, closing in ("()", "<>"):
        if len(short) > _LONGEST_SYMBOL:
            short = _without_nested(short, opening, closing)
    return short


def _without_nested(name: str, opening: str, closing: str) -> str:
    """Return a name with all that stands between outermost brackets cut.

    Operators that are named by such brackets, and ``(anonymous namespace)``, stay.
    """
    kept: list[str] = []
    depth = 0
    for part in _BRACKETS.split(name):
        depth -= part == closing and depth > 0
        if not depth:
            kept.append(part)
        elif kept[-1] == opening and part:
            kept.append("…")
        depth += part == opening
    return name if depth else "".join(kept)


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Return short names of files, with their folder where two are called the same.

    Examples
    --------
    >>> file_names(["/home/me/heat.c", "/usr/src/a/sum.c", "/usr/src/b/sum.c"])["/usr/src/b/sum.c"]
    'b/sum.c'
    """
    files = {path: PurePath(path) for path in paths}
    names = [file.name for file in set(files.values())]
    short = {}
    for path, file in files.items():
        parts = file.parts[-2:] if names.count(file.name) > 1 else file.parts[-1:]
        name = printable("/".join(parts))
        short[path] = name if len(name) <= _LONGEST_FILE else f"…{name[-_LONGEST_FILE + 1 :]}"
    return short
