from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.core.errors import InvalidDocument, RidgepointError
from ridgepoint.core.resources import RESOURCES
from ridgepoint.published.theory import load_theory
from ridgepoint.published.theory_file import FOLDER_VARIABLE

SHIPPED = sorted(
    entry.name.removesuffix(".toml")
    for entry in (files("ridgepoint") / "data" / "microarchitectures").iterdir()
)
WIDTHS = ("scalar", "128-bit", "256-bit", "512-bit")
MODELS = (None, "AMD EPYC 9755 128-Core Processor", "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz")

MINE = """
name = "My CPU"

[float.fma]
per_cycle = { scalar = 1, 128 = 1 }
ports = "V0"
source = "its manual, page 7"

[l1]
load_bytes = 16
source = "its manual, page 9"
"""


@pytest.fixture(autouse=True)
def no_files_of_the_user(monkeypatch, tmp_path):
    """Keep this machine's own files out of the tests."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("microarchitecture", "cpu", "resource", "name", "value"),
    [
        # Per core and cycle, as the vendors' manuals and the literature print them.
        ("haswell", None, "fp64", "fma 256-bit", 16),
        ("haswell", None, "fp32", "fma 256-bit", 32),
        ("haswell", None, "fp64", "add 256-bit", 4),
        ("haswell", None, "l1", "load", 64),
        ("haswell", None, "l1", "store", 32),
        ("haswell", None, "l2", "load", 64),
        ("skylake-avx512", None, "fp64", "fma 512-bit", 32),
        ("skylake-avx512", None, "fp32", "fma 512-bit", 64),
        ("skylake-avx512", "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "fp64", "fma 512-bit", 32),
        ("skylake-avx512", "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz", "fp64", "fma 512-bit", 16),
        ("skylake-avx512", None, "l1", "load", 128),
        ("znver4", None, "fp64", "fma 256-bit", 16),
        ("znver4", None, "fp64", "fma 512-bit", 16),
        ("znver4", None, "fp64", "fma+add 512-bit", 24),
        ("znver4", None, "l1", "load", 64),
        ("znver4", None, "l1", "store", 32),
        ("znver4", None, "l2", "load", 32),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "fp64", "fma 512-bit", 32),
        ("znver5", "AMD Ryzen 9 9950X 16-Core Processor", "fp64", "fma 512-bit", 32),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "l1", "load", 128),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "int32", "add scalar", 6),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bf16", "dot 512-bit", 128),
        ("znver5", "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "fp64", "fma 512-bit", 32),
        ("znver5", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "fp64", "fma 256-bit", 16),
        ("znver5", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "fp64", "fma 512-bit", 16),
        # Basic operations: ports times 64-bit lanes; elements from L1; both.
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bop", "add scalar", 6),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bop", "logic 512-bit", 32),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bop", "addressing 512-bit", 16),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bop", "mixed 512-bit", 48),
        ("znver5", "AMD EPYC 9755 128-Core Processor", "bop", "floating 512-bit", 48),
        ("haswell", None, "bop", "add scalar", 4),
        ("haswell", None, "bop", "addressing 256-bit", 8),
        ("nehalem", None, "fp64", "add 128-bit", 2),
        ("nehalem", None, "fp64", "mul 128-bit", 2),
        ("sandybridge", None, "fp64", "add 256-bit", 4),
        ("sandybridge", None, "fp64", "mul 256-bit", 4),
        ("ivybridge", None, "fp64", "mul 256-bit", 4),
        ("sandybridge", None, "l1", "copy", 32),
        ("sandybridge", None, "l1", "triad", 48),
        ("broadwell", None, "fp64", "fma 256-bit", 16),
        ("skylake", None, "fp64", "fma 256-bit", 16),
        ("skylake", None, "l1", "triad", 96),
        ("cascadelake", None, "fp64", "fma 512-bit", 32),
        ("cascadelake", None, "int8", "dot 512-bit", 256),
        ("cascadelake", "Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz", "fp64", "fma 512-bit", 16),
        ("cascadelake", "Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz", "int8", "dot 512-bit", 128),
        ("icelake-client", None, "fp64", "fma 512-bit", 16),
        ("tigerlake", None, "fp64", "fma 512-bit", 16),
        ("icelake-server", None, "fp64", "fma 512-bit", 32),
        ("alderlake", None, "fp64", "fma 256-bit", 16),
        ("alderlake", None, "l1", "load", 96),
        ("sapphirerapids", None, "fp64", "fma 512-bit", 32),
        ("sapphirerapids", None, "fp16", "fma 512-bit", 128),
        ("sapphirerapids", None, "l1", "load", 128),
        # Intel: 1024 operations of bf16 and 2048 of int8 a cycle and core.
        ("sapphirerapids", None, "bf16", "amx", 1024),
        ("sapphirerapids", None, "int8", "amx", 2048),
        ("emeraldrapids", None, "bf16", "amx", 1024),
        ("graniterapids", None, "int8", "amx", 2048),
        ("cooperlake", None, "fp64", "fma 512-bit", 32),
        ("rocketlake", None, "fp64", "fma 512-bit", 16),
        ("ampere1", None, "fp64", "fma 128-bit", 8),
        ("ampere1a", None, "l1", "load", 32),
        ("neoverse-n2", None, "fp64", "fma 128-bit", 8),
        ("neoverse-n3", None, "fp32", "fma 128-bit", 16),
        ("neoverse-v2", None, "int8", "dot 128-bit", 128),
        ("emeraldrapids", None, "fp64", "fma 512-bit", 32),
        ("graniterapids", None, "fp64", "fma 512-bit", 32),
        ("znver1", None, "fp64", "fma 128-bit", 8),
        ("znver1", None, "fp64", "fma 256-bit", 8),
        ("znver1", None, "l1", "load", 32),
        ("znver2", None, "fp64", "fma 256-bit", 16),
        ("znver3", None, "fp64", "fma 256-bit", 16),
        ("neoverse-n1", None, "fp64", "fma 128-bit", 8),
        ("neoverse-v1", None, "fp64", "fma 256-bit", 16),
        ("neoverse-v2", None, "fp64", "fma 128-bit", 16),
        ("a64fx", None, "fp64", "fma 512-bit", 32),
        ("a64fx", None, "fp32", "fma 512-bit", 64),
        ("a64fx", None, "l1", "load", 128),
        ("apple-m1", None, "fp64", "fma 128-bit", 16),
    ],
)
def test_the_peaks_are_the_published_ones(microarchitecture, cpu, resource, name, value):
    """Literal numbers, none of them derived by this code."""
    assert load_theory(microarchitecture, cpu=cpu).per_cycle(resource, name).value == value


@pytest.mark.parametrize(
    ("microarchitecture", "cpu", "resource", "name"),
    [
        ("znver5", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "int64", "add 512-bit"),
        ("graniterapids", None, "fp16", "amx"),
        ("neoverse-n1", None, "bf16", "dot 128-bit"),
        ("znver5", None, "fp64", "fma 512-bit"),
        ("haswell", None, "fp64", "fma 512-bit"),
        ("haswell", None, "fp64", "fma+add 256-bit"),
        ("haswell", None, "l2", "store"),
        ("haswell", None, "l3", "load"),
        ("haswell", None, "dram", "load"),
        ("haswell", None, "no such", "thing"),
    ],
)
def test_what_no_document_says_is_none(microarchitecture, cpu, resource, name):
    """Not zero, and not a guess: models of one name may differ."""
    assert load_theory(microarchitecture, cpu=cpu).per_cycle(resource, name) is None


@pytest.mark.parametrize("name", [None, "", "generic", "znver99", "../haswell", "a/b", "x" * 300])
def test_an_unknown_cpu_has_no_theory(name):
    """Names that are no file's, and such as must not become paths."""
    assert load_theory(name) is None


