"""Basic operations counted from the source of C and C++ programs, while they run.

Clang's unoptimised IR says what the source does; a counter in each piece of it says how often.
"""

from ridgepoint.meters.source.compiler import compile_as, find_clang
from ridgepoint.meters.source.counting import built, count
from ridgepoint.meters.source.counts import FunctionOperations, LineOperations, SourceCounts
from ridgepoint.meters.source.instrument import instrument

__all__ = [
    "FunctionOperations",
    "LineOperations",
    "SourceCounts",
    "built",
    "compile_as",
    "count",
    "find_clang",
    "instrument",
]
