"""Stages of a pipeline's file: figures, formulas, published loads, measurements."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ridgepoint.core.caution import Caution
from ridgepoint.core.demand import Demand
from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.estimate import Estimate
from ridgepoint.core.measurement import Measurement
from ridgepoint.core.quantities import plain
from ridgepoint.core.resources import RESOURCES
from ridgepoint.core.toml import Table
from ridgepoint.demands.formulas import FORMULAS, MajorCycles, Work
from ridgepoint.kept.archive import Archive
from ridgepoint.kept.pipeline_file.keys import (
    Like,
    StageKeys,
    require_kind_of_work,
    sizes_of,
    stage_keys,
)
from ridgepoint.models.parts import function_alone, region_alone, timed_functions
from ridgepoint.models.pipeline import Stage
from ridgepoint.models.work import Metric, demand_of
from ridgepoint.published.sdp_loads import Product

_SOURCES = ("work", "formula", "sdp", "measurement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Settings that stages share.

    Parameters
    ----------
    precision : str
        Kind of work in figures and formulas: ``fp32``, ..., or ``bop``.
    cycles : MajorCycles or None
        How often parts run; None: no number of major cycles was given.
    product : Product or None
        Product whose published loads stages may use; None: none was named.
    archive : Archive
    """

    precision: str
    cycles: MajorCycles | None
    product: Product | None
    archive: Archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A stage with its origin.

    Parameters
    ----------
    stage : Stage
    is_of_a_second : bool
        Whether its work is a published load: the work to be done in each second.
    machine_id : int or None
        Id in the archive of the machine that bounded its measurement; None: none did.
    is_by_number : bool
        Whether its measurement was named by its number in the archive.
    cautions : tuple of Caution
    """

    stage: Stage
    is_of_a_second: bool = False
    machine_id: int | None = None
    is_by_number: bool = False
    cautions: tuple[Caution, ...] = ()


def stages_of(table: Table, around: Around) -> list[Read]:
    """Return the stages of a file, in their order.

    Raises
    ------
    InvalidDocument
        If a stage is invalid; the message has file, line and key.
    ArchiveRefused
        If the archive cannot be read.
    """
    if not table.values.get("stages"):
        raise table.wrong(None, "it has no stages", "add a table [stages.NAME] for each of them")
    named = table.tables("stages")
    return [_stage(name, _alike(name, named), around) for name in named]


def _alike(name: str, named: Mapping[str, Table]) -> Table:
    """Return a stage's table, completed from the stages that it resembles."""
    whole, seen = named[name], [name]
    table = whole
    while (other := table.take(Like).like) is not None:
        if other not in named:
            raise table.wrong("like", f"there is no stage {other!r}", "name a stage of this file")
        seen.append(other)
        if seen.count(other) > 1:
            chain = " -> ".join(seen)
            raise table.wrong("like", f"a circular reference: {chain}", "break the circle")
        table = named[other]
        whole = whole.over(table, table.values.keys() - _replaced(whole, table))
    return whole


def _replaced(table: Table, other: Table) -> set[str]:
    """Return the keys of another stage that a stage replaces with its own."""
    replaced = {"like"}
    # A source of its own takes the place of the other's; so does a time or an efficiency.
    sources = [key for key in _SOURCES if key in table]
    is_other_load = sources == ["sdp"] and "sdp" in other
    if sources and not is_other_load:
        replaced |= {
            *_SOURCES,
            "bytes",
            "intensity",
            "kind",
            *sizes_of(other.values.get("formula")),
        }
    if "time" in table or "efficiency" in table:
        replaced |= {"time", "efficiency"}
    return replaced


def _stage(name: str, table: Table, around: Around) -> Read:
    given = [key for key in _SOURCES if key in table]
    remedy = (
        "give one of work (with bytes or intensity), formula, sdp, measurement; of a copy, bytes "
        'and kind = "copy"'
    )
    is_copy = table.values.get("kind") == "copy" and "bytes" in table
    if not given and not is_copy:
        raise table.wrong(None, "it does not say what the stage does", remedy)
    # Of a published load the intensity may be computed.
    if len(given) > 1 and given != ["formula", "sdp"]:
        raise table.wrong(given[1], f"{' and '.join(given)} both say what it does", remedy)
    keys = stage_keys(table)
    if keys.measurement is not None:
        return _measured(name, table, keys, around)
    for key in ("region", "function"):
        if key in table:
            raise table.wrong(key, "only a measurement has parts", "give measurement, too")
    precision = keys.precision or around.precision
    for key in ("work", "intensity"):
        require_kind_of_work(table, key, table.values.get(key), precision)
    if keys.sdp is not None:
        demand, origin = _published(table, keys, around, precision), "published load"
    elif keys.formula is not None:
        demand, origin = _by_formula(table, keys, precision), f"formula {keys.formula}"
    else:
        demand, origin = _plain(table, keys, precision), "figures"
    read = Read(stage=_made(name, table, keys, around, demand, origin=origin))
    return replace(read, is_of_a_second=keys.sdp is not None)


