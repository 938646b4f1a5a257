"""What came of trials in bare root file systems, and tables of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trials import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a trial.

    Parameters
    ----------
    trial : str
    verdict : {"works", "refused in one line", "fails"}
    status : int
    wall_s : float
    said : str
        The one line, or the end of what was said.
    """

    trial: str
    verdict: Verdict
    status: int
    wall_s: float
    said: str


@dataclass(kw_only=True)
class Tried:
    """What was found in one root file system.

    Parameters
    ----------
    suite, system, python, glibc : str
    is_bare : bool
        Whether it has neither compiler nor Valgrind.
    install_s : float
        Of `pip install`.
    to_verdict_s : float
        From `pip install` to the end of the first run, which measures the machine.
    installed_bytes : int
    results : list of Result
    restricted : dict of str to list of Result
        By the name of the restriction.
    """

    suite: str
    system: str
    python: str
    glibc: str
    is_bare: bool
    install_s: float
    to_verdict_s: float
    installed_bytes: int
    results: list[Result] = field(default_factory=list)
    restricted: dict[str, list[Result]] = field(default_factory=dict)

    @property
    def failures(self) -> list[tuple[str, Result]]:
        """All that fails, with where."""
        found = [(self.suite, one) for one in self.results]
        for name, results in self.restricted.items():
            found += [(f"{self.suite}, {name}", one) for one in results]
        return [(where, one) for where, one in found if one.verdict == "fails"]


def markdown(found: Iterable[Tried], sizes: dict[str, int]) -> str:
    """Return the results as tables."""
    all_found = list(found)
    names = [one.trial for one in all_found[0].results] if all_found else []
    lines = [
        "| wheel | size |",
        "|---|---|",
        *(f"| `{name}` | {size / 1e6:.2f} MB |" for name, size in sizes.items()),
        "",
        "| system | Python | glibc | pip install | to the first verdict | "
        + " | ".join(f"`{name}`" for name in names[1:])
        + " |",
        "|---" * (len(names) + 4) + "|",
    ]
    for one in all_found:
        cells = [f"{_cell(result)}" for result in one.results[1:]]
        lines.append(
            f"| {one.system} | {one.python} | {one.glibc} | {one.install_s:.1f} s "
            f"| {_to_verdict(one)} | {' | '.join(cells)} |"
        )
    for one in all_found:
        if one.restricted:
            lines += ["", f"On {one.system}:", "", "| restriction | what happens |", "|---|---|"]
            lines += [
                f"| {name} | {_in_words(results)} |" for name, results in one.restricted.items()
            ]
    return "\n".join(lines) + "\n"


def _to_verdict(found: Tried) -> str:
    first = found.results[0]
    return f"{found.to_verdict_s:.0f} s" if first.verdict == "works" else first.verdict


def _cell(result: Result) -> str:
    return f"{result.wall_s:.0f} s" if result.verdict == "works" else result.verdict


def _in_words(results: Sequence[Result]) -> str:
    parts = []
    for verdict in ("works", "refused in one line", "fails"):
        names = [f"`{one.trial}`" for one in results if one.verdict == verdict]
        if names:
            said = sorted({one.said for one in results if one.verdict == verdict} - {""})
            quoted = "; ".join(f"“{line}”" for line in said)
            parts.append(f"{verdict}: {', '.join(names)}{' ' if quoted else ''}{quoted}")
    return "; ".join(parts).replace("|", "\\|").replace("\n", " ")
