"""K-means and naive Bayes find what the same methods, written down in Python, find."""

import math
import random
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from datacenter_runs import refusal, run

from ridgepoint.suites.datacenter import generate


def lloyd(points, k, threshold):
    """Return the memberships, centres and iterations; distances are of float32."""
    centres, member = points[:k].copy(), np.full(len(points), -1)
    for iteration in range(1, 501):
        distances = np.zeros((len(points), k), dtype=np.float32)
        for d in range(points.shape[1]):
            difference = points[:, d, None] - centres[None, :, d]
            distances += difference * difference
        nearest = distances.argmin(axis=1)
        changed = (nearest != member).sum()
        member = nearest
        for i in range(k):
            own = points[member == i].astype(float)
            if len(own):
                centres[i] = [math.fsum(column) / len(own) for column in own.T]
        if changed / len(points) <= threshold:
            return member, centres, iteration
    return member, centres, 500


def compare_clusters(done, points, k, threshold):
    """Compare a run with `lloyd`."""
    member, centres, iterations = lloyd(points, k, threshold)
    lines = done.results.splitlines()

    assert [int(line) for line in lines[: len(points)]] == member.tolist()
    found = np.array([line.split() for line in lines[len(points) :]], dtype=float)
    assert found == pytest.approx(centres, rel=1e-6)
    assert done.report["iterations"] == iterations


def points_of(text):
    """Read points as a program does."""
    return np.array([line.split() for line in text.splitlines() if line.split()], np.float32)


@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("k", "threshold"), [(1, 0), (8, 0.001), (20, 0)])
def test_clusters_are_those_of_lloyd(tmp_path, form, variant, threads, k, threshold):
    """Memberships, centres and the number of iterations."""
    text = generate("points", tmp_path / "points", size=500).read_text()

    done = run("kmeans", tmp_path, text, "--form", form, "--clusters", k, "--threads", threads,
               "--threshold", threshold, variant=variant)  # fmt: skip
    compare_clusters(done, points_of(text), k, threshold)


@pytest.mark.parametrize(
    ("text", "k"),
    [
        ("1 2\n1 2\n5 6\n", 2),  # the second cluster is empty and keeps its centre
        ("1 2\n1 2\n1 2\n", 3),
        ("7", 1),
        ("\n\n1 2 3\r\n\n 4\t5 6 ", 2),
        ("1e3 -2.5\n0 0\n1e3 1\n", 2),
    ],
)
def test_small_and_odd_points_are_clustered_too(tmp_path, text, k):
    """Empty clusters, equal points, blank lines, no final newline."""
    done = run("kmeans", tmp_path, text, "--clusters", k, "--threads", 2)

    compare_clusters(done, points_of(text), k, 0.001)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "0 points"),
        (b"1 2\n", "1 points"),
        (b"1 2\n3\n", "line 2 has 1 coordinates"),
        (b"1 2\n3 x\n", "line 2 holds what is no finite number"),
        (b"1 nan\n3 4\n", "line 1 holds"),
        (b"1e99 1\n3 4\n", "line 1 holds"),
        (b"\x00\xff\n1 2\n", "line 1 holds"),
        (b"1,2\n3,4\n", "line 1 holds"),
    ],
)
def test_what_is_no_point_is_refused_with_its_line(tmp_path, data, complaint):
    """And too few of them."""
    (tmp_path / "data").write_bytes(data)

    assert complaint in refusal("kmeans", "--clusters", "2", "--input", tmp_path / "data")


@pytest.mark.parametrize(
    "options", [["--clusters", "0"], ["--threshold", "x"], ["--threshold", "2"], ["--size", "0"]]
)
def test_bad_options_of_kmeans_are_refused(options):
    """No clusters, no fraction, no points."""
    refusal("kmeans", *options)


def terms_of(text):
    """Return the terms of a text: from a letter to a delimiter."""
    return re.findall(rb'[A-Za-z][^ ,.!?:;"\-/=()\t]*', text)


def bayes(data):
    """Return the categories of every fifth review, by logarithms and exact fractions."""
    reviews = [line.split(b"\t", 1) for line in data.split(b"\n") if b"\t" in line]
    documents, terms, pairs = Counter(), defaultdict(Counter), []
    for i, (category, text) in enumerate(reviews):
        if i % 5 == 4:
            pairs.append(text)
        else:
            documents[category] += 1
            terms[category].update(terms_of(text))
    classes = []
    for text in pairs:
        scores = {}
        for category in sorted(documents):
            score = math.log(documents[category] / documents.total())
            for term in terms_of(text):
                count = terms[category][term]
                score += math.log(count / terms[category].total() if count else 1e-5)
            scores[category] = score
        best = max(scores.values())
        classes.append(max(c for c, score in scores.items() if score == best))
    return classes


@pytest.mark.parametrize("form", ["original", "prefetch"])
@pytest.mark.parametrize("variant", ["baseline", "native"])
@pytest.mark.parametrize("threads", [1, 3])
def test_categories_are_those_of_bayes(tmp_path, form, variant, threads):
    """Of 200 kB of generated reviews; most of them are right."""
    data = generate("reviews", tmp_path / "reviews", size=200_000).read_bytes()
    expected = [category.decode() for category in bayes(data)]

    done = run("bayes", tmp_path, data, "--form", form, "--threads", threads, variant=variant)
    assert done.results.splitlines() == expected
    assert done.report["classified"] == len(expected)
    assert done.report["correct"] > 0.8 * len(expected)


def binary_reviews(seed):
    """Return reviews of any bytes in their texts, and of two categories."""
    draw = random.Random(seed)
    alphabet = [byte for byte in range(256) if byte not in b"\n"]
    return b"\n".join(
        draw.choice([b"x\t", b"y\t"]) + bytes(draw.choices(alphabet, k=40)) for _ in range(60)
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"no tab\n",
        b"a\tgood\n" * 4 + b"b\tgood",
        b"a\tgood one\nb\tbad one\na\tgood\nb\tbad\nb\tgood? 12good! one",
        b"a\t\nb\t\na\t\nb\t\na\t...\n",
        b"b\tx\na\tx\n" * 2 + b"a\tx\n",
        b"a\t" + b"long " * 20_000 + b"\nb\tshort\nb\tshort\nb\tshort\nb\t" + b"long " * 20_000,
        binary_reviews(1),
    ],
    ids=["empty", "blank", "no tab", "one category", "two", "no terms", "tie", "long", "binary"],
)
def test_odd_reviews_are_classified_as_by_hand(tmp_path, data):
    """Long texts do not underflow; of equal categories the last one wins."""
    done = run("bayes", tmp_path, data, "--threads", "2")

    assert done.results.splitlines() == [category.decode("latin-1") for category in bayes(data)]


@pytest.mark.parametrize("options", [["--input", "/no/such"], ["--size", "-1"], ["--size", "90T"]])
def test_bad_input_of_bayes_is_refused(options):
    """One line, status 2."""
    refusal("bayes", *options)
