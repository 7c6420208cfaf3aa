"""The explorer's state: the decisions, and what follows from them. No widgets here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import param

from core import checks
from core.datasets import Dataset, load
from core.errors import BadInput, PrivCFSError
from core.metrics import Metrics, measure
from core.prior.prior import PriorKind
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.study.inspection import Candidate, Inspection
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm

EPSILON_LOW, EPSILON_HIGH = 0.05, 20.0
RHO_STOPS = (0.3, 0.5, 0.7, 1.0)
EPSILON_STOPS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
SHARED_STUDIES = 4

_studies: OrderedDict[tuple[str, int], Study] = OrderedDict()
_lock = threading.Lock()


def shared_study(dataset: Dataset, seed: int = 0) -> Study:
    """The study of a data set, one per data set digest and seed for all sessions: a bounded cache of pure results."""
    key = (dataset.digest, seed)
    with _lock:
        if key in _studies:
            _studies.move_to_end(key)
            return _studies[key]
        sibling = next((study for (digest, _), study in _studies.items() if digest == key[0]), None)
    study = sibling.with_seed(seed) if sibling else Study(dataset, seed=seed)
    with _lock:
        _studies[key] = study
        while len(_studies) > SHARED_STUDIES:
            _studies.popitem(last=False)
    return study


class Decisions(param.Parameterized):
    """What the owner decides. Every field stands alone: setting one never changes another.

    `target`: row of the node asked about, remembered for each data set. `seed`: draws the simulated
    snapshot. `settings`: limits, arm, utility, mechanism and prior, frozen.
    """

    target = param.Integer(default=0)
    epsilon = param.Number(default=1.0)
    rho = param.Number(default=0.5)
    seed = param.Integer(default=0)
    settings = param.ClassSelector(class_=Settings, default=Settings())
    marked = param.Parameter(
        default=None, doc="(ties, features) of the marked candidate by name; None: the most likely."
    )


class Desk(param.Parameterized):
    """One session: a study, the decisions, and the inspection that follows from them.

    `inspection` changes once per accepted decision. `problem` is one line about the last decision that
    couldn't be taken, which then left everything as it was; `problem_field` names it.
    """

    decisions = param.ClassSelector(class_=Decisions)
    study = param.ClassSelector(class_=Study)
    inspection = param.ClassSelector(class_=Inspection)
    problem = param.String(default="")
    problem_field = param.String(default="")
    loading = param.String(default="", doc="Name of the data set that is being loaded.")

    def __init__(self, dataset: Dataset | str = "cora", **decisions: Any) -> None:
        super().__init__(decisions=Decisions())
        self._targets: dict[str, int] = {}
        opened = dataset if isinstance(dataset, Dataset) else load(dataset)
        self._open(shared_study(opened), decisions)

    @property
    def dataset(self) -> Dataset:
        """The data set on the desk."""
        return self.study.dataset

    @property
    def other_prior(self) -> tuple[PriorKind, Metrics]:
        """The prior that isn't chosen, and the figures of the same release under it."""
        seen = self.inspection
        kind = PriorKind.UNIFORM if seen.settings.prior.kind is PriorKind.GUIDED else PriorKind.GUIDED
        settings = replace(seen.settings, prior=replace(seen.settings.prior, kind=kind))
        epsilon = seen.distribution.epsilon
        scores, utility, prior = self.study.evaluated(seen.universe.target, seen.rho, epsilon, settings)
        return kind, measure(release_distribution(scores.universe, utility, prior, epsilon, settings.mechanism), scores)

    def candidates(self, most: int = 25) -> list[Candidate]:
        """The most likely candidates of the present inspection."""
        return self.inspection.candidates(most)

    def choose(self, **changes: Any) -> bool:
        """Take decisions by name; say whether they could be taken, else fill `problem`.

        Keys: `target` (row), `epsilon`, `rho`, `seed`, `prior`, `size_penalty`, `arm`, `mechanism`, `soft`,
        `sensitivity`, `k_edges`, `k_features`, `max_edges`, `max_features`. Raises nothing: a bad value
        leaves the state untouched.
        """
        try:
            self._take(**changes)
        except PrivCFSError as error:
            self.param.update(problem=str(error), problem_field=next(iter(changes)))
            return False
        self.param.update(problem="", problem_field="")
        return True

    def choose_target(self, text: str) -> bool:
        """Take the node that `text` names (an id, or `#row`) as the target."""
        try:
            row, _ = self.dataset.resolve(text.strip())
        except BadInput as error:
            self.param.update(problem=str(error), problem_field="target")
            return False
        return self.choose(target=row)

    def opened(self, name: str) -> Study:
        """Load the data set `name` and its study: long work, for a thread. Raises `BadInput`."""
        return shared_study(load(name), self.decisions.seed)

    def replace_study(self, study: Study) -> None:
        """Put another data set on the desk; ε, ρ and settings stay, the target is the one last used there."""
        self._open(study, {})

    def _open(self, study: Study, decisions: dict[str, Any]) -> None:
        if self.study is not None:
            self._targets[self.dataset.name] = self.decisions.target
        row = self._targets.get(study.dataset.name, first_target(study))
        if "target" in decisions:
            row, _ = study.dataset.resolve(str(decisions.pop("target")))
        self._take(study=study, target=row, **decisions)
        self.param.update(problem="", problem_field="")

    def _take(self, study: Study | None = None, **changes: Any) -> None:
        """Work out everything first, then change everything at once."""
        now = self.decisions
        study = study or self.study
        settings = _changed_settings(now.settings, changes)
        target = checks.count(changes.get("target", now.target), "target row", 0, study.dataset.nodes.n - 1)
        epsilon = checks.epsilon(changes.get("epsilon", now.epsilon))
        rho = checks.rho(changes.get("rho", now.rho))
        seed = checks.count(changes.get("seed", now.seed), "seed", 0, 2**31 - 1)
        if seed != study.seed:
            study = shared_study(study.dataset, seed)
        inspection = study.inspect(target, rho, epsilon, settings)
        with param.parameterized.batch_call_watchers(self):
            now.param.update(target=target, epsilon=epsilon, rho=rho, seed=seed, settings=settings)
            self.param.update(study=study, inspection=inspection)


