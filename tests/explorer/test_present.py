"""Written frontiers shown again: figures as written, every view by name, refusals in one line, and no graph."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from core.cli import run
from core.study.tables import read_made, read_table, write_table
from core.study.written import Frontiers, read_frontiers, read_written
from explorer.figures.curves import top_of
from explorer.present.choice import Choice
from explorer.present.page import Presentation
from explorer.present.report import report_page
from explorer.present.tables import arms_html, price_html, saved_html
from explorer.present.words import made_html

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real frontiers of the karate club: two arms of all nodes, and one of the random targets."""
    out = tmp_path_factory.mktemp("written")
    asked = ["frontier", "--dataset", "karate", "--rho", "0.5", "--rho", "1", "--epsilon", "1", "--epsilon", "8"]
    arms = ["--arm", "full", "--arm", "edge-only"]
    assert run([*asked, *arms, "--population", "all", "--seeds", "2", "--out", str(out / "all.csv")]) == 0
    assert run([*asked, "--seeds", "2", "--out", str(out / "random.parquet")]) == 0
    return out


@pytest.fixture
def shown(folder: Path) -> Frontiers:
    return read_frontiers([folder / "all.csv", folder / "random.parquet"])


def rewritten(folder: Path, path: Path, change=lambda rows, made: None) -> Path:
    """A copy of the first table after `change` was made to its rows and header."""
    rows, made = read_table(folder / "all.csv"), read_made(folder / "all.csv")
    changed = change(rows, made)
    write_table(rows if changed is None else changed, made, path)
    return path


def test_both_formats_say_the_same_header(folder: Path, tmp_path: Path) -> None:
    copy = rewritten(folder, tmp_path / "copy.parquet")
    assert read_made(copy) == read_made(folder / "all.csv")
    assert read_made(copy)["seeds"] == [0, 1]
    assert re.fullmatch("[0-9a-f]{64}", read_made(copy)["dataset_sha256"])


def test_a_digest_of_digits_alone_stays_text(folder: Path, tmp_path: Path) -> None:
    digits = rewritten(folder, tmp_path / "d.csv", lambda rows, made: made.update(dataset_sha256="1" * 64))
    assert read_made(digits)["dataset_sha256"] == "1" * 64


def test_the_price_list_holds_every_written_figure(shown: Frontiers) -> None:
    rows = shown.of("karate", "all")
    rows = rows[rows["arm"] == "full"]
    table = tables(price_html(rows))[0]
    assert list(table.columns) == ["ρ", "prior", "public-only", "ε = 1", "ε = 8", "ceiling"]
    assert len(table) == 4
    for _, cell in rows.iterrows():
        label = f"ρ = {cell['rho']:g}" + ("†" if cell["rho"] == 1 else "")
        line = table[(table["ρ"] == label) & (table["prior"] == cell["prior"])].iloc[0]
        assert line[f"ε = {cell['epsilon']:g}"] == f"{cell['valid']:.4f} ± {cell['valid_std']:.3f}"
        assert line["ceiling"].startswith(f"{cell['ceiling']:.4f}")
        assert line["public-only"] == f"{cell['public_only']:.4f}"


def test_arms_stand_side_by_side_at_one_rho(shown: Frontiers) -> None:
    rows = shown.of("karate", "all")
    table = tables(arms_html(rows[rows["rho"] == 1.0]))[0]
    assert list(zip(table["arm"], table["prior"], strict=True)) == [
        ("full", "uniform"), ("full", "guided"), ("edge-only", "uniform"), ("edge-only", "guided"),
    ]  # fmt: skip


def test_what_was_not_priced_is_said(folder: Path, tmp_path: Path) -> None:
    def drop(rows: pd.DataFrame, _made: dict) -> pd.DataFrame:
        rows = rows[(rows["prior"] == "uniform") & ~((rows["rho"] == 1) & (rows["epsilon"] == 8))]
        return rows.assign(public_only=float("nan"))

    rows = read_written(rewritten(folder, tmp_path / "half.csv", drop)).rows
    rows = rows[rows["arm"] == "full"]
    table = tables(price_html(rows))[0]
    assert list(table["public-only"]) == ["–", "–"]
    assert table["ε = 8"].iloc[1] == "–"
    assert "Only the uniform prior was priced" in saved_html(rows)


@pytest.mark.parametrize(("highest", "top"), [(0.03, 0.04), (0.2, 0.2), (0.21, 0.4), (0.81, 1.0), (1.0, 1.0)])
def test_the_axis_ends_above_every_value(highest: float, top: float) -> None:
    rows = pd.DataFrame({"ceiling": [highest], "valid": [0.0], "valid_std": [0.0], "public_only": [float("nan")]})
    assert top_of(rows) == top


