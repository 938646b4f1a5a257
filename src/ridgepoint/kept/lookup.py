"""Find the records that a user names in the archive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.documents import kind_of
from ridgepoint.core.errors import ArchiveRefused, RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.operators import OperatorProfile
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.archive_record import MACHINES, PROGRAMS, Kind, Record
from ridgepoint.kept.archive_refusals import not_counted
from ridgepoint.kept.portable import Portable, content_of, described, one_node, read_record
from ridgepoint.models.given_machine import given_machine, is_per_cycle, looks_given
from ridgepoint.models.operators import OperatorAnalysis, analyse_operators
from ridgepoint.published.machines import names, opened

Kept = Machine | MeasuredCluster | Timing | tuple[Measurement, Machine | None] | OperatorAnalysis
"""What can be shown; a program with the machine that bounds it, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    r"""What a user named, with all that is said about it.

    Parameters
    ----------
    title : str
        The record's name, or else the command, or the machine's own name. Among several that are
        named together (`ridgepoint.kept.selecting`), what tells it from the others.
    value : Machine, MeasuredCluster, Timing, tuple of Measurement and Machine or None, or \
            OperatorAnalysis
    record : Record or None
        Kind, date, label and note; of a record in a file the number is 0. None: a machine or a
        cluster from elsewhere.
    """

    title: str
    value: Kept
    record: Record | None = None


def last_record(archive: Archive, kind: Kind | None = None) -> Record:
    """Return the last record, of one kind or of any.

    Raises
    ------
    ArchiveRefused
        If there is no such record.
    """
    records = archive.records(kind, last=1)
    if not records:
        raise ArchiveRefused(
            f"cannot show anything of the archive {archive.path}",
            reason=f"no {kind or 'record'} is kept there yet",
            remedy="measure a program first: ridgepoint run -- ./program",
        )
    return records[-1]


def kept_measurement(archive: Archive, record: Record) -> tuple[Measurement, Machine]:
    """Return a kept measurement with the machine, or all nodes together, that bounded it.

    Raises
    ------
    ArchiveRefused
        If the record is not a measurement, or was kept without a machine.
    """
    measurement = archive.measurement(record.id)
    if record.machine_id is None:
        raise _unbounded(record.id)
    from ridgepoint.models.distributed import machine_for

    return measurement, machine_for(measurement, archive.machine(record.machine_id))


def kept_cluster(archive: Archive, hosts: Collection[str]) -> tuple[int, Machine] | None:
    """Return the slowest node, and its id, of the last cluster measured on all these hosts.

    Parameters
    ----------
    archive : Archive
    hosts : collection of str

    Returns
    -------
    tuple of int and Machine, or None
        None: no cluster was measured on them.
    """
    for record in reversed(archive.records("cluster")):
        cluster = archive.cluster(record.id)
        if set(hosts) <= {node.host for node in cluster.nodes}:
            return record.id, cluster.slowest()
    return None


def kept(archive: Archive, text: str | None) -> Kept:
    """Return the value that a user names; see `found`."""
    return found(archive, text).value


def found(archive: Archive, text: str | None) -> Found:
    """Return what a user names: a record, a file, a published machine, or its figures.

    Parameters
    ----------
    archive : Archive
    text : str or None
        A number or a name in the archive; the path of a file that holds a machine, a cluster, or a
        record that ``ridgepoint export`` wrote; or else as for `named_machine`. None: the last
        record.

    Raises
    ------
    RidgepointError
        If there is nothing of this name, or it cannot be read.
    """
    if text is None:
        return _found_record(archive, last_record(archive))
    if _is_given(text):
        machine = _given(text, may_be_per_cycle=True)
        return Found(title=machine.name, value=machine)
    record = _named(archive, text)
    return _opened(text) if record is None else _found_record(archive, record)


def _found_record(archive: Archive, record: Record) -> Found:
    title = record.label or record.name
    return Found(title=title, value=kept_record(archive, record), record=record)


