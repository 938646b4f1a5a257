"""Spark finds the same as the C++ programs, where PySpark and Java are."""

import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.suites.datacenter import stacks
from ridgepoint.suites.datacenter.measuring import cases


def _is_missing():
    try:
        stacks.require_spark()
    except CannotMeasure:
        return True
    return False


pytestmark = pytest.mark.skipif(_is_missing(), reason="there is no PySpark, or no Java")


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("sort", " 3\n-9223372036854775808\n+7\n9223372036854775807\n7\n", {}),
        ("grep", "aaaa a.a\naa\n", {"pattern": "aa"}),
        ("grep", "a.b axb 'a.b' \\\n", {"pattern": "a.b"}),
        ("wordcount", "Äpfel, apples; APPLES!\n\n1st it's\tx\n", {}),
    ],
)
def test_results_are_the_same(monkeypatch, tmp_path, name, content, options):
    """Overlaps, signs, expressions that are none, and letters that ASCII lacks."""
    monkeypatch.setattr(stacks, "_RUNS", 1)
    data = tmp_path / "data"
    data.write_text(content)
    (result,) = stacks.run_in_spark(cases([name], data=data, **options))

    assert result.failure is None
    assert result.differing == ()
