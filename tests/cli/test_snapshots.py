"""What is printed, drawn and written of stored measurements is what it was."""

import difflib
from itertools import groupby

import pytest
from snapshot_cases import CASES

import snapshots

_MOST_LINES = 120
_TOPICS = {
    topic: list(names)
    for topic, names in groupby(sorted(CASES), lambda name: name.partition("/")[0])
}


@pytest.fixture(scope="module")
def bench():
    """Give an archive of every kind of record."""
    with snapshots.bench() as at:
        yield at


def kept_of(name):
    """Return what is kept of a case, by file."""
    own = {path for path in snapshots.SHOWN.glob(f"{name}.*") if path.is_file()}
    own |= {path for path in (snapshots.SHOWN / name).rglob("*") if path.is_file()}
    return {
        str(path.relative_to(snapshots.SHOWN)): path.read_text(encoding="utf-8") for path in own
    }


def difference(kept, taken):
    """Return how files differ, as lines; at most so many of each."""
    lines = []
    for file in sorted({*kept, *taken}):
        before, now = (one.get(file, "").splitlines() for one in (kept, taken))
        changed = list(
            difflib.unified_diff(before, now, f"kept/{file}", f"now/{file}", lineterm="")
        )
        lines += changed[:_MOST_LINES]
        if len(changed) > _MOST_LINES:
            lines.append(f"... and {len(changed) - _MOST_LINES} lines more")
    return lines


@pytest.mark.parametrize("topic", _TOPICS)
def test_what_is_shown_is_what_is_kept(topic, bench):
    """Where a difference is meant: python tests/tools/snapshots.py --renew, and review it."""
    lines = [
        line
        for name in _TOPICS[topic]
        for line in difference(kept_of(name), snapshots.take(name, CASES[name], bench))
    ]
    if lines:
        advice = "if that is meant, run: python tests/tools/snapshots.py --renew; then review it"
        pytest.fail("\n".join([*lines, advice]), pytrace=False)


def test_every_snapshot_is_of_a_case():
    """None is left over."""
    of_cases = {file for name in CASES for file in kept_of(name)}
    files = {
        str(path.relative_to(snapshots.SHOWN))
        for path in snapshots.SHOWN.rglob("*")
        if path.is_file()
    }

    assert files <= of_cases
