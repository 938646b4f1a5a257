"""The engine's package is built from sources of known checksums only, or one line says why not."""

import hashlib
from dataclasses import replace

import pytest
from wheels import valgrind as building

SOURCE = replace(
    building.MUSL, files={"musl.tar.gz": hashlib.sha256(b"the source").hexdigest()}, revision="9-1"
)


def refusal(call, *arguments):
    """Return the one line with which the script ends."""
    with pytest.raises(SystemExit) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_of_the_right_checksum_are_taken(tmp_path):
    """From the folder that --sources names; nothing is downloaded."""
    (tmp_path / "musl.tar.gz").write_bytes(b"the source")

    assert building._files_of(SOURCE, tmp_path) == [tmp_path / "musl.tar.gz"]


def test_another_checksum_is_refused(tmp_path):
    """Whoever named the folder, or whatever a mirror gave."""
    (tmp_path / "musl.tar.gz").write_bytes(b"another source")
    said = refusal(building._files_of, SOURCE, tmp_path)

    assert hashlib.sha256(b"another source").hexdigest() in said
    assert SOURCE.files["musl.tar.gz"] in said


def test_without_apt_the_files_are_named(tmp_path, monkeypatch):
    """With the option that takes them."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "there is no apt to download musl; put musl.tar.gz into a folder" in refusal(
        building._download, SOURCE, tmp_path
    )


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        ("", "apt knows no mirror: run apt-get update; or put musl.tar.gz into a folder"),
        ("http://security.example/debian-security/", "apt knows no mirror"),
        ("http://mirror.example/debian/", "http://mirror.example/debian/ does not give musl=9-1"),
    ],
)
def test_mirror_without_the_version_is_named(tmp_path, monkeypatch, targets, reason):
    """Suites move on; an apt that fails has said why itself."""
    script = f'#!/bin/sh\n[ "$1" = indextargets ] && echo {targets} && exit\nexit 100\n'
    (tmp_path / "apt-get").write_text(script)
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = refusal(building._download, SOURCE, tmp_path)

    assert reason in said
    assert "--sources FOLDER" in said


def test_checkout_whose_path_has_blanks_is_refused(tmp_path, monkeypatch):
    """Before make stops at the first of them."""
    monkeypatch.setattr(building, "BUILD", tmp_path / "my work" / "build")

    assert "in no path with blanks" in refusal(building._built, None)


def test_failed_step_is_one_line(monkeypatch):
    """Not a traceback: what failed has printed its own complaint."""
    for name in ("LC_ALL", "TZ"):
        monkeypatch.setenv(name, "C")  # it sets them, and they are to be reset
    monkeypatch.setattr(building, "_built", lambda files: building._run("sh", "-c", "exit 3"))

    assert building.main([]) == "valgrind.py: sh -c 'exit 3' ended with 3"


def test_what_is_bundled_states_all_that_a_bill_of_materials_asks_for():
    """Name, version, licence, where the very source is, and its checksum."""
    valgrind, musl = (building._component(each) for each in (building.VALGRIND, building.MUSL))

    assert valgrind["licence"] == "GPL-3.0-or-later"
    assert musl["licence"] == "MIT"
    assert valgrind["purl"] == "pkg:deb/debian/valgrind@1:3.27.1-0.2?arch=source"
    assert {len(each["sha256"]) for each in (valgrind, musl)} == {64}
