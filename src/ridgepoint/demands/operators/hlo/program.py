"""Which instructions a compiled program runs, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ridgepoint.demands.operators.hlo.text import Computation, Instruction, Module
from ridgepoint.demands.operators.hlo.work import NOTHING, trip_count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """An instruction that runs.

    Parameters
    ----------
    instruction : Instruction
    computation : Computation
        That holds it.
    times : int or None
        How often it runs in one run of the program, on all devices together; None: it depends on
        data.
    around : tuple of Instruction
        Calls, loops and branches that it is in, innermost first.
    """

    instruction: Instruction
    computation: Computation
    times: int | None
    around: tuple[Instruction, ...] = ()


def steps_of(module: Module) -> tuple[Step, ...]:
    """Return all instructions that run something, those in loops and branches included.

    Parameters
    ----------
    module : Module
    """
    return tuple(_steps(module, module.entry, module.devices))


def _steps(
    module: Module, name: str, times: int | None, around: tuple[Instruction, ...] = ()
) -> Iterator[Step]:
    computation = module.computations[name]
    for instruction in computation.instructions.values():
        opcode, inside = instruction.opcode, (instruction, *around)
        if opcode in NOTHING or opcode.endswith("-done"):
            continue
        if opcode == "call" and not is_one_kernel(instruction):
            for called in instruction.called("to_apply"):
                yield from _steps(module, called, times, inside)
            continue
        yield Step(instruction=instruction, computation=computation, times=times, around=around)
        if opcode == "while":
            n = trip_count(instruction)
            known = None if n is None or times is None else n * times
            if n is None:  # a loop of known length runs without its condition
                for called in instruction.called("condition"):
                    yield from _steps(module, called, None, inside)
            for called in instruction.called("body"):
                yield from _steps(module, called, known, inside)
        elif opcode == "conditional":
            for called in instruction.called(
                "branch_computations", "true_computation", "false_computation"
            ):
                yield from _steps(module, called, None, inside)


def is_one_kernel(call: Instruction) -> bool:
    """Return whether XLA compiles all that is called into one kernel, as it does small loops."""
    return 'xla_cpu_small_call="true"' in call.attributes.get("frontend_attributes", "")
