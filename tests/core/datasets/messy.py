"""Messy owners' files and what happens to each: python -m tests.core.datasets.messy prints the table."""

from __future__ import annotations

import gzip
import io
import pickle
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from scipy import io as scipy_io
from scipy import sparse

from core.datasets import Dataset, Roles, load
from core.datasets.owner import limits
from core.errors import BadInput

NODES = "id,label,chess\nAnn,north,1\nBob,north,0\nCyd,south,1\nDan,south,0\n"
EDGES = "source,target\nAnn,Bob\nBob,Cyd\nCyd,Dan\n"
TIES = ("Ann-Bob", "Bob-Cyd", "Cyd-Dan")
NUMBERS = ("1-2", "2-3", "3-4")


@dataclass(frozen=True)
class Case:
    """`files`: what lies in the folder. `said`: parts of what must be said. `ties`: what must be loaded, None: refused.

    `path`: the file to load, the folder if empty. `most`: limits lowered for the case.
    """

    name: str
    files: Mapping[str, str | bytes]
    said: tuple[str, ...] = ()
    ties: tuple[str, ...] | None = None
    path: str = ""
    roles: Roles | None = None
    most: Mapping[str, int] = field(default_factory=dict)


def folder(**files: str | bytes) -> dict[str, str | bytes]:
    """The plain folder with some of its files replaced."""
    return {"nodes.csv": NODES, "edges.csv": EDGES} | {f"{name}.csv": text for name, text in files.items()}


