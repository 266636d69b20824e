"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

PATIENCE_MS = 15_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None and os.environ.get("CI"):
        pytest.fail("no chromium is installed, and in CI the page is tested in one: apt install chromium")
    if program is None:
        pytest.skip("no chromium is installed; on Debian: apt install chromium")
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root, as whom containers usually run.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=program, args=arguments)
        yield running
        running.close()


@dataclass
class Opened:
    """A page in the browser, and what it did that it should not."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def assert_quiet(self) -> None:
        """Nothing was fetched but the file itself, nothing was said on the console."""
        assert self.requests == []
        assert self.complaints == []


class Opener:
    """Opens files, each in a context of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.opened: list[Opened] = []

    def __call__(self, path: Path, *, hash_: str = "", **options: object) -> Page:
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE_MS)
        opened = Opened(page=context.new_page())
        self.opened.append(opened)

        def pass_only_the_file(route: Route) -> None:
            if route.request.url.partition("#")[0] == path.as_uri():
                route.continue_()
            else:
                opened.requests.append(route.request.url)
                route.abort()

        context.route("**/*", pass_only_the_file)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.goto(f"{path.as_uri()}{hash_}")
        opened.page.wait_for_selector("html[data-ready]", state="attached")
        return opened.page

    def close(self) -> None:
        for opened in self.opened:
            opened.page.context.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    """Open a page; at the end of the test it must have fetched nothing and said nothing."""
    opener = Opener(browser)
    yield opener
    for opened in opener.opened:
        opened.assert_quiet()
    opener.close()
