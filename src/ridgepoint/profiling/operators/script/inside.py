"""Executed in the process of a user's script: records its operators once it imports PyTorch.

`ridgepoint.profiling.operators.script` puts a ``sitecustomize`` on the path of the script's
interpreter, which executes this file by its path. The script itself is started as its user starts
it. Nothing of Ridgepoint is imported, and nothing is recorded, before the script has imported
PyTorch; so this file imports the standard library alone.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from collections.abc import Sequence
from types import ModuleType

LIBRARIES = ("torch", "jax", "numpy")
"""Libraries of arrays that are worth naming where none of their operators was recorded."""


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Begins the recording as soon as ``torch`` is imported."""

    def __init__(self, folder: str, root: str) -> None:
        self._folder, self._root, self._begun = folder, root, time.perf_counter()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how ``torch`` is found anyway, with what begins after its import."""
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _begin(self._folder, self._root, startup_s=time.perf_counter() - self._begun)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _begin(folder: str, root: str, *, startup_s: float) -> None:
    """Record until the interpreter ends; say why where that is not possible."""
    pid = os.getpid()
    try:
        if importlib.util.find_spec("ridgepoint") is None:
            sys.path.append(root)
        script = importlib.import_module("ridgepoint.profiling.operators.pytorch.script")
        recording = script.begin()
    except Exception as error:  # whatever the user's Python lacks: its script goes on
        _write(folder, pid, "failed", f"{type(error).__name__}: {error}")
        return

    def end() -> None:
        if os.getpid() != pid:  # a process forked from this one
            return
        try:
            _write(folder, pid, "profile", script.end(recording, startup_s=startup_s))
        except Exception as error:
            _write(folder, pid, "failed", f"{type(error).__name__}: {error}")

    atexit.register(end)


def _write(folder: str, pid: int, ending: str, text: str) -> None:
    """Write a file that is whole wherever it is found."""
    path = os.path.join(folder, f"{pid}.{ending}")
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{path}.part", path)


def _say_what_was_imported(folder: str, pid: int) -> None:
    if os.getpid() == pid:
        names = [name for name in LIBRARIES if name in sys.modules]
        _write(folder, pid, "imported", json.dumps(names))


def install(folder: str, root: str) -> None:
    """Wait for PyTorch, in this process.

    Parameters
    ----------
    folder : str
        Where to write what was recorded.
    root : str
        Folder that holds the package of Ridgepoint.
    """
    sys.meta_path.insert(0, _AfterTorch(folder, root))
    atexit.register(_say_what_was_imported, folder, os.getpid())
    # The user's own, which ours has hidden.
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    sys.modules.pop("sitecustomize", None)
    with contextlib.suppress(ImportError):
        importlib.import_module("sitecustomize")
