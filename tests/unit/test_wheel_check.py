"""The check of built wheels, against wheels with one thing wrong each."""

import shutil
import subprocess
import sys
from pathlib import Path

import check
import pytest
from built_wheels import FILES, METADATA, TABLE, bill, freestanding, library_for_glibc, make_wheel
from elf_facts import elf_facts
from wheel_file import Wheel

GLIBC_2_17 = "manylinux_2_17_x86_64"
MUSL = "musllinux_1_1_x86_64"
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture
def seen(tmp_path):
    """Give a function that makes a wheel and returns what the check says of it."""
    table = tmp_path / "bundled.toml"
    table.write_text(TABLE)

    def make(folders=(), **settings):
        wheel = Wheel(make_wheel(tmp_path, **settings))
        return list(check.problems(wheel, folders=folders, table=table))

    return make


def test_nothing_is_wrong_with_a_good_wheel(seen):
    """Else what follows proves little."""
    assert seen() == []


def test_a_file_of_an_unknown_author_is_a_problem(seen):
    """As a data file that somebody copied from somewhere."""
    assert seen(files={"tool/table.csv": b"1,2\n"}) == [
        "tool/table.csv: whose it is stands nowhere; describe it in bundled.toml"
    ]


def test_a_bundled_file_without_its_licence_file_is_a_problem(seen):
    """Missing, empty, or there and not listed."""
    text = "tool-1.0.dist-info/licenses/charts.txt"
    unlisted = METADATA.replace("License-File: charts.txt\n", "").encode()

    assert "charts: its licence file charts.txt is missing" in seen(without=[text])
    assert "charts: its licence file charts.txt is empty" in seen(files={text: b"\n"})
    assert seen(files={"tool-1.0.dist-info/METADATA": unlisted}) == [
        "licence file charts.txt: it is not listed"
    ]


def test_the_licence_expression_names_the_licence_of_every_part(seen):
    """By SPDX, and as a valid expression."""
    said = "tool-1.0.dist-info/METADATA"
    less = METADATA.replace("MIT AND ISC AND", "MIT AND").encode()
    wrong = METADATA.replace("MIT AND ISC", "BSD, I think").encode()

    assert seen(files={said: less}) == ["charts: License-Expression does not have its licence, ISC"]
    assert any("License-Expression 'BSD, I think" in each for each in seen(files={said: wrong}))


def test_a_source_that_states_another_licence_is_a_problem(seen):
    """Ours state theirs; what came with another was copied."""
    source = b"/* SPDX-License-Identifier: BSD-3-Clause */\nint x;\n"

    assert seen(files={"tool/sort.c": source}) == [
        "tool/sort.c: it states BSD-3-Clause, and bundled.toml MIT"
    ]


def test_a_part_that_is_described_and_not_there_is_a_problem(seen):
    """What the table says of wheels that no one builds any more would be believed."""
    assert seen(without=["tool/charts.js"]) == [
        "charts: bundled.toml describes it, and the wheel does not have it"
    ]


def test_the_bill_of_materials_is_there_and_complete(seen):
    """Nothing missing, nothing invented, and the bill of this very version."""
    file = "tool-1.0.dist-info/sboms/tool.cdx.json"
    chart, other = ("pkg:npm/chart@1.2.3", "1.2.3"), ("pkg:npm/other@2", "2")

    assert seen(without=[file]) == ["it has no bill of materials in .dist-info/sboms"]
    assert seen(files={file: bill()}) == [f"{file}: it does not list: pkg:npm/chart@1.2.3"]
    assert seen(files={file: bill(chart, other)}) == [
        f"{file}: it lists what is not in the wheel: pkg:npm/other@2"
    ]
    assert seen(files={file: bill(chart, version="0.9")}) == [f"{file}: it is one of tool 0.9"]
    assert "no bill of materials of CycloneDX" in seen(files={file: b"[]"})[0]


def test_record_lists_every_file_as_it_is(seen):
    """Changed, added or removed after it was written."""
    more = {"tool/more.py": b"more = 1\n"}

    assert seen(changed_after_record={"tool/__init__.py": b"evil()\n"}) == [
        "tool/__init__.py: RECORD has another checksum or size"
    ]
    assert seen(changed_after_record=more) == ["tool/more.py: RECORD does not have it"]
    assert seen(without=["tool-1.0.dist-info/RECORD"]) == ["tool-1.0.dist-info/RECORD is missing"]


