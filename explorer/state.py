"""The explorer's state: the decisions, and what follows from them. No widgets here."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import param

from core import checks
from core.datasets import Dataset, load
from core.datasets import names as built_in
from core.errors import BadInput, PrivCFSError
from core.metrics import Metrics, measure
from core.prior.prior import PriorKind
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.study.inspection import Candidate, Inspection
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm
from explorer.jobs import Job
from explorer.studies import reseeded, shared_study

EPSILON_LOW, EPSILON_HIGH = 0.05, 20.0
RHO_STOPS = (0.3, 0.5, 0.7, 1.0)
EPSILON_STOPS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
OWN_STUDIES = 4


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


@dataclass(frozen=True)
class Wanted:
    """Decisions that were checked, but not taken yet; `study` bears `seed`."""

    study: Study
    target: int
    epsilon: float
    rho: float
    seed: int
    settings: Settings

    @property
    def ready(self) -> bool:
        """Whether the inspection that follows is quick enough for the event loop."""
        return not self.study.slow or self.study.ready(self.target, self.rho, self.settings)

    @property
    def scores(self) -> tuple[Any, ...]:
        """Everything that the scores depend on."""
        return self.study, self.target, self.rho, self.settings.limits, self.settings.arm, self.settings.utility.soft


class Desk(param.Parameterized):
    """One session: a study, the decisions, and the inspection that follows from them.

    `inspection` changes once per accepted decision. `problem` is one line about the last decision that
    couldn't be taken, which then left everything as it was; `problem_field` names it. Under a foreign
    module a new target is scored off the event loop (`scoring`), and the decision is taken when that is done.

    `source`: a data set, its name, or a study, which may have any backbone.
    """

    decisions = param.ClassSelector(class_=Decisions)
    study = param.ClassSelector(class_=Study)
    inspection = param.ClassSelector(class_=Inspection)
    names = param.List(default=[], doc="Data sets that this session can open by name.")
    problem = param.String(default="")
    problem_field = param.String(default="")
    waiting = param.String(default="", doc="What the answer waits for, in words; empty when it waits for nothing.")

    def __init__(self, source: Study | Dataset | str = "cora", **decisions: Any) -> None:
        super().__init__(decisions=Decisions())
        self._targets: dict[str, int] = {}  # by digest: a name may come back with other data
        self._own: OrderedDict[str, Study] = OrderedDict()
        self._pending: dict[str, Any] = {}
        self._scoring: tuple[Any, ...] = ()
        self.scoring = Job()
        self.scoring.param.watch(lambda *_: self._scored(), ["state", "done"])
        if not isinstance(source, Study):
            source = shared_study(source if isinstance(source, Dataset) else load(source))
        self._served = source.dataset.name
        self._keep(source)
        self._open(source, decisions)

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
            wanted = self._checked(self.study, {**self._pending, **changes})
            if wanted.ready:
                self._take(wanted)
        except PrivCFSError as error:
            self.param.update(problem=str(error), problem_field=next(iter(changes)))
            return False
        self.param.update(problem="", problem_field="")
        if not wanted.ready:
            self._pending |= changes
            self._score(wanted)
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
        """The study of a data set in `names`, ready for the desk: long work, for a thread. Raises `BadInput`."""
        study = self._own.get(name) or shared_study(load(name))
        if study.slow:
            wanted = self._checked(study, {"target": self._target_of(study)})
            wanted.study.prepare(wanted.target, wanted.rho, wanted.settings)
        return study

    def prepare(self, dataset: Dataset) -> Study:
        """The study of an owner's data set under a GCN trained on it: long work, for a thread. Raises `BadInput`."""
        return Study(dataset)

    def free_name(self, name: str) -> str:
        """`name`, with a number behind it where this session has a data set of that name already."""
        numbered = (f"{name} {k}" for k in itertools.count(2))
        return next(free for free in itertools.chain([name], numbered) if free not in self.names)

    def replace_study(self, study: Study) -> None:
        """Put another data set on the desk; ε, ρ and settings stay, the target is the one last used there."""
        self._drop_pending()
        self._open(study, {})
        self._keep(study)

    def cancel(self) -> None:
        """Give up a decision that still waits for its scores; what was shown before stays."""
        self._drop_pending()

    def _open(self, study: Study, decisions: dict[str, Any]) -> None:
        if "target" in decisions:
            decisions["target"], _ = study.dataset.resolve(str(decisions["target"]))
        else:
            decisions["target"] = self._target_of(study)
        self._take(self._checked(study, decisions))
        self.param.update(problem="", problem_field="")

    def _target_of(self, study: Study) -> int:
        """The target that a study opens with: the one last looked at there."""
        row = self._targets.get(study.dataset.digest)
        return first_target(study) if row is None else row

    def _keep(self, study: Study) -> None:
        """List a study whose name alone doesn't lead back to it; of many, the one served first stays."""
        name = study.dataset.name
        if name == self._served or name not in built_in():
            self._own.setdefault(name, study)
        while len(self._own) > OWN_STUDIES:
            del self._own[next(other for other in self._own if other not in (self._served, name))]
        self.names = [*built_in(), *(own for own in self._own if own not in built_in())]

    def _checked(self, study: Study, changes: dict[str, Any]) -> Wanted:
        """Decisions after `changes`; raises `BadInput` for one that can't be taken."""
        now = self.decisions
        seed = checks.count(changes.get("seed", now.seed), "seed", 0, 2**31 - 1)
        return Wanted(
            study if seed == study.seed else reseeded(study, seed),
            checks.count(changes.get("target", now.target), "target row", 0, study.dataset.nodes.n - 1),
            checks.epsilon(changes.get("epsilon", now.epsilon)),
            checks.rho(changes.get("rho", now.rho)),
            seed,
            _changed_settings(now.settings, changes),
        )

    def _take(self, wanted: Wanted) -> None:
        """Work out everything first, then change everything at once."""
        inspection = wanted.study.inspect(wanted.target, wanted.rho, wanted.epsilon, wanted.settings)
        self._pending = {}
        self._targets[wanted.study.dataset.digest] = wanted.target
        with param.parameterized.batch_call_watchers(self):
            self.decisions.param.update(
                target=wanted.target,
                epsilon=wanted.epsilon,
                rho=wanted.rho,
                seed=wanted.seed,
                settings=wanted.settings,
            )
            self.param.update(study=wanted.study, inspection=inspection)

    def _score(self, wanted: Wanted) -> None:
        """Score in a thread; a job that scores something else is stopped, and this one started when it has ended."""
        if self.scoring.state == "running":
            if self._scoring != wanted.scores:
                self.scoring.cancel()
            return
        self._scoring = wanted.scores
        self.waiting = self._scoring_text(wanted.target)
        self.scoring.start(
            lambda progress, cancelled: wanted.study.prepare(
                wanted.target, wanted.rho, wanted.settings, progress, cancelled
            ),
            lambda _: None,
        )

    def _scored(self) -> None:
        """Go on with whatever waits: take it when its scores are there, else score it."""
        job = self.scoring
        if job.state == "running":
            if self._pending:
                self.waiting = self._scoring_text(self._pending.get("target", self.decisions.target))
            return
        self.waiting = ""
        if job.state == "failed":
            field = next(iter(self._pending), "target")
            self._pending = {}
            self.param.update(problem=job.message, problem_field=field)
        elif self._pending and job.state in ("done", "cancelled"):
            self.choose(**self._pending)

    def _drop_pending(self) -> None:
        self._pending = {}
        self.scoring.cancel()

    def _scoring_text(self, target: int) -> str:
        job = self.scoring
        how = " by forward passes of the model" if self.study.foreign else ""
        passes = f", {job.done:,} of {job.total:,} passes" if job.total else ""
        return f"Scoring node {self.dataset.nodes.ids[target]}{how}{passes} …"


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
