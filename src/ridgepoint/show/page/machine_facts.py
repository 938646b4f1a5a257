"""What is known of a machine: each ceiling, with its samples and what ran."""

from __future__ import annotations

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Machine
from ridgepoint.core.units import format_si
from ridgepoint.show.page.document import Fact
from ridgepoint.show.words import (
    UNKNOWN,
    printable,
    shown_cores,
    shown_name,
    shown_pattern,
    with_interval,
)


def machine_facts(machine: Machine) -> tuple[Fact, ...]:
    """Return each ceiling of a machine, with its samples and what ran."""
    return tuple(
        Fact(
            key=f"ceiling-{number}",
            name=f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)}, "
            f"{shown_cores(ceiling.threads)}"
            + (f" of {printable(ceiling.part)}" if ceiling.part else ""),
            text=f"{UNKNOWN}: {printable(ceiling.cautions[0].seen)}"
            if ceiling.rate is None
            else _rate_text(ceiling.rate, ceiling.unit),
            how=_how_measured(ceiling.detail, ceiling.theory, ceiling.theoretical, ceiling.unit),
            samples=ceiling.rate.samples if ceiling.rate and ceiling.rate.n > 1 else None,
            samples_unit=_shown_unit(ceiling.unit),
            source=printable(ceiling.source or machine.source or "docs/ceilings.md"),
        )
        for number, ceiling in enumerate(machine.ceilings)
    )


def _how_measured(
    detail: str | None, theory: str | None, theoretical: float | None, unit: str
) -> str:
    parts = [] if detail is None else [f"What ran: {printable(detail)}."]
    if theoretical is not None:
        why = f" ({printable(theory)})" if theory else ""
        parts.append(f"In theory {format_si(theoretical, _shown_unit(unit))}{why}.")
    return " ".join(parts)


def _rate_text(rate: Estimate, unit: str) -> str:
    text = with_interval(rate, lambda value: format_si(value, _shown_unit(unit)))
    return text if rate.n == 1 else f"{text}, n = {rate.n}"


def _shown_unit(unit: str) -> str:
    return unit.replace("byte", "B")
