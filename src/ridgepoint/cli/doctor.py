"""Say what can be measured here, and what to do about the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ridgepoint.cli import common


@click.command("doctor")
@common.json_option
@common.archive_option
def command(as_json: bool, archive_path: Path | None) -> None:
    """Say what can be measured here, why the rest cannot, what to do, and what that costs."""
    from ridgepoint.doctor import examine
    from ridgepoint.documents import SCHEMA, plain, render
    from ridgepoint.figures import tables

    findings = examine(archive_path)
    if as_json:
        document = {"schema": SCHEMA, "kind": "doctor", "findings": plain(findings)}
        sys.stdout.write(render(document))
    else:
        common.console().print(tables.doctor(findings))
