"""The datacenter workloads: their forms, sizes, data, and compilation."""

from __future__ import annotations

from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from os import PathLike

Growth = Literal["n", "n log n"]

REGION = "measured"
"""The region that each program marks: its work, without making or loading the data it holds."""

_FOLDER = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One program.

    Parameters
    ----------
    name : str
        Name of the program, and of its source without ``.cpp``.
    title : str
        Name as the paper's tables print it.
    summary : str
        Its task, in one line.
    forms : tuple of str
        Implementations of the task; the first is that of the original source.
    size_unit : str
        Unit of ``size``.
    default_size : int
        Size for a run of a few seconds at most.
    quick_size : int
        Size for a run that can be counted in seconds too, which takes up to 100 times as long.
    data : str or None
        Kind of data that `generate` writes for it; None: it takes no input.
    result : str
        Name of the result that depends on the data alone, not on the order of threads.
    checks : str
        Description of the check with ``check=True``.
    unit_bytes : float
        Bytes of the data, for each unit of size, at most.
    held : tuple of (float, int)
        Bytes of memory that it holds, as a factor and the power of the size; a workload that
        streams its data holds hardly any.
    growth : {"n", "n log n"} or None
        How its work grows with the size, so that a part may be counted instead of all; None: as
        the data happen to be.
    block : int or None
        Units that it holds at once, where that is an option of the program; more are written to
        temporary files of 8 bytes each.
    traditional : bool
        Whether it is not a datacenter workload, but for comparison.
    contracts : bool
        Whether multiplications and additions may be fused. Otherwise they may not, so that results
        and counts are the same on every machine.
    """

    name: str
    title: str
    summary: str
    forms: tuple[str, ...]
    size_unit: str
    default_size: int
    quick_size: int
    data: str | None
    result: str
    checks: str
    unit_bytes: float = 0.0
    held: tuple[float, int] = (0.0, 1)
    growth: Growth | None = None
    block: int | None = None
    traditional: bool = False
    contracts: bool = False

    def held_bytes(self, size: int) -> float:
        """Return the memory that it takes for a size, about."""
        factor, power = self.held
        return factor * float(min(size, self.block or size)) ** power

    def written_bytes(self, size: int) -> float:
        """Return the disk that it takes for its data and its temporary files, at most."""
        runs = 8.0 * size if self.block is not None and size > self.block else 0.0
        return self.unit_bytes * size + runs

    @property
    def source(self) -> Path:
        """Path of the source, one translation unit."""
        return _FOLDER / f"{self.name}.cpp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to compile a workload.

    Parameters
    ----------
    name : str
    flags : tuple of str
        Flags of the compiler.
    summary : str
    host : bool
        Whether to use this CPU's vectors too, as far as Valgrind decodes them.
    """

    name: str
    flags: tuple[str, ...]
    summary: str
    host: bool = False


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(
            name="baseline", flags=("-O0",), summary=("no optimisation: the paper's starting point")
        ),
        Variant(name="optimised", flags=("-O2",), summary="the paper's optimisation of ILP"),
        Variant(name="native", flags=("-O3",), summary="with this CPU's vectors", host=True),
    )
}
"""Ways to compile, by name."""

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            name="sort",
            title="Sort",
            summary="sort 64-bit integers by quick sort and merging",
            unit_bytes=21,
            held=(16, 1),
            growth="n log n",
            block=50_000_000,
            forms=("original", "prefetch", "simd"),
            size_unit="records",
            default_size=1_000_000,
            quick_size=100_000,
            data="integers",
            result="checksum",
            checks="ascending order, and the same count and sum as the input",
        ),
        Workload(
            name="grep",
            title="Grep",
            summary="count occurrences of a string, or lines that match an expression",
            unit_bytes=1,
            growth="n",
            forms=("original", "prefetch", "lines"),
            size_unit="bytes",
            default_size=10_000_000,
            quick_size=1_000_000,
            data="text",
            result="matches",
            checks="as many as the standard library's search finds; lines are not checked",
        ),
        Workload(
            name="wordcount",
            title="WordCount",
            summary="count the words of a text: all words, different words, the most frequent word",
            unit_bytes=1,
            growth="n",
            forms=("original", "prefetch"),
            size_unit="bytes",
            default_size=10_000_000,
            quick_size=1_000_000,
            data="text",
            result="words",
            checks=(
                "the count is the number of word ends in the text; no other word is more frequent"
            ),
        ),
        Workload(
            name="bayes",
            title="Bayes",
            summary="train naive Bayes on four of five reviews and classify the fifth",
            unit_bytes=1.01,
            held=(2.5, 1),
            forms=("original", "prefetch"),
            size_unit="bytes",
            default_size=5_000_000,
            quick_size=500_000,
            data="reviews",
            result="correct",
            checks="the probabilities of the terms of each category add up to 1",
        ),
        Workload(
            name="kmeans",
            title="Kmeans",
            summary="cluster points by Lloyd's iteration in float32",
            unit_bytes=90,
            held=(540, 1),
            forms=("original", "prefetch"),
            size_unit="points",
            default_size=100_000,
            quick_size=10_000,
            data="points",
            result="iterations",
            checks="each centre is the mean of its points",
        ),
        Workload(
            name="rankserv",
            title="RankServ",
            summary="answer 2000 requests by ranked search (BM25); a program of our own",
            unit_bytes=1400,
            held=(5600, 1),
            forms=("original", "prefetch"),
            size_unit="documents",
            default_size=20_000,
            quick_size=2_000,
            data="documents",
            result="checksum",
            checks="each document's score, looked up again",
        ),
        Workload(
            name="lu",
            title="HPL",
            summary="solve a dense system in fp64 by LU with partial pivoting, as HPL does",
            held=(16, 2),
            forms=("original",),
            size_unit="equations",
            default_size=500,
            quick_size=250,
            data=None,
            result="order",
            checks="HPL's residual is at most 16",
            traditional=True,
            contracts=True,
        ),
        Workload(
            name="bfs",
            title="Graph500",
            summary="search a Kronecker graph breadth first from 16 roots, as Graph500 does",
            unit_bytes=1408,
            held=(512, 1),
            forms=("original", "prefetch"),
            size_unit="vertices",
            default_size=65_536,
            quick_size=8_192,
            data="graph",
            result="traversed",
            checks="the five of Graph500, for each tree",
            traditional=True,
        ),
        Workload(
            name="stream",
            title="Stream",
            summary="copy, scale, add and triad of three arrays, ten times",
            held=(24, 1),
            forms=("original",),
            size_unit="elements",
            default_size=10_000_000,
            quick_size=2_000_000,
            data=None,
            result="elements",
            checks="each element is what STREAM's scalars become",
            traditional=True,
            contracts=True,
        ),
    )
}
"""The workloads, by name, in the order of the paper's tables."""


