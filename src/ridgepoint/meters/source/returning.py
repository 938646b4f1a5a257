"""Which calls are known to come back: behind every other one, counting begins anew.

A callee that exits, throws or jumps leaves what stands behind the call undone. A call that is
known to return needs no counter of its own behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ridgepoint.meters.source.ir import Function, Instruction

_MATHEMATICS = (
    "acos asin atan atan2 cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs floor fma fmax fmin "
    "fmod hypot ldexp llrint llround log log10 log1p log2 lrint lround nearbyint pow rint round "
    "sin sinh sqrt tan tanh tgamma trunc"
)
_OTHERS = (
    "abs labs llabs memchr memcmp memcpy memmove memset strcat strchr strcmp strcpy strlen strncmp "
    "strncpy strrchr strstr strtol strtoul strtod atoi atol atof malloc calloc realloc free "
    "isalnum isalpha isdigit islower isspace isupper tolower toupper __ctype_b_loc "
    "__errno_location _ZdlPv _ZdlPvm _ZdaPv __cxa_begin_catch __cxa_guard_acquire "
    "__cxa_guard_release rand srand"
)
_LIBRARY = frozenset(
    (
        *(f"{name}{suffix}" for name in _MATHEMATICS.split() for suffix in ("", "f", "l")),
        *_OTHERS.split(),
    )
)


def returning(functions: Sequence[Function]) -> frozenset[str]:
    """Return the functions whose every call returns, if it ends at all.

    Those of a module that call only such functions by name, throw nothing and reach no end, and
    some of the C library's.

    Parameters
    ----------
    functions : sequence of Function
        All that the module defines.
    """
    calls = {
        function.symbol: _callees(function) for function in functions if not function.replaceable
    }
    # The largest set that holds: functions that call each other in a circle may stay.
    known = {symbol for symbol, callees in calls.items() if callees is not None}
    known |= _LIBRARY - {function.symbol for function in functions}
    while True:
        doubtful = {
            symbol
            for symbol in known
            if not all(_is_known(callee, known) for callee in calls.get(symbol) or ())
        }
        if not doubtful:
            return frozenset(known)
        known -= doubtful


def comes_back(instruction: Instruction, known: frozenset[str]) -> bool:
    """Return whether what stands behind an instruction is executed whenever it is."""
    if instruction.opcode != "call" or instruction.is_assembly:
        return True
    callee = instruction.callee
    return callee is not None and _is_known(callee, known)


def _is_known(callee: str, known: frozenset[str] | set[str]) -> bool:
    return callee in known or callee.startswith("llvm.")


def _callees(function: Function) -> set[str] | None:
    """Return what a function calls; None: it may leave in another way than by returning."""
    callees = set()
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode in ("resume", "unreachable", "callbr"):
                return None
            if instruction.opcode in ("call", "invoke") and not instruction.is_assembly:
                if instruction.callee is None:
                    return None
                callees.add(instruction.callee)
    return callees
