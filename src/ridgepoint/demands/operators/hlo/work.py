"""Work of single instructions of HLO, in flop by precision and evaluations of functions.

A multiply-add is 2 flop; additions, subtractions, multiplications, divisions and square roots are
1 each; comparisons, maxima, absolute values, negations and conversions are none. Arithmetic on
integers is no flop; products of matrices of integers are op.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ridgepoint.demands.operators.forms import fourier
from ridgepoint.demands.operators.hlo.fusions import used_shares
from ridgepoint.demands.operators.hlo.text import Computation, Instruction, Module
from ridgepoint.demands.operators.rule import NoRule, names

FLOP: Mapping[str, int] = {
    "add": 1,
    "subtract": 1,
    "multiply": 1,
    "divide": 1,
    "sqrt": 1,
    "rsqrt": 2,
}
"""Flop of one element of a real type."""

_COMPLEX_FLOP: Mapping[str, int] = {"add": 2, "subtract": 2, "multiply": 6, "divide": 11}

FUNCTIONS = names(
    "acos acosh asin asinh atan2 atanh cbrt cosh cosine erf exponential exponential-minus-one log "
    "log-plus-one logistic power remainder sine sinh tan tanh stochastic-convert"
)
"""Opcodes whose elements are evaluations of a function."""

FREE = names(
    "abs add-dependency after-all and bitcast bitcast-convert broadcast ceil clamp compare complex "
    "concatenate constant convert copy count-leading-zeros dynamic-slice dynamic-update-slice "
    "floor gather get-dimension-size get-tuple-element imag iota is-finite maximum minimum "
    "multiply-high negate not opt-barrier optimization-barrier or pad parameter partition-id "
    "popcnt real reduce-precision replica-id reshape reverse rng rng-bit-generator "
    "rng-get-and-update-state round-nearest-afz round-nearest-even select shift-left "
    "shift-right-arithmetic shift-right-logical sign slice transpose tuple xor"
)
"""Opcodes without flop; the absolute value of a complex number is a function."""

NOTHING = names(
    "parameter constant tuple get-tuple-element bitcast after-all partition-id replica-id "
    "opt-barrier optimization-barrier add-dependency"
)
"""Opcodes that run nothing: names for data that are there."""

CONTROL = ("while", "conditional")
"""Opcodes that run other instructions, and ask for nothing themselves."""

COLLECTIVES = names(
    "all-gather all-reduce all-to-all collective-broadcast collective-permute ragged-all-to-all "
    "reduce-scatter"
)
"""Opcodes that exchange data between devices."""

_PRECISIONS: Mapping[str, str] = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    "c64": "fp32",
    "c128": "fp64",
}
_INTEGERS: Mapping[str, str] = {
    "s8": "int8",
    "u8": "int8",
    "s32": "int32",
    "u32": "int32",
    "s64": "int64",
    "u64": "int64",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """Work and evaluations of functions.

    Parameters
    ----------
    work : mapping of str to float
        Operations by resource.
    functions : float
    """

    work: Mapping[str, float] = field(default_factory=dict)
    functions: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        work = dict(self.work)
        for name, amount in other.work.items():
            work[name] = work.get(name, 0.0) + amount
        return Tally(work, self.functions + other.functions)

    def times(self, factor: float) -> Tally:
        """Return this work done several times."""
        work = {name: amount * factor for name, amount in self.work.items() if amount * factor}
        return Tally(work, self.functions * factor)


def tally_of(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    """Return the work of one instruction, all its elements computed once.

    Parameters
    ----------
    instruction : Instruction
    computation : Computation
        That holds it.
    module : Module

    Raises
    ------
    NoRule
        If it is unknown.
    """
    opcode = instruction.opcode
    if any(shape.dynamic for shape in instruction.shapes):
        raise NoRule(f"a size of {opcode} depends on data")
    if opcode == "abs" and (size := _complex_inputs(instruction, computation)):
        return Tally({}, float(size))
    if opcode in FREE:
        return Tally()
    rule = _RULES.get(opcode)
    if rule is not None:
        return rule(instruction, computation, module)
    return _of_elements(instruction, computation)


def tally_of_computation(name: str, module: Module) -> Tally:
    """Return the work of all instructions of a computation, with the computations they call."""
    computation = module.computations[name]
    total = Tally()
    for instruction in computation.instructions.values():
        total += tally_of(instruction, computation, module)
    return total


def precision(dtype: str) -> str:
    """Return the resource of a floating-point type's work.

    Raises
    ------
    NoRule
        If no machine is measured in it.
    """
    if dtype in _PRECISIONS:
        return _PRECISIONS[dtype]
    raise NoRule(f"no ceiling is measured for arithmetic on {dtype}")


def is_floating(dtype: str) -> bool:
    """Return whether a type's arithmetic is flop."""
    return dtype in _PRECISIONS or dtype.startswith(("f8", "f4"))


