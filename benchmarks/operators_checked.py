"""Check the rules of operators by counted instructions and simulated traffic; renew the table.

    python benchmarks/operators_checked.py              # writes docs/operators_checked.md
    python benchmarks/operators_checked.py --keep FILE  # also writes what was counted, as JSON
    python benchmarks/operators_checked.py --from FILE  # only writes the table again, by new rules

It needs PyTorch; where fvcore is installed, the table says what that states too.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "5")  # the profiler tells of each start

import torch
from msgspec import convert
from torch.utils._python_dispatch import TorchDispatchMode

from operator_cases import Case, cases, functions, inputs_of
from operator_libraries import stated_of_case
from operator_table import page, unexplained
from ridgepoint.core.machine import Cache
from ridgepoint.core.operators import Call, Operator
from ridgepoint.demands.operators import asked_of
from ridgepoint.profiling.operators.checking import Maker, check
from ridgepoint.profiling.operators.pytorch.arrays import Arrays, call_of

PAGE = Path(__file__).parents[1] / "docs" / "operators_checked.md"
CACHES = (
    Cache(level=1, kind="data", size_bytes=48 << 10, line_bytes=64, ways=12),
    Cache(level=1, kind="instruction", size_bytes=32 << 10, line_bytes=64, ways=8),
    Cache(level=2, kind="unified", size_bytes=2 << 20, line_bytes=64, ways=16),
)
"""Caches that are simulated wherever the table is made."""

BACKWARD = ", backward"
_LEAST_BYTES = 1 << 14  # of arrays: below, a call is mostly overhead


class _Recorder(TorchDispatchMode):
    """Keeps each call with copies of its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[tuple[Any, ...], dict[str, Any], Operator]] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        options = options or {}
        if function._schema.name.startswith(("profiler::", "prim::")):
            return function(*arguments, **options)
        arrays = Arrays()
        given = arrays.given(function, arguments, options)
        kept = copy.deepcopy(_plain((tuple(arguments), options)))
        returned = function(*arguments, **options)
        call = call_of(given, arrays.returned(returned))
        operator = Operator(
            call=call, module="", phase="forward", asked=asked_of(call), calls=1, time_s=None
        )
        if (
            not function.is_view
            and sum(a.nbytes for a in (*call.inputs, *call.outputs)) >= _LEAST_BYTES
        ):
            self.found.append((*kept, operator))
        return returned


def _plain(value: Any) -> Any:
    """Return arguments whose tensors no gradient is wanted of."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(one) for one in value)
    return value


def _calls(case: Case) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any], Operator]]:
    """Yield the calls of a case with their names: forward, and backward."""
    inputs = inputs_of(case)
    with torch.set_grad_enabled(case.backward):
        with _Recorder() as forward:
            returned = case.function(*inputs)
        yield from ((case.name, *one) for one in forward.found)
        if case.backward:
            gradient = torch.randn_like(returned)
            with _Recorder() as backward:
                returned.backward(gradient)
            yield from ((f"{case.name}{BACKWARD}", *one) for one in backward.found)


def counted(
    wanted: Iterable[Case], functions: Iterable[Case], report: Callable[[str], None]
) -> dict[str, list[dict[str, Any]]]:
    """Return what was found of each different operator of cases, and of cases by other tools.

    Everything is counted in one process, whose start takes longest.
    """
    places: dict[str, int] = {}
    makers: list[Maker] = []
    operators: list[Operator] = []
    rows: list[dict[str, Any]] = []
    programs: list[dict[str, Any]] = []
    for case in wanted:
        own: dict[str, list[int]] = {}
        for name, arguments, options, operator in _calls(case):
            key = f"{operator.call!r} {operator.call.sharing}"
            if key not in places:
                places[key] = len(rows)
                operators.append(operator)
                makers.append(partial(_given, arguments, options))
                rows.append({"case": name})
            own.setdefault(name, []).append(places[key])
        stated = stated_of_case(case)
        programs.extend(
            {"case": name, "operators": at, "stated": stated[_phase(name)]}
            for name, at in own.items()
        )
    n_rows = len(rows)
    for case in functions:
        for name, arguments, options, operator in _calls(case):
            operators.append(operator)
            makers.append(partial(_given, arguments, options))
            rows.append({"case": name})
    checked = check(operators, makers, caches=CACHES, report=report)
    for row, operator in zip(rows, checked, strict=True):
        row["call"] = asdict(operator.call)
        row["asked"] = asdict(operator.asked)
        row["checked"] = [asdict(one) for one in operator.checked]
        row["unchecked"] = operator.unchecked
    return {"operators": rows[:n_rows], "programs": programs, "functions": rows[n_rows:]}


def _phase(name: str) -> str:
    return "backward" if name.endswith(BACKWARD) else "forward"


def _given(arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    return arguments, options


def main() -> None:
    """Count, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--from", dest="known", type=Path)
    given = parser.parse_args()
    if given.known is None:
        torch.set_num_threads(1)
        began = time.monotonic()

        def report(what: str) -> None:
            print(f"{time.monotonic() - began:6.0f} s  {what}", file=sys.stderr)

        found = {
            "torch": torch.__version__,
            **counted(cases(), functions(), report),
        }
        print(f"took {time.monotonic() - began:.0f} s", file=sys.stderr)
    else:
        found = json.loads(given.known.read_text())
        for row in found["operators"]:  # by the rules of today
            row["asked"] = asdict(asked_of(convert(row["call"], Call)))
    if given.keep is not None:
        given.keep.write_text(json.dumps(found, indent=1))
    PAGE.write_text(page(found))
    for what in unexplained(found):
        print(f"nobody has explained this: {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
