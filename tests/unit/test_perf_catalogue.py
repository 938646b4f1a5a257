"""What the package says that CPUs can count, against the tables that it was reduced from."""

import json
import re
from pathlib import Path

import perf_host
import pytest

from ridgepoint.core.errors import CannotMeasure
from ridgepoint.meters.perf.catalogue import find, load_all
from ridgepoint.meters.perf.host import Host, Identity
from ridgepoint.meters.perf.sysfs import Pmu, energy_domains, numbers, pmus

TABLE = Path(__file__).parents[3] / "shared" / "data" / "pmu_events.json"
CATALOGUE = dict(load_all())
METRICS = {
    "fp64": "flops_dp",
    "fp32": "flops_sp",
    "fp16": "flops_half",
    "bf16": "flops_bf16",
    "flop": "flops_any",
    "dram_read": "dram_read_bytes",
    "dram_write": "dram_write_bytes",
    "dram_total": "dram_total_bytes",
}
FORMATS = {
    "GenuineIntel": perf_host.INTEL_FORMAT,
    "AuthenticAMD": perf_host.AMD_FORMAT | {"rdwrmask": "config:8-9"},
    "ARM": perf_host.ARM_FORMAT,
}


@pytest.fixture(scope="module")
def table():
    """Return the tables of events of 54 microarchitectures."""
    if not TABLE.is_file():
        pytest.skip(f"there is no {TABLE.name} to compare with")
    return json.loads(TABLE.read_text())


def test_every_file_names_its_cpus_and_sources():
    """A file that matches no CPU, or states no source, is of no use."""
    for name, one in CATALOGUE.items():
        assert one.x86 or one.arm, name
        assert one.sources, name
        assert all(metric.source for metric in one.metric), name


def test_every_event_is_encoded_as_the_table_says(table):
    """Fields, encoded by the usual formats, give the table's configuration words."""
    checked = 0
    for key, stated in table["microarchitectures"].items():
        if key.startswith("riscv"):
            continue
        words = {
            event["name"]: int(event["config"], 16)
            for group in stated["events"].values()
            for event in group
            if event["config"] is not None
        }
        formats = perf_host.ARM_FORMAT if key.startswith("arm") else FORMATS[stated["vendor"]]
        pmu = Pmu(name="any", type=1, formats=formats)
        for metric in CATALOGUE[key.replace(":", "-")].metric:
            for event in (*metric.events, *metric.rest):
                assert pmu.encode(event.fields).config == words[event.name], (key, event.name)
                checked += 1
    assert checked > 600


def test_every_weight_of_work_and_traffic_is_the_table_s(table):
    """The terms of each formula are those of the metric."""
    checked = 0
    for key, stated in table["microarchitectures"].items():
        if key.startswith("riscv"):
            continue
        one = CATALOGUE[key.replace(":", "-")]
        for formula in stated["formulas"]:
            name = next((n for n, m in METRICS.items() if m == formula["metric"]), None)
            if name is None or "terms" not in formula:
                continue
            terms = {term["event"]: term["weight"] for term in formula["terms"]}
            found = [{e.name: e.weight for e in metric.events} for metric in one.metrics(name)]
            assert terms in found, (key, name)
            checked += 1
    assert checked > 150


def test_every_cpu_of_the_table_is_matched_by_the_same_file(table):
    """Each row of the index, at both of its ends, finds the file of its key."""
    for row in table["match_index"]["x86"]:
        for model in (row["model_min"], row["model_max"]):
            wanted = Identity(x86=(row["vendor"], row["family"], model, row.get("stepping_min", 0)))
            assert find(wanted) == CATALOGUE[row["key"].replace(":", "-")], row
    for row in table["match_index"]["arm_midr"]:
        wanted = Identity(arm=(int(row["implementer"], 16), int(row["part"], 16)))
        assert find(wanted) == CATALOGUE[row["key"].replace(":", "-")], row


def test_intel_weights_are_lanes_of_each_width():
    """A vector of 512 bit holds 8 doubles or 16 singles; an FMA counts twice by itself."""
    one = CATALOGUE["intel-sapphirerapids"]
    (double,), (single,) = one.metrics("fp64"), one.metrics("fp32")

    assert [(e.width_bits, e.weight) for e in double.events] == [
        (0, 1), (128, 2), (256, 4), (512, 8),
    ]  # fmt: skip
    assert [(e.width_bits, e.weight) for e in single.events] == [
        (0, 1), (128, 4), (256, 8), (512, 16),
    ]  # fmt: skip


