"""Groups of commands that are imported when they are used, for a fast --help."""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ridgepoint.cli.examples import Example, as_epilog

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that knows the names and summaries of its commands without importing any of them.

    Parameters
    ----------
    package : str
        Each command is the value ``command`` of the module of its name in this package.
    summaries : mapping of str to str
        What each command does, in one line, by its name.
    examples : mapping of str to tuple of Example
        What stands below the help of a command, by its name.
    default : str or None
        The command that runs if the arguments begin with none of the names. None: there is none.
    """

    def __init__(
        self,
        *arguments: Any,
        package: str,
        summaries: Mapping[str, str],
        examples: Mapping[str, Sequence[Example]],
        default: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.package, self.summaries, self.default = package, summaries, default
        self.examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in their order."""
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now; None: there is none of that name."""
        if cmd_name not in self.summaries:
            return None
        name = cmd_name.replace("+", "x")
        # A module cannot be called like a word of Python's own.
        module = importlib.import_module(
            f"{self.package}.{f'{name}_' if keyword.iskeyword(name) else name}"
        )
        command: click.Command = module.command
        if command.epilog is None and cmd_name in self.examples:
            command.epilog = as_epilog(self.examples[cmd_name])
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what a shell offers in place of a word: commands, without importing any."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=summary)
            for name, summary in self.summaries.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        begins = args[0] if args else ""
        is_asked = bool(args) or not ctx.resilient_parsing  # a shell completes the name of one
        if is_asked and self.default and begins not in (*self.summaries, *ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments name; refuse an option whose value is empty.

        Every command would have to tell an empty value from none, and an empty path from the
        current folder.

        Raises
        ------
        click.UsageError
        """
        name, command, rest = super().resolve_command(ctx, args)
        options = [] if command is None else _options(command)
        if command is not None and options and not ctx.resilient_parsing:
            own = click.Context(command, info_name=name, parent=ctx, **command.context_settings)
            given, _, _ = command.make_parser(own).parse_args(args=list(rest))
            for option in options:
                value = given.get(option.name or "")
                parts = value if isinstance(value, list) else [value]
                if any(isinstance(part, str) and not part.strip() for part in parts):
                    raise click.BadParameter(
                        "the value is empty; give one, or leave the option out",
                        ctx=own,
                        param=option,
                    )
        return name, command, rest


def _options(command: click.Command) -> list[click.Option]:
    """Return a command's own options: none if all its arguments are another program's."""
    if isinstance(command, click.Group):
        return []
    return [option for option in command.params if isinstance(option, click.Option)]
