import json
from importlib.resources import files

import pytest

from ridgepoint.core.documents import encode
from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.published.machines import load, names, open_machine

PUBLISHED = ("cascade-lake", "csb", "d510", "e5310", "e5645", "e5645-prefetch", "xsb", "xw")


DEVICES = ("a100", "h200", "mi300x")


def test_the_machines_of_the_papers_are_there():
    """Seven machines of three papers, one of them in two settings; and devices of vendors."""
    assert names() == tuple(sorted(PUBLISHED + DEVICES))


@pytest.mark.parametrize("name", DEVICES)
def test_a_vendor_s_device_says_that_its_peaks_are_theoretical(name):
    """Figures of the data sheet, named one by one; a caution goes wherever the machine goes."""
    machine = load(name)

    assert "data sheet" in machine.source
    assert "not measured" in machine.source
    assert [one.code for one in machine.cautions] == ["theoretical"]
    assert all("data sheet" in ceiling.source for ceiling in machine.ceilings)
    assert all(ceiling.theoretical == ceiling.rate.median for ceiling in machine.ceilings)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_figure_names_its_source(name):
    """The paper for the machine, and the table, section or equation for each ceiling."""
    machine = load(name)

    assert machine.name == name
    assert "doi:" in machine.source or "arXiv:" in machine.source
    assert all(
        any(word in ceiling.source for word in ("Table", "Eq.", "Section", "Fig."))
        for ceiling in machine.ceilings
    )
    assert all(ceiling.rate.n == 1 for ceiling in machine.ceilings)


@pytest.mark.parametrize(
    ("name", "resource", "cores", "rate"),
    [
        # Ofenbeck et al., Table III: flop or byte per cycle, times GHz, by hand.
        ("xsb", "fp64", 1, 17.6e9),
        ("xsb", "fp64", None, 281.6e9),
        ("xsb", "dram", 1, 14.74e9),
        ("xsb", "dram", None, 31.02e9),
        ("xw", "fp64", 1, 13.2e9),
        ("xw", "fp64", None, 158.4e9),
        ("xw", "dram", 1, 22.11e9),
        ("xw", "dram", None, 45.87e9),
        ("csb", "fp64", 1, 25.6e9),
        ("csb", "fp64", None, 153.6e9),
        ("csb", "dram", 1, 19.84e9),
        ("csb", "dram", None, 33.28e9),
        ("csb", "dram_read", 1, 16e9),
        ("csb", "dram_write", 1, 12.16e9),
        # Wang et al., Eq. (4), Table 9 and section 6.
        ("e5645", "bop", None, 86.4e9),
        ("e5645", "bop", 1, 14.4e9),
        ("e5645", "fp64", None, 57.6e9),
        ("e5645", "dram", None, 13.2e9),
        ("e5645-prefetch", "bop", None, 86.4e9),
        ("e5645-prefetch", "dram", None, 13.8e9),
        ("e5310", "bop", None, 38.4e9),
        ("e5310", "fp64", None, 25.6e9),
        ("d510", "bop", None, 12.8e9),
        ("d510", "fp64", None, 4.8e9),
        # Checconi et al., section III.
        ("cascade-lake", "fp32", None, 4.2e12),
        ("cascade-lake", "dram", None, 105e9),
        ("cascade-lake", "network", None, 12e9),
        # Data sheets of the vendors.
        ("a100", "fp64", None, 19.5e12),
        ("a100", "fp32", None, 19.5e12),
        ("a100", "fp16", None, 312e12),
        ("a100", "dram", None, 2039e9),
        ("h200", "fp64", None, 67e12),
        ("h200", "fp32", None, 67e12),
        ("h200", "bf16", None, 989.5e12),
        ("h200", "dram", None, 4.8e12),
        ("mi300x", "fp64", None, 163.4e12),
        ("mi300x", "fp32", None, 163.4e12),
        ("mi300x", "fp16", None, 1307.4e12),
        ("mi300x", "dram", None, 5.3e12),
    ],
)
def test_the_figures_are_the_published_ones(name, resource, cores, rate):
    """Every file against the paper, figure by figure."""
    assert load(name).rate(resource, cores=cores) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "resource", "units", "per_clock", "clock_hz"),
    [
        # Multiprocessors, what each does in a clock (an FMA is 2), and the clock under that load.
        ("a100", "fp64", 108, 128, 1.41e9),
        ("a100", "fp32", 108, 128, 1.41e9),
        ("a100", "fp16", 108, 2048, 1.41e9),
        ("a100", "int8", 108, 4096, 1.41e9),
        ("h200", "fp64", 132, 256, 1.98e9),
        ("h200", "fp32", 132, 256, 1.98e9),
        ("h200", "bf16", 132, 4096, 1.83e9),
        ("mi300x", "fp64", 304, 256, 2.1e9),
        ("mi300x", "fp32", 304, 256, 2.1e9),
        ("mi300x", "bf16", 304, 2048, 2.1e9),
        ("mi300x", "int8", 304, 4096, 2.1e9),
        # Bytes of the memory's width, and bits a second on each of its wires.
        ("a100", "dram", 5120 / 8, 1, 3.186e9),
        ("h200", "dram", 6144 / 8, 1, 6.25e9),
        ("mi300x", "dram", 8192 / 8, 1, 5.2e9),
    ],
)
def test_vendors_figures_are_those_of_units_and_clock(name, resource, units, per_clock, clock_hz):
    """To the digits that data sheets round to."""
    assert load(name).rate(resource) == pytest.approx(units * per_clock * clock_hz, rel=0.01)


