"""The version: where it comes from, and what of it is kept for as long as a release lasts."""

import re
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import ridgepoint
from ridgepoint.core import version as stated
from ridgepoint.host import System
from ridgepoint.host.system import fingerprint

ROOT = Path(__file__).parents[2]


def test_the_version_is_that_of_the_installed_package():
    """Of an editable installation too: its version is that of when it was installed."""
    assert ridgepoint.__version__ == version("ridgepoint")


def test_source_code_that_was_never_installed_does_not_know_its_version(monkeypatch):
    """It says so; 0 would be a version."""

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(stated, "installed", missing)

    assert stated._here() == "unknown"


def test_the_command_line_prints_it():
    """As click's own option would."""
    done = subprocess.run(
        [sys.executable, "-m", "ridgepoint", "--version"], capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"ridgepoint, version {ridgepoint.__version__}\n"


def test_help_does_not_read_the_version():
    """Reading it takes as long as all else that the command line imports before it knows more."""
    code = "import sys, ridgepoint.cli.main; print('ridgepoint.core.version' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("given", "release"),
    [
        ("0.2.0", "0.2.0"),
        ("0.2.0.dev37+g715b37e4", "0.2.0"),
        ("0.2.0.dev0+unknown", "0.2.0"),
        ("0.2.0+d20261124", "0.2.0"),
        ("0.2.0rc1", "0.2.0rc1"),
        ("unknown", "unknown"),
    ],
)
def test_release_of_a_version(given, release):
    """Commits and changes that were not committed belong to the release that they lead up to."""
    assert stated.release(given) == release


def test_ceilings_stay_valid_from_commit_to_commit_but_not_from_release_to_release():
    """Who updates every day is not to measure the machine every day."""
    system = System()
    prints = [
        fingerprint(system, f"{release}{commit}")
        for release in ("0.1.0", "0.2.0")
        for commit in ("", ".dev36+g0e6cb69f", ".dev37+g715b37e4")
    ]

    assert [prints.index(each) for each in prints] == [0, 0, 0, 3, 3, 3]


def test_without_tags_the_version_leads_up_to_a_release_that_was_not_made():
    """Otherwise a clone without tags would claim an earlier version than its code has."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["version"]
    made = re.findall(r"^## (\d+)\.(\d+)\.(\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    fallback = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)\.dev0\+untagged", settings["fallback-version"])

    assert fallback is not None
    assert all(tuple(map(int, fallback.groups())) > tuple(map(int, each)) for each in made)


def test_both_packages_get_their_version_in_the_same_way():
    """The engine's folder has no repository of its own: it looks for one above."""
    settings = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["tool"]["hatch"]["version"]
        for folder in (".", "engine")
    ]

    assert settings[1] == {**settings[0], "raw-options": {"search_parent_directories": True}}


def test_the_changelog_has_a_section_for_each_release():
    """Newest first, with a date; what is not released yet stands above."""
    headings = re.findall("^## (.+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = headings[1:] if headings[0] == "Unreleased" else headings
    found = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d\d-\d\d\)", each) for each in released]
    versions = [tuple(map(int, each.groups())) for each in found]

    assert versions == sorted(set(versions), reverse=True)


def _git(folder, *arguments):
    author = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.com")
    command = ["git", *author, "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def hatchling(tmp_path_factory):
    """Give a function that says which version a folder would be built as."""
    folder = tmp_path_factory.mktemp("hatchling")
    venv.create(folder, with_pip=True)
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    done = subprocess.run([folder / "bin/pip", "install", *needs], capture_output=True, text=True)
    if "No matching distribution found" in done.stdout + done.stderr:
        pytest.skip("no package index can be reached")

    def ask(project, *, path=None):
        done = subprocess.run(
            [folder / "bin/hatchling", "metadata", "version"],
            cwd=project,
            env={"PATH": "/usr/bin:/bin" if path is None else path, "HOME": str(folder)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    ask.program = folder / "bin/hatchling"
    return ask


@pytest.fixture
def project(tmp_path):
    """Give a repository of two commits with the files that say how ours gets its version."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "hatch_build.py", "LICENSE", ".gitattributes"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / ".git_archival.txt", folder)
    _git(tmp_path, "init", "--quiet", "project")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", "First")
    _git(folder, "commit", "--quiet", "--allow-empty", "-m", "Second")
    return folder


@pytest.mark.slow
def test_a_tag_is_the_version_and_commits_after_it_lead_up_to_the_next(hatchling, project):
    """As the tag says, without its v."""
    _git(project, "tag", "-a", "v3.1.0", "-m", "3.1.0")
    tagged = hatchling(project)
    _git(project, "commit", "--quiet", "--allow-empty", "-m", "Third")
    commit = _git(project, "rev-parse", "HEAD")

    assert tagged == "3.1.0"
    later = hatchling(project)
    assert later.startswith("3.1.1.dev1+g")
    assert commit.startswith(later.partition("+g")[2])


@pytest.mark.slow
def test_a_clone_without_tags_says_how_many_commits_it_has(hatchling, project, tmp_path):
    """A shallow one, as CI makes it, knows one of them."""
    _git(tmp_path, "clone", "--quiet", "--depth=1", project.as_uri(), "shallow")

    assert re.fullmatch(r"0\.1\.0\.dev\d+\+untagged\.g[0-9a-f]+", hatchling(project))
    assert re.fullmatch(r"0\.1\.0\.dev\d+\+untagged\.g[0-9a-f]+", hatchling(tmp_path / "shallow"))


@pytest.mark.slow
def test_without_git_the_version_says_that_it_is_unknown(hatchling, project, tmp_path):
    """No program, no repository, or one that git refuses since it is another user's."""
    assert hatchling(project, path=str(tmp_path)) == "0.1.0.dev0+untagged"
    shutil.rmtree(project / ".git")
    assert hatchling(project) == "0.1.0.dev0+untagged"


@pytest.mark.slow
def test_an_archive_of_a_forge_keeps_the_version(hatchling, project, tmp_path):
    """That of a tag; of any other commit it does not claim to be a release."""
    seen = []
    for commit, tag in ((1, None), (2, "v3.1.0"), (3, None)):
        if tag is not None:
            _git(project, "tag", tag)
        file, folder = tmp_path / f"{commit}.tar", tmp_path / str(commit)
        _git(project, "archive", "--output", str(file), "HEAD")
        shutil.unpack_archive(file, folder)
        seen.append(hatchling(folder))
        _git(project, "commit", "--quiet", "--allow-empty", "-m", "Next")

    assert seen == ["0.1.0.dev0+untagged", "3.1.0", "0.1.0.dev0+untagged"]


@pytest.mark.slow
def test_a_source_distribution_keeps_the_version(hatchling, project, tmp_path):
    """It has no repository, and may lie in another one."""
    _git(project, "tag", "v3.1.0")
    subprocess.run(
        [hatchling.program, "build", "-t", "sdist", "-d", tmp_path], cwd=project, check=True
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _git(tmp_path, "init", "--quiet", "elsewhere")
    shutil.unpack_archive(tmp_path / "ridgepoint-3.1.0.tar.gz", elsewhere)

    assert hatchling(elsewhere / "ridgepoint-3.1.0") == "3.1.0"
