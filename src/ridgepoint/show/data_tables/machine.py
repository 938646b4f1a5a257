"""Machines and clusters as tables: ceilings, samples, caches, latency; nodes and network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ridgepoint.core.columns import CAUTIONS, count, flag, number, rate, share, text
from ridgepoint.core.documents import fields_of
from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.table import Table
from ridgepoint.models.comparing.machines import MachineComparison
from ridgepoint.models.ranking import cautions_that_matter

_CEILING = (
    text("resource", "What is used: fp64, l1, dram, network, ..."),
    text("name", "Pattern of use, such as 'fma 512-bit' or 'copy'."),
    count("threads", "Busy CPUs, one thread on each."),
    text("place", "Part of the machine that was measured; empty: the whole machine."),
)
_CEILINGS = (
    text("machine", "Name of the machine."),
    *_CEILING,
    text("unit", "Unit of the rates: flop/s, op/s, BOP/s or byte/s."),
    *rate("rate", "Median rate.").ends(),
    rate("rate_q1", "First quartile of the samples."),
    rate("rate_q3", "Third quartile of the samples."),
    count("samples", "Number of samples."),
    rate("theoretical", "Theoretical maximum."),
    number("latency_s", "Time of one load in a chain of loads.", unit="s"),
    number("operation_s", "Time of one operation in a chain of operations.", unit="s"),
    number("read_share", "Bytes read at the level per byte of the rate."),
    number("write_share", "Bytes written at the level per byte of the rate."),
    number("frequency_hz", "Core clock right after the samples.", unit="Hz"),
    text("theory", "How the theoretical maximum is derived."),
    text("source", "Where a published figure comes from."),
    text("detail", "What ran: vector width and size of the data."),
    text("cautions", "Codes of its cautions, separated by ', '."),
)
_SAMPLES = (
    text("machine", "Name of the machine."),
    *_CEILING,
    text("unit", "Unit of the rates."),
    count("sample", "Number of the sample, from 1, as they were taken."),
    rate("rate", "The sample."),
    flag("used", "Whether it counts; false: it was disturbed, and left out."),
)
_CACHES = (
    text("machine", "Name of the machine."),
    text("stated_by", "system or measured: whose word it is; empty: both agree."),
    count("level", "1, 2 or 3."),
    text("kind", "data, instruction or unified."),
    count("size_bytes", "Size of one cache.", unit="byte"),
    count("line_bytes", "Size of a line.", unit="byte"),
    count("ways", "Associativity."),
    count("cores", "CPUs that share one such cache."),
)
_LATENCY = (
    text("machine", "Name of the machine."),
    count("threads", "CPUs measured at once."),
    count("size_bytes", "Working set of each thread.", unit="byte"),
    count("round", "Pass through all sizes, from 1."),
    number("access_s", "Time of one access.", unit="s"),
)
_MACHINE_CAUTIONS = (text("machine", "Name of the machine."), *_CEILING, *CAUTIONS)
_CHANGES = (
    *_CEILING,
    text("unit", "Unit of the rates."),
    text("verdict", "fell, rose, same, unknown, missing or new."),
    *rate("baseline_rate", "Median rate of the baseline.").ends(),
    *rate("rate", "Median rate.").ends(),
    *number("ratio", "Rate over that of the baseline.").ends(),
)
_NETWORK = (
    text("cluster", "Name of the cluster."),
    text("pattern", "ping-pong, stream, all-reduce, ..."),
    count("ranks", "Ranks that took part."),
    count("nodes", "Nodes that took part."),
    text("hosts", "The pair, sender first; empty: all ranks took part."),
    count("size_bytes", "Size of one message.", unit="byte"),
    *number("time_s", "Time of one message one way, or of one operation.", unit="s").ends(),
    *number("algorithm_bytes_per_s", "Size over time.", unit="byte/s").ends(),
    *number("bus_bytes_per_s", "That, times the pattern's share on a link.", unit="byte/s").ends(),
)
_NODES = (
    text("cluster", "Name of the cluster."),
    text("host", "Name of the node."),
    count("ranks", "MPI ranks on the node."),
    text("resource", "What is used: fp64, dram, ..."),
    text("name", "Pattern of use."),
    count("threads", "Busy CPUs, one thread on each."),
    text("unit", "Unit of the rates."),
    *rate("rate", "Median rate.").ends(),
    share("of_median", "Rate over the median of all nodes."),
)


def machine_tables(machine: Machine) -> tuple[Table, ...]:
    """Return every table of a machine, the one of its ceilings first."""
    name = {"machine": machine.name}
    return (
        Table.of("ceilings", _CEILINGS, ({**name, **_ceiling(one)} for one in machine.ceilings)),
        samples_table(machine.ceilings, machine.name),
        Table.of("caches", _CACHES, ({**name, **row} for row in _caches(machine))),
        Table.of("latency", _LATENCY, ({**name, **row} for row in _latency(machine))),
        _cautions(machine),
    )


def samples_table(ceilings: Iterable[Ceiling], machine: str | None = None) -> Table:
    """Return a row for each sample of each ceiling; None: the machine has no name."""
    rows = ({"machine": machine, **row} for row in _samples(ceilings))
    return Table.of("ceiling_samples", _SAMPLES, rows)


def changes_table(comparison: MachineComparison) -> Table:
    """Return a row for each ceiling of a machine and its baseline."""
    return Table.of(
        "changes",
        _CHANGES,
        (
            {
                **fields_of(change, "resource", "name", "threads", "unit", "verdict", "rate"),
                "place": change.part,
                "baseline_rate": change.baseline,
                **(
                    {}
                    if change.gain is None
                    else {
                        "ratio": change.gain.ratio,
                        "ratio_low": change.gain.low,
                        "ratio_high": change.gain.high,
                    }
                ),
            }
            for change in comparison.ceilings
        ),
    )


def cluster_tables(cluster: MeasuredCluster) -> tuple[Table, ...]:
    """Return every table of a cluster: its network, its nodes, and those of its slowest node."""
    medians = {(s.resource, s.name, s.threads): s.median for s in cluster.standings}
    nodes = [
        {
            "cluster": cluster.name,
            **fields_of(node, "host", "ranks"),
            **fields_of(ceiling, "resource", "name", "threads", "unit", "rate"),
            "of_median": None
            if median is None or ceiling.rate is None
            else ceiling.rate.median / median,
        }
        for node in cluster.nodes
        for ceiling in (() if node.machine is None else node.machine.ceilings)
        for median in (medians.get((ceiling.resource, ceiling.name, ceiling.threads)),)
    ]
    network = [
        {
            "cluster": cluster.name,
            **fields_of(exchange, "pattern", "ranks", "nodes", "size_bytes", "time_s"),
            **fields_of(exchange, "algorithm_bytes_per_s", "bus_bytes_per_s"),
            "hosts": " ".join(exchange.hosts),
        }
        for exchange in cluster.network
    ]
    return (
        Table.of("network", _NETWORK, network),
        Table.of("nodes", _NODES, nodes),
        *machine_tables(cluster.slowest()),
    )


def _key(ceiling: Ceiling) -> dict[str, object]:
    return {**fields_of(ceiling, "resource", "name", "threads", "unit"), "place": ceiling.part}


def _ceiling(ceiling: Ceiling) -> dict[str, object]:
    measured = ceiling.rate
    return {
        **_key(ceiling),
        **fields_of(ceiling, "rate", "theoretical", "latency_s", "operation_s", "read_share"),
        **fields_of(ceiling, "write_share", "frequency_hz", "theory", "source", "detail"),
        "rate_q1": None if measured is None else measured.q1,
        "rate_q3": None if measured is None else measured.q3,
        "samples": None if measured is None else measured.n,
        "cautions": ", ".join(dict.fromkeys(caution.code for caution in ceiling.cautions)),
    }


def _samples(ceilings: Iterable[Ceiling]) -> Iterator[dict[str, object]]:
    for ceiling in ceilings:
        samples = () if ceiling.rate is None else ceiling.rate.samples
        for used, samples_of in ((True, samples), (False, ceiling.disturbed)):
            for index, sample in enumerate(samples_of, start=1):
                yield {**_key(ceiling), "sample": index, "rate": sample, "used": used}


def _caches(machine: Machine) -> Iterator[dict[str, object]]:
    differ = machine.stated_caches is not None
    keys = ("level", "kind", "size_bytes", "line_bytes", "ways", "cores")
    for cache in machine.caches:
        yield {"stated_by": "measured" if differ else None, **fields_of(cache, *keys)}
    for cache in machine.stated_caches or ():
        yield {"stated_by": "system", **fields_of(cache, *keys)}


def _latency(machine: Machine) -> Iterator[dict[str, object]]:
    for curve in machine.latency_curves:
        for number_of, times in enumerate(curve.rounds_s, start=1):
            for size, time_s in zip(curve.sizes_bytes, times, strict=True):
                yield {
                    "threads": curve.threads,
                    "size_bytes": size,
                    "round": number_of,
                    "access_s": time_s,
                }


def _cautions(machine: Machine) -> Table:
    """Return the cautions about the machine, and about each of its ceilings."""
    marked = cautions_that_matter(machine)
    said = ("code", "seen", "remedy")
    rows: list[dict[str, object]] = [fields_of(caution, *said) for caution in machine.cautions]
    rows += [
        {
            **{key: value for key, value in _key(ceiling).items() if key != "unit"},
            **fields_of(caution, *said),
            "matters": caution in marked.get(ceiling.key, set()),
        }
        for ceiling in machine.ceilings
        for caution in ceiling.cautions
    ]
    name = {"machine": machine.name}
    return Table.of("machine_cautions", _MACHINE_CAUTIONS, ({**name, **row} for row in rows))


COLUMNS = {
    "ceilings": _CEILINGS,
    "ceiling_samples": _SAMPLES,
    "caches": _CACHES,
    "latency": _LATENCY,
    "machine_cautions": _MACHINE_CAUTIONS,
    "changes": _CHANGES,
    "network": _NETWORK,
    "nodes": _NODES,
}
"""Of each table, by its name."""
