"""The device through CuPy, on a CuPy of the CPU: what is launched, and what is said if it fails."""

import sys

import pytest
from fake_cupy import FakeCupy, FakeRuntimeError

from ridgepoint.ceilings.gpu import cupy_device, open_device, smi
from ridgepoint.ceilings.gpu.device import Sizes
from ridgepoint.ceilings.gpu.kernels import Chain, Product, Stream
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable

SIZES = Sizes(buffer_bytes=2 * 16384 * 2, passes=2, blocks=2, matrix=16)


@pytest.fixture(autouse=True)
def no_nvidia_smi(monkeypatch):
    """Let nothing be told of a device that may be here."""
    monkeypatch.setattr(smi, "_told", lambda bus, fields: None)
    monkeypatch.setattr(cupy_device, "driver_is_missing", lambda: False)


@pytest.fixture
def cupy(monkeypatch):
    """Give a CuPy of the CPU in the place of the real one."""
    return FakeCupy().install(monkeypatch)


def test_facts_are_in_base_units(cupy):
    """MHz and kHz end here: 1215 MHz of HBM2, a bus of 5120 bit."""
    facts = open_device(0).facts

    assert (facts.name, facts.generation, facts.multiprocessors) == ("NVIDIA Fake", "sm_80", 2)
    assert (facts.memory_hz, facts.bus_bits) == (1.215e9, 5120)
    assert (facts.memory_bytes, facts.free_bytes) == (2 * 10**9, 10**9)
    assert facts.ecc is None
    assert facts.software == ("CuPy 14.0", "CUDA 12080", "driver 12090")


def test_stream_launches_what_it_claims(cupy):
    """4 ms between the events; two launches and one before, on all blocks, of all passes."""
    prepared = open_device(0).prepare(Stream(operation="copy"), SIZES)
    elapsed_s = prepared.time_s(2)
    launched = [call for call in cupy.calls if call[0] == "stream_copy"]

    assert elapsed_s == pytest.approx(0.004)
    assert prepared.work == 2 * SIZES.buffer_bytes
    assert [(grid, block) for _, grid, block, _ in launched] == [((2,), (256,))] * 3
    assert launched[0][3][0].nbytes == launched[0][3][1].nbytes == SIZES.buffer_bytes
    assert prepared.why_wrong() is None


def test_copy_that_does_not_copy_is_found(cupy):
    """Nothing ran: both buffers hold what they were filled with."""
    prepared = open_device(0).prepare(Stream(operation="copy"), SIZES)

    assert "differs" in prepared.why_wrong()


@pytest.mark.parametrize("precision", ["fp64", "fp32"])
def test_chain_that_ends_elsewhere_is_found(cupy, precision):
    """Before it ran, the result is what memory was filled with; afterwards it is 12."""
    prepared = open_device(0).prepare(Chain(precision=precision), SIZES)
    before = prepared.why_wrong()
    prepared.time_s(1)

    assert "instead of 12" in before
    assert prepared.why_wrong() is None


@pytest.mark.parametrize(
    ("precision", "compute"), [("fp64", 70), ("fp32", 68), ("tf32", 77), ("fp16", 68), ("bf16", 68)]
)
def test_products_multiply_in_the_precision_that_they_name(cupy, precision, compute):
    """The numbers of cublas_api.h; the fake multiplies what lies at the addresses it is given."""
    prepared = open_device(0).prepare(Product(precision=precision), SIZES)
    before = prepared.why_wrong()
    prepared.time_s(1)

    assert before is not None
    assert cupy.compute == [compute] * 2
    assert prepared.why_wrong() is None
    assert prepared.work == 2 * 16**3


def test_clock_is_cycles_over_time(cupy):
    """3 million cycles in 2 million nanoseconds."""
    assert open_device(0).clock_hz() == pytest.approx(1.5e9)


def refusal():
    """Return what is said where no device can be opened."""
    with pytest.raises(MeterUnavailable) as caught:
        open_device(0)
    return str(caught.value)


def test_no_cupy_says_how_to_install_it(monkeypatch):
    """The extra brings it."""
    monkeypatch.setitem(sys.modules, "cupy", None)

    assert refusal() == (
        "cannot measure a GPU: CuPy is not installed; pip install 'ridgepoint[gpu]'"
    )


def test_no_driver_is_told_from_no_device(monkeypatch):
    """What CuPy 14 says on a host without libcuda: error 35; with one, that it is too old."""
    old = FakeRuntimeError(35, "cudaErrorInsufficientDriver: CUDA driver version is insufficient")
    FakeCupy(count=old).install(monkeypatch)
    too_old = refusal()
    monkeypatch.setattr(cupy_device, "driver_is_missing", lambda: True)

    assert "there is no NVIDIA driver (libcuda.so.1)" in refusal()
    assert "driver is older than the CUDA" in too_old


@pytest.mark.parametrize("count", [0, FakeRuntimeError(100, "cudaErrorNoDevice")])
def test_driver_without_a_device(monkeypatch, count):
    """Whether it counts none or says so."""
    FakeCupy(count=count).install(monkeypatch)

    assert "there is no device" in refusal()


def test_driver_that_does_not_start(monkeypatch):
    """Its own words, without the number."""
    FakeCupy(count=FakeRuntimeError(3, "cudaErrorInitializationError: no")).install(monkeypatch)

    assert "does not start (cudaErrorInitializationError: no)" in refusal()


def test_device_of_another_number(cupy):
    """How many there are."""
    with pytest.raises(MeterUnavailable, match="cannot measure GPU 3: there are 1 here"):
        open_device(3)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (lambda cupy: cupy.cuda.memory.OutOfMemoryError("..."), "its memory is full"),
        (lambda cupy: FakeRuntimeError(209, "no kernel image"), "does not support the device"),
        (lambda cupy: FakeRuntimeError(700, "illegal address"), "CUDA says: illegal address"),
        (
            lambda cupy: cupy.cuda.compiler.CompileException(
                "nvrtc: error: invalid value for --gpu-architecture (-arch)"
            ),
            "does not support the device",
        ),
        (
            lambda cupy: ImportError('Failure finding "libnvrtc.so.13 or libnvrtc.so.12"'),
            "libraries of CUDA are missing",
        ),
    ],
)
def test_what_the_library_raises_is_one_line(monkeypatch, error, said):
    """Full memory, a device that is too old, libraries that are missing."""
    FakeCupy(fails=error).install(monkeypatch)
    device = open_device(0)
    with pytest.raises(CannotMeasure, match=said) as caught:
        device.prepare(Stream(operation="load"), SIZES)

    assert "\n" not in str(caught.value)


def test_nvidia_smi_tells_for_how_long_each_reason_held():
    """Microseconds; what a device does not have is left out; of nothing known, nothing."""
    assert smi.parse_held_back(("2500000 us", "[N/A]", "0", "0")) == {
        "the power limit": 2.5,
        "too much heat": 0.0,
        "the power supply": 0.0,
    }
    assert smi.parse_held_back(("[N/A]", "[N/A]", "[N/A]", "[N/A]")) is None
