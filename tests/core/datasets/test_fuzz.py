"""Whatever lies under a file's name, loading it gives a data set or one line that says what is wrong."""

import gzip
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.datasets import Dataset, describe, load
from core.errors import BadInput
from tests.core.datasets.messy import EDGES, GEXF, GML, GRAPHML, NODES, benchmark, matlab, packed, pyg, torch_bytes

PATH = np.diag([1, 1, 1], 1)
FOLDER: dict[str, bytes] = {
    "nodes.csv": NODES.encode(),
    "edges.csv": EDGES.encode(),
    "snapshot.csv": b"source,target,order\nAnn,Dan,2024-03-01\nBob,Ann,2023-01-31\n",
    "targets.csv": b"id\nAnn\n",
    "features.csv": b"id,feature,value\nAnn,jazz,1\nBob,rock,0.5\n",
    "classes.csv": b"class\nsouth\nnorth\n",
}
SINGLE: dict[str, bytes] = {
    "g.csv": EDGES.encode(),
    "g.txt": b"# SNAP\n1 2\n2 3 \n",
    "g.tsv.gz": gzip.compress(b"1\t2\n2\t3\n"),
    "g.graphml": GRAPHML.encode(),
    "g.gexf": GEXF.encode(),
    "g.gml": GML.encode(),
    "g.npz": packed(benchmark(attr_matrix=np.eye(4))),
    "g.pt": pyg(train_mask=torch.tensor([True, False, True, False])),
    "dict.pt": torch_bytes({"edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.tensor([0, 1, 1])}),
    "g.mat": matlab(A=sparse.csc_array(PATH + PATH.T), local_info=np.ones((4, 7))),
}
SIGNS = "ab1.0,;|\t \"'#%\n\r{}[]<>=/&-_é\u2028\ud7ff\ufeff\0"

soup = st.one_of(
    st.binary(max_size=300), st.text(SIGNS, max_size=120).map(lambda text: text.encode("utf-8", "replace"))
)


@st.composite
def spoilt(draw, content: bytes) -> bytes:
    """`content` with a few bytes changed, left out, repeated or cut off."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["change", "insert", "delete", "cut", "repeat"])):
            case "change":
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "insert":
                data[at:at] = draw(st.one_of(st.binary(max_size=8), st.text(SIGNS, max_size=8).map(str.encode)))
            case "delete":
                del data[at : at + draw(st.integers(1, 40))]
            case "cut":
                del data[at:]
            case "repeat":
                data[at:at] = data[at : at + draw(st.integers(1, 60))]
    return bytes(data)


def outcome(name: str, content: bytes) -> Dataset | str:
    """What loading `content` under `name` comes to; files of a folder lie among the plain others."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = FOLDER | {name: content} if name in FOLDER else {name: content}
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        try:
            return load(folder if name in FOLDER else str(Path(folder) / name))
        except BadInput as error:
            return str(error)


def check(name: str, content: bytes) -> None:
    found = outcome(name, content)
    if isinstance(found, str):
        assert len(found.splitlines()) == 1
        assert found.isprintable()
        assert "expected" in found
    else:
        figures = describe(found)
        assert figures["nodes"] == len(found.nodes.ids) > 1
        assert figures["edges"] > 0


@pytest.mark.parametrize("name", [*FOLDER, *SINGLE])
def test_unspoilt_files_load(name):
    assert isinstance(outcome(name, (FOLDER | SINGLE)[name]), Dataset)


@pytest.mark.parametrize("name", [*FOLDER, *SINGLE])
@given(content=soup)
def test_random_contents_load_or_are_refused(name, content):
    check(name, content)


@pytest.mark.parametrize("name", [name for name in (*FOLDER, *SINGLE) if name != "g.mat"])
@given(data=st.data())
def test_spoilt_files_load_or_are_refused(name, data):
    check(name, data.draw(spoilt((FOLDER | SINGLE)[name])))


@given(spoilt(SINGLE["g.mat"]))
@settings(max_examples=15)
def test_spoilt_matlab_files_load_or_are_refused(content):
    """Few of them: each has a process of its own."""
    check("g.mat", content)


numbers = st.one_of(st.integers(-2, 9), st.sampled_from([0.5, np.nan, np.inf, 2**40, -(2**62)]))
arrays = st.one_of(
    st.lists(numbers, max_size=6).map(np.array),
    st.lists(st.integers(0, 4), min_size=1, max_size=8).map(np.array),
    st.lists(st.text(SIGNS.replace("\0", ""), max_size=3), max_size=5).map(lambda texts: np.array(texts, dtype=str)),
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(np.ones),
    st.just(np.array(3)),
    st.just(np.array([1 + 2j])),
    st.just(np.array([True, False, True, True])),
    st.just(np.array(["2020-01-01"], dtype="datetime64[D]")),
    st.just(np.zeros(2, dtype=[("a", int)])),
)
VALID = benchmark(attr_matrix=np.eye(4), attr_names=np.array(list("abcd")), class_names=np.array(["x", "y"]))
KEYS = [*VALID, *(f"attr_{part}" for part in ("data", "indices", "indptr", "shape"))]


@given(st.dictionaries(st.sampled_from(KEYS), arrays, max_size=3), st.sets(st.sampled_from(KEYS), max_size=2))
def test_odd_arrays_in_an_archive_load_or_are_refused(odd, left_out):
    parts = VALID | odd
    check("g.npz", packed({key: array for key, array in parts.items() if key not in left_out}))


def tensor(array: np.ndarray) -> object:
    try:
        return torch.from_numpy(array)
    except TypeError:
        return array.tolist()


PARTS = {"edge_index": torch.tensor([[0, 1], [1, 2]]), "x": torch.eye(3), "y": torch.tensor([0, 1, 1])}
NAMES = [*PARTS, "train_mask", "val_mask", "num_nodes", "node_names", "class_names", "feature_names"]
values = st.one_of(
    arrays.map(tensor), st.none(), st.text(max_size=3), st.integers(-1, 9), st.dictionaries(numbers, numbers)
)


@given(st.dictionaries(st.sampled_from(NAMES), values, max_size=3))
def test_odd_values_in_a_torch_file_load_or_are_refused(odd):
    check("g.pt", torch_bytes(PARTS | odd))
