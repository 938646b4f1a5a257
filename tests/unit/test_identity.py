"""Which CPU this is: captured texts, made-up models, and tables of others as a second source."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.identity import Identity, Seen, first_processor, identify, seen_in
from ridgepoint.host import System
from ridgepoint.meters.perf.catalogue import load_all
from ridgepoint.published.processors import processors

CAPTURED = Path(__file__).parents[1] / "data" / "cpuinfo"
TABLE = processors()
BY_TITLE = {one.title: one for one in TABLE}


def captured(tmp_path, name, *, caches_kib=(), called=None):
    """Return the identity of a captured /proc/cpuinfo, with these caches in /sys."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text((CAPTURED / f"{name}.txt").read_text())
    kinds = ((1, "Data"), (1, "Instruction"), (2, "Unified"))
    for index, (size, (level, kind)) in enumerate(zip(caches_kib, kinds, strict=False)):
        folder = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{index}"
        folder.mkdir(parents=True)
        for field, value in (("level", level), ("type", kind), ("size", f"{size}K")):
            (folder / field).write_text(f"{value}\n")
    return System(root=tmp_path).identity(called=called)


@pytest.mark.parametrize(
    ("name", "title", "microarchitecture"),
    [
        ("graniterapids", "Granite Rapids", "graniterapids"),
        ("zen3", "Zen 3", "znver3"),
        ("graviton2", "Neoverse N1", "neoverse-n1"),
        ("graviton3", "Neoverse V1", "neoverse-v1"),
        ("grace", "Neoverse V2", "neoverse-v2"),
        ("neoverse-n2", "Neoverse N2", "neoverse-n2"),
        ("ampereone-a", "AmpereOne A", "ampere1a"),
    ],
)
def test_a_cpu_that_tells_its_number_is_what_the_number_says(
    tmp_path, name, title, microarchitecture
):
    """Captured on real machines; each names its product in tests/data/cpuinfo/README."""
    identity = captured(tmp_path, name)

    assert identity == Identity(reported=title, title=title, names=(microarchitecture,))
    assert str(identity) == title


def test_features_and_caches_contradict_a_masked_number(tmp_path):
    """A VM on Xeon 6972P, whose L3 has 480 MiB: it shows Rocket Lake's number and hides amx_fp16.

    The sizes are those of /sys there. Rocket Lake has neither AMX nor 2 MiB of L2.
    """
    identity = captured(tmp_path, "masked-as-rocketlake", caches_kib=(48, 64, 2048))

    assert identity.inferred
    assert identity.reported == "Rocket Lake"
    assert identity.title == "Sapphire Rapids or later"
    assert identity.names == ("sapphirerapids", "emeraldrapids", "graniterapids")
    assert str(identity) == (
        "reported as Rocket Lake; its features are those of Sapphire Rapids or later, "
        "its caches those of Granite Rapids"
    )
    assert identity.reasons == (
        "Rocket Lake has no amx_bf16, amx_int8, amx_tile, avx512_bf16, avx512_fp16, avx_vnni, "
        "movdir64b, movdiri",
        "the L1 instruction cache has 64 KiB and Rocket Lake's has 32 KiB",
        "the L2 has 2 MiB and Rocket Lake's has 512 KiB",
    )


def test_features_alone_contradict_a_masked_number(tmp_path):
    """Without /sys nothing is said of caches."""
    identity = captured(tmp_path, "masked-as-rocketlake", called="rocketlake")

    assert str(identity) == (
        "reported as Rocket Lake; its features are those of Sapphire Rapids or later"
    )


@pytest.mark.parametrize(
    ("name", "called", "model"),
    [
        ("kvm64-intel", "nocona", "Common KVM processor"),
        ("kvm64-amd", "k8-sse3", "Common KVM processor"),
    ],
)
def test_a_model_without_features_tells_nothing(tmp_path, name, called, model):
    """Proxmox's default of old: every CPU of the vendor has what it shows."""
    identity = captured(tmp_path, name, called=called)

    assert str(identity) == f"reported as {model}; its features do not tell which CPU it is"
    assert (identity.title, identity.names, identity.inferred) == (None, (), True)


def test_a_model_with_features_that_all_have_tells_nothing(tmp_path):
    """QEMU's x86-64-v2-AES on an EPYC: every Zen has AES and SSE 4.2."""
    identity = captured(tmp_path, "qemu64-amd", called="k8-sse3")

    assert identity.title is None
    assert identity.reported == "QEMU Virtual CPU version 2.5+"


def test_a_model_that_qemu_makes_up_is_not_believed(tmp_path):
    """EPYC-Milan may run on Zen 3, 4 or 5."""
    identity = captured(tmp_path, "qemu-epyc-milan")

    assert str(identity) == (
        "reported as AMD EPYC-Milan Processor; its features are those of Zen 3 or later"
    )
    assert identity.names == ("znver3", "znver4", "znver5")


