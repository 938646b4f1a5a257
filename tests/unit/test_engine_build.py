"""What a build needs is found, or its absence named; what it was made from decides its name."""

import os
import re
from pathlib import Path

import pytest
from valgrinds import ARCHIVES, CORE, HEADERS, TOOLS, VEX, install_own, no_package, refusal

from ridgepoint.meters.building import header_folder, source_folder
from ridgepoint.meters.compiling import first_complaint
from ridgepoint.meters.engine.installation import installation
from ridgepoint.meters.engine.recipe import recipe


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """Install a Valgrind of the user's own, as ``make install`` would, alone in PATH."""
    root = tmp_path / "opt"
    install_own(root)
    no_package(monkeypatch)
    monkeypatch.setenv("PATH", str(root / "bin"))
    monkeypatch.delenv("VALGRIND_LIB", raising=False)
    monkeypatch.delenv("RIDGEPOINT_VALGRIND", raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return root


@pytest.fixture
def source(tmp_path):
    """Write a source of one file, never compiled here."""
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / "tool.c").write_text("int one;")
    return folder


def test_own_build_is_found_whole(prefix):
    """Headers, archives and tools of one prefix, each where `make install` puts it."""
    found = installation()

    assert found.launcher == prefix / "bin/valgrind"
    assert found.version == "3.24.0"
    assert found.tools == prefix / TOOLS
    assert found.headers == prefix / HEADERS
    assert found.archives == (prefix / ARCHIVES / CORE, prefix / ARCHIVES / VEX)
    assert found.load_address == "0x58000000"


@pytest.mark.parametrize("library", ["lib/x86_64-linux-gnu", "lib64"])
def test_libraries_of_distributions_are_found(prefix, library):
    """Debian's and Fedora's folders, with an archive that not all versions have."""
    folder = prefix / library / "valgrind"
    folder.parent.mkdir(parents=True, exist_ok=True)
    (prefix / ARCHIVES).rename(folder)
    (folder / "libgcc-sup-amd64-linux.a").write_text("an archive")

    assert [path.name for path in installation().archives] == [
        CORE,
        VEX,
        "libgcc-sup-amd64-linux.a",
    ]


def test_load_address_is_the_configured_one(prefix):
    """A Valgrind configured to lie elsewhere says so for pkg-config."""
    folder = prefix / "lib/pkgconfig"
    folder.mkdir()
    (folder / "valgrind.pc").write_text("arch=amd64\nvalt_load_address=0x38000000\n")

    assert installation().load_address == "0x38000000"


def test_launcher_may_be_a_link(prefix, tmp_path, monkeypatch):
    """A link in ~/bin leads to the prefix that it points into."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "valgrind").symlink_to(prefix / "bin/valgrind")
    monkeypatch.setenv("PATH", str(bin_folder))

    assert installation().headers == prefix / HEADERS


def test_wrapper_is_helped_by_valgrind_lib(prefix, tmp_path, monkeypatch):
    """A script elsewhere says nothing of the prefix; VALGRIND_LIB does."""
    bin_folder = tmp_path / "scripts/bin"
    bin_folder.mkdir(parents=True)
    (prefix / "bin/valgrind").rename(bin_folder / "valgrind")
    monkeypatch.setenv("PATH", str(bin_folder))

    assert "set VALGRIND_LIB" in refusal()
    monkeypatch.setenv("VALGRIND_LIB", str(prefix / TOOLS))
    assert installation().headers == prefix / HEADERS


def test_other_architectures_are_refused(prefix, monkeypatch):
    """An Arm host is told that it is one."""
    monkeypatch.setattr("platform.machine", lambda: "aarch64")

    assert "this host is aarch64" in refusal()


@pytest.mark.parametrize(
    ("missing", "reason", "remedy"),
    [
        ("bin/valgrind", "valgrind is not in PATH", "install the package 'valgrind'"),
        (f"{TOOLS}/none-amd64-linux", "the tools of .* near it", "set VALGRIND_LIB"),
        (f"{HEADERS}/pub_tool_basics.h", r"headers for tools \(pub_tool", "'valgrind-devel'"),
        (f"{HEADERS}/config.h", "headers for tools", "'valgrind-devel'"),
        (f"{ARCHIVES}/{CORE}", "the archives .* are not below", "'valgrind-devel'"),
        (f"{ARCHIVES}/{VEX}", "the archives .* are not below", "'valgrind-tools-devel'"),
    ],
)
def test_what_is_missing_is_named(prefix, missing, reason, remedy):
    """Each missing piece has its line, and the package that brings it."""
    (prefix / missing).unlink()
    said = refusal()

    assert re.search(reason, said)
    assert remedy in said


@pytest.mark.parametrize(
    ("there", "instead", "reason"),
    [
        (f"{TOOLS}/none-amd64-linux", "none-x86-linux", "was built without amd64"),
        (f"{ARCHIVES}/{CORE}", "libcoregrind-x86-linux.a", "for other platforms than amd64"),
    ],
)
def test_valgrind_for_32_bit_only_is_refused(prefix, there, instead, reason):
    """Its files are there, under the other platform's name."""
    (prefix / there).rename((prefix / there).with_name(instead))

    assert reason in refusal()


