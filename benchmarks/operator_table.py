"""Write the page that compares rules of operators with counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from operator_reasons import reason
from ridgepoint.core.operators import Asked, Call, CheckedCall, Operator
from ridgepoint.core.units import format_si
from ridgepoint.models.operators.agreement import (
    BYTES_SLACK,
    BYTES_TOLERANCE,
    FLOP_OF_FUNCTION,
    WORK_SLACK_FLOP,
    WORK_TOLERANCE,
    Agreement,
    agreement_of,
)

Row = Mapping[str, Any]

_TEMPLATE = Path(__file__).parent / "operators_checked.md.in"
_REAL = ("fp", "bf", "complex")
_LEAST_COUNTED = 10_000  # flop of a program of which other tools are asked


def page(found: Mapping[str, Any]) -> str:
    """Return the page as Markdown, from what was counted."""
    rows = [row for row in found["operators"] if row["checked"]]
    agreements = [_agreement(row) for row in rows]
    both = list(zip(rows, agreements, strict=True))
    low, high = FLOP_OF_FUNCTION
    return _TEMPLATE.read_text().format(
        torch=f"PyTorch {found['torch']}",
        n=len(rows),
        less=_listed([one for one in agreements if one.work == "less"]),
        work=100 * WORK_TOLERANCE,
        slack=WORK_SLACK_FLOP,
        low=low,
        high=high,
        bytes=100 * BYTES_TOLERANCE,
        line=BYTES_SLACK >> 10,
        summary="\n".join(_summary(agreements)),
        work_rows="\n".join(_work(row, one) for row, one in both),
        function_rows="\n".join(_functions(found["functions"])),
        library_rows="\n".join(_libraries(found)),
        byte_rows="\n".join(_bytes(row, one) for row, one in both),
    )


def unexplained(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield calls whose difference nobody has explained."""
    for row in found["operators"]:
        if not row["checked"]:
            yield f"{_what(row)}: not counted: {row['unchecked']}"
            continue
        one, name, case = _agreement(row), row["call"]["name"], row["case"]
        if one.work in ("more", "less") and not reason(name, case):
            yield f"{_what(row)}: {one.work} work: {one.work_ratio}"
        if {"more", "less"} & {one.reads, one.writes} and not reason(name, case, moved=True):
            yield f"{_what(row)}: reads {one.reads}, writes {one.writes}"


def _agreement(row: Row) -> Agreement:
    operator = Operator(
        call=Call(name=row["call"]["name"], arguments=()),
        module="",
        phase="forward",
        asked=Asked(**row["asked"]),
        calls=1,
        time_s=None,
        checked=tuple(CheckedCall(**one) for one in row["checked"]),
    )
    found = agreement_of(operator)
    assert found is not None
    return found


def _listed(less: Sequence[Agreement]) -> str:
    if not less:
        return "none does"
    return "this holds for " + ", ".join(f"`{one.operator.name}`" for one in less)


def _summary(agreements: Sequence[Agreement]) -> Iterator[str]:
    for name, verdicts in (
        ("work", [one.work for one in agreements]),
        ("bytes read, cold", [one.reads for one in agreements]),
        ("bytes written, cold", [one.writes for one in agreements]),
    ):
        counts = [verdicts.count(kind) for kind in ("agrees", "more", "less", "unknown")]
        yield f"| {name} | {' | '.join(map(str, counts))} |"


def _what(row: Row) -> str:
    return f"`{row['call']['name'].removeprefix('aten.')}` | {row['case']}"


def _type(row: Row) -> str:
    arrays = _arrays([*row["call"]["arguments"], *row["call"]["outputs"]])
    types = [str(array["dtype"]) for array in arrays]
    return next((name for name in types if name.startswith(_REAL)), types[0] if types else "")


