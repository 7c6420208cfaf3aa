"""From starting `privcfs serve` to the first painted explorer in headless Chromium, on a warm install."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

RUNS = 3


def main() -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("startup: no Chromium is installed")
    listening, painted = [], []
    for run in range(RUNS + 1):
        started = time.perf_counter()
        command = [sys.executable, "-m", "core.cli", "serve", "--dataset", "cora", "--port", "0"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
            sync_playwright() as playwright,
        ):
            address = server.stdout.readline().split()[-1]
            heard = time.perf_counter()
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            opened = time.perf_counter()
            page.goto(address)
            page.locator("#card-valid").wait_for()
            seen = time.perf_counter()
            browser.close()
            server.terminate()
        if run:  # the first one warms the disk
            listening.append(heard - started)
            painted.append(heard - started + seen - opened)
    print(
        f"{RUNS} runs: listening after {statistics.median(listening):.1f} s, first paint after "
        f"{statistics.median(painted):.1f} s (median; browser start not counted)"
    )


if __name__ == "__main__":
    main()
