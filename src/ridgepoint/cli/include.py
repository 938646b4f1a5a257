"""Say where the header is that marks regions in C and C++."""

from __future__ import annotations

import sys

import click


@click.command("include")
def command() -> None:
    """Print the folder of ridgepoint.h: cc -I$(ridgepoint include) ..."""
    from ridgepoint.meters.building import header_folder

    sys.stdout.write(f"{header_folder()}\n")
