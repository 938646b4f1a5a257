"""The machines of a fleet and their prices, from the archive, from files, or as published."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.errors import RidgepointError
from ridgepoint.core.machine import Machine
from ridgepoint.core.measured_cluster import MeasuredCluster
from ridgepoint.core.measurement import Measurement, Timing
from ridgepoint.core.price import Price
from ridgepoint.core.toml import open_table
from ridgepoint.kept.archive import Archive, ArchivePath, Record
from ridgepoint.kept.archive_refusals import no_program, not_counted
from ridgepoint.kept.lookup import found
from ridgepoint.models.fleet import (
    Member,
    nodes_of,
    ranked_resources,
    require_unique,
    with_prices,
)
from ridgepoint.models.fleet.outliers import Model, models
from ridgepoint.models.fleet.programs import ProgramOnFleet, program_on
from ridgepoint.models.fleet.ranks import Ranked, ranking
from ridgepoint.models.work import Metric

_FORM = "see docs/fleet.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Machines to compare.

    Parameters
    ----------
    members : tuple of Member
    archive : Path or str or None
        Path of the archive that `program` finds records in; None: the archive in use.
    """

    members: tuple[Member, ...]
    archive: ArchivePath = None

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that some machine has a ceiling of."""
        return ranked_resources(self.members)

    def ranking(self, resource: str, *, cores: int | None = None) -> tuple[Ranked, ...]:
        """Return the machines by a ceiling; see `ridgepoint.models.fleet.ranks.ranking`."""
        return ranking(self.members, resource, cores=cores)

    def models(self) -> tuple[Model, ...]:
        """Return what is out of line; see `ridgepoint.models.fleet.outliers.models`."""
        return models(self.members)

    def program(
        self,
        target: str | int | Measurement,
        *,
        cores: float | None = None,
        metric: Metric | None = None,
        by_cost: bool = False,
    ) -> ProgramOnFleet:
        """Return a program on every machine, the best one first.

        Parameters
        ----------
        target : str, int or Measurement
            Number, name or file of the record of a counted program, or its measurement.
        cores, metric, by_cost
            As for `ridgepoint.models.fleet.programs.program_on`.

        Raises
        ------
        RidgepointError
            If there is no such record, or it is no counted program.
        """
        own = None
        if not isinstance(target, Measurement):
            with Archive(self.archive) as opened:
                target, own = _counted(opened, str(target))
        return program_on(
            target, self.members, own=own, cores=cores, metric=metric, by_cost=by_cost
        )


def fleet(
    *targets: str | Machine,
    prices: Mapping[str, str] | None = None,
    archive: ArchivePath = None,
) -> Fleet:
    """Return machines to compare, as ``ridgepoint fleet`` does.

    Parameters
    ----------
    *targets : str or Machine
        Machines, or numbers, names and files of machines and clusters; none: of every machine and
        cluster of the archive the last record.
    prices : mapping of str to str
        Prices such as ``"1.2 USD/h"`` by the names of machines.
    archive : Path or str or None
        Path of the archive; None: the archive in use.

    Raises
    ------
    RidgepointError
        If there is no such machine, or two have one name.
    ValueError
        If a price cannot be read.
    """
    read = {name: Price.of(price) for name, price in (prices or {}).items()}
    given = [target for target in targets if isinstance(target, Machine)]
    named = [target for target in targets if not isinstance(target, Machine)]
    found: tuple[Member, ...] = ()
    if named or not targets:
        with Archive(archive) as opened:
            found = members(opened, named)
    every = (*found, *(Member(name=machine.name, machine=machine) for machine in given))
    require_unique(every)
    return Fleet(members=with_prices(every, read), archive=archive)


def _counted(archive: Archive, name: str) -> tuple[Measurement, Machine | None]:
    """Return a counted program, and the machine that bounds it where it was measured.

    Raises
    ------
    RidgepointError
        If there is no such record, or it is something else.
    """
    value = found(archive, name).value
    if isinstance(value, Timing):
        raise not_counted(value, repr(name), f"'ridgepoint show {name}'")
    if not isinstance(value, tuple):
        raise RidgepointError(
            f"cannot bound {name!r} on machines",
            reason=no_program(value),
            remedy="give the record of a program; see 'ridgepoint list --kind measurement'",
        )
    return value


def members(archive: Archive, targets: Sequence[str]) -> tuple[Member, ...]:
    """Return the machines that a user names, and the nodes of clusters; each by its name.

    Parameters
    ----------
    archive : Archive
    targets : sequence of str
        As for `ridgepoint.kept.lookup.found`; empty: of every machine and cluster of the archive
        the last record.

    Raises
    ------
    RidgepointError
        If one of them is a program, or cannot be read; if two have one name; if there is none.
    """
    every: list[Member] = []
    for target in targets or [str(record.id) for record in _last_of_each(archive)]:
        named = found(archive, target)
        if isinstance(named.value, Machine):
            every.append(Member(name=named.title, machine=named.value))
        elif isinstance(named.value, MeasuredCluster):
            every.extend(nodes_of(named.value, named.title))
        else:
            raise RidgepointError(
                f"cannot compare {target!r} with machines",
                reason="it is a measured program",
                remedy=f"give it with --program {shlex.quote(target)}",
            )
    if not every:
        raise RidgepointError(
            "cannot compare machines",
            reason=f"the archive {archive.path} has none",
            remedy="run 'ridgepoint machine', import those of other hosts with 'ridgepoint "
            "import', or name published ones: ridgepoint fleet csb xsb",
        )
    require_unique(every)
    return tuple(every)


def _last_of_each(archive: Archive) -> list[Record]:
    """Return the last record of each machine and cluster, in the order of the first ones."""
    records = [*archive.records("machine"), *archive.records("cluster")]
    last: dict[tuple[str, str], Record] = {}
    for record in records:
        last[record.kind, record.name] = record
    return list(last.values())


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices by name of a TOML file, whose table ``prices`` holds them.

    Raises
    ------
    InvalidDocument
        If it cannot be read, or holds anything else.
    """
    whole = open_table(
        path, what="the prices", remedy="give a TOML file with a table [prices]", form=_FORM
    )
    for key, value in whole.values.items():
        if key != "prices" or not isinstance(value, dict):
            raise whole.wrong(key, "it is no table of prices", 'write [prices] and name = "1.2/h"')
    if "prices" not in whole:
        raise whole.wrong(None, "it has no table 'prices'", "write [prices] as its first line")
    table = whole.table("prices")
    prices = {}
    for name, value in table.values.items():
        try:
            prices[name] = Price.of(value)
        except ValueError as error:
            reason, _, remedy = str(error).rpartition("; ")
            raise table.wrong(name, reason, remedy) from error
    return prices
