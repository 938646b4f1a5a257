"""``python -m ridgepoint``."""

from ridgepoint.cli.main import entry

entry()
