"""Which theory holds where a CPU may be one of several: told by what its multiply-adds reach.

Theory is a bound, so a CPU that does more than one allows is not that one. Where one choice is
nearly reached and the others are far, it is taken, with a caution: it may be a faster one that was
held up. What cannot be told apart so is known as far as all choices say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ridgepoint.core.caution import Caution
from ridgepoint.core.identity import Identity
from ridgepoint.published.theory import Theory, load_choices
from ridgepoint.published.theory_file import user_folder

Key = tuple[str, str]
"""Resource and name of a ceiling."""

BEYOND = 1.15
"""Of a figure: what reaches more cannot be bound by it, even with the clock's noise. Figures that
tell choices apart are a third apart at least."""

NEAR, FAR = 0.9, 0.7
"""Of a figure: reached from the first on; below the second, too little to be what holds it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The microarchitectures that this CPU may be, as far as documents describe them.

    Parameters
    ----------
    common : Theory or None
        Figures on which the files of all of them agree; None: not even these are known.
    each : tuple of Theory
        One for each way in which it may be built.
    """

    common: Theory | None
    each: tuple[Theory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The theory that holds, and what to doubt in it."""

    theory: Theory | None
    cautions: tuple[Caution, ...] = ()


def theory_choices(identity: Identity, *, cpu: str) -> Choices:
    """Return what documents say of a CPU.

    Parameters
    ----------
    identity : Identity
    cpu : str
        The model's name.

    Raises
    ------
    InvalidDocument
        If a file is not as it should be.
    """
    found = [load_choices(name, cpu=cpu) for name in identity.names]
    if not found or not all(found):
        return Choices(common=None, each=())
    # The first of several is what a file says of any model.
    return Choices(
        common=_common([choices[0] for choices in found], named=identity),
        each=tuple(theory for choices in found for theory in (choices[1:] or choices)),
    )


def settle(choices: Choices, reached: Mapping[Key, float]) -> Settled:
    """Return the theory that holds, by what one core reached.

    Parameters
    ----------
    choices : Choices
    reached : mapping of (str, str) to float
        By resource and name, work of one core in one cycle. Multiply-adds decide.
    """
    if len(choices.each) < 2:
        return Settled(theory=choices.common)
    fma = {key: value for key, value in reached.items() if key[1].startswith("fma ")}
    left = [choice for choice in choices.each if not _is_exceeded(choice, fma)]
    if not left:
        # A file is wrong, or the clock: neither of which tells one choice from another.
        return Settled(theory=_among(choices, choices.each))
    if len(left) == 1:
        return Settled(theory=left[0])
    telling = {key: values for key in fma if len(values := _values(left, key)) > 1}
    if not telling:
        return Settled(theory=_among(choices, left))
    widest = max(telling, key=lambda key: (fma[key], key))
    values = telling[widest]
    got = fma[widest]
    near = [value for value in values if got / value >= NEAR]
    if len(near) != 1 or any(got / value > FAR for value in values if value not in near):
        return Settled(theory=_among(choices, left))
    taken = [theory for theory in left if _figure(theory, widest) == near[0]]
    return Settled(
        theory=_among(choices, taken), cautions=(_inferred(widest, got, near[0], values),)
    )


def _values(theories: Sequence[Theory], key: Key) -> list[float]:
    """Return the different figures that theories have of a ceiling; none if one has none."""
    figures = [_figure(theory, key) for theory in theories]
    known = [figure for figure in figures if figure is not None]
    return sorted(set(known)) if len(known) == len(figures) else []


def _is_exceeded(theory: Theory, reached: Mapping[Key, float]) -> bool:
    """Return whether more was reached than a theory allows."""
    return any(
        (bound := _figure(theory, key)) is not None and value > BEYOND * bound
        for key, value in reached.items()
    )


def _figure(theory: Theory, key: Key) -> float | None:
    figure = theory.per_cycle(*key)
    return None if figure is None else figure.value


def _among(choices: Choices, left: Sequence[Theory]) -> Theory | None:
    """Return the figures that hold for all choices, and those that the remaining ones share."""
    if choices.common is None:
        return None
    found = reduce(_shared, left)
    return replace(choices.common, figures={**choices.common.figures, **found.figures})


def _common(theories: Sequence[Theory], *, named: Identity) -> Theory:
    """Return what several theories say alike, under the name of what they are of."""
    if len(theories) == 1:
        return theories[0]
    return replace(reduce(_shared, theories), name=named.title or theories[0].name, note=None)


def _shared(theory: Theory, other: Theory) -> Theory:
    """Return the figures that two theories have alike."""
    alike = {
        key: figure
        for key, figure in theory.figures.items()
        if (twin := other.figures.get(key)) is not None
        and (twin.value, twin.unit) == (figure.value, figure.unit)
    }
    return replace(theory, figures=alike)


def _inferred(key: Key, reached: float, taken: float, values: Sequence[float]) -> Caution:
    """Return the caution that a figure was chosen by what was reached."""
    others = " or ".join(f"{value:g}" for value in values if value != taken)
    unit = "flop" if key[0].startswith("fp") else "operations"
    return Caution(
        "inferred-theory",
        f"{' '.join(key)} reached {reached:.3g} {unit} per cycle and core, so {taken:g} is "
        f"assumed to be what this CPU can do; others of its kind can do {others}",
        f"if you know better, describe this CPU in {user_folder()} (docs/theory.md)",
    )
