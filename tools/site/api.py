"""The pages of all names that `import ridgepoint` offers, in the groups of docs/python.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import ridgepoint

_PYTHON = Path(__file__).parents[2] / "docs" / "python.md"
_ROW = re.compile(r"^\| ([^|`]+) \| (`[^|]+) \|$", re.MULTILINE)


def groups() -> dict[str, list[str]]:
    """Return the names by what they are for.

    Raises
    ------
    ValueError
        If a name that is offered is in none.
    """
    page = _PYTHON.read_text(encoding="utf-8").partition("## All names")[2]
    found = {title: re.findall(r"`(\w+)`", names) for title, names in _ROW.findall(page)}
    listed = {name for names in found.values() for name in names}
    missing = set(ridgepoint.__all__) - listed - {"__version__"}
    if missing:
        raise ValueError(f"docs/python.md lists no {', '.join(sorted(missing))}")
    return found


def write(folder: Path) -> None:
    """Write a page for each group, and one that lists them."""
    of_groups = groups()
    names = {title: "api_" + title.replace(" ", "_") for title in of_groups}
    for title, members in of_groups.items():
        heading = f"{title[:1].upper()}{title[1:]}"
        parts = [heading, "=" * len(heading), "", ".. currentmodule:: ridgepoint", ""]
        for name in members:
            parts += _directive(name)
        (folder / f"{names[title]}.rst").write_text("\n".join(parts), encoding="utf-8")
    heading = "Names in Python"
    parts = [
        heading,
        "=" * len(heading),
        "",
        "All that ``import ridgepoint`` offers. :doc:`python` shows how they are used together.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {name}" for name in names.values()),
    ]
    (folder / "api.rst").write_text("\n".join(parts) + "\n", encoding="utf-8")


def _directive(name: str) -> list[str]:
    value = getattr(ridgepoint, name)
    if isinstance(value, ModuleType):
        title = f"ridgepoint.{name}"
        of_module = [title, "-" * len(title), "", f".. automodule:: {value.__name__}", ""]
        return [*of_module, ".. currentmodule:: ridgepoint", ""]
    if inspect.isclass(value):
        return [f".. autoclass:: {name}", ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    return [f".. autodata:: {name}", ""]
