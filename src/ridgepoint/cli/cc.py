"""Compile C with counters of basic operations, in place of the compiler."""

from __future__ import annotations

import sys

import click


class Verbatim(click.Command):
    """A command all of whose arguments are another program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all of them, options too."""
        ctx.params["arguments"] = tuple(args)
        return []


def say(line: str) -> None:
    """Tell the user, beside what the compiler says."""
    print(f"ridgepoint: {line}", file=sys.stderr)


@click.command("cc", cls=Verbatim, add_help_option=False)
def command(*, arguments: tuple[str, ...]) -> int:
    """Compile as clang does: CC='ridgepoint cc' make."""
    from ridgepoint.meters.source import compile_as

    return compile_as(arguments, cxx=False, say=say)
