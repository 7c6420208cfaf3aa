import runpy
from pathlib import Path

import core
from core.datasets import load

DATA = Path(core.__file__).parent.parent / "data"


def test_the_example_is_what_the_readme_says():
    example = load(str(DATA / "example"))
    assert (example.nodes.n, example.graph.m, example.nodes.n_features, len(example.nodes.classes)) == (120, 320, 16, 3)
    assert len(example.snapshot) == 200
    counts = {name: count for name, count in example.report.counts.items() if count}
    assert counts == {"isolated": 8, "unlabelled": 4, "snapshot_absent": 30}
    assert len(example.targets) == 6
    assert "plays chess" in example.nodes.feature_names


def test_the_script_writes_the_example_that_ships(tmp_path):
    script = runpy.run_path(str(DATA / "make_example.py"))
    script["main"].__globals__["FOLDER"] = tmp_path / "example"
    script["main"]()
    for file in ("nodes.csv", "edges.csv", "snapshot.csv", "targets.csv"):
        assert (tmp_path / "example" / file).read_bytes() == (DATA / "example" / file).read_bytes()
