"""What `import ridgepoint` offers, and that the documentation uses nothing else."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ridgepoint

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.+?)^```", flags=re.DOTALL | re.MULTILINE)
SUITES = ("kernels", "datacenter", "distributed", "imaging")


def names_of(module):
    """Return what a package offers."""
    return set(module.__all__)


@pytest.mark.parametrize("name", ridgepoint.__all__)
def test_every_name_that_is_offered_is_there(name):
    """A table with a wrong home would say so only when somebody asks for the name."""
    assert getattr(ridgepoint, name) is not None


def test_type_checkers_see_the_names_that_programs_get():
    """The imports for type checkers are a second list of the same names."""
    tree = ast.parse((ROOT / "src" / "ridgepoint" / "__init__.py").read_text())
    checking = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname
        for node in checking.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    seen |= {node.targets[0].id for node in checking.body if isinstance(node, ast.Assign)}

    assert seen - {"source"} == set(ridgepoint.__all__)


def test_name_that_is_not_offered_is_an_attribute_error():
    """As for any package."""
    with pytest.raises(AttributeError, match="nothing"):
        _ = ridgepoint.nothing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation_imports_what_is_offered_and_nothing_else(page):
    """From `ridgepoint`, or from one of the four suites; each name is there."""
    for block in BLOCK.findall(page.read_text()):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
                assert not [name for name in modules if name.startswith("ridgepoint.")]
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "ridgepoint":
                module = __import__(node.module, fromlist=["*"])
                assert node.module in ("ridgepoint", *(f"ridgepoint.suites.{s}" for s in SUITES))
                assert {alias.name for alias in node.names} <= names_of(module)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation_names_what_is_offered_and_nothing_else(page):
    """Wherever a page writes ``ridgepoint.name``: internal modules are not for readers."""
    internal = {path.name for path in (ROOT / "src" / "ridgepoint").iterdir() if path.is_dir()}
    for name, below in re.findall(r"\bridgepoint\.(\w+)(?:\.(\w+))?", page.read_text()):
        if name == "suites":
            assert below in SUITES
        else:
            assert name not in internal
            assert name in {*ridgepoint.__all__, "toml", "json", "svg", "h"}


def test_python_page_names_all_that_is_offered_and_nothing_else():
    """Its table is what a reader can rely on."""
    page = (ROOT / "docs" / "python.md").read_text()
    table = page.split("## All names")[1].split("\nThe suites are")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]

    assert sorted(named) == sorted(set(ridgepoint.__all__) - {"__version__"})


def test_import_loads_nothing_heavy():
    """`import ridgepoint` alone is for programs that only mark regions: below 0.1 s."""
    heavy = {"numpy", "msgspec", "rich"}
    code = f"import sys, ridgepoint; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_every_name_that_charts_offer_is_there_and_type_checkers_see_it():
    """As of the package itself: a table of names, and imports for type checkers."""
    from ridgepoint import charts

    tree = ast.parse(Path(charts.__file__).read_text())
    checking = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname
        for node in checking.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    seen |= {node.targets[0].id for node in checking.body if isinstance(node, ast.Assign)}

    assert all(getattr(charts, name) is not None for name in charts.__all__)
    assert seen - {None} == names_of(charts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation_draws_with_charts_that_are_offered(page):
    """Wherever an example writes ``charts.name``."""
    from ridgepoint import charts

    for block in BLOCK.findall(page.read_text()):
        assert set(re.findall(r"\bcharts\.(\w+)", block)) <= names_of(charts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation_names_files_that_are_there(page):
    """Below the package's folder, or below the project's; files of other projects have links."""
    names = set(re.findall(r"`([a-z_]+/[a-z_/]*\.py)`", page.read_text()))
    roots = (ROOT / "src" / "ridgepoint", ROOT)
    others = {"workflows/serial/pipelines/pipeline_serial.py"}  # of the SKA's reference library

    assert {name for name in names if not any((root / name).exists() for root in roots)} <= others


def test_every_module_has_what_it_says_it_offers():
    """A name in ``__all__`` that was renamed would fail only where somebody imports everything."""
    modules = pkgutil.walk_packages(ridgepoint.__path__, "ridgepoint.")
    # Those are executed, or need what only a GPU's host or a user of PyTorch has.
    without = "__main__|cupy" if find_spec("torch") else r"__main__|cupy|operators\.pytorch\."
    names = [module.name for module in modules if not re.search(without, module.name)]
    absent = [
        f"{name}.{offered}"
        for name in names
        if ".programs." not in name
        for offered in getattr(importlib.import_module(name), "__all__", ())
        if not hasattr(importlib.import_module(name), offered)
    ]

    assert len(names) > 400
    assert absent == []