def _made(
    name: str,
    table: Table,
    keys: StageKeys,
    around: Around,
    demand: Demand,
    *,
    origin: str,
    measurement: Measurement | None = None,
) -> Stage:
    """Return a stage with this demand, its time and its repeats."""
    _require_impure(table, keys, demand)
    if keys.time is not None and keys.efficiency is not None:
        raise table.wrong("efficiency", "it has a time, too", "give one of the two")
    time: Estimate | None = keys.time
    if time is None and measurement is not None and measurement.timed is not None:
        time = None if keys.efficiency is not None else measurement.timed.runtime_s
    return Stage(
        name=name,
        demand=demand,
        time_s=time,
        efficiency=keys.efficiency,
        repeat=_repeat(table, keys, around),
        output_bytes=plain(keys.output),
        origin=origin,
        measurement=measurement,
    )


def _require_impure(table: Table, keys: StageKeys, demand: Demand) -> None:
    """Refuse a stage without work or without bytes, unless it is declared as such."""
    work, moved = (
        sum(float(v) for n, v in demand.amounts.items() if RESOURCES[n].path == path)
        for path in ("compute", "dram")
    )
    sources = ("work", "formula", "measurement", "sdp", "bytes")
    key = next(source for source in sources if source in table)
    if not work and not moved:
        raise table.wrong(key, "it has neither work nor traffic", "remove the stage, or correct it")
    if not work and keys.kind != "copy":
        raise table.wrong(key, "it has no work (a pure copy), and so an intensity of 0",
                          'if this is intended, add kind = "copy"')  # fmt: skip
    if not moved and keys.kind != "compute":
        raise table.wrong("bytes" if "bytes" in table else key,
                          "it has no traffic (a pure compute loop), and so no finite intensity",
                          'if this is intended, add kind = "compute"')  # fmt: skip
    if keys.kind is not None and (work if keys.kind == "copy" else moved):
        raise table.wrong("kind", f"it is not a pure {keys.kind}", "remove this key")


def _plain(table: Table, keys: StageKeys, precision: str) -> Demand:
    """Return the demand given by plain figures."""
    if keys.work is None:  # a copy: nothing else says what the stage does
        if keys.intensity is not None:
            raise table.wrong("intensity", "a copy has no work", "give its bytes alone")
        return _demand(precision, 0.0, keys.bytes or 0.0)
    if keys.kind == "compute" and keys.bytes is None and keys.intensity is None:
        return _demand(precision, keys.work, 0.0)
    if (keys.bytes is None) == (keys.intensity is None):
        raise table.wrong(
            None if keys.bytes is None else "intensity",
            "it needs either bytes or intensity, and not both",
            'give the traffic at DRAM, such as bytes = "5 GB"',
        )
    moved = keys.work / _intensity(table, keys) if keys.bytes is None else keys.bytes
    return _demand(precision, keys.work, moved)


def _demand(precision: str, work: float, moved: float) -> Demand:
    amounts = {precision: float(work), "dram": float(moved)}
    return Demand({name: amount for name, amount in amounts.items() if amount})


def _intensity(table: Table, keys: StageKeys) -> float:
    if keys.intensity is None:
        raise table.wrong(
            None, "no intensity is known, since the published model has no traffic",
            "give intensity (flop/B), or a formula with its sizes",
        )  # fmt: skip
    return keys.intensity


def _computed(table: Table, keys: StageKeys) -> Work:
    """Return the work that a stage's formula gives for its sizes."""
    formula = str(keys.formula)
    sizes = {}
    for name, parameter in sizes_of(formula).items():
        if name in table:
            sizes[name] = getattr(keys, name)
        elif parameter.default is inspect.Parameter.empty:
            raise table.wrong("formula", f"{formula!r} needs {name}", f"give {name} as a number")
    try:
        return FORMULAS[formula](**sizes)
    except ValueError as error:
        name = str(error).partition(" ")[0]
        raise table.wrong(name if name in table else "formula", str(error)) from error


