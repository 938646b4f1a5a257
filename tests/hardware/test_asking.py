"""Asking programs: what they write, how they end, and that nothing of them goes on."""

from __future__ import annotations

import errno
import sys

import psutil
import pytest

from ridgepoint.core.errors import reason_of
from ridgepoint.host.process import ask, call, in_session, output_of


def sh(script):
    """Return a command that runs a script."""
    return ["/bin/sh", "-c", script]


def test_both_outputs_and_the_status_are_told():
    """Each by itself; bytes that are not UTF-8 are replaced."""
    answer = ask(sh("printf 'out\\377'; echo err >&2; exit 3"))

    assert (answer.output, answer.complaints, answer.status) == ("out\ufffd", "err\n", 3)


def test_a_signal_is_a_status_as_a_shell_has_it():
    """SIGKILL is 9."""
    assert ask(sh("kill -KILL $$")).status == 137
    assert call(sh("kill -KILL $$")) == 137


def test_a_text_is_read_by_the_program():
    """Without one it reads nothing, and waits for nobody."""
    assert ask(["cat"], text="one\ntwo\n").output == "one\ntwo\n"
    assert ask(["cat"]).output == ""


def test_variables_are_those_that_are_given():
    """And no others."""
    assert ask(["/usr/bin/env"], environment={"A": "1"}).output == "A=1\n"


def test_what_takes_too_long_is_ended_with_what_it_started():
    """Though it holds the output open."""
    marker = "97.25"
    with pytest.raises(TimeoutError) as caught:
        ask(sh(f"sleep {marker} & sleep {marker}"), limit_s=0.2)
    left = [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]

    assert reason_of(caught.value) == "it has not ended within 0.2 s"
    assert psutil.wait_procs(left, timeout=5)[1] == []


def test_what_is_asked_to_end_may_do_so_in_its_own_way(tmp_path):
    """Before it is made to."""
    told = tmp_path / "told"
    script = f"import signal,time; signal.signal(15, lambda *_: (open({str(told)!r}, 'w'), exit()))"
    with in_session([sys.executable, "-c", f"{script}; print(1, flush=True); time.sleep(99)"],
                    stdout=-1, grace_s=10.0) as process:  # fmt: skip
        process.stdout.readline()

    assert told.exists()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/no/such/program"], "no such file or directory"),
        (sh("echo broken >&2; echo more >&2; exit 2"), "broken"),
        (sh("exit 2"), "it ended with status 2"),
    ],
)
def test_why_a_program_gave_no_answer(command, reason):
    """One kind of error for all that may go wrong."""
    with pytest.raises(OSError) as caught:  # noqa: PT011
        output_of(command)

    assert reason_of(caught.value) == reason


def test_a_limit_that_is_not_reached_changes_nothing():
    """The error's number is that of the system's, too."""
    assert output_of(["echo", "x"], limit_s=10.0) == "x\n"
    with pytest.raises(TimeoutError) as caught:
        output_of(["sleep", "9"], limit_s=0.1)

    assert caught.value.errno == errno.ETIMEDOUT
