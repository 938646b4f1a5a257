"""What can go wrong, by name.

Every message reads *what could not be done: why; what to do*. The three parts are
attributes too, so that a caller need not parse the sentence.
"""

import signal


class RidgepointError(Exception):
    """Base of every error that Ridgepoint raises on purpose.

    Parameters
    ----------
    what : str
        What could not be done, beginning with "cannot".
    reason : str
        Why.
    remedy : str
        What to do.
    """

    exit_status = 2

    def __init__(self, what: str, *, reason: str, remedy: str) -> None:
        super().__init__(f"{what}: {reason}; {remedy}")
        self.what, self.reason, self.remedy = what, reason, remedy


class UnknownCeiling(RidgepointError):
    """A demand names a resource for which the machine has no ceiling."""


class InvalidDocument(RidgepointError):
    """A file is invalid: not JSON, a field missing, or a value impossible."""


class ArchiveRefused(RidgepointError):
    """The archive cannot be used: it is damaged, newer, locked or not writable."""


class CannotMeasure(RidgepointError):
    """A measurement could not be made on this host."""


class MeterUnavailable(CannotMeasure):
    """A meter does not work on this host."""


class CannotStart(CannotMeasure):
    """The program could not be started."""


class TimedOut(CannotMeasure):
    """A run exceeded its time limit and was ended."""


class UnsupportedInstruction(CannotMeasure):
    """The program executes an instruction that the meter cannot run."""


class ProgramFailed(RidgepointError):
    """The program itself failed; its status is passed on.

    Parameters
    ----------
    exit_status : int
        The program's exit status; 128 + the signal's number when a signal ended it.
    """

    def __init__(self, what: str, *, reason: str, remedy: str, exit_status: int) -> None:
        super().__init__(what, reason=reason, remedy=remedy)
        self.exit_status = exit_status


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason that the system or a reader gives, without error number or path.

    Examples
    --------
    >>> reason_of(FileNotFoundError(2, "No such file or directory", "x.json"))
    'no such file or directory'
    """
    message = error.strerror if isinstance(error, OSError) else None
    return (message or str(error)).lower()


class Interrupted(KeyboardInterrupt):
    """The system asked Ridgepoint to stop. Not an `Exception`: nothing continues after it.

    Parameters
    ----------
    message : str
    number : int
        Number of the signal.
    """

    def __init__(self, message: str, number: int = signal.SIGTERM) -> None:
        super().__init__(message)
        self.number = number


def status_of(interrupt: BaseException | None) -> int:
    """Return the exit status after an interrupt, as in a shell: 128 + the signal's number."""
    number = interrupt.number if isinstance(interrupt, Interrupted) else signal.SIGINT
    return 128 + number
