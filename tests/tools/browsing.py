"""A page in a headless Chromium, as a reader has it: keys, pointer, files that are saved."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

selenium = pytest.importorskip(
    "selenium.webdriver", reason="selenium is not installed: pip install selenium"
)

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402

WIDE, PHONE = (1400, 900), (390, 844)
"""Width and height of windows, in pixels."""
CONTROL, ESCAPE, ENTER, SPACE = "\ue009", "\ue00c", "\ue007", "\ue00d"
RIGHT, DOWN, END = "\ue014", "\ue015", "\ue010"
"""Keys, as WebDriver writes them."""
_PATIENCE = 10.0
"""Seconds until something that should be there is missed."""


class Browser:
    """One Chromium, which opens one page after the other.

    Parameters
    ----------
    chromium, driver : str
        The programs.
    """

    def __init__(self, chromium: str, driver: str) -> None:
        options = selenium.ChromeOptions()
        options.binary_location = chromium
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = selenium.ChromeService(driver)
        self.driver = selenium.Chrome(options=options, service=service)

    def close(self) -> None:
        """End the programs."""
        self.driver.quit()

    def size(self, width: int, height: int) -> None:
        """Give the window a size, as that of a phone where it is narrow."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def prefer(self, scheme: str) -> None:
        """Let the system be light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, path: Path, address: str = "") -> None:
        """Open a page anew, with what comes after the ``#`` of its address."""
        self.driver.get("about:blank")
        self.logged()
        self.driver.get(f"{path.as_uri()}{address}")

    def all(self, selector: str) -> list[WebElement]:
        """Return what a CSS selector finds and a reader can see."""
        return list(self.js(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(one => one.getClientRects().length > 0"
            " && one.checkVisibility({checkVisibilityCSS: true}))",
            selector,
        ))  # fmt: skip

    def one(self, selector: str) -> WebElement:
        """Return the only thing that a CSS selector finds, once it is there."""
        found = self.until(lambda: self.all(selector), f"{selector} to be there")
        assert len(found) == 1, f"{len(found)} of {selector}"
        return found[0]

    def texts(self, selector: str) -> list[str]:
        """Return the texts of what a CSS selector finds, on the screen or scrolled off it."""
        return list(self.js(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(one => one.getClientRects().length > 0).map(one => one.textContent)",
            selector,
        ))  # fmt: skip

    def button(self, name: str) -> WebElement:
        """Return the button of a name, as a screen reader says it."""
        named = self.js(
            "return [...document.querySelectorAll('button')].filter(one =>"
            " (one.getAttribute('aria-label') ?? one.textContent).trim() === arguments[0])",
            name,
        )
        found = [one for one in named if one.is_displayed()]
        assert len(found) == 1, f"{len(found)} buttons {name!r}"
        assert found[0].accessible_name == name
        return found[0]

    def js(self, code: str, *arguments: Any) -> Any:
        """Return what a function's body returns."""
        return self.driver.execute_script(code, *arguments)

    def press(self, *keys: str, held: str | None = None) -> None:
        """Press keys, one after the other, where the focus is; perhaps with one held down."""
        chain = ActionChains(self.driver, duration=0)
        chain = chain.key_down(held) if held else chain
        chain = chain.send_keys(*keys)
        (chain.key_up(held) if held else chain).perform()

    def point(self, element: WebElement) -> None:
        """Move the pointer onto something."""
        ActionChains(self.driver, duration=0).move_to_element(element).perform()

    def click(self, element: WebElement, *, held: str | None = None) -> None:
        """Click on something, perhaps with a key held down."""
        chain = ActionChains(self.driver, duration=0)
        chain = chain.key_down(held).click(element).key_up(held) if held else chain.click(element)
        chain.perform()

    def write(self, field: WebElement, text: str) -> None:
        """Write into a field in place of what is there."""
        field.clear()
        field.send_keys(text)

    @property
    def focus(self) -> WebElement:
        """Return what has the focus."""
        return self.driver.switch_to.active_element

    def until(self, told: Callable[[], Any], what: str) -> Any:
        """Return what a function returns, once that is true."""
        end = time.monotonic() + _PATIENCE
        while not (value := told()):
            assert time.monotonic() < end, f"waited in vain for {what}"
            time.sleep(0.02)
        return value

    def saved(self, folder: Path, save: Callable[[], Any]) -> Path:
        """Return the file that doing something saves into an empty folder."""
        self.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
        )
        save()

        def whole() -> list[Path]:
            return [path for path in folder.iterdir() if path.suffix != ".crdownload"]

        found: list[Path] = self.until(whole, "a file to be saved")
        assert len(found) == 1
        return found[0]

    def logged(self) -> list[str]:
        """Return what the console holds since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def asked_for(self) -> set[str]:
        """Return the addresses that were asked for since the last call, but for pages."""
        messages = (json.loads(entry["message"])["message"] for entry in
                    self.driver.get_log("performance"))  # fmt: skip
        return {
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
            and message["params"].get("type") != "Document"
        }
