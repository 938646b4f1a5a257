"""Solve a diffusion problem on a square grid of five points by conjugate gradients.

The grid is spread over a grid of ranks. In each iteration ranks exchange the edges of their blocks
with their neighbours, and all of them sum two numbers. The five coefficients of each point are
stored, since the medium differs from place to place; beyond the edges the solution is 0.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgepoint.suites.distributed.programs.ceilings import Ceilings
from ridgepoint.suites.distributed.programs.job import (
    Clock,
    Job,
    Refused,
    bounds,
    parser,
    positive,
    run,
)

Array = npt.NDArray[np.float64]
_TOLERANCE = 1e-8
"""Of the residual and of the solution, relative."""
_WORDS = 27 + 3 + 15
"""That one iteration moves per point, each pass of NumPy apart: the matrix's nine passes over
three arrays; x.y and x.x; two updates of five words each, of x and the residual, and one of p."""
_DIRECT = 300
"""Points along a side up to which the solution is compared with a direct solver's."""
_SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Block:
    """A part of the grid of points, on one rank.

    Parameters
    ----------
    job : Job
    n : int
        Points along one side of the whole.
    """

    def __init__(self, job: Job, n: int) -> None:
        rows = max(k for k in range(1, math.isqrt(job.ranks) + 1) if job.ranks % k == 0)
        self.grid = (rows, job.ranks // rows)
        if n < max(self.grid):
            raise Refused(f"--size {n} is less than one row of points for each rank")
        self._job = job
        self.place = divmod(job.rank, self.grid[1])
        ends = [bounds(n, parts) for parts in self.grid]
        (self.top, self.bottom), (self.left, self.right) = (
            (ends[k][self.place[k]], ends[k][self.place[k] + 1]) for k in (0, 1)
        )
        self.shape = (self.bottom - self.top, self.right - self.left)
        self.coefficients = coefficients(self.top, self.bottom, self.left, self.right)
        self._padded = np.zeros((self.shape[0] + 2, self.shape[1] + 2))
        self._term = np.empty(self.shape)

    def apply(self, u: Array, into: Array) -> None:
        """Multiply the matrix with a vector."""
        padded = self._padded
        padded[1:-1, 1:-1] = u
        with self._job.communicating():
            self._exchange_edges()
        with self._job.computing(9 * u.size):
            np.multiply(self.coefficients[0], u, out=into)
            for values, (down, right) in zip(self.coefficients[1:], _SIDES, strict=True):
                rows = slice(1 + down, 1 + down + self.shape[0])
                columns = slice(1 + right, 1 + right + self.shape[1])
                np.multiply(values, padded[rows, columns], out=self._term)
                into += self._term

    def _exchange_edges(self) -> None:
        """Fetch the neighbours' edges, and send them ours."""
        inner: dict[int, int | slice] = {-1: 1, 1: -2, 0: slice(1, -1)}
        around: dict[int, int | slice] = {-1: 0, 1: -1, 0: slice(1, -1)}
        coming, going = [], []
        for down, right in _SIDES:
            row, column = self.place[0] + down, self.place[1] + right
            if not (0 <= row < self.grid[0] and 0 <= column < self.grid[1]):
                continue
            other = row * self.grid[1] + column
            edge = np.ascontiguousarray(self._padded[inner[down], inner[right]])
            arriving = np.empty_like(edge)
            coming.append((self._job.comm.Irecv(arriving, source=other), arriving, down, right))
            going.append(self._job.send(edge, other))
        self._job.wait(*going, *(request for request, *_ in coming))
        for _, arriving, down, right in coming:
            self._padded[around[down], around[right]] = arriving

    def dot(self, a: Array, b: Array) -> float:
        """Return the scalar product of two vectors, summed over all ranks."""
        with self._job.computing(2 * a.size):
            own = float(np.vdot(a, b))
        with self._job.communicating():
            return self._job.sum_of(own)


def coefficients(top: int, bottom: int, left: int, right: int) -> list[Array]:
    """Return the matrix's diagonal, and its entries above, below, left and right of each point.

    The medium between two points conducts as well as its middle does. The matrix is symmetric,
    and positive definite since the diagonal is the sum of all four, those to the edge too.
    """
    i, j = np.ogrid[top:bottom, left:right]

    def conductivity(row: Any, column: Any) -> Array:
        # In units of half a point, so that both neighbours of a middle find the same.
        found: Array = 1.5 + np.sin(0.02 * row) * np.cos(0.03 * column)
        return found

    sides = [conductivity(2 * i + down, 2 * j + right) for down, right in _SIDES]
    return [np.sum(sides, axis=0), *(-side for side in sides)]


class Solver:
    """Conjugate gradients for a right-hand side of ones, from 0.

    Parameters
    ----------
    block : Block
    """

    def __init__(self, job: Job, block: Block) -> None:
        self._job, self._block = job, block
        self.x = np.zeros(block.shape)
        self._residual = np.ones(block.shape)
        self._direction = self._residual.copy()
        self._image, self._term = np.empty(block.shape), np.empty(block.shape)
        self.square = self.first = block.dot(self._residual, self._residual)

    def step(self) -> None:
        """Iterate once; once solved exactly, change nothing."""
        if self.square == 0:
            return
        self._block.apply(self._direction, self._image)
        curvature = self._block.dot(self._direction, self._image)
        length = self.square / curvature
        with self._job.computing(4 * self.x.size):
            np.multiply(self._direction, length, out=self._term)
            self.x += self._term
            np.multiply(self._image, length, out=self._term)
            self._residual -= self._term
        before, self.square = self.square, self._block.dot(self._residual, self._residual)
        with self._job.computing(2 * self.x.size):
            self._direction *= self.square / before
            self._direction += self._residual


def main(job: Job) -> int:
    """Iterate, and with --check go on until it is solved; return the exit status."""
    n = job.options.size
    block = Block(job, n)
    solver = Solver(job, block)
    ceilings = Ceilings(job, "fp64")
    ceilings.sample()
    job.repeat(solver.step)
    halos = job.comm.allreduce(job.sent_bytes) // job.steps
    ceilings.sample()
    clock = job.clock
    check = _check(job, block, solver, n) if job.options.check else None
    job.clock = clock
    return job.report(
        "conjugate-gradient",
        sizes={"size": n, "grid": list(block.grid)},
        work={"fp64": 19 * n**2},
        dram_bytes=8 * _WORDS * n**2,
        # Two sums, each added up in one place and sent back.
        exchanged_bytes=halos + 2 * 16 * (job.ranks - 1),
        check=check,
        ceilings=ceilings.fields(),
    )


def _check(job: Job, block: Block, solver: Solver, n: int) -> dict[str, Any]:
    """Solve to the end; find the true residual, and compare with a direct solver if it is small."""
    job.clock = Clock()
    iterations = 0
    while math.sqrt(solver.square / solver.first) > _TOLERANCE / 100 and iterations < 20 * n:
        solver.step()
        iterations += 1
    image = np.empty(block.shape)
    block.apply(solver.x, image)
    error = math.sqrt(block.dot(1 - image, 1 - image) / solver.first)
    what = "the residual over the right-hand side"
    if n <= _DIRECT:
        what += ", and the solution against a direct solver's"
        parts = job.comm.gather((block.top, block.left, solver.x), root=0)
        error = max(error, job.comm.bcast(_from_direct(parts, n) if parts else None, root=0))
    return {"what": what, "error": error, "tolerance": _TOLERANCE, "passed": error <= _TOLERANCE}


def _from_direct(parts: list[tuple[int, int, Array]], n: int) -> float:
    """Return the largest difference to SciPy's direct solution, over the largest value."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import spsolve

    whole = np.empty((n, n))
    for top, left, x in parts:
        whole[top : top + x.shape[0], left : left + x.shape[1]] = x
    centre, above, below, before, after = coefficients(0, n, 0, n)
    # Rows of points follow each other: no entry leads from the end of one to the next.
    before[:, 0] = after[:, -1] = 0
    matrix = diags_array(
        [
            centre.ravel(), above.ravel()[n:], below.ravel()[:-n], before.ravel()[1:],
            after.ravel()[:-1],
        ],
        offsets=[0, -n, n, -1, 1],
        format="csc",
    )  # fmt: skip
    direct = spsolve(matrix, np.ones(n * n)).reshape(n, n)
    return float(np.abs(whole - direct).max() / np.abs(direct).max())


def _parser() -> argparse.ArgumentParser:
    made = parser(str(__doc__).splitlines()[0], steps=20)
    made.add_argument("--size", type=positive, default=200, help="points along one side")
    return made


if __name__ == "__main__":
    run(_parser, main)
