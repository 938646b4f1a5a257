"""Whether the bound of a mix holds on this machine, and how near kernels of that mix come to it.

    python benchmarks/mix.py [--rounds N] [--seed N]

Twenty kernels of additions, products, multiply-adds, divisions and square roots, in ratios, widths
and precisions of all kinds, or with --seed as many that chance makes. What each executes is decoded
from its machine code. The kernels and the ceilings that bound them are measured in turn on one
core, and the table, in Markdown, sets the median of each kernel against the bound of its mix and
against the machine's roof. The last column is above 1 where a kernel is faster than its bound even
with every ceiling at the upper end of its interval: then a bound did not hold, and the exit status
is 1. For x86-64 with AVX2.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from ridgepoint.ceilings import measured
from ridgepoint.ceilings.plan import Task
from ridgepoint.ceilings.pool import Pool
from ridgepoint.ceilings.session import every_task
from ridgepoint.ceilings.trial import Codes, Contest, prepare
from ridgepoint.ceilings.verify import innermost_loop
from ridgepoint.ceilings.worker import Job
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.machine import Host, Machine
from ridgepoint.core.units import format_si
from ridgepoint.host import System, usable_cpus
from ridgepoint.kernels.chains import WORKING_BYTES
from ridgepoint.kernels.jit import Compiler
from ridgepoint.kernels.kernel import ENTRY, VECTOR_ALIGNMENT, width_name
from ridgepoint.meters.decode import classify
from ridgepoint.models.mix import Kind, Mix, mix_bound

SAMPLE_S = 0.002
ALLOWED = 1.02
"""Noise of a kernel's own median."""

_NAMES = {"add": "vadd", "mul": "vmul", "fma": "vfmadd231", "div": "vdiv", "sqrt": "vsqrt"}
_REGISTERS = {0: "xmm", 128: "xmm", 256: "ymm", 512: "zmm"}
_OPERANDS = (1.3718868807621618, 0.7289230723195215)
_LEAST = 48
"""Instructions of a pass: the loop's counter hardly matters."""


@dataclass(frozen=True, slots=True)
class Part:
    """Instructions of one kind, and how many of them there are for those of the others."""

    operation: str
    width_bits: int
    number: int = 1
    precision: str = "fp64"

    @property
    def name(self) -> str:
        """For readers."""
        precision = "" if self.precision == "fp64" else " fp32"
        return f"{self.number} {self.operation} {width_name(self.width_bits)}{precision}"


FIXED: tuple[tuple[Part, ...], ...] = (
    (Part("add", 256),),
    (Part("mul", 0, precision="fp32"),),
    (Part("fma", 256),),
    (Part("fma", 512),),
    (Part("div", 256),),
    (Part("mul", 256), Part("add", 256)),
    (Part("mul", 0), Part("add", 0, 3)),
    (Part("fma", 0), Part("add", 0)),
    (Part("fma", 256, 3), Part("add", 256)),
    (Part("fma", 512), Part("add", 512)),
    (Part("fma", 256), Part("mul", 256), Part("add", 256)),
    (Part("fma", 256), Part("fma", 512)),
    (Part("add", 0, 2), Part("fma", 512)),
    (Part("fma", 256), Part("fma", 256, precision="fp32")),
    (Part("add", 128, precision="fp32"), Part("mul", 256), Part("fma", 0)),
    (Part("div", 0), Part("fma", 0, 8)),
    (Part("div", 256), Part("fma", 256, 16)),
    (Part("sqrt", 256), Part("mul", 256, 12), Part("add", 256, 12)),
    (Part("div", 512), Part("sqrt", 256, precision="fp32"), Part("fma", 512, 20)),
    (
        *(Part("add", 0, 4), Part("mul", 128, 4, precision="fp32"), Part("fma", 256, 8)),
        *(Part("fma", 512, 4, precision="fp32"), Part("div", 0), Part("sqrt", 128)),
    ),
)


def drawn(seed: int, widths: Sequence[int]) -> list[tuple[Part, ...]]:
    """Return mixes of one to four kinds that chance makes."""
    chance = random.Random(seed)
    mixes = []
    while len(mixes) < len(FIXED):
        kinds = {
            (chance.choice(list(_NAMES)), chance.choice(widths), chance.choice(("fp64", "fp32")))
            for _ in range(chance.randint(1, 4))
        }
        mixes.append(
            tuple(
                Part(operation, width, chance.randint(1, 12), precision)
                for operation, width, precision in sorted(kinds)
            )
        )
    return mixes


