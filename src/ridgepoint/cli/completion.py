"""Print what makes a shell complete this command line."""

from __future__ import annotations

import sys

import click

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_RIDGEPOINT_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(*, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and names.

    With it, the Tab key completes commands, options, the names of kept records and of published
    machines, and files. Add the line for your shell to the file that it reads when it starts.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    script = kind(click.get_current_context().find_root().command, {}, "ridgepoint", _VARIABLE)
    # Not source(): for bash it starts one to ask for its version, and answers on this terminal.
    sys.stdout.write(script.source_template % script.source_vars())
