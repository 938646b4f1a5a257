"""Small literal machines and measurements."""

from ridgepoint.core.counted import Counted
from ridgepoint.core.counts import Counts, FlopCount, FunctionCounts, Traffic
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Ceiling, Host, Machine
from ridgepoint.core.measurement import Context, Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.timed import Timed


def ceiling(resource, rate, *, threads=1, name="pattern", shares=(None, None)):
    """Return a ceiling with a single sample."""
    return Ceiling(
        resource=resource,
        name=name,
        threads=threads,
        unit=f"{RESOURCES[resource].unit}/s",
        rate=Estimate([rate]),
        read_share=shares[0],
        write_share=shares[1],
    )


def machine_of(*ceilings, cores=1, name="test bench"):
    """Return a machine of these ceilings."""
    host = Host(
        cpu="none", microarchitecture=None, cores=cores, frequency_hz=None, virtualized=None
    )
    return Machine(name=name, host=host, caches=(), ceilings=ceilings, fingerprint="f00d")


MACHINE = machine_of(
    ceiling("fp64", 10e9),
    ceiling("fp64", 40e9, threads=4),
    ceiling("dram", 5e9),
    ceiling("dram", 8e9, threads=4),
    cores=4,
)

COUNTS = Counts(
    instructions=3_000_000_000,
    branches=10,
    loads=20,
    stores=5,
    load_bytes=160,
    store_bytes=40,
    flop=(
        FlopCount(
            precision="fp64", width_bits=256, fma=True, flop=1_000_000_000, instructions=125_000_000
        ),
    ),
)


def measured(*, traffic=None, wall_s=(0.25,), cpu_s=None, counts=COUNTS):
    """Return a measurement; `wall_s` None: it was only counted."""
    timed = None
    if wall_s is not None:
        timed = Timed(
            runtime_s=Estimate(wall_s), cpu_s=Estimate(wall_s if cpu_s is None else cpu_s)
        )
    traffic = (
        (Traffic(level="dram", read_bytes=600_000_000, write_bytes=400_000_000),)
        if traffic is None
        else traffic
    )
    return Measurement(
        command=("./prog", "an argument"),
        counted=Counted(
            meter="by hand",
            counts=counts,
            traffic=traffic,
            functions=(FunctionCounts(name="f", object=None, counts=counts),),
        ),
        timed=timed,
        context=Context(
            started="2024-01-01T00:00:00+00:00",
            hostname="h",
            cpu="none",
            kernel="k",
            affinity=(0, 1),
            directory="/",
        ),
    )


MEASUREMENT = measured()