@pytest.mark.parametrize(
    "model",
    [
        # QEMU, target/i386/cpu.c: `model_id` of its models, and what some hosts make of them.
        "QEMU Virtual CPU version 2.5+",
        "Common KVM processor",
        "Common 32-bit KVM processor",
        "Intel Xeon Processor (Skylake, IBRS)",
        "Intel Xeon Processor (Icelake)",
        "Intel Xeon Processor (SapphireRapids)",
        "Intel Core Processor (Haswell, no TSX)",
        "Intel Xeon E312xx (Sandy Bridge)",
        "Intel Xeon E3-12xx v2 (Ivy Bridge)",
        "Westmere E56xx/L56xx/X56xx (Nehalem-C)",
        "Intel Core i7 9xx (Nehalem Class Core i7)",
        "AMD EPYC Processor",
        "AMD EPYC Processor (with IBPB)",
        "AMD EPYC-Rome Processor",
        "AMD EPYC-Genoa Processor",
    ],
)
def test_names_that_hypervisors_make_up_are_known(model):
    """With features of Haswell and a number of Haswell, it may be a later one all the same."""
    vendor = "AuthenticAMD" if "AMD" in model else "GenuineIntel"
    features = frozenset(["sse4_2", "avx", "avx2", "fma", "vaes"])
    identity = identify(
        Seen(model=model, vendor=vendor, number=(6, 0x3C, 1), features=features), TABLE
    )

    assert identity.inferred
    assert identity.reported == model
    assert identity.title == ("Zen 3 or later" if "AMD" in model else "Ice Lake server or later")


@pytest.mark.parametrize(
    "model",
    [
        "AMD EPYC 9R14 96-Core Processor",
        "AMD EPYC",  # Zen 4 of a cloud
        "Intel(R) Xeon(R) Processor",
        "Intel(R) Xeon(R) CPU @ 2.20GHz",
        "Intel(R) Xeon(R) Platinum 8488C",
        "Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz",
        "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz",
    ],
)
def test_names_of_products_are_not_taken_for_made_up(model):
    """A cloud's own name, or one without a model: the number counts, as long as it fits."""
    of = "Zen 4" if "AMD" in model else "Haswell"
    number = (25, 17, 1) if "AMD" in model else (6, 0x3F, 2)
    vendor = BY_TITLE[of].vendor
    seen = Seen(model=model, vendor=vendor, number=number, features=BY_TITLE[of].features)

    assert str(identify(seen, TABLE)) == of


def test_dense_siblings_have_names_of_their_own():
    """Bergamo and Siena, Turin Dense, by their numbers; their figures are the core's."""
    bergamo = Seen(model="AMD EPYC 9754", vendor="AuthenticAMD", number=(25, 0xA0, 2))
    turin_dense = Seen(model="AMD EPYC 9965", vendor="AuthenticAMD", number=(26, 0x11, 0))

    assert identify(bergamo, TABLE).title == "Zen 4c"
    assert identify(bergamo, TABLE).names == ("znver4",)
    assert identify(turin_dense, TABLE).title == "Zen 5c"


def test_cobalt_is_told_by_its_implementer():
    """Microsoft puts its own number in, 0x6d; the core is Arm's."""
    cobalt = identify(Seen(model="unknown", vendor="0x6d", number=(0xD49,)), TABLE)

    assert cobalt.title == "Azure Cobalt 100 (Neoverse N2)"
    assert cobalt.names == ("neoverse-n2",)


def test_a_number_that_is_not_in_the_table_is_what_llvm_calls_it():
    """An Atom of 2008, and a RISC-V core of a vendor that the table does not have."""
    atom = identify(
        Seen(model="Atom", vendor="GenuineIntel", number=(6, 0x1C, 2), called="bonnell"), TABLE
    )
    sifive = identify(Seen(model="unknown riscv64 CPU", called="sifive-u74"), TABLE)

    assert (atom.title, atom.inferred) == ("bonnell", False)
    assert (sifive.title, sifive.inferred) == ("sifive-u74", False)
    assert str(identify(Seen(model="unknown"), TABLE)) == "unknown"


def test_an_early_alder_lake_with_avx512_is_none_the_less_one():
    """The first were sold with it."""
    seen = Seen(
        model="12th Gen Intel(R) Core(TM) i9-12900K",
        vendor="GenuineIntel",
        number=(6, 0x97, 2),
        features=frozenset(["avx2", "avx512f", "avx512_fp16"]),
    )

    assert not identify(seen, TABLE).inferred


@given(data=st.data())
def test_what_has_the_features_of_its_number_is_never_contradicted(data):
    """Whatever a hypervisor takes away, and whatever caches it makes up."""
    one = data.draw(st.sampled_from(TABLE))
    features = data.draw(st.frozensets(st.sampled_from(sorted(one.features))))
    row = data.draw(st.sampled_from(one.numbers))
    caches = data.draw(st.just(()) | st.tuples(*[st.integers(1, 4096)] * 3))
    number = row if len(row) == 1 else (row[0], row[2], row[-1] if len(row) == 5 else 0)
    seen = Seen(model="any", vendor=one.vendor, number=number, features=features, caches_kib=caches)

    assert identify(seen, TABLE) == Identity(reported=one.title, title=one.title, names=(one.name,))


