"""Every notebook is stored without outputs, runs from top to bottom, and its exercises know right from wrong."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NO_LESSONS = {"01-first-look", "09-reproduction"}
LESSONS = [path for path in NOTEBOOKS if path.stem not in NO_LESSONS]


def tagged(notebook: NotebookNode, tag: str) -> list[int]:
    """Places of the cells that bear a tag."""
    return [place for place, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", [])]


def refused(check: NotebookNode) -> NotebookNode:
    """A cell that fails unless the check of an exercise refuses the wrong answer that stands in its metadata."""
    name = check.source.removeprefix("def ").partition("(")[0]
    return new_code_cell(
        f"try:\n    {name}({check.metadata['wrong']})\n"
        f"except AssertionError as reason:\n    print(reason)\n"
        f"else:\n    raise SystemError('{name} took a wrong answer')"
    )


def executed(notebook: NotebookNode) -> NotebookNode:
    for name in notebook.metadata.get("privcfs", {}).get("needs", []):
        if not os.environ.get(name):
            pytest.skip(f"{name} is not set: no files for this notebook")
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


def outputs(notebook: NotebookNode) -> Iterator[NotebookNode]:
    return (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)


def test_there_are_notebooks():
    assert len(LESSONS) >= 7
    assert {path.stem for path in NOTEBOOKS} >= NO_LESSONS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_has_exercises_that_are_asked_checked_and_solved(path):
    notebook = nbformat.read(path, as_version=4)
    asked, checks, solved = (tagged(notebook, tag) for tag in ("exercise", "check", "solution"))
    assert len(asked) >= 2
    assert checks == [place + 1 for place in asked]
    assert solved == [place + 2 for place in asked]
    for number, (question, check, solution) in enumerate(zip(asked, checks, solved, strict=True), start=1):
        assert notebook.cells[question].source.startswith(f"**Exercise {number}.**")
        assert f"check_{number}(" in notebook.cells[question].source
        assert notebook.cells[check].source.startswith(f"def check_{number}(")
        assert notebook.cells[check].metadata["wrong"]
        assert notebook.cells[solution].source.startswith("# Solution")
        assert f"check_{number}(" in notebook.cells[solution].source
        assert notebook.cells[solution].metadata["jupyter"]["source_hidden"] is True


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_and_refuses_wrong_answers(path):
    notebook = nbformat.read(path, as_version=4)
    checks = [notebook.cells[place] for place in tagged(notebook, "check")]
    notebook.cells.extend(refused(check) for check in checks)
    executed(notebook)
    assert any("application/vnd.holoviews_exec.v0+json" in output.get("data", {}) for output in outputs(notebook))
    assert not any(output.output_type == "error" for output in outputs(notebook))


@pytest.mark.slow
def test_a_wrong_solution_fails_the_notebook():
    notebook = nbformat.read(ROOT / "notebooks" / "03-universe-and-no-ops.ipynb", as_version=4)
    place = tagged(notebook, "solution")[0]
    wrong = copy.deepcopy(notebook)
    wrong.cells = wrong.cells[: place + 1]
    wrong.cells[place].source = f"check_1({notebook.cells[place - 1].metadata['wrong']})"
    with pytest.raises(CellExecutionError, match="AssertionError"):
        executed(wrong)


@pytest.mark.slow
def test_a_check_that_takes_anything_is_found():
    notebook = nbformat.v4.new_notebook(cells=[new_code_cell("def check_1(answer):\n    pass")])
    notebook.cells[0].metadata["wrong"] = "0"
    notebook.cells.append(refused(notebook.cells[0]))
    with pytest.raises(CellExecutionError, match="check_1 took a wrong answer"):
        executed(notebook)