MPI_PROGRAMS = {"sort": "mpi_sort", "grep": "mpi_grep"}
"""Programs that do a workload on several ranks, by workload."""


def find(name: str) -> Workload:
    """Return a workload by its name.

    Raises
    ------
    ValueError
        If there is no workload of that name.
    """
    if name not in WORKLOADS:
        raise ValueError(f"name must be one of {', '.join(WORKLOADS)}, got {name!r}")
    return WORKLOADS[name]


def program_folder() -> Path:
    """Return the folder of the programs' sources."""
    return _FOLDER


def arguments(
    name: str,
    *,
    form: str | None = None,
    size: int | None = None,
    input: str | PathLike[str] | None = None,
    threads: int = 1,
    seed: int = 1,
    repeat: int = 1,
    check: bool = False,
    results: str | PathLike[str] | None = None,
    options: tuple[str, ...] = (),
) -> list[str]:
    """Return the command-line arguments of a workload's program.

    Parameters
    ----------
    name : str
        Name in `WORKLOADS`.
    form : str or None
        One of its forms; None: its original one.
    size : int or None
        Size in `Workload.size_unit`; None: the default. Ignored with ``input``.
    input : path or None
        File to read, as `generate` writes it. None: data made in memory from ``seed``.
    threads : int
    seed : int
        0 or more.
    repeat : int
        Number of runs of the measured part, each with a line of results.
    check : bool
        Whether to verify each result; the program fails if one is wrong.
    results : path or None
        File for the complete results. None: not written.
    options : tuple of str
        Further options of the program, for example ``("--pattern", "xyz")``.

    Raises
    ------
    ValueError
        If there is no such workload or form.
    """
    workload = find(name)
    form = form or workload.forms[0]
    if form not in workload.forms:
        raise ValueError(f"form must be one of {', '.join(workload.forms)}, got {form!r}")
    words = ["--form", form, "--threads", str(threads), "--seed", str(seed)]
    words += ["--repeat", str(repeat)]
    if input is not None:
        words += ["--input", fspath(input)]
    else:
        words += ["--generate", "--size", str(workload.default_size if size is None else size)]
    if check:
        words.append("--check")
    if results is not None:
        words += ["--results", fspath(results)]
    return [*words, *options]
