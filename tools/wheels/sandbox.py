"""Runs a command in a root file system as an ordinary user, offline, with what a trial takes away.

`bubblewrap` makes the user namespace: no privilege, no network, a file system that the user may
not write to but for the home folder and ``/tmp``.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

VENV, HOME, WHEELS = "/opt/venv", "/home/user", "/wheels"
USER = 1000
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of this machine that a sandbox shows.

    Parameters
    ----------
    root, wheels : Path
        Which it only reads.
    venv, home, temporary : Path
        Of the user.
    """

    root: Path
    wheels: Path
    venv: Path
    home: Path
    temporary: Path

    def make(self) -> None:
        """Make the user's folders."""
        for folder in (self.venv, self.home, self.temporary):
            folder.mkdir(parents=True, exist_ok=True)
            if os.geteuid() == 0:
                os.chown(folder, USER, USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What a trial gives its command.

    Parameters
    ----------
    environment : mapping of str to str or None
        Beside what every user has; None takes a variable away.
    user : int
        Its number; `USER` is in ``/etc/passwd``.
    venv_writable, home_writable : bool
    hidden : frozenset of str
        Of ``/proc``, ``/sys`` and ``/dev/shm``, what is not there.
    temporary_bytes : int or None
        Size of ``/tmp``; None: that of this machine's disk.
    not_executable : tuple of str
        Which of `VENV`, `HOME`, its folder ``.cache`` and ``/tmp`` are mounted noexec.
    forbidden : tuple of str or None
        None: no filter of system calls. Else Docker's, which also forbids these.
    """

    environment: Mapping[str, str | None] = field(default_factory=dict)
    user: int = USER
    venv_writable: bool = False
    home_writable: bool = True
    hidden: frozenset[str] = frozenset()
    temporary_bytes: int | None = None
    not_executable: tuple[str, ...] = ()
    forbidden: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended.

    Parameters
    ----------
    status : int
        124 if it took too long.
    wall_s : float
    output, complaints : str
    """

    status: int
    wall_s: float
    output: str
    complaints: str


def run(
    command: Sequence[str],
    places: Places,
    sandbox: Sandbox,
    *,
    system_calls: Path | None = None,
    limit_s: float = 600.0,
) -> Done:
    """Run a command in a sandbox.

    Parameters
    ----------
    command : sequence of str
    places : Places
    sandbox : Sandbox
    system_calls : Path or None
        The filter of system calls, as `bwrap --seccomp` takes it.
    limit_s : float
    """
    wrapped = [*_noexec(places, sandbox), *_bubblewrap(places, sandbox)]
    descriptor = None if system_calls is None else os.open(system_calls, os.O_RDONLY)
    if descriptor is not None:
        wrapped += ["--seccomp", str(descriptor)]
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [*_as_user(), *wrapped, "--", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit_s,
            pass_fds=() if descriptor is None else (descriptor,),
        )
        status, output, complaints = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, output, complaints = 124, "", f"it took longer than {limit_s:g} s"
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return Done(
        status=status, wall_s=time.monotonic() - begun, output=output, complaints=complaints
    )


def _as_user() -> list[str]:
    """Return what drops the rights of root, if this is root: the namespace is a user's."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]


def _inside(places: Places) -> dict[str, Path]:
    return {
        VENV: places.venv,
        HOME: places.home,
        f"{HOME}/.cache": places.home / ".cache",
        "/tmp": places.temporary,
    }


def _noexec(places: Places, sandbox: Sandbox) -> list[str]:
    """Return what remounts folders noexec, in a namespace of its own: bubblewrap has no option."""
    if not sandbox.not_executable:
        return []
    steps = []
    for name in sandbox.not_executable:
        folder = _inside(places)[name]
        steps.append(f"mkdir -p '{folder}' && mount --bind '{folder}' '{folder}'")
        steps.append(f"mount -o remount,bind,noexec '{folder}'")
    script = " && ".join([*steps, 'exec "$@"'])
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]


def _bubblewrap(places: Places, sandbox: Sandbox) -> list[str]:
    home = "--bind" if sandbox.home_writable else "--ro-bind"
    venv = "--bind" if sandbox.venv_writable else "--ro-bind"
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--uid", str(sandbox.user), "--gid", str(sandbox.user)]
    words += ["--ro-bind", str(places.root), "/"]
    if "/proc" not in sandbox.hidden:
        words += ["--proc", "/proc"]
    if "/sys" not in sandbox.hidden:
        words += ["--ro-bind", "/sys", "/sys"]
    if "/dev/shm" in sandbox.hidden:
        words += ["--tmpfs", "/dev"]
        for name in _DEVICES:
            words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    else:
        words += ["--dev", "/dev"]
    if sandbox.temporary_bytes is None:
        words += ["--bind", str(places.temporary), "/tmp"]
    else:
        words += ["--size", str(sandbox.temporary_bytes), "--tmpfs", "/tmp"]
    words += [home, str(places.home), HOME, venv, str(places.venv), VENV]
    words += ["--ro-bind", str(places.wheels), WHEELS, "--chdir", HOME, "--clearenv"]
    environment = {
        "HOME": HOME,
        "PATH": f"{VENV}/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        **sandbox.environment,
    }
    for name, value in environment.items():
        if value is not None:
            words += ["--setenv", name, value]
    return words
