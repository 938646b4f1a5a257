"""Basic operations counted from the source of C, C++ and Rust programs, while they run.

A compiler's unoptimised IR says what the source does; a counter in each piece says how often.
"""

from ridgepoint.meters.source.clang import find_clang
from ridgepoint.meters.source.compiler import compile_as
from ridgepoint.meters.source.counting import built, count
from ridgepoint.meters.source.counts import FunctionOperations, LineOperations, SourceCounts
from ridgepoint.meters.source.instrument import instrument
from ridgepoint.meters.source.rust import find_rustc

__all__ = [
    "FunctionOperations",
    "LineOperations",
    "SourceCounts",
    "built",
    "compile_as",
    "count",
    "find_clang",
    "find_rustc",
    "instrument",
]
