"""`ridgepoint bops`, `cc` and `c++`, through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ridgepoint.core.errors import MeterUnavailable
from ridgepoint.meters.source import clang, find_clang

try:
    find_clang()
    LACK = None
except MeterUnavailable as error:
    LACK = str(error)
needs_clang = pytest.mark.skipif(LACK is not None, reason=LACK or "")

PROGRAMS = Path(__file__).parents[1] / "programs" / "bops"
RIDGEPOINT = f"{sys.executable} -m ridgepoint"


@needs_clang
def test_the_report_is_one_json_object(cli):
    """The paper's loop: 300 by its own rule, and the comparison that ends it."""
    status, out, _ = cli("bops", "--json", "--repeat", 1, PROGRAMS / "paper.c")
    found = json.loads(out)

    assert status == 0
    assert found["bops"] == 301
    assert found["classes"] == {
        "arithmetic": 100,
        "fp_arithmetic": 0,
        "logic": 0,
        "compare": 101,
        "fp_compare": 0,
        "addressing": 100,
    }
    assert [(one["name"], one["bops"]) for one in found["functions"]] == [("main", 301)]
    assert [(one["line"], one["bops"]) for one in found["lines"]] == [(6, 201), (7, 100)]
    assert (found["complete"], found["exit_status"], found["runtime_s"]["n"]) == (True, 0, 1)


@needs_clang
def test_the_table_says_total_classes_functions_and_lines(cli):
    """All on standard error, since standard output is the program's."""
    status, out, err = cli("bops", "--counts-only", PROGRAMS / "matrix.c", "--", "0")

    assert (status, out) == (0, "0\n")
    # The first two loops, `times--` once and its test:
    # 201 + 200 + 200 (201 + 200 + 200 (1 + 1 + 2 + 2)) and 1 + 1; argc > 1, argv[1].
    assert "320,605 BOPs in matrix 0" in " ".join(err.split())
    assert "comparisons of integers" in err
    assert "matrix.c:12" in err


@needs_clang
def test_a_program_killed_half_way_is_incomplete(cli):
    """What was counted until then is shown, and its status passed on."""
    status, out, _ = cli("bops", "--json", PROGRAMS / "ends.c", "--cflags", "-w", "--", "kill")
    found = json.loads(out)

    assert status == found["exit_status"] == 137
    assert (found["complete"], found["bops"], found["runtime_s"]) == (False, 302, None)
    assert found["cautions"][0]["code"] == "incomplete"


@needs_clang
def test_make_builds_with_ridgepoint_as_compiler(tmp_path, cli):
    """Dependencies, libraries, and a program that is counted afterwards."""
    (tmp_path / "part.h").write_text("int part(int);\n")
    (tmp_path / "part.c").write_text('#include "part.h"\nint part(int n) { return n + 1; }\n')
    (tmp_path / "main.cpp").write_text(
        'extern "C" {\n#include "part.h"\n}\nint main() { return part(1) - 2; }\n'
    )
    (tmp_path / "Makefile").write_text(
        "prog: main.o libpart.a\n\t$(CXX) $(CFLAGS) main.o -L. -lpart -o $@\n"
        "libpart.a: part.o\n\tar rc $@ $^\n"
        "%.o: %.c\n\t$(CC) $(CFLAGS) -MMD -c $<\n"
        "%.o: %.cpp\n\t$(CXX) $(CFLAGS) -MMD -MP -c $< -o $@\n"
    )
    compilers = [f"CC={RIDGEPOINT} cc", f"CXX={RIDGEPOINT} c++", "CFLAGS=-O2 -g -Wall"]
    subprocess.run(["make", "-s", *compilers], cwd=tmp_path, check=True)

    status, out, _ = cli("bops", "--run", "--json", "--", tmp_path / "prog")
    found = json.loads(out)

    assert status == 0
    assert sorted((one["name"], one["bops"]) for one in found["functions"]) == [
        ("main", 1),
        ("part", 1),
    ]
    assert (tmp_path / "part.d").read_text().startswith("part.o: part.c part.h")
    assert (tmp_path / "main.d").read_text().startswith("main.o: main.cpp part.h")


