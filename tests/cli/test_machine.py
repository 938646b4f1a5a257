"""``ridgepoint machine --check``: what a fleet's script sees."""

import json
import platform
from dataclasses import replace

import pytest
from core_inputs import MEASUREMENT, ceiling, machine_of

from ridgepoint.core.documents import encode
from ridgepoint.core.estimate import Estimate
from ridgepoint.kept.archive import Archive

TIGHT = (99.9e9, 100e9, 100e9, 100e9, 100e9, 100.1e9)


def bench(factor=1.0):
    """Return a machine whose DRAM copy is this many times the baseline's."""
    copy = replace(
        ceiling("dram", 1.0, threads=2, name="copy"), rate=Estimate(s * factor for s in TIGHT)
    )
    fma = replace(ceiling("fp64", 1.0, name="fma 512-bit"), rate=Estimate(TIGHT))
    return machine_of(fma, copy, cores=2)


@pytest.fixture
def check(cli, monkeypatch):
    """Give a check of a machine that is so many times as fast as the baseline's file."""
    cli.machine.write_bytes(encode(bench()))

    def run(factor, *arguments, baseline=None, factor_again=None):
        monkeypatch.setattr("ridgepoint.ceilings.characterize", lambda **_: bench(factor))
        again = factor if factor_again is None else factor_again
        monkeypatch.setattr(
            "ridgepoint.ceilings.measured_again",
            lambda machine, only, **_: bench(again) if only == {("dram", "copy")} else machine,
        )
        return cli("machine", "--check", baseline or cli.machine, *arguments)

    return run


@pytest.fixture
def no_measurement(monkeypatch):
    """Fail if anything is measured."""
    monkeypatch.setattr("ridgepoint.ceilings.characterize", lambda **_: pytest.fail("ran"))


def test_planted_fall_is_named_and_fails(check, cli):
    """Exit status 1, the ceiling and its change; what was measured is kept."""
    status, out, _ = check(0.8)

    assert status == 1
    assert "DRAM copy" in out
    assert "-20.0 %" in out
    assert "1 same" in out
    assert max(map(len, out.splitlines())) <= 80
    with Archive(cli.archive) as archive:
        assert len(archive.records("machine")) == 1


@pytest.mark.parametrize(
    ("factor", "options", "expected"),
    [(1.0, (), 0), (0.97, (), 0), (0.97, ("--tolerance", "2"), 1), (1.3, (), 0)],
)
def test_status_says_whether_a_ceiling_fell(check, factor, options, expected):
    """Beyond the tolerance only; a rise is no failure."""
    assert check(factor, *options)[0] == expected


def test_fall_that_does_not_last_is_none(check):
    """A neighbour was busy for half a minute: measured again, it is as fast as before."""
    status, out, _ = check(0.8, factor_again=1.0)

    assert status == 0
    assert "2 same" in out


def test_json_is_one_object(check):
    """With every ceiling."""
    status, out, _ = check(0.8, "--json")
    document = json.loads(out)

    assert status == 1
    assert (document["kind"], document["fell"], document["cautions"]) == ("check", 1, [])
    assert document["ceilings"][1] == {
        "resource": "dram",
        "name": "copy",
        "threads": 2,
        "part": None,
        "verdict": "fell",
        "baseline_median": 100e9,
        "median": 80e9,
        "ratio": 0.8,
        "low": None,
        "high": None,
    }


def test_baseline_by_its_number(check, cli):
    """As 'ridgepoint list' gives it."""
    with Archive(cli.archive) as archive:
        number = archive.keep_machine(bench())

    assert check(0.8, baseline=number)[0] == 1


@pytest.mark.usefixtures("no_measurement")
@pytest.mark.parametrize("baseline", ["1", "7", "9" * 30, "/no/such.json", "broken.json"])
def test_baseline_that_is_none_is_refused_before_measuring(cli, monkeypatch, baseline):
    """A measurement, a number and a file that are not there, a damaged file: one line each."""
    monkeypatch.chdir(cli.folder)
    (cli.folder / "broken.json").write_text("{")
    with Archive(cli.archive) as archive:
        archive.keep_measurement(MEASUREMENT, None)
    status, out, err = cli("machine", "--check", baseline)

    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert baseline in err


@pytest.mark.usefixtures("no_measurement")
@pytest.mark.parametrize("options", [("--tolerance", "5"), ("--check", "1", "--tolerance", "nan")])
def test_tolerance_without_use_or_sense_is_refused(cli, options):
    """Before anything is measured."""
    status, out, err = cli("machine", *options)

    assert (status, out) == (2, "")
    assert "--tolerance" in err


@pytest.mark.usefixtures("no_measurement")
@pytest.mark.parametrize(
    "options", [("--explain", "l1 copy", "--quick"), ("--explain", "l1 copy", "--check", "1")]
)
def test_explanation_goes_with_nothing_that_measures_more(cli, options):
    """One thing at a time."""
    status, out, err = cli("machine", *options)

    assert (status, out) == (2, "")
    assert "--explain" in err


def test_ceiling_that_is_none_is_refused_before_measuring(cli):
    """With the names that begin so."""
    status, out, err = cli("machine", "--explain", "fp64 fma")

    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "fp64 fma scalar" in err


@pytest.mark.hardware
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the mnemonics are of x86-64")
def test_explanation_shows_code_samples_and_reasons(cli):
    """What runs is what the pseudo-code says: the clock's frequency, and a plot, too."""
    figure = cli.folder / "samples.svg"
    status, out, _ = cli("machine", "--explain", "fp64 add 128-bit", "-o", figure)

    assert status == 0
    for part in ("x[k] + (a, b)[u % 2]", "fadd <2 x double>", "addpd xmm", "o sample", "Hz"):
        assert part in out
    assert "left out" in figure.read_text() or "sample" in figure.read_text()
    with Archive(cli.archive) as archive:
        assert archive.records() == []


@pytest.mark.hardware
def test_explanation_as_json_has_the_whole_code(cli):
    """For every place."""
    status, out, _ = cli("machine", "--explain", "dram chase", "--json")
    document = json.loads(out)

    assert (status, document["kind"]) == (0, "explanation")
    first = document["places"][0]
    assert first["ceiling"]["threads"] == 1
    assert first["ir"].startswith("define void @kernel")
    assert len(first["samples"]) == first["ceiling"]["rate"]["n"] + len(
        first["ceiling"]["disturbed"]
    )
