"""`privcfs reach` and `privcfs advise`: answers that hold in `inspect`, and every refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli import run
from core.cli.reach import sentence
from core.datasets import load
from core.study.inverse import Answer
from tests.core.cli.commands import answer, refusal

LIMITS = ("--limits", "4,3,2,2")
REACH = ("reach", "--dataset", "karate", *LIMITS)
ADVISE = ("advise", "--dataset", "karate", *LIMITS, "--rho", "0.6", "--epsilon", "2", "--seeds", "1")


def inspected(capsys, *more: str) -> float:
    return answer(capsys, "inspect", "--dataset", "karate", *LIMITS, *more)["valid"]


def test_what_is_shown_reaches_the_rate_in_inspect(capsys):
    said = answer(capsys, *REACH, "--target", "9", "--valid", "0.6", "--rho", "0.6")
    assert said["owner_only"] is True and said["reachable"] is True and said["limits"] == [4, 3, 2, 2]
    assert said["utility_weights"] == ["7/10", "1/5", "1/10"]
    assert (said["asked"], said["given"], said["seeds"]) == ("epsilon", 0.6, 1)
    shown = inspected(capsys, "--target", "9", "--rho", "0.6", "--epsilon", repr(said["shown"]))
    below = inspected(capsys, "--target", "9", "--rho", "0.6", "--epsilon", repr(said["value"] * 0.999))
    assert shown >= 0.6 > below
    said = answer(capsys, *REACH, "--target", "9", "--valid", "0.2", "--epsilon", "2")
    assert (
        said["asked"] == "rho"
        and inspected(capsys, "--target", "9", "--epsilon", "2", "--rho", repr(said["shown"])) >= 0.2
    )


def test_a_person_gets_one_sentence(capsys):
    assert run([*REACH, "--target", "9", "--valid", "0.6", "--rho", "0.6"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("node 9 reaches a valid rate of 0.6 at epsilon ") and "with rho 0.6 public" in said
    assert "Owner-only" in said and said.count("\n") == 2
    assert run([*REACH, "--population", "borderline", "--size", "2", "--valid", "0.01", "--rho", "0.6"]) == 0
    assert capsys.readouterr().out.startswith("the borderline population (2 targets, snapshots: 3) reaches")


def test_the_guided_prior_says_how_it_was_looked_for(capsys):
    assert run([*REACH, "--target", "9", "--valid", "0.9", "--rho", "0.6", "--prior", "guided"]) == 0
    assert "looked for at 39 values from 0.0078125 to 4096" in capsys.readouterr().out


def test_sentences():
    def said(asked, value, reached, ceiling):
        return sentence(
            Answer(asked, 0.5, 2.0 if asked == "rho" else 0.5, value, 9.0, reached, ceiling, 1, 1), "node 7"
        )

    assert said("epsilon", 3.0951, 0.5, 1.0) == "node 7 reaches a valid rate of 0.5 at epsilon 3.1 with rho 0.5 public"
    assert said("epsilon", 0.0, 0.6, 1.0) == "node 7 reaches a valid rate of 0.5 at any epsilon with rho 0.5 public"
    assert said("rho", 0.8, 0.6, 1.0) == "node 7 reaches a valid rate of 0.5 with rho 0.8 public at epsilon 2"
    no = "node 7: a valid rate of 0.5 is not reachable "
    assert said("epsilon", None, 0.37, 0.37) == no + "with rho 0.5 public: ceiling 0.37"
    assert said("rho", None, 0.21, 0.94) == no + "at epsilon 2: ceiling 0.94, at best 0.21"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--valid", "0.5"], "neither --rho nor --epsilon"),
        (["--valid", "0.5", "--rho", "0.5", "--epsilon", "1"], "both --rho and --epsilon"),
        (["--valid", "1", "--rho", "0.5"], "valid rate"),
        (["--valid", "nan", "--rho", "0.5"], "valid rate"),
        (["--valid", "0.5", "--rho", "2"], "rho"),
        (["--valid", "0.5", "--epsilon", "-1"], "epsilon"),
        (["--valid", "0.5", "--rho", "0.5", "--target", "9", "--population", "random"], "--target and --population"),
        (["--valid", "0.5", "--rho", "0.5", "--target", "9", "--size", "3"], "--size beside --target"),
        (["--valid", "0.5", "--rho", "0.5", "--target", "nobody"], "nobody"),
        (["--valid", "0.5", "--rho", "0.5", "--limits", "4,3,2"], "limits"),
        (["--valid", "0.5", "--rho", "0.5", "--limits", "4,3,two,2"], "limits"),
        (["--valid", "0.5", "--rho", "0.5", "--limits", "4,3,9,2"], "edges per intervention"),
        (["--valid", "0.5", "--rho", "0.5", "--weights", "0.7,0.2"], "weights"),
        (["--valid", "0.5", "--rho", "0.5", "--weights", "0.7,0.2,0.2"], "sum"),
        (["--valid", "0.5", "--rho", "0.5", "--weights", "0.7,0.2,x"], "w_plausible"),
    ],
)
def test_bad_input_is_one_line(capsys, more, said):
    assert said in refusal(capsys, *REACH, *more)


def test_advice_has_a_row_a_limit_and_says_that_it_is_for_the_owner(capsys):
    said = answer(capsys, *ADVISE)
    rows = said["rows"]
    assert said["owner_only"] is True and "depend on private edges" in said["warning"]
    assert (said["limits"], said["mechanism"]) == ([4, 3, 2, 2], "em")
    assert len(rows) == 37 and [row["present"] for row in rows] == [True] + 36 * [False]
    assert rows[0]["change"] == 0 and any(row["change"] for row in rows)
    assert run(list(ADVISE)) == 0
    text = capsys.readouterr().out
    assert "4,3,2,2" in text and "present" in text and "depend on private edges" in text
    changes = [float(line.split()[-1]) for line in text.splitlines() if line.split()[-1:] and line[-6:-5] in "+-"]
    assert len(changes) == 36 and changes == sorted(changes, reverse=True)


def test_a_file_of_ids_is_a_population_for_all_three(capsys, tmp_path: Path):
    path = tmp_path / "ids.txt"
    ids = load("karate").nodes.ids
    path.write_text(f"\ufeff{ids[33]}\n\n  {ids[2]} \n#8\n", encoding="utf-8")
    said = answer(capsys, *REACH, "--targets", str(path), "--valid", "0.01", "--rho", "0.6")
    assert (said["targets"], said["asked_of"]) == (3, "listed")
    assert answer(capsys, *ADVISE, "--targets", str(path))["targets"] == 3
    out = tmp_path / "f.csv"
    frontier = ["frontier", "--dataset", "karate", *LIMITS, "--rho", "0.6", "--epsilon", "1", "--prior", "uniform"]
    table = answer(capsys, *frontier, "--targets", str(path), "--no-public-only", "--seeds", "1", "--out", str(out))
    assert (table["rows"][0]["population"], table["rows"][0]["targets"]) == ("listed", 3)
    one = [inspected(capsys, "--target", f"#{row}", "--rho", "0.6", "--epsilon", "1") for row in (33, 2, 8)]
    assert table["rows"][0]["valid"] == pytest.approx(sum(one) / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1\n2\nnobody\n", "line 3: found 'nobody'"),
        (b"1\n\n2\n1\n", "line 4: found node '1' again, it stands in line 1"),
        (b"\n \n", "found no id"),
        (b"\xff\xfe\x00", "UTF-8"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_of_ids_is_refused_with_its_line(capsys, tmp_path: Path, content, said):
    path = tmp_path / "ids.txt"
    if content is not None:
        path.write_bytes(content)
    assert said in refusal(capsys, *REACH, "--targets", str(path), "--valid", "0.5", "--rho", "0.5")
