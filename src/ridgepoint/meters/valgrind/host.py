"""What Valgrind needs of a host, and what it hides of it."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import CannotStart, InvalidDocument, MeterUnavailable, reason_of
from ridgepoint.host.process import output_of
from ridgepoint.host.run import resolve
from ridgepoint.meters import Unavailable
from ridgepoint.meters.object_file import foreign_architecture
from ridgepoint.meters.valgrind import package
from ridgepoint.meters.valgrind.choice import INSTALL, PACKAGE, SYSTEM, asked, is_newer, named

_START_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Valgrind:
    """A Valgrind that starts here.

    Parameters
    ----------
    command : tuple of str
        What starts it.
    version : str
        For example ``"3.19.0"``.
    packaged : bool
        Whether it is that of the package ``ridgepoint-engine``.
    cautions : tuple of Caution
    """

    command: tuple[str, ...]
    version: str
    packaged: bool = False
    cautions: tuple[Caution, ...] = ()

    @property
    def name(self) -> str:
        """Which Valgrind it is."""
        return named(self.version, packaged=self.packaged)


def valgrind(*, tool: str) -> Valgrind:
    """Return the newer Valgrind, or the one that ``RIDGEPOINT_VALGRIND`` names.

    Parameters
    ----------
    tool : str
        What is to count with it, a tool of Valgrind's own.

    Raises
    ------
    MeterUnavailable
        If there is none, or it does not start.
    """
    what = f"cannot count with {tool}"
    choice = asked(what)
    if choice == SYSTEM or not (choice == PACKAGE or package.is_installed()):
        return _of_system(what)
    try:
        packaged = _of_package(what, tool)
    except MeterUnavailable:
        if choice == PACKAGE:
            raise
        return _of_system(what)
    if choice == PACKAGE:
        return packaged
    try:
        system = _of_system(what)
    except MeterUnavailable:
        return packaged
    return system if is_newer(system.version, packaged.version) else packaged


def _of_package(what: str, tool: str) -> Valgrind:
    ready = package.ready(package.installed(what), what, tool=tool)
    return Valgrind(
        command=("env", f"VALGRIND_LIB={ready.library}", str(ready.launcher)),
        version=ready.package.version,
        packaged=True,
        cautions=ready.cautions,
    )


def _of_system(what: str) -> Valgrind:
    """Return the Valgrind in ``PATH``."""
    if shutil.which("valgrind") is None:
        raise MeterUnavailable(what, reason="valgrind is not in PATH", remedy=INSTALL)
    try:
        version = output_of(["valgrind", "--version"], limit_s=_START_TIMEOUT_S)
    except OSError as error:
        raise MeterUnavailable(
            what,
            reason=f"valgrind does not start ({reason_of(error)})",
            remedy="reinstall the package 'valgrind'",
        ) from error
    return Valgrind(command=("valgrind",), version=version.strip().removeprefix("valgrind-"))


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
