"""The public settings of a release besides ε and rho."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.prior.prior import PriorRule
from core.release.mechanism import Mechanism
from core.universe import Arm, Limits
from core.utility import UtilityConfig


@dataclass(frozen=True)
class Settings:
    """Universe limits, arm, utility, mechanism and prior: fixed before any private edge is read."""

    limits: Limits = field(default_factory=Limits)
    arm: Arm = Arm.FULL
    utility: UtilityConfig = field(default_factory=UtilityConfig)
    mechanism: Mechanism = Mechanism.EM
    prior: PriorRule = field(default_factory=PriorRule)
