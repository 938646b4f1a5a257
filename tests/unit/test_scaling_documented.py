"""The runs of docs/scaling.md: what is said of them there."""

from pathlib import Path

import pytest

from ridgepoint.kept.runs import read_runs
from ridgepoint.models.scaling import Problem
from ridgepoint.models.scaling.case_studies import fft
from ridgepoint.models.scaling.fits import fit_rates

DATA = Path(__file__).parents[1] / "data" / "scaling"


def polynomial(n):
    """Return what polynomial.c does: 2n flop and 24 byte for each of 2^25 numbers."""
    return Problem(name="", operations=2 * n * 2**25, dram_bytes=24 * 2**25 + 0 * n)


def codes(fit):
    """Return what is doubted."""
    return [caution.code for caution in fit.cautions]


def test_the_made_up_fft_gives_back_its_rates():
    """8 GFLOP/s, 16 GB/s, 2 GB/s, within 95 % intervals, and no doubt."""
    fit = fit_rates(read_runs(DATA / "fft_made_up.csv"), fft, size=2.0**24, network="parallel")
    truth = {"core rate": 8e9, "memory bandwidth": 16e9, "link bandwidth": 2e9}

    assert all(one.low < truth[one.name] < one.high for one in fit.parameters)
    assert codes(fit) == []


def test_a_measured_core_overlaps_computing_and_memory():
    """The roofline holds within noise, Hockney's sum does not."""
    runs = [run for run in read_runs(DATA / "polynomial.csv") if run.cores == 1]

    assert codes(fit_rates(runs, polynomial, overlap="full")) == []
    assert "model-does-not-hold" in codes(fit_rates(runs, polynomial, overlap="none"))


def test_two_cpus_of_a_shared_machine_are_no_two_ideal_cores():
    """The second adds little where computing limits, and with it the model does not hold."""
    runs = read_runs(DATA / "polynomial.csv")

    assert "model-does-not-hold" in codes(fit_rates(runs, polynomial, overlap="full"))


@pytest.mark.parametrize("name", ["fft_made_up.csv", "polynomial.csv"])
def test_the_files_say_how_they_were_made(name):
    """In their first line, which a reader of runs skips."""
    assert (DATA / name).read_text().startswith("# ")
