"""Files of /proc and /sys under a root: the host's own, or a captured tree in tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Files:
    """What the kernel tells in files.

    Parameters
    ----------
    root : Path
        ``/``, or a captured tree.
    """

    root: Path = Path("/")

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if it is not there or may not be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return None

    def names(self, folder: str, pattern: str) -> list[str]:
        """Return the paths in a folder that match a pattern, sorted."""
        base = self.root / folder
        return sorted(str(path.relative_to(self.root)) for path in base.glob(pattern))


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a kernel list such as ``0-3,8``."""
    cpus: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)
