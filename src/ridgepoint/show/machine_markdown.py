"""A diagnosis of a machine or a cluster as Markdown: what it allows, and which figures to doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ridgepoint.core.machine import Ceiling, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.units import format_si
from ridgepoint.models.machine_diagnosis import (
    JudgedCeiling,
    MachineDiagnosis,
    diagnose_machine,
    slow_nodes,
)
from ridgepoint.show.ceiling_cautions import MARK, ceiling_cautions
from ridgepoint.show.markdown import code, escaped, sentence, table
from ridgepoint.show.words import (
    UNKNOWN,
    machine_title,
    percent,
    shown_cores,
    shown_intensity,
    shown_name,
    shown_pattern,
    shown_place,
    shown_within,
    with_interval,
)

CEILINGS = ("ceiling", "on", "rate", "samples", "share of theory", "what ran, or its source")
_MARKED = re.compile(rf" \((?:among those )?marked {MARK}\)")
"""What a list of cautions says of a table that marks ceilings, as this one does not."""

CEILING_NUMBERS = ("samples", "share of theory")

_MOVED = (
    "Rates are of the bytes that a pattern loads and stores. More may move, such as lines that are "
    "read before a store writes them, and roofs are made of all that moves."
)


def ceiling_row(ceiling: Ceiling) -> tuple[str, ...]:
    """Return a ceiling as a row of `CEILINGS`."""
    rate, theory, unit = ceiling.rate, ceiling.theoretical, ceiling.unit.replace("byte", "B")
    shown, samples, share = UNKNOWN, "", UNKNOWN
    if rate is not None:
        shown = with_interval(rate, lambda value: format_si(value, unit))
        samples = str(rate.n)
        share = UNKNOWN if theory is None else percent(rate.median / theory)
    return (
        f"{shown_name(ceiling.resource)} {shown_pattern(ceiling.name)}",
        shown_place(ceiling.threads, ceiling.part),
        shown,
        samples,
        share,
        ceiling.source or ceiling.detail or "",
    )


def machine_markdown(machine: Machine, *, title: str | None = None) -> str:
    """Return what a machine allows, and which of its figures to doubt, as Markdown."""
    diagnosis = diagnose_machine(machine)
    lines = [
        f"# Diagnosis of {escaped(title or machine_title(machine))}",
        "",
        *_verdict(diagnosis),
        *_of_machine(diagnosis),
        *_footer(machine.created, machine.source),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _verdict(diagnosis: MachineDiagnosis) -> Iterator[str]:
    """Yield what the machine allows at most, and how far its ceilings can be trusted."""
    machine = diagnosis.machine
    works = [balance.work for balance in diagnosis.balances[:1]]
    rates = [
        RESOURCES[name].shown_rate(float(machine.rate(name)))
        for name in (*works, "dram")
        if machine.knows(name)
    ]
    if rates:
        most = f"{shown_cores(machine.cores)}: {', '.join(rates)} at most"
        yield f"**{sentence(most)}**"
    number, doubtful = len(diagnosis.ceilings), len(diagnosis.doubtful)
    parts = [f"of {number} ceilings that bound programs, {doubtful} are doubtful"]
    parts += [
        f"{len(found)} {what}"
        for kind, what in (
            ("as in theory", "reach theory"),
            ("below theory", "are below theory"),
            ("above theory", "are above theory"),
            ("no theory", "have no known theoretical rate"),
            ("unknown", "could not be measured"),
        )
        if (found := diagnosis.by(kind))  # type: ignore[arg-type]
    ]
    yield sentence(", ".join(parts))
    yield ""


def cluster_markdown(cluster: MeasuredCluster, *, title: str | None = None) -> str:
    """Return what a cluster allows, which nodes are slow, and which figures to doubt."""
    nodes, slow = len(cluster.nodes), slow_nodes(cluster)
    hosts = sorted({standing.slowest for standing in slow})
    head = (
        f"{nodes} nodes were compared: none is slower than the others beyond its interval"
        if not slow
        else f"of {nodes} nodes, {', '.join(hosts)} "
        f"{'is' if len(hosts) == 1 else 'are'} slower than the others"
    )
    if nodes == 1:
        head = "one node was measured: no network was crossed, and no other node compared"
    lines = [
        f"# Diagnosis of {escaped(title or cluster.name)}",
        "",
        f"**{sentence(head)}** Programs that work in step are bound by the slowest node, whose "
        "ceilings follow.",
        "",
        *_slow(cluster),
        *_latency(cluster),
        *_of_machine(diagnose_machine(cluster.slowest()), more=cluster),
        *_footer(cluster.created, None),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _slow(cluster: MeasuredCluster) -> Iterator[str]:
    rows = []
    for standing in slow_nodes(cluster):
        unit = standing.unit.replace("byte", "B")
        rows.append(
            (
                f"{shown_name(standing.resource)} {shown_pattern(standing.name)}",
                shown_cores(standing.threads),
                standing.slowest,
                shown_within(standing.slowest_rate, unit),
                format_si(standing.median, unit),
            )
        )
    if rows:
        yield "## Slow nodes"
        yield ""
        yield from table(("ceiling", "on", "node", "its rate", "median of the nodes"), rows)
        yield ""


def _latency(cluster: MeasuredCluster) -> Iterator[str]:
    latency = cluster.latency()
    if latency is not None:
        shown = with_interval(latency, lambda seconds: format_si(seconds, "s", digits=3))
        yield f"The smallest message between two nodes takes {escaped(shown)}."
        yield ""


def _of_machine(
    diagnosis: MachineDiagnosis, *, more: MeasuredCluster | None = None
) -> Iterator[str]:
    yield "## What limits programs here"
    yield ""
    yield from _limits(diagnosis)
    yield "## Evidence"
    yield ""
    rows = [ceiling_row(judged.ceiling) for judged in diagnosis.ceilings]
    yield from table(CEILINGS, rows, right=CEILING_NUMBERS)
    yield ""
    moved = [judged.ceiling.moved_share for judged in diagnosis.ceilings]
    if any(share not in {None, 1.0} for share in moved):
        yield _MOVED
        yield ""
    yield "## Against theory"
    yield ""
    yield from _against(diagnosis)
    yield "## What to doubt"
    yield ""
    yield from _doubts(diagnosis, more)


def _limits(diagnosis: MachineDiagnosis) -> Iterator[str]:
    cores = shown_cores(diagnosis.machine.cores)
    for balance in diagnosis.balances:
        unit = RESOURCES[balance.work].unit
        yield (
            f"- Below {shown_intensity(balance.intensity)} {unit} per byte at "
            f"{shown_name(balance.level)}, its bandwidth limits work in {shown_name(balance.work)} "
            f"on {cores}; above, the peak does."
        )
    for growth in diagnosis.growths:
        yield (
            f"- {shown_cores(growth.cores)} have {growth.factor:.3g} times as much "
            f"{shown_name(growth.resource)} as one."
        )
    if not diagnosis.balances and not diagnosis.growths:
        yield "Too few ceilings are known to say."
    yield ""


def _against(diagnosis: MachineDiagnosis) -> Iterator[str]:
    near = diagnosis.by("as in theory")
    if near:
        yield f"- Ruled out as too low, since they reach theory: {_names(near)}."
    for kind, what in (
        ("below theory", "Below it, so that a ceiling may be too low"),
        ("above theory", "Above it, so that the theory, the clock or the ceiling is wrong"),
    ):
        for judged in diagnosis.by(kind):  # type: ignore[arg-type]
            share = UNKNOWN if judged.share is None else percent(judged.share)
            theory = judged.ceiling.theory
            why = f" ({escaped(theory)})" if theory else ""
            yield f"- {what}: {_names([judged])} at {share} of it{why}."
    without = diagnosis.by("no theory")
    if without:
        yield f"- Not judged, since no theoretical rate is known: {_names(without)}."
    yield ""


def _names(judged: Sequence[JudgedCeiling]) -> str:
    names = (
        f"{shown_name(one.ceiling.resource)} {shown_pattern(one.ceiling.name)} on "
        f"{shown_place(one.ceiling.threads, one.ceiling.part)}"
        for one in judged
    )
    return escaped(", ".join(names))


def _doubts(diagnosis: MachineDiagnosis, more: MeasuredCluster | None) -> Iterator[str]:
    whole = [
        *diagnosis.machine.cautions,
        *(() if more is None else more.cautions),
        *ceiling_cautions(
            [replace(judged.ceiling, cautions=judged.doubts) for judged in diagnosis.ceilings]
        ),
    ]
    for caution in dict.fromkeys(whole):
        seen = _MARKED.sub("", caution.seen)
        yield f"- {code(caution.code)}: {sentence(f'{seen}; {caution.remedy}')}"
    if not whole:
        yield "No caution could change what bounds a program."
    yield ""
    if diagnosis.machine.source is None and whole:
        command = "mpirun -n P ridgepoint machine" if more is not None else "ridgepoint machine"
        yield f"To settle what is in doubt, measure it again when it is quiet: {code(command)}."
        yield ""


def _footer(created: str | None, source: str | None) -> Iterator[str]:
    when = "" if created is None else f"Measured {escaped(created)}. "
    where = "" if source is None else f"Published: {sentence(source)} "
    if when or where:
        yield f"{when}{where}".rstrip()
