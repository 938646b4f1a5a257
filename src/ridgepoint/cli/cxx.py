"""Compile C++ with counters of basic operations, in place of the compiler."""

from __future__ import annotations

import click

from ridgepoint.cli.cc import Verbatim, say


@click.command("c++", cls=Verbatim, add_help_option=False)
def command(*, arguments: tuple[str, ...]) -> int:
    """Compile as clang++ does: CXX='ridgepoint c++' make."""
    from ridgepoint.meters.source import compile_as

    return compile_as(arguments, cxx=True, say=say)
