"""A GPU whose rates are decided beforehand: what its events tell is work over rate."""

from dataclasses import dataclass, field
from itertools import cycle

from ridgepoint.ceilings.gpu.device import Facts
from ridgepoint.ceilings.gpu.kernels import Product, Stream
from ridgepoint.core.errors import CannotMeasure

FACTS = Facts(
    name="NVIDIA Made-Up 100",
    identity="0000:65:00.0",
    capability=(9, 0),
    multiprocessors=100,
    resident_threads=2048,
    l2_bytes=50_000_000,
    memory_bytes=100_000_000_000,
    free_bytes=90_000_000_000,
    memory_hz=2.5e9,
    bus_bits=5120,
    software=("CuPy 14", "CUDA 12090", "driver 12090"),
    ecc=True,
    partitioned=False,
)


def key_of(task):
    """Return what a task is called here: an operation, a chain, or a product."""
    if isinstance(task, Stream):
        return task.operation
    return f"{'product' if isinstance(task, Product) else 'chain'} {task.precision}"


@dataclass
class ScriptedGpu:
    """Answers with times that follow from rates, one after the other, again and again."""

    facts: Facts = FACTS
    rates: dict = field(default_factory=dict)
    usual: tuple = (1e12,)
    clocks_hz: tuple = (1.5e9,)
    held: tuple = ({"the limit of power": 1.0}, {"the limit of power": 1.0})
    refuses: tuple = ()
    wrong: tuple = ()
    runs: list = field(default_factory=list)

    def __post_init__(self):
        self._clocks, self._held = cycle(self.clocks_hz), cycle(self.held)

    def prepare(self, task, sizes):
        """Return a task whose rates were decided."""
        if key_of(task) in self.refuses:
            raise CannotMeasure("cannot do it", reason="it is not made for it", remedy="leave it")
        return ScriptedTask(self, task, sizes)

    def clock_hz(self):
        """Return the next of the clocks."""
        return next(self._clocks)

    def held_back_s(self):
        """Return what was held back before, then after."""
        return next(self._held)


class ScriptedTask:
    """One task; every sample takes as long as its rate says."""

    def __init__(self, gpu, task, sizes):
        self._gpu, self._name = gpu, key_of(task)
        self._rates = cycle(gpu.rates.get(self._name, gpu.usual))
        if isinstance(task, Product):
            self.work = task.work(size=sizes.matrix)
        elif isinstance(task, Stream):
            self.work = task.work(blocks=sizes.blocks, passes=sizes.passes)
        else:
            self.work = task.work(blocks=sizes.blocks, passes=250)

    def time_s(self, repeats):
        """Return the work of the repetitions over the next rate."""
        took_s = self.work * repeats / next(self._rates)
        self._gpu.runs.append((self._name, took_s))
        return took_s

    def why_wrong(self):
        """Return that it is wrong if it was decided so."""
        return "2 instead of 12" if self._name in self._gpu.wrong else None
