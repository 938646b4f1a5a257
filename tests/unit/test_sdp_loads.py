"""The published loads against shares and hand checks of the model's own formulas."""

import math

import pytest

from ridgepoint.core.errors import RidgepointError
from ridgepoint.published.sdp_loads import product, products, source


def test_products_of_both_telescopes_are_there():
    """Two of SKA1-Low, three of SKA1-Mid, with their source."""
    assert list(products()) == ["low-ical", "low-dprepa", "mid1-ical", "mid1-dprepa", "mid2-dprepa"]
    assert "sdp-par-model" in source()


@pytest.mark.parametrize(("name", "share"), [("low-dprepa", 0.175), ("mid1-dprepa", 0.190)])
def test_imaging_is_a_fifth_of_the_whole(name, share):
    """The five stages over the total: DFT predict dominates."""
    assert product(name).imaging_share == pytest.approx(share, abs=5e-4)
    assert max(product(name).others.values()) > 0.5 * product(name).total


def test_the_shares_of_the_five_stages():
    """Grid and degrid .3438 each, transforms .1561 each, CLEAN .00025."""
    stages = product("LOW-DPREPA").stage_flop_per_s
    whole = sum(stages.values())

    assert stages["grid"] / whole == pytest.approx(0.3438, abs=5e-5)
    assert stages["degrid"] == stages["grid"]
    assert stages["fft"] / whole == pytest.approx(0.1561, abs=5e-5)
    assert stages["deconvolve"] / whole == pytest.approx(0.00025, abs=5e-6)


def test_the_model_s_formulas_give_the_published_loads():
    """2.5 W N^2 log2 N^2 / 600 s x 11 x 2 x 200; 2 (N^2 + 1000 P^2) 5 x 10 / 21600 s x 11 x 7."""
    pixels = 18357.59**2
    stages = product("low-dprepa").stages
    transform = 2.5 * 64.7943 * pixels * math.log2(pixels) / 600 * 11 * 2 * 200
    identify = 2 * (pixels + 1000 * 4097**2) * 5 * 10 / 21600 * 11 * 7

    assert stages["fft"] * 1e15 == pytest.approx(transform, rel=1e-5)
    assert stages["identify"] * 1e15 == pytest.approx(identify, rel=1e-5)


@pytest.mark.parametrize("name", list(products()))
def test_no_part_is_more_than_the_whole(name):
    """Parts add up to at most the total."""
    found = product(name)

    assert sum(found.stages.values()) + sum(found.others.values()) < found.total


def test_an_unknown_product_is_refused_with_those_there_are():
    """And the nearest one."""
    with pytest.raises(RidgepointError, match=r"only low-ical, low-dprepa.*did you mean 'mid1-ic"):
        product("mid-ical")
