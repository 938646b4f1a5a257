"""The results behind each figure of the paper on rooflines of measured kernels."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import State
from ridgepoint.suites.kernels.paths import Direction, Work
from ridgepoint.suites.kernels.results import Case, Result

if TYPE_CHECKING:
    from ridgepoint.suites.kernels import Workload
    from ridgepoint.suites.kernels.sizes import Sizes

Kernel = tuple[str, ...]
"""A path of a figure: workloads of which the first that there is stands for all. One without an
implementation is every workload of its family, each a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFigure:
    """One figure.

    Parameters
    ----------
    name : str
        Number of the figure in the paper.
    title : str
    kernels : tuple of tuple of str
    state : {"cold", "warm"}
    threads : {"one", "all", "both"}
        Which results are drawn; ``all`` are those of the most threads.
    direction : {"total", "read", "write"}
        Direction of the bytes in the intensity.
    work : {"measured", "pseudo"}
    """

    name: str
    title: str
    kernels: tuple[Kernel, ...]
    state: State = "cold"
    threads: Literal["one", "all", "both"] = "one"
    direction: Direction = "total"
    work: Work = "measured"

    def wants(self, threads: int, most: int) -> bool:
        """Return whether results of so many threads are drawn, of at most `most`."""
        is_all = threads == most > 1
        return {"one": threads == 1, "all": is_all, "both": threads == 1 or is_all}[self.threads]


_BLAS_AND_FFT: tuple[Kernel, ...] = (
    ("daxpy.blas", "daxpy.mkl"),
    ("dgemv.blas", "dgemv.mkl"),
    ("dgemm.blas", "dgemm.mkl"),
    # Implementations that can use several threads for one transform come first.
    ("fft.mkl", "fft.fftw", "fft.ducc0", "fft.pocketfft", "fft.radix2"),
)
_FFT: tuple[Kernel, ...] = (("fft",),)

FIGURES = (
    SuiteFigure(name="2a", title="BLAS and FFT, cold, sequential", kernels=_BLAS_AND_FFT),
    SuiteFigure(
        name="2b",
        title="BLAS and FFT, cold, parallel",
        kernels=_BLAS_AND_FFT,
        threads="all",
    ),
    SuiteFigure(
        name="2c",
        title="BLAS and FFT, cold, reads only",
        kernels=_BLAS_AND_FFT,
        direction="read",
    ),
    SuiteFigure(
        name="2d",
        title="BLAS and FFT, cold, writes only",
        kernels=_BLAS_AND_FFT,
        direction="write",
    ),
    SuiteFigure(
        name="3",
        title="BLAS and FFT, warm, sequential",
        kernels=_BLAS_AND_FFT,
        state="warm",
    ),
    SuiteFigure(
        name="4",
        title="Matrix product step by step, cold",
        kernels=(("dgemm",),),
        threads="both",
    ),
    SuiteFigure(name="5a", title="FFTs, cold", kernels=_FFT),
    SuiteFigure(name="5b", title="FFTs, warm", kernels=_FFT, state="warm"),
    SuiteFigure(name="5c", title="FFTs, cold, pseudo flop", kernels=_FFT, work="pseudo"),
    SuiteFigure(
        name="5d",
        title="FFTs, warm, pseudo flop",
        kernels=_FFT,
        state="warm",
        work="pseudo",
    ),
    SuiteFigure(
        name="more",
        title="STREAM, stencil, sparse matrix, cold",
        # STREAM's copy does no floating-point work.
        kernels=(("stream.scale",), ("stream.add",), ("stream.triad",), ("stencil",), ("spmv",)),
    ),
)
"""G. Ofenbeck et al., "Applying the roofline model", ISPASS 2014, Figs. 2 to 5, and one of what
the paper does not have."""


