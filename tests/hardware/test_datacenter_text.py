"""WordCount and Grep count in a text, of any bytes, what Python counts in it."""

import random
import re
from collections import Counter

import pytest
from datacenter_runs import refusal, run

from ridgepoint.suites.datacenter import generate

EDGES = {
    "empty": b"",
    "newline": b"\n",
    "no final newline": b"one two\ntwo",
    "blanks": b"  \t\n\n  ",
    "case and digits": b"One ONE one's 2nd 2ND 007 zebra\n",
    "all bytes": bytes(range(256)) * 3,
    "zeros": b"a\0b\0\0abc\n" * 5,
    "one word": b"x" * 200_000,
    "one line": b"ab " * 100_000,
}


def mixed(seed, count, alphabet=b"aAbz09 .\n"):
    """Return random bytes of an alphabet."""
    return bytes(random.Random(seed).choices(alphabet, k=count))


TEXTS = [*EDGES.values(), mixed(1, 3000), mixed(2, 150_000)]
NAMES = [*EDGES, "random", "longer"]


def counted(text):
    """Count words by an expression: runs of letters and digits, in lower case."""
    return Counter(re.findall(rb"[a-z0-9]+", text.lower()))


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize("threads", [1, 3, 30])
def test_words_are_those_of_a_counter(tmp_path, text, form, threads):
    """All words, different ones, and how often the most frequent comes."""
    words = counted(text)

    done = run("wordcount", tmp_path, text, "--form", form, "--threads", threads)
    assert done.report["words"] == words.total()
    assert done.report["distinct"] == len(words)
    assert done.report["most"] == max(words.values(), default=0)
    assert dict(line.split() for line in done.results.splitlines()) == {
        word.decode(): str(count) for word, count in words.items()
    }


def test_words_of_generated_text_are_those_of_a_counter(tmp_path):
    """A megabyte of it, which has chunks and a file of its own."""
    text = generate("text", tmp_path / "text", size=1_000_000).read_bytes()

    done = run("wordcount", tmp_path, text, variant="baseline")
    assert done.report["words"] == counted(text).total()


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
@pytest.mark.parametrize(
    ("form", "threads", "chunk"),
    [("original", 1, 65536), ("prefetch", 3, 65536), ("original", 4, 7), ("prefetch", 1, 1)],
)
@pytest.mark.parametrize("pattern", ["a", "ab", "xxxx"])
def test_occurrences_are_those_of_a_lookahead(tmp_path, text, form, threads, chunk, pattern):
    """Overlapping ones too, wherever chunks and parts of threads have their edges."""
    if chunk == 1:
        text = text[:5000]
    expected = len(re.findall(b"(?=" + pattern.encode() + b")", text))

    done = run("grep", tmp_path, text, "--form", form, "--threads", threads,
               "--chunk", chunk, "--pattern", pattern)  # fmt: skip
    assert done.report["matches"] == expected


@pytest.mark.parametrize("name", ["empty", "newline", "zeros", "all bytes", "random"])
@pytest.mark.parametrize(("threads", "chunk"), [(1, 65536), (7, 1)])
@pytest.mark.parametrize(
    "pattern", ["b", "^a", "z$", "^$", "^", "a.b", "a*b", "ba?0", "b+z$", "0.*0", r"\.a", r"a\*"]
)
def test_lines_are_those_that_re_matches(tmp_path, name, threads, chunk, pattern):
    """Each line once, by the thread in whose part it begins."""
    text = TEXTS[NAMES.index(name)]
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    expression = re.compile(pattern.encode().replace(b"$", rb"\Z"), re.DOTALL)
    expected = sum(expression.search(line) is not None for line in lines)

    done = run("grep", tmp_path, text, "--form", "lines", "--threads", threads,
               "--chunk", chunk, "--pattern", pattern)  # fmt: skip
    assert done.report["matches"] == expected


@pytest.mark.parametrize("pattern", ["", "*a", "^*", "a**", "a\\"])
def test_an_expression_that_makes_no_sense_is_refused(pattern):
    """Nothing to search for, or nothing to repeat."""
    refusal("grep", "--form", "lines", "--pattern", pattern)


@pytest.mark.parametrize("name", ["grep", "wordcount"])
@pytest.mark.parametrize(
    "options", [["--input", "/no/such/file"], ["--input", "/"], ["--size", "0"], ["--size", "900T"]]
)
def test_bad_input_is_one_line_and_status_2(name, options):
    """Files that are none, and sizes that no memory holds."""
    refusal(name, *options)