@given(data=st.data())
def test_what_has_more_than_its_number_is_never_taken_for_it(data):
    """The result lists every processor with all the features shown, by brute force."""
    one = data.draw(st.sampled_from(TABLE))
    alike = [other for other in TABLE if other.vendor == one.vendor]
    every = sorted(frozenset().union(*(other.features for other in alike)))
    features = data.draw(st.frozensets(st.sampled_from(every)))
    row = one.numbers[0]
    number = row if len(row) == 1 else (row[0], row[1], row[3] if len(row) == 5 else 0)
    found = identify(Seen(model="any", vendor=one.vendor, number=number, features=features), TABLE)
    able = {other.name for other in alike if features <= other.features}

    if found.inferred:
        assert not features <= one.features
        assert set(found.names) == able
    else:
        assert features <= one.features | one.early


@given(
    text=st.text(max_size=80),
    fields=st.dictionaries(
        st.sampled_from(
            [
                "vendor_id",
                "cpu family",
                "model",
                "stepping",
                "CPU implementer",
                "CPU part",
                "flags",
                "Features",
                "model name",
            ]
        ),
        st.sampled_from(
            [
                "GenuineIntel",
                "AuthenticAMD",
                "0x41",
                "0xd4f",
                "6",
                "-1",
                "9" * 5000,
                "",
                "unknown",
                "0x",
                "avx2 amx_tile sve",
            ]
        ),
    ),
)
def test_any_cpuinfo_is_read_without_an_error(text, fields):
    """A kernel, a sandbox or a hypervisor may print anything, or nothing."""
    lines = "".join(f"{key}\t: {value}\n" for key, value in fields.items())

    assert isinstance(str(identify(seen_in(first_processor(text + "\n" + lines)), TABLE)), str)


# Linux's and the vendors' tables of counters, read apart from the table of processors.
_LLVM = {
    "amd-zen1": "znver1", "amd-zen2": "znver2", "amd-zen3": "znver3", "amd-zen4": "znver4",
    "amd-zen5": "znver5", "arm-ampereone": "ampere1", "arm-ampereonex": "ampere1a",
    "intel-skylake-server": "skylake-avx512", "intel-icelake": "icelake-client",
}  # fmt: skip


def of_the_catalogue():
    """Yield every number of the catalogue of counters, and the name that it has there."""
    for file, one in load_all():
        stem = re.sub(r"-(ep|de)$", "", file)
        name = _LLVM.get(stem, stem.split("-", 1)[1])
        for x86 in one.x86:
            for model in x86.models:
                yield name, x86.vendor, (x86.family, model, x86.steppings[0])
        for arm in one.arm:
            yield name, f"0x{arm.implementer:02x}", (arm.part,)


@pytest.mark.parametrize(("name", "vendor", "number"), list(of_the_catalogue()))
def test_numbers_agree_with_the_catalogue_of_counters(name, vendor, number):
    """Which comes from Linux's map files; Raptor Lake counts as Alder Lake there."""
    found = {one.name for one in TABLE if one.vendor == vendor and one.has_number(number)}

    assert found <= {name} or (name, found) == ("alderlake", {"raptorlake"})


_FLAGS = {
    "SSE4_2": "sse4_2", "PCLMUL": "pclmulqdq", "BMI": "bmi1", "SHA": "sha_ni",
    "AVXVNNI": "avx_vnni", "AVX512VBMI2": "avx512_vbmi2", "AVX512VNNI": "avx512_vnni",
    "AVX512BITALG": "avx512_bitalg", "AVX512VPOPCNTDQ": "avx512_vpopcntdq",
    "AVX512BF16": "avx512_bf16", "AVX512FP16": "avx512_fp16",
    "AVX512VP2INTERSECT": "avx512_vp2intersect",
}  # fmt: skip
# GCC tells these apart by -march otherwise than hardware: it leaves AES to an option of its own,
# movdiri to others, and took VP2INTERSECT for a feature of Sapphire Rapids.
_NOT_TOLD = {"aes", "movdiri", "movdir64b", "avx512_vp2intersect"}


@pytest.mark.parametrize("line", (CAPTURED / "gcc-march.txt").read_text().splitlines()[2:])
def test_features_agree_with_a_compilers(line):
    """What GCC defines for -march of each."""
    name, _, macros = line.partition(": ")
    told = {_FLAGS.get(macro, macro.lower()) for macro in macros.split()}
    (one, *_) = [row for row in TABLE if row.name == name]

    assert one.features - _NOT_TOLD == told - _NOT_TOLD