def test_flop_events_of_amd_cost_two_counters():
    """Their increments are too large for one; the kernel pairs two."""
    (flop,) = CATALOGUE["amd-zen4"].metrics("flop")
    assert [event.cost for event in flop.events] == [2]


@pytest.mark.parametrize(
    ("stepping", "name"), [(4, "intel-skylake-server"), (7, "intel-cascadelake")]
)
def test_a_stepping_tells_skylake_from_cascade_lake(stepping, name):
    """Both are family 6, model 0x55."""
    assert find(Identity(x86=("GenuineIntel", 6, 0x55, stepping))) == CATALOGUE[name]


def test_an_unknown_cpu_is_found_nowhere():
    """No nearest match: its events may mean something else."""
    assert find(Identity(x86=("GenuineIntel", 6, 0xFE, 0))) is None
    assert find(Identity()) is None


def test_the_midr_tells_implementer_and_part(tmp_path):
    """Bits 31 to 24, and 15 to 4: 0x41 is Arm, 0xd40 Neoverse V1."""
    assert perf_host.neoverse(tmp_path, 0xD40).identity == Identity(arm=(0x41, 0xD40))


def test_cpuinfo_tells_an_x86(tmp_path):
    """Of the first processor."""
    found = perf_host.zen4(tmp_path).identity
    assert found == Identity(x86=("AuthenticAMD", 25, 17, 1))


def test_an_empty_host_has_no_identity_and_no_pmus(tmp_path):
    """Nothing is made up."""
    assert Host(tmp_path).identity == Identity()
    assert pmus(Host(tmp_path)) == ()


def test_bits_of_a_field_may_lie_apart():
    """AMD's event 0x120 has its upper half in bits 32 to 35."""
    pmu = Pmu(name="cpu", type=4, formats=perf_host.AMD_FORMAT)
    assert pmu.encode({"event": 0x120, "umask": 0x01}).config == 0x100000120


def test_fields_may_lie_in_the_second_word():
    """As offcore_rsp does."""
    formats = perf_host.INTEL_FORMAT | {"offcore_rsp": "config1:0-63"}
    encoding = Pmu(name="cpu", type=4, formats=formats).encode(
        {"event": 0x2A, "umask": 0x01, "offcore_rsp": 0x73C004477}
    )
    assert (encoding.config, encoding.config1) == (0x12A, 0x73C004477)


@pytest.mark.parametrize("fields", [{"rdwrmask": 1}, {"event": 0x1FF}])
def test_a_field_that_the_pmu_lacks_is_refused(fields):
    """Rather than counting something else."""
    with pytest.raises(CannotMeasure, match="cannot encode"):
        Pmu(name="cpu", type=4, formats=perf_host.INTEL_FORMAT).encode(fields)


def test_instances_are_numbered_and_others_are_not_meant(tmp_path):
    """``uncore_imc`` means each channel, and not the free-running counters."""
    found = pmus(perf_host.sapphire_rapids(tmp_path))
    channels = [pmu.name for pmu in found if pmu.is_instance_of("uncore_imc")]

    assert channels == ["uncore_imc_0", "uncore_imc_1"]
    assert next(pmu for pmu in found if pmu.name == "uncore_imc_1").cpus == (0, 56)


def test_energy_domains_are_those_that_the_kernel_names(tmp_path):
    """With the joules of one count: 2 to the power of -32."""
    (domain,) = energy_domains(perf_host.sapphire_rapids(tmp_path))

    assert (domain.name, domain.encoding.config) == ("pkg", 2)
    assert domain.joule == 2**-32


def test_lists_of_cpus_are_read():
    """Ranges and single ones."""
    assert numbers("0-2,8\n") == (0, 1, 2, 8)
    assert numbers("") == ()


def test_patterns_compile():
    """Every PMU of the catalogue is a regular expression."""
    for one in CATALOGUE.values():
        for metric in one.metric:
            assert re.compile(metric.pmu)
