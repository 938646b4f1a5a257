"""What the doctor says of the C compiler: what those say that need it."""

import pytest

from ridgepoint import doctor
from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.compiling import compiler


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
