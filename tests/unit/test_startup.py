"""What is imported before anything is known of what is asked: little."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "llvmlite", "matplotlib", "rich.console", "msgspec", "psutil", "sqlite3")
"""Each takes 20 ms to 1 s."""

_HELP = """
import click, sys
from ridgepoint.cli.main import group
def walk(command, context):
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            walk(command.get_command(context, name), context)
    else:
        command.get_help(click.Context(command, parent=context))
walk(group, click.Context(group))
"""


@pytest.mark.parametrize(
    "code", ["import ridgepoint", _HELP], ids=["import ridgepoint", "--help of every command"]
)
def test_nothing_heavy_is_imported(code):
    """`import ridgepoint` and ``--help`` are as quick as Python and click."""
    code += f"\nimport sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
