"""How much of a program's time was in counted code, and where the rest was: from samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ridgepoint.core.counted import Coverage, Uncounted
from ridgepoint.core.errors import InvalidDocument
from ridgepoint.meters.demangling import demangled
from ridgepoint.meters.native.contents import Contents
from ridgepoint.meters.native.copy_file import read_copy
from ridgepoint.meters.native.history import History, Placed
from ridgepoint.meters.profile.counts import Selects
from ridgepoint.meters.symbols import Symbols, read_symbols

_RARE = 1e-3
"""Chance below which a share of samples is no accident."""

_MOST_NAMED = 5
_NO_NAME = "code that no file holds"

_Name = tuple[str, str | None]


def coverage_of(
    contents: Contents, history: History, *, selects: Selects | None = None
) -> Coverage | None:
    """Return how much of a run's time was counted; None: there is no sample of it.

    Parameters
    ----------
    contents : Contents
    history : History
    selects : callable or None
        The regions whose time it is; None: all of the run. Where uncounted time was is told of
        the whole run in any case.

    Notes
    -----
    Samples in the loader and in the kernel are left out: neither is the program's own code.
    """
    banks = [b for b in contents.banks if selects is None or any(map(selects, b.regions))]
    counted = sum(bank.in_copy for bank in banks)
    outside = sum(bank.in_original + bank.elsewhere for bank in banks)
    total = counted + outside
    if not total:
        return None
    found = Counter(_names(contents, history))
    n_found = sum(found.values()) or 1
    # Not every address may have been recorded: those that were stand for the others.
    return Coverage(
        share=counted / total,
        samples=total,
        uncounted=tuple(
            Uncounted(name=name, object=path, share=outside / total * n / n_found)
            for (name, path), n in found.most_common(_MOST_NAMED)
        ),
    )


def _names(contents: Contents, history: History) -> Iterable[_Name]:
    """Yield function and object of each sample."""
    symbols: dict[str, Symbols] = {}
    places = _places(contents, history)
    parents = {program.number: program.forked_from for program in history.programs}
    for process, address in contents.samples.tolist():
        placed = _holder(places, parents, process, address)
        if placed is None or not placed.path:
            yield _NO_NAME, None
            continue
        if placed.path not in symbols:
            symbols[placed.path] = read_symbols(placed.path)
        stated = address - placed.bias
        names = symbols[placed.path].names_at(stated)
        yield demangled(names[0]) if names else f"{stated:#x}", placed.path


def _places(contents: Contents, history: History) -> dict[int, list[Placed]]:
    """Return by process where modules were; of copied ones their copies know how long they are."""
    modules = {module.number: module for module in contents.modules}
    extents: dict[str, tuple[int, int]] = {}
    found: dict[int, list[Placed]] = {}
    for placed in history.placed:
        whole: Placed | None = placed
        if placed.module is not None:
            one = modules.get(placed.module)
            whole = None if one is None else _with_extent(placed, one.path, one.copy, extents)
        if whole is not None:
            found.setdefault(placed.process, []).append(whole)
    return found


def _with_extent(
    placed: Placed, path: str, copy: str, known: dict[str, tuple[int, int]]
) -> Placed | None:
    if copy not in known:
        try:
            file = read_copy(Path(copy))
        except InvalidDocument:
            return None
        known[copy] = (file.lowest, file.highest)
    lowest, highest = known[copy]
    return Placed(
        process=placed.process,
        begin=placed.bias + lowest,
        end=placed.bias + highest,
        bias=placed.bias,
        module=placed.module,
        path=path,
    )


def _holder(
    places: dict[int, list[Placed]], parents: dict[int, int | None], process: int, address: int
) -> Placed | None:
    """Return the module that holds an address; a fork has those of the program it came from."""
    at: int | None = process
    while at is not None:
        for placed in reversed(places.get(at, ())):
            if placed.begin <= address < placed.end:
                return placed
        at = parents.get(at)
    return None


def surely_less(coverage: Coverage, share: float) -> bool:
    """Return whether a coverage is less than a share by more than chance would have it.

    Notes
    -----
    If it were the share, so few samples or fewer would be inside once in a thousand runs
    (binomial distribution).
    """
    if coverage.share >= share:
        return False
    from scipy.special import bdtr  # takes a while, and is seldom needed

    inside = round(coverage.share * coverage.samples)
    return bool(bdtr(inside, coverage.samples, share) < _RARE)


def uncounted_in_words(parts: Sequence[Uncounted]) -> str:
    """Return the functions in which uncounted time was, as a list in one line."""
    return ", ".join(
        f"{one.name} {f'({one.object}) ' if one.object else ''}{one.share:.1%}" for one in parts
    )
