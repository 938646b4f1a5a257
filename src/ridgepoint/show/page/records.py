"""What a page is made of: records as they were kept, or results as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ridgepoint.core.documents import to_fields
from ridgepoint.core.machine import Cache, Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Context, Timing
from ridgepoint.core.units import format_si, format_size
from ridgepoint.models.analysis import Analysis
from ridgepoint.models.operators import OperatorAnalysis
from ridgepoint.show.operators_report import operators_report
from ridgepoint.show.page.document import Fact, Input, PageRecord, RecordKind
from ridgepoint.show.report import machine_fields, report, timing_report
from ridgepoint.show.words import UNKNOWN, machine_title, measured_name, printable, program_name

Shown = Analysis | Machine | MeasuredCluster | Timing | OperatorAnalysis


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    """A result, and what is said about it where it is kept.

    Parameters
    ----------
    key : str
        Its number or name, unique on the page.
    value : Analysis, Machine, MeasuredCluster, Timing or OperatorAnalysis
    label, note, created : str or None
        None: it is not kept, or has none.
    sources : mapping of str to tuple of str
        Lines of source files, by their paths as in the counts; empty: they are not shown.
    """

    key: str
    value: Shown
    label: str | None = None
    note: str | None = None
    created: str | None = None
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called: the user's name of it, or what it is of."""
        return printable(self.label) if self.label else self.own_name

    @property
    def own_name(self) -> str:
        """What it is of."""
        value = self.value
        if isinstance(value, Analysis):
            return measured_name(value.measurement)
        if isinstance(value, OperatorAnalysis):
            return printable(value.profile.program)
        if isinstance(value, Timing):
            return printable(program_name(value.command))
        return machine_title(value) if isinstance(value, Machine) else printable(value.name)


def page_record(shown: ShownRecord) -> PageRecord:
    """Return a record as the page holds it."""
    kind, fields, facts, host = _content(shown.value)
    return PageRecord(
        key=shown.key,
        kind=kind,
        name=shown.own_name,
        label=None if shown.label is None else printable(shown.label),
        note=None if shown.note is None else printable(shown.note),
        created=shown.created,
        host=host,
        report=fields,
        facts=tuple(facts),
    )


def _content(
    value: Shown,
) -> tuple[RecordKind, dict[str, object], Sequence[Fact], str | None]:
    """Return the kind of a result, its document, what there is to know about it, and its host."""
    if isinstance(value, Analysis):
        context = value.measurement.context
        return "measurement", report(value), _of_analysis(value), printable(context.hostname)
    if isinstance(value, Timing):
        context = value.context
        return "timing", timing_report(value), _of_context(context), printable(context.hostname)
    if isinstance(value, OperatorAnalysis):
        context = value.profile.context
        facts = _of_operators(value)
        return "operators", operators_report(value), facts, printable(context.hostname)
    if isinstance(value, Machine):
        return "machine", machine_fields(value), _of_machine(value), printable(value.name)
    return "cluster", to_fields(value), _of_machine(value.slowest()), None


def _of_analysis(analysis: Analysis) -> list[Fact]:
    measurement = analysis.measurement
    facts = _of_context(measurement.context)
    counted = measurement.counted
    facts.append(_fact("meter", "counted by", printable(counted.meter)))
    if counted.caches:
        facts.append(_fact("simulated", "caches simulated", _caches(counted.caches)))
    asked = measurement.asked
    if asked is not None and asked.options:
        facts.append(_fact("options", "options", printable(" ".join(asked.options))))
    protocol = measurement.protocol
    if protocol is not None:
        data = UNKNOWN if protocol.data_bytes is None else format_si(protocol.data_bytes, "B")
        facts.append(
            Fact(
                key="protocol",
                name="protocol",
                text=f"{protocol.state}, {protocol.calls} calls in a sample",
                inputs=(
                    Input(name="replicas of the data", text=f"{protocol.replicas}"),
                    Input(name="data of one call", text=data),
                    Input(name="an empty call takes", text=format_si(protocol.overhead_s, "s")),
                ),
            )
        )
    if analysis.machine is not None:
        facts.append(_fact("machine", "bounded by", machine_title(analysis.machine)))
    return facts


def _of_operators(analysis: OperatorAnalysis) -> list[Fact]:
    profile = analysis.profile
    facts = _of_context(profile.context)
    facts.append(_fact("library", "library", printable(profile.library)))
    facts.append(_fact("device", "device", printable(profile.device)))
    if profile.threads is not None:
        facts.append(_fact("threads", "threads of an operator", str(profile.threads)))
    if analysis.machine is not None:
        facts.append(_fact("machine", "bounded by", machine_title(analysis.machine)))
    return facts


def _of_context(context: Context) -> list[Fact]:
    """Return where and how something was measured."""
    frequency = context.frequency_hz
    facts = [
        _fact("started", "started (UTC)", context.started),
        _fact("host", "host", printable(context.hostname)),
        _fact("cpu", "processor", printable(context.cpu)),
        _fact("kernel", "kernel", printable(context.kernel)),
        _fact("directory", "folder", printable(context.directory)),
        _fact("affinity", "CPUs allowed", ", ".join(map(str, context.affinity)) or UNKNOWN),
        _fact("clock", "core clock", UNKNOWN if frequency is None else format_si(frequency, "Hz")),
    ]
    facts += [
        _fact(f"version-{name}", f"version of {printable(name)}", printable(version))
        for name, version in context.versions.items()
    ]
    return facts + [
        _fact(f"variable-{name}", printable(name), printable(value))
        for name, value in context.environment.items()
    ]


def _of_machine(machine: Machine) -> list[Fact]:
    host = machine.host
    memory = UNKNOWN if host.memory_bytes is None else format_size(host.memory_bytes)
    clock = UNKNOWN if host.frequency_hz is None else format_si(host.frequency_hz, "Hz")
    facts = [
        _fact("cpu", "processor", printable(host.cpu)),
        _fact("cores", "cores", str(host.cores)),
        _fact("clock", "core clock", clock),
        _fact("memory", "memory", memory),
        _fact("caches", "caches", _caches(machine.caches) or UNKNOWN),
        _fact("measured", "measured (UTC)", machine.created or UNKNOWN),
    ]
    if machine.source is not None:
        facts.append(_fact("source", "source", printable(machine.source)))
    return facts


def _caches(caches: Sequence[Cache]) -> str:
    return ", ".join(
        f"L{cache.level}{'' if cache.kind == 'unified' else f' {cache.kind}'} "
        f"{format_size(cache.size_bytes)}" + (f", {cache.ways}-way" if cache.ways else "")
        for cache in caches
    )


def _fact(key: str, name: str, text: str) -> Fact:
    return Fact(key=key, name=name, text=text)
