"""Results of the datacenter workloads on several hosts, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ridgepoint.core.documents import document_kind
from ridgepoint.core.names import named_twice
from ridgepoint.models.gains import Gain, gain
from ridgepoint.suites.datacenter.results import DatacenterStudy
from ridgepoint.suites.datacenter.work import MeasuredCase, measured_cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host's results.

    Parameters
    ----------
    name : str
    study : DatacenterStudy
    """

    name: str
    study: DatacenterStudy


@document_kind(
    "datacenter-hosts",
    remedy="give the file of each host, which 'ridgepoint suite datacenter -o FILE.json' wrote",
    derived=("gains",),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class DatacenterHosts:
    """The results of several hosts, whose names differ.

    Parameters
    ----------
    hosts : tuple of Host
        The first is what the others are compared with.
    """

    hosts: tuple[Host, ...]

    def __post_init__(self) -> None:
        twice = named_twice(host.name for host in self.hosts)
        if twice is not None:
            raise ValueError(f"hosts must have different names, got {twice!r} again")

    @property
    def gains(self) -> dict[str, tuple[Gain | None, ...]]:
        """How many times as fast each host after the first is as the first, case by case."""
        return {case.name: case.gains for case in common_cases(self.hosts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsCase:
    """A case on each of several hosts.

    Parameters
    ----------
    name : str
        Workload and step.
    of_hosts : tuple of MeasuredCase or None
        In the order of the hosts; None: this host has not measured it.
    """

    name: str
    of_hosts: tuple[MeasuredCase | None, ...]

    @property
    def gains(self) -> tuple[Gain | None, ...]:
        """How many times as fast each host after the first is as the first.

        None: one of them has not measured it, or with other data or another number of threads.
        """
        first, *others = self.of_hosts
        return tuple(_gain(first, other) for other in others)


def hosts_of(studies: Sequence[tuple[Path, DatacenterStudy]]) -> DatacenterHosts:
    """Return hosts that are called by their files, or by folder and file where these are alike.

    Raises
    ------
    ValueError
        If a file is there twice.
    """
    stems = [path.stem for path, _ in studies]
    names = [
        path.stem if stems.count(path.stem) == 1 else str(path.with_suffix(""))
        for path, _ in studies
    ]
    return DatacenterHosts(
        hosts=tuple(
            Host(name=name, study=study) for name, (_, study) in zip(names, studies, strict=True)
        )
    )


def common_cases(hosts: Sequence[Host]) -> tuple[HostsCase, ...]:
    """Return the cases that one host or more has measured, in the order of the first hosts."""
    of_hosts = [
        {str(measured.case): measured for measured in measured_cases(host.study.results)}
        for host in hosts
    ]
    names = dict.fromkeys(name for cases in of_hosts for name in cases)
    return tuple(
        HostsCase(name=name, of_hosts=tuple(cases.get(name) for cases in of_hosts))
        for name in names
    )


def _gain(first: MeasuredCase | None, other: MeasuredCase | None) -> Gain | None:
    if first is None or other is None or _data(first) != _data(other):
        return None
    before, after = first.measurement.timed, other.measurement.timed
    if before is None or after is None:
        return None
    return gain(before.runtime_s, after.runtime_s)


def _data(measured: MeasuredCase) -> tuple[int, str, int]:
    case = measured.case
    return case.size, case.size_unit, case.threads