def trip_count(instruction: Instruction) -> int | None:
    """Return how often a loop runs where the compiler knows it; None: it does not."""
    config = instruction.attributes.get("backend_config", "")
    found = re.search(r'"known_trip_count":\s*\{\s*"n":\s*"?(\d+)', config)
    return None if found is None else int(found[1])


def _of_elements(instruction: Instruction, computation: Computation) -> Tally:
    opcode, shape = instruction.opcode, instruction.shape
    if opcode in FUNCTIONS:
        return Tally({}, float(shape.size)) if is_floating(shape.dtype) else Tally()
    if opcode not in FLOP:
        raise NoRule(f"no rule says what {opcode} asks for")
    if not is_floating(shape.dtype):
        return Tally()
    if shape.dtype.startswith("c"):
        if opcode not in _COMPLEX_FLOP:
            return Tally({}, float(shape.size))
        return Tally({precision(shape.dtype): _COMPLEX_FLOP[opcode] * float(shape.size)})
    return Tally({precision(shape.dtype): FLOP[opcode] * float(shape.size)})


def _complex_inputs(instruction: Instruction, computation: Computation) -> int:
    """Return the number of complex elements that go in."""
    shapes = [one.shape for one in computation.operands(instruction)]
    return sum(shape.size for shape in shapes if shape.dtype in ("c64", "c128"))


def _product(dtype: str, multiply_adds: float) -> Tally:
    """Return the work of multiply-adds in a type."""
    if dtype in _INTEGERS:
        return Tally({_INTEGERS[dtype]: 2 * multiply_adds})
    if not is_floating(dtype):
        raise NoRule(f"no ceiling is measured for products of {dtype}")
    return Tally({precision(dtype): (8 if dtype.startswith("c") else 2) * multiply_adds})