@pytest.mark.parametrize(
    ("level", "pattern", "value"),
    [
        # A: 2 x 16 byte loaded, 16 stored, two accesses in all (one cycle and a half a triad).
        ("l1", "load", 32),
        ("l1", "store", 16),
        ("l1", "copy", 32),
        ("l1", "triad", 32),
        # A line from L2 takes two cycles in, and back out at the same time; stored lines come in.
        ("l2", "load", 32),
        ("l2", "store", 16),
        ("l2", "copy", 32),
        ("l2", "triad", 32),
    ],
)
def test_patterns_follow_from_what_a_cycle_moves(tmp_path, level, pattern, value):
    """By hand, for a core with two address units and L2 paths of 32 byte each way."""
    write(
        tmp_path,
        'name = "x"\n'
        '[l1]\nload_bytes = 32\nstore_bytes = 16\ntotal_bytes = 32\nsource = "s"\n'
        '[l2]\nload_bytes = 32\nstore_bytes = 32\ntotal_bytes = 64\nsource = "s"\n',
    )

    assert load_theory("mine", extra=tmp_path).per_cycle(level, pattern).value == value


def test_stores_cross_a_shared_path_twice(tmp_path):
    """L2 with 64 byte each way, but 64 in all: a stored line is read and written back."""
    write(
        tmp_path,
        'name = "x"\n[l2]\nload_bytes = 64\nstore_bytes = 64\ntotal_bytes = 64\nsource = "s"\n',
    )
    mine = load_theory("mine", extra=tmp_path)

    assert mine.per_cycle("l2", "load").value == 64
    assert mine.per_cycle("l2", "store").value == 32
    assert mine.per_cycle("l2", "copy").value == pytest.approx(128 / 3)
    assert mine.per_cycle("l2", "triad").value == 48


