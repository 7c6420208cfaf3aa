"""The Release desk: nothing is spent by looking, everything by one confirmed click, and never more than there is."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from core.datasets import Dataset
from core.desk.card import checked
from core.desk.ledger import Ledger
from core.errors import BadInput
from explorer import paying, releasing
from explorer.state import Desk
from explorer.views.releasedesk import ReleaseDeskView


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


@pytest.fixture
def view(karate: Dataset, place: str) -> ReleaseDeskView:
    shown = ReleaseDeskView(Desk(karate, epsilon=0.5))
    shown.place.value = place
    shown.budget.value = "1.2"
    shown.make_button.clicks += 1
    assert shown.paying.problem == ""
    return shown


def release(view: ReleaseDeskView) -> None:
    view.release.clicks += 1
    assert view.dialog.open
    view.spend.clicks += 1
    view._job.wait()


def test_without_a_ledger_there_is_nothing_to_press(karate: Dataset) -> None:
    view = ReleaseDeskView(Desk(karate))
    assert view._opening.visible and not view._counter.visible
    view.ask()
    assert not view.dialog.open


def test_who_comes_from_elsewhere_cannot_name_a_file(karate: Dataset) -> None:
    view = ReleaseDeskView(Desk(karate), local=False)
    assert not list(view._opening.select(type(view.place)))


def test_looking_asking_and_cancelling_spend_nothing(view: ReleaseDeskView) -> None:
    view._desk.choose(epsilon=1.0, target=3)
    view.release.clicks += 1
    assert "node 3 of" in view.restated.object and "1.2, then 0.2" in view.restated.object
    assert "A demonstration, not certified" in view.restated.object
    view.back.clicks += 1
    view.confirm()
    view.paying.refresh()
    assert view.paying.account.spent == 0 and not view.dialog.open


def test_a_release_is_paid_shown_and_to_be_had_as_a_file(view: ReleaseDeskView) -> None:
    release(view)
    assert view._job.state == "done" and not view.dialog.open
    card = view.card
    assert checked(card.text)["epsilon"] == "0.5"
    assert card.outcome.sentence in view.shown.object and view.shown.visible
    assert view.download.callback().read().decode() == card.text
    assert view.paying.account.spent == Fraction(1, 2)
    assert "ε = 0.7" in view.gauge.object and "explanation of node" in view.history.object
    assert json.loads(card.text)["certified"] is False


def test_pressing_twice_pays_once(view: ReleaseDeskView) -> None:
    view.release.clicks += 1
    view.spend.clicks += 1
    view.spend.clicks += 1
    view._job.wait()
    view.spend.clicks += 1
    view.paying.refresh()
    assert view.paying.account.entries == 1


def test_the_last_of_the_budget_is_not_overspent(view: ReleaseDeskView) -> None:
    release(view)
    release(view)
    assert view.release.disabled and "Too little is left: ε = 0.2" in view.offer.object
    view.ask()
    assert view.spend.disabled
    view.confirm()  # as if the button had been pressed all the same
    view._job.wait()
    assert view._job.state == "failed" and 'role="alert"' in view.said.object
    view.paying.refresh()
    assert view.paying.account.spent == 1


def test_another_session_sees_what_was_spent(view: ReleaseDeskView, karate: Dataset, place: str) -> None:
    with Ledger.open(place) as ledger:
        other = ReleaseDeskView(Desk(karate), ledger)
        before = other.gauge.object
        release(view)
        other.watch(True)
        assert other.gauge.object == view.gauge.object != before


def test_what_the_ledger_refuses_is_said_and_changes_nothing(karate: Dataset, tmp_path: Path) -> None:
    view = ReleaseDeskView(Desk(karate))
    for budget in ("0", "-1", "nan", "much"):
        view.place.value, view.budget.value = str(tmp_path / "new.db"), budget
        view.make_button.clicks += 1
        assert "budget" in view._problem.object and view._opening.visible
    assert not (tmp_path / "new.db").exists()
    view.place.value = str(tmp_path / "none.db")
    view.open_button.clicks += 1
    assert "no such file" in view._problem.object
    view.place.value = " "
    view.open_button.clicks += 1
    assert "empty" in view._problem.object


def test_a_file_of_another_dataset_is_pointed_out(view: ReleaseDeskView, place: str) -> None:
    with Ledger.open(place) as ledger:
        ledger.open_account("other", "cora", Fraction(3))
    view.paying.refresh()
    view.account.value = "other"
    assert "opened for cora" in view.offer.object and view.release.disabled
    view.ask()
    assert not view.dialog.open
    assert "of 3 remains" in view.gauge.object


@pytest.mark.parametrize(
    ("epsilon", "paid"), [(0.1, "1/10"), (1.0, "1"), (1.0232929922807541, "102/100"), (0.05, "1/20"), (123.25, "493/4")]
)
def test_what_is_paid_is_what_is_shown(epsilon: float, paid: str) -> None:
    assert releasing.exact(epsilon) == Fraction(paid)
    assert f"{float(releasing.exact(epsilon)):.3g}" == f"{epsilon:.3g}"


def test_an_address_is_a_url_or_a_path() -> None:
    assert paying.place(" postgresql://a@b/c ") == "postgresql://a@b/c"
    assert paying.place("~/l.db") == str(Path("~/l.db").expanduser())
    with pytest.raises(BadInput, match="empty"):
        paying.place("  ")
