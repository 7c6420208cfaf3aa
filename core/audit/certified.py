"""Certified black-box audits: any release, any neighbours, any witnesses against a claimed (ε, δ).

Why the verdict can be trusted stands in `core.audit.evaluation`. A pass is worded "no violation found".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core import checks
from core.audit.claims import Claim, Pair
from core.audit.evaluation import Level, Result, Test, certify, column, ranked
from core.audit.sampling import MOST_DRAWS, Release, Role, Sample, Sampling, Witness
from core.errors import BadInput
from core.progress import Progress, Stop

__all__ = ["Auditing", "Claim", "Pair", "Release", "Result", "Test", "Witness", "audit", "audit_pairs"]


def audit(
    release: Release,
    pair: Pair,
    claim: Claim,
    witnesses: Sequence[Witness],
    *,
    select: int = 2_000,
    evaluate: int = 10_000,
    confidence: float = 0.99,
    simultaneous: bool = False,
    seed: int,
    workers: int = 1,
    store: Path | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[Result]:
    """Test a claim on one pair of neighbours, a result a witness; see `audit_pairs`."""
    return audit_pairs(
        release, [pair], claim, witnesses, select=select, evaluate=evaluate, confidence=confidence,
        simultaneous=simultaneous, seed=seed, workers=workers, store=store, progress=progress, cancelled=cancelled,
    )  # fmt: skip


def audit_pairs(
    release: Release,
    pairs: Sequence[Pair],
    claim: Claim,
    witnesses: Sequence[Witness],
    *,
    select: int = 2_000,
    evaluate: int = 10_000,
    confidence: float = 0.99,
    simultaneous: bool = False,
    keep: int | None = None,
    seed: int,
    workers: int = 1,
    store: Path | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[Result]:
    """Test a claim about `release` on pairs of neighbours with each witness: one result a pair and witness.

    `select`, `evaluate`: draws on either input. `confidence`: a test's, or with `simultaneous` that of all
    tests together. `keep`: only so many tests are evaluated, those that look best on the selection sample,
    and only they count among the tests; all unless given. `seed`: of every draw, with its place. `workers`:
    processes. `store`: a file; the same call goes on from what is in it. Raises `BadInput` for pairs of
    another relation than the claim's, and what `Sampling` raises.
    """
    run = Auditing(
        release, pairs, claim, witnesses, select=select, confidence=confidence, simultaneous=simultaneous, keep=keep,
        looks=False, seed=seed, workers=workers, store=store,
    )  # fmt: skip
    with run:
        return run.more(evaluate, progress, cancelled)


class Auditing:
    """An audit that grows: draws are added while its results are watched.

    Looking again and again at one growing sample would find a violation in the end where there is none. So
    the sample is looked at only when it has 1, 2, 4, ... times `first` draws a side, look k spends
    `error / (k (k + 1))`, which sums to `error`, and the best ε_LB of all looks stands: `results` is valid
    at any time, together for all times. `preview` says where things stand now, and certifies nothing. With
    `looks=False` the sample is looked at once, after the first `more`. A context, or `close` it.
    """

    def __init__(
        self,
        release: Release,
        pairs: Sequence[Pair],
        claim: Claim,
        witnesses: Sequence[Witness],
        *,
        select: int = 2_000,
        first: int = 500,
        confidence: float = 0.99,
        simultaneous: bool = False,
        keep: int | None = None,
        looks: bool = True,
        seed: int,
        workers: int = 1,
        store: Path | None = None,
    ) -> None:
        for pair in pairs:
            if pair.relation is not claim.relation:
                raise BadInput(
                    f"pair {pair.name}: found neighbours by relation {pair.relation}, the claim is about "
                    f"{claim.relation}; audit a claim on pairs of its own relation"
                )
        count = len(pairs) * len(witnesses)
        kept = count if keep is None else min(checks.count(keep, "tests to keep", 1, 10_000), count)
        self.claim = claim
        self.level = Level(confidence, simultaneous, kept)
        self._select = checks.count(select, "selection draws", 1, MOST_DRAWS)
        self._first = checks.count(first, "draws before the first look", 1, MOST_DRAWS)
        self._looks = looks
        self._kept = kept
        self._sampling = Sampling(release, pairs, witnesses, seed, workers, store)
        self._selection: dict[int, Sample] = {}
        self._evaluation: dict[int, Sample] = {}
        self._tests: list[Test] = []
        self._certified: list[Result] = []
        self._looked = 0

    def __enter__(self) -> Auditing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what the draws were started on."""
        self._sampling.close()

    @property
    def drawn(self) -> int:
        """Evaluation draws on either input of each pair so far."""
        return len(next(iter(self._evaluation.values())).one) if self._evaluation else 0

    @property
    def ranking(self) -> list[Test]:
        """All tests, the most promising first, as the selection sample sees them; draws it where it must."""
        return ranked(self._selected(None, None), self._sampling.job.witnesses, self.claim, self.level)

    def more(self, n: int, progress: Progress | None = None, cancelled: Stop | None = None) -> list[Result]:
        """Draw `n` more evaluation samples on either input of each pair, and return `results`.

        The first call draws the selection sample before. Raises what `audit_pairs` raises; with `looks=False`
        also `BadInput` for a second call.
        """
        checks.count(n, "evaluation draws", 1, MOST_DRAWS)
        if not self._looks and self._looked:
            raise BadInput("audit: found a second look at the evaluation sample, expected one; take looks=True")
        share = _Share(progress)
        if not self._tests:
            witnesses = self._sampling.job.witnesses
            selection = self._selected(share.of(self._select, self._select + n), cancelled)
            self._tests = ranked(selection, witnesses, self.claim, self.level)[: self._kept]
            self._tests.sort(key=lambda test: (test.pair, test.witness))
        used = sorted({test.pair for test in self._tests})
        fresh = self._sampling.take(Role.EVALUATION, self.drawn, self.drawn + n, used, share.of(n, n), cancelled)
        self._evaluation = {pair: _joined(self._evaluation.get(pair), sample) for pair, sample in fresh.items()}
        self._look()
        return self.results()

    def results(self) -> list[Result]:
        """What is certified so far, a result a test; empty before the first look."""
        return list(self._certified)

    def preview(self) -> list[Result]:
        """Bounds of the sample as it stands, as if it were looked at for the first time: nothing certified."""
        return [self._result(test, self.drawn, self.level.bound_error, self._looked + 1) for test in self._tests]

    def _selected(self, progress: Progress | None, cancelled: Stop | None) -> dict[int, Sample]:
        if not self._selection:
            self._selection = self._sampling.take(Role.SELECTION, 0, self._select, None, progress, cancelled)
        return self._selection

    def _look(self) -> None:
        if not self._looks:
            self._looked = 1
            self._certified = [self._result(test, self.drawn, self.level.bound_error, 1) for test in self._tests]
            return
        while self._first * 2**self._looked <= self.drawn:
            k = self._looked + 1
            error = self.level.bound_error / (k * (k + 1))
            found = [self._result(test, self._first * 2**self._looked, error, k) for test in self._tests]
            old = self._certified or found
            self._certified = [
                new if new.epsilon_lb >= past.epsilon_lb else replace(past, looks=k)
                for past, new in zip(old, found, strict=True)
            ]
            self._looked = k

    def _result(self, test: Test, draws: int, error: float, looks: int) -> Result:
        job = self._sampling.job
        return certify(
            job.pairs[test.pair], job.witnesses[test.witness], test.choice,
            column(self._selection[test.pair], test.witness, Role.SELECTION),
            column(self._evaluation[test.pair], test.witness, Role.EVALUATION, draws),
            self.claim, self.level, error, looks, job.seed,
        )  # fmt: skip


class _Share:
    """One count of progress, in thousandths, over parts of the work that come one after the other."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._before = 0.0

    def of(self, part: int, rest: int) -> Progress | None:
        """Progress of the next part, which is `part` out of the `rest` that is left."""
        progress = self._progress
        if progress is None:
            return None
        before, size = self._before, (1 - self._before) * part / rest
        self._before += size

        def report(done: int, total: int) -> None:
            progress(round(1_000 * (before + size * done / max(total, 1))), 1_000)

        return report


def _joined(old: Sample | None, new: Sample) -> Sample:
    if old is None:
        return new
    return Sample(new.role, np.concatenate([old.one, new.one]), np.concatenate([old.other, new.other]))
