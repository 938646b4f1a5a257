"""Kernels of known work, executed in this process: what a CPU makes of them tells its weights."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Literal

import numpy as np

from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.isa import Isa
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, Kernel
from ridgepoint.kernels.peak import peak
from ridgepoint.meters.perf.calibration import Known
from ridgepoint.meters.perf.metrics import Amount
from ridgepoint.meters.perf.session import Session

_FLOP = 2e7  # some milliseconds; what else this process computes meanwhile is nothing beside it
_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def known_work(session: Session) -> list[Known]:
    """Return what a session counts of kernels of each precision, width and operation.

    Parameters
    ----------
    session : Session
        Of this host; it forgets what it counted before.

    Returns
    -------
    list of Known
        Nothing for metrics that the session cannot count, or not just then.

    Raises
    ------
    CannotMeasure
        If LLVM cannot compile for this CPU, or the kernel refuses the counters.
    """
    compiler = Compiler()
    kernels = []
    for kernel in _kernels(compiler):
        function = compiler.compile(kernel.ir, ENTRY, width_bits=kernel.claim.width_bits)
        repeats = round(_FLOP / kernel.work_per_repeat)
        execute, memory = _TYPE(function.address), _working_memory(kernel)
        for index in range(len(session.rounds)):
            with session.counting(index):
                execute(memory.ctypes.data, 0, repeats)
        amounts = session.amounts()
        name = "flop" if isinstance(amounts.get("flop"), Amount) else kernel.claim.precision
        amount = amounts.get(name)
        if isinstance(amount, Amount):
            kernels.append(
                Known(
                    kernel=f"{kernel.name} {kernel.claim.precision}",
                    metric=name,
                    expected=round(kernel.work_per_repeat * repeats),
                    counted=amount.value,
                )
            )
    return kernels


def _kernels(compiler: Compiler) -> Iterator[Kernel]:
    isa = Isa(
        architecture=compiler.architecture, has=compiler.has, vector_bits=compiler.vector_bits
    )
    operations: tuple[Literal["add", "fma"], ...] = ("add", "fma") if isa.has_fma else ("add",)
    precisions: tuple[Literal["fp64", "fp32"], ...] = ("fp64", "fp32")
    for precision in precisions:
        for width_bits in (0, *isa.vector_widths):
            for operation in operations:
                yield peak(operation, precision=precision, width_bits=width_bits)


def _working_memory(kernel: Kernel) -> np.ndarray[tuple[int], np.dtype[np.floating]]:
    """Return the memory that a kernel works in, aligned, its operands at the start.

    Each operand fills a vector; the kernel writes its last values after them.
    """
    dtype = np.dtype(np.float32 if kernel.claim.precision == "fp32" else np.float64)
    memory = np.ones((WORKING_BYTES + VECTOR_ALIGNMENT) // dtype.itemsize, dtype=dtype)
    skipped = -memory.ctypes.data % VECTOR_ALIGNMENT // dtype.itemsize
    aligned = memory[skipped : skipped + WORKING_BYTES // dtype.itemsize]
    values = np.repeat(np.array(kernel.operands, dtype=dtype), VECTOR_ALIGNMENT // dtype.itemsize)
    aligned[: values.size] = values
    return aligned
