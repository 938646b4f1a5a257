"""Machines compared, and a program on each of them: ``fleet``."""

import json
import shutil
from dataclasses import replace

import kept_records
import pytest
from core_inputs import MACHINE

from ridgepoint.core.documents import encode
from ridgepoint.kept.archive import Archive

HOSTILE = "<b>&\u202e[/red] 'quoted'"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return an archive with the virtual machine, and programs on it."""
    path = tmp_path_factory.mktemp("filled") / "archive.sqlite3"
    with Archive(path) as archive:
        id = archive.keep_machine(kept_records.document("vm"), label="vm")
        archive.keep_measurement(kept_records.document("heat"), id, label="heat")
        archive.keep_measurement(kept_records.document("stopped"), id, label="stopped")
    return path


@pytest.fixture
def kept(cli, filled):
    """Return a command line with a copy of that archive."""
    shutil.copy(filled, cli.archive)
    return cli


def refused(result, *words):
    """Assert one line of ours that says what is wrong, and status 2."""
    status, out, err = result

    assert (status, out) == (2, "")
    assert "Traceback" not in err
    assert all(word in err for word in words), err


def said(result):
    """Return the document that a command prints."""
    assert result[0] == 0, result
    return json.loads(result[1])


def test_a_machine_has_the_name_that_rankings_show(cli):
    """Its own, where the user gave it none; the last of several counts."""
    machine = kept_records.document("vm")
    with Archive(cli.archive) as archive:
        archive.keep_machine(machine)
        archive.keep_machine(machine, note="later")
    document = said(cli("fleet", machine.name, "e5645", "--json"))

    assert [one["name"] for one in document["machines"]] == [machine.name, "e5645"]
    _, shown, _ = cli("show", machine.name)
    assert "later" in shown


def test_a_ceiling_that_no_machine_has_is_refused(kept):
    """An empty table would not say so."""
    refused(kept("fleet", "a100", "csb", "--by", "network"), "by network", "such a ceiling")


def test_machines_are_ranked_by_each_ceiling(kept):
    """The archive's and published ones; directions of memory as one."""
    document = said(kept("fleet", "vm", "e5645", "--json"))
    by_name = {one["resource"]: one for one in document["ceilings"]}

    assert [one["name"] for one in document["machines"]] == ["vm", "e5645"]
    assert [one["name"] for one in by_name["dram"]["machines"]] == ["vm", "e5645"]
    assert [one["rank"] for one in by_name["dram"]["machines"]] == [1, 2]
    assert "dram_read" not in by_name
    assert document["models"][0]["outliers"] is None
    assert [one["resource"] for one in said(kept("fleet", "--by", "l2", "--json"))["ceilings"]] == [
        "l2"
    ]


def test_the_last_record_of_each_machine_counts(kept):
    """One that was measured again is not its own neighbour."""
    again = replace(kept_records.document("vm"), ceilings=MACHINE.ceilings)
    with Archive(kept.archive) as archive:
        archive.keep_machine(again, label="again")
        archive.keep_cluster(kept_records.document("cluster"), label="cluster")
    document = said(kept("fleet", "--json"))

    names = [one["name"] for one in document["machines"]]
    assert names[0] == "again"
    assert all(name.startswith("cluster:") for name in names[1:])
    assert len(names) > 1


def test_a_program_is_bounded_on_every_machine(kept):
    """With its traffic there; the text says what that is, and what is not known."""
    document = said(kept("fleet", "vm", "e5645", "csb", "--program", "heat", "--json"))
    there = {one["name"]: one for one in document["program"]["machines"]}
    text = kept("fleet", "vm", "e5645", "csb", "--program", "heat")[1]

    assert there["vm"]["traffic_source"] == "simulated"
    assert there["e5645"]["traffic_source"] == "miss curve"
    assert there["csb"]["traffic_source"] == "other caches"
    assert "miss curve: traffic of fully associative" in text
    assert "other-caches" in text
    times = [one["time_s"]["median"] for one in document["program"]["machines"]]
    assert times == sorted(times)


def test_prices_come_from_options_and_from_a_file(kept):
    """An option goes before the file."""
    prices = kept.folder / "prices.toml"
    prices.write_text('[prices]\nvm = "9 USD/h"\ne5645 = "0.1 USD/h"\n')
    words = ("fleet", "vm", "e5645", "--prices", prices, "--price", "vm=3600USD/h")
    document = said(kept(*words, "--program", "heat", "--cheapest", "--json"))

    assert [one["price_per_h"] for one in document["machines"]] == pytest.approx([3600, 0.1])
    first, second = document["program"]["machines"]
    assert (first["name"], second["name"]) == ("e5645", "vm")
    assert second["cost"]["median"] == pytest.approx(second["time_s"]["median"])
    assert "USD / Pflop" in kept(*words)[1]
    assert "price of a run" in kept(*words, "--program", "heat")[1]


def test_tables_have_the_same(kept):
    """The program's first where there is one."""
    ceilings = kept("fleet", "vm", "e5645", "--csv", "-")[1].splitlines()
    program = kept("fleet", "vm", "e5645", "--program", "heat", "--csv", "-")[1].splitlines()

    assert ceilings[0].startswith("resource,rank,ties,machine")
    assert program[0].startswith("rank,ties,machine,cores_used,time_s")
    assert len(program) == 3


def test_names_are_printed_as_they_are(kept):
    """Neither markup nor what turns the direction of writing gets through."""
    file = kept.folder / "odd.json"
    machine = kept_records.document("vm")
    host = replace(machine.host, cpu=HOSTILE)
    file.write_bytes(encode(replace(machine, name=HOSTILE, host=host)))
    status, out, _ = kept("fleet", file, "--program", "heat")

    assert status == 0
    assert "[/red]" in out
    assert "\u202e" not in out
    assert "\u202e" not in kept("fleet", file)[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("none",), "none"),
        (("heat",), "--program"),
        (("vm", "vm"), "two are called"),
        (("--by", "flops"), "flops"),
        (("--cheapest",), "--program"),
        (("--cores", "2"), "--program"),
        (("--program", "heat", "--cheapest"), "prices"),
        (("--program", "heat", "--cores", "0"), "cores"),
        (("--program", "heat", "--cores", "nan"), "cores"),
        (("--program", "vm"), "machine"),
        (("--program", "stopped"), "not"),
        (("--program", "none"), "none"),
        (("--price", "vm"), "NAME=PRICE"),
        (("--price", "vm=1"), "write it like"),
        (("--price", "vm=1/h", "--price", "vm=2/h"), "two prices"),
        (("--price", "other=1/h"), "'vm'"),
        (("--prices", "missing.toml"), "no such file"),
        (("--archive", "empty.sqlite3"), "has none"),
    ],
)
def test_wrong_uses_are_refused(kept, monkeypatch, words, expected):
    """In one line, with what to do."""
    monkeypatch.chdir(kept.folder)

    refused(kept("fleet", *words), expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "[prices]"),
        ("prices = 1", "[prices]"),
        ("[other]\nvm = '1/h'", "[prices]"),
        ("[prices]\nvm = 1", ":2"),
        ("[prices]\nvm = 'much'", "write it like"),
        ("[prices\n", "TOML"),
    ],
)
def test_wrong_files_of_prices_are_refused(kept, text, words):
    """With the file and the line."""
    prices = kept.folder / "prices.toml"
    prices.write_text(text)

    refused(kept("fleet", "--prices", prices), words, str(prices))
