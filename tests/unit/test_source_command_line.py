"""Command lines of compilers, taken apart."""

from ridgepoint.meters.source.command_line import parse


def test_inputs_output_and_flags_are_told_apart():
    """Values of options are no inputs."""
    line = parse(["-O2", "-I", "include", "-c", "a.c", "-o", "b.o", "-DX=1", "-MF", "d.d"])

    assert [(one.path, one.language) for one in line.inputs] == [("a.c", "c")]
    assert line.output == "b.o"
    assert line.flags == ("-O2", "-I", "include", "-DX=1", "-MF", "d.d")
    assert (line.compiles, line.links, line.level) == (True, False, "-O2")


def test_a_language_holds_until_it_is_taken_back():
    """-x is for what follows it."""
    line = parse(["a.cpp", "-x", "c", "b.txt", "-", "-xnone", "c.s", "d.o", "-lm"])

    assert [one.language for one in line.inputs] == ["c++", "c", "c", "assembler", None]
    assert line.links
    assert line.for_linking == ("a.cpp", "b.txt", "-", "c.s", "d.o", "-lm")


def test_questions_neither_compile_nor_link():
    """They go to the compiler as they are."""
    for question in (["-E", "a.c"], ["-M", "a.c"], ["--version"], ["-print-file-name=x", "a.c"]):
        line = parse(question)

        assert (line.compiles, line.links) == (False, False)


def test_files_of_arguments_are_read(tmp_path):
    """As a shell would split them."""
    (tmp_path / "more").write_text("-O3 'a b.c'\n")

    line = parse([f"@{tmp_path}/more", "-c"])

    assert (line.level, line.inputs[0].path) == ("-O3", "a b.c")


def test_link_time_optimisation_is_left_out():
    """A file of bitcode cannot be linked with what is counted."""
    assert parse(["-flto=thin", "-O2", "a.c"]).flags == ("-O2",)
