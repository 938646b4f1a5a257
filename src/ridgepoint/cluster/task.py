"""What the driver asks of every rank, and what each answers."""

from __future__ import annotations

import base64
from typing import Literal

import msgspec

from ridgepoint.cluster.interfaces import Passed
from ridgepoint.cluster.profiling import Profile
from ridgepoint.core.counted import Counted
from ridgepoint.core.machine import Cache
from ridgepoint.host.run import Output
from ridgepoint.meters.region_times import RegionTime

Mode = Literal["prepare", "time", "count"]

MeterName = Literal["engine", "native", "perf"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the program, or what must be ready before.

    Parameters
    ----------
    token : str
        Identifies this job, hexadecimal.
    mode : {"prepare", "time", "count"}
    command : tuple of str
    ranks : int
        Number of ranks that there must be.
    launcher_folder : str or None
        Folder of the launcher, which also contains MPI's compiler.
    profile : bool
        Whether to profile MPI.
    libraries : dict of str to str
        What is preloaded to profile MPI, by host; see `ridgepoint.cluster.profiling.preloaded`.
    output : {"own", "stderr", "discard"}
        Where the program's own output goes.
    timeout_s : float or None
    ignore_status : bool
    idle_s : float
        Watch the idle network so long, before or after.
    meter : {"engine", "native", "perf"}
    caches : tuple of Cache or None
        To simulate; None: each host's own. Ranks of a node share them.
    traffic : bool
    region : str or None
        Count only there.
    all_threads : bool
    """

    token: str
    mode: Mode
    command: tuple[str, ...]
    ranks: int
    launcher_folder: str | None = None
    profile: bool = True
    libraries: dict[str, str] = {}
    output: Output = "discard"
    timeout_s: float | None = None
    ignore_status: bool = False
    idle_s: float = 0.0
    meter: MeterName = "engine"
    caches: tuple[Cache, ...] | None = None
    traffic: bool = True
    region: str | None = None
    all_threads: bool = False

    def encoded(self) -> str:
        """Return it as an argument of a command line."""
        return base64.urlsafe_b64encode(msgspec.msgpack.encode(self)).decode()

    @classmethod
    def decoded(cls, text: str) -> Task:
        """Return what `encoded` made."""
        return msgspec.msgpack.decode(base64.urlsafe_b64decode(text), type=cls)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a rank could not do its task.

    Parameters
    ----------
    reason, remedy : str
    status : int or None
        As a shell sees it, of a program that failed by itself.
    at_s : float
        When, by the clock of that host, s since 1970.
    """

    reason: str
    remedy: str
    status: int | None
    at_s: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank answers.

    Parameters
    ----------
    version : str
        Version of Ridgepoint.
    rank, ranks : int
    local_rank : int or None
        Rank among those of its host; None: the launcher does not report it.
    host, cpu : str
    cpus : tuple of int
        CPUs that it may use.
    failure : Failure or None
    library : str or None
        What is preloaded to profile MPI; None: it was not asked for, or is lacking.
    lacks_profile, lacks_meter : (str, str) or None
        Why MPI cannot be profiled, or nothing counted, on this host, and what to do.
    wall_s, cpu_s, system_s : float or None
        Times of the program from start to exit.
    status : int
    left_behind : int
    profiles : tuple of Profile
        Profiles of its processes that used MPI.
    regions : dict of str to RegionTime
    counted : Counted or None
    passed : Passed or None
        Traffic of the node's interfaces meanwhile; only in the answer of its first rank.
    idle : tuple of (Passed, float) or None
        Traffic of the idle node, and its duration in seconds.
    """

    version: str
    rank: int
    ranks: int
    local_rank: int | None
    host: str
    cpu: str
    cpus: tuple[int, ...]
    failure: Failure | None = None
    library: str | None = None
    lacks_profile: tuple[str, str] | None = None
    lacks_meter: tuple[str, str] | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    system_s: float | None = None
    status: int = 0
    left_behind: int = 0
    profiles: tuple[Profile, ...] = ()
    regions: dict[str, RegionTime] = {}
    counted: Counted | None = None
    passed: Passed | None = None
    idle: tuple[Passed, float] | None = None
