"""Bare root file systems, as a user's container or login node has them: no compiler, no Valgrind.

`mmdebstrap` makes each from its distribution's packages, once; it is kept in a cache folder under
a name that changes with what it is made of.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_FILES = {
    "golang-github-docker-docker-dev": "*/profiles/seccomp/default.json",
    "ubuntu-keyring": "*/ubuntu-archive-keyring.gpg",
}
"""What trials need of packages of Debian: of Docker's sources, the filter of system calls."""

_UBUNTU_KEYRING = "ubuntu-archive-keyring.gpg"

_FILES_SUITE = "trixie"  # the newest that does not change


_NUMPY_NEEDS = ("libstdc++6",)  # its wheels, as manylinux allows; apt brings it, but not Ubuntu's


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A release of a distribution.

    Parameters
    ----------
    name : str
        As its archive calls it.
    system : str
        As its users call it.
    python : str
        The version of Python that its packages offer, such as ``"3.13"``.
    packages : tuple of str
        More of its packages, beside Python.
    components : str
        Of its archive.
    is_ubuntu : bool
        Whether its archive is Ubuntu's, whose key Debian has in a package.
    """

    name: str
    system: str
    python: str
    packages: tuple[str, ...] = ()
    components: str = "main"
    is_ubuntu: bool = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """All packages beside the essential ones."""
        return (f"python{self.python}", f"python{self.python}-venv", *_NUMPY_NEEDS, *self.packages)


SUITES = {
    "bookworm": Suite(name="bookworm", system="Debian 12", python="3.11"),
    "trixie": Suite(name="trixie", system="Debian 13", python="3.13"),
    "forky": Suite(name="forky", system="Debian 14 (testing)", python="3.14"),
    "jammy": Suite(
        name="jammy",
        system="Ubuntu 22.04",
        python="3.11",
        components="main,universe",
        is_ubuntu=True,
    ),
    "noble": Suite(
        name="noble",
        system="Ubuntu 24.04",
        python="3.12",
        components="main,universe",
        is_ubuntu=True,
    ),
    "bookworm-valgrind": Suite(
        name="bookworm",
        system="Debian 12 with its own Valgrind",
        python="3.11",
        packages=("valgrind",),
    ),
}
"""What is tried, by the name that this tool gives it."""


class NoRoot(Exception):
    """A root file system could not be made; the message says why."""


def missing_tools() -> list[str]:
    """Return the packages of Debian that are not installed here and have to be."""
    programs = {"mmdebstrap": "mmdebstrap", "bwrap": "bubblewrap", "setpriv": "util-linux"}
    return [package for program, package in programs.items() if shutil.which(program) is None]


def root_of(suite: Suite, cache: Path) -> Path:
    """Return the folder of a suite's root file system, making it if it is not there.

    Parameters
    ----------
    suite : Suite
    cache : Path
        Where root file systems are kept.

    Raises
    ------
    NoRoot
        If it cannot be made.
    """
    command = _command(suite, cache)
    key = hashlib.sha256(" ".join(command).encode()).hexdigest()[:8]
    root = cache / f"{suite.name}-{key}"
    if root.is_dir():
        return root
    cache.mkdir(parents=True, exist_ok=True)
    draft = cache / f".making-{root.name}"
    shutil.rmtree(draft, ignore_errors=True)
    done = subprocess.run([*command, str(draft)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)
        said = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        raise NoRoot(f"{suite.system}: {said[0] if said else done.stderr.strip()[-300:]}")
    draft.chmod(0o755)
    draft.rename(root)
    return root


def seccomp_profile(cache: Path) -> Path:
    """Return the filter of system calls that Docker applies by default, as its sources have it.

    Raises
    ------
    NoRoot
        If it is not to be had.
    """
    return _file("default.json", cache)


def _file(name: str, cache: Path) -> Path:
    return root_of(SUITES[_FILES_SUITE], cache) / "usr/share" / name


def _command(suite: Suite, cache: Path) -> list[str]:
    folders = " ".join(f'"$1"/{name}' for name in ("home/user", "wheels", "opt/venv"))
    hooks = [f"mkdir -p {folders}", 'chmod -R a+rX "$1"/etc || true']
    if suite.name == _FILES_SUITE:
        for package, pattern in _FILES.items():
            name = pattern.rpartition("/")[2]
            hooks.append(
                f'cd "$1"/tmp && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download {package} && '
                f"dpkg-deb --fsys-tarfile {package}_*.deb | tar -xO --wildcards '{pattern}' "
                f'> "$1"/usr/share/{name} && rm *.deb'
            )
    keyring = [f"--keyring={_file(_UBUNTU_KEYRING, cache)}"] if suite.is_ubuntu else []
    return [
        "mmdebstrap",
        "--variant=minbase",
        # A mirror may lag: these systems serve no one.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        f"--components={suite.components}",
        f"--include={','.join(suite.wanted)}",
        *(f"--customize-hook={hook}" for hook in hooks),
        *keyring,
        suite.name,
    ]


def lacks_tools(root: Path) -> bool:
    """Return whether a root file system has neither a compiler nor Valgrind."""
    names = ("cc", "gcc", "clang", "tcc", "valgrind")
    return not any(os.path.lexists(root / "usr/bin" / name) for name in names)