def test_dot_products_count_their_products_and_sums(tmp_path):
    """512 bit hold 64 int8 or 32 bf16 pairs, each multiplied and added."""
    write(
        tmp_path,
        'name = "x"\n'
        '[bf16.dot]\nper_cycle = { 512 = 1 }\nsource = "s"\n'
        '[int8.dot]\nper_cycle = { 512 = 2 }\nsource = "s"\n'
        '[fp16.fma]\nper_cycle = { 512 = 2 }\nsource = "s"\n',
    )
    mine = load_theory("mine", extra=tmp_path)

    assert mine.per_cycle("bf16", "dot 512-bit").value == 64
    assert mine.per_cycle("bf16", "dot 512-bit").unit == "flop/cycle"
    assert mine.per_cycle("int8", "dot 512-bit").value == 256
    assert mine.per_cycle("int8", "dot 512-bit").unit == "op/cycle"
    assert mine.per_cycle("fp16", "fma 512-bit").value == 128


@pytest.mark.parametrize("cpu", MODELS)
@pytest.mark.parametrize("microarchitecture", SHIPPED)
def test_every_shipped_figure_is_sourced_and_plausible(microarchitecture, cpu):
    """Positive, of a known resource in its unit, with a source and a rule."""
    theory = load_theory(microarchitecture, cpu=cpu)

    assert theory.name
    assert theory.figures
    assert all(figure.value > 0 for figure in theory.figures.values())
    assert all(len(figure.source) > 5 and figure.rule for figure in theory.figures.values())
    assert all(
        figure.unit == f"{RESOURCES[resource].unit}/cycle"
        for (resource, _), figure in theory.figures.items()
        if resource in RESOURCES
    )


@pytest.mark.parametrize("cpu", MODELS)
@pytest.mark.parametrize("microarchitecture", SHIPPED)
def test_shipped_figures_are_in_order(microarchitecture, cpu):
    """Wider is no slower, a multiply-add no less than an addition, L2 no faster than L1."""
    figures = load_theory(microarchitecture, cpu=cpu).figures
    pairs = [
        ((resource, f"{operation} {narrow}"), (resource, f"{operation} {wide}"))
        for resource in ("fp64", "fp32", "fp16", "int64", "int32")
        for operation in ("add", "mul", "fma", "fma+add", "logic")
        for narrow, wide in pairwise(WIDTHS)
    ]
    pairs += [
        ((resource, f"{slow} {width}"), (resource, f"{fast} {width}"))
        for resource in ("fp64", "fp32", "fp16")
        for slow, fast in (("add", "fma"), ("mul", "fma"), ("fma", "fma+add"))
        for width in WIDTHS
    ]
    pairs += [(("l2", name), ("l1", name)) for name in ("load", "store", "copy", "triad")]

    assert [
        (low, high)
        for low, high in pairs
        if low in figures and high in figures and figures[low].value > figures[high].value
    ] == []


INSTRUCTIONS = {
    # What the assembly of the oracle is in a file: resource, name, and work of one instruction.
    "fmadd d": ("fp64", "fma scalar", 2),
    "fmul d": ("fp64", "mul scalar", 1),
    "fadd d": ("fp64", "add scalar", 1),
    "fmla .2d": ("fp64", "fma 128-bit", 4),
    "fmul .2d": ("fp64", "mul 128-bit", 2),
    "fadd .2d": ("fp64", "add 128-bit", 2),
    "fmla .4s": ("fp32", "fma 128-bit", 8),
    "fmla .8h": ("fp16", "fma 128-bit", 16),
    "fmul .8h": ("fp16", "mul 128-bit", 8),
    "fadd .8h": ("fp16", "add 128-bit", 8),
    "add x": ("int64", "add scalar", 1),
    "eor x": ("int64", "logic scalar", 1),
    "mul w": ("int32", "mul scalar", 1),
    "add .2d": ("int64", "add 128-bit", 2),
    "add .4s": ("int32", "add 128-bit", 4),
    "eor .16b": ("int64", "logic 128-bit", 2),
    "mul .4s": ("int32", "mul 128-bit", 4),
    "cmgt .4s": ("int32", "compare 128-bit", 4),
    "sdot .4s": ("int8", "dot 128-bit", 32),
    "bfdot .4s": ("bf16", "dot 128-bit", 16),
    "ldr q": ("l1", "load", 16),
    "str q": ("l1", "store", 16),
    "fmla z.d": ("fp64", "fma 256-bit", 8),
    "fadd z.d": ("fp64", "add 256-bit", 4),
    "add z.d": ("int64", "add 256-bit", 4),
    "eor z.d": ("int64", "logic 256-bit", 4),
    "ld1d z.d": ("l1", "load", 32),
}