def run(case: Case, at: Path) -> Dataset:
    """Write the files of a case into the empty folder `at` and load them."""
    for name, content in case.files.items():
        (at / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with ExitStack() as stack:
        for name, value in case.most.items():
            stack.enter_context(mock.patch.object(limits, name, value))
        return load(str(at / case.path), roles=case.roles)


def named_ties(dataset: Dataset) -> set[str]:
    """The edges as texts, the smaller id first."""
    return {"-".join(sorted(dataset.nodes.ids[row] for row in edge)) for edge in dataset.graph.edges}


def happened(case: Case) -> str:
    """What loading a case comes to, in one line."""
    with tempfile.TemporaryDirectory() as at:
        try:
            dataset = run(case, Path(at))
        except BadInput as error:
            return f"refused: {str(error).replace(at, '.')}"
    nodes, report = dataset.nodes, dataset.report
    counts = [f"{count} {name}" for name, count in report.counts.items() if count]
    size = f"{nodes.n} nodes, {dataset.graph.m} edges, {nodes.n_features} features, {len(nodes.classes)} classes"
    return "; ".join([f"loaded: {size}", *counts, *map(str, report.roles), *report.notes])


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of an .npz file."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def benchmark(**changes: np.ndarray | None) -> dict[str, np.ndarray]:
    """Arrays of four nodes in a row, in the layout of gnn-benchmark."""
    ties = sparse.csr_array((np.ones(3), ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    arrays: dict[str, np.ndarray | None] = {
        "adj_data": ties.data,
        "adj_indices": ties.indices,
        "adj_indptr": ties.indptr,
        "adj_shape": np.array(ties.shape),
        "labels": np.array([0, 0, 1, 1]),
        "node_names": np.array(["Ann", "Bob", "Cyd", "Dan"]),
    }
    return {name: array for name, array in (arrays | changes).items() if array is not None}


def torch_bytes(value: object) -> bytes:
    """The bytes of a .pt file."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def pyg(**parts: object) -> bytes:
    """The bytes of a PyG graph of four nodes in a row."""
    from torch_geometric.data import Data

    ends = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    return torch_bytes(Data(x=torch.eye(4), edge_index=ends, y=torch.tensor([0, 0, 1, 1]), **parts))


def matlab(**parts: object) -> bytes:
    """The bytes of a .mat file."""
    stream = io.BytesIO()
    scipy_io.savemat(stream, parts)
    return stream.getvalue()


class Unsafe:
    """An object whose pickle would run code."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("code ran",)


def archive(name: str) -> bytes:
    """A zip file with one entry, as spreadsheets are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as entries:
        entries.writestr(name, "x")
    return stream.getvalue()


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="a" for="node" attr.name="age" attr.type="double"/>
<key id="m" for="node" attr.name="member" attr.type="boolean"><default>false</default></key>
<key id="c" for="node" attr.name="class" attr.type="string"/>
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="directed">
<node id="Ann"><data key="a">30</data><data key="m">true</data><data key="c">north</data></node>
<node id="Bob"><data key="a">41.5</data><data key="c">north</data></node>
<node id="Cyd"><data key="c">south</data></node>
<node id="Dan"><data key="a">7</data><data key="c">south</data></node>
<edge source="Ann" target="Bob"><data key="w">2</data></edge>
<edge source="Bob" target="Ann"/>
<edge source="Bob" target="Cyd" directed="false"/>
<edge source="Cyd" target="Dan"/>
</graph></graphml>
"""
GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="group" type="string"/><attribute id="1" title="age" type="integer"/>
<attribute id="2" title="tags" type="liststring"/></attributes>
<nodes>
<node id="Ann" label="Ann B."><attvalues>
<attvalue for="0" value="north"/><attvalue for="1" value="30"/></attvalues></node>
<node id="Bob" label="Bob C."><attvalues>
<attvalue for="0" value="north"/><attvalue for="2" value="x|y"/></attvalues></node>
<node id="Cyd" label="Cyd D."/><node id="Dan" label="Dan E."/>
</nodes>
<edges><edge id="0" source="Ann" target="Bob" weight="2.0"/><edge id="1" source="Bob" target="Cyd"/>
<edge id="2" source="Bob" target="Cyd"/><edge id="3" source="Cyd" target="Dan" type="directed"/></edges>
</graph></gexf>
"""
GML = """Creator "someone"
graph
[
  directed 0
  node [ id 1 label "Zoë" value 1 ]
  node [ id 2 label "Bob" value 1 ]
  node [ id 3 label "Cyd" value 2 ]
  edge [ source 1 target 2 weight 0.5 ]
  edge [ source 2 target 1 ]
  edge [ source 2 target 3 ]
]
"""

CASES: list[Case] = [
    # Text as it comes.
    Case("UTF-8 with a BOM and CRLF", folder(nodes="\ufeff" + NODES.replace("\n", "\r\n")), (), TIES),
    Case("UTF-16, as Excel's Unicode text", folder(nodes=NODES.replace(",", "\t").encode("utf-16")), (), TIES),
    Case("old Macintosh line ends", folder(edges=EDGES.replace("\n", "\r")), (), TIES),
    Case("comments and blank lines", folder(edges="# who knows whom\n\n% 2024\n" + EDGES), ("2 comment lines",), TIES),
    Case(
        "ids that begin with #",
        {"nodes.csv": "id,f\n#a,1\n#b,0\n#c,1\n", "edges.csv": "source,target\n#a,#b\n# a remark\n#b,#c\n"},
        ("1 comment lines",),
        ("#a-#b", "#b-#c"),
    ),
    Case(
        "semicolons and decimal commas",
        folder(nodes=NODES.replace(",", ";").replace("1\n", "1,5\n")),
        ("decimal",),
        TIES,
    ),
    Case("tabs", {"nodes.tsv": NODES.replace(",", "\t"), "edges.tsv": EDGES.replace(",", "\t")}, (), TIES),
    Case("blanks, of any number", {"nodes.csv": NODES, "edges.txt": EDGES.replace(",", "  ")}, (), TIES),
    Case("Excel's first line sep=;", folder(edges="sep=;\n" + EDGES.replace(",", ";")), (), TIES),
    Case(
        "quoted ids with commas and blanks",
        {
            "nodes.csv": 'id,f\n"Lee, Ann",1\nBob,0\n"Cyd ""C"" X",2\n',
            "edges.csv": 'from,to\n"Lee, Ann", Bob\nBob,"Cyd ""C"" X"\n',
        },
        ("source = column 'from' (guessed)",),
        ("Bob-Lee, Ann", 'Bob-Cyd "C" X'),
    ),
    Case("gzip", {"nodes.csv.gz": gzip.compress(NODES.encode()), "edges.csv": gzip.compress(EDGES.encode())}, (), TIES),
    Case(
        "non-ASCII ids", {"edges.csv": "source,target\nZoë,Łukasz\n李,Zoë\n"}, (), ("Zoë-Łukasz", "Zoë-李"), "edges.csv"
    ),
    # Which column is which.
    Case("no header", folder(edges="Ann,Bob\nBob,Cyd\nCyd,Dan\n"), ("no header line",), TIES),
    Case(
        "a table without a header",
        folder(nodes="Ann,1,0.5,north\nBob,0,1,north\nCyd,1,1,south\nDan,0,0,south\n"),
        ("label = column 4 (guessed)",),
        TIES,
    ),
    Case(
        "other column names",
        folder(nodes=NODES.replace("id,label", "User,Class"), edges=EDGES.replace("source,target", "User 1,User 2")),
        ("id = column 'User' (guessed)", "label = column 'Class' (guessed)"),
        TIES,
    ),
    Case(
        "roles given by the owner",
        folder(nodes=NODES.replace("id,label", "who,dept")),
        ("label = column 'dept' (given)",),
        TIES,
        roles=Roles(id="who", label="dept"),
    ),
    Case(
        "a given role that is no column",
        folder(),
        ("nodes.csv line 1", "'id', 'label', 'chess'", "'dept'"),
        roles=Roles(label="dept"),
    ),
    Case(
        "columns in another order",
        folder(edges="weight,target,source\n3,Bob,Ann\n1,Cyd,Bob\n0,Dan,Cyd\n"),
        ("weights", "1 rows of weight 0"),
        TIES,
    ),
    Case(
        "pandas' row numbers",
        folder(nodes=",id,label,chess\n" + "".join(f"{k},{row}\n" for k, row in enumerate(NODES.split("\n")[1:5]))),
        ("numbers the rows",),
        TIES,
    ),
    Case(
        "a comma at the end of each line",
        folder(edges="source,target,\nAnn,Bob,\nBob,Cyd,\nCyd,Dan,\n"),
        ("left out 'column 3'",),
        TIES,
    ),
    Case(
        "the same header twice", folder(nodes=NODES.replace("label,", "chess,")), ("nodes.csv line 1", "'chess' twice")
    ),
    Case(
        "a name column called label",
        folder(
            nodes="id,Label\n"
            + "".join(f"{who},Name {who}\n" for who in ["Ann", "Bob", "Cyd", "Dan", *map(str, range(30))])
        ),
        ("no label",),
        TIES,
    ),
    # Ids.
    Case(
        "float-typed ids",
        {"nodes.csv": "id,f\n1.0,1\n2.0,0\n3.0,1\n4.0,1\n", "edges.csv": "source,target\n1.0,2\n2,3.0\n3,4\n"},
        ("respelt_ids",),
        NUMBERS,
    ),
    Case(
        "float-typed ids in the edges only",
        {"nodes.csv": "id,f\n1,1\n2,0\n3,1\n4,1\n", "edges.csv": "source,target\n1.0,2.0\n2.0,3.0\n3.0,4.0\n"},
        ("4 respelt_ids",),
        NUMBERS,
    ),
    Case("ids with leading zeros", {"edges.txt": "007 01\n01 1\n"}, ("3 nodes",), ("007-01", "01-1"), "edges.txt"),
    Case("an id twice", folder(nodes=NODES + "Ann,south,0\n"), ("nodes.csv line 6", "'Ann'", "line 2")),
    Case("an empty id", folder(nodes=NODES + ",south,0\n"), ("nodes.csv line 6", "empty id")),
    Case("a line break in an id", folder(nodes=NODES + '"E\nve",south,0\n'), ("nodes.csv line 6", "control character")),
    Case(
        "an unknown id in the edges",
        folder(edges=EDGES + "Dan,Zed\n"),
        ("edges.csv line 5", "'Zed'", "4 node ids", "add it"),
    ),
    Case("node order other than the ids'", folder(nodes="id,f\nDan,1\nAnn,2\nCyd,3\nBob,4\n"), (), TIES),
    # Edges.
    Case(
        "duplicates, both directions, self-loops",
        folder(edges=EDGES + "Bob,Ann\nAnn,Bob\nDan,Dan\n"),
        ("1 duplicates", "1 reversed", "1 self_loops"),
        TIES,
    ),
    Case("an isolated node", folder(nodes=NODES + "Eve,north,1\n"), ("1 isolated",), TIES),
    Case("an unlabelled node", folder(nodes=NODES.replace("Dan,south", "Dan,")), ("1 unlabelled",), TIES),
    Case("no label at all", folder(nodes="id,chess\nAnn,1\nBob,0\nCyd,1\nDan,1\n"), ("no labels", "0 classes"), TIES),
    Case("no feature at all", folder(nodes="id,label\nAnn,a\nBob,a\nCyd,b\nDan,b\n"), ("0 features",), TIES),
    Case("a line with too few cells", folder(edges=EDGES + "Ann\n"), ("edges.csv line 5", "1 cells", "2")),
    Case("a quote left open", folder(edges=EDGES + '"Ann,Bob\n'), ("edges.csv line 5", "broken CSV")),
    Case("only self-loops", folder(edges="source,target\nAnn,Ann\n"), ("edges.csv line 1", "no edge")),
    # Features.
    Case(
        "missing feature cells",
        folder(nodes="id,age,city\nAnn,30,Rome\nBob,,\nCyd,NaN,Oslo\nDan,4,Oslo\n"),
        ("3 missing_features", "3 features"),
        TIES,
    ),
    Case("categories", folder(nodes="id,city\nAnn,Rome\nBob,Oslo\nCyd,Rome\nDan,Bern\n"), ("3 features",), TIES),
    Case("lists in a cell", folder(nodes="id,tags\nAnn,a|b\nBob,b\nCyd,\nDan,c|a\n"), ("3 features",), TIES),
    Case(
        "JSON lists in a cell",
        folder(nodes='id,tags\nAnn,"[""a"",""b""]"\nBob,[]\nCyd,"[""a""]"\nDan,[]\n'),
        ("2 features",),
        TIES,
    ),
    Case(
        "features one a line",
        folder(nodes="id\nAnn\nBob\nCyd\nDan\n", features="id,feature\nAnn,jazz\nBob,jazz\nDan,rock\n"),
        ("2 features",),
        TIES,
    ),
    Case(
        "a text among numbers",
        folder(nodes=NODES.replace("Cyd,south,1", "Cyd,south,yes?")),
        ("nodes.csv line 4", "'yes?'", "'chess'"),
    ),
    Case(
        "an infinite number",
        folder(nodes=NODES.replace("Cyd,south,1", "Cyd,south,1e999")),
        ("nodes.csv line 4", "'1e999'"),
    ),
    # Snapshot and targets.
    Case(
        "snapshot pairs that are no edge",
        folder(snapshot="source,target\nAnn,Dan\nBob,Ann\nAnn,Bob\n"),
        ("1 snapshot_absent", "1 snapshot_repeats"),
        TIES,
    ),
    Case(
        "a snapshot by date",
        folder(snapshot="source,target,date\nAnn,Dan,2024-03-01\nBob,Ann,2023-01-31\n"),
        ("order = column 'date' (guessed)",),
        TIES,
    ),
    Case(
        "an unknown id in the snapshot", folder(snapshot="source,target\nAnn,Zed\n"), ("snapshot.csv line 2", "'Zed'")
    ),
    Case(
        "a date that is none",
        folder(snapshot="source,target,date\nAnn,Dan,2024-03-01\nAnn,Bob,soon\n"),
        ("snapshot.csv line 3", "'soon'", "ISO date"),
    ),
    Case("an unknown target", folder(targets="id\nAnn\nZed\n"), ("targets.csv line 3", "'Zed'")),
    # Files that aren't what they should be.
    Case("an empty file", folder(edges=""), ("edges.csv line 1", "empty file")),
    Case("comments only", folder(edges="# nothing yet\n"), ("edges.csv line 1", "only lines that begin with #")),
    Case("no node table", {"edges.csv": EDGES}, ("nodes.csv: found no such file", "name the edges alone")),
    Case("two node tables", folder() | {"nodes.tsv": NODES}, ("both nodes.csv and nodes.tsv",)),
    Case(
        "a spreadsheet named .csv",
        folder(nodes=archive("xl/workbook.xml")),
        ("nodes.csv: found a zip archive", "export it as CSV"),
    ),
    Case(
        "a web page named .csv",
        folder(edges="<!DOCTYPE html><html>login</html>"),
        ("edges.csv: found an XML or HTML file",),
    ),
    Case("JSON named .csv", folder(nodes='[{"id": "Ann"}]'), ("nodes.csv: found a JSON file",)),
    Case("a picture named .csv", folder(nodes=b"\x89PNG\r\n\x1a\n\0\0"), ("nodes.csv: found a picture",)),
    Case("zero bytes", folder(edges=EDGES.encode() + b"Ann,\0\n"), ("edges.csv line 5", "zero byte")),
    Case("Latin-1", folder(nodes=NODES.replace("Dan", "Zoë").encode("latin-1")), ("nodes.csv line 5", "not UTF-8")),
    Case(
        "a damaged gzip file",
        folder(nodes=gzip.compress(NODES.encode() * 99)[:60]),
        ("nodes.csv: found a damaged gzip",),
    ),
    Case(
        "a gzip bomb",
        folder(nodes=gzip.compress(b"\n" * 10**6)),
        ("nodes.csv", "more than 1,000 bytes"),
        most={"MOST_BYTES": 1000},
    ),
    Case("too many nodes", folder(), ("nodes.csv line 5", "more than 3 rows"), most={"MOST_NODES": 3}),
    Case("too many edges", folder(), ("edges.csv line 4", "more than 2 pairs"), most={"MOST_EDGES": 2}),
    # Edge lists.
    Case(
        "a SNAP edge list",
        {"g.txt.gz": gzip.compress(b"# Nodes: 4\n# FromNodeId\tToNodeId\n1\t2\n2\t1\n2\t3\n3\t4\n")},
        ("2 comment lines", "1 reversed", "private edges"),
        NUMBERS,
        "g.txt.gz",
    ),
    Case("a weighted edge list", {"g.csv": "1,2,0.5\n2,3,0.25\n3,4,1\n"}, ("left out 'column 3'",), NUMBERS, "g.csv"),
    Case("an edge list with an empty id", {"g.csv": "a,b\n,c\n"}, ("g.csv line 2", "empty id"), path="g.csv"),
    # GraphML, GEXF, GML.
    Case(
        "GraphML with types, defaults, mixed directions",
        {"g.graphml": GRAPHML},
        ("2 features", "2 classes", "1 reversed", "1 missing", "directions dropped", "weights ignored"),
        TIES,
        "g.graphml",
    ),
    Case(
        "GraphML with an undeclared node",
        {"g.graphml": GRAPHML.replace('target="Dan"', 'target="Zed"')},
        ("g.graphml line 15", "'Zed'"),
        path="g.graphml",
    ),
    Case(
        "GraphML with an id twice",
        {"g.graphml": GRAPHML.replace('id="Dan"', 'id="Ann"')},
        ("g.graphml line 11", "line 8"),
        path="g.graphml",
    ),
    Case(
        "GraphML with a text as a double",
        {"g.graphml": GRAPHML.replace(">41.5<", ">old<")},
        ("g.graphml", "'old'"),
        path="g.graphml",
    ),
    Case("GraphML cut off", {"g.graphml": GRAPHML[:700]}, ("g.graphml line", "broken XML"), path="g.graphml"),
    Case(
        "GraphML with entities",
        {"g.graphml": GRAPHML.replace("?>\n", '?>\n<!DOCTYPE g [<!ENTITY a "aaaa">]>\n', 1)},
        ("line 2", "entity"),
        path="g.graphml",
    ),
    Case(
        "GEXF 1.3, a multigraph",
        {"g.gexf": GEXF},
        ("label = column 'group' (guessed)", "1 duplicates", "3 features"),
        TIES,
        "g.gexf",
    ),
    Case(
        "GML, a multigraph, non-ASCII",
        {"g.gml": GML},
        ("id = column 'label' (guessed)", "1 reversed"),
        ("Bob-Zoë", "Bob-Cyd"),
        "g.gml",
    ),
    Case("GML with a fault", {"g.gml": GML.replace('"Bob"', "Bob Lee")}, ("g.gml line 6",), path="g.gml"),
    # Binary files.
    Case(".npz in gnn-benchmark's layout", {"g.npz": packed(benchmark())}, ("2 classes",), TIES, "g.npz"),
    Case(
        ".npz with pickled names",
        {"g.npz": packed(benchmark(node_names=np.array(["Ann", "Bob", "Cyd", 4], dtype=object)))},
        ("g.npz: found a pickled array",),
        path="g.npz",
    ),
    Case(
        ".npz with other arrays",
        {"g.npz": packed({"x": np.eye(3)})},
        ("g.npz: found arrays 'x'", "adj_data"),
        path="g.npz",
    ),
    Case(
        ".npz with labels of another length",
        {"g.npz": packed(benchmark(labels=np.arange(3)))},
        ("g.npz", "(3,)"),
        path="g.npz",
    ),
    Case("a pickle named .npz", {"g.npz": pickle.dumps([1, 2])}, ("g.npz: found no NumPy archive",), path="g.npz"),
    Case(
        "PyG Data with names",
        {"g.pt": pyg(node_names=["Ann", "Bob", "Cyd", "Dan"])},
        ("3 reversed", "4 features"),
        TIES,
        "g.pt",
    ),
    Case(
        "a dict of tensors without features",
        {"g.pt": torch_bytes({"edge_index": torch.tensor([[1, 2, 3], [2, 3, 4]])})},
        ("5 nodes", "1 isolated"),
        NUMBERS,
        "g.pt",
    ),
    Case(
        "a .pt that would run code",
        {"g.pt": torch_bytes({"x": Unsafe()})},
        ("g.pt: found a pickle", "could run code"),
        path="g.pt",
    ),
    Case(
        "a state dict named .pt",
        {"g.pt": torch_bytes({"conv1.weight": torch.eye(2)})},
        ("g.pt: found 'conv1.weight'", "edge_index"),
        path="g.pt",
    ),
    Case(
        "Facebook100",
        {
            "g.mat": matlab(
                A=sparse.csc_array(np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)),
                local_info=np.array(
                    [
                        [1, 1, 5, 0, 9, 2004, 7],
                        [1, 2, 5, 0, 9, 2005, 7],
                        [1, 1, 6, 0, 0, 2004, 8],
                        [2, 0, 5, 1, 9, 2004, 8],
                    ]
                ),
            )
        },
        ("label = column 'gender' (guessed)", "1 unlabelled", "3 reversed"),
        ("0-1", "1-2", "2-3"),
        "g.mat",
    ),
    Case(
        "a .mat without A",
        {"g.mat": matlab(B=np.eye(2))},
        ("g.mat: found what can't be read as Facebook100", "B and no A"),
        path="g.mat",
    ),
    Case("a file of no known kind", {"g.xlsx": archive("x")}, ("'g.xlsx'", ".graphml"), path="g.xlsx"),
]


def table() -> str:
    """A markdown table of all cases and what happens."""
    rows = [f"| {number} | {case.name} | {happened(case).replace('|', '¦')} |" for number, case in enumerate(CASES, 1)]
    return "\n".join(["| | input | what happens |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    print(table())
