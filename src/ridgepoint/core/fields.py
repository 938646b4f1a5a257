"""What users write of one thing in a line: ``NAME KEY=VALUE, KEY=VALUE``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

_KEY = re.compile(r"(?:^|(?<=[\s,]))([A-Za-z_]\w*)\s*=")


def fields_of(text: str, keys: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return the name before the first key, and the values by key, as texts.

    Commas or blanks separate the fields; a value may contain blanks, and so may the name, which
    may even contain ``=`` if no key of `keys` stands before it.

    Raises
    ------
    ValueError
        If a key is unknown, given twice or without a value; in the message, the text after the
        semicolon says what to write.

    Examples
    --------
    >>> fields_of("dgemm n=1000 W=2 Gflop, Q=24MB", ("W", "Q"))
    ('dgemm n=1000', {'W': '2 Gflop', 'Q': '24MB'})
    """
    found = list(_KEY.finditer(text))
    known = [place for place, match in enumerate(found) if match[1] in keys]
    if not known:
        return text.strip().rstrip(",").rstrip(), {}
    found = found[known[0] :]
    ends = [*(match.start() for match in found[1:]), len(text)]
    values: dict[str, str] = {}
    for match, end in zip(found, ends, strict=True):
        key, value = match[1], text[match.end() : end].strip().rstrip(",").rstrip()
        if key not in keys:
            raise ValueError(unknown_key(key, keys))
        if key in values:
            raise ValueError(f"{key} is given twice; give it once")
        if not value:
            raise ValueError(f"{key} has no value; write {key}=VALUE, or leave {key} out")
        values[key] = value
    return text[: found[0].start()].strip().rstrip(",").rstrip(), values


def unknown_key(key: str, keys: Collection[str]) -> str:
    """Return what is wrong with a key, and the one that was probably meant."""
    folded = {known.lower(): known for known in keys}
    near = difflib.get_close_matches(key.lower(), folded, n=1, cutoff=0.75)
    meant = f"did you mean {folded[near[0]]}?" if near else f"the keys are {', '.join(keys)}"
    return f"there is no key {key!r}; {meant}"