def test_a_choice_grants_what_the_files_hold(shown: Frontiers) -> None:
    choice = Choice(shown)
    assert (choice.view, choice.population, choice.arm, choice.rho) == ("prices", "all", "full", 0.5)
    choice.param.update(view="arms", population="all", arm="edge-only", rho=1)
    assert (choice.view, choice.arm, choice.rho, choice.lost) == ("arms", "edge-only", 1.0, "")
    assert set(choice.rows["arm"]) == {"edge-only"} and len(choice.rows) == 8


def test_a_wish_in_vain_is_named_and_gives_the_first_that_there_is(shown: Frontiers) -> None:
    choice = Choice(shown)
    choice.param.update(view="secrets", arm="<script>", rho="many", population=7)
    assert (choice.view, choice.population, choice.arm, choice.rho) == ("prices", "all", "full", 0.5)
    assert choice.lost == "view secrets, population 7, arm <script>, rho many"
    choice.arm = "edge-only"
    assert choice.lost == ""
    choice.population = "random"  # holds the full arm alone
    assert (choice.arm, choice.lost) == ("full", "arm edge-only")


def test_nobody_sees_a_choice_half_settled(shown: Frontiers) -> None:
    choice, seen = Choice(shown), []
    choice.param.watch(lambda *_: seen.append((choice.population, choice.arm)), ["population", "arm"])
    choice.arm = "edge-only"
    choice.population = "random"
    assert set(seen) == {("all", "edge-only"), ("random", "full")}


def test_every_view_shows_and_escapes(shown: Frontiers) -> None:
    seen = Presentation(shown)
    for view, said in (("prices", "Price list"), ("curves", "Valid-CF over"), ("arms", "Arms at"), ("about", "made")):
        seen.view.value = view
        assert seen.choice.view == view
        assert said in seen._upper.object
        assert bool(seen._figures.objects) == (view in ("curves", "arms"))
    seen.choice.arm = "<b>x"
    assert "&lt;b&gt;x" in seen._lost.object and "<b>x" not in seen._lost.object


def test_controls_offer_what_depends_on_the_others(shown: Frontiers) -> None:
    seen = Presentation(shown)
    assert seen.selects["population"].options == {"all": "all", "random": "random"}
    seen.selects["population"].value = "random"
    assert seen.choice.population == "random"
    assert seen.selects["arm"].disabled and seen.selects["arm"].options == {"full": "full"}
    assert not seen.selects["rho"].visible
    seen.view.value = "arms"
    assert seen.selects["rho"].visible and not seen.selects["arm"].visible


def test_no_digest_and_no_folder_is_shown(shown: Frontiers, folder: Path) -> None:
    """A digest of the private graph would let anyone test a guess at it."""
    digests = [read_made(folder / "all.csv")[name] for name in ("dataset_sha256", "backbone_sha256")]
    for page in (report_page(shown), made_html(shown)):
        assert not any(digest[:12] in page for digest in digests)
        assert str(folder) not in page
        assert "all.csv" in page and "seeds 0, 1" in page and "torch" in page


def test_a_report_holds_every_table_and_asks_for_nothing(shown: Frontiers, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert run(["report", str(folder / "all.csv"), str(folder / "random.parquet"), "--out", str(out)]) == 0
    page = out.read_text()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    elements = re.sub("(<script[^>]*>).*?(</script>)", r"\1\2", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=(?![\"']?data:)|@import|url\(", elements)
    assert len(tables(page)) == 3 * 2 + 2 + 1  # prices and savings an arm, arms a rho, and the origin
    assert "Owner only" in page and 5e5 < len(page) < 4e6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows, made: rows.drop(columns="valid"), "found no column valid"),
        (lambda rows, made: rows.head(0), "found no row"),
        (lambda rows, made: rows.assign(valid=1.5), "found valid 1.5"),
        (lambda rows, made: rows.assign(epsilon="much"), "found epsilon much"),
        (lambda rows, made: rows.assign(epsilon=0.0), "found epsilon 0.0"),
        (lambda rows, made: rows.assign(arm="left"), "left"),
        (lambda rows, made: rows.assign(prior="bayes"), "bayes"),
        (lambda rows, made: rows.assign(dataset="cora"), "under a header of karate"),
        (lambda rows, made: pd.concat([rows, rows.head(1)]), "two rows of all, full, uniform, rho 0.5, ε 1"),
        (lambda rows, made: rows.assign(targets=range(1, len(rows) + 1)), "several targets"),
        (lambda rows, made: made.pop("notice") and None, "how it was made"),
    ],
)  # fmt: skip
def test_a_table_that_frontier_did_not_write_is_refused(folder: Path, tmp_path: Path, capsys, change, said) -> None:
    path = rewritten(folder, tmp_path / "bad.csv", change)
    refused(capsys, ["serve", "--present", str(path), "--port", "0"], said, str(path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows, made: None, "both hold all, full, uniform, rho 0.5, ε 1"),
        (lambda rows, made: made.update(dataset_sha256="0" * 64), "found dataset_sha256"),
        (lambda rows, made: made.update(size_penalty=1.0), "found size_penalty 0.0 and 1.0"),
        (lambda rows, made: made.update(seeds=[5, 6]), "found seeds [0, 1] and [5, 6]"),
        (lambda rows, made: rows.assign(targets=33, epsilon=rows["epsilon"] + 1), "found targets 34 and 33"),
        (lambda rows, made: rows.assign(sensitivity="paper"), "found sensitivity tight and paper"),
    ],
)  # fmt: skip
def test_files_that_clash_are_refused(folder: Path, tmp_path: Path, capsys, change, said) -> None:
    path = rewritten(folder, tmp_path / "other.csv", change)
    refused(capsys, ["report", str(folder / "all.csv"), str(path), "--out", str(tmp_path / "r.html")], said, str(path))
    assert not (tmp_path / "r.html").exists()


