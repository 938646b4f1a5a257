"""Several hosts on this machine, made by the script beside this file, for as long as a block."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRIPT = Path(__file__).with_name("nethosts")
_LOCK = Path(tempfile.gettempdir()) / "ridgepoint-nethosts.lock"


def why_not() -> str | None:
    """Return why hosts cannot be made here, or None."""
    if os.geteuid() != 0:
        return "making network hosts needs root"
    lacking = [tool for tool in ("ip", "tc", "unshare") if shutil.which(tool) is None]
    if lacking:
        return f"{lacking[0]} is not installed: it is of iproute2 or util-linux"
    if not Path(sys.executable).with_name("mpirun").exists() and shutil.which("mpirun") is None:
        return "there is no mpirun: pip install 'ridgepoint[mpi]'"
    try:
        with network_hosts(1, "1gbit"):
            return None
    except subprocess.CalledProcessError as error:
        return f"hosts cannot be made: {error.stderr.strip()}"


@contextlib.contextmanager
def network_hosts(count: int, rate: str, *, shared: bool = False) -> Iterator[str]:
    """Make hosts; give the launcher that starts ranks over them, and take them away at the end.

    Parameters
    ----------
    count : int
    rate : str
        Of each host's link, as tc takes it; or of the one link for all.
    shared : bool
        Whether one link carries what all hosts send.

    Yields
    ------
    str
        A command in which ``{ranks}`` is to be replaced.

    Raises
    ------
    subprocess.CalledProcessError
        If they cannot be made.
    """
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _nethosts("down")  # what somebody left who was killed
        try:
            _nethosts("shared" if shared else "up", str(count), rate)
            with _mpirun_in_path():
                yield f"{shlex.quote(str(SCRIPT))} mpirun {{ranks}} {count}"
        finally:
            _nethosts("down")


def stream_bytes_per_s(bytes_sent: int = 30_000_000) -> float:
    """Return what a plain TCP connection from host 1 to host 2 carries: no MPI is in it."""
    receive = (
        "import socket,time\n"
        "server = socket.create_server(('', 5001))\n"
        "peer, _ = server.accept()\n"
        "got = len(peer.recv(1 << 20)); begin = time.perf_counter(); first = got\n"
        "while part := peer.recv(1 << 20): got += len(part)\n"
        "print((got - first) / (time.perf_counter() - begin))\n"
    )
    send = (
        "import socket,time\n"
        "for attempt in range(50):\n"
        "    try: peer = socket.create_connection(('10.77.0.2', 5001)); break\n"
        "    except OSError: time.sleep(0.1)\n"
        f"peer.sendall(bytes({bytes_sent}))\n"
    )
    python = [sys.executable, "-c"]
    with subprocess.Popen(
        [SCRIPT, "run", "2", *python, receive], stdout=subprocess.PIPE, text=True
    ) as receiver:
        subprocess.run([SCRIPT, "run", "1", *python, send], check=True, timeout=60)
        output, _ = receiver.communicate(timeout=60)
    return float(output)


def _nethosts(*words: str) -> None:
    subprocess.run([SCRIPT, *words], check=True, capture_output=True, text=True, timeout=60)


@contextlib.contextmanager
def _mpirun_in_path() -> Iterator[None]:
    """Let the script find the mpirun beside this Python."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
