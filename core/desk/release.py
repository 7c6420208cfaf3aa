"""One real release: the budget is debited, one candidate drawn, what was drawn settled, and a card made of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import PurePath

from core import checks
from core.backbone.module import ModuleBackbone
from core.desk.amount import amount, as_epsilon
from core.desk.card import ReleaseCard, software
from core.desk.ledger import Debit, Entry, Ledger
from core.desk.outcome import Outcome, outcome_of
from core.desk.request import PublicRequest, public_request
from core.errors import BadInput, Cancelled, PrivCFSError
from core.prior.prior import Prior, PriorKind, uniform
from core.release.distribution import ReleaseDistribution, release_distribution
from core.release.latency import drawing_time, scoring_time, waited
from core.release.mechanism import Mechanism
from core.release.sampler import draw, public_grid
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Universe, build_universe
from core.utility import evaluate, flip_table, grid_sensitivity

MOST_PERMUTED = 1_000  # candidates; beyond, permute-and-flip is the exponential mechanism but for its zCDP bound
LONGEST_NAMED = 100  # characters of a node id in the ledger's words


def release(
    study: Study,
    target: int,
    rho: float,
    settings: Settings,
    epsilon: Fraction,
    ledger: Ledger,
    account: str,
    key: str,
) -> tuple[ReleaseCard, Entry]:
    """Release one intervention for `target` (a row): pure ε, edge level, debited from `account` under `key`.

    The debit is durable before anything is drawn; what is drawn is settled under the key, and the card is made of
    what is settled. Asking again with the same key pays nothing: it returns the settled answer, or draws the one
    that was paid for and never drawn. Scoring and drawing take times fixed in public (`core.release.latency`).

    Raises `BadInput` before anything is debited for a bad target, ρ, ε, universe or account, for a key that has
    paid for something else, and for what can't be scored, which says nothing of why; `BudgetRefused` when too
    little is left. Failure after the debit leaves it standing: repeat with the same key.
    """
    exact = amount(epsilon, "epsilon")
    budget = checks.epsilon(as_epsilon(exact))
    universe, prior, request = asked(study, target, rho, settings, exact)
    known = ledger.entry(account, key)
    if known is not None and known.outcome is not None:
        entry = ledger.debit(_debit(study, request, account, key))  # refuses a key of another request
    else:
        distribution = waited(lambda: _scored(study, universe, prior, rho, settings, budget), scoring_time(universe))
        entry = ledger.debit(_debit(study, request, account, key))
        if entry.outcome is None:
            seconds = drawing_time(universe, prior, settings.utility, budget, settings.mechanism)
            edge, feature = waited(lambda: draw(distribution), seconds)
            drawn = outcome_of(universe, study.dataset.nodes, edge, feature)
            entry = replace(entry, outcome=ledger.settle(account, key, drawn.text))
    return _card(study, universe, request, entry), entry


def asked(
    study: Study, target: int, rho: float, settings: Settings, epsilon: Fraction
) -> tuple[Universe, Prior, PublicRequest]:
    """Universe, prior and public request of a release, from public objects only; raises `BadInput`."""
    nodes, weights = study.dataset.nodes, study.backbone.weights
    exact = amount(epsilon, "epsilon")
    budget = checks.epsilon(as_epsilon(exact))
    disclosed = study.disclosed(rho)
    universe = build_universe(nodes, disclosed, weights, target, settings.limits, settings.arm)
    if settings.mechanism is Mechanism.PF and universe.size > MOST_PERMUTED:
        raise BadInput(
            f"mechanism: found pf for {universe.size:,} candidates, expected at most {MOST_PERMUTED:,}, where it gains "
            "something; take em, or smaller limits such as 4,4,1,2"
        )
    rule = settings.prior
    if rule.kind is PriorKind.GUIDED:
        prior = study.guide(target, rho, settings).prior(budget, settings.utility, rule.size_penalty)
    else:
        prior = uniform(universe, rule.size_penalty)
    _, denominator = flip_table(settings.utility, settings.limits)
    sensitivity = grid_sensitivity(settings.utility, settings.limits, settings.arm, denominator)
    public_grid(prior, denominator, sensitivity, budget, settings.mechanism)  # an ε that can't be drawn at
    request = public_request(
        PurePath(study.dataset.name).name or study.dataset.name,
        nodes,
        disclosed,
        rho,
        study.seed,
        weights,
        universe,
        prior,
        rule,
        settings.utility,
        settings.mechanism.value,
        exact,
        doubts(study),
    )
    return universe, prior, request


def doubts(study: Study) -> tuple[str, ...]:
    """Why a release of this study is a demonstration, a line each; none where it is certified."""
    found = []
    if study.snapshot.simulated:
        found.append("the snapshot was simulated, that is drawn from the private ties, so the candidates tell of them")
    if study.dataset.structural:
        found.append("features were computed from the private ties")
    if isinstance(study.backbone, ModuleBackbone) and study.backbone.weights.note:
        found.append(study.backbone.weights.note)
    return tuple(found)


def _debit(study: Study, request: PublicRequest, account: str, key: str) -> Debit:
    target = request.target
    shown = target if len(target) <= LONGEST_NAMED else f"{target[: LONGEST_NAMED - 3]}..."
    return Debit(
        account=account,
        key=key,
        epsilon=request.epsilon,
        delta=Fraction(0),
        mechanism=request.mechanism,
        what=f"explanation of node {shown}",
        request=request.text,
        graph_digest=study.dataset.graph.digest,
    )


def _scored(
    study: Study, universe: Universe, prior: Prior, rho: float, settings: Settings, epsilon: float
) -> ReleaseDistribution:
    """The private part before the draw; its errors say nothing that a private edge could have caused."""
    try:
        scores = study.scores(universe.target, rho, settings)
        if scores.universe.digest != universe.digest:
            raise PrivCFSError("scores of another universe")
        return release_distribution(
            scores.universe, evaluate(scores, settings.utility), prior, epsilon, settings.mechanism
        )
    except Cancelled:
        raise
    except Exception:
        raise PrivCFSError(
            "release: the private graph couldn't be scored, and nothing was debited; the owner sees why with "
            "privcfs inspect"
        ) from None


def _card(study: Study, universe: Universe, request: PublicRequest, entry: Entry) -> ReleaseCard:
    """The card of a settled entry; raises `BadInput` when what the ledger holds was never a candidate."""
    outcome = Outcome.read(entry.outcome or "")
    if outcome.place(universe, study.dataset.nodes) is None:
        raise BadInput(
            f"ledger: found an outcome under key {entry.key} that is no candidate of this request, expected one that "
            "this release settled; look at privcfs ledger history"
        )
    return ReleaseCard(request, outcome, entry.key, entry.at, software())
