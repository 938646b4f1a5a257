"""Functions of a program that were counted, and of whose time nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ridgepoint.core.counts import FunctionCounts
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.parts import function_alone


def untimed_functions(whole: Analysis) -> Iterator[tuple[FunctionCounts, Analysis]]:
    """Yield the functions that no sample of the time was in, each with its analysis alone."""
    timed = {(part.timed.object, part.timed.name) for part in whole.functions}
    for function in whole.measurement.counted.functions:
        if (function.object, function.name) not in timed:
            alone = function_alone(whole.measurement, function, None)
            yield function, replace(whole, measurement=alone, cores=None)
