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
import threading
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

LIBRARIES = ("torch", "jax", "numpy")
"""Libraries of arrays that are worth naming where none of their operators was recorded."""


class _Imports:
    """Seconds in which this process imports modules, early or late."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._thread = threading.get_ident()

    def watch(self) -> None:
        """Time imports from now on, of modules that are not there yet.

        The interpreter looks this function up for each such module, whatever statement or function
        asks for it; where there is none, imports are not told apart.
        """
        machinery: Any = sys.modules.get("importlib._bootstrap")
        if hasattr(machinery, "_find_and_load"):
            machinery._find_and_load = self._timed(machinery._find_and_load)

    def _timed(self, find_and_load: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def timed(*arguments: object) -> ModuleType:
            if self._depth or threading.get_ident() != self._thread:
                return find_and_load(*arguments)
            begun, self._depth = time.perf_counter(), 1
            try:
                return find_and_load(*arguments)
            finally:
                self._depth = 0
                self.seconds += time.perf_counter() - begun

        return timed


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Begins the recording as soon as ``torch`` is imported."""

    def __init__(self, folder: str, root: str, imports: _Imports) -> None:
        self._folder, self._root, self._imports = folder, root, imports
        self._begun_s = time.monotonic()

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
            begun = time.perf_counter()
            _begin(self._folder, self._root, self._begun_s, self._imports)
            self._imports.seconds -= time.perf_counter() - begun  # ours, not the script's

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _begin(folder: str, root: str, begun_s: float, imports: _Imports) -> None:
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
            seconds = imports.seconds
            _write(folder, pid, "profile", script.end(recording))
            _write(folder, pid, "clock", json.dumps([begun_s, time.monotonic(), seconds]))
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
    imports = _Imports()
    imports.watch()
    sys.meta_path.insert(0, _AfterTorch(folder, root, imports))
    atexit.register(_say_what_was_imported, folder, os.getpid())
    # The user's own, which ours has hidden.
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    ours = sys.modules.pop("sitecustomize", None)
    with contextlib.suppress(ImportError):
        importlib.import_module("sitecustomize")
    if ours is not None:  # the interpreter is importing it, and says so where it is gone
        sys.modules.setdefault("sitecustomize", ours)
