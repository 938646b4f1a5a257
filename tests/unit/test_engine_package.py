"""The package ridgepoint-engine counts where it is newer, fits, or is asked for."""

import json
import os
import sys
from pathlib import Path

import pytest
from valgrinds import install_own, install_package, no_package, refusal

from ridgepoint import doctor
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.callgrind import CallgrindMeter
from ridgepoint.meters.engine import build
from ridgepoint.meters.engine.build import engine
from ridgepoint.meters.valgrind import host
from ridgepoint.meters.valgrind.choice import is_newer
from ridgepoint.meters.valgrind.package import MODULE, PROGRAMS

FAST = frozenset({"avx2", "bmi2", "fma"})


@pytest.fixture
def source(tmp_path):
    """Write a source of one file, never compiled here."""
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / "tool.c").write_text("int one;")
    return folder


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return what installs a Valgrind of a version in PATH; before, there is none."""
    root = tmp_path / "opt"
    (root / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(root / "bin"))
    for name in ("VALGRIND_LIB", "RIDGEPOINT_VALGRIND", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return lambda version: install_own(root, version)


@pytest.fixture
def package(tmp_path, own, source, monkeypatch):
    """Install a package that fits the source, with Valgrind 3.27.1; return its folder."""
    folder = install_package(tmp_path / "site", source)
    # The module is imported anew by each test, and gone after it.
    no_package(monkeypatch)
    monkeypatch.delitem(sys.modules, MODULE)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return folder


@pytest.fixture
def compiles(tmp_path, monkeypatch):
    """Let every build succeed, without a compiler; return the folder that it leaves."""
    made = tmp_path / "made"
    monkeypatch.setattr(build, "built", lambda recipe, **_: (made, ()))
    return made


def test_package_needs_neither_valgrind_nor_compiler(package, source):
    """Its launcher, its folder, its version, and a name that says whose it is."""
    made = engine(source=source)

    assert made.library == package
    assert made.valgrind == str(package / "valgrind")
    assert made.name == "Valgrind 3.27.1 of ridgepoint-engine"
    assert made.cautions == ()


@pytest.mark.parametrize(
    ("features", "tool"),
    [
        (FAST | {"avx512f"}, "ridgepoint"),
        (FAST - {"bmi2"}, "ridgepoint-plain"),
        (frozenset(), "ridgepoint-plain"),
    ],
)
def test_tool_is_the_one_for_this_cpu(package, source, monkeypatch, features, tool):
    """A CPU that lacks one of three extensions would stop in the other."""
    monkeypatch.setattr(build, "cpu_features", lambda: features)

    assert engine(source=source).tool == tool


@pytest.mark.parametrize(
    ("version", "packaged"),
    [
        ("3.9.0", True),
        ("3.27.0", True),
        ("3.27.1", True),
        ("3.27.1.GIT", True),
        ("3.28.0", False),
        ("4.0", False),
    ],
)
def test_the_newer_valgrind_counts(package, own, source, compiles, version, packaged):
    """The package where both are of the same version: it needs no build."""
    own(version)
    made = engine(source=source)

    assert made.packaged == packaged
    assert made.version == ("3.27.1" if packaged else version)
    assert made.library == (package if packaged else compiles)
    assert host.valgrind(tool="callgrind").packaged == packaged


def test_versions_are_compared_as_numbers():
    """As text, 3.9 would come after 3.27; a longer one comes after its beginning."""
    assert is_newer("3.27.1", "3.9.0")
    assert is_newer("3.27.1", "3.27")
    assert not is_newer("3.27.1", "3.27.1")
    assert not is_newer("unknown", "3.1.0")


def test_newer_valgrind_without_a_compiler_is_passed_over(package, own, source):
    """What is there at once counts, rather than nothing."""
    own("3.28.0")

    assert engine(source=source).packaged


@pytest.mark.parametrize(("choice", "packaged"), [("system", False), ("engine", True), (" ", True)])
def test_user_chooses(package, own, source, compiles, monkeypatch, choice, packaged):
    """An older Valgrind of the system, or the package beside a newer one."""
    own({"system": "3.19.0", "engine": "3.28.0", " ": "3.19.0"}[choice])
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", choice)

    assert engine(source=source).packaged == packaged
    assert host.valgrind(tool="callgrind").packaged == packaged


def test_choice_that_is_none_is_named(package, source, monkeypatch):
    """With the two that there are."""
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "newest")

    assert "RIDGEPOINT_VALGRIND is 'newest'; set it to 'system' or 'engine'" in refusal()
    with pytest.raises(MeterUnavailable, match="is 'newest'"):
        host.valgrind(tool="callgrind")


def test_package_that_is_asked_for_and_not_there_is_named(own, source, monkeypatch):
    """Though the system's could count."""
    own("3.28.0")
    no_package(monkeypatch)
    monkeypatch.setenv("RIDGEPOINT_VALGRIND", "engine")

    assert "ridgepoint-engine is not installed; run: pip install 'ridgepoint[engine]'" in refusal()