def scheduled():
    """Return CPU, instruction and cycles of one from the next, as LLVM's models have them."""
    lines = (Path(__file__).parents[1] / "data" / "scheduling" / "aarch64.txt").read_text()
    rows = [line.split("\t") for line in lines.splitlines() if not line.startswith("#")]
    return [(cpu, instruction, float(cycles)) for cpu, instruction, cycles in rows]


@pytest.mark.parametrize(("cpu", "instruction", "cycles"), scheduled())
def test_figures_of_arm_agree_with_the_models_of_llvm(cpu, instruction, cycles):
    """Which quote Arm's guides, and Ampere's designers; captured from llvm-mca."""
    resource, name, work = INSTRUCTIONS[instruction]
    figure = load_theory(cpu).per_cycle(resource, name)

    if figure is not None:
        assert figure.value == pytest.approx(work / cycles, rel=0.03)  # llvm-mca prints 0.33


def test_a_figure_says_how_it_came_about():
    """Rule, ports and source are there to be shown."""
    figure = load_theory("haswell").per_cycle("fp64", "fma 256-bit")

    assert figure.rule == "2 instructions/cycle x 4 lanes x 2 flop"
    assert figure.unit == "flop/cycle"
    assert figure.ports == "p0, p1"
    assert "248966" in figure.source


def write(folder: Path, text: str, *, name: str = "mine") -> None:
    """Write a file of the user's."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text)


def test_a_user_adds_a_cpu(tmp_path, monkeypatch):
    """By the environment variable, or the folder given."""
    write(tmp_path, MINE)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))

    mine = load_theory("mine")

    assert mine == load_theory("mine", extra=tmp_path)
    assert mine.name == "My CPU"
    assert mine.per_cycle("fp64", "fma 128-bit").value == 4
    assert mine.per_cycle("fp32", "fma 128-bit").value == 8
    assert mine.per_cycle("l1", "load").source == "its manual, page 9"
    assert mine.per_cycle("l1", "store") is None


def test_the_example_of_the_documentation_is_a_file(tmp_path):
    """It is read as it stands, and gives what its comments say."""
    guide = Path(__file__).parents[2] / "docs" / "theory.md"
    write(tmp_path, guide.read_text().split("```toml\n")[1].split("```")[0])

    mine = load_theory("mine", extra=tmp_path)
    variant = load_theory("mine", cpu="The example 9000 CPU", extra=tmp_path)

    assert mine.per_cycle("fp64", "fma 256-bit").value == 8
    assert variant.per_cycle("fp64", "fma 256-bit").value == 16
    assert mine.per_cycle("fp32", "fma+add 128-bit").value == 20
    assert mine.per_cycle("int64", "mul scalar").value == 1
    assert mine.per_cycle("int32", "mul scalar") is None
    assert mine.per_cycle("l1", "triad").value == 32


def test_a_folder_that_does_not_exist_is_named(tmp_path, monkeypatch):
    """A misspelt variable does not pass for a CPU without theory; no variable is no error."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "misspelt"))

    with pytest.raises(InvalidDocument, match="misspelt.*no such folder.*" + FOLDER_VARIABLE):
        load_theory("haswell")

    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    assert load_theory("haswell") is not None


def test_a_user_replaces_a_shipped_file(tmp_path):
    """What the file does not say is not known any more."""
    write(tmp_path, MINE, name="haswell")

    haswell = load_theory("haswell", extra=tmp_path)

    assert haswell.per_cycle("fp64", "fma 128-bit").value == 4
    assert haswell.per_cycle("fp64", "fma 256-bit") is None


