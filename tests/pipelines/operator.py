"""An operator at Dagster's UI: a real Chromium, driven by its clicks and read as it is shown."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSER = "chromium"
SHOWN_SECONDS = 180


@contextmanager
def at_the_ui(base_url: str, pictures: Path | None) -> Iterator[Operator]:
    """Open a browser on the UI; skips the test where there is none. `pictures` is the folder for what is looked at."""
    path = shutil.which(BROWSER)
    if path is None:
        pytest.skip(f"there is no {BROWSER}: install Debian's package {BROWSER}")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: `make proof` installs it"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(SHOWN_SECONDS * 1000)
        yield Operator(page, base_url, pictures)
        browser.close()


class Operator:
    """Looks and clicks. Every wait ends with an error after `SHOWN_SECONDS`."""

    def __init__(self, page: Any, base_url: str, pictures: Path | None) -> None:
        self._page = page
        self._base_url = base_url
        self._pictures = pictures

    def opens(self, path: str, *shown: str) -> None:
        """Go to a page of the UI, and wait until these texts are shown."""
        self._page.goto(self._base_url + path)
        self.sees(*shown)

    def sees(self, *texts: str) -> None:
        """Wait until these texts are shown."""
        for text in texts:
            self._page.get_by_text(text).first.wait_for()

    def misses(self, text: str) -> None:
        """See that a text is not shown."""
        assert self._page.get_by_text(text).count() == 0

    def clicks(self, name: str, *shown: str) -> None:
        """Click the last button of this name: a dialog lies over the page, and comes after it. Wait for these texts."""
        self._page.get_by_role("button", name=name).last.click()
        self.sees(*shown)

    def chooses_days(self, first: str, last: str) -> None:
        """Write a range of days, however old, into the dialog that asks for partitions."""
        self._page.get_by_text("Show all partitions").click()
        box = self._page.get_by_role("dialog").get_by_role("textbox").first
        box.fill(f"[{first}...{last}]")
        box.press("Enter")

    def copies(self) -> str:
        """Return the last block of code that is shown."""
        return str(self._page.locator("pre").last.inner_text())

    def configures(self, configuration: str) -> None:
        """Open the launchpad of the job that is shown, and put this configuration in the place of what it has."""
        self._page.get_by_role("button", name="Materialize").last.locator("xpath=following::button[1]").click()
        self._page.get_by_text("Open launchpad").click()
        launchpad = self._page.get_by_role("dialog")
        launchpad.get_by_text("resend").first.wait_for()
        launchpad.locator(".CodeMirror").first.click()
        self._page.keyboard.press("Control+A")
        self._page.keyboard.insert_text(configuration)

    def keeps_picture(self, name: str) -> None:
        """Keep what is shown, if pictures were asked for."""
        if self._pictures is not None:
            self._page.wait_for_load_state("networkidle")
            self._page.screenshot(path=self._pictures / f"{name}.png")
