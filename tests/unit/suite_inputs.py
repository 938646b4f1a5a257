"""Literal results of the reference suite for the tests of its figures."""

from figure_inputs import flop, measurement

from ridgepoint.suites.kernels.results import Case, Expected, Result


def result(
    workload="daxpy.blas",
    n=1_000_000,
    *,
    state="cold",
    threads=1,
    work=2_000_000,
    moved=(16_000_000, 8_000_000, 0),
    runtime_s=0.001,
    pseudo_flop=None,
):
    """Return a measured case; `work` is fp64, `moved` as `measurement` has it."""
    return Result(
        case=Case(workload=workload, n=n, state=state, threads=threads),
        expected=Expected(
            work_flop=work,
            read_bytes=16_000_000,
            write_bytes=8_000_000,
            pseudo_flop=pseudo_flop,
        ),
        measurement=measurement(
            *([flop("fp64", work)] if work else []), dram=moved, runtime_s=runtime_s, cores=threads
        ),
    )


def failed(workload="daxpy.blas", n=1_000_000, *, state="cold", threads=1, failure="no memory"):
    """Return a case that could not be measured."""
    return Result(
        case=Case(workload=workload, n=n, state=state, threads=threads),
        expected=Expected(work_flop=2 * n, read_bytes=16 * n, write_bytes=8 * n),
        measurement=None,
        failure=failure,
    )