def kept_record(archive: Archive, record: Record) -> Kept:
    """Return the content of a record; for a measurement with the machine that bounded it."""
    if record.kind == "machine":
        return archive.machine(record.id)
    if record.kind == "cluster":
        return archive.cluster(record.id)
    if record.kind == "operators":
        bounding = None if record.machine_id is None else archive.machine(record.machine_id)
        return analyse_operators(archive.operators(record.id), bounding)
    measured = archive.measured(record.id)
    if isinstance(measured, Timing):
        return measured
    return (measured, None) if record.machine_id is None else kept_measurement(archive, record)


def named_machine(archive: Archive, text: str, *, may_be_per_cycle: bool = False) -> Machine:
    """Return the machine that a user names: a record by number or name, a file, a published one.

    Parameters
    ----------
    archive : Archive
    text : str
        May also state the machine's figures, such as ``pi=2 flop/cycle, beta=1 B/cycle``.
    may_be_per_cycle : bool
        Whether these may all be per cycle, without a frequency.

    Raises
    ------
    RidgepointError
        If it does not exist, is damaged, or is not a machine.
    """
    if _is_given(text):
        return _given(text, may_be_per_cycle=may_be_per_cycle)
    found = _hardware(archive, text)
    return found.slowest() if isinstance(found, MeasuredCluster) else found


def machine_of(text: str, archive_path: Path | None = None) -> Machine:
    """Return the machine that a user names, from an archive if it is a number or a name in it.

    Parameters
    ----------
    text : str
    archive_path : Path or None
        Path of the archive; None: the archive in use.

    Raises
    ------
    RidgepointError
        As for `named_machine`.
    """
    found = hardware_of(text, archive_path)
    return found.slowest() if isinstance(found, MeasuredCluster) else found


def hardware_of(text: str, archive_path: Path | None = None) -> Machine | MeasuredCluster:
    """Return the machine that a user names, or the measured cluster with its network.

    Raises
    ------
    RidgepointError
        As for `named_machine`.
    """
    if _is_given(text):
        return _given(text)
    if is_elsewhere(text):
        return _opened_machine(text)
    with Archive(archive_path) as archive:
        return _hardware(archive, text)


def _hardware(archive: Archive, text: str) -> Machine | MeasuredCluster:
    # A measurement may have this name too; a name of measurements alone is refused as such.
    record = _named(archive, text, MACHINES) or _named(archive, text)
    if record is None:
        return _opened_machine(text)
    return archive.cluster(record.id) if record.kind == "cluster" else archive.machine(record.id)


def _named(archive: Archive, text: str, kinds: Sequence[Kind] = ()) -> Record | None:
    """Return the record that a text names; a path, or a published machine, names none."""
    if is_elsewhere(text):
        return None
    record = archive.find(text, kinds)
    if record is not None:
        return record
    # The name that lists and rankings show of a machine without one that a user gave it.
    own = [one for kind in MACHINES for one in archive.records(kind) if one.name == text]
    return max(own, key=lambda one: one.id, default=None)


def is_elsewhere(text: str) -> bool:
    """Return whether a text names no record: it is a path, a published machine, or figures."""
    return is_path(text) or text.lower() in names() or _is_given(text)


def _is_given(text: str) -> bool:
    """Return whether a text states figures; a file of such a name goes before."""
    return looks_given(text) and not Path(text).is_file()


def _given(text: str, *, may_be_per_cycle: bool = False) -> Machine:
    """Return the machine whose figures a text states."""
    what = f"cannot read the machine {text!r}"
    try:
        machine = given_machine(text)
    except ValueError as error:
        reason, _, remedy = str(error).rpartition("; ")
        raise RidgepointError(what, reason=reason, remedy=remedy) from error
    if is_per_cycle(machine) and not may_be_per_cycle:
        raise RidgepointError(
            what,
            reason="its rates are per cycle, and times need its frequency",
            remedy="add the frequency, such as frequency=3.2GHz",
        )
    return machine


