"""Stages of a pipeline's file: figures, formulas, published loads, measurements."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ridgepoint.core.caution import Caution
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.resources import RESOURCES
from ridgepoint.demands.formulas import FORMULAS, MajorCycles, Work
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file.section import Section
from ridgepoint.models.parts import function_alone, region_alone, timed_functions
from ridgepoint.models.pipeline import Stage
from ridgepoint.models.work import Metric, demand_of
from ridgepoint.published.sdp_loads import Product

_SOURCES = ("work", "formula", "sdp", "measurement")
_COMMON = (
    "work", "bytes", "intensity", "formula", "sdp", "measurement", "region", "function", "time",
    "efficiency", "repeat", "output", "kind", "precision", "like",
)  # fmt: skip
_PURE = {"copy": "work", "compute": "bytes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stages share.

    Parameters
    ----------
    precision : str
        Of figures and formulas: ``fp32``, ..., or ``bop``.
    cycles : MajorCycles or None
        How often parts run; None: no number of major cycles is given.
    product : Product or None
        Whose published loads stages may take; None: none is named.
    archive : Archive
    """

    precision: str
    cycles: MajorCycles | None
    product: Product | None
    archive: Archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A stage that was read.

    Parameters
    ----------
    stage : Stage
    is_of_a_second : bool
        Whether its work is a published load: what has to be done in a second.
    machine_id : int or None
        In the archive: the machine that its measurement was bounded by.
    cautions : tuple of Caution
    """

    stage: Stage
    is_of_a_second: bool = False
    machine_id: int | None = None
    cautions: tuple[Caution, ...] = ()


def stages_of(section: Section, around: Around) -> list[Read]:
    """Return the stages of a file, in their order.

    Raises
    ------
    InvalidDocument
        If one is not as it should be; the message has file, line and key.
    ArchiveRefused
        If the archive cannot be read.
    """
    if "stages" not in section:
        raise section.wrong(None, "it has no stages", "add a table [stages.NAME] for each of them")
    named = dict(section.tables("stages"))
    if not named:
        raise section.wrong("stages", "there is none", "add a table [stages.NAME] for each stage")
    return [_stage(name, _alike(name, named), around) for name in named]


def _alike(name: str, named: Mapping[str, Section]) -> Section:
    """Return a stage's table, with what it has from the stages that it is like."""
    own, seen = named[name], [name]
    section = own
    while (other := section.text("like")) is not None:
        if other not in named:
            raise section.wrong("like", f"there is no stage {other!r}", "name a stage of this file")
        seen.append(other)
        if seen.count(other) > 1:
            chain = " -> ".join(seen)
            raise section.wrong("like", f"a circular reference: {chain}", "break the circle")
        section = named[other]
        # A source of its own takes the place of the other's; so does a time or an efficiency.
        taken = {key: value for key, value in section.values.items() if key != "like"}
        sources = [key for key in _SOURCES if key in own]
        is_other_load = sources == ["sdp"] and "sdp" in taken
        if sources and not is_other_load:
            formula = taken.get("formula")
            parameters = _parameters(formula) if isinstance(formula, str) else ()
            for key in (*_SOURCES, "bytes", "intensity", "kind", *parameters):
                taken.pop(key, None)
        if "time" in own or "efficiency" in own:
            taken.pop("time", None)
            taken.pop("efficiency", None)
        own = replace(own, values={**taken, **own.values})
    return own


def precision_of(section: Section) -> str | None:
    """Return the kind of work that a table names; None: it names none."""
    return section.choice("precision", [n for n in RESOURCES if RESOURCES[n].path == "compute"])


def _stage(name: str, section: Section, around: Around) -> Read:
    given = [key for key in _SOURCES if key in section]
    remedy = "give one of work (with bytes or intensity), formula, sdp, measurement"
    if not given:
        raise section.wrong(None, "nothing says what it does", remedy)
    # Of a published load the intensity may be computed.
    if len(given) > 1 and given != ["formula", "sdp"]:
        raise section.wrong(given[1], f"{' and '.join(given)} both say what it does", remedy)
    formula = section.choice("formula", FORMULAS)
    section.require_known([*_COMMON, *(_parameters(formula) if formula else ())])
    if "measurement" in section:
        return _measured(name, section, around)
    precision = precision_of(section) or around.precision
    if "sdp" in section:
        demand, origin = _published(section, around, precision, formula), "published load"
    elif formula:
        demand, origin = _by_formula(section, formula, precision), f"formula {formula}"
    else:
        demand, origin = _plain(section, precision), "figures"
    read = Read(stage=_made(name, section, around, demand, origin=origin))
    return replace(read, is_of_a_second="sdp" in section)


