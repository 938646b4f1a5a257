"""Slurm on several hosts of this machine, for as long as a block: own daemons, own key."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from network_hosts import SCRIPT, network_hosts
from network_hosts import why_not as why_no_hosts

_TOOLS = ("slurmctld", "slurmd", "srun", "sinfo", "munged", "nsenter")
_START_S = 20.0
# Open MPI of a wheel looks for its help in a folder that is nowhere; `nethosts` says why the rest.
_OPEN_MPI = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self,sm",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_btl_tcp_flags": "send,inplace",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def why_not() -> str | None:
    """Return why there can be no Slurm here, or None."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    lacking = [tool for tool in _TOOLS if shutil.which(tool, path=path) is None]
    if lacking:
        return f"there is no {lacking[0]}: apt-get install slurm-wlm munge libpmix-dev"
    return why_no_hosts()


@contextlib.contextmanager
def slurm_hosts(count: int, rate: str) -> Iterator[Sequence[str]]:
    """Make hosts that are nodes of a Slurm; give what starts a command on the first of them.

    Parameters
    ----------
    count : int
    rate : str
        Of each host's link, as tc takes it.

    Yields
    ------
    sequence of str
        To be put before ``srun ...``.
    """
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as name,
        network_hosts(count, rate),
        contextlib.ExitStack() as daemons,
    ):
        folder = Path(name)
        _configure(folder, count)
        subprocess.run(_munged(folder), check=True, capture_output=True, timeout=20)
        daemons.callback(subprocess.run, [*_munged(folder), "--stop"], check=True, timeout=20)
        environment = {**os.environ, **_OPEN_MPI, "SLURM_CONF": str(folder / "slurm.conf")}
        environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
        commands = [("rp1", "slurmctld", "-D")]
        commands += [(f"rp{k}", "slurmd", "-D", "-N", f"rp{k}") for k in range(1, count + 1)]
        for host, *words in commands:
            daemons.enter_context(_daemon(host, words, folder, environment))
        first = [
            SCRIPT,
            "run",
            "1",
            "env",
            *(
                f"{k}={v}"
                for k, v in environment.items()
                if k in _OPEN_MPI or k in {"SLURM_CONF", "PATH"}
            ),
        ]
        _wait_for_nodes(first, count)
        yield [str(word) for word in first]


def _munged(folder: Path) -> list[str]:
    files = {
        "key-file": "key",
        "socket": "socket",
        "pid-file": "pid",
        "log-file": "log",
        "seed-file": "seed",
    }
    options = [f"--{option}={folder}/munge.{name}" for option, name in files.items()]
    return ["/usr/sbin/munged", "--force", *options]


def _configure(folder: Path, count: int) -> None:
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    own = folder / "own"
    for made in (folder / "state", own):
        made.mkdir()
    lines = [
        "ClusterName=test",
        "SlurmctldHost=rp1(10.77.0.1)",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SlurmUser=root",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={own}/spool",
        f"SlurmctldPidFile={folder}/ctld.pid",
        f"SlurmdPidFile={own}/d.pid",
        "MpiDefault=pmix",
        *(f"NodeName=rp{k} NodeAddr=10.77.0.{k} CPUs=2" for k in range(1, count + 1)),
        "PartitionName=p Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4",
    ]
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={own}\n")


@contextlib.contextmanager
def _daemon(
    host: str, words: Sequence[str], folder: Path, environment: dict[str, str]
) -> Iterator[None]:
    # `ip netns exec` would mount another /sys, without control groups. Files of a host's own are
    # where no other host sees them.
    script = (
        f"hostname {host}; mount -t tmpfs none {folder}/own; mkdir {folder}/own/spool; "
        f'exec nsenter --net=/run/netns/{host} "$@"'
    )
    with (folder / f"{words[0]}.{host}.log").open("w") as log:
        process = subprocess.Popen(
            ["unshare", "-u", "-m", "bash", "-c", script, "bash", *words],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait_for_nodes(first: Sequence[object], count: int) -> None:
    end_s = time.monotonic() + _START_S
    idle = ""
    while time.monotonic() < end_s:
        asked = [*map(str, first), "sinfo", "-h", "-t", "idle", "-o", "%D"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20)
        idle = done.stdout.strip()
        if idle == str(count):
            return
        time.sleep(0.5)
    raise TimeoutError(f"of {count} nodes of Slurm {idle or 0} are idle")
