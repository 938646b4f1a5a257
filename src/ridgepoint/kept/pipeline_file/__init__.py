"""Pipelines in files: TOML that names stages, machines and loads, with units.

`ridgepoint pipeline --example` prints a file with every key explained.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.quantities import plain
from ridgepoint.core.toml import Table, open_table
from ridgepoint.demands.formulas import major_cycles
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file.keys import (
    SHARED,
    FileKeys,
    MemberKeys,
    ObservationKeys,
    PipelineKeys,
    require_kind_of_work,
)
from ridgepoint.kept.pipeline_file.machines import machine_of, machines_beside
from ridgepoint.kept.pipeline_file.stages import Around, Read, stages_of
from ridgepoint.models.pipeline import Pipeline
from ridgepoint.models.pipeline.assessment import Assessment, assess
from ridgepoint.models.pipeline.observation import USED, Observation, Share, require_weights
from ridgepoint.models.pipeline.times import stage_times
from ridgepoint.published.sdp_loads import Product, product

__all__ = ["Case", "Cases", "example_pipeline", "examples", "read_pipeline"]

_EXAMPLES = files("ridgepoint") / "data" / "pipelines"
_REMEDY = "name a TOML file; 'ridgepoint pipeline --example' prints one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A pipeline with the machine that bounds it.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    others : tuple of Machine
        Further machines to which stages can be assigned.
    cores : float or None
    load_per_s : float or None
        CL of Eq. (10), flop/s; None: not given.
    link_bytes_per_s : float or None
        Bandwidth between machines; None: not given.
    product : Product or None
        Product with the published loads of the stages; None: none.
    is_of_a_second : bool
        Whether the stages describe the work of one second, as published loads do.
    weight : float or None
        Weight in an observation; None: the pipeline is not part of one.
    used : tuple of float
        Shares of a device's time that the pipeline may use, in (0, 1]; the rest is legroom.
    cautions : tuple of Caution
    """

    pipeline: Pipeline
    machine: Machine
    others: tuple[Machine, ...] = ()
    cores: float | None = None
    load_per_s: float | None = None
    link_bytes_per_s: float | None = None
    product: Product | None = None
    is_of_a_second: bool = False
    weight: float | None = None
    used: tuple[float, ...] = USED
    cautions: tuple[Caution, ...] = ()

    def assess(self) -> Assessment:
        """Return all figures of the pipeline."""
        assessment = assess(
            self.pipeline, self.machine, cores=self.cores, load_per_s=self.load_per_s
        )
        return replace(assessment, cautions=(*self.cautions, *assessment.cautions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The pipelines of a file: one, or several that share an observation.

    Parameters
    ----------
    cases : tuple of Case
    is_observation : bool
    period_s : float or None
    used : tuple of float
    """

    cases: tuple[Case, ...]
    is_observation: bool = False
    period_s: float | None = None
    used: tuple[float, ...] = USED

    def observation(self, assessments: tuple[Assessment, ...]) -> Observation | None:
        """Return the pipelines with their weights; None: there is only one."""
        if not self.is_observation:
            return None
        shares = zip(assessments, self.cases, strict=True)
        return Observation(
            shares=tuple(
                Share(assessment=assessment, weight=case.weight or 0.0)
                for assessment, case in shares
            ),
            period_s=self.period_s,
            is_of_a_second=self.cases[0].is_of_a_second,
            used=self.used,
        )


def examples() -> tuple[str, ...]:
    """Return the names of the example files, sorted."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _EXAMPLES.iterdir()))


def example_pipeline(name: str = "imaging") -> str:
    """Return an example file.

    Raises
    ------
    RidgepointError
        If there is no example of this name.
    """
    if name not in examples():
        raise RidgepointError(
            f"cannot print the example {name!r}",
            reason=f"there are only {', '.join(examples())}",
            remedy="name one of these",
        )
    return (_EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")


def read_pipeline(
    path: str | Path,
    *,
    archive: Archive | None = None,
    machine: Machine | None = None,
    others: Sequence[Machine] | None = None,
) -> Cases:
    """Return the pipelines of a file.

    Parameters
    ----------
    path : str or Path
    archive : Archive or None
        Source of measurements; None: the usual one.
    machine : Machine or None
        Machine to use in place of the one that the file names.
    others : sequence of Machine or None
        Further machines to which stages can be assigned, with names of their own; None: those
        that the file names.

    Raises
    ------
    InvalidDocument
        If the file is invalid; the message has file, line and key.
    RidgepointError
        If a machine or the archive cannot be read.
    """
    with Archive() if archive is None else archive as kept:
        return _read(Path(path), _Reader(archive=kept, machine=machine, others=others))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """State for reading files that name each other.

    Parameters
    ----------
    archive : Archive
    machine : Machine or None
        Machine to use instead of the machines that the files name.
    others : sequence of Machine or None
        Further machines, in place of those that the files name; None: take those of the files.
    within : tuple of Path
        Files that led to this one.
    """

    archive: Archive
    machine: Machine | None
    others: Sequence[Machine] | None = None
    within: tuple[Path, ...] = ()


def _read(path: Path, reader: _Reader) -> Cases:
    head = open_table(path, what="the pipeline", remedy=_REMEDY)
    _require_no_legroom(head)
    if "pipelines" not in head:
        if "stages" not in head and "period" in head:
            raise head.wrong(None, "it has no pipelines", "add a table [pipelines.NAME] for each")
        keys = head.take(PipelineKeys)
        return Cases(cases=(_case(head, keys, path.stem, reader),))
    if "stages" in head:
        raise head.wrong("stages", "it has pipelines, too", "put the stages into one of them")
    whole = head.take(ObservationKeys)
    inside = replace(reader, within=(*reader.within, path))
    cases = tuple(
        _weighted(table, head, name, inside) for name, table in head.tables("pipelines").items()
    )
    try:
        require_weights([case.weight or 0.0 for case in cases])
    except ValueError as error:
        raise head.wrong("pipelines", str(error), "correct the weights") from error
    if len({case.is_of_a_second for case in cases}) > 1:
        raise head.wrong(
            "pipelines",
            "some have the stages of one second (published loads), others do not",
            "give all of them alike",
        )
    return Cases(
        cases=cases, is_observation=True, period_s=plain(whole.period), used=_used(whole.used)
    )


def _used(given: list[float] | float | None) -> tuple[float, ...]:
    """Return the shares of the time that pipelines may use."""
    return (given,) if isinstance(given, float) else tuple(dict.fromkeys(given or USED))


def _require_no_legroom(table: Table) -> None:
    """Refuse a key of that name, which does not say whether its share is spare or used."""
    if "legroom" in table:
        raise table.wrong(
            "legroom",
            "it does not say whether this share is spare or used",
            "write used = [0.8, 0.9] for a legroom of 20 % and of 10 %",
        )


def _weighted(table: Table, head: Table, name: str, reader: _Reader) -> Case:
    """Return a pipeline of an observation: from a file of its own, or from this one."""
    if "file" not in table:
        own = table.over(head, SHARED)
        keys = own.take(MemberKeys)
        return replace(_case(own, keys, name, reader), weight=keys.weight)
    member = table.take(FileKeys)
    target = reader.within[-1].parent / member.file
    if os.path.realpath(target) in map(os.path.realpath, reader.within):
        names = " -> ".join(file.name for file in (*reader.within, target))
        raise table.wrong("file", f"a circular reference: {names}", "name another file")
    try:
        cases = _read(target, reader)
    except InvalidDocument as error:
        if isinstance(error.__cause__, OSError):  # about the file itself, not its content
            raise table.wrong("file", f"{member.file!r}: {error.reason}", error.remedy) from error
        raise
    if cases.is_observation:
        reason = f"{member.file!r} holds several pipelines"
        raise table.wrong("file", reason, "name them one by one")
    case = cases.cases[0]
    return replace(case, pipeline=replace(case.pipeline, name=name), weight=member.weight)


def _case(table: Table, keys: PipelineKeys, name: str, reader: _Reader) -> Case:
    """Return a pipeline, including the settings at the head of the file."""
    around = Around(
        precision=keys.precision,
        cycles=None if keys.major_cycles is None else major_cycles(keys.major_cycles),
        product=None if keys.sdp is None else product(keys.sdp),
        archive=reader.archive,
    )
    read = stages_of(table, around)
    of_a_second = {stage.is_of_a_second: stage.stage.name for stage in reversed(read)}
    if len(of_a_second) > 1:
        raise table.table("stages").wrong(
            of_a_second[False],
            "other stages are published loads of one second, but this one is not",
            "take all stages from the published loads, or none",
        )
    machine = reader.machine or machine_of(table, keys, read, reader.archive)
    if keys.cores is not None and keys.cores > machine.cores:
        reason = f"{machine.name} has {machine.cores}, got {keys.cores:g}"
        raise table.wrong("cores", reason, "correct it, or give no cores to use all of them")
    pipeline = _pipeline(table, keys, name, read)
    if keys.load is not None:
        require_kind_of_work(table, "load", table.values["load"], pipeline.precision)
    case = Case(
        pipeline=pipeline,
        machine=machine,
        others=(
            machines_beside(table, keys, reader.archive, machine)
            if reader.others is None
            else tuple(reader.others)
        ),
        cores=keys.cores,
        load_per_s=_load(keys, around, is_of_a_second=True in of_a_second),
        link_bytes_per_s=plain(keys.link),
        product=around.product,
        is_of_a_second=True in of_a_second,
        used=_used(keys.used),
        cautions=(
            *(caution for stage in read for caution in stage.cautions),
            *_other_machines(read, machine, reader.archive),
            *_numbers(keys, read, reader),
        ),
    )
    return _bounded(table, case)


def _other_machines(read: list[Read], machine: Machine, archive: Archive) -> tuple[Caution, ...]:
    """Return a caution if stages were timed on another machine than the one that bounds them."""
    strange = [
        entry.stage.name
        for entry in read
        if entry.machine_id is not None
        and entry.stage.time_s is not None
        and archive.machine(entry.machine_id) != machine
    ]
    if not strange:
        return ()
    return (
        Caution(
            "other-machine",
            f"{', '.join(strange)} ran on another machine than {machine.name}",
            "its time says nothing about this machine; give an efficiency instead",
        ),
    )


def _numbers(keys: PipelineKeys, read: list[Read], reader: _Reader) -> tuple[Caution, ...]:
    """Return a caution if records are named by numbers, which mean others in other archives."""
    named = [
        *((keys.machine,) if reader.machine is None else ()),
        *(keys.machines if reader.others is None else ()),
    ]
    machines = [f"machine {name}" for name in named if str(name).isdecimal()]
    records = [*machines, *(stage.stage.origin for stage in read if stage.is_by_number)]
    if not records:
        return ()
    return (
        Caution(
            "by-number",
            f"{', '.join(records)}: the file names them by their numbers in the archive "
            f"{reader.archive.path}, and another archive has other records of these numbers",
            "give the records names ('ridgepoint name NUMBER NAME') and write those in the file",
            effect=0.0,
        ),
    )


def _bounded(table: Table, case: Case) -> Case:
    """Return a case whose stages the machine can bound, one by one."""
    for stage in case.pipeline.stages:
        alone = Pipeline(name=stage.name, stages=(stage,)) if stage.work else case.pipeline
        try:
            stage_times(alone, case.machine, cores=case.cores)
        except RidgepointError as error:
            reason = f"{error.what}: {error.reason}"
            raise table.table("stages").wrong(stage.name, reason, error.remedy) from error
    return case


def _pipeline(table: Table, keys: PipelineKeys, name: str, read: list[Read]) -> Pipeline:
    try:
        return Pipeline(
            name=keys.name or name,
            stages=tuple(stage.stage for stage in read),
            host_time_s=keys.host_time,
        )
    except ValueError as error:
        raise table.wrong("stages", str(error), "correct the stages") from error


def _load(keys: PipelineKeys, around: Around, *, is_of_a_second: bool) -> float | None:
    """Return the load: as given, or that of the product if all its stages are there."""
    if keys.load is None and is_of_a_second and around.product is not None:
        return around.product.total_flop_per_s
    return plain(keys.load)
