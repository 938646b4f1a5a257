"""Small literal operators and profiles, to place under roofs."""

from dataclasses import replace

from core_inputs import ceiling, machine_of

from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Cache
from ridgepoint.core.measurement import Context
from ridgepoint.core.operators import Asked, Call, Operator, OperatorProfile, Tensor
from ridgepoint.core.timed import Timed

MACHINE = machine_of(
    ceiling("fp32", 100e9),
    ceiling("fp32", 400e9, threads=4),
    ceiling("bf16", 1600e9, threads=4),
    ceiling("dram", 10e9, threads=4),
    cores=4,
)
"""fp32 400 Gflop/s, bf16 1600 Gflop/s, DRAM 10 GB/s; its caches are not known."""


def cached(machine, *sizes, cores=1):
    """Return a machine with caches of these sizes, L1 first, each shared by as many CPUs."""
    caches = tuple(
        Cache(level=at, kind="unified", size_bytes=size, line_bytes=64, ways=None, cores=cores)
        for at, size in enumerate(sizes, start=1)
    )
    return replace(machine, caches=caches)


def asked(work=None, *, read=0.0, write=0.0, kind="elementwise", **more):
    """Return what a call asks for; `work` in fp32, or a mapping."""
    works = {} if work is None else work if isinstance(work, dict) else {"fp32": work}
    return Asked(kind=kind, work=works, read_bytes=read, write_bytes=write, **more)


UNKNOWN = Asked(
    kind="unknown", work=None, read_bytes=None, write_bytes=None, unknown="no rule says"
)


def operator(asks, *, name="aten.op", module="", calls=1, time_s=None, phase="forward", shape=()):
    """Return an operator that took `time_s` (seconds, or several runs) in all its calls."""
    times = None if time_s is None else Estimate([time_s] if isinstance(time_s, float) else time_s)
    tensor = Tensor(shape=shape, dtype="fp32", nbytes=4)
    return Operator(
        call=Call(name=name, arguments=(tensor,), outputs=(tensor,)),
        module=module,
        phase=phase,
        asked=asks,
        calls=calls,
        time_s=times,
    )


def profile_of(
    *operators, run_s=None, attached_s=None, device="cpu", threads=4, library="PyTorch", **more
):
    """Return a profile of these operators on the CPU of `MACHINE`."""
    timed = None if run_s is None else Timed(runtime_s=Estimate([run_s]), cpu_s=Estimate([run_s]))
    return OperatorProfile(
        program="net",
        library=library,
        device=device,
        operators=operators,
        timed=timed,
        attached_s=None if attached_s is None else Estimate([attached_s]),
        threads=threads,
        context=Context(
            started="2024-01-01T00:00:00+00:00",
            hostname="h",
            cpu="none",
            kernel="k",
            affinity=(0,),
            directory="/",
        ),
        **more,
    )
