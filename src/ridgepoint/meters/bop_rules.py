"""What one x86-64 instruction does in basic operations: the refined count, finer than Eq. (3).

The counting rules, all of them:

- An operand in memory with an index register, and LEA with one, is the address of an element: 1
  addressing, whatever else the instruction does. Base and displacement alone are a field, a
  local or a pointer that was computed before: 0. A gather or scatter has one per element. A NOP
  has none.
- LEA of a base and a displacement is an addition, unless the base is the stack or instruction
  pointer: then it is the constant address of something. A mere copy of its base is a move.
- Scalar arithmetic, bitwise operations and shifts, counts of bits: 1 each; what fuses two
  operations is 2 (ANDN, BLSR, BLSI, BLSMSK, BEXTR). Nothing but RSP is adjusted: 0.
- CMP, CMPXCHG: 1 compare; CMPXCHG16B 2. TEST of a register with itself is a compare with zero;
  of two different ones, an AND and that compare; so is BT. AND or OR of a register with itself
  is a compare. The compare that a branch makes of flags set by arithmetic (DEC, JNZ) is seen
  nowhere: it costs no instruction.
- XOR or SUB of a register with itself, and the like of vectors, sets a constant: 0.
- Integer vectors: 1 per 64 bit and operation, whatever the width of their elements, since
  operations are normalised to 64 bit; multiply-adds and sums of differences are 2. So is
  cryptography: 1 per 64 bit and instruction.
- Floating point: its flop, as decoded; a comparison, minimum or maximum is one compare per lane;
  x87 FCHS, FABS and FSCALE are 1, and bitwise operations on vectors of it are logic.
- String instructions compare once per iteration (CMPS, SCAS) or move (the others): 0. LOOP is a
  decrement and a compare, JRCXZ a compare.
- Moves, conversions and extensions, shuffles, packs, blends, conditional moves, SETcc, branches,
  calls, returns, PUSH and POP, and what manages the processor: 0.

References
----------
L. Wang et al., "BOPS, Not FLOPS! A New Metric and Roofline Performance Model For Datacenter
Computing", ACS/SSL-2018-2: Tables 4 to 6, and the normalisation of section 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from iced_x86 import Code, Instruction, MemorySizeExt, OpKind, Register, RegisterExt

from ridgepoint.core.basic_operations import BasicOperations

NOTHING = BasicOperations()
ARITHMETIC = BasicOperations(arithmetic=1)
LOGIC = BasicOperations(logic=1)
COMPARE = BasicOperations(compare=1)
FP_COMPARE = BasicOperations(fp_compare=1)

_ELEMENT_BITS = {"D": 64, "S": 32, "H": 16}
_LEA = frozenset((Code.LEA_R16_M, Code.LEA_R32_M, Code.LEA_R64_M))


class _Rule(NamedTuple):
    """What instructions of some names do."""

    pattern: re.Pattern[str]
    done: BasicOperations


def _rule(pattern: str, *done: BasicOperations) -> _Rule:
    return _Rule(re.compile(pattern), sum(done, NOTHING))


_SCALAR = (
    _rule(r"ADD|SUB|INC|DEC|NEG|ADC|SBB|I?MUL|I?DIV|XADD|MULX|ADCX|ADOX|CRC32|AADD", ARITHMETIC),
    _rule(
        r"AND|X?OR|NOT|S[HA][LR]X?|R[OC][LR]|RORX|SH[LR]D|BZHI|PDEP|PEXT|BS[FR]|[TL]ZCNT|POPCNT"
        r"|BSWAP|MOVBE|BT[SRC]|A(?:AND|X?OR)|K(?:AND|X?N?OR|NOT|SHIFT[LR])[BWDQ]",
        LOGIC,
    ),
    _rule(r"ANDN|BEXTR|KANDN[BWDQ]", LOGIC, LOGIC),
    _rule(r"BLS(?:I|R|MSK)|BLC(?:FILL|IC?|MSK|S)|BLS(?:FILL|IC)|T1MSKC|TZMSK", LOGIC, ARITHMETIC),
    _rule(r"CMP|CMPXCHG(?:8B)?|J[RE]?CXZ", COMPARE),
    _rule(r"CMPXCHG16B", COMPARE, COMPARE),
    _rule(r"TEST|BT|K(?:OR)?TEST[BWDQ]", LOGIC, COMPARE),
    _rule(r"LOOP(?:N?E)?|CMP\w+XADD", ARITHMETIC, COMPARE),
    _rule(r"KADD[BWDQ]", ARITHMETIC),
    _rule(r"FU?COMI?P?P?|FICOMP?|FTST", FP_COMPARE),
    _rule(r"FCHS|FABS|FSCALE", BasicOperations(fp_arithmetic=1)),
)
_VECTOR = (
    _rule(
        r"V?P(?:ADD|SUB)(?:U?S)?[BWDQ]|V?PH(?:ADD|SUB)(?:S?W|D)|VPH(?:ADD|SUB)U?[BWD][WDQ]"
        r"|V?PMUL(?:L[WDQ]|H(?:U|RS)?W|U?DQ)|V?PAVG[BW]|V?PABS[BWDQ]|V?PSIGN[BWD]|V?PCLMULQDQ",
        ARITHMETIC,
    ),
    _rule(
        r"V?PMADD(?:WD|UBSW)|VPMADD52[LH]UQ|VPDP[BW]\w+|VPMADCS\w+|VPMACS\w+"
        r"|V?M?PSADBW|VDBPSADBW",
        ARITHMETIC,
        ARITHMETIC,
    ),
    _rule(
        r"V?PCMP(?:EQ|GT)[BWDQ]|VPCMPU?[BWDQ]|V?P(?:MIN|MAX)[SU][BWDQ]|V?PCMP[EI]STR[IM](?:64)?"
        r"|V?PHMINPOSUW|VPCONFLICT[DQ]|VPCOMU?[BWDQ]|VTESTP[SD]|VP2INTERSECT[DQ]",
        COMPARE,
    ),
    _rule(r"V?PTEST|VPTESTN?M[BWDQ]", LOGIC, COMPARE),
    _rule(
        r"V?P(?:AND|X?OR)[DQ]?|V?(?:AND|X?OR)P[SD]|V?PS(?:LL|RL|RA)V?[WDQ]|VPRO[LR]V?[DQ]"
        r"|VPSH[LR]DV?[WDQ]|VPROT[BWDQ]|VPSH[AL][BWDQ]|VPTERNLOG[DQ]|VPOPCNT[BWDQ]|VPLZCNT[DQ]"
        r"|VPMULTISHIFTQB|V?GF2P8\w+|V?AES\w+|SHA(?:1|256)\w+",
        LOGIC,
    ),
    _rule(r"V?PANDN[DQ]?|V?ANDNP[SD]", LOGIC, LOGIC),
)
_FP_COMPARE = re.compile(r"V?U?COMIS[SDH]|V?(?:CMP|MIN|MAX|RANGE)(?P<shape>[PS])(?P<element>[SDH])")
_CONSTANT = re.compile(
    r"XOR|SUB|V?PXOR[DQ]?|V?XORP[SD]|V?PSUB\w+|V?PCMP(?:EQ|GT)[BWDQ]|V?PANDN[DQ]?|V?ANDNP[SD]"
    r"|KXN?OR[BWDQ]"
)
_ITSELF = re.compile(r"AND|OR|TEST|V?PTEST|K(?:OR)?TEST[BWDQ]")
_NO_ADDRESS = re.compile(r"F?NOP|RESERVEDNOP|LEA|ENDBR\d+")
_STRING_COMPARE = re.compile(r"(?:CMPS|SCAS)[BWDQ]")

Form = tuple[bool, bool, bool, bool, bool]
"""What of the registers of an instruction its basic operations depend on, see `form_of`."""


def form_of(instruction: Instruction) -> Form:
    """Return what tells the basic operations of instructions of one code and operand kinds apart.

    Returns
    -------
    tuple of bool
        Whether an index register is used, the first two operands are the same register, the
        second two are, the first one is the stack pointer, and LEA adds a displacement.
    """
    first, second = instruction.op0_register, instruction.op1_register
    return (
        instruction.memory_index != Register.NONE,
        first == second,
        second == instruction.op2_register,
        first == Register.RSP,
        instruction.code in _LEA and _adds(instruction),
    )


def basic_operations(name: str, instruction: Instruction, flop: int) -> BasicOperations:
    """Return the basic operations of one execution, or of one iteration if it repeats itself.

    Parameters
    ----------
    name : str
        Its mnemonic.
    instruction : Instruction
        Valid.
    flop : int
        That it does.
    """
    if instruction.is_string_instruction:
        return COMPARE if _STRING_COMPARE.fullmatch(name) else NOTHING
    has_index, _, _, moves_stack, adds = form_of(instruction)
    if moves_stack and name not in {"CMP", "TEST"}:
        return NOTHING
    if instruction.code in _LEA:
        if has_index:
            return BasicOperations(addressing=1)
        return ARITHMETIC if adds else NOTHING
    done = BasicOperations(fp_arithmetic=flop) + _calculated(name, instruction)
    if name == "XLATB" or (has_index and not _NO_ADDRESS.fullmatch(name)):
        elements = gathered_elements(instruction) if instruction.is_vsib else 1
        done += BasicOperations(addressing=elements)
    return done


def _adds(instruction: Instruction) -> bool:
    """Return whether LEA without an index adds a displacement to what a register holds."""
    return bool(instruction.memory_displacement) and instruction.memory_base not in {
        *(Register.NONE, Register.RSP, Register.RIP, Register.EIP),
    }


def _calculated(name: str, instruction: Instruction) -> BasicOperations:
    """Return what is done to values, apart from flop and addresses."""
    if _reads_one_register_twice(instruction):
        if _CONSTANT.fullmatch(name):
            return NOTHING
        if _ITSELF.fullmatch(name):
            return COMPARE
    if match := _FP_COMPARE.fullmatch(name):
        is_packed = match["shape"] == "P"
        return FP_COMPARE * (_lanes(instruction, match["element"]) if is_packed else 1)
    for rules, times in _TABLES:
        for rule in rules:
            if rule.pattern.fullmatch(name):
                return rule.done * times(instruction)
    return NOTHING


def _reads_one_register_twice(instruction: Instruction) -> bool:
    n = instruction.op_count
    kinds = [instruction.op_kind(index) for index in range(max(0, n - 2), n)]
    if kinds != [OpKind.REGISTER, OpKind.REGISTER]:
        return False
    return instruction.op_register(n - 2) == instruction.op_register(n - 1)


def _lanes(instruction: Instruction, element: str) -> int:
    return _vector_bits(instruction) // _ELEMENT_BITS[element]


def _vector_bits(instruction: Instruction) -> int:
    """Return the width of the widest vector register among the operands, 0: there is none."""
    registers = (
        instruction.op_register(index)
        for index in range(instruction.op_count)
        if instruction.op_kind(index) == OpKind.REGISTER
    )
    return max(
        (
            8 * RegisterExt.size(register)
            for register in registers
            if RegisterExt.is_vector_register(register) or RegisterExt.is_mm(register)
        ),
        default=0,
    )


def _words(instruction: Instruction) -> int:
    """Return how many words of 64 bit a vector instruction works on."""
    return _vector_bits(instruction) // 64


def _once(_: Instruction) -> int:
    return 1


_TABLES: tuple[tuple[tuple[_Rule, ...], Callable[[Instruction], int]], ...] = (
    (_SCALAR, _once),
    (_VECTOR, _words),
)


def gathered_elements(instruction: Instruction) -> int:
    """Return the elements of a gather or scatter: index and data have room for each."""
    index_bytes = 4 if instruction.is_vsib32 else 8
    indices = RegisterExt.size(instruction.memory_index) // index_bytes
    element_bits = 8 * MemorySizeExt.size(instruction.memory_size)
    return min(indices, _vector_bits(instruction) // element_bits)
