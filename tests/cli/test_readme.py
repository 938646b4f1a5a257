"""What the README shows is what a reader can type."""

import re
from pathlib import Path

import pytest

import ridgepoint
from ridgepoint.core.units import read_quantity
from ridgepoint.show.words import program_name

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = re.findall(r"^\$ ridgepoint (.+)$", README, flags=re.MULTILINE)


def test_readme_shows_commands_at_all():
    """Which test_docs_commands.py runs."""
    assert len(COMMANDS) >= 5
    assert any(command.startswith("run ") for command in COMMANDS)


def test_python_of_the_readme_names_what_exists():
    """Every attribute of the package that the example uses is there."""
    (example,) = re.findall(r"```python\n(.+?)```", README, flags=re.DOTALL)
    used = set(re.findall(r"ridgepoint\.(\w+)", example))

    assert used >= {"machine_here", "measure_program", "place"}
    assert used <= set(dir(ridgepoint))


def test_numbers_of_the_shown_run_belong_together():
    """W / T is P, W / Q is I, and P over the attainable is the efficiency, as printed."""

    def shown(pattern, unit):
        value, base = read_quantity(re.search(pattern, README)[1])
        assert base == unit
        return value

    work = shown(r"W  work +(\S+ \S+)", "flop")
    time = shown(r"T  runtime +(\S+ \S+) \(", "s")
    performance = shown(r"P  performance +(\S+ \S+) \(", "flop/s")
    moved = shown(r"DRAM  read (\S+ \S+),", "B") + shown(r"written (\S+ \S+), pending", "B")
    attainable = shown(r"attainable +(\S+ \S+) on", "flop/s")
    intensity = float(re.search(r"I  intensity +DRAM ([\d.]+)", README)[1])
    efficiency = float(re.search(r"efficiency +([\d.]+) %", README)[1]) / 100

    assert performance == pytest.approx(work / time, rel=2e-3)
    assert intensity == pytest.approx(work / moved, rel=2e-3)
    assert efficiency == pytest.approx(performance / attainable, abs=6e-3)


def test_readme_is_short():
    """At most 150 lines."""
    assert len(README.splitlines()) <= 150


def test_program_of_the_readme_is_named_without_its_folder():
    """As figures and lists name it."""
    assert program_name(("./heat", "2000", "60")) == "heat 2000 60"
