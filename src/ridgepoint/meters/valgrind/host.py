"""What Valgrind needs of a host, and what it hides of it."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from ridgepoint.core.errors import CannotStart, InvalidDocument, MeterUnavailable, reason_of
from ridgepoint.host.process import output_of
from ridgepoint.host.run import resolve
from ridgepoint.meters import Unavailable
from ridgepoint.meters.object_file import foreign_architecture

_START_TIMEOUT_S = 20.0


def valgrind_version(*, meter: str) -> str:
    """Return the version of the Valgrind in ``PATH``, for example ``3.19.0``.

    Parameters
    ----------
    meter : str
        What is to count with it, for messages.

    Raises
    ------
    MeterUnavailable
        If there is none, or it does not start.
    """
    what = f"cannot count with {meter}"
    if shutil.which("valgrind") is None:
        raise MeterUnavailable(
            what, reason="valgrind is not in PATH", remedy="install the package 'valgrind'"
        )
    try:
        version = output_of(["valgrind", "--version"], limit_s=_START_TIMEOUT_S)
    except OSError as error:
        raise MeterUnavailable(
            what,
            reason=f"valgrind does not start ({reason_of(error)})",
            remedy="reinstall the package 'valgrind'",
        ) from error
    return version.strip().removeprefix("valgrind-")


def why_unavailable(probe: Callable[[], object], *, cost: str) -> Unavailable | None:
    """Return why a meter under Valgrind cannot work on this host, or None.

    Parameters
    ----------
    probe : callable
        Raises MeterUnavailable where what the meter needs is missing.
    cost : str
        What its absence costs the user.
    """
    if platform.machine() != "x86_64":
        return Unavailable(
            reason=f"this is a {platform.machine()} host, and only x86-64 is decoded",
            remedy="count on an x86-64 host",
            cost=cost,
        )
    try:
        probe()
    except MeterUnavailable as error:
        return Unavailable(reason=error.reason, remedy=error.remedy, cost=cost)
    return None


def check_startable(command: Sequence[str]) -> None:
    """Refuse a program that is not there, or that Valgrind would run uncounted.

    Raises
    ------
    CannotStart
        If there is no such program, or it is for another architecture.
    """
    program = resolve(command)[0]
    try:
        other = foreign_architecture(program)
    except InvalidDocument:
        return  # executable without being readable: Valgrind has its own say
    if other is not None:
        raise CannotStart(
            f"cannot start {program!r} under Valgrind",
            reason=f"it is of another architecture: {other}",
            remedy="give it a program for 64-bit x86-64",
        )


def has_avx512() -> bool:
    """Return whether this CPU has AVX-512, which Valgrind hides from programs."""
    return "avx512f" in _flags()


def has_low_precision() -> bool:
    """Return whether it has units for bf16, fp16 or int8, in AMX or AVX-512: hidden as well."""
    return any(flag.startswith(("amx_", "avx512_bf16", "avx512_fp16")) for flag in _flags())


@cache
def _flags() -> frozenset[str]:
    try:
        return frozenset(Path("/proc/cpuinfo").read_text(encoding="ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()
