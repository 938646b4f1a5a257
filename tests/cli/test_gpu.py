"""``ridgepoint machine --device gpu`` and ``run --meter ncu``, without a GPU."""

import json

import pytest
from ncu_inputs import PRODUCT, SAXPY, install, table
from scripted_gpu import ScriptedGpu

from ridgepoint.kept.archive import Archive


@pytest.fixture
def gpu(monkeypatch):
    """Put a scripted device in the place of this host's."""
    device = ScriptedGpu(rates={"load": (4e12,), "chain fp64": (3e13,), "product bf16": (8e14,)})
    device.opened = []

    def open_device(index=0):
        device.opened.append(index)
        return device

    monkeypatch.setattr("ridgepoint.ceilings.gpu.open_device", open_device)
    return device


@pytest.fixture
def no_gpu(monkeypatch):
    """Let there be no CuPy."""
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)


def test_gpu_is_measured_shown_and_kept(cli, gpu):
    """As any machine: its table, one line of where it is kept."""
    status, out, err = cli("machine", "--device", "gpu")

    assert status == 0
    assert gpu.opened == [0]
    assert "NVIDIA Made-Up 100 (sm_90)" in out
    assert "TF32" in out
    assert "-gpu0" in out
    assert "kept as 1" in err
    with Archive(cli.archive) as archive:
        assert archive.machine(1).rate("dram") == pytest.approx(4e12)


def test_gpu_of_another_number(cli, gpu):
    """From 0, as CUDA counts."""
    assert cli("machine", "--device", "gpu:1", "--quick")[0] == 0
    assert gpu.opened == [1]


def test_measured_gpu_bounds_kernels(cli, gpu, tmp_path, monkeypatch):
    """By its file: 16384 byte read over 4 TB/s are the longest."""
    _, document, _ = cli("machine", "--device", "gpu", "--json")
    file = tmp_path / "gpu.json"
    file.write_text(document)
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder, monkeypatch, table=table(("saxpy", SAXPY), ("product", PRODUCT)))
    status, out, _ = cli(
        *("run", "--meter", "ncu", "--machine", file, "--repeat", "1", "--json", "--", "true")
    )
    report = json.loads(out)

    assert status == 0
    assert report["meter"] == "ncu (Nsight Compute 2024.3.2.0)"
    assert report["work"] == {"fp64": 90, "fp32": 2000, "fp16": 20, "bf16": 524_288}
    assert report["traffic"]["read_bytes"] == 8192 + 16384
    assert report["bound"]["limiter"] == "dram"
    assert [one["name"] for one in report["functions"]] == ["product", "saxpy"]


def test_kept_gpu_bounds_kernels_by_its_number(cli, gpu, tmp_path, monkeypatch):
    """It is not kept a second time."""
    cli("machine", "--device", "gpu")
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder, monkeypatch, table=table(("saxpy", SAXPY)))
    status, _, err = cli("run", "--meter", "ncu", "--machine", "1", "--repeat", "1", "--", "true")

    assert status == 0
    assert "saxpy" in err
    assert "NVIDIA Made-Up 100" in err
    with Archive(cli.archive) as archive:
        assert len(archive.records("machine")) == 1


def test_kept_gpu_is_shown_drawn_and_compared(cli, gpu):
    """What works for machines works for this one."""
    cli("machine", "--device", "gpu")
    figure = cli.folder / "gpu.svg"
    status, out, _ = cli("machine", "--device", "gpu", "--check", "1", "-o", figure)

    assert status == 0
    assert "10 same" in out
    assert "DRAM load" in figure.read_text()
    assert cli("show", "1")[0] == 0
    assert "-gpu0" in cli("list")[1]


def test_ceiling_that_fell_is_measured_again_and_named(cli, gpu):
    """Status 1, and its name."""
    cli("machine", "--device", "gpu")
    gpu.rates["load"] = (3e12,)
    status, out, _ = cli("machine", "--device", "gpu", "--check", "1")

    assert status == 1
    assert "DRAM load" in out
    assert "-25.0 %" in out


@pytest.mark.usefixtures("no_gpu")
def test_no_gpu_is_one_line_and_status_2(cli):
    """What is lacking, and what to do; nothing is kept."""
    status, out, err = cli("machine", "--device", "gpu")

    assert (status, out) == (2, "")
    assert err == (
        "ridgepoint: cannot measure a GPU: CuPy is not installed; pip install 'ridgepoint[gpu]'\n"
    )
    with Archive(cli.archive) as archive:
        assert archive.records() == []


@pytest.mark.parametrize("device", ["gpi", "gpu:", "gpu:x", "gpu:-1", "cpu:1", "gpu:99999"])
def test_device_that_is_none_is_refused(cli, device):
    """With what it must be."""
    status, _, err = cli("machine", "--device", device)

    assert status == 2
    assert "must be cpu, gpu or gpu:N" in err


@pytest.mark.parametrize("options", [("--explain", "dram load"), ("--cache", "l1=32k:8")])
def test_options_for_cpus_are_refused(cli, gpu, options):
    """Before anything is opened."""
    status, _, err = cli("machine", "--device", "gpu", *options)

    assert status == 2
    assert "apply to CPUs only" in err
    assert gpu.opened == []


def test_kernels_need_a_gpu_to_be_bounded_by(cli):
    """Never by this host's CPU."""
    status, _, err = cli("run", "--meter", "ncu", "--", "true")

    assert status == 2
    assert "whose roofs bound the kernels" in err


@pytest.mark.parametrize("options", [("--functions",), ("--region", "a"), ("--miss-curve",)])
def test_options_that_ncu_does_not_know_are_refused(cli, options):
    """In words."""
    status, _, err = cli("run", "--meter", "ncu", "--machine", "h200", *options, "--", "true")

    assert status == 2
    assert "ncu" in err or "Nsight Compute" in err


def test_ncu_that_is_not_there_is_one_line(cli, monkeypatch, tmp_path):
    """Before the program runs."""
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    status, out, err = cli("run", "--meter", "ncu", "--machine", "h200", "--", str(program))

    assert (status, out) == (2, "")
    assert "there is no ncu in PATH; install Nsight Compute" in err


def test_counters_that_are_forbidden_are_said(cli, tmp_path, monkeypatch):
    """With the driver's switch; the program's time is known by then, and shown."""
    folder = tmp_path / "bin"
    folder.mkdir()
    says = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
    install(folder, monkeypatch, table="", says=says)
    status, _, err = cli(
        *("run", "--meter", "ncu", "--machine", "h200", "--repeat", "1", "--", "true")
    )

    assert status == 2
    assert "NVreg_RestrictProfilingToAdminUsers=0" in "".join(err.split())