def first_target(study: Study) -> int:
    """The node shown first: the owner's first target, else the test node of least margin with five ties or more."""
    dataset = study.dataset
    if dataset.targets is not None and len(dataset.targets):
        return int(dataset.targets[0])
    rows = dataset.split.test if len(dataset.split.test) else np.arange(dataset.nodes.n)
    degree = dataset.graph.degree[rows]
    rows = rows[degree >= min(5, degree.max())]
    return int(rows[study.margins[rows].argmin()])


def _changed_settings(settings: Settings, changes: dict[str, Any]) -> Settings:
    limits = {name: changes[name] for name in ("k_edges", "k_features", "max_edges", "max_features") if name in changes}
    utility = {name: changes[name] for name in ("soft", "sensitivity") if name in changes}
    rule = {"size_penalty": changes["size_penalty"]} if "size_penalty" in changes else {}
    if "prior" in changes:
        rule["kind"] = PriorKind.parse(changes["prior"])
    return replace(
        settings,
        limits=replace(settings.limits, **limits),
        utility=replace(settings.utility, **utility),
        arm=Arm.parse(changes["arm"]) if "arm" in changes else settings.arm,
        mechanism=Mechanism.parse(changes["mechanism"]) if "mechanism" in changes else settings.mechanism,
        prior=replace(settings.prior, **rule),
    )


def target_table(study: Study) -> dict[str, np.ndarray]:
    """Columns of the target table: id, class, degree, prediction, margin; one row a node (owner-only)."""
    nodes = study.dataset.nodes
    classes = np.array([*nodes.classes, "–"], dtype=object)
    return {
        "node": np.array(nodes.ids, dtype=object),
        "class": classes[study.dataset.labels],
        "degree": study.dataset.graph.degree,
        "prediction": classes[study.probabilities.argmax(axis=1)],
        "margin": study.margins,
    }
