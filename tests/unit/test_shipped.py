"""What a wheel ships compiled is found first, as long as it is whole; else things are as before."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from wheels import compile as ahead

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters import building, python_lines, shipped
from ridgepoint.meters.building import COMPLETE, built, digest
from ridgepoint.meters.compiling import Compilers, compiler
from ridgepoint.meters.native import build as native

SHIPPED, MADE_HERE = "as the wheel has it", "as it was built here"


def make(folder: Path, log: Path) -> None:
    """Build, if there is a compiler."""
    compiler("an engine")
    log.touch()
    program = folder / "engine"
    program.write_text(MADE_HERE)
    program.chmod(0o755)
    (folder / "table").write_text("")


RECIPE = SimpleNamespace(
    what="an engine",
    part="part",
    key="own-key",
    makes=("engine",),
    needs=("table",),
    check=lambda: None,
    make=make,
)


def fill(folder: Path, *names: str, mode: int = 0o755) -> Path:
    """Write what a wheel ships into a folder, by hand."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(SHIPPED)
        (folder / name).chmod(mode)
    (folder / COMPLETE).write_text(" ".join(str(len(SHIPPED)) for _ in names))
    return folder


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Be installed in a folder, on a host without a compiler and with an empty cache."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(tmp_path / "cache"))

    def installed(folder: Path) -> Path:
        monkeypatch.setattr(building, "shipped_folder", lambda: folder)
        return folder

    return installed


@pytest.fixture
def place(site, tmp_path):
    """Ship the engine whole, and return where."""
    folder = fill(site(tmp_path / "site") / "part" / "their-key", "engine")
    (folder / "table").write_text("")
    return folder


@pytest.fixture
def _gcc(site, tmp_path, monkeypatch):
    """Have something in PATH that is called gcc."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gcc").write_text("")
    (tmp_path / "bin/gcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def engine(**options):
    """Return what is in the engine that is found or built, and its folder."""
    folder, cautions = built(RECIPE, **options)
    assert not cautions
    return (folder / "engine").read_text(), folder


@pytest.mark.usefixtures("_gcc")
def test_what_is_shipped_comes_before_the_cache(place, tmp_path):
    """Even of a cache that holds the same, built here; and the cache is not touched."""
    assert engine() == (MADE_HERE, tmp_path / "cache/part/own-key")
    told = []
    assert engine(shipped="their-key", report=told.append) == (SHIPPED, place)

    assert not told


def test_what_is_shipped_needs_no_compiler_and_no_cache(place, monkeypatch):
    """The folder of the cache cannot be made."""
    monkeypatch.setenv("RIDGEPOINT_CACHE", "/proc/none")

    assert engine(shipped="their-key") == (SHIPPED, place)


DAMAGES = {
    "cut short": lambda folder: (folder / "engine").write_text("as the"),
    "removed": lambda folder: (folder / "engine").unlink(),
    "without what it needs": lambda folder: (folder / "table").unlink(),
    "without its sizes": lambda folder: (folder / COMPLETE).unlink(),
    "with sizes that are none": lambda folder: (folder / COMPLETE).write_text("many"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_is_damaged_is_named_where_nothing_else_can_be_built(place, damage):
    """One line that says which folder, and what helps."""
    damage(place)
    with pytest.raises(MeterUnavailable) as refused:
        engine(shipped="their-key")

    assert str(refused.value) == (
        f"cannot build an engine: {place} is damaged, and there is no C compiler (cc, gcc or "
        "clang) in PATH; reinstall the Python package 'ridgepoint'"
    )


@pytest.mark.usefixtures("_gcc")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_is_damaged_is_built_where_there_is_a_compiler(place, damage, tmp_path):
    """As if nothing had been shipped."""
    damage(place)

    assert engine(shipped="their-key") == (MADE_HERE, tmp_path / "cache/part/own-key")


def test_what_may_not_be_executed_is_copied_to_the_cache(place, tmp_path):
    """Some installers lose permissions."""
    (place / "engine").chmod(0o644)
    content, folder = engine(shipped="their-key")

    assert (content, folder) == (SHIPPED, tmp_path / "cache/part/their-key")
    assert os.access(folder / "engine", os.X_OK)
    assert stat.S_IMODE((place / "engine").stat().st_mode) == 0o644


@pytest.mark.parametrize("name", ["my site", "a:b"])
def test_what_cannot_be_preloaded_from_its_path_is_copied_to_the_cache(name, site, tmp_path):
    """A blank and a colon end a path in LD_PRELOAD."""
    folder = fill(site(tmp_path / name) / "part" / "their-key", "engine")
    (folder / "table").write_text("")

    assert engine(shipped="their-key") == (SHIPPED, tmp_path / "cache/part/their-key")


def recipes():
    """Return what the wheel is made by, with compilers that are not there."""
    return [*ahead.recipes(Compilers(hosted=("no",), freestanding=("no",)), Path)]


@pytest.mark.parametrize("has_vectors", [False, True])
def test_the_wheel_has_what_is_looked_for(site, tmp_path, monkeypatch, has_vectors):
    """On any CPU, whatever compilers made it: only names and sizes are compared."""
    features = frozenset({"avx2", "bmi2"} if has_vectors else ())
    monkeypatch.setattr(native, "cpu_features", lambda: features)
    folder = site(tmp_path / "site")
    for recipe in recipes():
        fill(folder / recipe.part / recipe.shipped_key, *recipe.makes, *recipe.needs)
        sizes = " ".join(str(len(SHIPPED)) for _ in recipe.makes)
        (folder / recipe.part / recipe.shipped_key / COMPLETE).write_text(sizes)
    library, _ = python_lines.line_sampler()
    copying = native.native_engine()

    assert library.parents[1] == folder / "lines"
    assert copying.library.parents[1] == folder / "native"
    assert copying.copier.parent == copying.library.parent
    assert copying.version == copying.library.parent.name
    assert not (tmp_path / "cache").exists()


def test_vectors_are_other_engines():
    """One of them would stop on an old CPU, and the other be slow on a new one."""
    keys = [recipe.shipped_key for recipe in recipes() if recipe.part == "native"]

    assert len({*keys}) == 2


def test_another_iced_is_no_reason_to_build_but_names_what_is_built(monkeypatch):
    """The wheel's table was made with the version that the wheel was built with."""
    first = native.Recipe(native.copying_source())
    keys = first.key, first.shipped_key
    monkeypatch.setattr(native, "version", lambda _: "0.1")
    other = native.Recipe(native.copying_source())

    assert other.key != keys[0]
    assert other.shipped_key == keys[1]


def test_a_compiler_that_the_user_chose_builds(monkeypatch):
    """What CC names is not what made the wheel; the libraries for MPI are never built by it."""
    monkeypatch.delenv("CC", raising=False)
    before = [recipe.shipped_key for recipe in recipes() if recipe.part != "mpi"]
    monkeypatch.setenv("CC", "clang")
    after = [recipe.shipped_key for recipe in recipes() if recipe.part != "mpi"]

    assert not {*before} & {*after}


def test_names_are_the_same_where_a_wheel_was_installed(tmp_path):
    """There the C source lies after the modules, and in a checkout before them."""
    places = ("native/b.c", "src/package/a.py", "native/b.h"), ("package/a.py", "native/b.c", "b.h")
    names = set()
    for root, layout in zip(("checkout", "site"), places, strict=True):
        files = [tmp_path / root / place for place in layout]
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.suffix)
        names.add(digest(("flag",), files))

    assert len(names) == 1


def test_a_checkout_ships_nothing():
    """What is edited there is built, and nothing older is found."""
    assert not shipped.shipped_folder().exists()
