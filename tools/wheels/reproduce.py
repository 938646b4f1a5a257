"""Builds the wheels of a folder again, elsewhere and otherwise: reproduce.py FOLDER.

Elsewhere is a clone of this commit in a new folder with another name, with a home without caches,
another umask, another time zone and another language. The wheels must be the same bytes; a line
says for each file what is not. Exits with 1 if there is any, and with 2 if it cannot tell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

BUILDER = "tools/wheels/build_wheels.py"


def differences(first: Path, second: Path) -> Iterator[str]:
    """Yield what is not the same in two folders of wheels and sdists.

    Parameters
    ----------
    first, second : Path
        Folders.
    """
    files = [
        {path.name: path for kind in ("*.whl", "*.tar.gz") for path in folder.glob(kind)}
        for folder in (first, second)
    ]
    for name in sorted(files[0].keys() ^ files[1].keys()):
        yield f"{name}: only the {'first' if name in files[0] else 'second'} build made it"
    for name in sorted(files[0].keys() & files[1].keys()):
        pair = files[0][name], files[1][name]
        if pair[0].read_bytes() != pair[1].read_bytes():
            wheel = name.endswith(".whl")
            found = _differences(*pair) if wheel else ["it has other bytes"]
            yield from (f"{name}: {each}" for each in found)


def _differences(first: Path, second: Path) -> Iterator[str]:
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        names = one.namelist(), other.namelist()
        if set(names[0]) != set(names[1]):
            yield f"only one has {', '.join(sorted(set(names[0]) ^ set(names[1])))}"
            return
        alike = True
        for name in names[0]:
            if one.read(name) != other.read(name):
                alike = False
                yield f"{name} has other content"
            entries = one.getinfo(name), other.getinfo(name)
            if entries[0].external_attr != entries[1].external_attr:
                alike = False
                yield f"{name} has other permissions"
            if entries[0].date_time != entries[1].date_time:
                alike = False
                yield f"{name} has another time"
        if names[0] != names[1]:
            yield "its files are in another order"
        elif alike:
            yield "its files are the same, and compressed otherwise"


def _git(*arguments: str | Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def build_elsewhere(scratch: Path) -> Path:
    """Build this commit's wheels in another folder, and return where they are.

    Raises
    ------
    OSError
        If there is no commit to build, or it cannot be built.
    """
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise OSError("there are changes that are not committed: commit them, and build again")
    clone, wheels, home = (scratch / name for name in ("of-another-length/clone", "wheels", "home"))
    home.mkdir()
    clone.parent.mkdir()
    _git("clone", "--quiet", "--no-checkout", ROOT, clone)
    _git("-C", clone, "checkout", "--quiet", "--detach", _git("rev-parse", "HEAD"))
    environment = {
        **os.environ,
        "HOME": str(home),
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "20261124",
    }
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [sys.executable, clone / BUILDER, wheels],
        cwd=clone,
        env=environment,
        umask=0o077,
        check=False,
    )
    if done.returncode:
        raise OSError("the second build failed")
    return wheels


def main() -> int:
    """Compare the wheels of the folder that the command line names with a second build."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python tools/wheels/reproduce.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if not any(folder.glob("*.whl")):
        print(f"reproduce: there is no wheel in {folder}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        try:
            again = build_elsewhere(Path(scratch))
        except OSError as error:
            print(f"reproduce: {error}", file=sys.stderr)
            return 2
        found = list(differences(folder, again))
    for line in found:
        print(f"reproduce: {line}", file=sys.stderr)
    if not found:
        print(f"a second build elsewhere made the same bytes as in {folder}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