def _by_formula(table: Table, keys: StageKeys, precision: str) -> Demand:
    done = _computed(table, keys)
    if keys.bytes is not None and keys.intensity is not None:
        raise table.wrong("intensity", "it has bytes, too", "give one of the two")
    if keys.bytes is not None:
        return _demand(precision, done.flop, keys.bytes)
    if keys.intensity is not None:
        return _demand(precision, done.flop, done.flop / keys.intensity)
    if done.moved_bytes is None:
        raise table.wrong(
            "formula",
            f"the formula {str(keys.formula)!r} gives flop only, and no bytes",
            "give bytes or intensity, measured or assumed",
        )
    return _demand(precision, done.flop, done.moved_bytes)


def _published(table: Table, keys: StageKeys, around: Around, precision: str) -> Demand:
    """Return the demand of a published load for one second."""
    if around.product is None:
        raise table.wrong("sdp", "no product is named", 'name one, such as sdp = "low-dprepa"')
    work = around.product.stage_flop_per_s[str(keys.sdp)]
    if keys.formula is None:
        return _demand(precision, work, work / _intensity(table, keys))
    amounts = _by_formula(table, keys, precision).amounts
    return _demand(precision, work, work * float(amounts["dram"]) / float(amounts[precision]))


def _repeat(table: Table, keys: StageKeys, around: Around) -> float:
    if not isinstance(keys.repeat, str):
        return keys.repeat
    if around.cycles is None:
        raise table.wrong("repeat", f"{keys.repeat!r} needs a number of major cycles",
                          "give major_cycles at the head of the file")  # fmt: skip
    return float(getattr(around.cycles, keys.repeat))


def _measured(name: str, table: Table, keys: StageKeys, around: Around) -> Read:
    """Return a stage that was measured."""
    for key in ("bytes", "intensity"):
        if key in table:
            raise table.wrong(key, "the measurement already gives it", "remove this key")
    named = keys.measurement
    assert named is not None
    if isinstance(named, str) and named.isdecimal():
        raise table.wrong("measurement", f"{named!r} is neither a number of the archive nor a name",
                          "give one of 'ridgepoint list'")  # fmt: skip
    try:
        record = (
            around.archive.require(named, ["measurement"])
            if isinstance(named, str)
            else around.archive.record(named)
        )
        whole = around.archive.measurement(record.id)
    except RidgepointError as error:
        raise table.wrong("measurement", error.reason, error.remedy) from error
    part = _part(table, keys, whole)
    metric: Metric = "bop" if (keys.precision or around.precision) == "bop" else "flop"
    asked = {
        resource: amount
        for resource, amount in demand_of(part, metric).amounts.items()
        if RESOURCES[resource].path in ("compute", "dram")
    }
    traffic = part.traffic_at("dram")
    if traffic is None:
        raise table.wrong("measurement", "its traffic at DRAM was not measured",
                          "measure it with another meter, or give work and bytes")  # fmt: skip
    if part.timed is None and keys.time is None and keys.efficiency is None:
        raise table.wrong("measurement", "it was counted and not timed",
                          "give time or efficiency")  # fmt: skip
    cautions = []
    if traffic.write_bytes is None:
        cautions.append(Caution("reads-only", f"of {name} the bytes written were not measured",
                                "its intensity is an upper bound"))  # fmt: skip
    origin = f"measurement {named}"
    stage = _made(name, table, keys, around, Demand(asked), origin=origin, measurement=part)
    return Read(
        stage=stage,
        machine_id=record.machine_id,
        is_by_number=isinstance(named, int),
        cautions=tuple(cautions),
    )


def _part(table: Table, keys: StageKeys, whole: Measurement) -> Measurement:
    """Return the region or function that is the stage, or the whole program."""
    if keys.region is not None and keys.function is not None:
        raise table.wrong("function", "it has a region, too", "give one of the two")
    if keys.region is not None:
        known = {region.name: region for region in whole.counted.regions}
        _require_part(table, "region", keys.region, list(known))
        return region_alone(whole, known[keys.region])
    if keys.function is not None:
        parts = {
            counted.name: (counted, timed)
            for counted, timed in timed_functions(whole)
            if counted is not None
        }
        _require_part(table, "function", keys.function, list(parts))
        return function_alone(whole, *parts[keys.function])
    return whole


def _require_part(table: Table, key: str, name: str, known: list[str]) -> None:
    if name not in known:
        there = f"it has {', '.join(known[:8])}" if known else f"it has no {key} with a time"
        raise table.wrong(key, f"the measurement has no {key} {name!r}", there)
