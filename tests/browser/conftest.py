"""Fixtures that open the served explorer in a real headless Chromium."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

STARTUP_SECONDS = 180
PATIENCE = 60_000  # ms that an expectation waits: a busy machine may take five seconds to repaint
LOG_TAIL = 6000
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

server_logs = pytest.StashKey[list[Path]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[server_logs] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        for log in item.config.stash[server_logs]:
            report.sections.append((f"explorer log, {log.name}", log.read_text(errors="replace")[-LOG_TAIL:]))
    return report


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of an installed Chromium: CHROMIUM, or the first of the usual names."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found:
        return found
    reason = f"no Chromium: CHROMIUM is not set and none of {', '.join(CHROMIUM_NAMES)} is installed"
    if os.environ.get("PRIVCFS_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """A running Chromium. Closed after each module, since Playwright occupies the thread's event loop."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh 1280 x 800 page; `page.problems` lists console errors (a failed request is one) and uncaught ones."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    problems: list[str] = []
    opened.problems = problems

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    opened.on("console", hear)
    opened.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
    yield opened
    context.close()


@pytest.fixture(scope="session")
def serve(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """A function that starts `privcfs serve` on a data set, or with the options given, and returns its URL."""
    running: list[tuple[subprocess.Popen[str], TextIO]] = []

    def start(dataset: str = "", *options: str) -> str:
        port = free_port()
        log = tmp_path_factory.mktemp("explorer") / f"{dataset.replace(':', '-') or 'options'}.log"
        chosen = ["--dataset", dataset, *options] if dataset else options
        out = log.open("w")
        pytestconfig.stash[server_logs].append(log)
        process = subprocess.Popen(
            [sys.executable, "-m", "core.cli", "serve", *chosen, "--port", str(port)],
            cwd=pytestconfig.rootpath,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append((process, out))
        wait_until_answers(process, port)
        return f"http://localhost:{port}"

    yield start
    for process, out in running:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        out.close()


@pytest.fixture(scope="session")
def explorer_url(serve: Callable[[str], str]) -> str:
    """URL of an explorer on Cora."""
    return serve("cora")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def wait_until_answers(process: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"privcfs serve ended with exit code {process.returncode} before it answered")
        try:
            connection = http.client.HTTPConnection("localhost", port, timeout=STARTUP_SECONDS)
            connection.request("GET", "/")
            if connection.getresponse().status < 400:
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"privcfs serve did not answer within {STARTUP_SECONDS} s")
