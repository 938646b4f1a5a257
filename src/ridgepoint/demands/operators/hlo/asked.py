"""What instructions of compiled programs ask for: their work, and the bytes that must move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ridgepoint.core.operators import Argument, Asked, Call, Tensor
from ridgepoint.demands.operators.hlo.custom_calls import custom_call
from ridgepoint.demands.operators.hlo.fusions import (
    SLICES,
    UPDATES,
    update_bytes,
    used_shares,
    written_by_fusion,
)
from ridgepoint.demands.operators.hlo.text import (
    NAMES,
    Computation,
    Instruction,
    Module,
    Shape,
)
from ridgepoint.demands.operators.hlo.work import (
    COLLECTIVES,
    CONTROL,
    FLOP,
    FREE,
    FUNCTIONS,
    NOTHING,
    Tally,
    tally_of,
)
from ridgepoint.demands.operators.rule import NoRule, names

_MOVING = names(
    "copy transpose reshape slice dynamic-slice dynamic-update-slice concatenate pad reverse "
    "gather broadcast iota convert bitcast-convert copy-start"
)
_KINDS: Mapping[str, str] = {
    "dot": "matrix product",
    "convolution": "convolution",
    "reduce": "reduction",
    "reduce-window": "pooling",
    "select-and-scatter": "pooling",
    "scatter": "scatter",
    "sort": "sort",
    "fft": "Fourier transform",
    "while": "control",
    "conditional": "control",
    "rng-bit-generator": "random",
    "rng": "random",
}
_WEIGHT = (
    "convolution",
    "dot",
    "fft",
    "sort",
    "reduce-window",
    "select-and-scatter",
    "scatter",
    "reduce",
)
"""Opcodes after which a fusion is called, the weightiest first."""


def call_of(instruction: Instruction, computation: Computation, module: Module) -> Call:
    """Return an instruction as a call of an operator.

    Parameters
    ----------
    instruction : Instruction
    computation : Computation
        That holds it.
    module : Module

    Returns
    -------
    Call
        Its options name the instruction, and count what it fuses: ``{"fuses": "dot 1, add 2"}``.
    """
    operands = computation.operands(instruction)
    options: dict[str, Argument] = {"instruction": instruction.name}
    if instruction.opcode == "custom-call":
        options["target"] = instruction.attributes.get("custom_call_target", "").strip('"')
    if fused := _fused(instruction, module):
        options["fuses"] = ", ".join(
            f"{opcode} {n}" for opcode, n in sorted(fused.items(), key=lambda one: -one[1])
        )
    return Call(
        name=f"hlo.{instruction.opcode}",
        arguments=tuple(tensor(shape) for operand in operands for shape in operand.shapes),
        options=options,
        outputs=tuple(map(tensor, instruction.shapes)),
    )


def tensor(shape: Shape) -> Tensor:
    """Return an array of a compiled program as operators describe it."""
    name = NAMES.get(shape.dtype, shape.dtype.replace("f8", "fp8_"))
    return Tensor(shape=shape.sizes, dtype=name, nbytes=round(shape.nbytes))


def asked_of_instruction(
    instruction: Instruction, computation: Computation, module: Module
) -> Asked:
    """Return what one execution of an instruction asks for at least.

    Parameters
    ----------
    instruction : Instruction
        A loop or a conditional asks for nothing itself: its instructions are operators, too.
    computation : Computation
        That holds it.
    module : Module

    Notes
    -----
    Inputs of which a fusion uses only slices count with these slices. An array that is updated in
    place counts with its update.
    """
    kind = _kind(instruction, module)
    if instruction.opcode in CONTROL:
        return Asked(kind=kind, work={}, read_bytes=0.0, write_bytes=0.0, rule="control only")
    read, write = bytes_of(instruction, computation, module)
    unknown, rule = "", ""
    tally: Tally | None = None
    try:
        if instruction.opcode == "custom-call":
            tally, kind, rule = custom_call(instruction, computation)
        else:
            tally = tally_of(instruction, computation, module)
            rule = _rule(instruction, module)
    except NoRule as error:
        unknown = str(error)
    return Asked(
        kind=kind,
        work=None if tally is None else dict(tally.work),
        functions=0.0 if tally is None else tally.functions,
        read_bytes=read,
        write_bytes=write,
        workspace_bytes=None if instruction.opcode == "custom-call" else 0.0,
        rule=rule,
        unknown=unknown,
    )


def bytes_of(
    instruction: Instruction, computation: Computation, module: Module
) -> tuple[float, float]:
    """Return the least bytes that an instruction reads and writes."""
    read = sum(read_bytes(instruction, computation, module).values())
    if instruction.opcode == "fusion":
        (name,) = instruction.called("calls")
        return read, written_by_fusion(module.computations[name])
    if instruction.opcode in UPDATES:
        return read, update_bytes(instruction, computation)
    return read, sum(shape.nbytes for shape in instruction.shapes)


def read_bytes(
    instruction: Instruction, computation: Computation, module: Module
) -> dict[str, float]:
    """Return the least bytes that an instruction reads of each of its operands."""
    if instruction.opcode == "fusion":
        (name,) = instruction.called("calls")
        return _read_by_fusion(instruction, module.computations[name])
    operands = {name: computation.instructions[name] for name in instruction.operands}
    read = {name: sum(s.nbytes for s in one.shapes) for name, one in operands.items()}
    if instruction.opcode in SLICES:
        read[instruction.operands[0]] = instruction.shape.nbytes
    elif instruction.opcode in UPDATES:
        for name in instruction.operands[: len(instruction.shapes)]:
            read[name] = 0.0
    return read


def _read_by_fusion(instruction: Instruction, fused: Computation) -> dict[str, float]:
    used = used_shares(fused)
    given = dict.fromkeys(instruction.operands, 0.0)
    for one in fused.instructions.values():
        if one.opcode == "parameter":
            name = instruction.operands[int(one.literal)]
            nbytes = sum(shape.nbytes for shape in one.shapes)
            given[name] = max(given[name], nbytes * used[one.name])
    return given


def outer_bytes(module: Module) -> float:
    """Return the least bytes of a program's inputs that its instructions read, each input once."""
    entry = module.computations[module.entry]
    total = 0.0
    for one in entry.instructions.values():
        if one.opcode == "parameter":
            whole = sum(shape.nbytes for shape in one.shapes)
            total += min(
                sum(_read_of(one, user, entry, module) for user in entry.users[one.name]), whole
            )
    return total * module.devices


