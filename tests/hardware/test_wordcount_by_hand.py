"""WordCount's BOPs against counts by hand, of its own loop and of a hash table's."""

import re
import shutil

import pytest

from ridgepoint.host.run import run
from ridgepoint.host.standard_input import no_standard_input
from ridgepoint.meters.source import built, count
from ridgepoint.suites.datacenter import generate, measuring

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang")

HASH_TABLE = """
#include <cstdio>
#include <cstring>
static char text[1 << 21], words[1 << 20][8];
static long counts[1 << 20];
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "rb");
    long n = (long)fread(text, 1, sizeof text, file), begin = 0;
    unsigned long hash = 0;
    for (int again = argv[2][0] - '0'; again > 0; again--)
        for (long i = 0; i < n; i++) {
            char c = text[i];
            if (c >= 'a' && c <= 'z') {
                hash = hash * 31 + c;
                continue;
            }
            if (hash) {
                char *word = words[hash % (1 << 20)];
                const char *own = text + begin;
                long length = i - begin;
                for (long k = 0; k < length; k++)
                    if (word[k] != own[k]) word[k] = own[k];
                counts[hash % (1 << 20)]++;
            }
            hash = 0;
            begin = i + 1;
        }
    return counts[1] == 12345;
}
"""


@pytest.fixture(scope="module")
def case():
    """Return WordCount as optimised by the compiler."""
    return next(case for case in measuring.cases(["wordcount"]) if case.step == "ILP")


@pytest.mark.parametrize(("byte", "bops"), [("a", 15), (".", 9)])
def test_each_byte_of_the_inner_loop(tmp_path, case, byte, bops):
    """A letter, and another character: what a thousand more of them add."""
    totals = []
    with measuring.counting_program(case) as counting:
        for times in (3000, 4000):
            data = tmp_path / "data"
            data.write_text(byte * times)
            (own,) = [one for one in measuring.cases(["wordcount"], data=data)
                      if one.step == case.step]  # fmt: skip
            totals.append(measuring.operations_of(own, counting).total)

    # A word that grows is copied now and then.
    assert (totals[1] - totals[0]) / 1000 == pytest.approx(bops, abs=0.1)


def test_all_of_the_text_is_letters_others_and_a_map(tmp_path, case):
    """0.79 x 15 + 0.21 x 9, and for each word 17 levels of about 19: 81 for each byte."""
    data = generate("text", tmp_path / "data", size=1_000_000)
    text = data.read_text().lower()
    words = re.findall("[a-z]+", text)
    letters = sum(map(len, words))
    (own,) = [one for one in measuring.cases(["wordcount"], data=data) if one.step == case.step]
    with measuring.counting_program(case) as counting:
        total = measuring.operations_of(own, counting).total
    of_a_word = (total - 15 * letters - 9 * (len(text) - letters)) / len(words)

    assert total / len(text) == pytest.approx(81, rel=0.02)
    assert of_a_word == pytest.approx(17 * 19, rel=0.05)


def test_a_hash_table_does_what_the_paper_has(tmp_path):
    """A letter is 6, hashed 2, compared 5; another character 6, and a word 8 more."""
    data = generate("text", tmp_path / "data", size=1_000_000)
    lowered = data.read_text().lower()
    data.write_text(lowered)
    words = re.findall("[a-z]+", lowered)
    letters = sum(map(len, words))
    expected = 13 * letters + 6 * (len(lowered) - letters) + 8 * len(words)
    source = tmp_path / "hashed.cpp"
    source.write_text(HASH_TABLE)
    with built([str(source)], ["-O2"], say=lambda what: None, with_plain=False) as (program, _):
        once, twice = (
            count(
                [str(program), str(data), times],
                launch=lambda words, environment: run(
                    words, stdin=no_standard_input(), output="discard", environment=environment
                ),
            ).operations.total
            for times in ("1", "2")
        )

    assert (twice - once) == pytest.approx(expected, rel=0.02)
    assert (twice - once) / len(lowered) == pytest.approx(11.9, rel=0.15)
