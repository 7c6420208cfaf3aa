import pytest

from core.datasets import Roles, load
from core.datasets.owner.ids import natural, without_points
from core.datasets.owner.roles import ends_by_name
from tests.core.datasets.messy import EDGES, NODES, Case, folder, named_ties, run
from tests.core.datasets.refusal import refusal

TABLE = """person,town,club,mark,set
Ann,Rome,north,1,train
Bob,Oslo,north,2,test
Cyd,Rome,south,3,train
Dan,Bern,south,4,
"""


def loaded(tmp_path, roles=None, **files):
    return run(Case("", folder(**files), roles=roles), tmp_path)


def told(dataset) -> dict[str, tuple[str, bool]]:
    return {f"{role.file} {role.part}": (role.column, role.guessed) for role in dataset.report.roles}


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        (["source", "target"], (0, 1)),
        (["weight", "To", "FROM"], (2, 1)),
        (["Node_1", "node 2"], (0, 1)),
        (["id", "src", "dst"], (1, 2)),
        (["source", "to"], (0, 1)),
        (["a", "b"], None),
        (["source"], None),
    ],
)
def test_ends_are_told_by_usual_names(columns, places):
    assert ends_by_name(columns) == places


def test_what_was_guessed_and_given_is_kept(tmp_path):
    dataset = loaded(tmp_path, Roles(label="CLUB", split="set", ignore=("town",)), nodes=TABLE)
    assert told(dataset)["nodes.csv id"] == ("person", True)
    assert told(dataset)["nodes.csv label"] == ("club", False)
    assert told(dataset)["edges.csv source"] == ("source", True)
    assert dataset.nodes.classes == ("north", "south")
    assert dataset.nodes.feature_names == ("mark",)
    assert dataset.split.train.tolist() == [0, 2]
    assert dataset.split.test.tolist() == [1]
    assert "nodes.csv: left out 'town'" in dataset.report.notes
    assert "nodes.csv: label = column 'club' (given)" in dataset.report.lines()


def test_given_features_come_in_the_given_order_and_alone(tmp_path):
    dataset = loaded(tmp_path, Roles(features=("mark", "town"), categorical=("mark",), label=""), nodes=TABLE)
    assert dataset.nodes.feature_names[:4] == ("mark=1", "mark=2", "mark=3", "mark=4")
    assert dataset.nodes.feature_names[4:] == ("town=Bern", "town=Oslo", "town=Rome")
    assert dataset.nodes.classes == ()


def test_a_column_given_as_a_feature_is_no_guessed_label(tmp_path):
    dataset = loaded(tmp_path, Roles(features=("label",)))
    assert dataset.nodes.feature_names == ("label=north", "label=south")
    assert dataset.nodes.classes == ()


def test_an_empty_name_says_that_there_is_none(tmp_path):
    dataset = loaded(tmp_path, Roles(label=""))
    assert dataset.nodes.classes == ()
    assert dataset.nodes.feature_names == ("label=north", "label=south", "chess")


def test_ends_may_be_given(tmp_path):
    edges = "when,a,b\n1,Ann,Bob\n2,Bob,Cyd\n3,Cyd,Dan\n"
    assert "'when', 'a', 'b'" in refusal(loaded, tmp_path, edges=edges)
    dataset = loaded(tmp_path, Roles(source="a", target="b"), edges=edges)
    assert named_ties(dataset) == {"Ann-Bob", "Bob-Cyd", "Cyd-Dan"}


def test_one_end_given_the_other_is_guessed(tmp_path):
    dataset = loaded(tmp_path, Roles(target="source"))
    assert told(dataset)["edges.csv target"] == ("source", False)
    assert told(dataset)["edges.csv source"] == ("target", True)


def test_a_header_may_be_given_where_it_looks_like_a_pair(tmp_path):
    edges = "Boss,Worker\nAnn,Bob\nBob,Cyd\n"
    (tmp_path / "g.csv").write_text(edges)
    assert load(str(tmp_path / "g.csv")).nodes.n == 5
    assert "no header line" in " ".join(load(str(tmp_path / "g.csv")).report.notes)
    assert load(str(tmp_path / "g.csv"), roles=Roles(header=True)).nodes.ids == ("Ann", "Bob", "Cyd")


