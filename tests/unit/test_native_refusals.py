"""Programs that the copying engine refuses before they start, and what it says afterwards."""

import os
import struct

import pytest

from ridgepoint.core.counted import Coverage, Uncounted
from ridgepoint.core.errors import CannotMeasure, CannotStart
from ridgepoint.doctor.selftest import programs
from ridgepoint.meters.native import cautions, contents
from ridgepoint.meters.native.contents import Event
from ridgepoint.meters.native.history import LeftAlone, history_of
from ridgepoint.meters.native.refusals import check_countable, preload

PROGRAM = programs()[0]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write an executable file of some bytes and return its path."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)

    def write(content, name="program"):
        path = tmp_path / name
        path.write_bytes(content)
        path.chmod(0o755)
        return str(path)

    return write


def test_programs_of_the_dynamic_loader_are_taken(written):
    """With arguments of any kind."""
    check_countable((written(PROGRAM.built(interpreted=True)), "-x", "\udcff"))


def test_static_programs_are_refused(written):
    """No loader preloads anything into them; the other engine counts them."""
    path = written(PROGRAM.executable)

    with pytest.raises(CannotMeasure, match=r"is static.*--meter engine"):
        check_countable((path,))


def test_scripts_are_what_their_interpreter_is(written):
    """Also where the interpreter is a script again, and where none is named: a shell's."""
    static = written(PROGRAM.executable, "static")
    dynamic = written(PROGRAM.built(interpreted=True), "dynamic")
    inner = written(f"#!{static}\n".encode(), "inner")

    check_countable((written(f"#! {dynamic} -u\nprint()\n".encode(), "good"),))
    check_countable((written(b"echo no interpreter\n", "plain"),))
    with pytest.raises(CannotMeasure, match="is static"):
        check_countable((written(f"#!{inner}\n".encode(), "bad"),))


def test_other_architectures_are_refused(written):
    """EM_AARCH64 is 183."""
    content = bytearray(PROGRAM.executable)
    struct.pack_into("<H", content, 18, 183)

    with pytest.raises(CannotStart, match="AARCH64"):
        check_countable((written(bytes(content)),))


def test_what_gains_rights_is_refused(written, monkeypatch):
    """A setuid program of another user; one's own is none, and root gains nothing."""
    path = written(PROGRAM.built(interpreted=True))
    os.chmod(path, 0o4755)
    owner = os.stat(path).st_uid
    check_countable((path,))
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)

    with pytest.raises(CannotMeasure, match="is setuid"):
        check_countable((path,))


def test_sanitizers_that_are_preloaded_are_refused(written, monkeypatch):
    """They must be the first; other libraries come behind ours."""
    path = written(PROGRAM.built(interpreted=True))
    monkeypatch.setenv("LD_PRELOAD", "/lib/one.so:/lib/two.so")
    check_countable((path,))
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libasan.so.8")

    with pytest.raises(CannotMeasure, match="libasan"):
        check_countable((path,))


def test_users_libraries_are_preloaded_behind_ours(tmp_path, monkeypatch):
    """In their order, however they are separated; blanks in our own path are refused."""
    monkeypatch.setenv("LD_PRELOAD", "one.so two.so:three.so")

    assert preload(tmp_path / "ours.so") == f"{tmp_path}/ours.so:one.so:two.so:three.so"
    with pytest.raises(CannotMeasure, match="RIDGEPOINT_CACHE"):
        preload(tmp_path / "a folder" / "ours.so")


def event(kind, process=0, **others):
    """Return an event."""
    amounts = {"a": 0, "b": 0, "c": 0, "d": 0, "name": "", "name2": "", **others}
    return Event(kind=kind, process=process, **amounts)


def test_modules_that_were_left_alone_are_named_once_with_their_reason():
    """However many processes loaded them; what the copier said stands in brackets."""
    history = history_of(
        [
            event(contents.BEGAN, a=7),
            event(contents.LEFT_ALONE, a=6, name="/lib/a.so"),
            event(contents.LEFT_ALONE, a=6, name="/lib/a.so"),
            event(contents.LEFT_ALONE, a=1, name="/lib/b.so", name2="no room"),
        ]
    )
    covered = Coverage(share=0.8, samples=100)
    (doubt,) = cautions.left_alone(history.left_alone, covered)

    assert history.left_alone == (
        LeftAlone(path="/lib/a.so", reason="its code uses the register %gs"),
        LeftAlone(path="/lib/b.so", reason="no copy of it could be made (no room)"),
    )
    assert "/lib/a.so: its code uses" in doubt.seen
    assert doubt.effect == pytest.approx(0.25)  # W may be a quarter more


@pytest.mark.parametrize(
    ("covered", "unseen_s", "said"),
    [
        (None, 0.0, "there are 0 samples"),
        (Coverage(share=1.0, samples=19), 0.0, "there are 19 samples"),
        (Coverage(share=1.0, samples=100), 2.0, "none of 2 s of its CPU time"),
    ],
)
def test_coverage_that_is_not_known_is_said(covered, unseen_s, said):
    """Never in silence."""
    (doubt,) = cautions.coverage(covered, unseen_s=unseen_s)

    assert doubt.code == "coverage-unknown"
    assert said in doubt.seen


@pytest.mark.parametrize(("share", "said"), [(0.999, False), (0.97, True)])
def test_coverage_is_doubted_where_it_might_matter(share, said):
    """With the functions that were not counted."""
    uncounted = (Uncounted(name="f", object="/lib/c.so", share=0.02),)
    found = list(cautions.coverage(Coverage(share=share, samples=1000, uncounted=uncounted)))

    assert bool(found) is said
    assert all("f (/lib/c.so) 2.0%" in doubt.seen for doubt in found)


@pytest.mark.parametrize(
    ("late_ns", "inside_ns", "share"), [(0, 0, None), (1, 2000, None), (4, 1000, 0.004)]
)
def test_time_of_threads_that_were_late_is_told(late_ns, inside_ns, share):
    """From a thousandth of the time inside on."""
    told = list(cautions.late(late_ns, inside_ns))

    assert [caution.code for caution in told] == (["threads-late"] if share else [])
    assert [caution.effect for caution in told] == ([share] if share else [])
