"""As much of CuPy as a device needs, on the CPU: memory is NumPy's, events tell a set time."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np


class FakeRuntimeError(RuntimeError):
    """As CuPy's: with the number of the error."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class FakeMemory(np.ndarray):
    """An array that knows its address, and that must be brought to the host."""

    @property
    def ptr(self):
        """Where it lies."""
        return self.ctypes.data

    @property
    def data(self):
        """What CuPy's arrays have."""
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        """Return a copy for NumPy."""
        return np.array(self)


def numbers_at(pointer, kind, n):
    """Return n x n numbers of cuBLAS's kind that lie at an address, as fp64."""
    types = {1: np.float64, 0: np.float32, 2: np.float16, 14: np.uint16}
    item = np.dtype(types[kind])
    raw = (ctypes.c_char * (n * n * item.itemsize)).from_address(pointer)
    return np.frombuffer(raw, dtype=item).reshape(n, n)


def widened(numbers, kind):
    """Return numbers as fp64, bf16 too."""
    if kind == 14:
        return (numbers.astype(np.uint32) << 16).view(np.float32).astype(float)
    return numbers.astype(float)


class FakeCupy(ModuleType):
    """The module; `calls` holds the kernels that were launched, and the products."""

    __version__ = "14.0"
    int64, uint64 = np.int64, np.uint64

    def __init__(self, *, count=1, elapsed_ms=4.0, fails=None):
        super().__init__("cupy")
        self.calls, self.compute = [], []
        self._elapsed_ms, self._fails = elapsed_ms, fails
        runtime = SimpleNamespace(
            CUDARuntimeError=FakeRuntimeError,
            getDeviceCount=lambda: self._count(count),
            getDeviceProperties=lambda index: {
                "name": b"NVIDIA Fake",
                "major": 8,
                "minor": 0,
                "multiProcessorCount": 2,
            },
            memGetInfo=lambda: (10**9, 2 * 10**9),
            driverGetVersion=lambda: 12090,
            runtimeGetVersion=lambda: 12080,
        )
        self.cuda = ModuleType("cupy.cuda")
        self.cuda.runtime = runtime
        self.cuda.driver = SimpleNamespace(CUDADriverError=type("E", (FakeRuntimeError,), {}))
        self.cuda.memory = SimpleNamespace(OutOfMemoryError=type("O", (MemoryError,), {}))
        self.cuda.compiler = SimpleNamespace(CompileException=type("C", (Exception,), {}))
        self.cuda.Device = lambda index: FakeDevice()
        self.cuda.Event = FakeEvent
        self.cuda.get_elapsed_time = lambda began, ended: self._elapsed_ms
        self.cuda.cublas = ModuleType("cupy.cuda.cublas")
        self.cuda.cublas.gemmEx = self._product
        self.cuda.device = ModuleType("cupy.cuda.device")
        self.cuda.device.get_cublas_handle = lambda: 77

    def install(self, monkeypatch):
        """Put it where imports look."""
        monkeypatch.setitem(sys.modules, "cupy", self)
        monkeypatch.setitem(sys.modules, "cupy.cuda", self.cuda)
        monkeypatch.setitem(sys.modules, "cupy.cuda.cublas", self.cuda.cublas)
        monkeypatch.setitem(sys.modules, "cupy.cuda.device", self.cuda.device)
        return self

    def empty(self, n, dtype):
        """Return memory with anything in it."""
        if self._fails is not None:
            raise self._fails(self)
        return np.full(n, 7, dtype=dtype).view(FakeMemory)

    zeros = empty

    def RawModule(self, code, options):  # noqa: N802 - CuPy's name
        """Return an object that launches nothing and writes down what it was given."""
        return SimpleNamespace(get_function=self._launcher)

    def _launcher(self, name):
        def launch(grid, block, arguments):
            self.calls.append((name, grid, block, arguments))
            memory = arguments[0]
            if name == "fill":
                _, _, keep, bits = arguments
                memory[:] = (np.uint64(0x0123456789ABCDEF) & keep) | bits
            if name == "clock_rate":
                memory[:] = [3_000_000, 2_000_000, 1]
            if name.startswith("chain"):
                kind = arguments[3].dtype
                arguments[1].view(kind)[:] = 12
            if name == "stream_copy":
                arguments[1][:] = arguments[0]

        return launch

    def _product(self, handle, op_a, op_b, m, n, k, one, a, a_kind, lda, *rest):
        b, b_kind, ldb, zero, c, c_kind, ldc, compute, algorithm = rest
        assert (handle, op_a, op_b, algorithm) == (77, 0, 0, -1)
        assert m == n == k == lda == ldb == ldc
        assert a_kind == b_kind == c_kind
        scale = ctypes.c_double if compute == 70 else ctypes.c_float
        assert (scale.from_address(one).value, scale.from_address(zero).value) == (1, 0)
        found = widened(numbers_at(a, a_kind, n), a_kind) @ widened(
            numbers_at(b, b_kind, n), b_kind
        )
        target = numbers_at(c, c_kind, n)
        if c_kind == 14:
            target[:] = (found.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        else:
            target[:] = found
        self.compute.append(compute)

    @staticmethod
    def _count(count):
        if isinstance(count, Exception):
            raise count
        return count


class FakeDevice:
    """The device that is current within a block."""

    pci_bus_id = "0000:01:00.0"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    @property
    def attributes(self):
        """What the driver tells."""
        return {
            "MemoryClockRate": 1_215_000,
            "GlobalMemoryBusWidth": 5120,
            "L2CacheSize": 40_000_000,
            "MaxThreadsPerMultiProcessor": 2048,
        }


class FakeEvent:
    """An event that has happened."""

    def record(self):
        """Do nothing."""

    def synchronize(self):
        """Do nothing."""
