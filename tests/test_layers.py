"""Who may import whom, what may see private edges, and how long a file may be."""

from __future__ import annotations

import ast
import contextlib
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SCREEN = {
    "bokeh", "holoviews", "ipywidgets", "ipywidgets_bokeh", "jupyter_bokeh", "matplotlib", "panel", "panel_material_ui",
}  # fmt: skip
FORBIDDEN_IN_CORE = SCREEN | {"explorer"}
LATE_IMPORTS = {(f"core/cli/{name}.py", "explorer") for name in ("figure", "losschain", "report", "serve")}
FORBIDDEN_IN_EXPLORER = {"torch", "torch_geometric", "scipy", "opendp", "graphdatascience"}
CARD = tuple(f"core/desk/{name}.py" for name in ("card", "cardfile", "outcome", "request", "verify"))
PUBLIC_ONLY = ("core/universe.py", "core/prior", *CARD)
PRIVATE_TYPES = {"Graph", "PrivateGraph", "Dataset", "Scores", "GCNScorer", "Utility", "ReleaseDistribution", "Study"}
PRIVATE_ROOMS = {
    "core.audit",
    "core.baselines",
    "core.cli",
    "core.datasets",
    "core.metrics",
    "core.placement",
    "core.release",
    "core.study",
}
PRIVATE_NAMES = (PRIVATE_TYPES - {"GCNScorer"}) | {"simulate"}  # a scorer is as public as the graph that it is given
LONGEST_FILE = 350


# The rules, each as a function that lists what breaks it.


def forbidden_imports(root: Path, package: str, forbidden: set[str]) -> list[str]:
    """Imports of `forbidden` libraries in `package` (a folder or a file), at any depth, but for the `LATE_IMPORTS`."""
    found = []
    for path, tree in sources(root, package):
        at_load = {id(node) for node in load_time_nodes(tree)}
        for node in ast.walk(tree):
            for name in imported_names(node, path):
                library = name.split(".")[0]
                late = id(node) not in at_load and (path, library) in LATE_IMPORTS
                if library in forbidden and not late:
                    found.append(f"{path}:{node.lineno} imports {name}")
    return found


def import_cycles(root: Path, package: str) -> list[str]:
    """A cycle of the load-time imports between the files of `package`, and one between its rooms.

    A room is a direct child of the package: `core/errors.py`, or all of `core/scoring/`.
    """
    files = {module_name(path): (path, tree) for path, tree in sources(root, package)}
    modules: dict[str, set[str]] = {}
    rooms: dict[str, set[str]] = {}
    for module, (path, tree) in files.items():
        wanted = {resolve(name, files) for node in load_time_nodes(tree) for name in imported_names(node, path)}
        modules[module] = wanted - {None, module}
        rooms.setdefault(room(module), set()).update(room(name) for name in modules[module])
    cycles = []
    for graph in (modules, {name: others - {name} for name, others in rooms.items()}):
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            cycles.append(" -> ".join(reversed(error.args[1])))
    return cycles


def private_parameters(root: Path, packages: tuple[str, ...]) -> list[str]:
    """Parameters and fields in `packages` whose annotation names a type that may hold private edges, or without one."""
    found = []
    for package in packages:
        for path, tree in sources(root, package):
            for owner, name, annotation in annotated(tree):
                if annotation is None:
                    found.append(f"{path}: {owner}({name}) has no annotation")
                elif private := PRIVATE_TYPES & mentioned(annotation):
                    found.append(f"{path}: {owner}({name}) takes a {', '.join(sorted(private))}")
    return found


def private_imports(root: Path, package: str) -> list[str]:
    """Imports in `package`, at any depth, of a private name, from a private room, or of a whole module of `core`.

    A module taken whole would let private names through as attributes; `checks` has none.
    """
    found = []
    for path, tree in sources(root, package):
        for node in ast.walk(tree):
            for name in imported_names(node, path):
                house, _, member = name.rpartition(".")
                whole = isinstance(node, ast.Import | ast.Call) or member == "*" or house == "core"
                in_core = name.split(".")[0] == "core" and name != "core.checks"
                if in_core and (whole or member in PRIVATE_NAMES or room(name) in PRIVATE_ROOMS):
                    found.append(f"{path}:{node.lineno} imports {name}")
    return found


