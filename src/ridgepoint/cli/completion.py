"""Print what makes a shell complete this command line."""

from __future__ import annotations

import sys

import click

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_RIDGEPOINT_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(*, shell: str) -> None:
    r"""Print the script that makes SHELL complete commands, options and names.

    With it, the tabulator completes commands and options, the names of kept records and of
    published machines, and files. Add the line below to the file that your shell reads when it
    starts, and open a new shell.

    \b
    ~/.bashrc                      eval "$(ridgepoint completion bash)"
    ~/.zshrc, below compinit       eval "$(ridgepoint completion zsh)"
    ~/.config/fish/config.fish     ridgepoint completion fish | source
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    script = kind(click.get_current_context().find_root().command, {}, "ridgepoint", _VARIABLE)
    # Not source(): for bash it starts one to ask for its version, and answers on this terminal.
    sys.stdout.write(script.source_template % script.source_vars())