def test_a_snapshot_without_the_given_names_is_guessed(tmp_path):
    dataset = loaded(
        tmp_path,
        Roles(source="u1", target="u2", order="when"),
        edges=EDGES.replace("source,target", "u1,u2"),
        snapshot="from,to,when\nAnn,Bob,2\nBob,Cyd,1\n",
    )
    assert dataset.snapshot.pairs.tolist() == [[1, 2], [0, 1]]


def test_a_given_order_must_be_there(tmp_path):
    assert "snapshot.csv" in refusal(loaded, tmp_path, Roles(order="when"))
    message = refusal(loaded, tmp_path, Roles(order="when"), snapshot="from,to,date\nAnn,Bob,2\n")
    assert message.startswith("snapshot.csv line 1: found columns 'from', 'to', 'date', expected a column 'when'")
    dataset = loaded(tmp_path, Roles(order=""), snapshot="from,to,date\nAnn,Bob,soon\nBob,Cyd,\n")
    assert dataset.snapshot.pairs.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (Roles(id="x"), "a column 'x' for the id"),
        (Roles(label="x"), "a column 'x' for the label"),
        (Roles(split="x"), "a column 'x' for the split"),
        (Roles(features=("chess", "x")), "a column 'x' for the features"),
        (Roles(ignore=("x",)), "a column 'x' for the ignored columns"),
        (Roles(categorical=("x",)), "a column 'x' for the categorical features"),
        (Roles(numeric=("x",)), "a column 'x' for the numeric features"),
        (Roles(source="x"), "a column 'x' for the source"),
        (Roles(target="x"), "a column 'x' for the target"),
        (Roles(label="id"), "as id and as label"),
        (Roles(source="source", target="source"), "as source and as target"),
        (Roles(split="chess"), "found split '1'"),
        (Roles(split="label", label="label"), "as label and as split"),
    ],
)
def test_roles_that_name_no_column_are_refused_with_those_found(tmp_path, roles, said):
    message = refusal(loaded, tmp_path, roles)
    assert said in message
    assert "found" in message


def test_roles_that_a_format_cannot_have_are_refused(tmp_path):
    (tmp_path / "g.csv").write_text(EDGES)
    assert "'label'" in refusal(load, str(tmp_path / "g.csv"), roles=Roles(label="x"))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1.0", "2"], ["1", "2"]),
        (["1.0", "-2.00"], ["1", "-2"]),
        (["1.0", "x"], ["1.0", "x"]),
        (["1.5", "2.0"], ["1.5", "2.0"]),
        (["1", "007"], ["1", "007"]),
        ([], []),
    ],
)
def test_float_typed_ids_lose_their_point_only_if_all_are_whole(texts, expected):
    assert without_points(texts) == expected


def test_names_are_sorted_by_value_only_if_all_are_whole_numbers():
    assert natural(["10", "9", "-1", "10"]) == ["-1", "9", "10"]
    assert natural(["10", "9", "x"]) == ["10", "9", "x"]
    assert natural(["b", "a", "B"]) == ["B", "a", "b"]


def test_classes_come_in_the_order_the_owner_lists(tmp_path):
    dataset = loaded(tmp_path, classes="class\nwest\nsouth\nnorth\n")
    assert dataset.nodes.classes == ("west", "south", "north")
    assert [dataset.nodes.classes[label] for label in dataset.labels] == ["north", "north", "south", "south"]
    assert "'north'" in refusal(loaded, tmp_path, classes="west\nsouth\n")
    assert "classes.csv line 3" in refusal(loaded, tmp_path, classes="north\nsouth\nsouth\n")


def test_labels_typed_as_floats_are_whole_numbers(tmp_path):
    dataset = loaded(tmp_path, nodes="id,y\nAnn,10.0\nBob,2.0\nCyd,\nDan,2.0\n")
    assert dataset.nodes.classes == ("2", "10")
    assert dataset.labels.tolist() == [1, 0, -1, 0]


def test_a_quantity_called_y_is_no_label(tmp_path):
    dataset = loaded(tmp_path, nodes="id,y\nAnn,0.1\nBob,0.2\nCyd,0.3\nDan,0.4\n")
    assert dataset.nodes.classes == ()
    assert dataset.nodes.n_features == 0
    assert any("'y' differs" in note for note in dataset.report.notes)


def test_the_table_of_the_plain_folder_is_as_written(tmp_path):
    assert loaded(tmp_path).nodes.ids == tuple(row.split(",")[0] for row in NODES.split("\n")[1:5])