def _dot(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    left = computation.operands(instruction)[0].shape
    inner = math.prod(left.sizes[d] for d in instruction.integers("lhs_contracting_dims"))
    return _product(left.dtype, float(instruction.shape.size) * inner)


@dataclass(frozen=True, slots=True)
class _Window:
    """A window along one dimension."""

    size: int = 1
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    dilation: int = 1


def _windows(instruction: Instruction) -> list[_Window]:
    """Return the window along each dimension; an attribute that is missing is the usual one."""
    fields: dict[str, str] = dict(
        re.findall(r"(\w+)=([\dx_\-]+)", instruction.attributes.get("window", ""))
    )
    if "size" not in fields:
        return []
    n = fields["size"].count("x") + 1

    def numbers(key: str, usual: str) -> list[str]:
        return fields.get(key, "x".join([usual] * n)).split("x")

    pads = [pad.split("_") for pad in numbers("pad", "0_0")]
    return [
        _Window(int(size), int(stride), int(pad[0]), int(pad[1]), int(base), int(dilation))
        for size, stride, pad, base, dilation in zip(
            numbers("size", "1"),
            numbers("stride", "1"),
            pads,
            numbers("lhs_dilate", "1"),
            numbers("rhs_dilate", "1"),
            strict=True,
        )
    ]


def _pairs(window: _Window, base: int, out: int) -> int:
    """Return how many pairs of output and tap meet an element: not padding, not a hole.

    Output o and tap k meet at ``o * stride + k * dilation - low`` of the base with its holes,
    which holds an element at every multiple of the base's dilation below ``base`` times that.
    """
    holes, stride = window.base_dilation, window.stride
    period = holes // math.gcd(holes, stride)
    extent = (base - 1) * holes + 1
    total = 0
    for tap in range(window.size):
        offset = tap * window.dilation - window.low
        first = max(0, -(offset // stride))
        last = min(out - 1, (extent - 1 - offset) // stride)
        for start in range(first, min(first + period, last + 1)):
            if (start * stride + offset) % holes == 0:
                total += (last - start) // period + 1
    return total


def _convolution(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    base, kernel = (operand.shape for operand in computation.operands(instruction)[:2])
    labels = re.match(r"(\w+)_(\w+)->(\w+)", instruction.attributes.get("dim_labels", ""))
    if labels is None:
        raise NoRule("its dimensions are not labelled")
    inputs, weights, outputs = labels.groups()
    out = instruction.shape
    meeting = 1
    for dimension, window in enumerate(_windows(instruction)):
        digit = str(dimension)
        meeting *= _pairs(window, base.sizes[inputs.index(digit)], out.sizes[outputs.index(digit)])
    per_pair = (
        out.sizes[outputs.index("b")]
        * out.sizes[outputs.index("f")]
        * kernel.sizes[weights.index("i")]
    )
    return _product(base.dtype, float(meeting) * per_pair)


def _applied(instruction: Instruction, times: float, module: Module) -> Tally:
    """Return the work of a computation on scalars, applied several times."""
    (name,) = instruction.called("to_apply")
    return tally_of_computation(name, module).times(times)


def _reduce(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    base = computation.operands(instruction)[0].shape
    return _applied(instruction, max(base.size - instruction.shape.size, 0), module)


def _reduce_window(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    base, out = computation.operands(instruction)[0].shape, instruction.shape
    pairs = math.prod(
        _pairs(window, have, want)
        for window, have, want in zip(_windows(instruction), base.sizes, out.sizes, strict=True)
    )
    return _applied(instruction, max(pairs - out.size, 0), module)


def _scatter(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    arrays = len(instruction.shapes)
    updates = computation.operands(instruction)[-arrays].shape
    return _applied(instruction, updates.size, module)


def _select_and_scatter(
    instruction: Instruction, computation: Computation, module: Module
) -> Tally:
    source = computation.operands(instruction)[1].shape
    (name,) = instruction.called("scatter")
    return tally_of_computation(name, module).times(source.size)


def _map(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    return _applied(instruction, instruction.shape.size, module)


def _sort(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    (name,) = instruction.called("to_apply")
    comparison = tally_of_computation(name, module)
    if comparison.work or comparison.functions:
        raise NoRule("its comparison computes, and how often it compares depends on data")
    return Tally()


def _fft(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    (source,) = (one.shape for one in computation.operands(instruction))
    lengths, kind = instruction.integers("fft_length"), instruction.attributes.get("fft_type", "")
    spectrum = source if kind == "IRFFT" else instruction.shape
    *others, last = lengths
    rows = spectrum.size / max(spectrum.sizes[-1], 1)
    flop = rows * fourier(last) / (2 if kind in ("RFFT", "IRFFT") else 1)
    flop += sum(spectrum.size / max(n, 1) * fourier(n) for n in others)
    return Tally({precision(spectrum.dtype): flop} if flop else {})


def _inside(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    total = Tally()
    for name in instruction.called("calls", "to_apply", "called_computations"):
        total += tally_of_computation(name, module)
    return total


def _fusion(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    """Return the work of what is fused; of elements that are sliced away none is computed."""
    total = Tally()
    for name in instruction.called("calls"):
        fused = module.computations[name]
        used = used_shares(fused)
        for one in fused.instructions.values():
            total += tally_of(one, fused, module).times(used[one.name])
    return total


def _while(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    n = trip_count(instruction)
    if n is None:
        raise NoRule("how often a loop in it runs depends on data")
    (body,) = instruction.called("body")
    return tally_of_computation(body, module).times(n)


def _collective(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    if module.devices == 1:  # with itself alone: a copy
        return Tally()
    raise NoRule("it moves data between devices, over links that have no ceiling here")


def _conditional(instruction: Instruction, computation: Computation, module: Module) -> Tally:
    raise NoRule("which branch in it runs depends on data")


_RULES: Mapping[str, Callable[[Instruction, Computation, Module], Tally]] = {
    "dot": _dot,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "map": _map,
    "sort": _sort,
    "fft": _fft,
    "fusion": _fusion,
    "call": _inside,
    "while": _while,
    "conditional": _conditional,
    **dict.fromkeys(COLLECTIVES, _collective),
    **dict.fromkeys([f"{name}-start" for name in COLLECTIVES], _collective),
}
