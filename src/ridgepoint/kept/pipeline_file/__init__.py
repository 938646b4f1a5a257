"""Pipelines in files: TOML that names stages, machines and loads, with units.

`ridgepoint pipeline --example` prints a file with every key explained.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.errors import InvalidDocument, RidgepointError, reason_of
from ridgepoint.core.machine import Machine
from ridgepoint.demands.formulas import MajorCycles, major_cycles
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file.machines import machine_of, machines_beside
from ridgepoint.kept.pipeline_file.section import Section
from ridgepoint.kept.pipeline_file.stages import Around, Read, precision_of, stages_of
from ridgepoint.kept.toml_lines import lines_of
from ridgepoint.models.pipeline import Pipeline
from ridgepoint.models.pipeline.assessment import Assessment, assess
from ridgepoint.models.pipeline.observation import LEGROOM, Observation, Share, require_weights
from ridgepoint.models.pipeline.times import stage_times
from ridgepoint.published.sdp_loads import Product, product, products

__all__ = ["Case", "Cases", "example", "examples", "read_pipeline"]

_EXAMPLES = files("ridgepoint") / "data" / "pipelines"
_LARGEST = 1_000_000
_OF_PIPELINE = (
    "name", "machine", "machines", "link", "precision", "cores", "load", "sdp", "host_time",
    "major_cycles", "stages",
)  # fmt: skip
_OF_OBSERVATION = ("period", "legroom", "pipelines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A pipeline with the machine it is bounded by.

    Parameters
    ----------
    pipeline : Pipeline
    machine : Machine
    others : tuple of Machine
        To assign stages to, beside that one.
    cores : float or None
    load_per_s : float or None
        CL of Eq. (10), flop/s.
    link_bytes_per_s : float or None
        Between machines.
    product : Product or None
        Whose published loads the stages have.
    is_of_a_second : bool
        Whether the stages are those of one second: published loads.
    weight : float or None
        Of an observation; None: it stands alone.
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
    cautions: tuple[Caution, ...] = ()

    def assess(self) -> Assessment:
        """Return all its figures."""
        found = assess(self.pipeline, self.machine, cores=self.cores, load_per_s=self.load_per_s)
        return replace(found, cautions=(*self.cautions, *found.cautions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The pipelines of a file: one, or several that share an observation.

    Parameters
    ----------
    cases : tuple of Case
    is_observation : bool
    period_s : float or None
    legroom : tuple of float
    """

    cases: tuple[Case, ...]
    is_observation: bool = False
    period_s: float | None = None
    legroom: tuple[float, ...] = LEGROOM

    def observation(self, assessments: tuple[Assessment, ...]) -> Observation | None:
        """Return the pipelines with their weights; None: there is but one."""
        if not self.is_observation:
            return None
        shares = zip(assessments, self.cases, strict=True)
        return Observation(
            shares=tuple(Share(assessment=one, weight=case.weight or 0.0) for one, case in shares),
            period_s=self.period_s,
            is_of_a_second=self.cases[0].is_of_a_second,
            legroom=self.legroom,
        )


def examples() -> tuple[str, ...]:
    """Return the names of the example files, sorted."""
    return tuple(sorted(one.name.removesuffix(".toml") for one in _EXAMPLES.iterdir()))


