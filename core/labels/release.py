"""One real label release: the budget is debited, subgraphs and noise drawn, the outcome settled, a card made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import numpy as np

from core.datasets.dataset import Dataset
from core.desk.card import software
from core.desk.ledger import Debit, Entry, Ledger
from core.errors import Cancelled, PrivCFSError
from core.graph import PrivateGraph
from core.labels.card import MECHANISM, LabelCard, LabelOutcome, LabelRequest
from core.labels.classifier import Classifier
from core.labels.noise import draw_exact
from core.labels.plan import Plan
from core.labels.stability import check_fits, node_rows, tally
from core.labels.subsample import system_words
from core.release.latency import waited

SECONDS = 1.0


def release(
    dataset: Dataset,
    classifier: Classifier,
    plan: Plan,
    ledger: Ledger,
    account: str,
    key: str,
    rows: np.ndarray | None = None,
    doubts: tuple[str, ...] = (),
) -> tuple[LabelCard, Entry]:
    """Release labels of `rows` (all nodes unless given), or ⊥: (ε, δ), edge level, debited under `key`.

    The debit is durable before anything is drawn. ⊥ costs as much as labels do: whether they come out is part of
    the answer. The same key pays nothing again: it returns the settled answer, or draws the one that was paid
    for and never drawn. `doubts`: what else voids the guarantee. Raises `BadInput` before anything is debited for a
    plan whose claim doesn't hold, or nodes and a classifier that don't fit; `BudgetRefused` when too little is left.
    """
    plan.check_holds()
    wanted = node_rows(rows, dataset.graph.n)
    check_fits(classifier, dataset.graph.n)
    request = asked(dataset, classifier, plan, wanted, doubts)
    entry = ledger.debit(
        Debit(
            account=account,
            key=key,
            epsilon=plan.epsilon,
            delta=plan.delta,
            mechanism=MECHANISM,
            what=f"labels of {len(wanted)} nodes",
            request=request.text,
            graph_digest=dataset.graph.digest,
        )
    )
    if entry.outcome is None:
        drawn = waited(lambda: draw(dataset.graph, classifier, plan, wanted), SECONDS)
        entry = replace(entry, outcome=ledger.settle(account, key, drawn.text))
    outcome = LabelOutcome.read(entry.outcome or "", request)
    return LabelCard(request, outcome, entry.key, entry.at, software()), entry


def asked(
    dataset: Dataset, classifier: Classifier, plan: Plan, rows: np.ndarray, doubts: tuple[str, ...] = ()
) -> LabelRequest:
    """The public request; of the data set only name, node table and class names are read."""
    nodes = dataset.nodes
    own = ("features were computed from the private ties",) if dataset.structural else ()
    classes = nodes.classes or tuple(f"class {label}" for label in range(classifier.classes))
    return LabelRequest(
        dataset=PurePath(dataset.name).name or dataset.name,
        nodes=tuple(nodes.ids[row] for row in rows),
        classes=classes,
        plan=plan,
        classifier=classifier.kind,
        nodes_digest=nodes.digest,
        classifier_digest=classifier.digest,
        doubts=(*own, *doubts),
    )


def draw(graph: PrivateGraph, classifier: Classifier, plan: Plan, rows: np.ndarray) -> LabelOutcome:
    """Draw subgraphs and noise with the system's randomness: spends ε and δ, so only a debited release may call it.

    Its errors say nothing that a private edge could have caused.
    """
    noise = draw_exact(plan.scale, 2 * plan.cap, plan.epsilon)
    try:
        found = tally(graph, classifier, plan, system_words, rows)
    except Cancelled:
        raise
    except Exception:
        raise PrivCFSError(
            "labels: the private graph couldn't be labelled; what was debited stands, repeat with the same key"
        ) from None
    return LabelOutcome(tuple(found.votes.labels.tolist()) if found.released(noise) else None)
