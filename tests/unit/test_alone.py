"""One process of a host measures it at a time; the kernel gives the lock back, whatever happens."""

import signal
import subprocess
import sys

from ridgepoint.host.alone import alone_on_this_host

HOLDER = """
import sys, time
from pathlib import Path
from ridgepoint.host.alone import alone_on_this_host
with alone_on_this_host(lambda: None, folder=Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder):
    """Return another process once it has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_lock_that_nobody_has_is_got_at_once(tmp_path):
    """Again and again, in one process too."""
    waited = []
    for _ in range(2):
        with alone_on_this_host(lambda: waited.append(True), folder=tmp_path):
            pass

    assert waited == []


def test_second_process_waits_until_the_first_is_gone_even_if_it_was_killed(tmp_path):
    """It says that it waits; a lock of a dead process is none."""
    with holder(tmp_path) as first:
        # It would wait a minute if nothing were said, or if the lock stayed.
        with alone_on_this_host(first.kill, folder=tmp_path):
            pass

        assert first.wait(timeout=20) == -signal.SIGKILL


def test_folder_that_allows_no_file_is_no_reason_not_to_measure(tmp_path):
    """There is no lock then."""
    entered = []
    with alone_on_this_host(lambda: None, folder=tmp_path / "missing"):
        entered.append(True)

    assert entered


def test_link_in_place_of_the_lock_is_not_followed(tmp_path):
    """In a folder of all users anybody may put one there."""
    target = tmp_path / "target"
    (tmp_path / "ridgepoint-machine.lock").symlink_to(target)
    with alone_on_this_host(lambda: None, folder=tmp_path):
        assert not target.exists()