def _arrays(values: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for value in values:
        if isinstance(value, Mapping) and "dtype" in value:
            yield value
        elif isinstance(value, list | tuple):
            yield from _arrays(value)


def _flop(amount: float | None) -> str:
    return "unknown" if amount is None else format_si(amount, "flop") if amount else "0"


def _work(row: Row, one: Agreement) -> str:
    ratio = "" if one.work_ratio is None else f"{one.work_ratio:.3g}"
    if one.work in ("more", "less"):
        ratio = f"**{ratio or 'more'}**"
    function = "" if one.flop_per_function is None else f"{one.flop_per_function:.3g}"
    why = ""
    if one.work in ("more", "less"):
        why = reason(row["call"]["name"], row["case"])
    elif one.work == "unknown":
        why = row["asked"]["unknown"]
    if function and one.work == "agrees":
        ratio = ""
    return (
        f"| {_what(row)} | {_type(row)} | {_flop(one.stated_flop)} | {_flop(one.counted_flop)} | "
        f"{ratio} | {function} | {why} |"
    )


def _functions(rows: Sequence[Row]) -> Iterator[str]:
    table: dict[str, dict[str, str]] = {}
    for row in rows:
        if not row["checked"]:
            continue
        output = row["call"]["outputs"][0]
        size = output["nbytes"] / {"fp64": 8, "fp32": 4, "bf16": 2}[output["dtype"]]
        own = {"bf16": "fp32"}.get(output["dtype"], output["dtype"])
        work = row["checked"][0]["work"]
        words = [
            f"{amount / size:.3g}" + ("" if precision == own else f" in {precision}")
            for precision, amount in sorted(work.items(), key=lambda one: one[0] != own)
            if amount / size >= 0.05
        ]
        name = row["call"]["name"].removeprefix("aten.")
        table.setdefault(name, {})[output["dtype"]] = ", ".join(words)
    for name, by_type in table.items():
        cells = (by_type.get(one, "not counted") for one in ("fp32", "fp64", "bf16"))
        yield f"| {name} | {' | '.join(cells)} |"


def _libraries(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row for each program whose operators have all been counted."""
    for program in found["programs"]:
        rows = [found["operators"][at] for at in program["operators"]]
        if not all(row["checked"] for row in rows):
            continue
        agreements = [_agreement(row) for row in rows]
        counted = sum(one.counted_flop for one in agreements)
        if counted < _LEAST_COUNTED:
            continue
        stated = [one.stated_flop for one in agreements]
        ours = None if None in stated else sum(one or 0.0 for one in stated)
        functions = sum(one.functions for one in agreements)
        cells = [
            _with_functions(_share(ours, counted), functions),
            *(
                _share(program["stated"].get(name), counted)
                for name in ("flop_counter", "profiler", "fvcore")
            ),
        ]
        yield f"| {program['case']} | {_flop(counted)} | {' | '.join(cells)} |"


def _with_functions(share: str, functions: float) -> str:
    if not functions or not share:
        return share
    return "functions" if "**" in share else f"{share} + functions"


def _share(value: float | None, counted: float) -> str:
    if value is None:
        return ""
    return f"{value / counted:.2f}" if value else "**0**"


def _bytes(row: Row, one: Agreement) -> str:
    asked, states = row["asked"], {part["state"]: part for part in row["checked"]}
    cells = [
        *(_size(asked[key]) for key in ("read_bytes", "write_bytes")),
        _marked(_size(states["cold"]["read_bytes"]), one.reads),
        _marked(_size(states["cold"]["write_bytes"]), one.writes),
        *(_size(states["warm"][key]) for key in ("read_bytes", "write_bytes")),
    ]
    differs = {"more", "less"} & {one.reads, one.writes}
    why = reason(row["call"]["name"], row["case"], moved=True) if differs else ""
    return f"| {_what(row)} | {' | '.join(cells)} | {why} |"


def _marked(text: str, verdict: str) -> str:
    return f"**{text}**" if verdict in ("more", "less") else text


def _size(amount: float | None) -> str:
    return "unknown" if amount is None else format_si(amount, "B") if amount else "0"
