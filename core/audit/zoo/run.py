"""The auditor on the zoo: once, or often enough to hold its error rate against the stated one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from core import checks
from core.audit.certified import audit
from core.audit.evaluation import Result
from core.audit.zoo.specimen import Specimen
from core.progress import Progress, Stop, tracked

UNLIKELY = 1e-4  # chance that a right auditor fails `Tally.excused` for one mechanism


@dataclass(frozen=True)
class Tally:
    """Runs of one specimen, each with seeds of its own and all its witnesses tested together at `confidence`.

    `best`: of each run the test of largest ε_LB. `selected`, `evaluated`: draws a side.
    """

    specimen: Specimen
    confidence: float
    best: tuple[Result, ...]

    @property
    def rejections(self) -> int:
        """Runs that rejected the claim by any witness."""
        return sum(result.rejected for result in self.best)

    @property
    def bounds(self) -> np.ndarray:
        """ε_LB of each run, runs float64."""
        return np.array([result.epsilon_lb for result in self.best])

    @property
    def over_truth(self) -> int:
        """Runs whose ε_LB exceeds what is true: each happens with probability `1 - confidence` at most."""
        return int((self.bounds > self.specimen.true_epsilon).sum())

    @property
    def passed(self) -> bool:
        """Whether a correct mechanism was rejected, and any bound exceeded the truth, no oftener than stated, and a
        broken one was rejected in every run. A right auditor fails this for a correct one with probability
        `UNLIKELY` at most."""
        allowed = int(stats.binom.ppf(1 - UNLIKELY, len(self.best), 1 - self.confidence))
        if self.over_truth > allowed:
            return False
        return self.rejections <= allowed if self.specimen.correct else self.rejections == len(self.best)

    def to_json(self) -> dict[str, Any]:
        """One row of `privcfs audit zoo`: of the median run."""
        middle = sorted(self.best, key=lambda result: result.epsilon_lb)[len(self.best) // 2]
        return {
            "mechanism": self.specimen.name,
            "correct": self.specimen.correct,
            "flaw": self.specimen.flaw,
            "claimed_epsilon": self.specimen.claim.epsilon,
            "claimed_delta": self.specimen.claim.delta,
            "true_epsilon": self.specimen.finite_truth,
            "epsilon_lb": middle.epsilon_lb,
            "rejected": middle.rejected,
            "verdict": middle.verdict,
            "witness": middle.witness,
            "event": middle.event,
            "runs": len(self.best),
            "rejections": self.rejections,
            "over_truth": self.over_truth,
            "passed": self.passed,
        }


def run_zoo(
    specimens: Sequence[Specimen],
    *,
    runs: int = 1,
    select: int = 2_000,
    evaluate: int = 10_000,
    confidence: float = 0.99,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[Tally]:
    """Audit every specimen `runs` times, run r from seed `seed + r`. Raises `BadInput`, `Cancelled`."""
    checks.count(runs, "runs", 1, 100_000)
    tasks = [(specimen, seed + run) for specimen in specimens for run in range(runs)]
    best: dict[str, list[Result]] = {specimen.name: [] for specimen in specimens}
    for specimen, own in tracked(tasks, progress, cancelled):
        results = audit(
            specimen.release, specimen.pair, specimen.claim, specimen.witnesses, select=select, evaluate=evaluate,
            confidence=confidence, simultaneous=True, seed=own,
        )  # fmt: skip
        best[specimen.name].append(max(results, key=lambda result: result.epsilon_lb))
    return [Tally(specimen, confidence, tuple(best[specimen.name])) for specimen in specimens]
