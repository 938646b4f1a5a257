"""Build the wheels for x86-64 Linux: ``python tools/wheels/build_wheels.py [FOLDER]``, else dist.

Beside them is the source distribution, from which other platforms build a wheel. The same
commit and the same tools give the same bytes, wherever they are built.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools" / "wheels"
ENGINE = ROOT / "engine"


def main() -> None:
    """Build into the folder that the command line names, and check what was built."""
    if len(sys.argv) > 2:
        sys.exit("usage: python tools/wheels/build_wheels.py [FOLDER]")
    folder = Path(*(sys.argv[1:] or ["dist"])).absolute()
    for kind in ("*.whl", "*.tar.gz"):  # each commit has a version of its own
        for old in folder.glob(f"ridgepoint{kind}"):
            old.unlink()
    make = ("-m", "hatchling", "build", "-d", folder, "-t")
    _run(*make, "sdist", "-t", "wheel", within=ROOT)
    if (ENGINE / "pyproject.toml").exists():
        _run(TOOLS / "valgrind.py", within=ROOT)
        _run(*make, "wheel", within=ENGINE)
    if (TOOLS / "check.py").exists():
        _run(TOOLS / "check.py", folder, within=ROOT)


def _run(*arguments: str | Path, within: Path) -> None:
    """Run Python; what it says is seen, and its failure is ours."""
    variables = {
        "SOURCE_DATE_EPOCH": _commit_time(),
        **os.environ,
        "RIDGEPOINT_COMPILE_AHEAD": "1",  # see hatch_build.py
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([sys.executable, *arguments], cwd=within, env=variables, check=False)
    if done.returncode:
        sys.exit(f"build_wheels.py: {' '.join(map(str, arguments))} ended with {done.returncode}")


def _commit_time() -> str:
    """Return when this commit was made, in s since 1970; without git, what hatchling takes."""
    command = ["git", "-C", ROOT, "log", "-1", "--format=%ct"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "1580601600"


if __name__ == "__main__":
    main()