def example_pipeline(name: str = "imaging") -> str:
    """Return an example file.

    Raises
    ------
    RidgepointError
        If there is none of this name.
    """
    if name not in examples():
        raise RidgepointError(
            f"cannot print the example {name!r}",
            reason=f"there are only {', '.join(examples())}",
            remedy="name one of these",
        )
    return (_EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")


def read_pipeline(
    path: str | Path, *, archive: Archive | None = None, machine: Machine | None = None
) -> Cases:
    """Return the pipelines of a file.

    Parameters
    ----------
    path : str or Path
    archive : Archive or None
        Where measurements are taken from; None: the usual one.
    machine : Machine or None
        In place of the one that the file names.

    Raises
    ------
    InvalidDocument
        If the file is not as it should be; the message has file, line and key.
    RidgepointError
        If a machine or the archive cannot be read.
    """
    with Archive() if archive is None else archive as kept:
        return _read(Path(path), _Reader(archive=kept, machine=machine))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """What files that name each other are read with.

    Parameters
    ----------
    archive : Archive
    machine : Machine or None
        In place of those that files name.
    within : tuple of Path
        Files that led here.
    """

    archive: Archive
    machine: Machine | None
    within: tuple[Path, ...] = ()


def _read(path: Path, reader: _Reader) -> Cases:
    head = _opened(path)
    if "pipelines" not in head:
        if "stages" not in head and any(key in head for key in _OF_OBSERVATION):
            raise head.wrong(None, "it has no pipelines", "add a table [pipelines.NAME] for each")
        head.require_known(_OF_PIPELINE)
        return Cases(cases=(_case(head, {}, path.stem, reader),))
    head.require_known([*_OF_PIPELINE, *_OF_OBSERVATION])
    if "stages" in head:
        raise head.wrong("stages", "it has pipelines, too", "put the stages into one of them")
    shared = {key: head.values[key] for key in _OF_PIPELINE if key in head}
    inside = replace(reader, within=(*reader.within, path))
    cases = tuple(
        _weighted(section, shared, name, inside) for name, section in head.tables("pipelines")
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
    legroom = head.numbers("legroom") or LEGROOM
    if max(legroom) > 1:
        raise head.wrong(
            "legroom", f"a share must be at most 1, got {max(legroom):g}", "correct it"
        )
    period = head.amount("period", "time")
    return Cases(cases=cases, is_observation=True, period_s=period, legroom=legroom)


def _weighted(section: Section, shared: Mapping[str, Any], name: str, reader: _Reader) -> Case:
    """Return a pipeline of an observation: from a file of its own, or as it stands there."""
    weight = section.number("weight")
    if weight is None:
        raise section.wrong(None, "it has no weight", "give its share, such as weight = 0.4")
    other = section.text("file")
    if other is None:
        section.require_known(["weight", "file", *_OF_PIPELINE])
        return replace(_case(section, shared, name, reader), weight=weight)
    section.require_known(["weight", "file"])
    target = reader.within[-1].parent / other
    if os.path.realpath(target) in map(os.path.realpath, reader.within):
        names = " -> ".join(one.name for one in (*reader.within, target))
        raise section.wrong("file", f"a circular reference: {names}", "name another file")
    try:
        found = _read(target, reader)
    except InvalidDocument as error:
        if error.what.startswith("cannot read"):  # the file itself, not what stands in it
            raise section.wrong("file", f"{other!r}: {error.reason}", error.remedy) from error
        raise
    if found.is_observation:
        raise section.wrong("file", f"{other!r} holds several pipelines", "name them one by one")
    case = found.cases[0]
    return replace(case, pipeline=replace(case.pipeline, name=name), weight=weight)


def _opened(path: Path) -> Section:
    """Return the whole file."""
    what = f"cannot read the pipeline {str(path)!r}"
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidDocument(what, reason="it is larger than 1 MB", remedy="name a TOML file")
        text = path.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else f"it is no TOML: {error}"
        remedy = "name a TOML file; 'ridgepoint pipeline --example' prints one"
        raise InvalidDocument(what, reason=reason, remedy=remedy) from error
    except RecursionError as error:
        raise InvalidDocument(
            what, reason="it is nested too deeply", remedy="name a TOML file"
        ) from error
    return Section(file=str(path), path=(), values=values, lines=lines_of(text))


def _case(section: Section, shared: Mapping[str, Any], name: str, reader: _Reader) -> Case:
    """Return a pipeline, with what the head of the file says of all."""
    own = replace(section, values={**shared, **section.values})
    # A shared key stands at the head of the file, not in this table.
    at = {
        key: replace(own, path=()) if key in shared and key not in section else own
        for key in _OF_PIPELINE
    }
    precision = precision_of(at["precision"]) or "fp32"
    around = Around(
        precision=precision,
        cycles=_cycles(at["major_cycles"]),
        product=_product(at["sdp"]),
        archive=reader.archive,
    )
    read = stages_of(own, around)
    is_of_a_second = [one.is_of_a_second for one in read]
    if any(is_of_a_second) and not all(is_of_a_second):
        whole = read[is_of_a_second.index(False)].stage.name
        raise own.table("stages").wrong(
            whole,
            "other stages are published loads of one second, and it is not",
            "take all stages from the published loads, or none",
        )
    machine = reader.machine or machine_of(at["machine"], read, reader.archive, precision)
    found = Case(
        pipeline=_pipeline(own, at, name, read),
        machine=machine,
        others=machines_beside(at["machines"], reader.archive, machine),
        cores=_cores(at["cores"], machine),
        load_per_s=_load(at["load"], around, any(is_of_a_second)),
        link_bytes_per_s=at["link"].amount("link", "byte rate"),
        product=around.product,
        is_of_a_second=any(is_of_a_second),
        cautions=(
            *(caution for one in read for caution in one.cautions),
            *_other_machines(read, machine, reader.archive),
        ),
    )
    return _bounded(own, found)


def _other_machines(read: list[Read], machine: Machine, archive: Archive) -> tuple[Caution, ...]:
    """Return the doubt that stages were timed on another machine than the one that bounds them."""
    strange = [
        one.stage.name
        for one in read
        if one.machine_id is not None
        and one.stage.time_s is not None
        and archive.machine(one.machine_id) != machine
    ]
    if not strange:
        return ()
    return (
        Caution(
            "other-machine",
            f"{', '.join(strange)} ran on another machine than {machine.name}",
            "its time says nothing of this machine; give an efficiency in its place",
        ),
    )


def _bounded(section: Section, case: Case) -> Case:
    """Return a case whose stages the machine can bound, one by one."""
    for stage in case.pipeline.stages:
        alone = Pipeline(name=stage.name, stages=(stage,)) if stage.work else case.pipeline
        try:
            stage_times(alone, case.machine, cores=case.cores)
        except RidgepointError as error:
            reason = f"{error.what}: {error.reason}"
            raise section.table("stages").wrong(stage.name, reason, error.remedy) from error
    return case


def _pipeline(section: Section, at: Mapping[str, Section], name: str, read: list[Read]) -> Pipeline:
    try:
        return Pipeline(
            name=section.text("name") or name,
            stages=tuple(one.stage for one in read),
            host_time_s=at["host_time"].time("host_time", may_be_zero=True),
        )
    except ValueError as error:
        raise section.wrong("stages", str(error), "correct the stages") from error


def _cycles(section: Section) -> MajorCycles | None:
    count = section.number("major_cycles")
    if count is None:
        return None
    if count != int(count):
        raise section.wrong("major_cycles", f"{count:g} is no whole number", "correct it")
    return major_cycles(int(count))


def _product(section: Section) -> Product | None:
    name = section.choice("sdp", products())
    return None if name is None else product(name)


def _cores(section: Section, machine: Machine) -> float | None:
    cores = section.number("cores")
    if cores is not None and cores > machine.cores:
        raise section.wrong("cores", f"{machine.name} has {machine.cores}, got {cores:g}",
                            "correct it, or leave it out for all")  # fmt: skip
    return cores


def _load(section: Section, around: Around, is_of_a_second: bool) -> float | None:
    """Return the load: as given, or the whole of the product whose loads the stages have."""
    given = section.amount("load", "work rate")
    if given is None and is_of_a_second and around.product is not None:
        return around.product.total_flop_per_s
    return given
