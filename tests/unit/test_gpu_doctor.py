"""What the doctor says of a GPU: none, unusable, or found."""

import pytest
from scripted_gpu import ScriptedGpu

from ridgepoint import doctor
from ridgepoint.ceilings.gpu.driver import gpu_is_here
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.ncu import NcuMeter


@pytest.fixture
def gpu_here(monkeypatch):
    """Let there be a GPU."""
    monkeypatch.setattr(doctor, "gpu_is_here", lambda: True)


def device(folder, *, vendor, kind):
    """Write what the kernel tells of a device on the bus."""
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "class").write_text(f"{kind}\n")


def test_host_without_a_gpu_misses_nothing(monkeypatch):
    """Most hosts have none: that is no failure."""
    monkeypatch.setattr(doctor, "gpu_is_here", lambda: False)
    finding = doctor._gpu()

    assert finding.works
    assert finding.cost is None
    assert "nothing is missing" in finding.detail


@pytest.mark.usefixtures("gpu_here")
def test_gpu_that_cannot_be_used_says_why(monkeypatch):
    """With what to do, and what that costs."""

    def refuse():
        raise MeterUnavailable("cannot", reason="CuPy is not installed", remedy="install it")

    monkeypatch.setattr(doctor, "open_device", refuse)
    finding = doctor._gpu()

    assert not finding.works
    assert (finding.detail, finding.remedy) == ("CuPy is not installed", "install it")
    assert "roofs are not measured" in finding.cost


@pytest.mark.usefixtures("gpu_here")
@pytest.mark.parametrize("has_ncu", [True, False])
def test_gpu_that_is_found_is_named(monkeypatch, tmp_path, has_ncu):
    """With what measures it, and what counts its kernels or lacks for that."""
    monkeypatch.setattr(doctor, "open_device", ScriptedGpu)
    if has_ncu:
        monkeypatch.setattr(NcuMeter, "why_unavailable", lambda meter: None)
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
    finding = doctor._gpu()

    assert finding.works
    assert finding.detail.startswith("NVIDIA Made-Up 100: ridgepoint machine --device gpu")
    assert ("--meter ncu" in finding.detail) == has_ncu
    assert (finding.cost is None) == has_ncu


@pytest.mark.parametrize(
    ("vendor", "kind", "is_gpu"),
    [
        ("0x10de", "0x030200", True),  # a 3D controller: a data centre's GPU
        ("0x10de", "0x030000", True),
        ("0x10de", "0x020700", False),  # an InfiniBand card of the same vendor
        ("0x1002", "0x030000", False),
    ],
)
def test_gpu_is_told_from_other_devices_of_the_bus(tmp_path, monkeypatch, vendor, kind, is_gpu):
    """By vendor and class."""
    monkeypatch.setattr("ridgepoint.ceilings.gpu.driver.driver_is_missing", lambda: True)
    device(tmp_path / "0000:65:00.0", vendor=vendor, kind=kind)

    assert gpu_is_here(tmp_path) is is_gpu
    assert not gpu_is_here(tmp_path / "none")