def long_files(root: Path, packages: tuple[str, ...]) -> list[str]:
    """Text files of the packages with more than `LONGEST_FILE` lines."""
    found = []
    for package in packages:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in {".py", ".js", ".ts", ".css", ".html", ".sql"}:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                if lines > LONGEST_FILE:
                    found.append(f"{path.relative_to(root).as_posix()} has {lines} lines")
    return found


# Reading the sources.


def sources(root: Path, package: str) -> Iterator[tuple[str, ast.Module]]:
    start = root / package
    paths = [start] if start.is_file() else sorted(start.rglob("*.py"))
    assert paths, f"found no sources at {start}"
    for path in paths:
        yield path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def load_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run when the module loads: outside functions and `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in mentioned(child.test):
            continue
        yield child
        yield from load_time_nodes(child)


def imported_names(node: ast.AST, path: str) -> list[str]:
    """Full dotted names that an import statement, or a call of `import_module`, asks for."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            package = path.split("/")[:-level] if level else []
            base = ".".join([*package, *([module] if module else [])])
            return [f"{base}.{alias.name}" for alias in names]
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]):
            return [name] if {"import_module", "__import__"} & mentioned(func) else []
    return []


def resolve(name: str, files: dict[str, tuple[str, ast.Module]]) -> str | None:
    """The file of the package that provides `name`, a module or a member of one."""
    if name in files:
        return name
    return name.rpartition(".")[0] if name.rpartition(".")[0] in files else None


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def annotated(tree: ast.Module) -> Iterator[tuple[str, str, ast.expr | None]]:
    """(function or class, parameter or field, its annotation) for all of them in a file."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=owner, args=a) | ast.AsyncFunctionDef(name=owner, args=a):
                for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]:
                    if arg.arg not in {"self", "cls"}:
                        yield owner, arg.arg, arg.annotation
            case ast.ClassDef(name=owner, body=body):
                for field in body:
                    if isinstance(field, ast.AnnAssign):
                        yield owner, ast.unparse(field.target), field.annotation


def mentioned(expression: ast.AST) -> set[str]:
    """Identifiers in an expression, those inside quoted annotations too."""
    names = set()
    for node in ast.walk(expression):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.Constant(value=str(text)):
                with contextlib.suppress(SyntaxError):
                    names |= mentioned(ast.parse(text.strip(), mode="eval"))
    return names


# The project keeps them.


def test_core_imports_no_screen():
    assert forbidden_imports(ROOT, "core", FORBIDDEN_IN_CORE) == []


def test_loading_core_loads_no_screen():
    """Holds for what the libraries of `core` import in turn."""
    code = f"""
import importlib, pkgutil, sys, core
for module in pkgutil.walk_packages(core.__path__, "core."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*sorted({FORBIDDEN_IN_CORE!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_explorer_leaves_the_mathematics_to_core():
    assert forbidden_imports(ROOT, "explorer", FORBIDDEN_IN_EXPLORER) == []


def test_explorer_state_has_no_widgets():
    assert forbidden_imports(ROOT, "explorer/state.py", SCREEN) == []


@pytest.mark.parametrize("package", ["core", "explorer"])
def test_imports_run_one_way(package):
    assert import_cycles(ROOT, package) == []


def test_public_modules_take_public_data():
    assert private_parameters(ROOT, PUBLIC_ONLY) == []


def test_priors_import_nothing_private():
    assert private_imports(ROOT, "core/prior") == []


@pytest.mark.parametrize("file", CARD)
def test_cards_import_nothing_private(file):
    assert private_imports(ROOT, file) == []


def test_files_are_short():
    assert long_files(ROOT, ("core", "explorer")) == []


# And each rule can be broken.


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "import panel as pn",
        "from bokeh.plotting import figure",
        "import explorer.app",
        "def draw():\n    import holoviews",
        "try:\n    import ipywidgets\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('panel_material_ui')",
    ],
)
def test_a_screen_in_core_is_found(tmp_path, line):
    write(tmp_path, core__graph="import numpy\n", core__release__card=line)
    assert [entry.split(":")[0] for entry in forbidden_imports(tmp_path, "core", FORBIDDEN_IN_CORE)] == [
        "core/release/card.py"
    ]


def test_only_serve_may_load_explorer_and_only_late(tmp_path):
    late = "def serve():\n    from explorer.app import build\n"
    write(tmp_path, core__cli__serve=late)
    assert forbidden_imports(tmp_path, "core", FORBIDDEN_IN_CORE) == []
    write(tmp_path, core__cli__inspect=late)
    assert forbidden_imports(tmp_path, "core", FORBIDDEN_IN_CORE) == [
        "core/cli/inspect.py:2 imports explorer.app.build"
    ]
    write(tmp_path, core__cli__inspect="", core__cli__serve="from explorer.app import build\n")
    assert forbidden_imports(tmp_path, "core", FORBIDDEN_IN_CORE) == ["core/cli/serve.py:1 imports explorer.app.build"]


def test_a_cycle_between_rooms_is_found(tmp_path):
    write(
        tmp_path,
        core__graph="from core.scoring import fast\n",
        core__scoring__fast="",
        core__scoring__slow="from core.graph import Nodes\n",
    )
    assert import_cycles(tmp_path, "core") == ["core.graph -> core.scoring -> core.graph"]


def test_a_cycle_within_a_room_is_found(tmp_path):
    write(tmp_path, core__study__a="from .b import f\n", core__study__b="import core.study.a\n")
    assert import_cycles(tmp_path, "core") == ["core.study.a -> core.study.b -> core.study.a"]


def test_late_imports_and_types_make_no_cycle(tmp_path):
    write(
        tmp_path,
        core__a="import core.b\n",
        core__b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import core.a\ndef f():\n    import core.a\n",
    )
    assert import_cycles(tmp_path, "core") == []


@pytest.mark.parametrize("annotation", ["PrivateGraph", "graph.PrivateGraph | None", "'list[PrivateGraph]'"])
def test_a_private_parameter_is_found(tmp_path, annotation):
    write(tmp_path, universe=f"def build(nodes: Nodes, known: {annotation} = None) -> Universe: ...\n")
    assert private_parameters(tmp_path, ("universe.py",)) == ["universe.py: build(known) takes a PrivateGraph"]


def test_a_private_parameter_is_found_in_a_folder_too(tmp_path):
    write(tmp_path, core__prior__deep__guess="class Guess:\n    known: Graph\n", core__prior__fine="x: int = 1\n")
    assert private_parameters(tmp_path, ("core/prior",)) == ["core/prior/deep/guess.py: Guess(known) takes a Graph"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from core.graph import Nodes, PrivateGraph", "core.graph.PrivateGraph"),
        ("from core.graph import PrivateGraph as Nodes", "core.graph.PrivateGraph"),
        ("from ..graph import Graph", "core.graph.Graph"),
        ("from core.snapshot import simulate", "core.snapshot.simulate"),
        ("from core.scoring.scores import Scores", "core.scoring.scores.Scores"),
        ("from core.datasets import load", "core.datasets.load"),
        ("from core.study.study import Study", "core.study.study.Study"),
        ("from core.release.cells import gather", "core.release.cells.gather"),
        ("def draw():\n    from core.metrics import measure", "core.metrics.measure"),
        ("import core.graph", "core.graph"),
        ("import core.graph as public", "core.graph"),
        ("from core import graph", "core.graph"),
        ("from core.graph import *", "core.graph.*"),
        ("import importlib\nimportlib.import_module('core.graph')", "core.graph"),
    ],
)
def test_a_private_import_in_a_prior_is_found(tmp_path, line, name):
    write(tmp_path, core__prior__guess=line, core__prior__fine="from core import checks\nimport numpy as np\n")
    found = private_imports(tmp_path, "core/prior")
    assert [entry.split(" imports ")[1] for entry in found] == [name]
    assert found[0].startswith("core/prior/guess.py:")


def test_a_parameter_without_a_type_is_found(tmp_path):
    write(tmp_path, universe="def build(nodes: Nodes, *extra) -> Universe: ...\n")
    assert private_parameters(tmp_path, ("universe.py",)) == ["universe.py: build(extra) has no annotation"]


def test_a_long_file_is_found(tmp_path):
    write(tmp_path, core__short="x = 1\n" * LONGEST_FILE, core__long="x = 1\n" * (LONGEST_FILE + 1))
    assert long_files(tmp_path, ("core",)) == ["core/long.py has 351 lines"]
