"""Multiply two square matrices that are spread over a grid of ranks, by SUMMA.

Panels of columns of the first go to all ranks of their row of the grid, panels of rows of the
second to all of their column; each rank adds the product of each pair of panels to its block. With
a grid of p x 1 that is the product of matrices spread by rows. Elements are small whole numbers,
so that the product is exact in any order.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.distributed.programs.ceilings import Ceilings
from ridgepoint.suites.distributed.programs.job import Job, Refused, bounds, parser, positive, run

if TYPE_CHECKING:
    from mpi4py import MPI

_DTYPES: dict[str, Any] = {"fp32": np.float32, "fp64": np.float64}
_SAMPLES = 8
"""Rows of each block that are checked."""


class Grid:
    """The grid of ranks, and where blocks of the matrices begin.

    Parameters
    ----------
    job : Job
    rows, columns : int
        Of the grid.
    n : int
        Rows and columns of the matrices.
    """

    def __init__(self, job: Job, rows: int, columns: int, n: int) -> None:
        self.rows, self.columns = rows, columns
        self.row, self.column = divmod(job.rank, columns)
        self.row_ends, self.column_ends = bounds(n, rows), bounds(n, columns)
        self.along_row = job.comm.Split(color=self.row, key=self.column)
        self.along_column = job.comm.Split(color=self.column, key=self.row)

    @property
    def own_rows(self) -> tuple[int, int]:
        """First row of this rank's blocks, and the one after the last."""
        return self.row_ends[self.row], self.row_ends[self.row + 1]

    @property
    def own_columns(self) -> tuple[int, int]:
        """First column of this rank's blocks, and the one after the last."""
        return self.column_ends[self.column], self.column_ends[self.column + 1]

    def panels(self, width: int) -> list[tuple[int, int]]:
        """Return the panels, none of which reaches beyond a block of either matrix."""
        n = self.row_ends[-1]
        edges = sorted({*self.row_ends, *self.column_ends, *range(0, n, width)})
        return list(pairwise(edges))


class Product:
    """Blocks of A, B and C = A B on one rank, and room for two panels.

    Parameters
    ----------
    job : Job
    grid : Grid
    dtype : type
    width : int
        Of a panel, at most.
    """

    def __init__(self, job: Job, grid: Grid, dtype: Any, width: int) -> None:
        self._job, self._grid = job, grid
        self._panels = grid.panels(width)
        (top, bottom), (left, right) = grid.own_rows, grid.own_columns
        self.a, self.b = (elements(top, bottom, left, right, k).astype(dtype) for k in (1, 2))
        self.c = np.zeros_like(self.a)
        self._sum = np.empty_like(self.c)
        widest = max(b - a for a, b in self._panels)
        self._from_a = np.empty((bottom - top) * widest, dtype)
        self._from_b = np.empty((right - left) * widest, dtype)

    def multiply(self) -> None:
        """Compute C anew."""
        self.c[:] = 0
        for begin, end in self._panels:
            with self._job.communicating():
                left = self._left(begin, end)
                right = self._right(begin, end)
            with self._job.computing(2 * self.c.size * (end - begin)):
                np.matmul(left, right, out=self._sum)
                self.c += self._sum

    def _left(self, begin: int, end: int) -> npt.NDArray[Any]:
        """Return these columns of A, of our rows: from the rank of the row that has them."""
        grid, first = self._grid, self._grid.own_columns[0]
        owner = _part_of(begin, grid.column_ends)
        panel = self._from_a[: len(self.a) * (end - begin)].reshape(len(self.a), end - begin)
        if owner == grid.column:
            panel[:] = self.a[:, begin - first : end - first]
        self._spread(panel, owner, grid.along_row)
        return panel

    def _right(self, begin: int, end: int) -> npt.NDArray[Any]:
        """Return these rows of B, of our columns: from the rank of the column that has them."""
        grid, first = self._grid, self._grid.own_rows[0]
        owner, wide = _part_of(begin, grid.row_ends), self.b.shape[1]
        panel = self._from_b[: wide * (end - begin)].reshape(end - begin, wide)
        if owner == grid.row:
            panel = self.b[begin - first : end - first]
        self._spread(panel, owner, grid.along_column)
        return panel

    def _spread(self, panel: npt.NDArray[Any], owner: int, comm: MPI.Comm) -> None:
        """Send a panel from its owner to all others of a row or column, one after the other."""
        own, count = comm.Get_rank(), comm.Get_size()
        if count == 1:
            return
        if own == owner:
            others = (other for other in range(count) if other != owner)
            self._job.wait(*(self._job.send(panel, other, comm) for other in others))
        else:
            self._job.wait(comm.Irecv(panel, source=owner))


