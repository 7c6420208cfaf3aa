"""Nodes and ties of a GraphML or GEXF file with their lines, which the graph library doesn't keep."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from xml.parsers import expat

from core.datasets.owner import limits
from core.datasets.owner.refusal import one_line, too_many, wrong
from core.errors import BadInput


@dataclass
class Marks:
    """`ids`: node ids in file order. `names`, `ends`: distinct ends, and each tie by place in them. Lines of both.

    `directed`: the file calls its ties directed. `weighted`: ties bear a weight.
    """

    ids: list[str] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    names: dict[str, int] = field(default_factory=dict)
    name_lines: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    graphs: int = 0
    directed: bool = False
    weighted: bool = False


def scan(data: bytes, file: str, kind: str) -> Marks:
    """Return the nodes and ties that an XML file declares.

    Raises `BadInput` with the line for XML that isn't well formed, entities of its own (they can
    unpack to any size), a node without an id, a tie without an end, more than one graph, a graph
    within a graph, hyperedges, and beyond the limits.
    """
    marks = Marks()
    parser = expat.ParserCreate()

    def refuse(found: str, expected: str, remedy: str) -> BadInput:
        return wrong(file, parser.CurrentLineNumber, found, expected, remedy)

    def entity(*_: object) -> None:
        raise refuse("found an entity declaration", "plain XML", "save the file without a DTD")

    def start(tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "graph":
            marks.graphs += 1
            if marks.graphs > 1:
                raise refuse("found a second graph", "one graph, none within it", "save them one a file")
            marks.directed = "directed" in (attributes.get("edgedefault"), attributes.get("defaultedgetype"))
        elif name == "hyperedge":
            raise refuse("found a hyperedge", "edges between two nodes", "split it into edges")
        elif name == "node":
            if "id" not in attributes:
                raise refuse("found a node without an id", "an id for each node", "name it")
            marks.ids.append(attributes["id"].strip())
            marks.lines.append(parser.CurrentLineNumber)
            if len(marks.ids) > limits.MOST_NODES:
                raise too_many(file, parser.CurrentLineNumber, "nodes", limits.MOST_NODES)
        elif name == "edge":
            marks.weighted |= "weight" in attributes
            for part in ("source", "target"):
                if part not in attributes:
                    raise refuse(f"found an edge without a {part}", "both ends", "add it or drop the edge")
                text = attributes[part].strip()
                if text not in marks.names:
                    marks.names[text] = len(marks.names)
                    marks.name_lines.append(parser.CurrentLineNumber)
                marks.ends.append(marks.names[text])
            if len(marks.ends) > 2 * limits.MOST_EDGES:
                raise too_many(file, parser.CurrentLineNumber, "edges", limits.MOST_EDGES)

    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        remedy = f"save it as {kind} again"
        raise wrong(
            file, error.lineno, f"found broken XML ({one_line(error)})", f"a whole {kind} file", remedy
        ) from None
    except (ValueError, LookupError) as error:  # an encoding it doesn't know
        found = f"found XML that can't be decoded ({one_line(error)})"
        raise wrong(file, None, found, "UTF-8", "save it as UTF-8") from None
    if not marks.graphs:
        raise wrong(file, None, "found no <graph>", f"a {kind} file", f"export the graph as {kind}")
    return marks