def _read_of(one: Instruction, user: Instruction, entry: Computation, module: Module) -> float:
    """Return the bytes that a user reads of an instruction's result; of other names for it all."""
    if user.opcode in NOTHING or user.opcode in (*CONTROL, "call"):
        return sum(shape.nbytes for shape in one.shapes)
    return read_bytes(user, entry, module)[one.name]


def _fused(instruction: Instruction, module: Module, *, scalars: bool = True) -> Counter[str]:
    """Count the opcodes that an instruction fuses, without those that run nothing."""
    found: Counter[str] = Counter()
    for name in instruction.called("calls", "to_apply"):
        if instruction.opcode not in ("fusion", "call"):
            continue
        for one in module.computations[name].instructions.values():
            if one.opcode in ("fusion", "call"):
                found += _fused(one, module, scalars=scalars)
            elif one.opcode not in NOTHING and (
                scalars or _is_array(one, module.computations[name])
            ):
                found[one.opcode] += 1
    return found


def _is_array(one: Instruction, computation: Computation) -> bool:
    return any(shape.sizes for part in (one, *computation.operands(one)) for shape in part.shapes)


def _kind(instruction: Instruction, module: Module) -> str:
    if instruction.opcode not in ("fusion", "call"):
        return _kind_of(instruction.opcode)
    fused = _fused(instruction, module, scalars=False) or _fused(instruction, module)
    for opcode in _WEIGHT:
        if opcode in fused:
            return _KINDS[opcode]
    if fused and all(opcode in _MOVING for opcode in fused):
        return "copy"
    return "elementwise"


def _kind_of(opcode: str) -> str:
    if opcode.removesuffix("-start") in COLLECTIVES:
        return "communication"
    if opcode in _KINDS:
        return _KINDS[opcode]
    if opcode in _MOVING:
        return "copy"
    return "elementwise" if opcode in FLOP or opcode in FUNCTIONS or opcode in FREE else "unknown"


def _rule(instruction: Instruction, module: Module) -> str:
    if instruction.opcode in ("fusion", "call"):
        return "sum of what it fuses"
    return {
        "dot": "2 m n k",
        "convolution": "2 per tap inside the input",
        "reduce": "inputs - outputs",
        "reduce-window": "elements in windows - outputs",
    }.get(instruction.opcode, "elements")
