"""A result of a certified audit with chosen figures."""

from __future__ import annotations

from core.audit.evaluation import Result


def result(epsilon_lb: float, claimed: float) -> Result:
    """One test that found `epsilon_lb` against `claimed`."""
    return Result(
        pair="canary", witness="edge count", event="value >= 3", tail="above", threshold=3.0, favours="one",
        selected=500, select_alpha=400, select_beta=20, score=2.0, evaluated=1_000, alpha_count=800, beta_count=40,
        alpha_low=0.77, beta_up=0.06, epsilon_lb=epsilon_lb, claimed_epsilon=claimed, claimed_delta=0.0,
        relation="edge", confidence=0.99, simultaneous=True, tests=6, test_confidence=0.998, looks=3, seed=0,
    )  # fmt: skip