def suite_cases(
    workloads: Sequence[Workload],
    *,
    threads: Sequence[int],
    names: Sequence[str] | None = None,
    sizes: Sizes,
) -> tuple[Case, ...]:
    """Return the cases that figures need, each once.

    Parameters
    ----------
    workloads : sequence of Workload
        Workloads that may be measured.
    threads : sequence of int
    names : sequence of str or None
        Names in `FIGURES`; None: all.
    sizes : callable
        Maps a workload to its sizes.

    Raises
    ------
    ValueError
        If no figure has one of the names.
    """
    by_name = {workload.name: workload for workload in workloads}
    wanted = (
        Case(workload=workload, n=n, state=figure.state, threads=number)
        for figure in _figures(names)
        for workload in _chosen(figure.kernels, by_name)
        for number in sorted(set(threads))
        if figure.wants(number, max(threads)) and (number == 1 or by_name[workload].parallel)
        for n in sizes(by_name[workload])
    )
    return tuple(dict.fromkeys(wanted))


def drawn_figures(
    results: Sequence[Result], *, names: Sequence[str] | None = None
) -> dict[SuiteFigure, list[Result]]:
    """Return the figures with measurements, each with its results by kernel.

    Parameters
    ----------
    results : sequence of Result
    names : sequence of str or None
        Names in `FIGURES`; None: all.

    Raises
    ------
    ValueError
        If no figure has one of the names.
    """
    found = {figure: _results_of(figure, results) for figure in _figures(names)}
    return {
        figure: own
        for figure, own in found.items()
        if any(result.measurement is not None for result in own)
    }


def absent_figures(
    results: Sequence[Result], *, names: Sequence[str] | None = None
) -> dict[str, str]:
    """Return why figures are not drawn, in one line each, by name."""
    absences = {}
    drawn = drawn_figures(results, names=names)
    for figure in _figures(names):
        if figure in drawn:
            continue
        own = _results_of(figure, results)
        if own:
            absences[figure.name] = f"no case could be measured, {own[0].case}: {own[0].failure}"
        else:
            wanted = ", ".join(" or ".join(kernel) for kernel in figure.kernels)
            of = {"one": "one thread", "all": "several threads", "both": "any threads"}
            absences[figure.name] = (
                f"no results of {wanted} with {figure.state} caches and {of[figure.threads]}"
            )
    return absences


def _figures(names: Sequence[str] | None) -> tuple[SuiteFigure, ...]:
    known = {figure.name: figure for figure in FIGURES}
    for name in names or ():
        if name not in known:
            raise ValueError(f"names must be of {', '.join(known)}, got {name!r}")
    return FIGURES if names is None else tuple(known[name] for name in names)


def _chosen(
    kernels: Iterable[Kernel], available: Iterable[str], *, preferred: Iterable[str] = ()
) -> list[str]:
    """Return the available workloads that represent some kernels.

    A preferred workload represents a kernel rather than an earlier one that is not preferred.
    """
    there, better = list(dict.fromkeys(available)), set(preferred)
    chosen = []
    for kernel in kernels:
        if kernel[0] in _families(there):
            chosen += [name for name in there if name.partition(".")[0] == kernel[0]]
        else:
            known = [name for name in kernel if name in there]
            chosen += sorted(known, key=lambda name: name not in better)[:1]
    return chosen


def _families(names: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _results_of(figure: SuiteFigure, results: Sequence[Result]) -> list[Result]:
    """Return the results in a figure, kernel by kernel."""
    most = max((result.case.threads for result in results), default=1)
    own = [
        result
        for result in results
        if result.case.state == figure.state and figure.wants(result.case.threads, most)
    ]
    order = _chosen(
        figure.kernels,
        [result.case.workload for result in own],
        preferred=[result.case.workload for result in own if result.measurement is not None],
    )
    return [result for name in order for result in own if result.case.workload == name]


def clock_hz(results: Iterable[Result], machine: Machine) -> float | None:
    """Return the core clock of the machine under load, or else what the system reported."""
    # What a virtual machine reports is the nominal clock, far from the real one.
    if machine.host.frequency_hz is not None:
        return machine.host.frequency_hz
    clocks = [
        clock
        for result in results
        if result.measurement is not None
        and (clock := result.measurement.context.frequency_hz) is not None
    ]
    return statistics.median(clocks) if clocks else None