def test_without_both_the_remedy_names_both(own, source, monkeypatch):
    """The package of the system, and that of Python."""
    no_package(monkeypatch)
    said = refusal(source=source)

    assert "valgrind is not in PATH" in said
    assert "install the package 'valgrind', or run: pip install 'ridgepoint[engine]'" in said
    lack = CallgrindMeter().why_unavailable()
    assert lack is not None
    assert lack.remedy.endswith("pip install 'ridgepoint[engine]'")


def test_package_for_another_source_gives_way(package, own, source, compiles):
    """The engine is built for the system's Valgrind, and a caution says why."""
    own("3.19.0")
    (source / "tool.c").write_text("int two;")
    made = engine(source=source)

    assert made.name == "Valgrind 3.19.0"
    assert made.library == compiles
    (caution,) = made.cautions
    assert caution.code == "engine-package-unused"
    assert "does not fit this ridgepoint" in caution.seen
    assert caution.seen.endswith("it was built for the system's Valgrind 3.19.0 instead")
    assert caution.remedy.startswith("run: pip install ridgepoint-engine==")


def test_package_for_another_source_alone_is_refused(package, source):
    """In one line, with what to install."""
    (source / "tool.c").write_text("int two;")
    said = refusal(source=source)

    assert "does not fit this ridgepoint" in said
    assert "valgrind is not in PATH" in said
    assert "pip install ridgepoint-engine==" in said


def test_package_for_another_source_still_has_callgrind(package, source):
    """Which does not depend on our source."""
    (source / "tool.c").write_text("int two;")
    found = host.valgrind(tool="callgrind")

    assert found.command == ("env", f"VALGRIND_LIB={package}", str(package / "valgrind"))
    assert found.name == "Valgrind 3.27.1 of ridgepoint-engine"


DAMAGES = {
    "no list of what it was made from": lambda folder: (folder / "made.json").unlink(),
    "half a list": lambda folder: (folder / "made.json").write_text('{"valgrind": "3'),
    "another list": lambda folder: (folder / "made.json").write_text(json.dumps({"a": 1})),
    "no tool": lambda folder: (folder / "ridgepoint-amd64-linux").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_package_is_named(package, source, damage):
    """And not taken for one that is not installed."""
    damage(package)
    said = refusal(source=source)

    assert "ridgepoint-engine is damaged: " in said
    assert "pip install --force-reinstall ridgepoint-engine" in said


def test_programs_that_lost_their_mode_are_copied(package, source, tmp_path):
    """Some installers forget it; site-packages may be read-only, and the cache is not."""
    for name in PROGRAMS:
        (package / name).chmod(0o644)
    made = engine(source=source)

    assert made.library.is_relative_to(tmp_path / "cache")
    assert all(os.access(made.library / name, os.X_OK) for name in PROGRAMS)
    assert made.valgrind == str(made.library / "valgrind")
    assert engine(source=source) == made
    assert not os.access(package / "valgrind", os.X_OK)


def test_launcher_that_does_not_start_is_named(package, source):
    """With the first line of what it says."""
    (package / "valgrind").write_text("#!/bin/sh\necho no memory >&2\nexit 1\n")

    assert f"{package / 'valgrind'} of ridgepoint-engine does not start (no memory)" in refusal(
        source=source
    )


def test_users_own_valgrind_lib_is_not_for_the_package(package, source, tmp_path, monkeypatch):
    """It is set for the system's Valgrind; the launcher gets the package's folder."""
    monkeypatch.setenv("VALGRIND_LIB", str(tmp_path / "gone"))
    (package / "valgrind").write_text('#!/bin/sh\n[ "$VALGRIND_LIB" = "${0%/*}" ]\n')

    assert engine(source=source).library == package


def test_other_architectures_are_refused(package, source, monkeypatch):
    """A wheel that was unpacked there by force."""
    monkeypatch.setattr("platform.machine", lambda: "aarch64")

    assert "this host is aarch64" in refusal(source=source)


def test_module_names_an_existing_folder(package):
    """Where it lies itself, so that it may be moved."""
    module = __import__(MODULE)

    assert Path(module.FOLDER) == package
    assert module.VALGRIND == "3.27.1"


def test_doctor_says_whose_valgrind_counts(package, source, monkeypatch):
    """For the engine and for callgrind."""
    monkeypatch.setattr(build, "source_folder", lambda: source)
    counting, callgrind = doctor._engine(), doctor._callgrind()

    assert counting.detail.startswith("for Valgrind 3.27.1 of ridgepoint-engine: ")
    assert callgrind.detail.startswith("of Valgrind 3.27.1 of ridgepoint-engine: ")


def test_doctor_says_that_the_package_does_not_fit(package, own, source, compiles, monkeypatch):
    """With the remedy; it costs nothing, since the engine was built once."""
    own("3.19.0")
    monkeypatch.setattr(build, "source_folder", lambda: source)
    (source / "tool.c").write_text("int two;")
    finding = doctor._engine()

    assert finding.works
    assert "for Valgrind 3.19.0: " in finding.detail
    assert "does not fit this ridgepoint" in finding.detail
    assert "pip install ridgepoint-engine==" in (finding.remedy or "")
    assert finding.cost is None
