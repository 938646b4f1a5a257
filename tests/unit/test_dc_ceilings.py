"""Ceilings by Eqs. (4) and (8) beside the measured ones."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling
from ridgepoint.models.dc_roofline import by_design
from ridgepoint.published.machines import load
from ridgepoint.show.tables.datacenter_tables import ceilings


def bop(name, rate, theoretical=None, threads=2):
    """Return a ceiling of basic operations."""
    return Ceiling(
        resource="bop", name=name, threads=threads, unit="BOP/s", rate=Estimate([rate]),
        theoretical=theoretical,
    )  # fmt: skip


def machine(*measured):
    """Return a measured machine of two cores."""
    one = load("e5645")
    return replace(one, source=None, host=replace(one.host, cores=2), ceilings=measured)


# Two cores of 4 GHz with four vector ports of 512 bit: 2 x 4e9 x 4 x 8 = 256e9.
ZEN5 = machine(
    bop("add scalar", 45e9, 48e9),
    bop("add 512-bit", 250e9, 256e9),
    bop("add 512-bit", 125e9, 128e9, threads=1),
    bop("mixed scalar", 64e9),
    bop("mixed 512-bit", 310e9, 384e9),
)


def test_designs_are_the_equations_and_measured_are_the_mixes():
    """Peak 256e9; a quarter of it; times eight lanes, which is twice the peak."""
    peak, ilp, simd = by_design(ZEN5)

    assert [row.design for row in (peak, ilp, simd)] == pytest.approx([256e9, 64e9, 512e9])
    assert [row.measured.median for row in (peak, ilp, simd)] == [310e9, 64e9, 310e9]


def test_without_theory_the_design_is_unknown():
    """The measured ceilings are there all the same."""
    rows = by_design(machine(bop("add 256-bit", 1e9), bop("mixed scalar", 2e9)))

    assert [row.design for row in rows] == [None, None, None]
    assert [row.measured is None for row in rows] == [True, False, True]


def test_the_table_says_unknown_and_never_zero():
    """A machine of which nothing was measured has a table, too."""
    file = io.StringIO()
    Console(file=file, width=100).print(ceilings(machine()))

    assert file.getvalue().count("unknown") == 9


def test_the_table_shows_both_and_their_ratio():
    """310 of 256 GBOP/s: addresses come on top of what Eq. (4) counts."""
    file = io.StringIO()
    Console(file=file, width=100).print(ceilings(ZEN5))

    assert "256 GBOP/s  310 GBOP/s  121 %" in file.getvalue()
