"""Cache geometries as text."""

import pytest

from ridgepoint.core.geometry import parse_geometry


def test_three_levels_are_read_in_any_order():
    """Sizes are binary, levels come out from the core outwards."""
    caches = parse_geometry("l3=105m:15,l1=48k:12, l2=2M:16:64")

    assert [(c.level, c.size_bytes, c.ways, c.line_bytes) for c in caches] == [
        (1, 49152, 12, 64),
        (2, 2097152, 16, 64),
        (3, 110100480, 15, 64),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'' does not describe a cache"),
        ("l1", "'l1' does not describe a cache"),
        ("l1=32k", "'l1=32k' does not describe a cache"),
        ("l4=1m:8", "'l4=1m:8' does not describe a cache"),
        ("l1=32k:0", "must be a positive whole number"),
        ("l1=32k:-8", "must be a positive whole number"),
        ("l1=big:8", "'big' is not a size"),
        ("l1=0k:8", "not a positive whole number of bytes"),
        ("l1=32k:8,l1=48k:12", "describes l1 a second time"),
        ("l2=1m:8", "lacks a level"),
        ("l1=32k:8,l3=32m:16", "lacks a level"),
        ("l1=32k:8,l2=16k:8", "is not larger than l1"),
        ("l1=32k:8:48", "power of two"),
        ("l1=32k:7", "not a multiple of 7 ways of 64 byte"),
        ("l1=32k:8:64,l2=1m:8:128", "lines of the same length"),
    ],
)
def test_nonsense_is_refused_by_name(text, complaint):
    """The part that cannot be read stands in the message."""
    with pytest.raises(ValueError, match=complaint):
        parse_geometry(text)
