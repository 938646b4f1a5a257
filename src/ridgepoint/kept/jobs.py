"""Jobs that are to share nodes, in a file: what each asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from ridgepoint.core.errors import InvalidDocument
from ridgepoint.core.presenting import amount
from ridgepoint.core.quantities import Word
from ridgepoint.core.toml import Table, open_table
from ridgepoint.kept.problems import own_problem, size_of
from ridgepoint.models.scaling import Problem, Scaling
from ridgepoint.models.scaling.case_studies import CASE_STUDIES
from ridgepoint.models.scaling.sharing import Job

_REMEDY = "give a table [job.NAME] with case and size, or op and bytes, and cores, for each job"
_FORMULAS = ("op", "bytes", "exchanged", "messages")
_Count = Annotated[int, Meta(ge=1, le=4096)]


class CaseName(Word):
    """The name of a case study."""

    __slots__ = ()
    known = tuple(CASE_STUDIES)


class _File(Struct, forbid_unknown_fields=True):
    """A file: tables, which are read one by one."""

    job: dict[str, dict[str, Any]] = {}


class _Keys(Struct, forbid_unknown_fields=True):
    """The keys of a job."""

    cores: _Count | Annotated[list[_Count], Meta(min_length=1)]
    case: CaseName | None = None
    size: str | float | None = None
    op: str | float | None = None
    bytes: str | float | None = None
    exchanged: str | float | None = None
    messages: str | float | None = None
    nodes: _Count = 1
    count: _Count = 1


def read_jobs(
    path: Path, scaling_of: Callable[[Problem], Scaling], *, work: str = "fp64"
) -> tuple[Job, ...]:
    """Return the jobs of a file, in its order.

    Parameters
    ----------
    path : Path
    scaling_of : callable
        From a problem to it on the nodes, with nothing else on them.
    work : str
        The resource that the jobs' work counts.

    Raises
    ------
    InvalidDocument
        If the file cannot be read, or a job is impossible.
    """
    file = open_table(path, what="the jobs", remedy=_REMEDY)
    if not file.take(_File).job:
        raise file.wrong(None, "it holds no job", _REMEDY)
    return tuple(_job(name, table, scaling_of, work) for name, table in file.tables("job").items())


def _job(name: str, table: Table, scaling_of: Callable[[Problem], Scaling], work: str) -> Job:
    keys = table.take(_Keys)
    scaling = scaling_of(_problem(name, table, keys, work))
    cores = tuple(sorted({keys.cores} if isinstance(keys.cores, int) else set(keys.cores)))
    there = scaling.machine.cores
    if cores[-1] > there:
        raise table.wrong(
            "cores", f"a node has {amount(there, 'core')}, not {cores[-1]}", "give fewer"
        )
    if keys.nodes > 1:
        _require_network(table, scaling)
    return Job(name=name, scaling=scaling, cores=cores, nodes=keys.nodes, count=keys.count)


def _problem(name: str, table: Table, keys: _Keys, work: str) -> Problem:
    def refused(key: str, message: str) -> InvalidDocument:
        reason, _, remedy = message.partition("; ")
        return table.wrong(key, reason, remedy or None)

    formulas = {key: str(value) for key in _FORMULAS if (value := getattr(keys, key)) is not None}
    size = None if keys.size is None else size_of(str(keys.size), lambda why: refused("size", why))
    if keys.case is not None:
        if formulas:
            raise table.wrong(next(iter(formulas)), "it replaces the case", "give one or the other")
        if size is None:
            raise table.wrong(None, "its case has no size", "give size")
        problem = CASE_STUDIES[keys.case].make(size)
        return Problem(
            name=name,
            operations=problem.operations,
            dram_bytes=problem.dram_bytes,
            exchanged_bytes=problem.exchanged_bytes,
            messages=problem.messages,
            work=work,
        )
    if "op" not in formulas:
        raise table.wrong(None, "it asks for no work", "give case and size, or op and bytes")
    make, needs_size = own_problem(formulas, refused, name=name, work=work)
    if needs_size and size is None:
        raise table.wrong(None, "its formulas contain n", "give size")
    return make(1.0 if size is None else size)


def _require_network(table: Table, scaling: Scaling) -> None:
    """Refuse a job on several nodes that exchanges data over a link of an unknown rate."""
    nodes = np.asarray(2.0)
    if not scaling.knows_link and np.any(np.asarray(scaling.problem.exchanged_bytes(nodes)) > 0):
        raise table.wrong("nodes", "the rate of a link is not known", "give --link, or one node")
