"""Running `privcfs` inside the test process."""

from __future__ import annotations

import json
from typing import Any

from core.cli import run


def answer(capsys, *arguments: str) -> dict[str, Any]:
    """Run a command with `--json` that must succeed and return what it printed."""
    code = run([*arguments, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out)


def refusal(capsys, *arguments: str) -> str:
    """Run a command that must be refused with exit code 2 and one line on stderr; return that line."""
    code = run(list(arguments))
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("privcfs: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err
