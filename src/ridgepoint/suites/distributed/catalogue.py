"""The distributed programs, with their options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedProgram:
    """One program.

    Parameters
    ----------
    name : str
    module : str
        Module that Python runs under MPI.
    summary : str
        Its task, in one line.
    size_option : str
        The option of the program that takes its size.
    size_unit : str
        Unit of the size.
    default_size : int
    checks : str
        Description of the check with ``--check``.
    """

    name: str
    module: str
    summary: str
    size_option: str
    size_unit: str
    default_size: int
    checks: str


_FOLDER = "ridgepoint.suites.distributed.programs"

PROGRAMS = {
    program.name: program
    for program in (
        DistributedProgram(
            name="mlp",
            module=f"{_FOLDER}.mlp",
            summary="train a multi-layer perceptron, the batch spread over the ranks",
            size_option="--batch",
            size_unit="samples of each rank",
            default_size=128,
            checks="the weights equal those of a serial run, and are the same on all ranks",
        ),
        DistributedProgram(
            name="scalar-product",
            module=f"{_FOLDER}.scalar_product",
            summary="multiply two vectors and sum over the ranks",
            size_option="--size",
            size_unit="elements of a vector",
            default_size=20_000_000,
            checks="the product, in whole numbers",
        ),
        DistributedProgram(
            name="matrix-product",
            module=f"{_FOLDER}.matrix_product",
            summary="multiply two matrices on a grid of ranks (SUMMA)",
            size_option="--size",
            size_unit="rows of a matrix",
            default_size=768,
            checks="rows of every block, in whole numbers",
        ),
        DistributedProgram(
            name="conjugate-gradient",
            module=f"{_FOLDER}.conjugate_gradient",
            summary="iterate on a grid of five points: halos and sums",
            size_option="--size",
            size_unit="points along one side",
            default_size=200,
            checks="the residual, and up to 300 points a direct solver's solution",
        ),
    )
}
"""The programs, by name."""


def find(name: str) -> DistributedProgram:
    """Return a program by its name.

    Raises
    ------
    ValueError
        If there is no program of that name.
    """
    if name not in PROGRAMS:
        raise ValueError(f"name must be one of {', '.join(PROGRAMS)}, got {name!r}")
    return PROGRAMS[name]
