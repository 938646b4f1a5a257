"""A library of arrays as its arrays give it to programs, with its functions recorded."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ridgepoint.profiling.operators.arrays.calls import Recording


class Namespace:
    """A library's functions, recorded.

    Parameters
    ----------
    space : module
    recording : Recording
    seen : callable
        Returns a value with the arrays inside it recorded.
    bare : callable
        Returns a value with plain arrays for those that are recorded.
    path : str
        What names of its functions begin with.
    """

    def __init__(
        self,
        space: Any,
        recording: Recording,
        *,
        seen: Callable[[Any, Recording], Any],
        bare: Callable[[Any], Any],
        path: str = "numpy",
    ) -> None:
        self._space, self._recording, self._path = space, recording, path
        self._seen, self._bare = seen, bare

    def __getattr__(self, name: str) -> Any:
        value, path = getattr(self._space, name), f"{self._path}.{name}"
        if isinstance(value, types.ModuleType):
            return Namespace(value, self._recording, seen=self._seen, bare=self._bare, path=path)
        if isinstance(value, type) or not callable(value):
            return value

        def function(*arguments: Any, **options: Any) -> Any:
            named = {key: self._bare(one) for key, one in options.items()}
            result = self._recording.call(path, value, self._bare(arguments), named)
            return self._seen(result, self._recording)

        return function