def test_names_tags_and_versions_agree(seen):
    """Those of the file's name, of WHEEL and of METADATA."""
    other = METADATA.replace("Version: 1.0\n", "Version: 1.1\n").encode()

    assert seen(tags=["cp313-none-any"]) == ["the tags in its WHEEL file are not those of its name"]
    assert seen(files={"tool-1.0.dist-info/METADATA": other}) == [
        "METADATA has version 1.1, and its name 1.0"
    ]


def test_permissions_are_those_of_no_umask(seen):
    """Readable by all, writable by the owner; what is no program cannot be executed."""
    file = "tool/__init__.py"

    assert seen(modes={file: 0o640}) == [
        f"{file}: its permissions are 640, as some umask made them"
    ]
    assert seen(modes={file: 0o755}) == [f"{file}: it can be executed, and is no program"]


def test_what_nobody_needs_is_a_problem(seen):
    """Byte code holds times and paths."""
    found = seen(files={"tool/__pycache__/a.cpython-313.py": b"x"})

    assert found == ["tool/__pycache__/a.cpython-313.py: nobody needs it"]


@needs_gcc
def test_symbols_of_a_later_glibc_than_the_tag_promises(seen, tmp_path):
    """The loader of an older system would refuse the library."""
    data = library_for_glibc(tmp_path, "2.38")
    files = {"tool/bin/uses.so": data, "tool/engine/uses.so": data}

    assert elf_facts(data).glibc == (2, 38)
    late = ["it needs glibc 2.38, and the tag promises 2.17"] * 2
    assert [each.partition(": ")[2] for each in seen(platform=GLIBC_2_17, files=files)] == late
    assert seen(platform="manylinux_2_38_x86_64", files=files) == []
    assert seen(platform="manylinux_2_100_x86_64", files=files) == []


@needs_gcc
def test_a_library_of_glibc_does_not_suit_musl(seen, tmp_path):
    """A program without any library suits both."""
    files = {"tool/engine/uses.so": library_for_glibc(tmp_path, "2.5")}
    alone = {"tool/engine/alone": freestanding(tmp_path)}
    modes = {"tool/engine/alone": 0o755}

    assert seen(platform=f"{GLIBC_2_17}.{MUSL}", files=files) == [
        f"tool/engine/uses.so: it needs libc.so.6, which systems with musl ({MUSL}) do not have"
    ]
    assert seen(platform=f"{GLIBC_2_17}.{MUSL}", files=alone, modes=modes) == []


@needs_gcc
def test_a_compiled_file_needs_a_tag_and_a_tag_a_compiled_file(seen, tmp_path):
    """For any platform, for the wrong machine, for Linux in general, for nothing."""
    alone = {"tool/engine/alone": freestanding(tmp_path)}
    modes = {"tool/engine/alone": 0o755}

    assert "and holds 1 compiled files" in seen(files=alone, modes=modes)[0]
    assert "tool/engine/alone: it is for x86_64, and the tag for aarch64" in seen(
        platform="manylinux_2_17_aarch64", files=alone, modes=modes
    )
    assert seen(platform="linux_x86_64", files=alone, modes=modes) == [
        "linux_x86_64: no index takes this tag; build for a version of glibc or for musl"
    ]
    assert "it is for one platform, and holds no compiled file" in seen(platform=GLIBC_2_17)


@needs_gcc
def test_a_program_can_be_executed_and_its_stack_cannot(seen, tmp_path):
    """As it is in the archive: installers copy the permission."""
    file = "tool/engine/alone"
    alone = {file: freestanding(tmp_path)}
    loose = {file: freestanding(tmp_path, "-Wl,-z,execstack")}

    assert seen(platform=GLIBC_2_17, files=alone) == [
        f"{file}: it is a program, and cannot be executed"
    ]
    assert seen(platform=GLIBC_2_17, files=loose, modes={file: 0o755}) == [
        f"{file}: its stack can be executed, which hardened systems refuse"
    ]