@needs_clang
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], "clang version"),
        (["-E", "-x", "c", "-DN=7", "one.c"], "int n = 7;"),
        (["-M", "one.c"], "one.o: one.c"),
        (["-print-search-dirs"], "libraries:"),
    ],
)
def test_questions_to_the_compiler_are_passed_on(cli, tmp_path, monkeypatch, arguments, expected):
    """Nothing is compiled then."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.c").write_text("#ifndef N\n#define N 1\n#endif\nint n = N;\n")

    status, out, _ = cli("cc", *arguments)

    assert status == 0
    assert expected in out


@needs_clang
def test_options_that_a_build_system_gives_work(cli, tmp_path, monkeypatch):
    """A file of arguments, -x, -S, several files at once, a program of assembly's making."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text("int one(void) { return 1; }\n")
    (tmp_path / "main.c").write_text("int one(void); int main(void) { return one() - 1; }\n")
    (tmp_path / "arguments").write_text("-O1 -x c one.txt -x none main.c -o prog\n")

    assert cli("cc", "@arguments")[0] == 0
    assert cli("bops", "--run", "--", "./prog")[0] == 0
    assert cli("cc", "-S", "main.c")[0] == 0
    assert cli("cc", "-c", "-x", "c", "one.txt", "-o", "one.o")[0] == 0
    assert cli("cc", "main.s", "one.o", "-o", "again")[0] == 0
    assert json.loads(cli("bops", "--json", "--run", "--", "./again")[1])["bops"] == 1


@needs_clang
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int main(void) { return x; }", "undeclared identifier 'x'"),
        ("int f(void) { return 1; }", "undefined reference to `main'"),
        ('#include "nowhere.h"', "'nowhere.h' file not found"),
    ],
)
def test_what_does_not_compile_is_refused_in_the_compilers_words(cli, tmp_path, text, said):
    """And in one line of ours."""
    (tmp_path / "bad.c").write_text(text)

    status, out, err = cli("bops", tmp_path / "bad.c")

    assert (status, out) == (2, "")
    assert said in err
    assert err.splitlines()[-1].startswith("ridgepoint: cannot compile")
    assert "Traceback" not in err


@needs_clang
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no source is given"),
        (["nowhere.c"], "'nowhere.c': no such file"),
        (["."], "is a directory"),
        (["README.md"], "README.md"),
        (["--frobnicate", "x.c"], "No such option"),
        (["--run"], "--run takes a program after --"),
        (["--run", "x.c", "--", "./x"], "and no files"),
        (["--run", "--", "/nowhere/x"], "no such file"),
        (["--run", "--", "/bin/true"], "ridgepoint cc"),
        (["x.c", "--cflags", "'"], "no closing quotation"),
    ],
)
def test_wrong_use_is_refused_in_one_line(cli, tmp_path, monkeypatch, arguments, said):
    """With status 2, before anything is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("no program")

    status, out, err = cli("bops", *arguments)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_source_that_may_not_be_read_is_refused(cli, tmp_path):
    """As a file that is not there."""
    (tmp_path / "secret.c").touch(mode=0)

    status, _, err = cli("bops", tmp_path / "secret.c")

    assert status == 2
    assert "permission denied" in err


def test_without_clang_what_to_install_is_said(cli, tmp_path, monkeypatch):
    """One line, for each of the three commands."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(clang.COMPILER_VARIABLE, raising=False)
    find_clang.cache_clear()
    try:
        said = [cli("bops", PROGRAMS / "paper.c"), cli("cc", "-c", "x.c"), cli("c++", "x.cpp")]
    finally:
        find_clang.cache_clear()

    assert [status for status, _, _ in said] == [2, 2, 2]
    assert all("apt-get install clang" in err for _, _, err in said)


@needs_clang
@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["a.rs", "b.rs"], "the crate's root"),
        (["a.rs", "a.c"], "sources in C or C++ and Rust"),
        (["a.f90"], "flang's IR"),
    ],
)
def test_other_languages_are_refused_where_they_cannot_be_counted(
    cli, tmp_path, monkeypatch, files, said
):
    """One line with what to do, before a compiler is called."""
    monkeypatch.chdir(tmp_path)
    for file in files:
        (tmp_path / file).write_text("")

    status, out, err = cli("bops", *files)

    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@needs_clang
def test_without_a_rustc_that_is_read_what_to_install_is_said(cli, tmp_path, monkeypatch):
    """None at all, and one of another version."""
    (tmp_path / "a.rs").write_text("fn main() {}\n")
    find_clang()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("RIDGEPOINT_RUSTC", raising=False)

    none = cli("bops", tmp_path / "a.rs")
    other = tmp_path / "rustc"
    other.write_text("#!/bin/sh\necho 'release: 1.99.0'\necho 'LLVM version: 23.1.0'\n")
    other.chmod(0o755)
    unread = cli("bops", tmp_path / "a.rs")

    assert none[0] == unread[0] == 2
    assert "no rustc in PATH" in none[2]
    assert "is version 1.99.0" in unread[2]
    assert "apt-get install rustc" in none[2]
    assert "apt-get install rustc" in unread[2]
