"""A GPU through CuPy: the only module that imports it, and only when a device is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ridgepoint.ceilings.gpu import smi
from ridgepoint.ceilings.gpu.device import Facts, Prepared, Sizes
from ridgepoint.ceilings.gpu.driver import driver_is_missing
from ridgepoint.ceilings.gpu.kernels import (
    BLOCK_THREADS,
    CLOCK_STEPS,
    FORMATS,
    SOURCE,
    Chain,
    Product,
    Stream,
    Task,
)
from ridgepoint.core.errors import CannotMeasure, MeterUnavailable

_WHAT = "cannot measure a GPU"
_INSTALL = "pip install 'ridgepoint[gpu]'"

# cudaError_t, of driver_types.h: what the runtime says where there is no device to use.
_NO_DEVICE = 100
_INSUFFICIENT_DRIVER = 35
_NO_DRIVER_FILE = 34  # cudaErrorStubLibrary
_NO_KERNEL_IMAGE = 209
_SYSTEM_DRIVER_MISMATCH = 803

# cudaDataType_t and cublasComputeType_t, of library_types.h and cublas_api.h.
_OPERAND = {"fp64": 1, "fp32": 0, "fp16": 2, "bf16": 14}
_COMPUTE_FP32, _COMPUTE_FP64, _COMPUTE_TF32 = 68, 70, 77
_DEFAULT_ALGORITHM = -1
_NOT_TRANSPOSED = 0

_FACTOR, _TERM = 0.5, 0.75  # x * 0.5 + 0.75 goes to 1.5 and stays there
_CHAINS_END = 12.0  # 8 chains of it
_CHAIN_PASSES = 250  # 64000 flop of each thread: 0.3 ms to some 10 ms
_ROUNDING = 0.02
_NEVER = 0x5BD1E995


def open_cupy_device(index: int) -> CupyDevice:
    """Return a GPU of this host.

    Raises
    ------
    MeterUnavailable
        If CuPy, the driver or the device is not there; the message tells which.
    """
    cupy = _cupy()
    n_devices = _count(cupy)
    if not 0 <= index < n_devices:
        raise MeterUnavailable(
            f"cannot measure GPU {index}",
            reason=f"there are {n_devices} here, counted from 0",
            remedy="name another device: --device gpu:0; CUDA_VISIBLE_DEVICES may hide some",
        )
    return CupyDevice(cupy, index)


def _cupy() -> Any:
    """Return CuPy; say why if it is not there, or does not load."""
    try:
        return importlib.import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise _damaged(error) from error
        raise MeterUnavailable(_WHAT, reason="CuPy is not installed", remedy=_INSTALL) from error
    except (ImportError, OSError, RuntimeError) as error:
        if driver_is_missing():
            raise _no_driver() from error
        raise _damaged(error) from error


def _damaged(error: Exception) -> MeterUnavailable:
    return MeterUnavailable(
        _WHAT,
        reason=f"CuPy is installed but does not load ({first_line(error)})",
        remedy=f"reinstall it, and only one CuPy: {_INSTALL}",
    )


def _no_driver() -> MeterUnavailable:
    return MeterUnavailable(
        _WHAT,
        reason="CuPy is installed, but there is no NVIDIA driver (libcuda.so.1)",
        remedy="install the driver; in a container give it the GPU: docker run --gpus all",
    )


def _count(cupy: Any) -> int:
    """Return how many devices there are; say why if none can be used."""
    runtime = cupy.cuda.runtime
    try:
        n_devices = int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError as error:
        if driver_is_missing():
            raise _no_driver() from error
        if error.status in {_INSUFFICIENT_DRIVER, _NO_DRIVER_FILE, _SYSTEM_DRIVER_MISMATCH}:
            raise MeterUnavailable(
                _WHAT,
                reason="the NVIDIA driver is older than the CUDA for which this CuPy is built",
                remedy=(
                    "update the driver, or install the CuPy for its CUDA version (nvidia-smi "
                    "prints it)"
                ),
            ) from error
        if error.status != _NO_DEVICE:
            raise MeterUnavailable(
                _WHAT,
                reason=f"the NVIDIA driver does not start ({first_line(error)})",
                remedy="check nvidia-smi and dmesg",
            ) from error
        n_devices = 0
    except (ImportError, OSError, RuntimeError) as error:
        raise _damaged(error) from error
    if n_devices == 0:
        raise MeterUnavailable(
            _WHAT,
            reason="the driver is installed, but there is no device",
            remedy="check nvidia-smi, CUDA_VISIBLE_DEVICES, and which devices a container is given",
        )
    return n_devices


def first_line(error: BaseException) -> str:
    """Return what an error says, without the box that CuPy draws around it."""
    lines = [line.strip() for line in str(error).splitlines()]
    messages = [line for line in lines if line and set(line) - set("=-#*")]
    return next(iter(messages[-1:] or messages), type(error).__name__)


class CupyDevice:
    """One GPU; see `ridgepoint.ceilings.gpu.device.Device`."""

    def __init__(self, cupy: Any, index: int) -> None:
        self.cupy, self._index = cupy, index
        self._module: Any = None
        self._buffers: tuple[Any, Any] | None = None
        with self.current():
            self.facts = self._facts()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Use this device, and turn what the library raises into our errors."""
        with self._refusals(), self.cupy.cuda.Device(self._index):
            yield

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        cuda = self.cupy.cuda
        try:
            yield
        except cuda.memory.OutOfMemoryError as error:
            raise CannotMeasure(
                _WHAT,
                reason="its memory is full",
                remedy="end other programs on the device: nvidia-smi lists them",
            ) from error
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise self._refused(error, too_old=error.status == _NO_KERNEL_IMAGE) from error
        except (ImportError, OSError, RuntimeError, cuda.compiler.CompileException) as error:
            if "libraries" in str(error) or "Failure finding" in str(error):
                raise CannotMeasure(
                    _WHAT,
                    reason=f"libraries of CUDA are missing ({first_line(error)})",
                    remedy=f"{_INSTALL} brings them along",
                ) from error
            raise self._refused(error, too_old="gpu-arch" in str(error)) from error

    def _refused(self, error: Exception, *, too_old: bool) -> CannotMeasure:
        if too_old:
            return CannotMeasure(
                _WHAT,
                reason=(
                    "the CUDA version of this CuPy does not support the device: it is too old, "
                    "or too new"
                ),
                remedy=(
                    "install the CuPy for the device's CUDA version: cupy-cuda11x, "
                    "cupy-cuda12x, cupy-cuda13x"
                ),
            )
        return CannotMeasure(
            _WHAT,
            reason=f"CUDA says: {first_line(error)}",
            remedy="check nvidia-smi, and whether a smaller CuPy program runs",
        )

    def _facts(self) -> Facts:
        cuda = self.cupy.cuda
        device = cuda.Device(self._index)
        properties = cuda.runtime.getDeviceProperties(self._index)
        attributes = device.attributes
        free_bytes, memory_bytes = cuda.runtime.memGetInfo()
        driver, library = cuda.runtime.driverGetVersion(), cuda.runtime.runtimeGetVersion()
        state = smi.state(device.pci_bus_id)
        memory_khz = attributes.get("MemoryClockRate")
        return Facts(
            name=properties["name"].decode(),
            identity=device.pci_bus_id,
            capability=(properties["major"], properties["minor"]),
            multiprocessors=properties["multiProcessorCount"],
            resident_threads=attributes["MaxThreadsPerMultiProcessor"],
            l2_bytes=attributes.get("L2CacheSize") or None,
            memory_bytes=memory_bytes,
            free_bytes=free_bytes,
            memory_hz=memory_khz * 1e3 if memory_khz else None,
            bus_bits=attributes.get("GlobalMemoryBusWidth") or None,
            software=(f"CuPy {self.cupy.__version__}", f"CUDA {library}", f"driver {driver}"),
            ecc=state.ecc,
            partitioned=state.partitioned,
        )

    def prepare(self, task: Task, sizes: Sizes) -> Prepared:
        """Return a task, ready; see `ridgepoint.ceilings.gpu.device.Device`."""
        with self.current():
            match task:
                case Stream():
                    return self._stream(task, sizes)
                case Chain():
                    return self._chain(task, sizes)
                case Product():
                    return _Products(self, task, sizes.matrix)

    def clock_hz(self) -> float | None:
        """Return the clock of its multiprocessors, by a chain of multiply-adds of one thread."""
        with self.current():
            told = self.cupy.zeros(3, dtype=self.cupy.int64)
            steps = np.int64(CLOCK_STEPS)
            self.function("clock_rate")(
                (1,), (1,), (told, steps, np.float32(_FACTOR), np.float32(_TERM))
            )
            cycles, elapsed_ns, _ = told.get().tolist()
        return cycles / elapsed_ns * 1e9 if elapsed_ns > 0 and cycles > 0 else None

    def held_back_s(self) -> dict[str, float] | None:
        """Return for how long each reason held its clock back, as nvidia-smi tells."""
        return smi.held_back_s(self.facts.identity)

    def elapsed_s(self, enqueue: Any, repeats: int) -> float:
        """Return how long repetitions took, between two events of the device."""
        with self.current():
            cuda = self.cupy.cuda
            began, ended = cuda.Event(), cuda.Event()
            enqueue()  # while it runs the others are queued: no gap is timed
            began.record()
            for _ in range(repeats):
                enqueue()
            ended.record()
            ended.synchronize()
            return float(cuda.get_elapsed_time(began, ended)) / 1e3

    def filled(self, precision: str, size_bytes: int) -> Any:
        """Return memory of the device that holds numbers in [1, 2), never zeros."""
        # uint64, whatever the precision: cuBLAS is told what the bits mean.
        words = size_bytes // 8
        memory = self.cupy.empty(words, dtype=self.cupy.uint64)
        form = FORMATS[precision]
        threads = next(n for n in (BLOCK_THREADS, 64, 8, 1) if words % n == 0)
        self.function("fill")(
            (words // threads,),
            (threads,),
            (memory, np.int64(1), np.uint64(form.keep), np.uint64(form.set)),
        )
        return memory

    def on_host(self, memory: Any, precision: str, n: int) -> np.ndarray[Any, Any]:
        """Return the first and the last numbers of memory of the device, as fp64."""
        words = -(-n * FORMATS[precision].item_bytes // 8)
        with self.current():
            ends = np.concatenate([memory[:words].get(), memory[-words:].get()])
        if precision == "bf16":
            return (ends.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(float)
        kinds = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16}
        return ends.view(kinds[precision]).astype(np.float64)

    def function(self, name: str) -> Any:
        """Return a kernel, compiled for this device."""
        if self._module is None:
            blocks = self.facts.resident_threads // BLOCK_THREADS
            self._module = self.cupy.RawModule(
                code=SOURCE, options=("--std=c++14", f"-DRESIDENT_BLOCKS={blocks}")
            )
        return self._module.get_function(name)

    def _pair(self, sizes: Sizes) -> tuple[Any, Any]:
        """Return the two buffers of streams and chains, made when they are first asked for."""
        if self._buffers is None:
            self._buffers = (
                self.filled("fp64", sizes.buffer_bytes),
                self.filled("fp32", sizes.buffer_bytes),
            )
        return self._buffers

    def _stream(self, task: Stream, sizes: Sizes) -> Prepared:
        source, target = self._pair(sizes)
        arguments = (source, target, np.int64(sizes.passes), np.uint32(_NEVER))
        work = task.work(blocks=sizes.blocks, passes=sizes.passes)
        return _Launches(self, task, blocks=sizes.blocks, arguments=arguments, work=work)

    def _chain(self, task: Chain, sizes: Sizes) -> Prepared:
        number = {"fp64": np.float64, "fp32": np.float32}[task.precision]
        threads = sizes.blocks * BLOCK_THREADS
        size_bytes = threads * FORMATS[task.precision].item_bytes
        arguments = (
            self.filled(task.precision, size_bytes),
            self.filled(task.precision, size_bytes),
            np.int64(_CHAIN_PASSES),
            number(_FACTOR),
            number(_TERM),
        )
        work = task.work(blocks=sizes.blocks, passes=_CHAIN_PASSES)
        return _Launches(self, task, blocks=sizes.blocks, arguments=arguments, work=work)


class _Launches:
    """A kernel of ours, with its arguments."""

    def __init__(
        self,
        device: CupyDevice,
        task: Stream | Chain,
        *,
        blocks: int,
        arguments: tuple[Any, ...],
        work: int,
    ) -> None:
        self._device, self._task = device, task
        self._function = device.function(task.kernel)
        self._blocks, self._arguments = blocks, arguments
        self.work = work

    def time_s(self, repeats: int) -> float:
        """Return how long so many launches took."""
        return self._device.elapsed_s(
            lambda: self._function((self._blocks,), (BLOCK_THREADS,), self._arguments), repeats
        )

    def why_wrong(self) -> str | None:
        """Return what is wrong with what lies at both ends of the result, or None."""
        source, target = self._arguments[:2]
        if isinstance(self._task, Chain):
            found = self._device.on_host(target, self._task.precision, 4)
            right = np.abs(found - _CHAINS_END) < _ROUNDING
            return None if right.all() else f"{found[~right][0]} instead of {_CHAINS_END}"
        if self._task.operation != "copy":
            return None
        read, written = (self._device.on_host(buffer, "fp64", 4) for buffer in (source, target))
        return None if (read == written).all() else "a copy differs from what it copies"


class _Products:
    """A matrix product of cuBLAS."""

    def __init__(self, device: CupyDevice, task: Product, size: int) -> None:
        self._device, self._task, self._size = device, task, size
        size_bytes = size * size * FORMATS[task.stored].item_bytes
        self._first, self._second, self._result = (
            device.filled(task.stored, size_bytes) for _ in range(3)
        )
        kind = np.float64 if task.precision == "fp64" else np.float32
        self._one, self._zero = np.ones(1, dtype=kind), np.zeros(1, dtype=kind)
        self.work = task.work(size=size)

    def time_s(self, repeats: int) -> float:
        """Return how long so many products took."""
        return self._device.elapsed_s(self._multiply, repeats)

    def why_wrong(self) -> str | None:
        """Return what is wrong with entries of the product, or None.

        Factors are in [1, 2): an entry is between once and four times the matrix's size.
        """
        found = self._device.on_host(self._result, self._task.stored, 4) / self._size
        right = (found > 1 - _ROUNDING) & (found < 4 + _ROUNDING)
        return (
            None if right.all() else f"an entry is {found[~right][0]:.3g} times the matrix's size"
        )

    def _multiply(self) -> None:
        from cupy.cuda import cublas, device

        kind = _OPERAND[self._task.stored]
        compute = {"fp64": _COMPUTE_FP64, "tf32": _COMPUTE_TF32}.get(
            self._task.precision, _COMPUTE_FP32
        )
        n = self._size
        cublas.gemmEx(
            device.get_cublas_handle(),
            *(_NOT_TRANSPOSED, _NOT_TRANSPOSED, n, n, n),
            *(self._one.ctypes.data, self._first.data.ptr, kind, n),
            *(self._second.data.ptr, kind, n),
            *(self._zero.ctypes.data, self._result.data.ptr, kind, n),
            *(compute, _DEFAULT_ALGORITHM),
        )
