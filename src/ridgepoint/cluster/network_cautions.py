"""What may be wrong with a network as it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ridgepoint.core.caution import Caution
from ridgepoint.core.links import Links
from ridgepoint.core.measured_cluster import Exchange
from ridgepoint.core.units import format_si

_LARGE_BYTES = 1 << 15
"""Of a message that takes longer for its size than for the way, on most networks."""

_BUSY = 0.25
"""Share of samples during which others took a rank's core, from which on it is said."""


def network_cautions(exchanges: Sequence[Exchange], links: Links | None) -> Iterator[Caution]:
    """Yield the cautions of what ranks exchanged, and of the links between their nodes.

    Parameters
    ----------
    exchanges : sequence of Exchange
    links : Links or None
        None: there is one node.
    """
    yield from _of_links(links)
    yield from _of_sizes(exchanges)
    yield from _of_activity(exchanges)


def _of_links(links: Links | None) -> Iterator[Caution]:
    if links is None:
        return
    usual = format_si(links.usual_bytes_per_s, "B/s", digits=3)
    for what, rate in links.slow():
        yield Caution(
            "slow-link",
            f"{what}: {format_si(rate, 'B/s', digits=3)}, while nodes here usually reach {usual}",
            "check its cable, port and rate (ethtool), and what else uses the link",
        )
    if links.measured < links.directed:
        yield Caution(
            "links-sampled",
            f"{links.measured} of {links.directed} links between nodes were measured",
            "measure fewer nodes at a time to see all of their links",
        )


def _of_sizes(exchanges: Sequence[Exchange]) -> Iterator[Caution]:
    largest: dict[str, int] = {}
    for exchange in exchanges:
        where = "between nodes" if exchange.nodes > 1 else "within a node"
        what = f"{exchange.pattern} {where}"
        largest[what] = max(largest.get(what, 0), exchange.size_bytes)
    small = {what: size for what, size in largest.items() if size < _LARGE_BYTES}
    if small:
        amounts = ", ".join(f"{what} up to {size} byte" for what, size in small.items())
        yield Caution(
            "small-messages",
            f"larger messages would have taken too long ({amounts}), so the bandwidth is not known",
            "check whether the links are slow, or ranks share a core; if they do, let MPI "
            "yield the core while it waits (mpirun --oversubscribe, or "
            "OMPI_MCA_mpi_yield_when_idle=1 with srun)",
        )


def _of_activity(exchanges: Sequence[Exchange]) -> Iterator[Caution]:
    left_out = sum(len(exchange.disturbed_s) for exchange in exchanges)
    total = left_out + sum(exchange.time_s.n for exchange in exchanges)
    if total and left_out > _BUSY * total:
        yield Caution(
            "other-load",
            f"in {left_out} of {total} samples another process used a rank's core; these "
            "samples are left out",
            "end other processes, or start fewer ranks than there are cores",
        )
