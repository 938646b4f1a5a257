"""The kept operators of a program on the Ridgeline, and as stages of a pipeline."""

import json
import shutil
from dataclasses import replace

import pytest
from core_inputs import ceiling, machine_of
from placed_operators import UNKNOWN, asked, operator, profile_of

import ridgepoint

NODE = machine_of(
    ceiling("fp32", 100.0), ceiling("dram", 10.0), ceiling("network", 1.0), name="node"
)
"""100 flop/s, 10 byte/s of memory and 1 byte/s over the network."""


def step(batch, **more):
    """Return a step: of each sample 40 flop and 6 byte; 20 byte of weights, and of gradients."""
    return profile_of(
        operator(
            asked({"fp32": 40.0 * batch, "int64": 3.0}, read=20.0 + batch, write=batch),
            module="layers.0",
            time_s=2.0 * batch,
        ),
        operator(asked(kind="view"), module="layers.0", time_s=0.5),
        operator(asked(read=4.0 * batch, kind="copy"), module="head", time_s=1.0 * batch),
        gradient_bytes=20.0,
        **more,
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Keep steps of 1 and 4 samples, and what has no work that is known."""
    path = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    for batch in (1, 4):
        ridgepoint.keep(step(batch), machine=NODE, label=f"step-{batch}", archive=path)
    strange = profile_of(operator(UNKNOWN), gradient_bytes=0.0)
    ridgepoint.keep(strange, machine=NODE, label="strange", archive=path)
    ridgepoint.keep(step(1), label="alone", archive=path)
    return path


@pytest.fixture
def kept(cli, archive):
    """Give the command line with a copy of that archive."""
    shutil.copy(archive, cli.archive)
    return cli


def test_two_records_tell_what_any_batch_needs_on_any_nodes(kept):
    """Of 10 samples: 400 flop in 4 s, 80 byte in 8 s; gradients of two nodes in 20 s."""
    _, out, _ = kept(
        *("ridgeline", "--operators", "1=step-1", "--operators", "4=step-4"),
        *("--batch", "10", "--nodes", "1,2", "--json"),
    )
    report = json.loads(out)

    assert [point["times_s"] for point in report["points"]] == [
        {"compute": 4.0, "memory": 8.0, "network": 0.0},
        {"compute": 4.0, "memory": 8.0, "network": 20.0},
    ]
    assert report["inputs"]["left_out"] == {"int64": 1.0}
    assert report["inputs"]["operators"] == [
        {"record": "step-1", "batch": 1}, {"record": "step-4", "batch": 4},
    ]  # fmt: skip


def test_a_sweep_finds_the_fastest_design_of_a_recorded_step(kept):
    """More nodes gain nothing while the network takes longest."""
    _, out, _ = kept(
        *("ridgeline", "--operators", "1=step-1", "--operators", "4=step-4", "--sweep"),
        *("--strong", "--batch", "64", "--nodes", "1,2,4", "--network", "100B/s", "--json"),
    )

    assert [design["nodes"] for design in json.loads(out)["front"]] == [1, 2, 4]


def test_the_report_says_what_it_is_a_step_of(kept):
    """And what is not in it."""
    _, out, _ = kept("ridgeline", "--operators", "4=step-4")

    assert "training step of net in fp32, by its operators, gradients of 20 B (without work" in out


def test_stages_are_modules_and_the_rest_is_the_hosts(kept):
    """The view's half a second is in no stage."""
    _, out, _ = kept("pipeline", "--operators", "step-4", "--json")
    report = json.loads(out)

    assert [(s["name"], s["work"], s["time_s"]) for s in report["stages"]] == [
        ("layers", 160.0, 8.0), ("head", 0.0, 4.0),
    ]  # fmt: skip
    assert report["host_time_s"]["median"] == 0.5


def test_on_another_machine_stages_reach_their_roofs(kept):
    """Their times were taken elsewhere, as a caution says."""
    there = replace(NODE, name="there", host=replace(NODE.host, cpu="another"))
    (kept.folder / "there.json").write_bytes(ridgepoint_document(there))
    _, out, _ = kept(
        "pipeline", "--operators", "alone", "--machine", str(kept.folder / "there.json"), "--json"
    )
    report = json.loads(out)

    assert "other-machine" in [caution["code"] for caution in report["cautions"]]
    assert {stage["programming_efficiency"] for stage in report["stages"]} == {1.0}


def ridgepoint_document(machine):
    """Return the document of a machine."""
    from ridgepoint.core.documents import encode

    return encode(machine)


def test_the_file_of_a_record_is_taken_like_the_record(kept):
    """By both commands."""
    kept("export", "step-4", "-o", kept.folder / "step.json")
    file = str(kept.folder / "step.json")

    assert "by its operators" in kept("ridgeline", "--operators", f"4={file}")[1]
    assert "layers" in kept("pipeline", "--operators", file)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ridgeline", "--operators", "step-1"], "--operators needs the batch that was recorded"),
        (["ridgeline", "--operators", "0=step-1"], "must be > 0"),
        (["ridgeline", "--operators", "-1=step-1"], "--operators needs the batch"),
        (
            ["ridgeline", "--operators", "1=nosuch"],
            "there is no such record of a program's operators",
        ),
        (["ridgeline", "--operators", "1=step-1", "--operators", "1=step-4"], "have the batch 1"),
        (
            ["ridgeline", "--operators", "4=step-1", "--operators", "1=step-4"],
            "with these batches?",
        ),
        (["ridgeline", "--operators", "1=step-1", "--batch", "2"], "recorded with 1 sample alone"),
        (
            ["ridgeline", "--operators", "1=step-1", "--sweep", "--nodes", "2", "--batch", "1,2"],
            "recorded with 1 sample alone",
        ),
        (["ridgeline", "--operators", "1=step-1", "--strong"], "give --nodes"),
        (["ridgeline", "--operators", "1=step-1", "--layers", "2,2"], "cannot be combined with"),
        (["ridgeline", "--operators", "1=step-1", "--precision", "fp32"], "has its own work"),
        (["ridgeline", "--operators", "1=step-1", "--record", "x"], "name different programs"),
        (["ridgeline", "--operators", "1=strange"], "no work of net is known"),
        (["ridgeline", "--operators", "1=step-1", "--fused"], "are not known"),
        (["ridgeline", "--fused"], "--fused applies only to --operators"),
        (["pipeline", "--operators", "nosuch"], "there is no such record of a program's operators"),
        (["pipeline", "--operators", "strange"], "no work of net is known"),
        (["pipeline", "--operators", "alone"], "they were kept without a machine"),
        (["pipeline", "--operators", "step-1", "--by", "kinds", "--depth", "2"], "leave --by out"),
        (["pipeline", "--by", "kinds", "x.toml"], "--by applies only to --operators"),
        (["pipeline", "--operators", "step-1", "x.toml"], "give one of them"),
    ],
)
def test_what_makes_no_sense_is_refused(kept, arguments, message):
    """With status 2 and what to do."""
    status, _, complaint = kept(*arguments)

    assert status == 2
    assert message in " ".join(complaint.split())
