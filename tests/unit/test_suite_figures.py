"""The figures of the reference suite: which results each is of, and which cases they need."""

from dataclasses import replace

import pytest
from figure_inputs import CONTEXT, MACHINE
from suite_inputs import failed, result

from ridgepoint.show.charts.suite_figures import suite_figures
from ridgepoint.suites.kernels import find
from ridgepoint.suites.kernels.figures import FIGURES, absent_figures, suite_cases
from ridgepoint.suites.kernels.sizes import of_figures, quick

NAMES = ["2a", "2b", "2c", "2d", "3", "4", "5a", "5b", "5c", "5d", "more"]
LIBRARIES = ("daxpy.blas", "dgemv.blas", "dgemm.blas")
FFTS = ("fft.radix2", "fft.ducc0", "fft.pocketfft")


def fft(workload, **changes):
    """Return a measured transform of 1024 points."""
    return result(workload, 1024, work=40_000, moved=(33_000, 16_000, 0), runtime_s=1e-5,
                  pseudo_flop=51_200.0, **changes)  # fmt: skip


ALL = (
    *(
        result(name, 300, state=state, threads=threads)
        for name in LIBRARIES
        for state, threads in (("cold", 1), ("cold", 2), ("warm", 1))
    ),
    *(fft(name, state=state) for name in FFTS for state in ("cold", "warm")),
    fft("fft.ducc0", threads=2),
    result("dgemm.naive", 100),
    result("dgemm.blocked", 100),
    *(result(name) for name in ("stream.copy", "stream.triad", "stencil.5point", "spmv.csr")),
)
DRAWN = suite_figures(ALL, MACHINE)


def points_in(chart):
    """Return the marks of kernels in a chart."""
    return [mark for mark in chart.marks if "ridge" not in mark.name]


def names_in(chart):
    """Return the names of the paths of a chart, in their order."""
    return list(dict.fromkeys(mark.name for mark in points_in(chart)))


def rates_in(chart):
    """Return the performances of the points of a chart."""
    return [mark.at[1] for mark in points_in(chart)]


def handwritten(*names):
    """Return workloads that need no other package."""
    return [find(name) for name in names]


def test_every_figure_of_the_paper_is_there():
    """2(a) to 5(d), and one more."""
    assert [figure.name for figure in FIGURES] == NAMES
    assert list(DRAWN) == NAMES


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("2a", [*LIBRARIES, "fft.ducc0"]),
        ("2b", [*LIBRARIES, "fft.ducc0"]),
        ("2c", [*LIBRARIES, "fft.ducc0"]),
        ("2d", [*LIBRARIES, "fft.ducc0"]),
        ("3", [*LIBRARIES, "fft.ducc0"]),
        (
            "4",
            [
                "dgemm.blas, 1 thread",
                "dgemm.blas, 2 threads",
                "dgemm.naive, 1 thread",
                "dgemm.blocked, 1 thread",
            ],
        ),
        ("5a", list(FFTS)),
        ("5b", list(FFTS)),
        ("5c", list(FFTS)),
        ("5d", list(FFTS)),
        ("more", ["stream.triad", "stencil.5point", "spmv.csr"]),
    ],
)
def test_each_figure_takes_its_kernels(name, paths):
    """One FFT library beside the BLAS, the same in all four; every dgemm; every FFT."""
    assert names_in(DRAWN[name]) == paths


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("2a", "Operational intensity W/Q [flop/byte]"),
        ("2c", "Operational intensity W/Qr, reads only [flop/byte]"),
        ("2d", "Operational intensity W/Qw, writes only [flop/byte]"),
        ("5d", "Operational intensity W/Q [pseudo flop/byte]"),
    ],
)
def test_the_axis_says_what_the_intensity_is_of(name, label):
    """All bytes, those read, those written; real or pseudo flop."""
    assert DRAWN[name].x.label == label


def test_parallel_figures_are_of_the_most_threads():
    """Of one, two and four."""
    results = [result(threads=threads, runtime_s=0.004 / threads) for threads in (1, 2, 4)]
    drawn = suite_figures(results, replace(MACHINE, host=replace(MACHINE.host, cores=4)))

    assert rates_in(drawn["2b"]) == [pytest.approx(2e9)]
    assert rates_in(drawn["2a"]) == [pytest.approx(0.5e9)]