@needs_gcc
def test_folders_of_the_build_are_named_nowhere(seen, tmp_path):
    """Neither where libraries are searched, nor in what a compiler kept, nor in a text."""
    searches = library_for_glibc(tmp_path, "2.5", "-Wl,-rpath,/opt/us/lib")
    keeps = freestanding(tmp_path) + b"\0/home/me/src/engine.c\0/tmp/pipe-%d\0/usr/lib\0"
    found = seen(platform=GLIBC_2_17, files={"tool/engine/a.so": searches})
    kept = seen(platform=GLIBC_2_17, files={"tool/engine/b": keeps}, modes={"tool/engine/b": 0o755})

    assert found == ["tool/engine/a.so: it searches for libraries in /opt/us/lib"]
    assert kept == ["tool/engine/b: it names /home/me/src/engine.c, where it was built"]
    assert seen(folders=["/srv/us"], files={"tool/a.py": b"HERE = '/srv/us/tool'\n"}) == [
        "tool/a.py: it names /srv/us, where it was built"
    ]


def test_a_damaged_program_is_a_problem_and_no_traceback(seen):
    """Cut off while it was copied."""
    found = seen(
        platform=GLIBC_2_17, files={"tool/engine/half": b"\x7fELF\x02\x01\x01" + bytes(20)}
    )

    assert any(each.startswith("tool/engine/half: it is no whole ELF file") for each in found)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('is consistent with the\nfollowing platform tag: "manylinux_2_5_x86_64".', None),
        ('is consistent with the\nfollowing platform tag: "manylinux_2_17_x86_64".', None),
        (
            'is consistent with the\nfollowing platform tag: "manylinux_2_34_x86_64".',
            "auditwheel says manylinux_2_34_x86_64, and its tag is manylinux_2_17_x86_64",
        ),
        (
            'is consistent with the\nfollowing platform tag: "linux_x86_64".',
            "auditwheel says linux_x86_64, and its tag is manylinux_2_17_x86_64",
        ),
    ],
)
def test_auditwheel_agrees_with_the_tag(tmp_path, said, problem):
    """An older glibc than the tag's is better than promised."""
    wheel = Wheel(make_wheel(tmp_path, platform=GLIBC_2_17))

    assert list(check.auditwheel_problems(wheel, said)) == ([] if problem is None else [problem])


@pytest.mark.parametrize("version", ["1.0.dev3+g715b37e4", "1.0.dev3", "1.0+d20261124"])
def test_a_release_is_built_from_a_tag(tmp_path, version):
    """And from a checkout without changes."""
    release = Wheel(make_wheel(tmp_path))
    other = Wheel(make_wheel(tmp_path, name=f"tool-{version}-py3-none"))

    assert list(check.release_problems(release)) == []
    assert "is no release" in next(check.release_problems(other))


def test_wheels_that_belong_together_have_one_version(tmp_path):
    """Else an index could give the tool another engine than it was tested with."""
    said = "tool-1.0.dist-info/METADATA"
    pinned = f"{METADATA}Requires-Dist: tool-engine==1.0; extra == 'engine'\n"
    engine = Wheel(make_wheel(tmp_path, name="tool_engine-1.0-py3-none"))

    for asked, found in (
        (pinned, []),
        (pinned.replace("==1.0", ""), ["tool asks for tool-engine any version, and it is 1.0"]),
        (pinned.replace("==1.0", "==0.9"), ["tool asks for tool-engine ==0.9, and it is 1.0"]),
    ):
        tool = Wheel(make_wheel(tmp_path, files={said: asked.encode()}))

        assert list(check.pair_problems([tool, engine])) == found


def test_an_unknown_package_and_a_file_that_is_no_package(tmp_path):
    """One line each, and a status that fails the build."""
    script = Path(check.__file__)
    unknown = make_wheel(tmp_path, files=FILES)
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"PK")
    for path, said, status in (
        (unknown, "bundled.toml does not say what 'tool' holds", 1),
        (tmp_path / "broken-1.0-py3-none-any.whl", "is no package", 2),
    ):
        done = subprocess.run([sys.executable, script, path], capture_output=True, text=True)

        assert done.returncode == status
        assert said in done.stderr
        assert "Traceback" not in done.stderr