def _made(
    name: str,
    section: Section,
    around: Around,
    demand: Demand,
    *,
    origin: str,
    measurement: Measurement | None = None,
) -> Stage:
    """Return a stage of a demand, with its time and repeats."""
    _require_impure(section, demand)
    if "time" in section and "efficiency" in section:
        raise section.wrong("efficiency", "it has a time, too", "give one of the two")
    time = section.time("time")
    if time is None and measurement is not None and measurement.timed is not None:
        time = None if "efficiency" in section else measurement.timed.runtime_s
    return Stage(
        name=name,
        demand=demand,
        time_s=time,
        efficiency=section.share("efficiency"),
        repeat=_repeat(section, around),
        output_bytes=section.amount("output", "bytes", least=-1),
        origin=origin,
        measurement=measurement,
    )


def _require_impure(section: Section, demand: Demand) -> None:
    """Refuse a pure copy and a pure loop, unless they are said to be that."""
    kind = section.choice("kind", _PURE)
    work, moved = (
        sum(float(v) for n, v in demand.amounts.items() if RESOURCES[n].path == path)
        for path in ("compute", "dram")
    )
    key = next((one for one in ("work", "formula", "measurement") if one in section), "sdp")
    if not work and not moved:
        raise section.wrong(key, "it has neither work nor traffic", "leave it out, or correct it")
    if not work and kind != "copy":
        raise section.wrong(key, "it has no work (a pure copy), and so an intensity of 0",
                            'if that is meant, say kind = "copy"')  # fmt: skip
    if not moved and kind != "compute":
        raise section.wrong("bytes" if "bytes" in section else key,
                            "it has no traffic (a pure compute loop), and so no finite intensity",
                            'if that is meant, say kind = "compute"')  # fmt: skip
    if kind is not None and (work if kind == "copy" else moved):
        raise section.wrong("kind", f"it is no pure {kind}", "leave it out")


def _plain(section: Section, precision: str) -> Demand:
    """Return the demand of plain figures."""
    work = section.amount("work", "work", least=-1)
    assert work is not None  # it is what says what the stage does
    if ("bytes" in section) == ("intensity" in section):
        raise section.wrong(
            None if "bytes" not in section else "intensity",
            "of bytes and intensity it must have one", "give the traffic at DRAM, such as \"5 GB\"",
        )  # fmt: skip
    if "bytes" in section:
        moved = section.amount("bytes", "bytes", least=-1)
    else:
        moved = work / _intensity(section)
    return _demand(precision, work, moved or 0.0)


def _demand(precision: str, work: float, moved: float) -> Demand:
    amounts = {precision: work, "dram": moved}
    return Demand({name: amount for name, amount in amounts.items() if amount})


def _intensity(section: Section) -> float:
    found = section.amount("intensity", "intensity")
    if found is None:
        raise section.wrong(
            None, "no intensity is known, since the published model has no traffic",
            "give intensity (flop/B), or a formula with its sizes",
        )  # fmt: skip
    return found


def _parameters(formula: str) -> tuple[str, ...]:
    return tuple(inspect.signature(FORMULAS[formula]).parameters) if formula in FORMULAS else ()


def _computed(section: Section, formula: str) -> Work:
    """Return what a formula makes of the sizes in a section."""
    sizes: dict[str, Any] = {}
    for name, parameter in inspect.signature(FORMULAS[formula]).parameters.items():
        if name in section:
            is_word = parameter.annotation == "str"
            sizes[name] = section.text(name) if is_word else section.number(name)
        elif parameter.default is inspect.Parameter.empty:
            raise section.wrong("formula", f"{formula!r} needs {name}", f"give {name} as a number")
    try:
        return FORMULAS[formula](**sizes)
    except ValueError as error:
        name = str(error).partition(" ")[0]
        key = name if name in section else "formula"
        raise section.wrong(key, str(error), "correct it") from error


