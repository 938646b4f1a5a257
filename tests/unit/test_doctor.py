"""What the doctor says of the C compiler: what those say that need it."""

import pytest

from ridgepoint import doctor
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.building import CACHE_VARIABLE, cache_folder
from ridgepoint.meters.compiling import compiler
from ridgepoint.published.theory_file import user_folder


def test_without_a_compiler_the_counting_engines_are_missed(monkeypatch, tmp_path):
    """It was said that only the tests and the demo need one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    finding = doctor._compiler()

    assert not finding.works
    assert "counting engines cannot be built" in finding.cost
    with pytest.raises(MeterUnavailable) as refused:
        compiler("an engine")
    assert (finding.detail, finding.remedy) == (refused.value.reason, refused.value.remedy)


def test_without_a_compiler_nothing_is_missed_where_a_wheel_has_it_all(monkeypatch, tmp_path):
    """Unless CC asks for engines of one's own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(doctor, "shipped_folder", lambda: tmp_path)
    finding = doctor._compiler()

    assert finding.works
    assert "it came compiled" in finding.detail
    monkeypatch.setenv("CC", "gcc")
    assert not doctor._compiler().works


def test_the_compiler_that_the_engines_take_is_the_one_found(monkeypatch, tmp_path):
    """By its name in CC, with its options."""
    program = tmp_path / "my-cc"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("CC", f"{program} -m64")
    finding = doctor._compiler()

    assert finding.works
    assert finding.detail == f"{program} -m64"


def test_without_a_home_directory_the_doctor_says_so(monkeypatch):
    """As in a container whose user has a number and no name: platformdirs then refuses."""
    for name in ("HOME", "RIDGEPOINT_ARCHIVE", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", _no_user)
    finding = doctor._archive(None)

    assert not finding.works
    assert finding.detail == "there is no home directory to keep it in"
    assert str(user_folder()) == "~/.config/ridgepoint/microarchitectures"


def test_without_a_home_directory_nothing_is_kept(monkeypatch):
    """The reason is an error of the system's, as others are for which a folder is of no use."""
    for name in ("HOME", CACHE_VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", _no_user)

    with pytest.raises(FileNotFoundError, match="there is no home directory"):
        cache_folder("native")


def _no_user(number):
    raise KeyError(f"getpwuid(): uid not found: {number}")