def is_path(text: str) -> bool:
    """Return whether a text looks like the path of a file, as no name of a record does."""
    return "/" in text or text.lower().endswith(".json")


def _opened(text: str) -> Found:
    """Return what is not in the archive: of a file, or published."""
    portable = _record_of_file(text)
    if portable is not None:
        record = described(portable)
        title = record.label or record.name
        return Found(title=title, value=_value_of(portable), record=record)
    try:
        machine = opened(text)
        return Found(title=machine.name, value=machine)
    except RidgepointError as error:
        if is_path(text) or Path(text).exists():
            raise
        raise RidgepointError(
            f"cannot find {text!r}",
            reason=f"no kept record has this name, and {error.reason}",
            remedy=f"see 'ridgepoint list', or {error.remedy}",
        ) from error


def _opened_machine(text: str) -> Machine | MeasuredCluster:
    value = _opened(text).value
    if isinstance(value, Machine | MeasuredCluster):
        return value
    raise RidgepointError(
        f"cannot use {text!r} as a machine",
        reason="it holds a measured program",
        remedy="export the record of a machine, or give a published machine",
    )


def _record_of_file(text: str) -> Portable | None:
    """Return the record that a file holds; None: it is no file, or holds something else."""
    try:
        document = Path(text).read_bytes() if is_path(text) or Path(text).is_file() else b""
    except (OSError, ValueError):  # whoever opens it next says why
        return None
    return read_record(document, origin=text) if kind_of(document) == "record" else None


def measurement_of_file(text: str) -> tuple[Measurement, Machine] | None:
    """Return the measurement that a record's file holds, with the machine that bounds it.

    None: it is no such file, or holds something else.

    Raises
    ------
    RidgepointError
        If the file is damaged, or its measurement has no machine or was not counted.
    """
    portable = _record_of_file(text)
    if portable is None or portable.kind != "measurement":
        return None
    value = _value_of(portable)
    if isinstance(value, Timing):
        raise not_counted(value, text, f"'ridgepoint show {text}'")
    if not isinstance(value, tuple) or value[1] is None:
        raise _unbounded(text)
    return value[0], value[1]


def operators_of(archive: Archive, text: str | None) -> OperatorAnalysis | None:
    """Return the operators that a user names, with the machine that bounds them.

    Parameters
    ----------
    archive : Archive
    text : str or None
        A number or a name in the archive, or the path of a file. None: the last program, whatever
        was kept of it.

    Returns
    -------
    OperatorAnalysis or None
        None: it names something else.
    """
    value: Kept | None = None
    if text is not None and is_elsewhere(text):
        portable = _record_of_file(text)
        if portable is not None and portable.kind == "operators":
            value = _value_of(portable)
    else:
        record = _last_program(archive) if text is None else archive.find(text)
        if record is not None and record.kind == "operators":
            value = kept_record(archive, record)
    return value if isinstance(value, OperatorAnalysis) else None


def _last_program(archive: Archive) -> Record | None:
    last = [record for kind in PROGRAMS for record in archive.records(kind, last=1)]
    return max(last, key=lambda one: one.id, default=None)


def _unbounded(what: object) -> ArchiveRefused:
    return ArchiveRefused(
        f"cannot bound measurement {what}",
        reason="it was kept without a machine",
        remedy="measure the program again with 'ridgepoint run', without --counts-only",
    )


def _value_of(portable: Portable) -> Kept:
    """Return the content of a record's file; for a measurement with the machine beside it."""
    content = content_of(portable)
    if isinstance(content, OperatorProfile):
        bounding = None if portable.machine is None else one_node(portable.machine)
        return analyse_operators(content, bounding)
    if not isinstance(content, Measurement):
        return content
    if portable.machine is None:
        return content, None
    from ridgepoint.models.distributed import machine_for

    return content, machine_for(content, one_node(portable.machine))
