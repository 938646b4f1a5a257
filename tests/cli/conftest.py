"""A command line without clocks and Valgrind: a scripted meter and a machine from a file."""

import pytest
from core_inputs import MACHINE, MEASUREMENT

from ridgepoint.cli.main import main
from ridgepoint.core.documents import encode
from ridgepoint.meters import Unavailable
from ridgepoint.meters.scripted import ScriptedMeter


class CommandLine:
    """Runs the command line in this process.

    Parameters
    ----------
    folder : Path
        Where the archive and the machine's file are.
    capfd : pytest's fixture
    """

    def __init__(self, folder, capfd):
        self.folder, self._capfd = folder, capfd
        self.archive = folder / "archive.sqlite3"
        self.machine = folder / "machine.json"
        self.machine.write_bytes(encode(MACHINE))

    def __call__(self, *arguments):
        """Return status, standard output and standard error."""
        self._capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = self._capfd.readouterr()
        return status, out, err

    def run(self, *arguments):
        """Measure something with the machine of the file."""
        return self("run", "--machine", self.machine, "--repeat", "1", *arguments)


def _put(meter, monkeypatch):
    # Importing the second must not find the first replaced: it would keep what replaced it.
    for engine in ("first_choice.first_choice", "engine.EngineMeter"):
        monkeypatch.setattr(f"ridgepoint.meters.{engine}", lambda **options: meter)


@pytest.fixture
def meter(monkeypatch):
    """Put a scripted meter in the engines' place; it says what the literal measurement holds."""
    scripted = ScriptedMeter(MEASUREMENT.counted)
    _put(scripted, monkeypatch)
    return scripted


@pytest.fixture
def no_meter(monkeypatch):
    """Put a meter that does not work in the engine's place."""
    lack = Unavailable(reason="there is no valgrind", remedy="install it", cost="all")
    scripted = ScriptedMeter(MEASUREMENT.counted, unavailable=lack)
    _put(scripted, monkeypatch)
    return scripted


@pytest.fixture
def cli(tmp_path, capfd, monkeypatch):
    """Give the command line with an archive of its own."""
    command_line = CommandLine(tmp_path, capfd)
    monkeypatch.setenv("RIDGEPOINT_ARCHIVE", str(command_line.archive))
    return command_line