def in_turn(parts: Sequence[Part]) -> list[Part]:
    """Return the instructions of one pass, each kind spread evenly among the others."""
    total = sum(part.number for part in parts)
    due, order = [0.0] * len(parts), []
    for _ in range(total):
        due = [owed + part.number / total for owed, part in zip(due, parts, strict=True)]
        index = max(range(len(parts)), key=lambda each: due[each])
        due[index] -= 1
        order.append(parts[index])
    return order * -(-_LEAST // total)


def assembly(parts: Sequence[Part], *, wide: bool) -> Iterator[str]:
    """Yield the kernel's instructions: no result of one is an operand of another, but for sums."""
    longest, count = ("zmm", 32) if wide else ("ymm", 16)
    yield "vmovsd ($0), %xmm0"
    yield f"vmovsd {VECTOR_ALIGNMENT}($0), %xmm1"
    for k in (0, 1):
        yield f"vcvtsd2ss %xmm{k}, %xmm{k}, %xmm{k + 2}"
    for k in (0, 1):
        yield f"vbroadcastsd %xmm{k}, %{longest}{k}"
        yield f"vbroadcastss %xmm{k + 2}, %{longest}{k + 2}"
    for k in range(4, count):
        yield f"vpxorq %zmm{k}, %zmm{k}, %zmm{k}" if wide else f"vxorps %ymm{k}, %ymm{k}, %ymm{k}"
    results = cycle(range(4, 6))
    sums = {
        precision: cycle(range(6 + first, count, 2))
        for first, precision in enumerate(("fp64", "fp32"))
    }
    if len({part.precision for part in parts if part.operation == "fma"}) == 1:
        sums = {precision: cycle(range(6, count)) for precision in sums}
    yield "1:"
    for part in in_turn(parts):
        first = 0 if part.precision == "fp64" else 2
        register = f"%{_REGISTERS[part.width_bits]}"
        name = _NAMES[part.operation] + ("p" if part.width_bits else "s")
        name += "d" if part.precision == "fp64" else "s"
        target = next(sums[part.precision] if part.operation == "fma" else results)
        taken = [f"{register}{first + 1}", f"{register}{first}"]
        if part.operation == "sqrt" and part.width_bits:
            taken = taken[:1]
        yield f"{name} {', '.join([*taken, f'{register}{target}'])}"
    yield "decq $1"
    yield "jnz 1b"


def kernel_ir(parts: Sequence[Part], *, wide: bool) -> str:
    """Return the kernel of a mix."""
    text = "\\0A".join(assembly(parts, wide=wide)).replace("$1", "%rcx")
    clobbered = ",".join(f"~{{xmm{k}}}" for k in range(32 if wide else 16))
    return f"""
define void @{ENTRY}(ptr %data, i64 %size, i64 %repeats) #0 {{
  call void asm sideeffect "movq $1, %rcx\\0A{text}", "r,r,{clobbered},~{{rcx}},~{{flags}}"
      (ptr %data, i64 %repeats)
  ret void
}}"""


def decoded(machine_code: bytes) -> Mix:
    """Return the flop of one pass of a kernel's loop, by kind."""
    mix: dict[Kind, float] = {}
    for instruction in innermost_loop(machine_code):
        done = classify(instruction)
        if done is not None and done.flop and done.precision is not None:
            kind = done.precision, done.width_bits, done.arithmetic
            mix[kind] = mix.get(kind, 0.0) + done.flop
    return mix


class Measured:
    """A kernel of a mix, its machine code decoded, and its samples."""

    def __init__(self, parts: tuple[Part, ...], compiler: Compiler, pool: Pool, cpu: int) -> None:
        wide = compiler.has("avx512vl")
        self.name = ", ".join(part.name for part in parts)
        self.cpu = cpu
        function = compiler.compile(kernel_ir(parts, wide=wide), ENTRY, width_bits=512)
        self.mix = decoded(function.machine_code)
        job = Job(
            function=function,
            size_bytes=0,
            extent_bytes=WORKING_BYTES,
            repeats=2000,
            operands=_OPERANDS,
        )
        seconds = min(pool.run(job, cpus=[cpu]).seconds for _ in range(5))
        repeats = max(1, round(job.repeats * SAMPLE_S / seconds))
        self.job = replace(job, repeats=repeats, warm_repeats=max(1, repeats // 5))
        self.rates: list[float] = []

    def take(self, pool: Pool) -> None:
        """Take one sample."""
        seconds = pool.run(self.job, cpus=[self.cpu]).seconds
        self.rates.append(self.job.repeats * sum(self.mix.values()) / seconds)


def allowed(mix: Mix, machine: Machine) -> float:
    """Return the flop/s that a bound allows."""
    bound = mix_bound(mix, machine, cores=1)
    assert bound is not None
    assert not bound.unknown, bound.unknown
    return sum(mix.values()) / bound.time_s


def at_upper_ends(machine: Machine) -> Machine:
    """Return the machine with every ceiling at the upper end of its interval."""
    return replace(
        machine,
        ceilings=tuple(
            replace(one, rate=Estimate([one.rate.high or max(one.rate.samples)]))
            for one in machine.ceilings
            if one.rate is not None
        ),
    )


def tasks_of(compiler: Compiler) -> list[Task]:
    """Return the ceilings of fp64 and fp32 on one core, but for those of latency."""
    tasks = [
        task
        for task in every_task(System(), compiler, ())
        if task.resource in {"fp64", "fp32"}
        and len(task.place.cpus) == 1
        and task.place.part is None
        and not task.name.endswith("chain")
    ]
    return [task for task in tasks if task.place == tasks[0].place]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41, help="samples of each (default: 41)")
    parser.add_argument("--seed", type=int, help="mixes that chance makes, from this number")
    options = parser.parse_args()
    compiler = Compiler()
    if compiler.architecture != "x86_64" or not compiler.has("avx2"):
        print("this benchmark needs x86-64 with AVX2", file=sys.stderr)
        return 2
    widths = (0, 128, 256, *((512,) if compiler.has("avx512f") else ()))
    mixes = list(FIXED) if options.seed is None else drawn(options.seed, widths)
    tasks = tasks_of(compiler)
    codes = Codes(compiler, [kernel for task in tasks for kernel in task.candidates])
    cpu = tasks[0].place.cpus[0]
    with Pool(usable_cpus(), compiler) as pool:
        contests = [
            found
            for task in tasks
            if isinstance(
                found := prepare(task, pool, codes, sample_s=SAMPLE_S, figure=None), Contest
            )
        ]
        kernels = [
            Measured(parts, compiler, pool, cpu)
            for parts in mixes
            if max(part.width_bits for part in parts) <= widths[-1]
        ]
        for _ in range(options.rounds):
            for each in (*contests, *kernels):
                each.take(pool)
        ceilings = tuple(measured(contest.best, pool, None) for contest in contests)
    machine = Machine(
        name="this machine",
        host=Host(cpu="", microarchitecture=None, cores=1, frequency_hz=None, virtualized=None),
        caches=(),
        ceilings=ceilings,
    )
    return show(kernels, machine)


def show(kernels: Sequence[Measured], machine: Machine) -> int:
    """Print the table, and return 1 if a kernel is faster than its bound can be."""
    upper = at_upper_ends(machine)
    print(
        "| mix | reached | its own mix allows | of its mix | of the machine | at the upper ends |"
    )
    print("|---|---|---|---|---|---|")
    shares, beyond = [], []
    for kernel in kernels:
        reached = statistics.median(kernel.rates)
        own = allowed(kernel.mix, machine)
        roof_s = sum(
            flop / float(machine.rate(precision, cores=1))
            for (precision, _, _), flop in kernel.mix.items()
        )
        roof = sum(kernel.mix.values()) / roof_s
        at_most = reached / allowed(kernel.mix, upper)
        shares.append(reached / own)
        beyond.append(at_most > ALLOWED)
        print(
            f"| {kernel.name} | {format_si(reached, 'flop/s', digits=3)} "
            f"| {format_si(own, 'flop/s', digits=3)} | {100 * reached / own:.1f} % "
            f"| {100 * reached / roof:.1f} % | {at_most:.3f} |"
        )
    print(
        f"\nOf its own mix: {100 * min(shares):.1f} to {100 * max(shares):.1f} %, median "
        f"{100 * statistics.median(shares):.1f} %; beyond every interval and {ALLOWED - 1:.0%} of "
        f"noise: {sum(beyond)} of {len(kernels)}."
    )
    return int(any(beyond))


if __name__ == "__main__":
    sys.exit(main())