def test_the_lower_ceilings_of_the_e5645_do_not_bound():
    """ILP 21.6 and SIMD 43.2 GBOPS are drawn under the peak of 86.4, Eq. (8)."""
    ceilings = {c.name: c.rate.median for c in load("e5645").ceilings if c.resource == "bop"}

    assert (ceilings["ILP"], ceilings["SIMD"]) == (21.6e9, 43.2e9)
    assert load("e5645").best("bop", threads=6).name == "peak"


def test_what_a_paper_does_not_give_is_left_out():
    """No bandwidth of E5310 and D510, no precision or cache that was not published."""
    assert not any(load(name).knows("dram") for name in ("e5310", "d510"))
    assert load("d510").caches == ()
    assert load("cascade-lake").host.frequency_hz is None
    assert not load("csb").knows("fp32")


def test_the_files_can_be_kept_by_hand():
    """Indented, with plain numbers for rates, and nothing that would not be read back."""
    for entry in (files("ridgepoint") / "data" / "machines").iterdir():
        text = entry.read_text()
        document = json.loads(text)

        assert text == json.dumps(document, indent=2) + "\n"
        assert {type(c["rate"]) for c in document["ceilings"]} == {int}


def test_an_unknown_name_lists_the_known_and_the_close_ones():
    """A slip of the pen costs one look."""
    with pytest.raises(RidgepointError) as refusal:
        load("e5654")

    assert (
        "cannot load the machine 'e5654': published here are only a100, cascade-lake, csb"
        in str(refusal.value)
    )
    assert "did you mean 'e5645'" in refusal.value.remedy


def test_names_are_alike_in_upper_and_lower_case():
    """The papers write XSB."""
    assert load("XSB") == open_machine("Xsb") == load("xsb")


def test_a_machine_is_opened_from_a_file_or_from_the_library(tmp_path, monkeypatch, machine):
    """A path is one if it exists, ends in .json or holds a slash."""
    (tmp_path / "mine.json").write_bytes(encode(machine))
    (tmp_path / "plain").write_bytes(encode(machine))
    (tmp_path / "csb").mkdir()
    monkeypatch.chdir(tmp_path)

    assert open_machine("mine.json") == machine
    assert open_machine(str(tmp_path / "plain")) == machine
    assert open_machine("plain") == machine
    assert open_machine("csb").name == "csb"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("gone.json", None, "no such file"),
        ("folder/gone", None, "no such file"),
        ("nul\0.json", None, "null byte"),
        ("empty.json", b"", "truncated"),
        ("text.json", b"hello", "malformed"),
        ("latin.json", b'{"schema": 1, "name": "M\xfcnchen"}', "utf-8"),
        ("newer.json", b'{"schema": 7, "kind": "machine"}', "reads schemas up to 1"),
    ],
)
def test_a_file_that_holds_no_machine_is_refused_in_one_line(
    tmp_path, monkeypatch, name, content, reason
):
    """The message names the file as the user did, the reason, and what to give."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(InvalidDocument) as refusal:
        open_machine(name)

    assert reason in refusal.value.reason
    assert "\n" not in str(refusal.value)


def test_a_folder_is_no_machine(tmp_path):
    """A folder is refused as such."""
    with pytest.raises(InvalidDocument, match="is a directory"):
        open_machine(str(tmp_path))


def test_a_name_that_is_neither_file_nor_published_lists_the_published():
    """The user may have meant either."""
    with pytest.raises(RidgepointError, match="give one of these names, or the path"):
        open_machine("no-such-machine")
