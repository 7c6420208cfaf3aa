"""The explorer in a cell of a real JupyterLab: it shows, answers, asks no other machine and stays small when saved."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import STARTUP_SECONDS, free_port, server_logs

if os.environ.get("PRIVCFS_REQUIRE_BROWSER") != "1":
    pytest.importorskip("jupyterlab", reason="no JupyterLab: it comes with the extra 'test'")

CELL = 'from explorer.app import Explorer\nExplorer("karate", target="9")'
SHOWN = 180_000
MOST_SHOWN = 3_000_000  # characters of the explorer in its cell; 90 million where each widget brings all code
MOST_SAVED = 12_000_000  # bytes of the notebook with it: Panel and Bokeh themselves are 7 million of them
ROW = 60  # px that no row of the table reaches, unless its style sheet is missing
LAYOUT = "/panel-preview/layout/"  # asked for when a notebook is saved; a notebook without one has none


@pytest.fixture
def lab(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """URL of a notebook with the explorer in a JupyterLab of its own, and the notebook's file."""
    notebook = tmp_path / "notebooks" / "lab.ipynb"
    notebook.parent.mkdir()
    nbformat.write(
        new_notebook(cells=[new_code_cell(CELL)], metadata={"kernelspec": {"name": "python3", "display_name": "here"}}),
        notebook,
    )
    port, token, log = free_port(), secrets.token_hex(16), tmp_path / "lab.log"
    homes = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    homes |= {"JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"), "IPYTHONDIR": str(tmp_path / "ipython")}
    homes |= {"JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"), "JUPYTER_TOKEN": token}
    pytestconfig.stash[server_logs].append(log)
    with log.open("w") as out:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *(f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={notebook.parent}"),
                *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
            ],
            env=os.environ | homes | {"PYTHONPATH": str(pytestconfig.rootpath)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_up(process, port)
            yield f"http://localhost:{port}/lab/tree/{notebook.name}?reset&token={token}", notebook
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_up(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"JupyterLab ended with exit code {process.returncode} before it answered")
        try:
            connection = http.client.HTTPConnection("localhost", port, timeout=STARTUP_SECONDS)
            connection.request("GET", "/api")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not answer within {STARTUP_SECONDS} s")


def still(page: Page, figure: Locator) -> bytes:
    """The figure once two pictures of it agree: Bokeh, which tells a served page that it is idle, is never so here."""
    before = b""
    deadline = time.monotonic() + SHOWN / 1000
    while time.monotonic() < deadline:
        now = figure.screenshot()
        if now == before:
            return now
        before = now
        page.wait_for_timeout(1000)
    raise AssertionError("the figure went on changing")


def saved(page: Page, notebook: Path) -> list[dict[str, Any]]:
    """Outputs of the first cell once the notebook is saved with them."""
    page.locator(".jp-NotebookPanel-toolbar [data-jp-item-name='save'] button").click()
    deadline = time.monotonic() + SHOWN / 1000
    while time.monotonic() < deadline:
        try:
            outputs = json.loads(notebook.read_text())["cells"][0]["outputs"]
        except json.JSONDecodeError:  # half of it is written
            outputs = []
        if outputs:
            return outputs
        page.wait_for_timeout(500)
    raise AssertionError("the notebook was not saved with its outputs")


def test_the_explorer_lives_in_a_cell(page: Page, lab: tuple[str, Path]) -> None:
    url, notebook = lab
    here = url.partition("/lab")[0]
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((here, "data:", "blob:")) else elsewhere.append(asked.url),
    )

    page.goto(url)
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=SHOWN)  # a cell that is run earlier is forgotten
    page.locator(".jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#answer")).to_contain_text("At ε = 1 with ρ = 0.5", timeout=SHOWN)

    epsilon = page.get_by_role("slider", name="Privacy budget")
    valid = page.locator("#card-valid")
    figure = page.get_by_role("img", name="Probability of each candidate by rank")
    drawn, before = still(page, figure), valid.get_attribute("data-value") or "nan"
    epsilon.focus()
    page.keyboard.press("End")
    expect(page.locator("#answer")).not_to_contain_text("At ε = 1 with")
    expect(page.locator("#answer")).to_contain_text("At ε = ")
    expect(valid).not_to_have_attribute("data-value", before)
    assert float(valid.get_attribute("data-value") or "nan") > float(before)
    deadline = time.monotonic() + SHOWN / 1000
    while figure.screenshot() == drawn:
        assert time.monotonic() < deadline, "the figure did not change"

    page.get_by_role("button", name="Browse", exact=True).click()
    row = page.locator(".target-table .tabulator-row").first
    expect(row).to_be_visible()
    expect(row).to_contain_text("Mr. Hi")
    assert row.bounding_box()["height"] < ROW
    expect(page.locator("[class*=material-icons]")).to_have_count(0)  # letters of a font that isn't there
    assert elsewhere == []
    assert page.problems == []

    page.keyboard.press("Escape")
    outputs = saved(page, notebook)
    shown = [output for output in outputs if output["output_type"] == "execute_result"]
    assert [len("".join(output["data"]["text/html"])) < MOST_SHOWN for output in shown] == [True]
    assert notebook.stat().st_size < MOST_SAVED
    assert elsewhere == []
    assert [problem for problem in page.problems if LAYOUT not in problem] == []
