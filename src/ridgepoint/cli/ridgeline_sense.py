"""Options of the ridgeline command that exclude each other."""

from __future__ import annotations

from typing import Any

import click

_OF_TRAINING = (
    *("layers", "model", "batch", "nodes", "strong", "all_reduce", "convention"),
    *("lookups", "embeddings", "rows_in", "sequence", "tensor"),
)
_OF_PERCEPTRONS = (
    *("layers", "model", "convention", "lookups", "embeddings", "rows_in", "sequence", "tensor"),
)


def require_sense(
    training: dict[str, Any], *, own: bool, sweep: bool, work: str, precision: str | None
) -> None:
    """Refuse options that exclude each other.

    Raises
    ------
    click.UsageError
    """
    given = [name for name in _OF_TRAINING if training[name] not in (None, False)]
    if own and (given or sweep):
        name = f"--{given[0].replace('_', '-')}" if given else "--sweep"
        raise click.UsageError(
            f"{name} applies to training steps: it cannot be combined with --point, --demand or "
            "--record"
        )
    if not own and work != "flop":
        raise click.UsageError(
            "--work bops applies only with --point, --demand or --record: a perceptron's work is "
            "in flop"
        )
    if precision is not None and work != "flop":
        raise click.UsageError(
            "--precision applies to floating-point work: basic operations have no precision"
        )


def require_one_kind(
    *, own: bool, records: bool, operators: bool, fused: bool, precision: str | None
) -> None:
    """Refuse several kinds of programs at once.

    Raises
    ------
    click.UsageError
    """
    if (records or operators) and (own or precision):
        what = "--precision" if precision else "--point and --demand"
        option = "--record" if records else "--operators"
        raise click.UsageError(f"{what} cannot be combined with {option}, which has its own work")
    if records and operators:
        raise click.UsageError("--record and --operators name different programs: give one of them")
    if fused and not operators:
        raise click.UsageError("--fused applies only to --operators")


def require_recorded(training: dict[str, Any], *, operators: bool) -> None:
    """Refuse options of a perceptron with recorded operators.

    Raises
    ------
    click.UsageError
    """
    given = [name for name in _OF_PERCEPTRONS if training[name] is not None]
    if operators and given:
        raise click.UsageError(
            f"--{given[0].replace('_', '-')} cannot be combined with --operators, whose step is "
            "as it was recorded"
        )
