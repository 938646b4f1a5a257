"""Rules of accessibility, by axe-core, which `make page` installs for tests."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def violations(browser):
    """Return the rule and the elements of each violation on the page; skip where axe is missing."""
    if not SCRIPT.exists():
        pytest.skip("axe-core is not installed: run `make page`")
    if not browser.js("return 'axe' in window"):
        browser.js(SCRIPT.read_text())
    found = browser.driver.execute_async_script(
        "axe.run({resultTypes: ['violations']}).then(arguments[0])"
    )
    return [
        (one["id"], tuple(node["html"][:200] for node in one["nodes"]))
        for one in found["violations"]
    ]
