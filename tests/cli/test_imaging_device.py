"""``ridgepoint suite imaging --device gpu``, with finufft and NumPy in the place of a GPU."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from core_inputs import MACHINE

from ridgepoint.ceilings.gpu.arrays import Arrays
from ridgepoint.ceilings.gpu.device import Facts
from ridgepoint.core.errors import MeterUnavailable

FACTS = Facts(
    name="NVIDIA Made-Up 100", identity="0000:01:00.0", capability=(9, 0), multiprocessors=2,
    resident_threads=2048, l2_bytes=None, memory_bytes=10**11, free_bytes=10**11,
)  # fmt: skip


class Clock:
    """Tells how long each stage takes, by its name; 30 ms those that it does not know."""

    def __init__(self, seconds):
        self._seconds = seconds

    def __call__(self, function, repeats):
        """Do what is timed once; it holds its stage, and nothing else."""
        (held,) = function.__closure__
        function()
        return repeats * self._seconds.get(held.cell_contents.name, 0.03)


@pytest.fixture
def gpu(monkeypatch):
    """Put a host in the place of a GPU, whose clock knows how long each stage takes."""
    seconds = {"invert": 0.08, "ifft": 0.03, "predict": 0.07, "fft": 0.02}
    there = Arrays(
        device=SimpleNamespace(facts=FACTS), index=0, xp=np,
        nufft=pytest.importorskip("finufft"), options={"nthreads": 1}, current=nullcontext,
        elapsed_s=Clock(seconds), settle=lambda: None,
    )  # fmt: skip
    monkeypatch.setattr("ridgepoint.ceilings.gpu.arrays.open_arrays", lambda index: there)
    monkeypatch.setattr("ridgepoint.suites.imaging.whole.MOST_RUNS", 1)
    return there


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["imaging", "--device", "gpux"], "must be cpu, gpu or gpu:N, such as gpu:1, got 'gpux'"),
        (["imaging", "--device", "gpu", "--threads", "1"], "applies to CPUs only"),
        (["imaging", "--device", "gpu", "--caches", "cold"], "timed with warm caches only"),
        (["imaging", "--device", "gpu", "--size", "65"], "size must be even, 64 to 16384"),
        (["imaging", "gridd", "--device", "gpu"], "there is no 'gridd'"),
        (["dgemm", "--device", "gpu"], "--device"),
        (["--device", "gpu"], "--device"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(words, said, cli, gpu):
    """It says what is wrong, and measures nothing."""
    status, out, err = cli("suite", *words)
    assert (status, out) == (2, "")
    assert said in err.replace("\n", " ")


def test_without_a_gpu_it_says_what_lacks(cli, monkeypatch):
    """In one line."""

    def refuse(index):
        raise MeterUnavailable("cannot image on a GPU", reason=f"no {index}", remedy="buy one")

    monkeypatch.setattr("ridgepoint.ceilings.gpu.arrays.open_arrays", refuse)
    status, out, err = cli("suite", "imaging", "--device", "gpu:7")
    assert (status, out) == (2, "")
    assert err == "ridgepoint: cannot image on a GPU: no 7; buy one\n"


def test_the_sky_is_imaged_and_every_stage_is_timed(cli, gpu):
    """50 ms are left for gridding; 22464 visibilities in them are 449 k a second."""
    folder = cli.folder / "figures"
    words = ("--device", "gpu", "--size", "64", "--figures", folder)
    status, out, err = cli("suite", "imaging", *words)
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert status == 0, err
    assert "22464 visibilities, NVIDIA Made-Up 100" in out
    assert list(lines)[2:10] == [
        "invert", "ifft", "predict", "fft", "hogbom", "msmfs", "grid", "degrid",
    ]  # fmt: skip
    assert "50" in lines["grid"]
    assert "449 k" in lines["grid"]
    assert "traffic is unknown" in out
    assert "outside the GPU" in out
    assert "invert 8, predict 7, deconvolve 6" in err.replace("\n", " ")
    assert (folder / "imaging.png").read_bytes().startswith(b"\x89PNG")


def test_the_list_says_what_each_stage_does(cli, gpu):
    """On its own grid."""
    status, out, _ = cli("suite", "imaging", "--device", "gpu", "--size", "64", "--list")
    assert status == 0
    assert "FFTs of 128 x 128" in out


def test_json_names_the_device(cli, gpu):
    """What is not counted there is null."""
    words = ("--device", "gpu", "--size", "64", "--json")
    status, out, _ = cli("suite", "imaging", "fft", *words)
    document = json.loads(out)
    assert (status, document["device"]) == (0, "NVIDIA Made-Up 100")
    (only,) = document["results"]
    assert (only["name"], only["state"], only["work_flop"]) == ("fft", "warm", None)


def test_a_pipeline_is_written_that_the_other_command_composes(cli, gpu, monkeypatch):
    """The GPU is measured once, kept, and named by its number."""
    measured = []

    def characterize(device, *, name, progress):
        measured.append(name)
        return MACHINE

    monkeypatch.setattr("ridgepoint.ceilings.gpu.characterize_gpu", characterize)
    monkeypatch.setattr(
        "ridgepoint.ceilings.gpu.gpu_fingerprint", lambda facts, quick: MACHINE.fingerprint
    )
    path = cli.folder / "p.toml"
    words = ("--archive", cli.archive)
    for _ in range(2):
        status, _, err = cli(
            "suite", "imaging", "--device", "gpu", "--size", "64", "-o", path, *words
        )
        assert status == 0, err
    assert f"ridgepoint pipeline {path}" in err.replace("\n", "")
    assert len(measured) == (1 if MACHINE.fingerprint else 2)
    assert measured[0].endswith("-gpu0")
    assert 'machine = "p.machine.json"\n' in path.read_text()
    status, out, err = cli("pipeline", path, *words)
    assert status == 0, err
    assert "devices for 415.1 Tflop/s" in out
