"""Cautions of a network, from exchanges made by hand."""

from ridgepoint.cluster.network_cautions import network_cautions
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measured_cluster import Exchange


def exchange(pattern, size, *, taken=0):
    """Return an exchange with eight samples, and others during which a core was taken."""
    return Exchange(
        pattern=pattern,
        ranks=2,
        nodes=2,
        size_bytes=size,
        time_s=Estimate([1e-3] * 8),
        disturbed_s=(1e-2,) * taken,
    )


def test_bandwidth_is_doubted_where_only_small_messages_were_measured():
    """The pattern with large ones is not named."""
    seen = [
        exchange("ping-pong", 8),
        exchange("ping-pong", 512),
        exchange("stream", 8),
        exchange("stream", 1 << 20),
    ]

    (caution,) = network_cautions(seen, None)
    assert caution.code == "small-messages"
    assert "ping-pong between nodes up to 512 byte" in caution.seen


def test_samples_that_others_took_a_core_from_are_told_if_they_are_many():
    """2 of 10 are not, 4 of 12 are."""
    assert not list(network_cautions([exchange("stream", 1 << 20, taken=2)], None))

    (caution,) = network_cautions([exchange("stream", 1 << 20, taken=4)], None)
    assert caution.code == "other-load"
    assert caution.seen.startswith("in 4 of 12 samples")
