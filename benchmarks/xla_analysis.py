"""Compare what XLA says of programs with what we state and what is counted; renew the table.

    python benchmarks/xla_analysis.py           # prints the table
    python benchmarks/xla_analysis.py --write   # and writes it into docs/operators_jax_numpy.md

It needs ``jax[cpu]`` and the copying engine.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax

from ridgepoint.core.counted import Counted
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.core.units import format_si
from ridgepoint.profiling.calls.apart import count_tasks
from ridgepoint.profiling.calls.child import Task
from ridgepoint.profiling.calls.counted import Conditions
from ridgepoint.profiling.calls.packing import pack, pack_function
from ridgepoint.profiling.operators import operators
from xla_cases import CASES, Case, Jitted

PAGE = Path(__file__).parents[1] / "docs" / "operators_jax_numpy.md"
BEGIN, END = "<!-- table: benchmarks/xla_analysis.py -->", "<!-- end of table -->"
TOLERANCE = 0.05


@dataclass(frozen=True)
class Row:
    """What is said of one program, in flop; None: unknown."""

    name: str
    case: Case
    ours: float | None
    functions: float
    xla: float | None
    xla_functions: float
    counted: float | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        return (
            self.name,
            _shown(self.counted),
            _shown(self.ours),
            _shown(self.functions, "") if self.functions else "",
            _shown(self.xla),
            _shown(self.xla_functions, "") if self.xla_functions else "",
            self.verdict,
        )

    @property
    def verdict(self) -> str:
        """Who is right, and why the other is not."""
        if self.xla is None:
            return "XLA does not know"
        if self.ours is not None and abs(self.ours - self.xla) <= TOLERANCE * max(self.ours, 1):
            return "both agree"
        return self.case.why or "?"


def main() -> None:
    """Profile and count every case, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    parser.add_argument("--only", default="", help="names of the cases that match this text")
    options = parser.parse_args()
    cases = {name: case for name, case in CASES.items() if options.only in name}
    counted = _counted(cases)
    rows = [_row(name, case, counted.get(name)) for name, case in cases.items()]
    text = _table(rows)
    print(text)
    if options.write:
        page = PAGE.read_text()
        pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page))


def _counted(cases: dict[str, Case]) -> dict[str, float | None]:
    tasks = [
        Task(
            name=name,
            function=pack_function(f"cannot count {name}", Jitted(name)),
            arguments=pack(f"cannot count {name}", case.arrays()),
            cold=False,
            calls=1,
        )
        for name, case in cases.items()
    ]
    conditions = Conditions(caches=(), threads=1, timeout_s=None, engine="native", simulate=False)
    results = count_tasks(tasks, conditions, lambda task: print(f"counting {task.name}"))
    return {
        name: float(sum(found.counts.work.values())) if isinstance(found, Counted) else None
        for name, found in results.items()
    }


def _row(name: str, case: Case, counted: float | None) -> Row:
    profile: OperatorProfile = operators(
        jax.jit(case.function), *case.arrays(), repetitions=1, limit_s=10, name=name
    )
    known = [one.asked.work for one in profile.operators]
    said = profile.library_says
    return Row(
        name=name,
        case=case,
        ours=None
        if any(work is None for work in known)
        else sum(
            one.calls * sum(one.asked.work.values())
            for one in profile.operators
            if one.asked.work is not None
        ),
        functions=sum((one.calls or 0) * one.asked.functions for one in profile.operators),
        xla=said.get("flop"),
        xla_functions=said.get("functions", 0.0),
        counted=counted,
    )


def _shown(value: float | None, unit: str = "flop") -> str:
    if value is None:
        return "unknown"
    return format_si(value, unit).strip() if value else "0"


def _table(rows: Sequence[Row]) -> str:
    heads = (
        "program", "counted", "stated here", "functions", "XLA says", "its functions", "",
    )  # fmt: skip
    lines = [heads, ("---",) * len(heads), *(row.cells for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