def test_a_file_named_twice_is_one_file(folder: Path) -> None:
    assert len(read_frontiers([folder / "all.csv", folder / "all.csv"]).files) == 1


def test_what_is_no_result_file_is_refused(folder: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    (tmp_path / "fake.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "binary.csv").write_bytes(b"# \xff\xfe\n")
    shutil.copy(folder / "all.csv", tmp_path / "all.txt")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    for name in ("edges.csv", "fake.parquet", "binary.csv", "other.parquet", "none.csv", "all.txt"):
        refused(capsys, ["serve", "--present", str(tmp_path / name)], str(tmp_path / name))
    refused(capsys, ["serve", "--present"], "found no file")
    refused(capsys, ["serve", str(folder / "all.csv")], "--present")
    refused(capsys, ["serve", "--present", str(folder / "all.csv"), "--dataset", "cora"], "--dataset")
    refused(capsys, ["serve", "--present", str(folder / "all.csv"), "--label-column", "x"], "--label-column")


class Cells(HTMLParser):
    """Collects the tables of a page as rows of cell texts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[list[str]]] = []
        self._open = False

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found[-1][-1][-1] += data


def tables(page: str) -> list[pd.DataFrame]:
    reader = Cells()
    reader.feed(page)
    return [pd.DataFrame(rows, columns=head) for head, *rows in reader.found]


def refused(capsys, arguments: list[str], *said: str) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("privcfs: ")
    assert all(part in error for part in said), error


def test_presenting_loads_nothing_that_opens_graphs() -> None:
    code = "import sys, explorer.serve, explorer.present.report; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "explorer.present.page" in loaded and "core.study.written" in loaded
    opens = {"torch", "core.datasets", "core.study.study", "core.backbone.train", "core.snapshot.simulate"}
    assert not opens & loaded


GUARDED = """
import os, sys
opened, made = [], []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import core.cli, explorer.serve
from core.datasets import load
from core.datasets.dataset import Dataset
from core.graph import PrivateGraph
from core.study.study import Study
from explorer.present.page import Presentation

def counted(kind):
    start = kind.__init__
    def begin(self, *args, **options):
        made.append(kind.__name__)
        start(self, *args, **options)
    kind.__init__ = begin

def visit(shown, access):
    for _ in range(2):
        Presentation(shown).page().get_root()  # what a session of the server builds

for kind in (Dataset, PrivateGraph, Study):
    counted(kind)
explorer.serve.present = visit
if sys.argv[1] == "load":
    load("karate")
else:
    assert core.cli.run(["serve", *sys.argv[1:]]) == 0
print("made", sorted(set(made)))
tables = [path for path in opened if path.endswith((".csv", ".npz", ".pt", ".parquet"))]
print("opened", sorted({os.path.basename(path) for path in tables}))
"""


def guarded(*arguments: str) -> list[str]:
    """What a process that saw every open file and every data set, private graph and study made says of them."""
    command = [sys.executable, "-c", GUARDED, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_no_graph_is_made_and_no_data_file_opened_while_presenting(folder: Path) -> None:
    """The whole command but its listening. Arrow opens Parquet files unseen, so what is made counts too."""
    assert guarded("--present", str(folder / "all.csv"), str(folder / "random.parquet")) == [
        "made []", "opened ['all.csv']",
    ]  # fmt: skip


def test_a_graph_would_be_noticed() -> None:
    assert guarded("load")[0] == "made ['Dataset', 'PrivateGraph']"
