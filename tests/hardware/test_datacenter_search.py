"""RankServ and breadth-first search find what brute force in Python finds."""

import math
import random
import re
from collections import Counter, defaultdict

import pytest
from datacenter_runs import refusal, run

from ridgepoint.suites.datacenter import generate


def words_of(text):
    """Return the words of a text, in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def bm25(documents, query, top):
    """Return the best documents and their scores by the formula, for each document in turn."""
    bags = [Counter(words_of(document)) for document in documents]
    mean = sum(bag.total() for bag in bags) / len(bags)
    scored = []
    for number, bag in enumerate(bags):
        score = 0.0
        for word in words_of(query):
            holding = sum(word in other for other in bags)
            weight = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
            tf, length = bag[word], bag.total()
            score += weight * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean)) if tf else 0
        if score > 0:
            scored.append((number, score))
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:top]


def compare_answers(done, documents, queries, top):
    """Compare a run with `bm25`; documents whose scores round alike may change places."""
    lines = done.results.split("\n")[:-1]

    assert len(lines) == len(queries)
    for line, query in zip(lines, queries, strict=True):
        hits = [hit.split(":") for hit in line.split()]
        everything = dict(bm25(documents, query, len(documents)))
        best = bm25(documents, query, top)
        assert [float(score) for _, score in hits] == pytest.approx([score for _, score in best])
        assert [everything[int(number)] for number, _ in hits] == pytest.approx(
            [score for _, score in best]
        )


@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 4])
def test_answers_are_those_of_brute_force(tmp_path, form, variant, threads):
    """The best three of 80 documents, for words that are frequent, rare, repeated or unknown."""
    text = generate("documents", tmp_path / "documents", size=80, seed=5).read_text()
    documents = text.splitlines()
    draw = random.Random(5)
    known = words_of(text)
    queries = [" ".join(draw.choices(known, k=draw.randint(1, 4))) for _ in range(30)]
    queries += ["ba ba", "qqq", "", "BA, qqq!"]
    (tmp_path / "queries").write_text("\n".join(queries) + "\n")

    done = run("rankserv", tmp_path, text, "--queries", tmp_path / "queries", "--top", "3",
               "--form", form, "--threads", threads, variant=variant)  # fmt: skip
    compare_answers(done, documents, queries, 3)


@pytest.mark.parametrize(
    "text",
    [
        "one two\ntwo three\n",
        "one two\n\n\ntwo",
        "two " * 50_000,
        "\0two\0\n\x01\x02\n",
        "..\n!!\n",
    ],
    ids=["two", "empty lines", "one line", "bytes", "no words"],
)
def test_odd_documents_are_searched_too(tmp_path, text):
    """Empty documents count, a last line needs no newline, any byte may stand between words."""
    documents = text.removesuffix("\n").split("\n")
    (tmp_path / "queries").write_text("two\none two")

    done = run("rankserv", tmp_path, text, "--queries", tmp_path / "queries")
    compare_answers(done, documents, ["two", "one two"], 10) if words_of(text) else None
    assert done.report["documents"] == len(documents)


def test_nothing_is_found_in_nothing(tmp_path):
    """An empty file has no documents, and every request an empty answer."""
    done = run("rankserv", tmp_path, "", "--requests", "5")

    assert done.results == "\n" * 5


@pytest.mark.parametrize(
    "options",
    [
        ["--input", "/no"],
        ["--queries", "/no"],
        ["--size", "0"],
        ["--top", "0"],
        ["--requests", "-1"],
    ],
)
def test_bad_input_of_rankserv_is_refused(options):
    """One line, status 2."""
    refusal("rankserv", *options)


def levels(edges, n, root):
    """Return each vertex's distance from a root, -1 if there is none."""
    neighbours = defaultdict(set)
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    distance, frontier = {root: 0}, [root]
    while frontier:
        reached = {b for a in frontier for b in neighbours[a] if b not in distance}
        level = distance[frontier[0]] + 1
        distance |= dict.fromkeys(reached, level)
        frontier = list(reached)
    return [distance.get(v, -1) for v in range(n)]


def compare_levels(done, edges):
    """Compare all searches of a run with `levels`; return how many there were."""
    n = max((max(edge) + 1 for edge in edges), default=0)
    for line in done.results.splitlines():
        root, found = line.split(":")
        assert [int(level) for level in found.split()] == levels(edges, n, int(root))
    assert done.report["vertices"] == n
    return len(done.results.splitlines())


def text_of(edges):
    """Return edges as a file has them."""
    return "".join(f"{a} {b}\n" for a, b in edges)


@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize(("size", "threads"), [(64, 1), (8192, 3)])
def test_levels_are_those_of_brute_force(tmp_path, form, variant, size, threads):
    """Of a Kronecker graph, large enough for threads to share its levels."""
    text = generate("graph", tmp_path / "graph", size=size).read_text()
    edges = [tuple(map(int, line.split())) for line in text.splitlines()]

    done = run("bfs", tmp_path, text, "--form", form, "--threads", threads, "--roots", "3",
               variant=variant)  # fmt: skip
    assert compare_levels(done, edges) == 3


@pytest.mark.parametrize(
    ("edges", "searches"),
    [
        ([], 0),
        ([(4, 4)], 0),
        ([(0, 1)], 2),
        ([(0, 1), (1, 0), (0, 1), (2, 2), (3, 5)], 4),
        ([(i, i + 1) for i in range(3000)], 16),
        ([(0, i) for i in range(1, 3000)], 16),
    ],
    ids=["none", "loop", "one", "parts", "path", "star"],
)
def test_odd_graphs_are_searched_too(tmp_path, edges, searches):
    """Loops, edges twice, parts that are not joined, no edge at all."""
    done = run("bfs", tmp_path, text_of(edges), "--threads", "2")

    assert compare_levels(done, edges) == searches


def test_edges_that_are_traversed_are_those_of_the_part_reached(tmp_path):
    """A triangle and a far edge: 3 edges from a root in the triangle, else 1."""
    done = run("bfs", tmp_path, "0 1\n1 2\n2 0\n7 8")

    assert done.report["traversed"] == 3 * 3 + 2 * 1


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"0 1\n2\n", "line 2 has one number"),
        (b"0 1 2\n", "line 1 has more than two numbers"),
        (b"0 -1\n", "line 1 holds what is no number"),
        (b"0 1\n\x00\xff\n", "line 2 holds what is no number"),
        (b"0 4294967295\n", "line 1 has a number that is too large"),
        (b"0 99999999999999999999999\n", "line 1 has a number that is too large"),
        (b"1" * 100_000, "line 1 has a number that is too large"),
    ],
)
def test_what_is_no_edge_is_refused_with_its_line(tmp_path, data, complaint):
    """Nothing is taken for vertex 0."""
    (tmp_path / "data").write_bytes(data)

    assert complaint in refusal("bfs", "--input", tmp_path / "data")


def test_a_vertex_far_beyond_memory_is_refused(tmp_path):
    """One edge whose number alone asks for 60 GB, in a process that may have 1."""
    (tmp_path / "data").write_text("0 4294967294\n")

    refusal("bfs", "--input", tmp_path / "data", memory_bytes=1 << 30)