def elements(top: int, bottom: int, left: int, right: int, kind: int) -> npt.NDArray[np.int64]:
    """Return whole numbers from -5 to 5 that depend on row, column and which matrix it is."""
    i, j = np.ogrid[top:bottom, left:right]
    found: npt.NDArray[np.int64] = (31 * i + 17 * j + kind * (i * j % 13)) % 11 - 5
    return found


def main(job: Job) -> int:
    """Multiply; return the exit status."""
    options, n = job.options, job.options.size
    rows, columns = _grid_of(options.grid, job.ranks)
    if n < max(rows, columns):
        raise Refused(f"--size {n} is less than one row for each rank of {rows} x {columns}")
    if options.precision == "fp32" and 25 * n > 2**24:
        raise Refused(f"--size {n} is more than products that fp32 sums exactly: 671,088 at most")
    grid = Grid(job, rows, columns, n)
    product = Product(job, grid, _DTYPES[options.precision], options.panel or n)
    ceilings = Ceilings(job, options.precision)
    ceilings.sample()
    job.repeat(product.multiply)
    sent = job.comm.allreduce(job.sent_bytes) // job.steps
    ceilings.sample()
    return job.report(
        "matrix-product",
        sizes={"size": n, "grid": [rows, columns], "precision": options.precision},
        work={options.precision: 2 * n**3},
        dram_bytes=3 * product.a.itemsize * n**2,
        exchanged_bytes=sent,
        check=_check(job, grid, product) if options.check else None,
        ceilings=ceilings.fields(),
    )


def _check(job: Job, grid: Grid, product: Product) -> dict[str, Any]:
    """Compare rows of this rank's block with the product in whole numbers, on all ranks."""
    (top, bottom), (left, right) = grid.own_rows, grid.own_columns
    n = grid.row_ends[-1]
    chosen = np.unique(np.linspace(top, bottom - 1, _SAMPLES).astype(int))
    factor, error = elements(0, n, left, right, 2), 0.0
    for row in chosen:
        expected = elements(row, row + 1, 0, n, 1) @ factor
        error = max(error, float(np.abs(product.c[row - top] - expected[0]).max()))
    error = max(job.comm.allgather(error))
    return {
        "what": f"{_SAMPLES} rows of every rank's block against whole numbers",
        "error": error,
        "tolerance": 0,
        "passed": error == 0,
    }


def _grid_of(asked: tuple[int, int] | None, ranks: int) -> tuple[int, int]:
    """Return rows and columns of the grid: as asked, or as square as can be."""
    if asked is None:
        rows = max(k for k in range(1, math.isqrt(ranks) + 1) if ranks % k == 0)
        return ranks // rows, rows
    rows, columns = asked
    if rows == 0:
        rows = ranks
    if rows * columns != ranks:
        raise Refused(f"--grid {rows}x{columns} has {rows * columns} places, the job {ranks} ranks")
    return rows, columns


def _part_of(index: int, ends: list[int]) -> int:
    """Return which part of a range holds an index."""
    return next(part for part in range(len(ends) - 1) if index < ends[part + 1])


def _grid(text: str) -> tuple[int, int]:
    if text == "rows":
        return 0, 1
    rows, columns = text.split("x")
    return positive(rows), positive(columns)


def _parser() -> argparse.ArgumentParser:
    made = parser(str(__doc__).splitlines()[0], steps=5)
    made.add_argument("--size", type=positive, default=768, help="rows and columns of a matrix")
    made.add_argument(
        "--grid", type=_grid, metavar="RxC",
        help="of ranks, or 'rows': all below each other; default: as square as can be",
    )  # fmt: skip
    made.add_argument("--panel", type=positive, help="its width at most; default: a whole block")
    made.add_argument("--precision", choices=list(_DTYPES), default="fp64", help="default: fp64")
    return made


if __name__ == "__main__":
    run(_parser, main)