def _by_formula(section: Section, formula: str, precision: str) -> Demand:
    done = _computed(section, formula)
    if "bytes" in section and "intensity" in section:
        raise section.wrong("intensity", "it has bytes, too", "give one of the two")
    if "bytes" in section:
        return _demand(precision, done.flop, section.amount("bytes", "bytes", least=-1) or 0.0)
    if "intensity" in section:
        return _demand(precision, done.flop, done.flop / _intensity(section))
    if done.moved_bytes is None:
        raise section.wrong(
            "formula", f"of {formula!r} the flop are known, and no formula of its bytes",
            "give bytes or intensity, measured or assumed",
        )  # fmt: skip
    return _demand(precision, done.flop, done.moved_bytes)


def _published(section: Section, around: Around, precision: str, formula: str | None) -> Demand:
    """Return the demand of a published load: of one second."""
    if around.product is None:
        raise section.wrong("sdp", "no product is named", 'say which, such as sdp = "low-dprepa"')
    loads = around.product.stage_flop_per_s
    work = loads[section.choice("sdp", loads) or ""]
    if formula is None:
        return _demand(precision, work, work / _intensity(section))
    intensity = _by_formula(section, formula, precision).amounts
    return _demand(precision, work, work * float(intensity["dram"]) / float(intensity[precision]))


def _repeat(section: Section, around: Around) -> float:
    found = section.values.get("repeat", 1)
    if not isinstance(found, str):
        return section.number("repeat") or 1.0
    if around.cycles is None:
        raise section.wrong("repeat", f"{found!r} needs a number of major cycles",
                            "give major_cycles at the head of the file")  # fmt: skip
    part = section.choice("repeat", ("invert", "predict", "deconvolve"))
    return float(getattr(around.cycles, part or ""))


def _measured(name: str, section: Section, around: Around) -> Read:
    """Return a stage that was measured."""
    for key in ("bytes", "intensity"):
        if key in section:
            raise section.wrong(key, "its measurement has that", "leave it out")
    named = section.values["measurement"]
    is_number = isinstance(named, int) and not isinstance(named, bool)
    if not is_number and not (isinstance(named, str) and not named.isdecimal()):
        raise section.wrong("measurement", f"{named!r} is no number of the archive, and no name",
                            "give one of 'ridgepoint list'")  # fmt: skip
    try:
        record = (
            around.archive.require(named, ["measurement"])
            if isinstance(named, str)
            else around.archive.record(named)
        )
        whole = around.archive.measurement(record.id)
    except RidgepointError as error:
        raise section.wrong("measurement", error.reason, error.remedy) from error
    part = _part(section, whole)
    metric: Metric = "bop" if (precision_of(section) or around.precision) == "bop" else "flop"
    asked = {
        resource: amount
        for resource, amount in demand_of(part, metric).amounts.items()
        if RESOURCES[resource].path in ("compute", "dram")
    }
    traffic = part.traffic_at("dram")
    if traffic is None:
        raise section.wrong("measurement", "its traffic at DRAM was not measured",
                            "measure it with another meter, or give work and bytes")  # fmt: skip
    if part.timed is None and not {"time", "efficiency"} & set(section.values):
        raise section.wrong("measurement", "it was counted and not timed",
                            "give time or efficiency")  # fmt: skip
    cautions = []
    if traffic.write_bytes is None:
        cautions.append(Caution("reads-only", f"of {name} the bytes written were not measured",
                                "its intensity is an upper bound"))  # fmt: skip
    origin = f"measurement {named}"
    stage = _made(name, section, around, Demand(asked), origin=origin, measurement=part)
    return Read(stage=stage, machine_id=record.machine_id, cautions=tuple(cautions))


def _part(section: Section, whole: Measurement) -> Measurement:
    """Return the region or function that a stage is, or the whole."""
    region, function = section.text("region"), section.text("function")
    if region is not None and function is not None:
        raise section.wrong("function", "it has a region, too", "give one of the two")
    if region is not None:
        known = {one.name: one for one in whole.counted.regions}
        _require_part(section, "region", region, list(known))
        return region_alone(whole, known[region])
    if function is not None:
        parts = {one.name: (one, timed) for one, timed in timed_functions(whole) if one is not None}
        _require_part(section, "function", function, list(parts))
        counted, timed = parts[function]
        return function_alone(whole, counted, timed)
    return whole


def _require_part(section: Section, key: str, name: str, known: list[str]) -> None:
    if name not in known:
        there = f"it has {', '.join(known[:8])}" if known else f"it has no {key} with a time"
        raise _no_part(section, key, name, there)


def _no_part(section: Section, key: str, name: str, there: str) -> InvalidDocument:
    return section.wrong(key, f"the measurement has no {key} {name!r}", there)
