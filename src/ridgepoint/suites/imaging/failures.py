"""Errors of imaging."""

from __future__ import annotations

from ridgepoint.core.errors import RidgepointError


class CannotImage(RidgepointError):
    """No image can be made: a library is missing, or the data do not fit into memory."""


class Diverged(CannotImage):
    """A deconvolution made the residual larger than it was."""
