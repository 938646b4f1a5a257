"""Settings and small literal inputs that the unit tests share."""

import pytest
from core_inputs import MACHINE, MEASUREMENT
from hypothesis import settings

from ridgepoint.core.machine import Machine
from ridgepoint.core.measurement import Measurement

# Shared runners stall: a deadline would test them, not us. A failure prints how to repeat it.
settings.register_profile("ridgepoint", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("ridgepoint")


@pytest.fixture(scope="session")
def machine() -> Machine:
    """Four cores of 10 Gflop/s; DRAM 5 GB/s with one core, 8 GB/s with all."""
    return MACHINE


@pytest.fixture(scope="session")
def measurement() -> Measurement:
    """One Gflop and one GB at DRAM in a quarter of a second, one core busy."""
    return MEASUREMENT