def test_valgrind_lib_of_nothing_is_named(prefix, tmp_path, monkeypatch):
    """Valgrind itself would not start with it either."""
    monkeypatch.setenv("VALGRIND_LIB", str(tmp_path / "gone"))

    assert f"VALGRIND_LIB names {tmp_path / 'gone'}" in refusal()


def test_headers_without_a_version_are_refused(prefix):
    """Nobody knows then whether they belong to the program."""
    (prefix / HEADERS / "config.h").write_text("")

    assert "states no version" in refusal()


def test_source_that_is_not_there_is_refused(prefix, tmp_path):
    """A package that was cut down says so."""
    assert f"its C source is not in {tmp_path}" in refusal(source=tmp_path)


def test_source_is_in_the_checkout():
    """The header that users include lies where a compiler is told to look."""
    assert (source_folder() / "engine.c").is_file()
    assert (header_folder() / "ridgepoint.h").is_file()


def _touch(path: Path) -> None:
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


CHANGES = {
    "a source file's content": lambda prefix, source: (source / "tool.c").write_text("int two;"),
    "a source file's name": lambda prefix, source: (source / "tool.c").rename(source / "other.c"),
    "a header of the source": lambda prefix, source: (source / "tool.h").write_text(""),
    "Valgrind's headers": lambda prefix, source: (prefix / HEADERS / "config.h").write_text(
        '#define VERSION "3.24.0"\n#define HAVE_MORE 1\n'
    ),
    "an archive": lambda prefix, source: _touch(prefix / ARCHIVES / VEX),
    "the launcher": lambda prefix, source: _touch(prefix / "bin/valgrind"),
    "Valgrind's own tools": lambda prefix, source: (prefix / TOOLS / "none-amd64-linux").write_text(
        "another tool"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_name_changes_with_whatever_it_is_made_from(prefix, source, change):
    """A Valgrind upgraded in place, or another source, never finds the old engine."""
    before = recipe(installation(), source).key
    assert recipe(installation(), source).key == before
    change(prefix, source)

    assert recipe(installation(), source).key != before


def test_name_counts_the_compiler_only_where_it_was_chosen(prefix, source, monkeypatch):
    """A node without a compiler finds what another built; CC asks for a build of its own."""
    before = recipe(installation(), source).key
    (prefix / "bin/gcc").write_text("#!/bin/sh\n")
    (prefix / "bin/gcc").chmod(0o755)
    assert recipe(installation(), source).key == before
    monkeypatch.setenv("CC", "clang")

    assert recipe(installation(), source).key != before


def test_name_begins_with_the_version(prefix, source):
    """So that a look into the cache tells what is there."""
    assert recipe(installation(), source).key.startswith("3.24.0-")


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("$ cc error.c\nx.c:1: note: a\nx.c:2:1: error: b\n  c\n", "x.c:2:1: error: b"),
        ("$ cc\nld: x.o: undefined reference to `f'\ncollect2: error: 1\n", "ld: x.o: undefined"),
        ("$ cc\n\nKilled\n", "Killed"),
        ("$ cc\n", "it printed nothing"),
        ("-----\nThe wrapper was unable to find the compiler\n-----\n", "The wrapper was unable"),
    ],
)
def test_first_complaint_is_the_telling_line(tmp_path, log, line):
    """Not the command, which may name a file error.c, and not what the linker adds."""
    path = tmp_path / "build.log"
    path.write_text(log)

    assert first_complaint(path).startswith(line)