def test_a_user_changes_one_figure_of_a_shipped_file(tmp_path):
    """A file may be the same as the one that it hides, apart from what it says."""
    same = 'same_as = "haswell"\nsame_as_source = "I say so"\n'
    write(tmp_path, same + MINE, name="haswell")

    haswell = load_theory("haswell", extra=tmp_path)

    assert haswell.per_cycle("fp64", "fma 128-bit").value == 4
    assert haswell.per_cycle("fp64", "fma 256-bit").value == 16
    assert haswell.per_cycle("fp64", "fma 256-bit").source.startswith("as haswell, I say so: Intel")
    assert haswell.per_cycle("l1", "load").value == 16
    # What comes from L2 passes through L1 too.
    assert haswell.per_cycle("l2", "load").value == 16


def test_notes_belong_to_the_file_that_says_them():
    """Servers of a core have no efficiency cores; a variant's note comes along."""
    one_unit = load_theory("cascadelake", cpu="Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz")

    assert "efficiency" in load_theory("alderlake").note
    assert load_theory("sapphirerapids").note is None
    assert "at most" in load_theory("cascadelake").note
    assert "one 512-bit multiply-add unit" in one_unit.note


def test_files_that_refer_to_each_other_are_refused(tmp_path):
    """A circle ends in an error, not in a recursion."""
    for one, other in (("mine", "yours"), ("yours", "mine")):
        write(tmp_path, f'name = "x"\nsame_as = "{other}"\nsame_as_source = "s"\n', name=one)

    with pytest.raises(InvalidDocument, match="`same_as` names 'mine'"):
        load_theory("mine", extra=tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name"),
        ("name = 1", "name"),
        ('name = ""', "name"),
        ("name = 1 1", "line 1"),
        ('name = "x"\nspeed = 3', "speed"),
        ('name = "x"\n[fp64]\ndiv = 3', "div"),
        ('name = "x"\n[fp65.fma]\nper_cycle = { 128 = 1 }\nsource = "s"', "fp65"),
        ('name = "x"\n[fp64.fma]\nper_cycle = { 128 = 1 }', "source"),
        ('name = "x"\n[fp64.fma]\nper_cycle = { 128 = 1 }\nsource = ""', "source"),
        ('name = "x"\n[fp64.fma]\nper_cycle = {}\nsource = "s"', "per_cycle"),
        ('name = "x"\n[fp64.fma]\nper_cycle = 2\nsource = "s"', "per_cycle"),
        ('name = "x"\n[fp64.fma]\nper_cycle = { 1024 = 1 }\nsource = "s"', "per_cycle"),
        *(
            (f'name = "x"\n[fp64.fma]\nper_cycle = {{ 128 = {bad} }}\nsource = "s"', "per_cycle")
            for bad in ("0", "-1", "nan", "inf", "true", '"2"', "1e300", "[2]")
        ),
        ('name = "x"\n[l1]\nload_bytes = 64\ntotal_bytes = 96\nsource = "s"', "store_bytes"),
        (
            'name = "x"\n[l1]\nload_bytes = 64\nstore_bytes = 32\ntotal_bytes = 97\nsource = "s"',
            "total_bytes",
        ),
        (
            'name = "x"\n[l1]\nload_bytes = 64\nstore_bytes = 32\ntotal_bytes = 63\nsource = "s"',
            "total_bytes",
        ),
        (
            'name = "x"\n[float."fma+add"]\nfma = { 128 = 1 }\nadd = { 256 = 1 }\nsource = "s"',
            "same widths",
        ),
        ('name = "x"\nsame_as = "haswell"', "same_as_source"),
        ('name = "x"\nsame_as = "nothing"\nsame_as_source = "s"', "nothing"),
        ('name = "x"\n[[variant]]\nnote = "n"', "cpus"),
        ('name = "x"\n[[variant]]\ncpus = []', "cpus"),
    ],
)
def test_a_bad_file_is_named_with_the_key(tmp_path, text, said):
    """One clear error: which file, which key, what to do."""
    write(tmp_path, text)

    with pytest.raises(InvalidDocument) as caught:
        load_theory("mine", extra=tmp_path)

    assert str(tmp_path / "mine.toml") in caught.value.what
    assert said in f"{caught.value.what}: {caught.value.reason}"
    assert "docs/theory.md" in caught.value.remedy


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    """A folder in the file's place, and bytes that are no text."""
    (tmp_path / "mine.toml").mkdir()
    (tmp_path / "yours.toml").write_bytes(b"name = '\xff'")

    with pytest.raises(InvalidDocument, match="is a directory"):
        load_theory("mine", extra=tmp_path)
    with pytest.raises(InvalidDocument, match="utf-8"):
        load_theory("yours", extra=tmp_path)


@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_a_theory_or_one_error(tmp_path_factory, data):
    """Nothing but the errors of this package comes out."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "mine.toml").write_bytes(data)

    with pytest.raises(RidgepointError):
        load_theory("mine", extra=folder)
