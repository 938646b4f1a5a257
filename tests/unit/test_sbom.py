"""The bill of materials of a wheel: what it lists, and CycloneDX's own opinion of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sbom
from bundled import Component, npm_components, source_components

ROOT = Path(__file__).parents[2]
MADE_OF = Component(
    name="valgrind",
    version="3.27.1",
    licence="GPL-2.0-or-later",
    purl="pkg:deb/debian/valgrind@3.27.1-1",
    source="https://deb.debian.org/debian/pool/main/v/valgrind/valgrind_3.27.1.orig.tar.bz2",
    sha256="5d" * 32,
)


def test_the_page_is_made_of_what_its_licence_file_lists():
    """By hand: the eight packages of D3 that the page is built with."""
    seen = {each.purl: each.licence for each in sbom.components("ridgepoint", None)}

    assert seen == {
        "pkg:npm/d3-array@3.2.5": "ISC",
        "pkg:npm/d3-color@3.1.1": "ISC",
        "pkg:npm/d3-format@3.1.3": "ISC",
        "pkg:npm/d3-interpolate@3.0.2": "ISC",
        "pkg:npm/d3-quadtree@3.0.2": "ISC",
        "pkg:npm/d3-scale@4.0.3": "ISC",
        "pkg:npm/d3-time@3.1.1": "ISC",
        "pkg:npm/d3-time-format@4.1.1": "ISC",
    }


def test_a_list_without_packages_is_refused():
    """A licence file in another form would empty the bill."""
    with pytest.raises(ValueError, match="lists no packages"):
        npm_components("Copyright 2010-2026 Mike Bostock")


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "valgrind"},
        {"name": "v", "version": "1", "licence": "MIT", "purl": "pkg:deb/v@1"},
        {
            **{"name": "v", "version": "1", "licence": "MIT", "purl": "pkg:deb/v@1"},
            **{"source": "https://v.example/v.tar", "sha256": "5d"},
        },
    ],
)
def test_a_source_is_named_with_its_checksum(entry):
    """Whoever gets a program under the GPL must be able to get this very source."""
    with pytest.raises(ValueError, match=r"sources\.json"):
        source_components(json.dumps([entry]))


def test_a_bill_says_what_the_package_is_and_what_is_in_it():
    """With the checksum of the source, and the same each time."""
    bill = sbom.document("tool", "1.0+g2", "MIT", [MADE_OF], 1_700_000_000)
    (part,) = bill["components"]

    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/tool@1.0%2Bg2"
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    assert part["externalReferences"][0]["hashes"] == [{"alg": "SHA-256", "content": "5d" * 32}]
    assert bill == sbom.document("tool", "1.0+g2", "MIT", [MADE_OF], 1_700_000_000)
    assert (
        bill["serialNumber"] != sbom.document("tool", "1.1", "MIT", [MADE_OF], None)["serialNumber"]
    )


def test_a_bill_is_valid_by_cyclonedx(tmp_path):
    """By the schema that its authors publish; written as a build writes it."""
    validation = pytest.importorskip("cyclonedx.validation.json")
    from cyclonedx.schema import SchemaVersion

    file = tmp_path / "ridgepoint.cdx.json"
    script = ROOT / "tools" / "wheels" / "sbom.py"
    subprocess.run([sys.executable, script, ROOT, "0.2.0", file], check=True)
    validator = validation.JsonStrictValidator(SchemaVersion.V1_6)
    with_source = json.dumps(sbom.document("tool", "1.0", "MIT AND ISC", [MADE_OF], 0))

    for text in (file.read_text(), with_source):
        assert validator.validate_str(text) is None
    assert json.loads(file.read_text())["metadata"]["component"]["version"] == "0.2.0"
    assert validator.validate_str(re.sub("SHA-256", "SHA-1000", with_source)) is not None
