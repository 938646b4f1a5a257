"""Valgrind's launcher and core with Ridgepoint's tool: programs that Ridgepoint starts.

The package holds nothing that is to be imported but where these files are, and what they were
made from.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "valgrind"
"""What ``VALGRIND_LIB`` has to be; the launcher is there, too."""

_made = json.loads((FOLDER / "made.json").read_text(encoding="utf-8"))

VALGRIND: str = _made["valgrind"]
"""Valgrind's version."""

SOURCE: str = _made["source"]
"""Name of the C source that the tool was made from, as Ridgepoint computes it of its own."""