def test_a_library_that_could_not_be_measured_leaves_its_place_to_another():
    """Of FFTW there are failures only."""
    drawn = suite_figures([failed("fft.fftw", 1024), fft("fft.ducc0")], MACHINE)

    assert names_in(drawn["2a"]) == ["fft.ducc0"]


def test_a_kernel_that_could_not_be_measured_is_named_in_the_figure():
    """Beside one that could."""
    drawn = suite_figures([result(), failed("dgemm.blas", 700)], MACHINE, names=["2a"])

    assert "no point for dgemm.blas n = 700, cold, 1 thread: no memory" in drawn["2a"].notes


def test_a_figure_without_results_says_why_in_one_line():
    """No result at all, or failures only."""
    results = [result(), failed("fft.ducc0", 1024, state="warm")]

    assert list(suite_figures(results, MACHINE)) == ["2a", "2c", "2d"]
    absences = absent_figures(results)
    assert list(absences) == ["2b", "3", "4", "5a", "5b", "5c", "5d", "more"]
    assert absences["5a"] == "no results of fft with cold caches and one thread"
    assert absences["3"] == (
        "no case could be measured, fft.ducc0 n = 1024, warm, 1 thread: no memory"
    )
    assert not any("\n" in reason for reason in absences.values())


def test_the_axis_in_cycles_takes_the_clock_under_load():
    """3.676 GHz were measured; what the system reports, 2.6, may be nominal."""
    measured = result()
    measured = replace(
        measured,
        measurement=replace(measured.measurement, context=replace(CONTEXT, frequency_hz=2.6e9)),
    )
    unknown = replace(MACHINE, host=replace(MACHINE.host, frequency_hz=None))
    own, reported, none = (
        suite_figures([one], machine, names=["2a"], in_cycles=True)["2a"]
        for one, machine in ((measured, MACHINE), (measured, unknown), (result(), unknown))
    )

    assert dict((text, value) for value, text in own.right.ticks)["1"] == 3.676e9
    assert dict((text, value) for value, text in reported.right.ticks)["1"] == 2.6e9
    assert none.right is None
    assert none.notes[0] == "no axis in flop/cycle: the core clock is unknown"


def test_an_unknown_figure_is_refused_by_name():
    """With those that there are."""
    with pytest.raises(ValueError, match=r"names must be of 2a, .*got '6'"):
        suite_figures(ALL, MACHINE, names=["6"])


# Cases.


def test_cases_are_those_that_the_figures_draw():
    """Of the textbook's FFT: one thread, cold and warm; of the loops of dgemm: cold alone."""
    cases = suite_cases(handwritten("fft.radix2", "dgemm.naive"), threads=(1, 2), sizes=quick)
    kinds = {(case.workload, case.state, case.threads) for case in cases}

    assert kinds == {
        ("fft.radix2", "cold", 1),
        ("fft.radix2", "warm", 1),
        ("dgemm.naive", "cold", 1),
    }
    assert len(set(cases)) == len(cases)


def test_sizes_are_of_the_workloads_own_series_from_its_smallest():
    """Few enough that all figures take minutes."""
    workload = find("fft.radix2")
    sizes = [
        case.n for case in suite_cases([workload], threads=(1,), names=["5a"], sizes=of_figures(()))
    ]

    assert sizes == sorted(set(sizes) & set(workload.sizes))
    assert sizes[0] == 32
    assert len(sizes) <= 6


def test_results_of_the_cases_draw_the_figures_that_asked_for_them():
    """Whatever workloads there are."""
    workloads = handwritten("fft.radix2", "dgemm.blocked", "stencil.5point")
    results = [
        result(case.workload, case.n, state=case.state, threads=case.threads, pseudo_flop=1e6)
        for case in suite_cases(workloads, threads=(1,), names=["5d", "4", "more"], sizes=quick)
    ]

    assert set(suite_figures(results, MACHINE)) >= {"5d", "4", "more"}


def test_without_one_thread_no_sequential_case_is_asked_for():
    """Of code that knows one thread only, none is."""
    assert suite_cases(handwritten("fft.radix2"), threads=(2,), sizes=quick) == ()
